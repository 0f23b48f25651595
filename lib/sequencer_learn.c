// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What events tell of the hierarchy.
 *
 * A CPU is in the group of its own level-0 updates, with their mask; a group below
 * the `parent` of its updates, with the mask that the next update of the same walk
 * (the same CPU, the same kind, the parent) has.  Connect events tell all of it, and
 * when it came to be.  Whatever else names a CPU's or a child's group tells the
 * link without its place.  A link never changes in the kernel; so what is seen
 * in the prologue, and no connect event in the stream made, was there before.
 */
#include <string.h>

#include "sequencer_priv.h"

/* ---- giving out ---- */

/* What is known of a group and was not given out. */
static void out_group(struct tmigr_sequencer *s, struct group *g, __u64 t_ns)
{
	bool parent = g->has_parent && g->parent;
	struct tmigr_rec rec = {
		.t_ns = t_ns,
		.cpu = g->has_node ? (__u32)g->node : (__u32)-1,
		.type = TMIGR_REC_NODE_GROUP,
		.level = g->level,
		.mask = parent ? g->mask : 0,
		.a = g->key,
		.b = parent ? g->parent : 0,
	};

	if (g->out_node && g->out_parent >= parent && g->out_mask >= (parent && g->mask))
		return;
	g->out_node = true;
	g->out_parent = parent;
	g->out_mask = parent && g->mask;
	seq_put(s, &rec);
}

static void out_cpu(struct tmigr_sequencer *s, unsigned int cpu, __u64 t_ns)
{
	struct seq_cpu *c = &s->cpus[cpu];
	struct tmigr_rec rec = {
		.t_ns = t_ns, .type = TMIGR_REC_NODE_CPU, .mask = c->mask, .a = c->group, .b = cpu};

	if (!c->group || (c->out_node && c->out_mask >= (c->mask != 0)))
		return;
	c->out_node = true;
	c->out_mask = c->mask;
	seq_put(s, &rec);
}

/* ---- links ---- */

/* One event being learnt from. */
struct lesson {
	struct tmigr_sequencer *s;
	const struct tmigr_traced *ev;
	bool out;
};

static struct group *known_group(const struct lesson *l, __u64 key, unsigned int level)
{
	struct group *g = key ? seq_group(l->s, key) : NULL;

	if (g && !g->has_level) {
		g->has_level = true;
		g->level = (__u8)level;
	}
	return g;
}

static void link_cpu(const struct lesson *l, __u32 cpu, __u64 group, __u8 mask)
{
	struct seq_cpu *c = seq_cpu(l->s, cpu);

	if (!c || !group || (c->group && c->group != group))
		return;
	if (c->group && (c->mask || !mask))
		return;
	c->group = group;
	c->mask = mask;
	if (l->out)
		out_cpu(l->s, cpu, l->ev->t_ns);
}

static void link_group(const struct lesson *l, struct group *g, __u64 parent, __u8 mask)
{
	if (!g || parent == g->key)
		return;
	if (parent && g->parent && g->parent != parent)
		return;
	if (parent) {
		__u64 key = g->key;
		struct group *p = known_group(l, parent, g->level + 1u);

		g = seq_group(l->s, key); /* it may have moved */
		if (!p || !g)
			return;
		if (l->out)
			out_group(l->s, seq_group(l->s, parent), l->ev->t_ns);
	}
	g->has_parent = true;
	if (parent)
		g->parent = parent;
	if (mask && parent && !g->mask)
		g->mask = mask;
	if (l->out)
		out_group(l->s, g, l->ev->t_ns);
}

static void set_node(struct group *g, const struct tmigr_traced *ev)
{
	if (g->has_node || !(ev->has & TMIGR_HAS_NODE))
		return;
	g->has_node = true;
	g->node = ev->node;
}

static void learn_update(const struct lesson *l)
{
	const struct tmigr_traced *ev = l->ev;
	struct group *g = known_group(l, ev->group, ev->level);
	struct seq_cpu *c = seq_cpu(l->s, ev->cpu);

	if (!g || !c)
		return;
	set_node(g, ev);
	if (ev->level == 0)
		link_cpu(l, ev->cpu, ev->group, ev->mask);
	else if (c->walk_group && c->walk_type == ev->type)
		link_group(l, seq_group(l->s, c->walk_group), ev->group, ev->mask);
	g = seq_group(l->s, ev->group); /* it may have moved */
	if (g && ev->has & TMIGR_HAS_PARENT && (ev->parent || !g->has_parent))
		link_group(l, g, ev->parent, 0);
	/* The walk goes on where this group's parent is. */
	c->walk_group = ev->has & TMIGR_HAS_PARENT && ev->parent ? ev->group : 0;
	c->walk_type = ev->type;
}

