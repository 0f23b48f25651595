// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A window that begins in the middle of a stream: a model that gets what the keeper
 * kept of the records before, and then the others, has the same figures as one that got
 * all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/ftrace_priv.h"
#include "../lib/machine.h"
#include "../lib/sim.h"
#include "tmigr/model.h"

/* A model of the window from @from_ns on. */
static struct tmigr_model *model_of(const struct sim *sim, __u64 from_ns)
{
	const struct tmigr_model_cfg cfg = {.topo = sim->topo, .start_ns = from_ns};
	struct tmigr_model *m;

	assert_int_equal(tmigr_model_new(&cfg, &m), 0);
	return m;
}

static size_t before(const struct sim *sim, __u64 t_ns)
{
	size_t n = 0;

	while (n < sim->n_recs && sim->recs[n].t_ns < t_ns)
		n++;
	return n;
}

static bool equal(const void *a, const void *b, size_t size)
{
	return !size || memcmp(a, b, size) == 0;
}

static bool same_roots(const struct tmigr_result *a, const struct tmigr_result *b)
{
	if (a->n_roots != b->n_roots)
		return false;
	for (size_t i = 0; i < a->n_roots; i++) {
		const struct tmigr_root_figures *x = &a->roots[i], *y = &b->roots[i];

		if (x->n_holders != y->n_holders ||
		    !equal(x->regime_ns, y->regime_ns, sizeof(x->regime_ns)) ||
		    !equal(x->holders, y->holders, x->n_holders * sizeof(*x->holders)))
			return false;
	}
	return true;
}

static bool same(const struct tmigr_result *a, const struct tmigr_result *b)
{
	return a->n_remote == b->n_remote &&
	       equal(a->cpus, b->cpus, a->n_cpus * sizeof(*a->cpus)) &&
	       equal(a->remote, b->remote, a->n_remote * sizeof(*a->remote)) &&
	       a->lost_records == b->lost_records && a->records == b->records && same_roots(a, b);
}

static bool check_cut(const struct sim *sim, __u64 cut_ns)
{
	size_t n = before(sim, cut_ns);
	struct tmigr_model *all = model_of(sim, cut_ns), *late = model_of(sim, cut_ns);
	struct tmigr_rec_vec kept = {0};
	struct tmigr_keeper *k;
	bool ok;

	assert_int_equal(tmigr_keeper_new(sim->topo, &k), 0);
	assert_int_equal(tmigr_keeper_feed(k, sim->recs, n), 0);
	assert_int_equal(tmigr_keeper_dump(k, &kept), 0);
	assert_int_equal(tmigr_model_feed(all, sim->recs, sim->n_recs), 0);
	assert_int_equal(tmigr_model_finish(all, sim->end_ns), 0);
	assert_int_equal(tmigr_model_feed(late, kept.recs, kept.n), 0);
	assert_int_equal(tmigr_model_feed(late, sim->recs + n, sim->n_recs - n), 0);
	assert_int_equal(tmigr_model_finish(late, sim->end_ns), 0);
	ok = same(tmigr_model_result(all), tmigr_model_result(late));
	/* What is kept does not grow with the stream. */
	ok &= kept.n <= sim->topo->n_cpus * 40 + 1;
	tmigr_rec_vec_free(&kept);
	tmigr_keeper_free(k);
	tmigr_model_free(all);
	tmigr_model_free(late);
	return ok;
}

static void test_random_cuts(void **state)
{
	unsigned int failed = 0;

	(void)state;
	for (__u64 seed = 1; seed <= 1500 && failed < 5; seed++) {
		struct sim_cfg cfg = sim_random(seed);
		struct sim sim;

		/* The sequencer's records are not late by their count, and come without
		 * snapshots but for the one at the start. */
		cfg.more_snapshots = cfg.end_snapshot = false;
		cfg.max_delay_ns = 0;
		cfg.n_holes = 0;
		sim_run(&cfg, &sim);
		for (__u64 i = 1; i < 8; i++) {
			__u64 cut = sim.start_ns + (sim.end_ns - sim.start_ns) * i / 8;

			if (check_cut(&sim, cut))
				continue;
			print_error("seed %llu, cut %llu of 8\n", (unsigned long long)seed,
				    (unsigned long long)i);
			failed++;
		}
		sim_free(&sim);
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_cuts),
	};

	return cmocka_run_group_tests_name("keeper", tests, NULL, NULL);
}
