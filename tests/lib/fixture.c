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
	}
	for (size_t i = 0; i < r->n_roots; i++)
		ok &= root_sums_hold(&r->roots[i], window);
	return ok;
}

struct fixture *fixture_window(struct tmigr_topology *topo, const struct tmigr_rec *recs, size_t n,
			       __u64 start_ns, __u64 end_ns)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct tmigr_model_cfg cfg = {.topo = topo,
				      .start_ns = start_ns,
				      .segment = fixture_segment,
				      .cpu_span = fixture_span,
				      .arg = f};

	f->topo = topo;
	assert_int_equal(tmigr_model_new(&cfg, &f->m), 0);
	assert_int_equal(tmigr_model_feed(f->m, recs, n), 0);
	assert_int_equal(tmigr_model_finish(f->m, end_ns), 0);
	f->r = tmigr_model_result(f->m);
	assert_true(fixture_sums_hold(f->r));
	assert_true(fixture_spans_hold(f, topo));
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
	free(f->segs);
	free(f->spans);
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
