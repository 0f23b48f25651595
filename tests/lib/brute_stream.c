// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the records to a list of changes: order, loss, and duties dated back.
 */
#include <assert.h>
#include <stdlib.h>

#include "brute_internal.h"

void *brute_more(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : realloc(array, (n ? 2 * n : 1) * size);
}

/* ---- state ---- */

int brute_index(const struct tmigr_topology *topo, __u64 cpu)
{
	for (size_t i = 0; i < topo->n_cpus; i++)
		if (topo->cpus[i].cpu == cpu)
			return i;
	assert(!"a CPU that is not in the topology");
	return -1;
}

void brute_state_init(struct bstate *s, const struct tmigr_topology *topo, size_t n_groups)
{
	*s = (struct bstate){0};
	s->groups = calloc(n_groups + 1, sizeof(*s->groups));
	s->roots = calloc(n_groups + 1, sizeof(*s->roots));
	s->cpus = calloc(topo->n_cpus, sizeof(*s->cpus));
	for (size_t i = 0; i < topo->n_cpus; i++) {
		bool on = topo->cpus[i].online;

		s->cpus[i] = (struct bcpu){
			.group = -1,
			.duty = on ? UNSET : NONE,
			.play = on,
			.slot = on ? TMIGR_SLOT_UNKNOWN : TMIGR_SLOT_OFFLINE,
		};
	}
}

void brute_state_free(struct bstate *s)
{
	free(s->groups);
	free(s->roots);
	free(s->cpus);
}

static int top_of(const struct bstate *s, int group)
{
	return s->groups[group].parent < 0 ? group : top_of(s, s->groups[group].parent);
}

int brute_root_of(const struct bstate *s, int group)
{
	if (group < 0)
		return -1;
	for (size_t i = 0; i < s->n_roots; i++)
		if (!s->roots[i].dead && s->roots[i].top == top_of(s, group))
			return i;
	return -1;
}

static void number_roots(struct bstate *s, const struct tmigr_topology *topo)
{
	for (size_t i = 0; i < topo->n_cpus; i++) {
		int root = brute_root_of(s, s->cpus[i].group);

		if (root >= 0 && s->roots[root].order < 0)
			s->roots[root].order = s->n_orders++;
	}
	for (size_t i = 0; i < s->n_roots; i++) /* those without CPUs */
		if (!s->roots[i].dead && s->roots[i].order < 0)
			s->roots[i].order = s->n_orders++;
}

static void apply_link(struct bstate *s, const struct change *c)
{
	struct bgroup *g = &s->groups[c->who];
	int parent = (int)c->a, keep = -1;

	if (g->parent >= 0)
		return;
	g->parent = parent;
	s->groups[parent].child_group[__builtin_ctz(c->mask)] = c->who;
	for (size_t i = 0; i < s->n_roots; i++) {
		struct broot *r = &s->roots[i];

		if (r->dead || top_of(s, r->top) != top_of(s, parent))
			continue;
		if (keep >= 0) {
			r->dead = true;
			continue;
		}
		keep = i;
		r->top = top_of(s, parent);
		r->shape = c->t;
	}
}

static void touch_shape(struct bstate *s, int group, __u64 t)
{
	int root = brute_root_of(s, group);

	if (root >= 0)
		s->roots[root].shape = t;
}

