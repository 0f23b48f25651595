// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of a window: the source's, and what measuring them cost. */
#include "engine_priv.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "housekeeping_choose.h"

/* ---- the observer ---- */

/* The CPU that this thread is bound to; -1: none, or not to be read. */
static int pinned_cpu(const struct tmigr_topology *topo)
{
	cpu_set_t *mask;
	size_t bytes;
	int found = -1;

	if (housekeeping_mask(topo->n_possible, &mask, &bytes))
		return -1;
	if (CPU_COUNT_S(bytes, mask) == 1)
		for (unsigned int cpu = 0; cpu < topo->n_possible; cpu++)
			if (CPU_ISSET_S(cpu, bytes, mask))
				found = (int)cpu;
	CPU_FREE(mask);
	return found;
}

static void cost_between(const struct tmigr_engine *engine, const struct tmigr_cost *a,
			 const struct tmigr_cost *b, struct tmigr_observer *o)
{
	*o = (struct tmigr_observer){.bpf_known = b->bpf_known};
	if (o->bpf_known) {
		o->bpf_ns = b->bpf_ns - a->bpf_ns;
		o->bpf_runs = b->bpf_runs - a->bpf_runs;
	}
	o->cpu_ns = b->cpu_ns - a->cpu_ns;
	o->wakeups = b->wakeups - a->wakeups;
	o->housekeeping_cpu = pinned_cpu(engine->topo);
}

static void observe(const struct tmigr_engine *engine, const struct tmigr_edge *start,
		    const struct tmigr_edge *end, struct tmigr_window_totals *totals)
{
	cost_between(engine, &start->cost, &end->cost, &totals->observer);
	totals->observer.drains = end->drains - start->drains;
	for (size_t i = 0; i < totals->n_cpus; i++)
		totals->observer.records += totals->cpus[i].records;
}

void tmigr_engine_observer(struct tmigr_engine *engine, struct tmigr_observer *ret)
{
	struct tmigr_cost begin, now;
	__u64 records, drains;

	engine->source->observer(engine, &begin, &now, &records, &drains);
	cost_between(engine, &begin, &now, ret);
	ret->records = records;
	ret->drains = drains;
}

/* ---- all of it ---- */

/* What the model counted from the records, where no maps count beside it. */
static int from_model(const struct tmigr_engine *engine, const struct tmigr_window *w,
		      struct tmigr_window_totals *totals)
{
	const struct tmigr_result *res = tmigr_model_result(w->model);

	totals->timeline = true;
	for (size_t i = 0; i < totals->n_cpus; i++) {
		struct tmigr_totals_cpu *c = &totals->cpus[i];
		const struct tmigr_cpu_figures *f = &res->cpus[i];

		c->cpu = engine->topo->cpus[i].cpu;
		memcpy(c->time_ns, f->time_ns, sizeof(c->time_ns));
		memcpy(c->entries, f->entries, sizeof(c->entries));
		memcpy(c->above, f->above, sizeof(c->above));
		memcpy(c->below, f->below, sizeof(c->below));
		memcpy(c->hist, f->hist, sizeof(c->hist));
		c->lost = w->end->cpus[i].totals.lost - w->start->cpus[i].totals.lost;
		c->records = w->end->cpus[i].totals.records - w->start->cpus[i].totals.records;
	}
	totals->remote = calloc(res->n_remote + 1, sizeof(*totals->remote));
	if (!totals->remote)
		return -ENOMEM;
	totals->n_remote = res->n_remote;
	for (size_t i = 0; i < res->n_remote; i++) {
		const struct tmigr_remote *r = &res->remote[i];

		totals->remote[i] = (struct tmigr_totals_remote){
			.executor = r->executor, .target = r->target, .count = r->count};
		memcpy(totals->remote[i].woke, r->woke, sizeof(r->woke));
	}
	return 0;
}

int tmigr_engine_totals(const struct tmigr_engine *engine, const struct tmigr_window *w,
			struct tmigr_window_totals **ret, struct tmigr_err *err)
{
	struct tmigr_window_totals *totals = calloc(1, sizeof(*totals));
	int r = -ENOMEM;

	if (totals)
		totals->cpus = calloc(engine->topo->n_cpus, sizeof(*totals->cpus));
	if (totals && totals->cpus) {
		totals->n_cpus = engine->topo->n_cpus;
		r = engine->source->totals
			    ? engine->source->totals(engine, w->start, w->end, totals)
			    : from_model(engine, w, totals);
	}
	if (!r)
		r = tmigr_lat_window(engine, w, &totals->latency);
	if (r) {
		tmigr_window_totals_free(totals);
		return tmigr_fail(err, r, "no memory for the window's figures");
	}
	observe(engine, w->start, w->end, totals);
	*ret = totals;
	return 0;
}
