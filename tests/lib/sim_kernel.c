// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>

#include "machine.h"
#include "sim_internal.h"

/* ---- the kernel ---- */

static void set_word(struct machine *s, int group, __u8 active, __u8 migrator)
{
	struct sgroup *g = &s->groups[group];

	g->word = WORD(active, migrator, tmigr_word_seq(g->word) + 1);
}

/* tmigr_active_up(); returns whether the walk goes on. */
static bool active_up(struct machine *s, int group, __u8 mask)
{
	__u8 active = tmigr_word_active(s->groups[group].word);
	__u8 migrator = tmigr_word_migrator(s->groups[group].word);
	bool none = migrator == NOBODY;

	set_word(s, group, active | mask, none ? mask : migrator);
	return none;
}

/* tmigr_inactive_up() */
static bool inactive_up(struct machine *s, int group, int child, __u8 mask)
{
	__u8 active = tmigr_word_active(s->groups[group].word);
	__u8 migrator = tmigr_word_migrator(s->groups[group].word);
	__u8 of_child = child >= 0 ? tmigr_word_active(s->groups[child].word) : 0;
	bool go_on = false;

	if (!of_child)
		active &= ~mask;
	if (migrator == mask && !of_child) {
		migrator = active ? active & -active : NOBODY;
		go_on = !active;
	}
	set_word(s, group, active, migrator);
	return go_on;
}

/* After the last group: what became of the duty. */
static void end_walk(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];

	if (!c->leaving) {
		c->wakeup_ns = c->none && sim_chance(s, 60) ? s->now + 1000 : TMIGR_KTIME_MAX;
		sim_event_about(s, cpu, TMIGR_REC_CPU_IDLE, cpu, c->wakeup_ns);
	} else {
		c->wakeup_ns = TMIGR_KTIME_MAX;
		c->available = false;
		sim_event_about(s, cpu, TMIGR_REC_CPU_UNAVAILABLE, cpu, 0);
	}
	c->walk = WALK_NONE;
}

static void walk_step(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	struct sgroup *g = &s->groups[c->at];
	__u8 mask = c->from >= 0 ? s->groups[c->from].mask : c->mask;
	bool active = c->walk == WALK_ACTIVE, go_on;

	if (active)
		go_on = active_up(s, c->at, mask);
	else
		go_on = inactive_up(s, c->at, c->from, mask);
	sim_event(s, cpu, rec_group(0, 0, active, g->key, mask, g->word));
	c->none = !active && go_on && g->parent < 0;
	sim_note_truth(s);
	if (!go_on || g->parent < 0) {
		c->walk = active ? WALK_NONE : WALK_TELL;
		return;
	}
	c->from = c->at;
	c->at = g->parent;
}

static void start_walk(struct machine *s, int cpu, enum walk walk)
{
	struct scpu *c = &s->cpus[cpu];

	if (walk == WALK_ACTIVE) {
		sim_event_about(s, cpu, TMIGR_REC_CPU_ACTIVE, cpu, c->wakeup_ns);
		c->wakeup_ns = TMIGR_KTIME_MAX;
	}
	c->tmigr_idle = walk == WALK_INACTIVE;
	c->walk = walk;
	c->at = c->group;
	c->from = -1;
}

static void handle_remote(struct machine *s, int cpu)
{
	int target = sim_below(s, s->cfg->n_cpus);
	struct scpu *t = &s->cpus[target];
	struct tmigr_rec rec =
		rec_about(0, 0, TMIGR_REC_HANDLE_REMOTE_CPU, sim_number(s, target), 0);

	if (!t->available || !t->tmigr_idle || t->walk || t->busy_ns >= s->now)
		return;
	t->wakeup_ns = TMIGR_KTIME_MAX;
	rec.flags = s->cpus[cpu].tmigr_idle || sim_chance(s, 50) ? TMIGR_RF_IDLE_TASK : 0;
	sim_event(s, cpu, rec);
}

