// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Figures of a window from the BPF maps: what they held at its end less what they
 * held at its start.
 */
#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>

/* The window whose figures are made. */
struct span {
	const struct tmigr_live *live;
	const struct tmigr_edge *start, *end;
};

static bool is_idle_state(unsigned int slot)
{
	return slot >= TMIGR_SLOT_STATE0 && slot < TMIGR_SLOT_STATE0 + TMIGR_STATES;
}

/* What a CPU was in before its first event, by the snapshots and by what that event
 * says of the time before it. */
static unsigned int slot_before_first(const struct span *w, size_t i)
{
	unsigned int quiet = w->live->quiet[i];

	if (quiet == TMIGR_QUIET_UNSURE)
		quiet = TMIGR_SLOT_UNKNOWN;
	if (!w->end->cpus[i].first_ns)
		return quiet;
	switch (w->end->cpus[i].first_type) {
	case TMIGR_REC_IDLE_ENTER:
	case TMIGR_REC_CPU_OFFLINE: /* out of an idle state it had an exit first */
		return TMIGR_SLOT_RUNNING;
	case TMIGR_REC_CPU_ONLINE:
		return TMIGR_SLOT_OFFLINE;
	default: /* an exit */
		return is_idle_state(quiet) ? quiet : TMIGR_SLOT_UNKNOWN;
	}
}

/* Time of the window before the CPU's first event. */
static __u64 unseen_ns(const struct span *w, size_t i)
{
	__u64 first = w->end->cpus[i].first_ns;

	if (!first || first > w->end->t_ns)
		first = w->end->t_ns;
	return first > w->start->t_ns ? first - w->start->t_ns : 0;
}

static void cpu_window(const struct span *w, size_t i, struct tmigr_totals_cpu *ret)
{
	const struct tmigr_totals *a = &w->start->cpus[i].totals, *b = &w->end->cpus[i].totals;
	unsigned int slot = slot_before_first(w, i);
	__u64 unseen = unseen_ns(w, i);

	ret->cpu = w->live->topo->cpus[i].cpu;
	for (int s = 0; s < TMIGR_SLOTS; s++) {
		ret->time_ns[s] = b->slots[s].time_ns - a->slots[s].time_ns;
		ret->entries[s] = b->slots[s].entries - a->slots[s].entries;
		ret->above[s] = b->slots[s].above - a->slots[s].above;
		ret->below[s] = b->slots[s].below - a->slots[s].below;
		for (int k = 0; k < TMIGR_HIST_BUCKETS; k++)
			ret->hist[s][k] = b->slots[s].hist[k] - a->slots[s].hist[k];
	}
	ret->time_ns[TMIGR_SLOT_UNKNOWN] -= unseen;
	ret->time_ns[slot] += unseen;
	ret->lost = b->lost - a->lost;
	ret->records = b->records - a->records;
}

/* ---- remote expiries ---- */

static bool same_pair(const struct tmigr_totals_remote *a, const struct tmigr_totals_remote *b)
{
	return a->executor == b->executor && a->target == b->target;
}

/* An interval that was open from before the first event on has no state in the
 * maps; it is the slot before the first event. */
static void name_unknown(const struct span *w, struct tmigr_totals_remote *r)
{
	int i = tmigr_topology_index(w->live->topo, r->executor);
	unsigned int slot = i < 0 ? TMIGR_SLOT_UNKNOWN : slot_before_first(w, (size_t)i);

	if (!is_idle_state(slot))
		return;
	r->woke[slot] += r->woke[TMIGR_SLOT_UNKNOWN];
	r->woke[TMIGR_SLOT_UNKNOWN] = 0;
}

/* The list only grows, so each pair of the start is among those of the end, in the
 * same order. */
static int remote_window(const struct span *w, struct tmigr_window_totals *totals)
{
	const struct tmigr_pairs *a = &w->start->remote, *b = &w->end->remote;

	totals->remote = calloc(b->n + 1, sizeof(*totals->remote));
	if (!totals->remote)
		return -ENOMEM;
	for (size_t i = 0, k = 0; i < b->n; i++) {
		struct tmigr_totals_remote r = b->pairs[i];

		if (k < a->n && same_pair(&a->pairs[k], &r)) {
			r.count -= a->pairs[k].count;
			for (int s = 0; s < TMIGR_SLOTS; s++)
				r.woke[s] -= a->pairs[k].woke[s];
			k++;
		}
		if (!r.count)
			continue;
		name_unknown(w, &r);
		totals->remote[totals->n_remote++] = r;
	}
	return 0;
}

int tmigr_bpf_totals(const struct tmigr_engine *engine, const struct tmigr_edge *start,
		     const struct tmigr_edge *end, struct tmigr_window_totals *totals)
{
	const struct span w = {.live = engine->live, .start = start, .end = end};

	for (size_t i = 0; i < totals->n_cpus; i++) {
		cpu_window(&w, i, &totals->cpus[i]);
		totals->remote_lost +=
			w.end->cpus[i].totals.remote_lost - w.start->cpus[i].totals.remote_lost;
	}
	return remote_window(&w, totals);
}
