// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

void fixture_segment(void *arg, const struct tmigr_segment *seg)
{
	struct fixture *f = arg;

	if (f->n_segs == f->cap_segs) {
		f->cap_segs = f->cap_segs ? 2 * f->cap_segs : 64;
		f->segs = realloc(f->segs, f->cap_segs * sizeof(*f->segs));
	}
	f->segs[f->n_segs++] = *seg;
}

void fixture_span(void *arg, const struct tmigr_cpu_span *span)
{
	struct fixture *f = arg;

	if (f->n_spans == f->cap_spans) {
		f->cap_spans = f->cap_spans ? 2 * f->cap_spans : 64;
		f->spans = realloc(f->spans, f->cap_spans * sizeof(*f->spans));
	}
	f->spans[f->n_spans++] = *span;
}

void fixture_group_span(void *arg, const struct tmigr_group_span *span)
{
	struct fixture *f = arg;

	if (f->n_groups == f->cap_groups) {
		f->cap_groups = f->cap_groups ? 2 * f->cap_groups : 64;
		f->groups = realloc(f->groups, f->cap_groups * sizeof(*f->groups));
	}
	f->groups[f->n_groups++] = *span;
}

void fixture_remote(void *arg, const struct tmigr_remote_event *event)
{
	struct fixture *f = arg;

	if (f->n_remotes == f->cap_remotes) {
		f->cap_remotes = f->cap_remotes ? 2 * f->cap_remotes : 64;
		f->remotes = realloc(f->remotes, f->cap_remotes * sizeof(*f->remotes));
	}
	f->remotes[f->n_remotes++] = *event;
}

struct tmigr_model_cfg fixture_cfg(const struct tmigr_topology *topo, __u64 start_ns,
				   struct fixture *f)
{
	return (struct tmigr_model_cfg){.topo = topo,
					.start_ns = start_ns,
					.segment = fixture_segment,
					.cpu_span = fixture_span,
					.group_span = fixture_group_span,
					.remote = fixture_remote,
					.arg = f};
}

void fixture_forget(struct fixture *f)
{
	f->n_segs = f->n_spans = f->n_groups = f->n_remotes = 0;
}

void fixture_free_told(struct fixture *f)
{
	free(f->segs);
	free(f->spans);
	free(f->groups);
	free(f->remotes);
}

/* ---- groups' spans ---- */

/* What @group pointed at at @t_ns; NULL: nothing was told. */
static const struct tmigr_group_span *group_at(const struct fixture *f, unsigned int group,
					       __u64 t_ns)
{
	for (size_t i = 0; i < f->n_groups; i++) {
		const struct tmigr_group_span *s = &f->groups[i];

		if (s->group == group && s->start_ns <= t_ns && t_ns < s->end_ns)
			return s;
	}
	return NULL;
}

/* From @group down: the CPU, -1 no migrator on the way, -2 not known. */
static int way_down(const struct fixture *f, unsigned int group, __u64 t_ns)
{
	const struct tmigr_group_span *s;

	for (int depth = 0; depth < 16; depth++) {
		s = group_at(f, group, t_ns);
		if (!s || s->to == TMIGR_TO_UNKNOWN)
			return -2;
		if (s->to == TMIGR_TO_NONE)
			return -1;
		if (s->to == TMIGR_TO_CPU)
			return (int)s->child;
		group = s->child;
	}
	return -2;
}

static bool is_update(const struct tmigr_rec *r)
{
	return r->type == TMIGR_REC_GROUP_ACTIVE || r->type == TMIGR_REC_GROUP_INACTIVE;
}

/* Something else held for no time: the update stamped @t_ns came after one of the same
 * group that is stamped no earlier. */
