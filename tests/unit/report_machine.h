/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made-up machines and figures for the tests of the report, in place of a model,
 * so that every figure of a report is one that the test wrote down.
 */
#ifndef TESTS_REPORT_MACHINE_H
#define TESTS_REPORT_MACHINE_H

#include <stdlib.h>
#include <string.h>

#include "../../lib/report_parts.h"

#define MS  1000000ull
#define SEC 1000000000ull

/* What a model would have said. */
struct figures {
	struct tmigr_result res;
	struct tmigr_hierarchy h;
};

struct machine {
	struct tmigr_topology topo;
	struct figures model;
	struct tmigr_window_totals totals;
};

static void *zalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

/* @n_cpus CPUs, one class "all" of 1024, no idle states, a window of 10 s of
 * which all is spent running, one root GRP0:0 that nobody held (free). */
static struct machine *machine_new(size_t n_cpus)
{
	struct machine *m = zalloc(1, sizeof(*m));
	struct tmigr_result *r = &m->model.res;
	struct tmigr_hierarchy *h = &m->model.h;

	m->topo.n_cpus = r->n_cpus = h->n_cpus = m->totals.n_cpus = n_cpus;
	m->topo.cpus = zalloc(n_cpus, sizeof(*m->topo.cpus));
	m->topo.n_classes = 1;
	m->topo.classes = zalloc(8, sizeof(*m->topo.classes));
	m->topo.classes[0] = (struct tmigr_class){"all", 1024, (unsigned int)n_cpus};
	m->topo.timer_migration = 1;
	strcpy(m->topo.driver, "psci_idle");
	strcpy(m->topo.governor, "menu");
	r->start_ns = 1000 * SEC;
	r->end_ns = 1010 * SEC;
	r->cpus = zalloc(n_cpus, sizeof(*r->cpus));
	m->totals.cpus = zalloc(n_cpus, sizeof(*m->totals.cpus));
	m->totals.observer.housekeeping_cpu = -1;
	h->cpus = zalloc(n_cpus, sizeof(*h->cpus));
	h->groups = zalloc(64, sizeof(*h->groups));
	h->n_groups = 1;
	h->groups[0] = (struct tmigr_group_view){.name = "GRP0:0", .parent = -1};
	r->n_roots = 1;
	r->roots = zalloc(8, sizeof(*r->roots));
	r->roots[0].regime_ns[TMIGR_FREE] = 10 * SEC;
	for (size_t i = 0; i < n_cpus; i++) {
		m->topo.cpus[i] = (struct tmigr_topo_cpu){
			.cpu = (unsigned int)i,
			.online = true,
			.capacity = 1024,
			.node = -1,
		};
		h->cpus[i] = (struct tmigr_cpu_view){
			.cpu = (unsigned int)i,
			.learnt = true,
			.mask = (__u8)(1u << (i % 8)),
		};
		r->cpus[i].cpu = m->totals.cpus[i].cpu = (unsigned int)i;
		r->cpus[i].time_ns[TMIGR_SLOT_RUNNING] = 10 * SEC;
		m->totals.cpus[i].time_ns[TMIGR_SLOT_RUNNING] = 10 * SEC;
	}
	return m;
}

static void machine_free(struct machine *m)
{
	for (size_t i = 0; i < m->model.res.n_roots; i++)
		free(m->model.res.roots[i].holders);
	free(m->model.res.roots);
	free(m->model.res.cpus);
	free(m->model.res.remote);
	free(m->model.h.cpus);
	free(m->model.h.groups);
	free(m->topo.cpus);
	free(m->topo.classes);
	free(m->totals.cpus);
	free(m->totals.remote);
	free(m);
}

static void set_state(struct tmigr_topo_cpu *c, unsigned int k, const char *name)
{
	strcpy(c->states[k].name, name);
	if (c->n_states <= k)
		c->n_states = k + 1;
}

/* Gives class @idx (name, capacity) the CPUs [from, to). */
static void set_class(struct machine *m, size_t idx, const char *name, unsigned int capacity,
		      size_t from, size_t to)
{
	struct tmigr_class *c = &m->topo.classes[idx];

	strcpy(c->name, name);
	c->capacity = capacity;
	c->n_cpus = (unsigned int)(to - from);
	if (m->topo.n_classes <= idx)
		m->topo.n_classes = idx + 1;
	for (size_t i = from; i < to; i++) {
		m->topo.cpus[i].class_idx = (unsigned int)idx;
		m->topo.cpus[i].capacity = capacity;
	}
}

/* Adds a holder to a root; its time comes out of the free time. */
static struct tmigr_holder *add_holder(struct machine *m, size_t root, unsigned int cpu,
				       __u64 held_ns)
{
	struct tmigr_root_figures *r = &m->model.res.roots[root];
	struct tmigr_holder *h;

	r->holders = realloc(r->holders, (r->n_holders + 1) * sizeof(*r->holders));
	if (!r->holders)
		abort();
	h = &r->holders[r->n_holders++];
	*h = (struct tmigr_holder){
		.cpu = cpu, .held_ns = held_ns, .holdings = 1, .longest_ns = held_ns};
	h->slot_ns[TMIGR_SLOT_RUNNING] = held_ns;
	r->regime_ns[TMIGR_HELD] += held_ns;
	r->regime_ns[TMIGR_FREE] -= held_ns;
	return h;
}

