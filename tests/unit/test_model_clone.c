// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A copy of a model: finished, it is what a model of the same records is that was
 * finished there; fed on, it is what the original is; and the original does not
 * know of it.  On random machines; TMIGR_SIM_SEED: the first seed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lib/sim.h"
#include "tmigr/report.h"

#define RUNS 200

static struct tmigr_model *new_model(const struct sim *sim)
{
	struct tmigr_model_cfg cfg = {.topo = sim->topo, .start_ns = sim->start_ns};
	struct tmigr_model *m = NULL;

	assert_int_equal(tmigr_model_new(&cfg, &m), 0);
	return m;
}

/* All that a finished model says, as text; frees the model. */
static char *told(const struct sim *sim, struct tmigr_model *m)
{
	json_t *info = json_object();
	struct tmigr_report_input in = {.topo = sim->topo, .model = m, .info = info};
	json_t *report = tmigr_report_build(&in);
	char *text = json_dumps(report, JSON_COMPACT);

	assert_non_null(text);
	json_decref(report);
	json_decref(info);
	tmigr_model_free(m);
	return text;
}

static void feed(const struct sim *sim, struct tmigr_model *m, size_t from, size_t to)
{
	assert_int_equal(tmigr_model_feed(m, sim->recs + from, to - from), 0);
}

static void same(__u64 seed, const char *what, char *got, char *want)
{
	if (strcmp(got, want))
		fprintf(stderr, "# seed %llu: %s\n# %.2000s\n# %.2000s\n", seed, what, got, want);
	assert_string_equal(got, want);
	free(got);
}

static struct tmigr_model *clone(const struct tmigr_model *m)
{
	struct tmigr_model *copy = NULL;

	assert_int_equal(tmigr_model_clone(m, &copy), 0);
	return copy;
}

static void check(__u64 seed)
{
	struct sim_cfg cfg = sim_random(seed);
	struct tmigr_model *m, *half, *early, *late;
	char *want_all, *want_half;
	struct sim sim;
	size_t k;
	__u64 mid;

	sim_run(&cfg, &sim);
	k = sim.n_recs * (seed % 5) / 5;
	mid = k < sim.n_recs ? sim.recs[k].t_ns : sim.end_ns;
	if (mid < sim.start_ns)
		mid = sim.start_ns;

	m = new_model(&sim);
	feed(&sim, m, 0, k);
	assert_int_equal(tmigr_model_advance(m, mid), 0);
	early = clone(m);
	late = clone(m);

	half = new_model(&sim);
	feed(&sim, half, 0, k);
	assert_int_equal(tmigr_model_finish(half, mid), 0);
	want_half = told(&sim, half);
	assert_int_equal(tmigr_model_finish(early, mid), 0);
	same(seed, "the copy, finished there", told(&sim, early), want_half);

	half = new_model(&sim);
	assert_int_equal(sim_feed(&sim, half, 0), 0);
	want_all = told(&sim, half);
	feed(&sim, m, k, sim.n_recs);
	assert_int_equal(tmigr_model_finish(m, sim.end_ns), 0);
	same(seed, "the original", told(&sim, m), want_all);
	feed(&sim, late, k, sim.n_recs);
	assert_int_equal(tmigr_model_finish(late, sim.end_ns), 0);
	same(seed, "the copy, fed on", told(&sim, late), want_all);
	free(want_half);
	free(want_all);
	sim_free(&sim);
}

static void copies(void **state)
{
	const char *first = getenv("TMIGR_SIM_SEED");
	__u64 seed = first ? strtoull(first, NULL, 0) : 1;

	(void)state;
	for (int i = 0; i < RUNS; i++)
		check(seed + i);
}

static void finished_is_not_copied(void **state)
{
	struct sim_cfg cfg = sim_random(1);
	struct tmigr_model *m, *copy = NULL;
	struct sim sim;

	(void)state;
	sim_run(&cfg, &sim);
	m = new_model(&sim);
	assert_int_equal(sim_feed(&sim, m, 0), 0);
	assert_int_equal(tmigr_model_clone(m, &copy), -EINVAL);
	assert_null(copy);
	tmigr_model_free(m);
	sim_free(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(finished_is_not_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