/* The next update of the CPU is only a step of the same walk when it is of the parent
 * of this one. */
static bool walk_goes_on(const struct lesson *l)
{
	struct seq_cpu *c = seq_cpu(l->s, l->ev->cpu);
	const struct group *below = c && c->walk_group ? seq_group(l->s, c->walk_group) : NULL;

	return below && below->parent == l->ev->group;
}

static void learn_connect(const struct lesson *l)
{
	const struct tmigr_traced *ev = l->ev;
	__u64 key = ev->type == TMIGR_TRACED_CONNECT_CHILD ? ev->parent : ev->group;
	struct group *g = known_group(l, key, ev->level);

	if (!g)
		return;
	set_node(g, ev);
	if (ev->type == TMIGR_TRACED_CONNECT_CPU) {
		link_cpu(l, ev->subject, ev->group, ev->mask);
	} else if (ev->type == TMIGR_TRACED_CONNECT_CHILD && ev->level) {
		g = known_group(l, ev->group, ev->level - 1u);
		link_group(l, g, ev->parent, ev->mask);
	}
	g = seq_group(l->s, key);
	if (g && l->out)
		out_group(l->s, g, ev->t_ns);
}

static void learn(const struct lesson *l)
{
	const struct tmigr_traced *ev = l->ev;
	const struct seq_cpu *c;
	struct group *g;

	switch (ev->type) {
	case TMIGR_TRACED_GROUP_ACTIVE:
	case TMIGR_TRACED_GROUP_INACTIVE:
		if (!walk_goes_on(l) && ev->cpu < l->s->n_cpus)
			l->s->cpus[ev->cpu].walk_group = 0;
		learn_update(l);
		break;
	case TMIGR_TRACED_CPU_ACTIVE:
	case TMIGR_TRACED_CPU_INACTIVE:
	case TMIGR_TRACED_CPU_NEW_TIMER:
	case TMIGR_TRACED_CPU_NEW_TIMER_IDLE:
	case TMIGR_TRACED_HANDLE_REMOTE_CPU:
	case TMIGR_TRACED_CPU_AVAILABLE:
	case TMIGR_TRACED_CPU_UNAVAILABLE:
		/* (Nearly always known, and the group with it.) */
		c = seq_cpu(l->s, ev->subject);
		if (!(ev->has & TMIGR_HAS_GROUP) || !c || c->group == ev->group)
			break;
		if (known_group(l, ev->group, 0))
			link_cpu(l, ev->subject, ev->group, 0);
		break;
	case TMIGR_TRACED_UPDATE_EVENTS:
		known_group(l, ev->group, ev->level);
		if (ev->parent && ev->level) {
			g = known_group(l, ev->parent, ev->level - 1u);
			link_group(l, g, ev->group, 0);
		}
		break;
	case TMIGR_TRACED_HANDLE_REMOTE:
		/* Its walk begins at the CPU's own group. */
		if (known_group(l, ev->group, ev->level) && ev->level == 0)
			link_cpu(l, ev->cpu, ev->group, 0);
		break;
	case TMIGR_TRACED_GROUP_SET:
	case TMIGR_TRACED_CONNECT_CPU:
	case TMIGR_TRACED_CONNECT_CHILD:
		learn_connect(l);
		break;
	}
}

/* In the prologue: links that the stream shows being made are learnt when their turn
 * comes. */
static bool is_made_here(struct tmigr_sequencer *s, const struct tmigr_traced *ev)
{
	struct group *g;
	struct seq_cpu *c;

	switch (ev->type) {
	case TMIGR_TRACED_GROUP_SET:
	case TMIGR_TRACED_CONNECT_CHILD:
		g = seq_group(s, ev->group);
		if (g)
			g->made_here = true;
		return true;
	case TMIGR_TRACED_CONNECT_CPU:
		c = seq_cpu(s, ev->subject);
		if (c)
			c->connected_here = true;
		return true;
	case TMIGR_TRACED_GROUP_ACTIVE:
	case TMIGR_TRACED_GROUP_INACTIVE:
		g = seq_group(s, ev->group);
		if (!g || g->made_here)
			return true;
		/* A parent that it did not have at first. */
		return g->has_parent && !g->parent && ev->has & TMIGR_HAS_PARENT && ev->parent;
	default:
		if (ev->subject < s->n_cpus && s->cpus[ev->subject].connected_here)
			return true;
		return false;
	}
}

