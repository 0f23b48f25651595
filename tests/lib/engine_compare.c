// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine_compare.h"
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ---- */

static void add_cpu(struct tmigr_totals_cpu *to, const struct tmigr_totals_cpu *from)
{
	for (int s = 0; s < TMIGR_SLOTS; s++) {
		to->time_ns[s] += from->time_ns[s];
		to->entries[s] += from->entries[s];
		to->above[s] += from->above[s];
		to->below[s] += from->below[s];
		for (int k = 0; k < TMIGR_HIST_BUCKETS; k++)
			to->hist[s][k] += from->hist[s][k];
	}
	to->lost += from->lost;
	to->records += from->records;
}

static bool cpus_add_up(const struct tmigr_window_totals *a, const struct tmigr_window_totals *c,
			const struct tmigr_window_totals *d)
{
	bool good = a->n_cpus == c->n_cpus && a->n_cpus == d->n_cpus;

	for (size_t i = 0; good && i < a->n_cpus; i++) {
		struct tmigr_totals_cpu sum = c->cpus[i];

		add_cpu(&sum, &d->cpus[i]);
		if (memcmp(&sum, &a->cpus[i], sizeof(sum)) == 0)
			continue;
		tap_diag("cpu %u: the parts are not the whole\n", sum.cpu);
		good = false;
	}
	return good;
}

static struct tmigr_totals_remote pair_of(const struct tmigr_window_totals *t,
					  const struct tmigr_totals_remote *want)
{
	for (size_t i = 0; i < t->n_remote; i++)
		if (t->remote[i].executor == want->executor && t->remote[i].target == want->target)
			return t->remote[i];
	return (struct tmigr_totals_remote){0};
}

static bool remote_adds_up(const struct tmigr_window_totals *a, const struct tmigr_window_totals *c,
			   const struct tmigr_window_totals *d)
{
	__u64 all = 0, parts = 0;
	bool good = a->remote_lost == c->remote_lost + d->remote_lost;

	for (size_t i = 0; i < a->n_remote; i++) {
		struct tmigr_totals_remote x = pair_of(c, &a->remote[i]);
		struct tmigr_totals_remote y = pair_of(d, &a->remote[i]);

		all += a->remote[i].count;
		good &= a->remote[i].count == x.count + y.count;
		for (int s = 0; s < TMIGR_SLOTS; s++)
			good &= a->remote[i].woke[s] == x.woke[s] + y.woke[s];
	}
	for (size_t i = 0; i < c->n_remote; i++)
		parts += c->remote[i].count;
	for (size_t i = 0; i < d->n_remote; i++)
		parts += d->remote[i].count;
	if (!good || all != parts)
		tap_diag("remote: %llu in all, %llu in the parts\n", all, parts);
	return good && all == parts;
}

/* Time that CPU @cpu held the root of group order @root. */
static __u64 held_ns(const struct tmigr_result *res, size_t root, unsigned int cpu)
{
	for (size_t i = 0; root < res->n_roots && i < res->roots[root].n_holders; i++)
		if (res->roots[root].holders[i].cpu == cpu)
			return res->roots[root].holders[i].held_ns;
	return 0;
}

static __u64 regime_ns(const struct tmigr_result *res, size_t root, enum tmigr_regime regime)
{
	return root < res->n_roots ? res->roots[root].regime_ns[regime] : 0;
}

static bool holders_add_up(const struct tmigr_topology *topo, const struct tmigr_result *a,
			   const struct tmigr_result *c, const struct tmigr_result *d)
{
	bool good = a->n_roots == c->n_roots && a->n_roots == d->n_roots;

	for (size_t r = 0; good && r < a->n_roots; r++) {
		for (size_t i = 0; i < topo->n_cpus; i++) {
			unsigned int cpu = topo->cpus[i].cpu;
			__u64 x = held_ns(c, r, cpu), y = held_ns(d, r, cpu);

			if (held_ns(a, r, cpu) == x + y)
				continue;
			tap_diag("cpu %u held %llu ns, in the parts %llu + %llu\n", cpu,
				 held_ns(a, r, cpu), x, y);
			good = false;
		}
		good &= regime_ns(a, r, TMIGR_HANDOVER) ==
			regime_ns(c, r, TMIGR_HANDOVER) + regime_ns(d, r, TMIGR_HANDOVER);
	}
	return good;
}

void engine_check_sum(const struct tmigr_topology *topo, struct tmigr_window *a,
		      struct tmigr_window *c, struct tmigr_window *d, const char *what)
{
	const struct tmigr_window_totals *ta = tmigr_window_totals(a), *tc = tmigr_window_totals(c),
					 *td = tmigr_window_totals(d);
	const struct tmigr_result *ra = tmigr_model_result(tmigr_window_model(a)),
				  *rc = tmigr_model_result(tmigr_window_model(c)),
				  *rd = tmigr_model_result(tmigr_window_model(d));

