// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "sim_trace.h"

#define NOBODY TMIGR_NO_MIGRATOR

struct sgroup {
	__u64 key;
	int parent;
	unsigned int level;
	__u8 mask; /* in the parent */
	__u8 used; /* masks given to children */
	__u32 word;
	bool told; /* its NODE_GROUP, with this parent, is in the trace */
	int child[8];
};

enum walk { WALK_NONE, WALK_ACTIVE, WALK_INACTIVE, WALK_TELL };

struct scpu {
	int group;
	__u8 mask;
	bool online, available, leaving;
	bool tmigr_idle;
	bool told;
	unsigned int slot;
	__u64 since_ns, busy_ns, wakeup_ns;
	enum walk walk;
	int at, from; /* group of the next update, the child it comes from */
	bool none;    /* its walk left a root without migrator */
};

struct machine {
	const struct sim_cfg *cfg;
	struct sim *sim;
	__u64 rng, now, from_ns;
	struct sgroup *groups;
	int n_groups;
	struct scpu *cpus;
	int *tops;	 /* of each hierarchy */
	int *last_truth; /* of each hierarchy */
	bool tracing;
	size_t cap_recs, cap_truth;
};

__u64 sim_random_u64(__u64 *state)
{
	__u64 z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static __u64 below(struct machine *s, __u64 n)
{
	return n ? sim_random_u64(&s->rng) % n : 0;
}

static bool chance(struct machine *s, unsigned int percent)
{
	return below(s, 100) < percent;
}

static unsigned int number(const struct machine *s, int cpu)
{
	return s->sim->topo->cpus[cpu].cpu;
}

/* ---- the trace ---- */

static void put(struct machine *s, struct tmigr_rec rec)
{
	struct sim *sim = s->sim;

	if (sim->n_recs == s->cap_recs) {
		s->cap_recs = s->cap_recs ? s->cap_recs * 2 : 1024;
		sim->recs = realloc(sim->recs, s->cap_recs * sizeof(*sim->recs));
	}
	sim->recs[sim->n_recs++] = rec;
}

static void tell_group(struct machine *s, int group)
{
	struct sgroup *g = &s->groups[group];
	struct tmigr_rec rec = rec_node_group(
		s->now, g->key, g->parent >= 0 ? s->groups[g->parent].key : 0, g->level, g->mask);

	rec.cpu = g->level && chance(s, 50) ? (__u32)-1 : 0;
	put(s, rec);
	g->told = true;
}

static void tell_word(struct machine *s, int group)
{
	put(s, rec_snap_group(s->now, s->groups[group].key, s->groups[group].word));
}

/* What a tracer without snapshot learns from a CPU's first event. */
static void tell_path(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];

	if (c->told || c->group < 0)
		return;
	c->told = true;
	put(s, rec_node_cpu(s->now, s->groups[c->group].key, number(s, cpu), c->mask));
	for (int g = c->group; g >= 0; g = s->groups[g].parent) {
		if (s->groups[g].told)
			continue;
		tell_group(s, g);
		tell_word(s, g);
	}
}

static void tell_all(struct machine *s)
{
	for (int g = 0; g < s->n_groups; g++) {
		tell_group(s, g);
		tell_word(s, g);
	}
	for (unsigned int i = 0; i < s->cfg->n_cpus; i++) {
		struct scpu *c = &s->cpus[i];
		struct tmigr_rec rec;

		if (c->group >= 0)
			put(s,
			    rec_node_cpu(s->now, s->groups[c->group].key, number(s, i), c->mask));
		c->told = c->group >= 0;
		rec = rec_about(s->now, 0, TMIGR_REC_SNAP_CPU, number(s, i), c->wakeup_ns);
		rec.flags = (c->available ? TMIGR_RF_AVAILABLE : 0) |
			    (c->tmigr_idle ? TMIGR_RF_TMIGR_IDLE : 0);
		put(s, rec);
		if (!c->online)
			continue;
		put(s, rec_about(s->now, 0, TMIGR_REC_SNAP_IDLE, number(s, i),
				 c->slot == TMIGR_SLOT_RUNNING ? TMIGR_STATE_RUNNING
							       : c->slot - TMIGR_SLOT_STATE0));
	}
}