static bool changed_twice(const struct fixture *f, __u64 t_ns)
{
	for (size_t i = 0; i < f->n_recs; i++) {
		const struct tmigr_rec *at = &f->recs[i];

		for (size_t k = 0; at->t_ns == t_ns && is_update(at) && k < f->n_recs; k++) {
			const struct tmigr_rec *r = &f->recs[k];

			if (is_update(r) && r->a == at->a && r->t_ns >= t_ns &&
			    (__s16)(tmigr_word_seq(r->b) - tmigr_word_seq(at->b)) < 0)
				return true;
		}
	}
	return false;
}

static bool group_spans_fill(const struct fixture *f, unsigned int group)
{
	const struct tmigr_group_span *last = NULL;
	__u64 until_ns = f->r->start_ns;
	bool ok = true;

	for (size_t i = 0; i < f->n_groups; i++) {
		const struct tmigr_group_span *s = &f->groups[i];

		if (s->group != group)
			continue;
		ok &= s->start_ns == until_ns && s->end_ns > s->start_ns;
		ok &= !last || last->to != s->to || last->child != s->child ||
		      s->to == TMIGR_TO_UNKNOWN || changed_twice(f, s->start_ns);
		until_ns = s->end_ns;
		last = s;
	}
	return ok && until_ns == f->r->end_ns;
}

static bool is_below(const struct tmigr_hierarchy *h, int group, int above)
{
	while (group >= 0 && group != above)
		group = h->groups[group].parent;
	return group >= 0;
}

/* What is the top now may not have been it then: the root went on under a new one. */
static bool segment_holds(const struct fixture *f, const struct tmigr_hierarchy *h,
			  const struct tmigr_segment *s, __u64 t_ns)
{
	int top = (int)f->r->roots[s->root].group, want = s->regime == TMIGR_HELD ? s->cpu : -1;
	const struct tmigr_group_span *at = group_at(f, h->groups[top].number, t_ns);

	if (s->regime == TMIGR_UNKNOWN)
		return true;
	if (at && at->to != TMIGR_TO_UNKNOWN)
		return way_down(f, h->groups[top].number, t_ns) == want;
	for (int i = 0; i < (int)h->n_groups; i++)
		if (is_below(h, i, top) && way_down(f, h->groups[i].number, t_ns) == want)
			return true;
	return false;
}

static bool remotes_hold(const struct fixture *f)
{
	bool ok = true;
	size_t total = 0;

	for (size_t i = 0; i < f->r->n_remote; i++) {
		const struct tmigr_remote *r = &f->r->remote[i];
		__u64 count = 0, woke[TMIGR_SLOTS] = {0};

		for (size_t k = 0; k < f->n_remotes; k++) {
			const struct tmigr_remote_event *e = &f->remotes[k];

			if (e->executor != r->executor || e->target != r->target)
				continue;
			count++;
			if (e->woke >= 0)
				woke[e->woke]++;
			ok &= e->t_ns >= f->r->start_ns && e->t_ns <= f->r->end_ns;
		}
		ok &= count == r->count && !memcmp(woke, r->woke, sizeof(woke));
		total += count;
	}
	return ok && total == f->n_remotes;
}

bool fixture_groups_hold(const struct fixture *f)
{
	struct tmigr_hierarchy *h;
	bool ok = remotes_hold(f);

	assert_int_equal(tmigr_model_hierarchy(f->m, &h), 0);
	for (size_t i = 0; f->r->end_ns > f->r->start_ns && i < h->n_groups; i++)
		ok &= group_spans_fill(f, h->groups[i].number);
	for (size_t i = 0; i < f->n_segs; i++)
		ok &= segment_holds(f, h, &f->segs[i], f->segs[i].start_ns) &&
		      segment_holds(f, h, &f->segs[i], f->segs[i].end_ns - 1);
	tmigr_hierarchy_free(h);
	return ok;
}