void seq_learn(struct tmigr_sequencer *s, const struct tmigr_traced *ev, bool out)
{
	const struct lesson l = {s, ev, out};

	if (ev->type < TMIGR_TRACED_GROUP_ACTIVE || ev->type > TMIGR_TRACED_CONNECT_CHILD)
		return;
	if (out || !is_made_here(s, ev))
		learn(&l);
	if (out && ev->type == TMIGR_TRACED_GROUP_ACTIVE) {
		struct group *g = seq_group(s, ev->group);

		if (g)
			out_group(s, g, ev->t_ns);
	}
}

/* ---- the time before ---- */

/*
 * The word before a group's first update, where the update leaves no doubt: on level
 * 0 it changed its child's bit, and the migrator follows from that but for a
 * deactivation that leaves others active, which may have handed it on.
 */
void seq_first_word(struct group *g, const struct tmigr_traced *u)
{
	__u8 active = u->active ^ u->mask, migrator = u->migrator;

	if (u->level || g->made_here)
		return;
	if (u->type == TMIGR_TRACED_GROUP_ACTIVE) {
		if (!active)
			migrator = TMIGR_NO_MIGRATOR;
		else if (migrator == u->mask)
			return;
	} else if (u->active) {
		return;
	} else {
		migrator = u->mask;
	}
	g->has_first = true;
	g->first_word = (__u16)(active | migrator << 8);
}

void seq_first_event(struct tmigr_sequencer *s, const struct tmigr_traced *ev)
{
	struct seq_cpu *c;

	if (ev->type == TMIGR_TRACED_HANDLE_REMOTE) {
		c = seq_cpu(s, ev->cpu);
		if (c)
			c->handled_remote = true;
		return;
	}
	if (ev->type < TMIGR_TRACED_CPU_ACTIVE || ev->type > TMIGR_TRACED_CPU_UNAVAILABLE)
		return;
	c = seq_cpu(s, ev->subject);
	if (!c || c->started)
		return;
	c->started = true;
	c->has_first = true;
	c->first_wakeup = TMIGR_KTIME_MAX;
	c->first_flags = TMIGR_RF_AVAILABLE;
	switch (ev->type) {
	case TMIGR_TRACED_CPU_ACTIVE:
	case TMIGR_TRACED_HANDLE_REMOTE_CPU:
		/* Its duty so far; running tmigr_handle_remote changes it unseen. */
		c->has_first = !c->handled_remote;
		c->first_wakeup = ev->value;
		c->first_flags |= TMIGR_RF_TMIGR_IDLE;
		break;
	case TMIGR_TRACED_CPU_INACTIVE:
		break;
	case TMIGR_TRACED_CPU_AVAILABLE:
		c->first_flags = 0;
		break;
	default:
		c->has_first = false;
	}
}

static void out_first_words(struct tmigr_sequencer *s, __u64 start_ns)
{
	for (size_t i = 0; i < s->n_groups; i++) {
		const struct group *g = &s->groups[i];

		if (g->has_first)
			seq_put(s, &(struct tmigr_rec){.t_ns = start_ns,
						       .type = TMIGR_REC_SNAP_GROUP,
						       .level = g->level,
						       .a = g->key,
						       .b = g->first_word | (__u64)SEQ_BASE << 16});
	}
	for (size_t i = 0; i < s->n_cpus; i++) {
		const struct seq_cpu *c = &s->cpus[i];

		if (c->has_first)
			seq_put(s, &(struct tmigr_rec){.t_ns = start_ns,
						       .cpu = (__u32)i,
						       .type = TMIGR_REC_SNAP_CPU,
						       .flags = c->first_flags,
						       .a = c->first_wakeup,
						       .b = i});
	}
}

void seq_out_start(struct tmigr_sequencer *s, __u64 start_ns)
{
	for (size_t i = 0; i < s->n_cpus; i++)
		if (!s->cpus[i].connected_here)
			out_cpu(s, (unsigned int)i, start_ns);
	for (size_t i = 0; i < s->n_groups; i++)
		if (!s->groups[i].made_here)
			out_group(s, &s->groups[i], start_ns);
	out_first_words(s, start_ns);
	for (size_t i = 0; i < s->n_cpus; i++)
		s->cpus[i].walk_group = 0;
}