void brute_apply(struct bstate *s, const struct tmigr_topology *topo, const struct change *c)
{
	switch (c->type) {
	case WORD_IS:
		s->groups[c->who].known = true;
		s->groups[c->who].word = c->a;
		break;
	case LEARNT: /* a: its parent, or -1 */
		if (!s->groups[c->who].learnt)
			touch_shape(s, c->who, c->t);
		s->groups[c->who].learnt = true;
		if ((int)c->a < 0 && s->groups[c->who].parent < 0 && brute_root_of(s, c->who) < 0)
			s->roots[s->n_roots++] =
				(struct broot){.top = c->who, .order = -1, .shape = c->t};
		break;
	case LINKED:
		apply_link(s, c);
		break;
	case CPU_AT:
		if (s->cpus[c->who].group >= 0)
			break;
		s->cpus[c->who].group = c->a;
		s->cpus[c->who].mask = c->mask;
		s->groups[c->a].child_cpu[__builtin_ctz(c->mask)] = c->who;
		touch_shape(s, c->a, c->t);
		break;
	case DUTY_IS:
		s->cpus[c->who].duty = c->a;
		break;
	case PLAY_IS:
		s->cpus[c->who].play = c->a;
		break;
	case SLOT_IS:
		s->cpus[c->who].slot = c->a;
		break;
	case NUMBERED:
		number_roots(s, topo);
		break;
	}
}

static int group_of(struct bstate *s, __u64 key)
{
	struct bgroup *g;

	for (size_t i = 0; i < s->n_groups; i++)
		if (s->groups[i].key == key)
			return i;
	g = &s->groups[s->n_groups];
	g->key = key;
	g->parent = -1;
	for (int i = 0; i < 8; i++)
		g->child_cpu[i] = g->child_group[i] = -1;
	return s->n_groups++;
}

static int change(struct bstream *b, __u64 t, enum change_type type, int who, __u64 a, __u8 mask)
{
	struct change c = {t, type, who, a, mask};

	brute_apply(&b->state, b->topo, &c);
	b->changes = brute_more(b->changes, b->n_changes, sizeof(c));
	b->changes[b->n_changes] = c;
	return b->n_changes++;
}

/* ---- duty ---- */

static void duty(struct bstream *b, __u64 t, int cpu, enum duty d, enum duty was)
{
	if (b->due[cpu] >= 0)
		b->changes[b->due[cpu]].a = was;
	b->due[cpu] = -1;
	change(b, t, DUTY_IS, cpu, d, 0);
}

static enum duty duty_of(__u64 wakeup)
{
	return wakeup < TMIGR_KTIME_MAX ? SET : NONE;
}

static void duty_record(struct bstream *b, const struct tmigr_rec *r)
{
	int cpu = brute_index(b->topo, r->b);
	bool available = r->type == TMIGR_REC_CPU_AVAILABLE || r->type == TMIGR_REC_CPU_ONLINE ||
			 (r->type == TMIGR_REC_SNAP_CPU && r->flags & TMIGR_RF_AVAILABLE);

	if (r->type == TMIGR_REC_SNAP_CPU || r->type == TMIGR_REC_CPU_AVAILABLE ||
	    r->type == TMIGR_REC_CPU_UNAVAILABLE || r->type == TMIGR_REC_CPU_ONLINE ||
	    r->type == TMIGR_REC_CPU_OFFLINE)
		change(b, r->t_ns, PLAY_IS, cpu, available, 0);
	switch (r->type) {
	case TMIGR_REC_CPU_ACTIVE:
	case TMIGR_REC_HANDLE_REMOTE_CPU:
	case TMIGR_REC_CPU_AVAILABLE:
	case TMIGR_REC_CPU_OFFLINE:
		duty(b, r->t_ns, cpu, NONE, UNSET);
		break;
	case TMIGR_REC_CPU_UNAVAILABLE:
		duty(b, r->t_ns, cpu, NONE, NONE);
		break;
	case TMIGR_REC_CPU_IDLE:
		duty(b, r->t_ns, cpu, duty_of(r->a), duty_of(r->a));
		break;
	case TMIGR_REC_CPU_NEW_TIMER_IDLE:
		duty(b, r->t_ns, cpu, duty_of(r->a), UNSET);
		break;
	case TMIGR_REC_SNAP_CPU:
	case TMIGR_REC_DUTY:
		if (b->due[cpu] < 0)
			duty(b, r->t_ns, cpu, duty_of(r->a), UNSET);
		break;
	}
}

/* ---- words ---- */

static int ahead(__u32 word, __u32 of)
{
	return (__s16)(tmigr_word_seq(word) - tmigr_word_seq(of));
}