/* Moves @ns of a root's free time to another regime. */
static void set_regime(struct machine *m, size_t root, enum tmigr_regime regime, __u64 ns)
{
	m->model.res.roots[root].regime_ns[regime] += ns;
	m->model.res.roots[root].regime_ns[TMIGR_FREE] -= ns;
}

static void add_remote(struct machine *m, unsigned int executor, unsigned int target, __u64 count,
		       __u64 woke_state0, __u64 woke_state1)
{
	struct tmigr_totals_remote *t;

	m->totals.remote =
		realloc(m->totals.remote, (m->totals.n_remote + 1) * sizeof(*m->totals.remote));
	if (!m->totals.remote)
		abort();
	t = &m->totals.remote[m->totals.n_remote++];
	*t = (struct tmigr_totals_remote){.executor = executor, .target = target, .count = count};
	t->woke[TMIGR_SLOT_STATE0] = woke_state0;
	t->woke[TMIGR_SLOT_STATE0 + 1] = woke_state1;
}

/* CPU @i spends @ns of its running time in state @k, in @entries visits. */
static void set_idle(struct machine *m, size_t i, unsigned int k, __u64 ns, __u64 entries)
{
	struct tmigr_totals_cpu *t = &m->totals.cpus[i];

	t->time_ns[TMIGR_SLOT_STATE0 + k] += ns;
	t->entries[TMIGR_SLOT_STATE0 + k] += entries;
	t->time_ns[TMIGR_SLOT_RUNNING] -= ns;
}

/*
 * The board of 4 LITTLE + 4 big with WFI and cpu-sleep, one group for all.
 * Held: CPU 0 4 s, CPU 1 1 s, CPU 4 3.000000001 s; hand-over 1 ms, duty 1.5 s,
 * unknown 98.999999 ms, free 400 ms: 10 s in all.
 */
static struct machine *machine_4_4(void)
{
	struct machine *m = machine_new(8);
	struct tmigr_holder *h;

	set_class(m, 0, "LITTLE", 442, 0, 4);
	set_class(m, 1, "big", 1024, 4, 8);
	for (size_t i = 0; i < 8; i++) {
		set_state(&m->topo.cpus[i], 0, "WFI");
		set_state(&m->topo.cpus[i], 1, "cpu-sleep");
		set_idle(m, i, 0, i < 4 ? 2 * SEC : 250 * MS, i < 4 ? 1000 : 50);
		set_idle(m, i, 1, i < 4 ? 7 * SEC : 9500 * MS + i, i < 4 ? 700 : 20);
	}
	m->totals.cpus[0].above[TMIGR_SLOT_STATE0 + 1] = 12;
	m->totals.cpus[1].below[TMIGR_SLOT_STATE0] = 5;
	m->totals.cpus[0].hist[TMIGR_SLOT_STATE0][20] = 999;
	h = add_holder(m, 0, 0, 4 * SEC);
	h->holdings = 3;
	h->longest_ns = 2500 * MS;
	h->slot_ns[TMIGR_SLOT_RUNNING] = 100 * MS;
	h->slot_ns[TMIGR_SLOT_STATE0] = 3 * SEC;
	h->slot_ns[TMIGR_SLOT_STATE0 + 1] = 900 * MS;
	add_holder(m, 0, 1, 1 * SEC);
	h = add_holder(m, 0, 4, 3 * SEC + 1);
	h->slot_ns[TMIGR_SLOT_RUNNING] = 1;
	h->slot_ns[TMIGR_SLOT_STATE0 + 1] = 3 * SEC;
	h->avoidable_ns = 1500 * MS;
	set_regime(m, 0, TMIGR_HANDOVER, MS);
	set_regime(m, 0, TMIGR_DUTY, 1500 * MS);
	set_regime(m, 0, TMIGR_UNKNOWN, 98999999);
	add_remote(m, 0, 0, 4, 0, 0);
	add_remote(m, 0, 5, 2, 2, 0);
	add_remote(m, 4, 0, 12, 1, 5);
	add_remote(m, 4, 1, 3, 0, 0);
	m->totals.cpus[2].lost = 3;
	m->model.res.lost_updates = 2;
	m->totals.observer = (struct tmigr_observer){.bpf_known = true,
						     .bpf_ns = 4200000,
						     .bpf_runs = 30000,
						     .cpu_ns = 12 * MS,
						     .wakeups = 11,
						     .housekeeping_cpu = 2,
						     .records = 28000,
						     .drains = 10};
	return m;
}

static json_t *machine_info(void)
{
	return json_pack("{s:s, s:s, s:s, s:[s, s], s:i}", "tool", "0.1", "kernel", "7.3.4",
			 "machine", "RK3576 board", "command", "sleep", "10", "exit_status", 0);
}

static json_t *machine_report(struct machine *m, bool totals, const json_t *info)
{
	struct tmigr_report_source in = {&m->topo, &m->model.res, &m->model.h,
					 totals ? &m->totals : NULL, info};

	return tmigr_report_from(&in);
}

#endif