static void idle_switch(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	unsigned int n = s->sim->topo->cpus[cpu].n_states, state = sim_below(s, n ? n : 2);

	if (c->slot == TMIGR_SLOT_RUNNING) {
		sim_event(s, cpu, rec_idle(0, 0, state));
		sim_true_slot(s, cpu, TMIGR_SLOT_STATE0 + state, c->busy_ns);
		return;
	}
	sim_event(s, cpu, rec_idle(0, 0, -1));
	sim_true_slot(s, cpu, TMIGR_SLOT_RUNNING, c->busy_ns);
	if (sim_chance(s, 10)) {
		struct tmigr_rec miss = rec_idle(0, 0, state);

		miss.type = TMIGR_REC_IDLE_MISS;
		miss.b = sim_chance(s, 50);
		sim_event(s, cpu, miss);
	}
}

/* ---- hotplug ---- */

int sim_new_group(struct machine *s, unsigned int level)
{
	struct sgroup *g = &s->groups[s->n_groups];

	assert(s->n_groups < (int)(4 * s->cfg->n_cpus + 16));
	*g = (struct sgroup){.key = 0xffff888000000000ULL + s->n_groups * 0x80,
			     .parent = -1,
			     .level = level,
			     .mask = 1,
			     .word = WORD(0, NOBODY, sim_below(s, 0x10000))};
	return s->n_groups++;
}

__u8 sim_give_mask(struct machine *s, int group, int child)
{
	struct sgroup *g = &s->groups[group];
	int bit;

	do {
		bit = sim_below(s, 8);
	} while (g->used >> bit & 1);
	g->used |= 1 << bit;
	g->child[bit] = child;
	return 1 << bit;
}

bool sim_has_room(const struct machine *s, int group)
{
	return __builtin_popcount(s->groups[group].used) < (int)s->cfg->fan;
}

void sim_link_group(struct machine *s, int group, int parent)
{
	s->groups[group].mask = sim_give_mask(s, parent, group);
	s->groups[group].parent = parent;
}

/* New groups, one a level from 0 on, below @parent; returns the lowest. */
static int new_branch(struct machine *s, int parent)
{
	int lowest = -1, below = -1;

	for (unsigned int level = 0; level < s->groups[parent].level; level++) {
		int group = sim_new_group(s, level);

		if (below >= 0)
			sim_link_group(s, below, group);
		else
			lowest = group;
		below = group;
	}
	sim_link_group(s, below, parent);
	return lowest;
}

static int top_of(const struct machine *s, int group)
{
	while (s->groups[group].parent >= 0)
		group = s->groups[group].parent;
	return group;
}

/* A place for a new CPU in hierarchy @root: a level-0 group.  *@ret_old_top: the
 * root that got a new one above it, or -1. */
static int make_place(struct machine *s, unsigned int root, int *ret_old_top)
{
	int top = s->tops[root];

	*ret_old_top = -1;
	for (unsigned int level = 0; level <= s->groups[top].level; level++)
		for (int g = 0; g < s->n_groups; g++)
			if (s->groups[g].level == level && sim_has_room(s, g) &&
			    top_of(s, g) == top)
				return level ? new_branch(s, g) : g;
	s->tops[root] = sim_new_group(s, s->groups[top].level + 1);
	sim_link_group(s, top, s->tops[root]);
	*ret_old_top = top;
	return new_branch(s, s->tops[root]);
}