	tap_ok(tmigr_window_start_ns(a) == tmigr_window_start_ns(c) &&
		       tmigr_window_end_ns(c) == tmigr_window_start_ns(d) &&
		       tmigr_window_end_ns(d) == tmigr_window_end_ns(a),
	       "%s: the windows share their edges", what);
	tap_ok(cpus_add_up(ta, tc, td), "%s: times, entries, histograms and records add up", what);
	tap_ok(remote_adds_up(ta, tc, td), "%s: remote expiries add up", what);
	tap_ok(ta->observer.bpf_runs == tc->observer.bpf_runs + td->observer.bpf_runs &&
		       ta->observer.wakeups == tc->observer.wakeups + td->observer.wakeups,
	       "%s: the observer's costs add up", what);
	if (ra->lost_updates + rc->lost_updates + rd->lost_updates)
		tap_skip(what, "updates of groups were stamped behind an edge");
	else
		tap_ok(holders_add_up(topo, ra, rc, rd), "%s: what each CPU held adds up", what);
}

/* ---- a window that began late, and a model that saw everything before it ---- */

static bool same_cpus(const struct tmigr_result *a, const struct tmigr_result *b)
{
	bool good = true;

	for (size_t i = 0; i < a->n_cpus; i++) {
		if (memcmp(&a->cpus[i], &b->cpus[i], sizeof(a->cpus[i])) == 0)
			continue;
		good = false;
		for (int s = 0; s < TMIGR_SLOTS; s++)
			tap_diag("cpu %u slot %d: %llu, %llu ns; %llu, %llu entries\n",
				 a->cpus[i].cpu, s, a->cpus[i].time_ns[s], b->cpus[i].time_ns[s],
				 a->cpus[i].entries[s], b->cpus[i].entries[s]);
	}
	return good;
}

static void tell_holder(const struct tmigr_holder *h)
{
	tap_diag("cpu %u: held %llu ns, %llu times, at most %llu ns; avoidable %llu, not known "
		 "%llu\n",
		 h->cpu, h->held_ns, h->holdings, h->longest_ns, h->avoidable_ns,
		 h->avoidable_unknown_ns);
	for (int s = 0; s < TMIGR_SLOTS; s++)
		if (h->slot_ns[s])
			tap_diag("cpu %u: in slot %d %llu ns\n", h->cpu, s, h->slot_ns[s]);
}

/* Who held, and what they were in.  Of the rest, duty and free may differ: a duty
 * changes without event, and only a snapshot in that moment sees it. */
static bool same_root(const struct tmigr_root_figures *x, const struct tmigr_root_figures *y)
{
	bool good = x->regime_ns[TMIGR_HELD] == y->regime_ns[TMIGR_HELD] &&
		    x->regime_ns[TMIGR_HANDOVER] == y->regime_ns[TMIGR_HANDOVER] &&
		    x->n_holders == y->n_holders;

	for (size_t i = 0; good && i < x->n_holders; i++)
		good = memcmp(&x->holders[i], &y->holders[i], sizeof(x->holders[i])) == 0;
	for (int k = 0; !good && k < TMIGR_REGIMES; k++)
		tap_diag("regime %d: %llu, %llu ns\n", k, x->regime_ns[k], y->regime_ns[k]);
	for (size_t i = 0; !good && i < x->n_holders; i++)
		tell_holder(&x->holders[i]);
	for (size_t i = 0; !good && i < y->n_holders; i++)
		tell_holder(&y->holders[i]);
	return good;
}

static void check_roots(const struct tmigr_result *a, const struct tmigr_result *b,
			const char *what)
{
	bool good = a->n_roots == b->n_roots;

	for (size_t r = 0; good && r < a->n_roots; r++)
		good = same_root(&a->roots[r], &b->roots[r]);
	/* One that was stopped between an update and its record, over the edge
	 * and all that is read there: lost for the window that ends there. */
	if (a->lost_updates > b->lost_updates)
		tap_skip(what, "an update of a group was stamped long after it");
	else
		tap_ok(good, "%s: ... and who held the migrator", what);
}

void engine_check_seed(const struct tmigr_topology *topo, const struct tmigr_rec_vec *all,
		       struct tmigr_window *late, const char *what)
{
	const struct tmigr_model_cfg cfg = {.topo = topo, .start_ns = tmigr_window_start_ns(late)};
	const struct tmigr_result *a = tmigr_model_result(tmigr_window_model(late)), *b;
	struct tmigr_model *m = NULL;
	int ret = tmigr_model_new(&cfg, &m);

	if (!ret)
		ret = tmigr_model_feed(m, all->recs, all->n);
	if (!ret)
		ret = tmigr_model_finish(m, tmigr_window_end_ns(late));
	if (ret) {
		tap_ok(false, "%s: a model can be fed with it all", what);
		tmigr_model_free(m);
		return;
	}
	b = tmigr_model_result(m);
	tap_ok(same_cpus(a, b), "%s: begun late, it knows the CPUs as from the start", what);
	check_roots(a, b, what);
	tap_ok(a->n_remote == b->n_remote &&
		       (!a->n_remote ||
			memcmp(a->remote, b->remote, a->n_remote * sizeof(*a->remote)) == 0),
	       "%s: ... and for whom timers expired", what);
	tmigr_model_free(m);
}

