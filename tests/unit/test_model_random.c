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
#include "../lib/fixture.h"
#include "../lib/sim.h"

static unsigned long from_env(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

static void run_model(const struct sim *sim, __u64 order, struct fixture *f)
{
	struct tmigr_model_cfg cfg = fixture_cfg(sim->topo, sim->start_ns, f);

	cfg.far = order % 3; /* 0: never in so few records */
	f->recs = sim->recs;
	f->n_recs = sim->n_recs;
	fixture_forget(f);
	assert_int_equal(tmigr_model_new(&cfg, &f->m), 0);
	assert_int_equal(sim_feed(sim, f->m, order), 0);
	f->r = tmigr_model_result(f->m);
}

/* Laws 1 and 2, the brute force, and law 5: @orders ways of delivery. */
static bool check(const struct sim_cfg *cfg, int orders)
{
	struct fixture f = {0};
	struct brute b;
	struct sim sim;
	bool ok = true;

	sim_run(cfg, &sim);
	brute_run(sim.topo, sim.recs, sim.n_recs, sim.start_ns, sim.end_ns, &b);
	for (int order = 0; order < orders && ok; order++) {
		run_model(&sim, order, &f);
		ok = fixture_sums_hold(f.r);
		if (!ok)
			fprintf(stderr, "# sums do not add up\n");
		if (!fixture_spans_hold(&f, sim.topo)) {
			fprintf(stderr, "# the spans are not the figures\n");
			ok = false;
		}
		if (!fixture_groups_hold(&f)) {
			fprintf(stderr, "# the groups' spans are not the roots' segments\n");
			ok = false;
		}
		ok &= brute_same(&b, f.r, f.segs, f.n_segs);
		tmigr_model_free(f.m);
		if (!ok)
			fprintf(stderr, "# seed %llu, delivery %d\n", cfg->seed, order);
	}
	fixture_free_told(&f);
	brute_free(&b);
	sim_free(&sim);
	return ok;
}

static void random_machines(void **state)
{
	unsigned long runs = from_env("TMIGR_SIM_RUNS", 1000), failed = 0;
	unsigned long seed = from_env("TMIGR_SIM_SEED", 1);

	(void)state;
	for (unsigned long i = 0; i < runs && failed < 5; i++) {
		struct sim_cfg cfg = sim_random(seed + i);

		failed += !check(&cfg, 3);
	}
	assert_int_equal(failed, 0);
}

/* A group left its migrator and came back to it at one instant: an update stamped late. */
static void there_and_back_at_once(void **state)
{
	struct sim_cfg cfg = sim_random(7546);

	(void)state;
	assert_true(check(&cfg, 3));
}

/* Law 7: many CPUs with numbers up to the highest, four levels. */
static void law7_large_sparse_machine(void **state)
{
	struct sim_cfg cfg = {.seed = 7,
			      .n_cpus = 600,
			      .n_roots = 1,
			      .fan = 8,
			      .n_classes = 3,
			      .max_gap = 108,
			      .steps = 30000,
			      .step_ns = 20,
			      .max_delay_ns = 40,
			      .snapshot = true,
			      .n_clean = 20};

	(void)state;
	assert_true(check(&cfg, 2));
	cfg.seed = 8;
	cfg.n_roots = 5;
	cfg.fan = 6;
	cfg.n_lost = 4;
	cfg.hotplug = true;
	assert_true(check(&cfg, 2));
	cfg.seed = 9;
	cfg.snapshot = false;
	assert_true(check(&cfg, 1));
}

/* ---- against the truth ---- */

/* True state of each hierarchy, in the model's words where they are alike. */
static bool is_true(enum tmigr_regime regime, int cpu, int truth)
{
	if (truth >= 0)
		return regime == TMIGR_HELD && cpu == truth;
	if (truth == -1)
		return regime == TMIGR_HANDOVER;
	return regime == TMIGR_DUTY || regime == TMIGR_FREE ||
	       /* the window ended before a duty was told */
	       regime == TMIGR_UNKNOWN;
}

static unsigned int root_number(const struct sim *sim, unsigned int hierarchy)
{
	bool before[16] = {false};
	unsigned int n = 0;

	for (size_t i = 0; i < sim->topo->n_cpus; i++) {
		int h = sim->root_of[i];

		if (h == (int)hierarchy)
			return n;
		if (h >= 0 && !before[h])
			n++;
		if (h >= 0)
			before[h] = true;
	}
	return -1;
}

/* Every segment of @root agrees with the truth at each moment of it. */
static bool segments_true(const struct sim *sim, const struct fixture *f, unsigned int hierarchy)
{
	unsigned int root = root_number(sim, hierarchy);
	int now = -3;
	size_t at = 0;

	for (size_t i = 0; i < f->n_segs; i++) {
		const struct tmigr_segment *s = &f->segs[i];

		if (s->root != root)
			continue;
		for (; at < sim->n_truth && sim->truth[at].t_ns <= s->start_ns; at++)
			if (sim->truth[at].root == hierarchy)
				now = sim->truth[at].cpu;
		if (!is_true(s->regime, s->cpu, now)) {
			fprintf(stderr, "# at %llu: regime %d cpu %d, truth %d\n", s->start_ns,
				s->regime, s->cpu, now);
			return false;
		}
		for (; at < sim->n_truth && sim->truth[at].t_ns < s->end_ns; at++) {
			if (sim->truth[at].root != hierarchy)
				continue;
			now = sim->truth[at].cpu;
			if (is_true(s->regime, s->cpu, now))
				continue;
			fprintf(stderr, "# at %llu: regime %d cpu %d, truth %d\n",
				sim->truth[at].t_ns, s->regime, s->cpu, now);
			return false;
		}
	}
	return now != -3;
}

/*
 * With stamps that are right and nothing lost, the figures are what really
 * happened in the simulated kernel.
 */
static void the_truth(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed < 300; seed++) {
		struct sim_cfg cfg = sim_random(seed);
		struct fixture f = {0};
		struct sim sim;

		cfg.max_delay_ns = cfg.n_lost = cfg.n_holes = cfg.n_late = 0;
		cfg.snapshot = true;
		cfg.late_snapshot = false;
		sim_run(&cfg, &sim);
		run_model(&sim, seed, &f);
		assert_int_equal(f.r->lost_updates, 0);
		assert_int_equal(f.r->late_updates, 0);
		assert_int_equal(f.r->n_roots, cfg.n_roots);
		for (size_t i = 0; i < f.r->n_cpus; i++)
			if (memcmp(f.r->cpus[i].time_ns, sim.time_ns + i * TMIGR_SLOTS,
				   sizeof(f.r->cpus[i].time_ns)))
				fail_msg("seed %u, residency of CPU %u", seed, f.r->cpus[i].cpu);
		for (unsigned int h = 0; h < cfg.n_roots; h++)
			if (!segments_true(&sim, &f, h))
				fail_msg("seed %u, hierarchy %u", seed, h);
		tmigr_model_free(f.m);
		fixture_free_told(&f);
		sim_free(&sim);
	}
}

