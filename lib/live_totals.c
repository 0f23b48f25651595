// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Figures of the window: what the maps held at its end less what they held at
 * its start.
 */
#include "live_priv.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

static bool is_idle_state(unsigned int slot)
{
	return slot >= TMIGR_SLOT_STATE0 && slot < TMIGR_SLOT_STATE0 + TMIGR_STATES;
}

/*
 * Slot of a CPU before its first event by the snapshots at start and end: it has
 * not changed, so either is good, unless they contradict one another.
 */
static unsigned int seen_quiet(const struct tmigr_live *live, size_t i)
{
	unsigned int start = live->quiet_start[i], end = live->quiet_end[i];

	if (start == TMIGR_SLOT_UNKNOWN)
		return end;
	return end == start || end == TMIGR_SLOT_UNKNOWN ? start : TMIGR_SLOT_UNKNOWN;
}

/* The same by what the first event says of the time before it. */
static unsigned int slot_before_first(const struct tmigr_live *live, size_t i)
{
	unsigned int quiet = seen_quiet(live, i);

	if (!live->last[i].first_ns)
		return quiet;
	switch (live->last[i].first_type) {
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
static __u64 unseen_ns(const struct tmigr_live *live, size_t i)
{
	__u64 first = live->last[i].first_ns;

	if (!first || first > live->end_ns)
		first = live->end_ns;
	return first > live->start_ns ? first - live->start_ns : 0;
}

static void cpu_window(const struct tmigr_live *live, size_t i, struct tmigr_totals_cpu *ret)
{
	const struct tmigr_totals *a = &live->base[i].totals, *b = &live->last[i].totals;
	unsigned int slot = slot_before_first(live, i);
	__u64 unseen = unseen_ns(live, i);

	ret->cpu = live->topo->cpus[i].cpu;
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

/* An interval that was open from before the first event on has no state in the
 * maps; it is the slot before the first event. */
static unsigned int woke_slot(const struct tmigr_live *live, const struct tmigr_remote_key *key)
{
	int i = tmigr_topology_index(live->topo, key->executor);
	unsigned int slot;

	if (key->woke_slot != TMIGR_SLOT_UNKNOWN || i < 0)
		return key->woke_slot;
	slot = slot_before_first(live, (size_t)i);
	return is_idle_state(slot) ? slot : TMIGR_SLOT_UNKNOWN;
}

static int by_pair(const void *a, const void *b)
{
	const struct tmigr_totals_remote *x = a, *y = b;

	if (x->executor != y->executor)
		return x->executor < y->executor ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

static void merge_pairs(struct tmigr_window_totals *totals)
{
	size_t n = 0;

	if (totals->n_remote)
		qsort(totals->remote, totals->n_remote, sizeof(*totals->remote), by_pair);
	for (size_t i = 0; i < totals->n_remote; i++) {
		struct tmigr_totals_remote *to = n ? &totals->remote[n - 1] : NULL;

		if (!to || by_pair(to, &totals->remote[i])) {
			totals->remote[n++] = totals->remote[i];
			continue;
		}
		to->count += totals->remote[i].count;
		for (int s = 0; s < TMIGR_SLOTS; s++)
			to->woke[s] += totals->remote[i].woke[s];
	}
	totals->n_remote = n;
}

static int add_remote(const struct tmigr_live *live, const struct tmigr_remote_key *key,
		      __u64 count, struct tmigr_window_totals *totals, size_t *cap)
{
	struct tmigr_totals_remote *r;
	unsigned int slot = woke_slot(live, key);

	if (totals->n_remote == *cap) {
		size_t n = *cap ? *cap * 2 : 64;

		r = realloc(totals->remote, n * sizeof(*r));
		if (!r)
			return -ENOMEM;
		totals->remote = r;
		*cap = n;
	}
	r = &totals->remote[totals->n_remote++];
	*r = (struct tmigr_totals_remote){
		.executor = key->executor, .target = key->target, .count = count};
	if (slot < TMIGR_SLOTS)
		r->woke[slot] = count;
	return 0;
}

/* The programs are detached: the hash stands still. */
static int read_remote(const struct tmigr_live *live, struct tmigr_window_totals *totals)
{
	struct tmigr_remote_key key, *prev = NULL;
	size_t cap = 0;
	__u64 count;
	int ret = 0;

	while (!ret && bpf_map_get_next_key(live->remote_fd, prev, &key) == 0) {
		if (key.edge_ns == live->start_ns &&
		    bpf_map_lookup_elem(live->remote_fd, &key, &count) == 0)
			ret = add_remote(live, &key, count, totals, &cap);
		prev = &key;
	}
	if (!ret)
		merge_pairs(totals);
	return ret;
}

/* ---- the observer ---- */

static int pinned_cpu(void)
{
	cpu_set_t set;

	/* Fails on machines larger than cpu_set_t; then not known. */
	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) != 1)
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return cpu;
	return -1;
}

static void observe(const struct tmigr_live *live, struct tmigr_window_totals *totals)
{
	const struct tmigr_cost *a = &live->cost_start, *b = &live->cost_end;
	struct tmigr_observer *o = &totals->observer;

	o->bpf_known = live->stats_fd >= 0;
	if (o->bpf_known) {
		o->bpf_ns = b->bpf_ns - a->bpf_ns;
		o->bpf_runs = b->bpf_runs - a->bpf_runs;
	}
	o->cpu_ns = b->cpu_ns - a->cpu_ns;
	o->wakeups = b->wakeups - a->wakeups;
	o->housekeeping_cpu = pinned_cpu();
	o->drains = live->drains;
	for (size_t i = 0; i < totals->n_cpus; i++)
		o->records += totals->cpus[i].records;
}

int tmigr_live_totals(struct tmigr_live *live, struct tmigr_window_totals **ret,
		      struct tmigr_err *err)
{
	struct tmigr_window_totals *totals;
	__u64 remote_lost = 0;
	int r;

	if (!live->stopped)
		return tmigr_fail(err, -EINVAL, "the window has not ended");
	totals = calloc(1, sizeof(*totals));
	if (totals)
		totals->cpus = calloc(live->topo->n_cpus, sizeof(*totals->cpus));
	if (!totals || !totals->cpus) {
		free(totals);
		return tmigr_fail(err, -ENOMEM, "no memory for the window's figures");
	}
	totals->n_cpus = live->topo->n_cpus;
	for (size_t i = 0; i < totals->n_cpus; i++) {
		cpu_window(live, i, &totals->cpus[i]);
		remote_lost += live->last[i].totals.remote_lost - live->base[i].totals.remote_lost;
	}
	r = read_remote(live, totals);
	if (r)
		tmigr_fail(err, r, "no memory for the window's figures");
	else if (remote_lost)
		r = tmigr_fail(err, -ENOSPC, "%llu remote expiries found no room to be counted",
			       (unsigned long long)remote_lost);
	if (r) {
		tmigr_window_totals_free(totals);
		return r;
	}
	observe(live, totals);
	*ret = totals;
	return 0;
}