/* A kernel event on @cpu, stamped some time after it happened. */
static void event(struct machine *s, int cpu, struct tmigr_rec rec)
{
	struct scpu *c = &s->cpus[cpu];

	rec.cpu = number(s, cpu);
	rec.t_ns = s->now + below(s, s->cfg->max_delay_ns + 1);
	if (rec.t_ns < c->busy_ns)
		rec.t_ns = c->busy_ns;
	c->busy_ns = rec.t_ns;
	if (!s->tracing)
		return;
	if (rec.type != TMIGR_REC_CPU_ONLINE && rec.type != TMIGR_REC_CPU_OFFLINE)
		tell_path(s, cpu);
	put(s, rec);
}

static void event_about(struct machine *s, int cpu, unsigned int type, int subject, __u64 a)
{
	event(s, cpu, rec_about(0, 0, type, number(s, subject), a));
}

/* ---- truth ---- */

static int true_holder(const struct machine *s, int top)
{
	int g = top;

	for (;;) {
		__u8 migrator = tmigr_word_migrator(s->groups[g].word);
		int child;

		if (migrator == NOBODY)
			return g == top ? -2 : -1;
		child = s->groups[g].child[__builtin_ctz(migrator)];
		if (!s->groups[g].level)
			return child;
		g = child;
	}
}

static void note_truth(struct machine *s)
{
	struct sim *sim = s->sim;

	for (unsigned int i = 0; i < s->cfg->n_roots; i++) {
		int holder = true_holder(s, s->tops[i]);

		if (holder == s->last_truth[i])
			continue;
		s->last_truth[i] = holder;
		if (sim->n_truth == s->cap_truth) {
			s->cap_truth = s->cap_truth ? s->cap_truth * 2 : 256;
			sim->truth = realloc(sim->truth, s->cap_truth * sizeof(*sim->truth));
		}
		sim->truth[sim->n_truth++] = (struct sim_truth){
			s->now, i, holder >= 0 ? (int)number(s, holder) : holder};
	}
}

static void true_slot(struct machine *s, int cpu, unsigned int slot, __u64 t)
{
	struct scpu *c = &s->cpus[cpu];
	__u64 from = c->since_ns > s->sim->start_ns ? c->since_ns : s->sim->start_ns;
	__u64 to = t < s->sim->end_ns ? t : s->sim->end_ns;

	if (to > from)
		s->sim->time_ns[cpu * TMIGR_SLOTS + c->slot] += to - from;
	c->since_ns = t;
	c->slot = slot;
}

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
		c->wakeup_ns = c->none && chance(s, 60) ? s->now + 1000 : TMIGR_KTIME_MAX;
		event_about(s, cpu, TMIGR_REC_CPU_IDLE, cpu, c->wakeup_ns);
	} else {
		c->wakeup_ns = TMIGR_KTIME_MAX;
		c->available = false;
		event_about(s, cpu, TMIGR_REC_CPU_UNAVAILABLE, cpu, 0);
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
	event(s, cpu, rec_group(0, 0, active, g->key, mask, g->word));
	c->none = !active && go_on && g->parent < 0;
	note_truth(s);
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
		event_about(s, cpu, TMIGR_REC_CPU_ACTIVE, cpu, c->wakeup_ns);
		c->wakeup_ns = TMIGR_KTIME_MAX;
	}
	c->tmigr_idle = walk == WALK_INACTIVE;
	c->walk = walk;
	c->at = c->group;
	c->from = -1;
}

static void handle_remote(struct machine *s, int cpu)
{
	int target = below(s, s->cfg->n_cpus);
	struct scpu *t = &s->cpus[target];
	struct tmigr_rec rec = rec_about(0, 0, TMIGR_REC_HANDLE_REMOTE_CPU, number(s, target), 0);

	if (!t->available || !t->tmigr_idle || t->walk || t->busy_ns >= s->now)
		return;
	t->wakeup_ns = TMIGR_KTIME_MAX;
	rec.flags = s->cpus[cpu].tmigr_idle || chance(s, 50) ? TMIGR_RF_IDLE_TASK : 0;
	event(s, cpu, rec);
}

static void idle_switch(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	unsigned int n = s->sim->topo->cpus[cpu].n_states, state = below(s, n ? n : 2);

	if (c->slot == TMIGR_SLOT_RUNNING) {
		event(s, cpu, rec_idle(0, 0, state));
		true_slot(s, cpu, TMIGR_SLOT_STATE0 + state, c->busy_ns);
		return;
	}
	event(s, cpu, rec_idle(0, 0, -1));
	true_slot(s, cpu, TMIGR_SLOT_RUNNING, c->busy_ns);
	if (chance(s, 10)) {
		struct tmigr_rec miss = rec_idle(0, 0, state);

		miss.type = TMIGR_REC_IDLE_MISS;
		miss.b = chance(s, 50);
		event(s, cpu, miss);
	}
}