/* ---- garbage ---- */

static __u64 strange_time(__u64 *rng)
{
	switch (sim_random_u64(rng) % 16) {
	case 0:
		return 0;
	case 1:
		return -1ULL - sim_random_u64(rng) % 3;
	case 2:
		return sim_random_u64(rng);
	default:
		return 500 + sim_random_u64(rng) % 2000;
	}
}

static struct tmigr_rec garbage(__u64 *rng)
{
	static const __u8 types[] = {1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12, 13,
				     14, 32, 33, 34, 35, 36, 37, 64, 65, 4,  5,	 32, 33};
	struct tmigr_rec r = {.t_ns = strange_time(rng)};
	__u64 bits = sim_random_u64(rng);
	__u8 migrator;

	r.type = types[bits % sizeof(types)];
	r.cpu = bits & 0x10000 ? (bits >> 20) % 6 : bits >> 32;
	r.flags = bits >> 8;
	r.level = bits & 0x20000 ? (bits >> 24) % 3 : bits >> 48;
	r.mask = bits & 0x40000 ? 1u << (bits >> 28) % 8 : (__u8)(bits >> 40);
	bits = sim_random_u64(rng);
	r.a = bits & 1 ? 0x1000 + (bits >> 8) % 6 * 64 : bits & 2 ? (bits >> 8) % 12 : bits;
	bits = sim_random_u64(rng);
	r.b = bits & 1 ? (bits >> 8) % 6 : bits & 2 ? 0x1000 + (bits >> 8) % 6 * 64 : bits;
	migrator = bits & 8 ? 1u << (bits >> 16) % 8 : bits & 16 ? NOBODY : (__u8)(bits >> 8);
	if (r.type == TMIGR_REC_LOST && bits & 4)
		r.b = strange_time(rng);
	if (r.type == TMIGR_REC_GROUP_ACTIVE || r.type == TMIGR_REC_GROUP_INACTIVE ||
	    r.type == TMIGR_REC_SNAP_GROUP)
		r.b = WORD((__u8)bits, migrator, (bits >> 32) % 64);
	return r;
}

static void fed_garbage(__u64 seed)
{
	unsigned int class_of[] = {0, 1, 2, 0, 1};
	struct tmigr_topology *topo = machine_new(5, 1, 3, class_of);
	struct fixture f = {0};
	struct tmigr_model_cfg cfg = {
		.topo = topo, .start_ns = S, .segment = fixture_segment, .arg = &f};
	struct tmigr_hierarchy *h;
	bool beyond = false;

	topo->cpus[4].online = seed & 1;
	assert_int_equal(tmigr_model_new(&cfg, &f.m), 0);
	for (int i = 0; i < 300; i++) {
		struct tmigr_rec r = garbage(&seed);

		assert_int_equal(tmigr_model_feed(f.m, &r, 1), 0);
		if (i % 64 == 63) {
			__u64 watermark_ns = TMIGR_LOOKAHEAD_NS + strange_time(&seed);

			assert_int_equal(tmigr_model_advance(f.m, watermark_ns), 0);
			beyond |= watermark_ns > TMIGR_LOOKAHEAD_NS + E;
		}
	}
	/* An end before what has been processed is refused, not moved. */
	if (tmigr_model_finish(f.m, E)) {
		assert_true(beyond);
		assert_int_equal(tmigr_model_finish(f.m, -1ULL), 0);
	}
	assert_true(fixture_sums_hold(tmigr_model_result(f.m)));
	assert_int_equal(tmigr_model_hierarchy(f.m, &h), 0);
	tmigr_hierarchy_free(h);
	tmigr_model_free(f.m);
	machine_free(topo);
	fixture_free_told(&f);
}

static void law_1_and_2_under_garbage(void **state)
{
	(void)state;
	for (__u64 seed = 1; seed < 3000; seed++)
		fed_garbage(seed * 7919);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_machines),
		cmocka_unit_test(there_and_back_at_once),
		cmocka_unit_test(law7_large_sparse_machine),
		cmocka_unit_test(the_truth),
		cmocka_unit_test(law_1_and_2_under_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
