// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "brute.h"

static bool equal(const char *what, size_t i, size_t k, __u64 want, __u64 got)
{
	if (want == got)
		return true;
	fprintf(stderr, "# %s [%zu][%zu]: brute force %llu, model %llu\n", what, i, k, want, got);
	return false;
}

static bool same_cpu(size_t i, const struct tmigr_cpu_figures *a, const struct tmigr_cpu_figures *b)
{
	bool ok = equal("cpu", i, 0, a->cpu, b->cpu);

	for (size_t k = 0; k < TMIGR_SLOTS; k++) {
		ok &= equal("time_ns", i, k, a->time_ns[k], b->time_ns[k]);
		ok &= equal("entries", i, k, a->entries[k], b->entries[k]);
		ok &= equal("above", i, k, a->above[k], b->above[k]);
		ok &= equal("below", i, k, a->below[k], b->below[k]);
		for (size_t h = 0; h < TMIGR_HIST_BUCKETS; h++)
			ok &= equal("hist", k, h, a->hist[k][h], b->hist[k][h]);
	}
	for (size_t k = 0; k < TMIGR_PARTS; k++)
		ok &= equal("running_ns", i, k, a->running_ns[k], b->running_ns[k]);
	return ok;
}

static bool same_holder(size_t i, const struct tmigr_holder *a, const struct tmigr_holder *b)
{
	bool ok = equal("holder", i, 0, a->cpu, b->cpu) &&
		  equal("held_ns", i, a->cpu, a->held_ns, b->held_ns) &&
		  equal("holdings", i, a->cpu, a->holdings, b->holdings) &&
		  equal("longest_ns", i, a->cpu, a->longest_ns, b->longest_ns) &&
		  equal("avoidable_ns", i, a->cpu, a->avoidable_ns, b->avoidable_ns) &&
		  equal("avoidable_unknown_ns", i, a->cpu, a->avoidable_unknown_ns,
			b->avoidable_unknown_ns);

	for (size_t k = 0; k < TMIGR_SLOTS; k++)
		ok &= equal("slot_ns", a->cpu, k, a->slot_ns[k], b->slot_ns[k]);
	return ok;
}

static bool same_root(size_t i, const struct tmigr_root_figures *a,
		      const struct tmigr_root_figures *b)
{
	bool ok = true;

	for (size_t k = 0; k < TMIGR_REGIMES; k++)
		ok &= equal("regime_ns", i, k, a->regime_ns[k], b->regime_ns[k]);
	if (!equal("n_holders", i, 0, a->n_holders, b->n_holders))
		return false;
	for (size_t k = 0; k < a->n_holders; k++)
		ok &= same_holder(i, &a->holders[k], &b->holders[k]);
	return ok;
}

static bool same_remote(size_t i, const struct tmigr_remote *a, const struct tmigr_remote *b)
{
	bool ok = equal("executor", i, 0, a->executor, b->executor) &&
		  equal("target", i, 0, a->target, b->target) &&
		  equal("count", i, 0, a->count, b->count);

	for (size_t k = 0; k < TMIGR_SLOTS; k++)
		ok &= equal("woke", i, k, a->woke[k], b->woke[k]);
	return ok;
}

/* Segments of one root, in the order of time. */
static bool same_segments(unsigned int root, const struct brute *b,
			  const struct tmigr_segment *segs, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < b->n_segs; i++) {
		const struct tmigr_segment *a = &b->segs[i];

		if (a->root != root)
			continue;
		while (k < n && segs[k].root != root)
			k++;
		if (k == n || segs[k].regime != a->regime || segs[k].cpu != a->cpu ||
		    segs[k].start_ns != a->start_ns || segs[k].end_ns != a->end_ns) {
			fprintf(stderr,
				"# segment of root %u: brute force regime %d cpu %d %llu-%llu,"
				" model regime %d cpu %d %llu-%llu\n",
				root, a->regime, a->cpu, a->start_ns, a->end_ns,
				k < n ? (int)segs[k].regime : -1, k < n ? segs[k].cpu : -1,
				k < n ? segs[k].start_ns : 0, k < n ? segs[k].end_ns : 0);
			return false;
		}
		k++;
	}
	return true;
}

bool brute_same(const struct brute *b, const struct tmigr_result *r,
		const struct tmigr_segment *segs, size_t n_segs)
{
	const struct tmigr_result *a = &b->result;
	bool ok = true;

	ok &= equal("lost_records", 0, 0, a->lost_records, r->lost_records);
	ok &= equal("lost_updates", 0, 0, a->lost_updates, r->lost_updates);
	ok &= equal("late_updates", 0, 0, a->late_updates, r->late_updates);
	ok &= equal("records", 0, 0, a->records, r->records);
	if (!equal("n_cpus", 0, 0, a->n_cpus, r->n_cpus) ||
	    !equal("n_roots", 0, 0, a->n_roots, r->n_roots) ||
	    !equal("n_remote", 0, 0, a->n_remote, r->n_remote))
		return false;
	for (size_t i = 0; i < a->n_cpus; i++)
		ok &= same_cpu(i, &a->cpus[i], &r->cpus[i]);
	for (size_t i = 0; i < a->n_remote; i++)
		ok &= same_remote(i, &a->remote[i], &r->remote[i]);
	for (size_t i = 0; i < a->n_roots && ok; i++)
		ok &= same_segments(i, b, segs, n_segs);
	for (size_t i = 0; i < a->n_roots; i++)
		ok &= same_root(i, &a->roots[i], &r->roots[i]);
	return equal("n_segs", 0, 0, b->n_segs, n_segs) && ok;
}