/* ---- hotplug ---- */

static int new_group(struct machine *s, unsigned int level)
{
	struct sgroup *g = &s->groups[s->n_groups];

	assert(s->n_groups < (int)(2 * s->cfg->n_cpus + 2));
	*g = (struct sgroup){.key = 0xffff888000000000ULL + s->n_groups * 0x80,
			     .parent = -1,
			     .level = level,
			     .mask = 1,
			     .word = WORD(0, NOBODY, below(s, 0x10000))};
	return s->n_groups++;
}

static __u8 give_mask(struct machine *s, int group, int child)
{
	struct sgroup *g = &s->groups[group];
	int bit;

	do {
		bit = below(s, 8);
	} while (g->used >> bit & 1);
	g->used |= 1 << bit;
	g->child[bit] = child;
	return 1 << bit;
}

static bool has_room(const struct machine *s, int group)
{
	return __builtin_popcount(s->groups[group].used) < (int)s->cfg->fan;
}

static void link_group(struct machine *s, int group, int parent)
{
	s->groups[group].mask = give_mask(s, parent, group);
	s->groups[group].parent = parent;
}

/* A place for a new CPU in hierarchy @root: the group's index. */
static int make_place(struct machine *s, unsigned int root, int *ret_old_top)
{
	int top = s->tops[root], group;

	*ret_old_top = -1;
	for (int g = 0; g < s->n_groups; g++)
		if (!s->groups[g].level && has_room(s, g) && s->groups[g].parent == -1 && g == top)
			return g;
	group = new_group(s, 0);
	for (int g = 0, up; g < s->n_groups; g++) {
		for (up = g; s->groups[up].parent >= 0; up = s->groups[up].parent)
			;
		if (s->groups[g].level == 1 && has_room(s, g) && up == top) {
			link_group(s, group, g);
			return group;
		}
	}
	if (s->groups[top].level != 0)
		return -1;
	s->tops[root] = new_group(s, 1);
	link_group(s, top, s->tops[root]);
	link_group(s, group, s->tops[root]);
	*ret_old_top = top;
	return group;
}

/* First online of a CPU: its place, perhaps a new top level. */
static void first_online(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	unsigned int root = below(s, s->cfg->n_roots);
	int old_top, group = make_place(s, root, &old_top);

	if (group < 0)
		group = s->n_groups - 1; /* the new group stays a root of its own: skip */
	if (s->groups[group].parent < 0 && s->tops[root] != group)
		return;
	c->group = group;
	c->mask = give_mask(s, group, cpu);
	s->sim->root_of[cpu] = root;
	if (s->tracing) {
		for (int g = group; g >= 0; g = s->groups[g].parent)
			if (!s->groups[g].told)
				tell_group(s, g);
		if (old_top >= 0)
			tell_group(s, old_top);
		put(s, rec_node_cpu(s->now, s->groups[group].key, number(s, cpu), c->mask));
		c->told = true;
	}
	if (old_top < 0)
		return;
	if (tmigr_word_migrator(s->groups[old_top].word) != NOBODY) {
		__u8 mask = s->groups[old_top].mask;

		active_up(s, s->tops[root], mask);
		event(s, cpu,
		      rec_group(0, 0, true, s->groups[s->tops[root]].key, mask,
				s->groups[s->tops[root]].word));
	}
	note_truth(s);
}

/* Which CPU tells that another one goes or comes. */
static int other_cpu(struct machine *s, int cpu)
{
	for (int tries = 0; tries < 20; tries++) {
		int o = below(s, s->cfg->n_cpus);

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
	event_about(s, teller, TMIGR_REC_CPU_ONLINE, cpu, 0);
	c->online = true;
	c->busy_ns = s->cpus[teller].busy_ns;
	true_slot(s, cpu, TMIGR_SLOT_RUNNING, c->busy_ns);
	if (c->group < 0)
		first_online(s, cpu);
	if (c->group < 0)
		return;
	c->available = true;
	event_about(s, cpu, TMIGR_REC_CPU_AVAILABLE, cpu, 0);
	start_walk(s, cpu, WALK_ACTIVE);
}

static void go_offline(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	int teller = other_cpu(s, cpu);

	if (teller < 0)
		return;
	c->leaving = false;
	event_about(s, teller, TMIGR_REC_CPU_OFFLINE, cpu, 0);
	c->online = false;
	c->busy_ns = s->cpus[teller].busy_ns;
	true_slot(s, cpu, TMIGR_SLOT_OFFLINE, c->busy_ns);
}

static void act(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];
	unsigned int what = below(s, 100);

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
		event_about(s, cpu, chance(s, 50) ? TMIGR_REC_CPU_NEW_TIMER_IDLE : TMIGR_REC_DUTY,
			    cpu, c->wakeup_ns = chance(s, 50) ? s->now + 500 : TMIGR_KTIME_MAX);
	else if (what < 92 && !c->tmigr_idle)
		event_about(s, cpu, TMIGR_REC_CPU_NEW_TIMER, cpu, s->now);
	else if (what < 95 && s->cfg->hotplug && !c->tmigr_idle) {
		c->leaving = true;
		start_walk(s, cpu, WALK_INACTIVE);
	}
}