static bool is_update(const struct tmigr_rec *r)
{
	return r->type == TMIGR_REC_GROUP_ACTIVE || r->type == TMIGR_REC_GROUP_INACTIVE;
}

static __u64 max(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

static void blur(struct bstream *b, int group, __u64 from, __u64 to)
{
	int root = brute_root_of(&b->state, group);

	if (root < 0 || from >= to)
		return;
	b->blurs = brute_more(b->blurs, b->n_blurs, sizeof(*b->blurs));
	b->blurs[b->n_blurs++] = (struct blur){group, root, from, to, b->state.roots[root].shape};
}

static void accept(struct bstream *b, __u64 now, int group, const struct tmigr_rec *r)
{
	struct bgroup *g = &b->state.groups[group];
	int lost = g->known ? ahead(r->b, g->word) - is_update(r) : 0;
	int root = brute_root_of(&b->state, group), cpu;

	if (lost > 0) {
		__u64 from = g->suspect && g->suspect_from < b->clean ? g->suspect_from : b->clean;

		from = max(from, g->good);
		blur(b, group, from, now);
		if (now >= b->start && from < b->end)
			b->out->result.lost_updates += lost;
	}
	g->suspect = false;
	g->good = now;
	if (now >= b->end) {
		g->word = r->b;
		return;
	}
	change(b, now, WORD_IS, group, r->b, 0);
	if (r->type != TMIGR_REC_GROUP_INACTIVE || root < 0 || b->state.roots[root].top != group ||
	    tmigr_word_migrator(r->b) != TMIGR_NO_MIGRATOR)
		return;
	cpu = brute_index(b->topo, r->cpu);
	duty(b, now, cpu, UNSET, UNSET);
	if (brute_root_of(&b->state, b->state.cpus[cpu].group) == root)
		b->due[cpu] = b->n_changes - 1;
}

/* The next update of the group, by seq, that is older than record @p (or @p's own
 * update, of a snapshot) and comes within the look-ahead; -1 none. */
static long next_older(const struct bstream *b, size_t p, int group, bool taken)
{
	const struct bgroup *g = &b->state.groups[group];
	const struct tmigr_rec *r = &b->recs[p];
	long best = -1;

	for (size_t i = p + 1; i < b->n; i++) {
		const struct tmigr_rec *q = &b->recs[i];

		if (q->t_ns - r->t_ns > TMIGR_LOOKAHEAD_NS)
			break;
		if (b->used[i] || !is_update(q) || q->a != r->a)
			continue;
		if (ahead(q->b, r->b) > (is_update(r) ? -1 : 0))
			continue;
		if ((g->known || taken) && ahead(q->b, g->word) <= 0)
			continue;
		if (best < 0 || ahead(q->b, b->recs[best].b) < 0)
			best = i;
	}
	return best;
}

static void group_record(struct bstream *b, size_t p, __u64 now)
{
	const struct tmigr_rec *r = &b->recs[p];
	int group = group_of(&b->state, r->a);
	struct bgroup *g = &b->state.groups[group];
	bool known = g->known;
	int d = known ? ahead(r->b, g->word) : 1;
	long i;

	if (d < 0 || (d == 0 && is_update(r))) {
		b->out->result.late_updates += is_update(r) && now >= b->start && now < b->end;
		return;
	}
	while (d != 0 && (i = next_older(b, p, group, known)) >= 0) {
		b->used[i] = true;
		accept(b, now, group, &b->recs[i]);
		known = true;
	}
	if (g->known && ahead(r->b, g->word) == 0) {
		g->suspect = false;
		g->good = now;
		return;
	}
	accept(b, now, group, r);
}

/* ---- the rest ---- */

static void node_record(struct bstream *b, const struct tmigr_rec *r)
{
	struct bstate *s = &b->state;
	int group = group_of(s, r->a), cpu;
	int *root = calloc(b->topo->n_cpus, sizeof(*root));

	for (size_t i = 0; i < b->topo->n_cpus; i++)
		root[i] = brute_root_of(s, s->cpus[i].group);
	if (r->type == TMIGR_REC_NODE_CPU) {
		cpu = brute_index(b->topo, r->b);
		change(b, r->t_ns, CPU_AT, cpu, group, r->mask);
	} else {
		int parent = r->b ? group_of(s, r->b) : -1;

		change(b, r->t_ns, LEARNT, group, parent, 0);
		if (parent >= 0)
			change(b, r->t_ns, LINKED, group, parent, r->mask);
	}
	for (size_t i = 0; i < b->topo->n_cpus; i++)
		if (b->due[i] >= 0 && root[i] != brute_root_of(s, s->cpus[i].group))
			duty(b, r->t_ns, i, UNSET, UNSET);
	free(root);
}

static void lost_record(struct bstream *b, const struct tmigr_rec *r, __u64 now)
{
	int cpu = brute_index(b->topo, r->cpu);
	int root = brute_root_of(&b->state, b->state.cpus[cpu].group);
	__u64 from = r->b < now ? r->b : now;

	if (now >= b->start && r->b < b->end)
		b->out->result.lost_records += r->a;
	if (r->b >= b->end)
		return;
	b->gaps = brute_more(b->gaps, b->n_gaps, sizeof(*b->gaps));
	b->gaps[b->n_gaps++] = (struct gap){cpu, root, from, now};
	for (size_t i = 0; i < b->topo->n_cpus && now < b->end; i++) {
		int of = brute_root_of(&b->state, b->state.cpus[i].group);

		if ((int)i == cpu || (b->due[i] < 0 && b->state.cpus[i].duty == SET &&
				      (root < 0 || of < 0 || of == root)))
			duty(b, now, i, UNSET, UNSET);
	}
	for (size_t i = 0; i < b->state.n_groups; i++) {
		struct bgroup *g = &b->state.groups[i];
		__u64 f = max(from, g->good);

		if (!g->known || (root >= 0 && brute_root_of(&b->state, i) != root))
			continue;
		if (!g->suspect || f < g->suspect_from)
			g->suspect_from = f;
		g->suspect = true;
	}
}

static void one_record(struct bstream *b, size_t p)
{
	const struct tmigr_rec *r = &b->recs[p];
	__u64 now = r->t_ns < b->end ? r->t_ns : b->end;

	if (b->used[p])
		return;
	if (is_update(r) || r->type == TMIGR_REC_SNAP_GROUP)
		group_record(b, p, now);
	else if (r->type == TMIGR_REC_LOST)
		lost_record(b, r, now);
	else if (r->type == TMIGR_REC_CLEAN && now >= b->end)
		b->clean = now;
	else if (now >= b->end)
		return;
	else if (r->type == TMIGR_REC_NODE_GROUP || r->type == TMIGR_REC_NODE_CPU)
		node_record(b, r);
	else if (r->type == TMIGR_REC_CLEAN) {
		b->clean = max(b->clean, now);
		if (now > b->start)
			change(b, now, NUMBERED, 0, 0, 0);
	} else if ((r->type >= TMIGR_REC_CPU_ACTIVE && r->type <= TMIGR_REC_CPU_OFFLINE) ||
		   r->type == TMIGR_REC_SNAP_CPU || r->type == TMIGR_REC_DUTY)
		duty_record(b, r);
}

void brute_stream(struct bstream *b)
{
	for (size_t p = 0; p < b->n; p++)
		one_record(b, p);
	for (size_t i = 0; i < b->topo->n_cpus; i++)
		if (b->due[i] >= 0)
			b->changes[b->due[i]].a = UNSET;
	for (size_t i = 0; i < b->state.n_groups; i++)
		if (b->state.groups[i].suspect)
			blur(b, i, max(b->state.groups[i].suspect_from, b->state.groups[i].good),
			     b->end);
	change(b, b->end, NUMBERED, 0, 0, 0);
}