/* First online of a CPU: its place, perhaps a new top level. */
static void first_online(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	unsigned int root = sim_below(s, s->cfg->n_roots);
	int old_top, group = make_place(s, root, &old_top);

	c->group = group;
	c->mask = sim_give_mask(s, group, cpu);
	s->sim->root_of[cpu] = root;
	if (s->tracing) {
		for (int g = group; g >= 0; g = s->groups[g].parent)
			if (!s->groups[g].told)
				sim_tell_group(s, g);
		if (old_top >= 0)
			sim_tell_group(s, old_top);
		sim_put(s, rec_node_cpu(s->now, s->groups[group].key, sim_number(s, cpu), c->mask));
		c->told = true;
	}
	if (old_top < 0)
		return;
	if (tmigr_word_migrator(s->groups[old_top].word) != NOBODY) {
		__u8 mask = s->groups[old_top].mask;

		active_up(s, s->tops[root], mask);
		sim_event(s, cpu,
			  rec_group(0, 0, true, s->groups[s->tops[root]].key, mask,
				    s->groups[s->tops[root]].word));
	}
	sim_note_truth(s);
}

/* Which CPU tells that another one goes or comes. */
static int other_cpu(struct machine *s, int cpu)
{
	for (int tries = 0; tries < 20; tries++) {
		int o = sim_below(s, s->cfg->n_cpus);

		if (o != cpu && s->cpus[o].online && s->cpus[o].busy_ns < s->now)
			return o;
	}
	return -1;
}

static void go_online(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	int teller = other_cpu(s, cpu);

	if (teller < 0)
		return;
	sim_event_about(s, teller, TMIGR_REC_CPU_ONLINE, cpu, 0);
	c->online = true;
	c->busy_ns = s->cpus[teller].busy_ns;
	sim_true_slot(s, cpu, TMIGR_SLOT_RUNNING, c->busy_ns);
	if (c->group < 0)
		first_online(s, cpu);
	if (c->group < 0)
		return;
	c->available = true;
	sim_event_about(s, cpu, TMIGR_REC_CPU_AVAILABLE, cpu, 0);
	start_walk(s, cpu, WALK_ACTIVE);
}

static void go_offline(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	int teller = other_cpu(s, cpu);

	if (teller < 0)
		return;
	c->leaving = false;
	sim_event_about(s, teller, TMIGR_REC_CPU_OFFLINE, cpu, 0);
	c->online = false;
	c->busy_ns = s->cpus[teller].busy_ns;
	sim_true_slot(s, cpu, TMIGR_SLOT_OFFLINE, c->busy_ns);
}

static void act(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	unsigned int what = sim_below(s, 100);

	if (what < 40)
		idle_switch(s, cpu);
	else if (!c->available)
		return;
	else if (what < 48)
		handle_remote(s, cpu);
	else if (c->slot != TMIGR_SLOT_RUNNING)
		return;
	else if (what < 80)
		start_walk(s, cpu, c->tmigr_idle ? WALK_ACTIVE : WALK_INACTIVE);
	else if (what < 90 && c->tmigr_idle)
		sim_event_about(
			s, cpu, sim_chance(s, 50) ? TMIGR_REC_CPU_NEW_TIMER_IDLE : TMIGR_REC_DUTY,
			cpu, c->wakeup_ns = sim_chance(s, 50) ? s->now + 500 : TMIGR_KTIME_MAX);
	else if (what < 92 && !c->tmigr_idle)
		sim_event_about(s, cpu, TMIGR_REC_CPU_NEW_TIMER, cpu, s->now);
	else if (what < 95 && s->cfg->hotplug && !c->tmigr_idle) {
		c->leaving = true;
		start_walk(s, cpu, WALK_INACTIVE);
	}
}

void sim_step(struct machine *s)
{
	int cpu = sim_below(s, s->cfg->n_cpus);
	struct scpu *c = &s->cpus[cpu];

	s->now += 1 + sim_below(s, 2 * s->cfg->step_ns);
	if (c->busy_ns >= s->now)
		return;
	if (!c->online) {
		if (sim_chance(s, 10) && (c->group >= 0 || s->tracing))
			go_online(s, cpu);
	} else if (c->leaving && !c->walk) {
		go_offline(s, cpu);
	} else if (c->walk == WALK_TELL) {
		end_walk(s, cpu);
	} else if (c->walk) {
		walk_step(s, cpu);
	} else {
		act(s, cpu);
	}
}