static void step(struct machine *s)
{
	int cpu = below(s, s->cfg->n_cpus);
	struct scpu *c = &s->cpus[cpu];

	s->now += 1 + below(s, 2 * s->cfg->step_ns);
	if (c->busy_ns >= s->now)
		return;
	if (!c->online) {
		if (chance(s, 10) && (c->group >= 0 || s->tracing))
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

/* ---- building ---- */

static struct tmigr_topology *make_topology(struct machine *s)
{
	unsigned int n = s->cfg->n_cpus, *class_of = calloc(n, sizeof(*class_of)), next = 0;
	struct tmigr_topology *topo;

	for (unsigned int i = 0; i < n; i++)
		class_of[i] = below(s, s->cfg->n_classes);
	topo = machine_new(n, 1, s->cfg->n_classes, class_of);
	free(class_of);
	for (unsigned int i = 0; i < n; i++) {
		topo->cpus[i].cpu = next;
		topo->cpus[i].n_states = topo->cpus[i].class_idx * 3 % 11;
		next += 1 + below(s, s->cfg->max_gap);
	}
	if (s->cfg->max_gap >= 100 && n > 1)
		topo->cpus[n - 1].cpu = TMIGR_CPU_MAX;
	topo->n_possible = topo->cpus[n - 1].cpu + 1;
	for (unsigned int i = 0; i < s->cfg->n_late; i++)
		topo->cpus[n - 1 - i].online = false;
	return topo;
}

/* Groups above the CPUs of one hierarchy, level by level. */
static int build_tree(struct machine *s, const int *cpus, unsigned int n)
{
	int level0 = s->n_groups, from, to;

	for (unsigned int i = 0; i < n; i++) {
		struct scpu *c = &s->cpus[cpus[i]];

		if (i == 0 || !has_room(s, s->n_groups - 1))
			new_group(s, 0);
		c->group = s->n_groups - 1;
		c->mask = give_mask(s, c->group, cpus[i]);
	}
	from = level0;
	to = s->n_groups;
	for (unsigned int level = 1; to - from > 1; level++) {
		for (int g = from; g < to; g++) {
			if (g == from || !has_room(s, s->n_groups - 1))
				new_group(s, level);
			link_group(s, g, s->n_groups - 1);
		}
		from = to;
		to = s->n_groups;
	}
	return from;
}

static void build(struct machine *s)
{
	unsigned int n = s->cfg->n_cpus, n_start = n - s->cfg->n_late;
	int *cpus = calloc(n, sizeof(*cpus));

	for (unsigned int i = 0; i < n; i++) {
		s->sim->root_of[i] = -1;
		s->cpus[i] = (struct scpu){.group = -1,
					   .slot = TMIGR_SLOT_OFFLINE,
					   .wakeup_ns = TMIGR_KTIME_MAX,
					   .tmigr_idle = true};
		if (i >= n_start)
			continue;
		s->sim->root_of[i] = i < s->cfg->n_roots ? i : below(s, s->cfg->n_roots);
		s->cpus[i].online = s->cpus[i].available = true;
		s->cpus[i].slot = TMIGR_SLOT_RUNNING;
	}
	for (unsigned int r = 0; r < s->cfg->n_roots; r++) {
		unsigned int k = 0;

		for (unsigned int i = 0; i < n_start; i++)
			if (s->sim->root_of[i] == (int)r)
				cpus[k++] = i;
		s->tops[r] = build_tree(s, cpus, k);
		s->last_truth[r] = -3;
	}
	free(cpus);
}

static void machine_run(struct machine *s)
{
	const struct sim_cfg *cfg = s->cfg;
	__u64 length = cfg->steps * (cfg->step_ns + 1), shot;

	s->now = 1000000;
	for (unsigned int i = 0; i < cfg->steps / 4 + cfg->n_cpus; i++)
		step(s);
	/* the topology is read before tracing starts */
	for (unsigned int i = 0; i < cfg->n_cpus; i++)
		s->sim->topo->cpus[i].online = s->cpus[i].online;
	s->tracing = true;
	shot = s->now + below(s, length / 8 + 1);
	s->sim->start_ns = shot + 2 * cfg->step_ns + 1 + below(s, length / 8 + 1);
	if (cfg->late_snapshot)
		s->sim->start_ns = s->now + below(s, shot - s->now + 1);
	s->sim->end_ns = s->sim->start_ns + length / 2 + below(s, length / 4 + 1);
	while (s->now <= s->sim->end_ns) {
		step(s);
		if (cfg->snapshot && s->now >= shot) {
			tell_all(s);
			shot = cfg->more_snapshots ? s->now + 1 + below(s, length / 3) :
						     TMIGR_KTIME_MAX;
		}
	}
	for (unsigned int i = 0; i < cfg->steps / 16; i++)
		step(s);
	if (cfg->end_snapshot)
		tell_all(s);
	for (unsigned int i = 0; i < cfg->n_cpus; i++)
		true_slot(s, i, 0,
			  s->sim->end_ns > s->cpus[i].since_ns ? s->sim->end_ns
							       : s->cpus[i].since_ns);
}

void sim_run(const struct sim_cfg *cfg, struct sim *ret)
{
	struct machine *s = calloc(1, sizeof(*s));

	memset(ret, 0, sizeof(*ret));
	s->cfg = cfg;
	s->sim = ret;
	s->rng = cfg->seed;
	ret->topo = make_topology(s);
	ret->time_ns = calloc(cfg->n_cpus * TMIGR_SLOTS, sizeof(*ret->time_ns));
	ret->root_of = calloc(cfg->n_cpus, sizeof(*ret->root_of));
	s->cpus = calloc(cfg->n_cpus, sizeof(*s->cpus));
	/* at most one level-0 group a CPU, and fewer above them all */
	s->groups = calloc(2 * cfg->n_cpus + 2, sizeof(*s->groups));
	s->tops = calloc(cfg->n_roots, sizeof(*s->tops));
	s->last_truth = calloc(cfg->n_roots, sizeof(*s->last_truth));
	ret->start_ns = ret->end_ns = TMIGR_KTIME_MAX;
	build(s);
	machine_run(s);
	sim_trace_sort(ret->recs, ret->n_recs);
	sim_trace_lose(cfg, ret, &s->rng);
	free(s->cpus);
	free(s->groups);
	free(s->tops);
	free(s->last_truth);
	free(s);
}

void sim_free(struct sim *sim)
{
	machine_free(sim->topo);
	free(sim->recs);
	free(sim->truth);
	free(sim->time_ns);
	free(sim->root_of);
}

struct sim_cfg sim_random(__u64 seed)
{
	__u64 rng = seed * 77 + 5;
	struct sim_cfg c = {.seed = seed};
	unsigned int size = sim_random_u64(&rng) % 100;
#define R(n) (sim_random_u64(&rng) % (n))

	c.n_cpus = 1 + R(size < 90 ? 12 : size < 98 ? 40 : 120);
	c.n_roots = 1 + (R(3) ? 0 : R(5));
	if (c.n_roots > c.n_cpus)
		c.n_roots = c.n_cpus;
	c.hotplug = R(3) == 0;
	if (c.hotplug && c.n_cpus > c.n_roots + 2)
		c.n_late = R(3);
	c.fan = 2 + R(7);
	if (c.n_late && R(2)) {
		/* a full root group: the late CPU needs a new top level */
		c.n_roots = 1;
		c.n_cpus = c.fan + c.n_late;
	}
	c.n_classes = 1 + R(4);
	c.max_gap = R(2) ? 1 : 1 + R(50);
	c.steps = 100 + R(500);
	c.step_ns = R(4) ? 50 : 20000000;
	c.max_delay_ns = R(3) ? R(c.step_ns * 8) : 0;
	c.snapshot = R(3);
	c.late_snapshot = R(4) == 0;
	c.more_snapshots = R(5) == 0;
	c.end_snapshot = R(2);
	if (R(2)) {
		c.n_lost = R(4);
		c.n_holes = R(3) ? 0 : R(5);
	}
	c.n_clean = R(3) ? R(8) : 0;
#undef R
	return c;
}
