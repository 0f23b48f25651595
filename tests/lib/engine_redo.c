// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine.h"
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- a CPU's totals from its records ---- */

struct redo {
	unsigned int slot, woke;
	__u64 since_ns;
	bool known, seen;
	__u64 open_at_start, open_at_end;
	struct tmigr_totals_cpu totals;
	struct tmigr_totals_remote *remote; /* by target, topology index */
};

static unsigned int bucket(__u64 ns)
{
	unsigned int k = 0;

	while (k < TMIGR_HIST_BUCKETS - 1 && ns >> (k + 1))
		k++;
	return k;
}

/* The CPU was in redo->slot from since_ns to @t. */
static void redo_pass(const struct engine_run *run, struct redo *redo, __u64 t, unsigned int slot)
{
	__u64 from = redo->since_ns > run->start_ns ? redo->since_ns : run->start_ns;
	__u64 to = t < run->end_ns ? t : run->end_ns;

	if (to > from)
		redo->totals.time_ns[redo->slot] += to - from;
	if (redo->known && redo->since_ns < run->start_ns && t >= run->start_ns)
		redo->open_at_start++;
	if (redo->known && redo->since_ns < run->end_ns && t >= run->end_ns)
		redo->open_at_end++;
	redo->slot = slot;
	redo->since_ns = t;
}

bool engine_inside(const struct engine_run *run, __u64 t)
{
	return t >= run->start_ns && t < run->end_ns;
}

static void redo_idle(const struct engine_run *run, struct redo *redo, const struct tmigr_rec *rec)
{
	bool enter = rec->type == TMIGR_REC_IDLE_ENTER;
	unsigned int slot = enter ? TMIGR_SLOT_STATE0 + (unsigned int)rec->a : TMIGR_SLOT_RUNNING;

	if (!redo->seen && enter)
		redo->slot = TMIGR_SLOT_RUNNING;
	redo->seen = true;
	if (!enter && redo->known && engine_inside(run, rec->t_ns))
		redo->totals.hist[redo->slot][bucket(rec->t_ns - redo->since_ns)]++;
	redo_pass(run, redo, rec->t_ns, slot);
	redo->known = enter;
	if (enter)
		redo->woke = slot;
	if (enter && engine_inside(run, rec->t_ns))
		redo->totals.entries[slot]++;
}

static void redo_remote(const struct engine_run *run, struct redo *redo,
			const struct tmigr_rec *rec)
{
	int target = tmigr_topology_index(run->topo, (unsigned int)rec->b);
	unsigned int woke = rec->flags & TMIGR_RF_IDLE_TASK ? redo->woke : TMIGR_SLOTS;

	if (rec->flags & TMIGR_RF_IDLE_TASK)
		redo->woke = TMIGR_SLOTS;
	if (target < 0 || !engine_inside(run, rec->t_ns))
		return;
	redo->remote[target].count++;
	if (woke < TMIGR_SLOTS)
		redo->remote[target].woke[woke]++;
}

static void redo_snap(struct redo *redo, const struct tmigr_rec *rec)
{
	if (redo->seen)
		return;
	if (rec->a == TMIGR_STATE_RUNNING)
		redo->slot = TMIGR_SLOT_RUNNING;
	else if (rec->a < TMIGR_STATES)
		redo->slot = redo->woke = TMIGR_SLOT_STATE0 + (unsigned int)rec->a;
}

static void redo_cpu(const struct engine_run *run, unsigned int cpu, struct redo *redo)
{
	redo->slot = redo->woke = TMIGR_SLOT_UNKNOWN;
	for (size_t i = 0; i < run->recs.n; i++) {
		const struct tmigr_rec *rec = &run->recs.recs[i];

		if (rec->type == TMIGR_REC_SNAP_IDLE && rec->b == cpu)
			redo_snap(redo, rec);
		if (rec->type == TMIGR_REC_NODE_GROUP || rec->cpu != cpu)
			continue;
		if (rec->type == TMIGR_REC_IDLE_ENTER || rec->type == TMIGR_REC_IDLE_EXIT)
			redo_idle(run, redo, rec);
		else if (rec->type == TMIGR_REC_HANDLE_REMOTE_CPU)
			redo_remote(run, redo, rec);
	}
	redo_pass(run, redo, UINT64_MAX, TMIGR_SLOT_UNKNOWN);
}

