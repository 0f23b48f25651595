// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "sim_internal.h"
#include "sim_trace.h"

__u64 sim_random_u64(__u64 *state)
{
	__u64 z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

__u64 sim_below(struct machine *s, __u64 n)
{
	return n ? sim_random_u64(&s->rng) % n : 0;
}

bool sim_chance(struct machine *s, unsigned int percent)
{
	return sim_below(s, 100) < percent;
}

unsigned int sim_number(const struct machine *s, int cpu)
{
	return s->sim->topo->cpus[cpu].cpu;
}

/* ---- building ---- */

/* As for a machine whose firmware gives no capacities: names decide, or nothing. */
static void make_level(const struct sim_cfg *cfg, struct tmigr_topology *topo)
{
	static const char *const little[] = {"LITTLE", "little"}, *const big[] = {"big", "BIG"};

	for (size_t i = 0; i < topo->n_classes; i++) {
		struct tmigr_class *c = &topo->classes[i];

		c->capacity = 1024;
		if (i < cfg->n_little)
			strcpy(c->name, little[i % 2]);
		else if (i + cfg->n_big >= topo->n_classes)
			strcpy(c->name, big[i % 2]);
	}
	for (size_t i = 0; i < topo->n_cpus; i++)
		topo->cpus[i].capacity = 1024;
}

static struct tmigr_topology *make_topology(struct machine *s)
{
	unsigned int n = s->cfg->n_cpus, *class_of = calloc(n, sizeof(*class_of)), next = 0;
	struct tmigr_topology *topo;

	for (unsigned int i = 0; i < n; i++)
		class_of[i] = sim_below(s, s->cfg->n_classes);
	topo = machine_new(n, 1, s->cfg->n_classes, class_of);
	free(class_of);
	if (s->cfg->level)
		make_level(s->cfg, topo);
	for (unsigned int i = 0; i < n; i++) {
		topo->cpus[i].cpu = next;
		topo->cpus[i].n_states = topo->cpus[i].class_idx * 3 % 11;
		next += 1 + sim_below(s, s->cfg->max_gap);
	}
	if (s->cfg->max_gap >= 100 && n > 1)
		topo->cpus[n - 1].cpu = TMIGR_CPU_MAX;
	topo->n_possible = topo->cpus[n - 1].cpu + 1;
	for (unsigned int i = 0; i < s->cfg->n_late; i++) {
		topo->cpus[n - 1 - i].online = false;
		topo->cpus[n - 1 - i].class_guessed = s->cfg->n_late % 2;
	}
	return topo;
}

/* Groups above the CPUs of one hierarchy, level by level. */
static int build_tree(struct machine *s, const int *cpus, unsigned int n)
{
	int level0 = s->n_groups, from, to;

	for (unsigned int i = 0; i < n; i++) {
		struct scpu *c = &s->cpus[cpus[i]];

		if (i == 0 || !sim_has_room(s, s->n_groups - 1))
			sim_new_group(s, 0);
		c->group = s->n_groups - 1;
		c->mask = sim_give_mask(s, c->group, cpus[i]);
	}
	from = level0;
	to = s->n_groups;
	for (unsigned int level = 1; to - from > 1; level++) {
		for (int g = from; g < to; g++) {
			if (g == from || !sim_has_room(s, s->n_groups - 1))
				sim_new_group(s, level);
			sim_link_group(s, g, s->n_groups - 1);
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
		s->sim->root_of[i] = i < s->cfg->n_roots ? i : sim_below(s, s->cfg->n_roots);
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
		sim_step(s);
	/* the topology is read before tracing starts */
	for (unsigned int i = 0; i < cfg->n_cpus; i++)
		s->sim->topo->cpus[i].online = s->cpus[i].online;
	s->tracing = true;
	shot = s->now + sim_below(s, length / 8 + 1);
	s->sim->start_ns = shot + 2 * cfg->step_ns + 1 + sim_below(s, length / 8 + 1);
	if (cfg->late_snapshot)
		s->sim->start_ns = s->now + sim_below(s, shot - s->now + 1);
	s->sim->end_ns = s->sim->start_ns + length / 2 + sim_below(s, length / 4 + 1);
	while (s->now <= s->sim->end_ns) {
		sim_step(s);
		if (cfg->snapshot && s->now >= shot) {
			sim_tell_all(s);
			shot = cfg->more_snapshots ? s->now + 1 + sim_below(s, length / 3)
						   : TMIGR_KTIME_MAX;
		}
	}
	for (unsigned int i = 0; i < cfg->steps / 16; i++)
		sim_step(s);
	if (cfg->end_snapshot)
		sim_tell_all(s);
	for (unsigned int i = 0; i < cfg->n_cpus; i++)
		sim_true_slot(s, i, 0,
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
	/* room for a branch of its own for each late CPU */
	s->groups = calloc(4 * cfg->n_cpus + 16, sizeof(*s->groups));
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
		c.n_cpus = (R(2) ? c.fan : c.fan * c.fan) + c.n_late;
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
	c.level = R(3) == 0;
	c.n_little = R(3);
	c.n_big = R(3);
#undef R
	return c;
}