bool fixture_spans_hold(const struct fixture *f, const struct tmigr_topology *topo)
{
	__u64(*sums)[TMIGR_SLOTS] = calloc(topo->n_cpus, sizeof(*sums));
	__u64 *until_ns = calloc(topo->n_cpus, sizeof(*until_ns));
	bool ok = true;

	for (size_t i = 0; i < topo->n_cpus; i++)
		until_ns[i] = f->r->start_ns;
	for (size_t i = 0; i < f->n_spans; i++) {
		const struct tmigr_cpu_span *s = &f->spans[i];
		int k = tmigr_topology_index(topo, s->cpu);

		ok &= s->start_ns == until_ns[k] && s->end_ns > s->start_ns;
		until_ns[k] = s->end_ns;
		sums[k][s->slot] += s->end_ns - s->start_ns;
	}
	for (size_t i = 0; i < topo->n_cpus; i++)
		ok &= until_ns[i] == f->r->end_ns &&
		      !memcmp(sums[i], f->r->cpus[i].time_ns, sizeof(sums[i]));
	free(sums);
	free(until_ns);
	return ok;
}

static bool root_sums_hold(const struct tmigr_root_figures *f, __u64 window)
{
	__u64 sum = 0, held = 0;
	bool ok = true;

	for (int k = 0; k < TMIGR_REGIMES; k++)
		sum += f->regime_ns[k];
	for (size_t k = 0; k < f->n_holders; k++) {
		const struct tmigr_holder *h = &f->holders[k];
		__u64 slots = 0;

		for (int j = 0; j < TMIGR_SLOTS; j++)
			slots += h->slot_ns[j];
		ok &= slots == h->held_ns && h->longest_ns <= h->held_ns && h->holdings &&
		      h->avoidable_ns + h->avoidable_unknown_ns <= h->held_ns;
		held += h->held_ns;
	}
	return ok && sum == window && held == f->regime_ns[TMIGR_HELD];
}

bool fixture_sums_hold(const struct tmigr_result *r)
{
	__u64 window = r->end_ns - r->start_ns;
	bool ok = true;

	for (size_t i = 0; i < r->n_cpus; i++) {
		__u64 sum = 0;

		for (int k = 0; k < TMIGR_SLOTS; k++)
			sum += r->cpus[i].time_ns[k];
		ok &= sum == window;
		sum = 0;
		for (int k = 0; k < TMIGR_PARTS; k++)
			sum += r->cpus[i].running_ns[k];
		ok &= sum == r->cpus[i].time_ns[TMIGR_SLOT_RUNNING];
	}
	for (size_t i = 0; i < r->n_roots; i++)
		ok &= root_sums_hold(&r->roots[i], window);
	return ok;
}

struct fixture *fixture_window(struct tmigr_topology *topo, const struct tmigr_rec *recs, size_t n,
			       __u64 start_ns, __u64 end_ns)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct tmigr_model_cfg cfg = fixture_cfg(topo, start_ns, f);

	f->topo = topo;
	f->recs = recs;
	f->n_recs = n;
	assert_int_equal(tmigr_model_new(&cfg, &f->m), 0);
	assert_int_equal(tmigr_model_feed(f->m, recs, n), 0);
	assert_int_equal(tmigr_model_finish(f->m, end_ns), 0);
	f->r = tmigr_model_result(f->m);
	assert_true(fixture_sums_hold(f->r));
	assert_true(fixture_spans_hold(f, topo));
	assert_true(fixture_groups_hold(f));
	return f;
}

struct fixture *fixture_run(struct tmigr_topology *topo, const struct tmigr_rec *recs, size_t n)
{
	return fixture_window(topo, recs, n, S, E);
}

void fixture_free(struct fixture *f)
{
	tmigr_model_free(f->m);
	machine_free(f->topo);
	fixture_free_told(f);
	free(f);
}

void expect_segment(const struct fixture *f, size_t i, enum tmigr_regime regime, int cpu,
		    __u64 from, __u64 to)
{
	assert_true(i < f->n_segs);
	assert_int_equal(f->segs[i].regime, regime);
	assert_int_equal(f->segs[i].cpu, cpu);
	assert_int_equal(f->segs[i].start_ns, from);
	assert_int_equal(f->segs[i].end_ns, to);
}