/* ---- comparison with the maps ---- */

static bool same_slot(const struct tmigr_totals_cpu *a, const struct tmigr_totals_cpu *b, int s)
{
	if (a->time_ns[s] == b->time_ns[s] && a->entries[s] == b->entries[s] &&
	    memcmp(a->hist[s], b->hist[s], sizeof(a->hist[s])) == 0)
		return true;
	tap_diag("cpu %u slot %d: maps %llu ns %llu entries, records %llu ns %llu entries\n",
		 a->cpu, s, a->time_ns[s], a->entries[s], b->time_ns[s], b->entries[s]);
	return false;
}

static bool same_remote(const struct engine_run *run, size_t i, const struct redo *redo,
			__u64 *ret_count)
{
	bool good = true;

	for (size_t t = 0; t < run->topo->n_cpus; t++) {
		struct tmigr_totals_remote none = {0}, *found = &none;

		for (size_t k = 0; k < run->totals->n_remote; k++)
			if (run->totals->remote[k].executor == run->topo->cpus[i].cpu &&
			    run->totals->remote[k].target == run->topo->cpus[t].cpu)
				found = &run->totals->remote[k];
		*ret_count += found->count;
		if (found->count == redo->remote[t].count &&
		    memcmp(found->woke, redo->remote[t].woke, sizeof(found->woke)) == 0)
			continue;
		good = false;
		tap_diag("remote %u for %u: hash %llu, records %llu\n", run->topo->cpus[i].cpu,
			 run->topo->cpus[t].cpu, found->count, redo->remote[t].count);
	}
	return good;
}

static bool hist_law(const struct tmigr_totals_cpu *c, const struct redo *redo)
{
	__u64 hist = 0, entries = 0;

	for (int s = 0; s < TMIGR_SLOTS; s++) {
		entries += c->entries[s];
		for (int k = 0; k < TMIGR_HIST_BUCKETS; k++)
			hist += c->hist[s][k];
	}
	if (hist + redo->open_at_end == entries + redo->open_at_start)
		return true;
	tap_diag("cpu %u: %llu in histograms, %llu entries, open %llu, %llu\n", c->cpu, hist,
		 entries, redo->open_at_start, redo->open_at_end);
	return false;
}

void engine_check_recomputed(const struct engine_run *run, const char *what)
{
	bool times = true, remote = true, hist = true;
	__u64 entries = 0, expiries = 0;

	for (size_t i = 0; i < run->topo->n_cpus; i++) {
		struct redo redo = {.remote = calloc(run->topo->n_cpus, sizeof(*redo.remote))};

		redo.totals.cpu = run->topo->cpus[i].cpu;
		redo_cpu(run, run->topo->cpus[i].cpu, &redo);
		for (int s = 0; s < TMIGR_SLOTS; s++) {
			times &= same_slot(&run->totals->cpus[i], &redo.totals, s);
			entries += redo.totals.entries[s];
		}
		remote &= same_remote(run, i, &redo, &expiries);
		hist &= hist_law(&run->totals->cpus[i], &redo);
		free(redo.remote);
	}
	tap_diag("%s: %llu idle entries, %llu remote expiries\n", what, entries, expiries);
	tap_ok(times, "%s: times, entries and histograms are those of the records", what);
	tap_ok(remote, "%s: remote expiries are those of the records", what);
	tap_ok(hist, "%s: histograms hold the entries but those open at the edges", what);
}

void engine_redo_times(const struct tmigr_topology *topo, const struct tmigr_rec_vec *recs,
		       __u64 start_ns, __u64 end_ns, size_t i, __u64 *ret_time_ns)
{
	const struct engine_run run = {
		.topo = topo, .recs = *recs, .start_ns = start_ns, .end_ns = end_ns};
	struct redo redo = {.remote = calloc(topo->n_cpus, sizeof(*redo.remote))};

	redo_cpu(&run, topo->cpus[i].cpu, &redo);
	memcpy(ret_time_ns, redo.totals.time_ns, sizeof(redo.totals.time_ns));
	free(redo.remote);
}