/* ---- two engines ---- */

static bool is_event(const struct tmigr_rec *rec, unsigned int cpu)
{
	return rec->cpu == cpu && rec->type < TMIGR_REC_NODE_GROUP;
}

static struct tmigr_rec_vec events_of(const struct tmigr_rec_vec *recs, unsigned int cpu,
				      __u64 from_ns)
{
	struct tmigr_rec_vec vec = {0};

	for (size_t i = 0; i < recs->n; i++)
		if (is_event(&recs->recs[i], cpu) && recs->recs[i].t_ns >= from_ns &&
		    tmigr_rec_vec_add(&vec, recs->recs[i]))
			break;
	return vec;
}

static bool same_event(const struct tmigr_rec *a, const struct tmigr_rec *b)
{
	return a->type == b->type && a->flags == b->flags && a->level == b->level &&
	       a->mask == b->mask && a->a == b->a && a->b == b->b;
}

static __u64 distance(__u64 a, __u64 b)
{
	return a > b ? a - b : b - a;
}

/* Where the run of events @in lies in @of, nearest in time: the sum of the
 * differences of their stamps.  False: nowhere. */
static bool find_run(const struct tmigr_rec_vec *in, const struct tmigr_rec_vec *of,
		     __u64 *ret_skew_ns)
{
	__u64 best = UINT64_MAX;

	for (size_t at = 0; at + in->n <= of->n; at++) {
		__u64 skew = 0;
		size_t i = 0;

		while (i < in->n && same_event(&in->recs[i], &of->recs[at + i])) {
			skew += distance(in->recs[i].t_ns, of->recs[at + i].t_ns);
			i++;
		}
		if (i == in->n && skew < best)
			best = skew;
	}
	if (best < UINT64_MAX)
		*ret_skew_ns = best;
	return best < UINT64_MAX;
}

/* Says with which event the longest common run ends. */
static void tell_difference(const struct tmigr_rec_vec *in, const struct tmigr_rec_vec *of)
{
	size_t best = 0, best_at = 0;

	for (size_t at = 0; at < of->n; at++) {
		size_t i = 0;

		while (i < in->n && at + i < of->n && same_event(&in->recs[i], &of->recs[at + i]))
			i++;
		if (i > best) {
			best = i;
			best_at = at;
		}
	}
	for (size_t k = best > 3 ? best - 3 : 0; k < best + 4; k++) {
		const struct tmigr_rec_vec *const both[] = {in, of};

		for (int v = 0; v < 2; v++) {
			size_t at = v ? best_at + k : k;
			const struct tmigr_rec *r = &both[v]->recs[at];

			if (at < both[v]->n)
				tap_diag("%s %zu: %llu ns type %u flags %#x level %u mask %#x "
					 "a %#llx b %#llx\n",
					 v ? "theirs" : "mine", at, r->t_ns, r->type, r->flags,
					 r->level, r->mask, r->a, r->b);
		}
	}
}

static bool cpu_agrees(const struct engine_two *two, struct tmigr_window *w, size_t i)
{
	unsigned int cpu = two->topo->cpus[i].cpu;
	struct tmigr_rec_vec in = events_of(two->inner, cpu, two->from_ns);
	struct tmigr_rec_vec of = events_of(two->outer, cpu, 0);
	const __u64 *mine = tmigr_window_totals(w)->cpus[i].time_ns;
	__u64 theirs[TMIGR_SLOTS], skew = 0;
	bool good = find_run(&in, &of, &skew);

	if (!good) {
		tap_diag("cpu %u: the %zu events are not a run of the other's %zu\n", cpu, in.n,
			 of.n);
		tell_difference(&in, &of);
	}
	engine_redo_times(two->topo, two->outer, tmigr_window_start_ns(w), tmigr_window_end_ns(w),
			  i, theirs);
	tap_diag("cpu %u: %zu events, stamps differ by %llu ns in all\n", cpu, in.n, skew);
	for (int s = 0; s < TMIGR_SLOTS && good; s++) {
		if (distance(mine[s], theirs[s]) <= skew)
			continue;
		tap_diag("cpu %u slot %d: %llu ns, the other has %llu\n", cpu, s, mine[s],
			 theirs[s]);
		good = false;
	}
	tmigr_rec_vec_free(&in);
	tmigr_rec_vec_free(&of);
	return good;
}

void engine_check_two(const struct engine_two *two, struct tmigr_window *w, const char *what)
{
	bool good = true;

	for (size_t i = 0; i < two->topo->n_cpus; i++)
		good &= cpu_agrees(two, w, i);
	tap_ok(good,
	       "%s: another engine saw the same events, and the same times but for its stamps",
	       what);
}
