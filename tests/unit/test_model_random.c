// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random machines against the brute-force answer.  TMIGR_SIM_RUNS: how many;
 * TMIGR_SIM_SEED: the first seed (a failure prints its own).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lib/brute.h"
#include "../lib/machine.h"
#include "../lib/sim.h"

struct segments {
	struct tmigr_segment *seg;
	size_t n, cap;
};

static void keep(void *arg, const struct tmigr_segment *seg)
{
	struct segments *s = arg;

	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->seg = realloc(s->seg, s->cap * sizeof(*s->seg));
	}
	s->seg[s->n++] = *seg;
}

static unsigned long from_env(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

/* Laws 1 and 2. */
static bool sums_hold(const struct tmigr_result *r)
{
	bool ok = true;

	for (size_t i = 0; i < r->n_cpus; i++) {
		__u64 sum = 0;

		for (int k = 0; k < TMIGR_SLOTS; k++)
			sum += r->cpus[i].time_ns[k];
		ok &= sum == r->end_ns - r->start_ns;
	}
	for (size_t i = 0; i < r->n_roots; i++) {
		__u64 sum = 0, held = 0;

		for (int k = 0; k < TMIGR_REGIMES; k++)
			sum += r->roots[i].regime_ns[k];
		ok &= sum == r->end_ns - r->start_ns;
		for (size_t k = 0; k < r->roots[i].n_holders; k++) {
			const struct tmigr_holder *h = &r->roots[i].holders[k];
			__u64 slots = 0;

			for (int j = 0; j < TMIGR_SLOTS; j++)
				slots += h->slot_ns[j];
			ok &= slots == h->held_ns;
			held += h->held_ns;
		}
		ok &= held == r->roots[i].regime_ns[TMIGR_HELD];
	}
	if (!ok)
		fprintf(stderr, "# sums do not add up\n");
	return ok;
}

static struct tmigr_model *model_of(const struct sim *sim, struct segments *segs, __u64 order)
{
	struct tmigr_model_cfg cfg = {
		.topo = sim->topo, .start_ns = sim->start_ns, .segment = keep, .arg = segs};
	struct tmigr_model *m;

	assert_int_equal(tmigr_model_new(&cfg, &m), 0);
	assert_int_equal(sim_feed(sim, m, order), 0);
	return m;
}

static bool check(const struct sim_cfg *cfg)
{
	struct segments segs = {0};
	struct tmigr_model *m;
	struct brute b;
	struct sim sim;
	bool ok = true;

	sim_run(cfg, &sim);
	brute_run(sim.topo, sim.recs, sim.n_recs, sim.start_ns, sim.end_ns, &b);
	for (int order = 0; order < 3 && ok; order++) {
		segs.n = 0;
		m = model_of(&sim, &segs, order);
		ok = sums_hold(tmigr_model_result(m)) &&
		     brute_same(&b, tmigr_model_result(m), segs.seg, segs.n);
		tmigr_model_free(m);
		if (!ok)
			fprintf(stderr, "# seed %llu, delivery %d\n", cfg->seed, order);
	}
	free(segs.seg);
	brute_free(&b);
	sim_free(&sim);
	return ok;
}

static void random_machines(void **state)
{
	unsigned long runs = from_env("TMIGR_SIM_RUNS", 500), seed = from_env("TMIGR_SIM_SEED", 1);
	unsigned long failed = 0;

	(void)state;
	for (unsigned long i = 0; i < runs; i++) {
		struct sim_cfg cfg = sim_random(seed + i);

		failed += !check(&cfg);
		if (failed > 5)
			break;
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
