// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The model on machines small enough to reckon by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lib/machine.h"

#define G0    0xffff0000ULL
#define G1    0xffff0040ULL
#define TOP   0xffff0080ULL
#define R0    0xffff00c0ULL
#define NONE  TMIGR_NO_MIGRATOR
#define NEVER TMIGR_KTIME_MAX
#define S     1000ULL /* window */
#define E     2000ULL

struct segments {
	struct tmigr_segment seg[64];
	size_t n;
};

static void keep_segment(void *arg, const struct tmigr_segment *seg)
{
	struct segments *s = arg;

	assert_true(s->n < 64);
	s->seg[s->n++] = *seg;
}

static struct segments segments;

static struct tmigr_model *run(const struct tmigr_topology *topo, const struct tmigr_rec *recs,
			       size_t n)
{
	struct tmigr_model_cfg cfg = {
		.topo = topo, .start_ns = S, .segment = keep_segment, .arg = &segments};
	struct tmigr_model *m;

	segments.n = 0;
	assert_int_equal(tmigr_model_new(&cfg, &m), 0);
	assert_int_equal(tmigr_model_feed(m, recs, n), 0);
	assert_int_equal(tmigr_model_finish(m, E), 0);
	return m;
}

#define RUN(topo, recs) run(topo, recs, sizeof(recs) / sizeof(*(recs)))

static void check_laws(const struct tmigr_model *m)
{
	const struct tmigr_result *r = tmigr_model_result(m);

	for (size_t i = 0; i < r->n_cpus; i++) {
		__u64 sum = 0;

		for (int k = 0; k < TMIGR_SLOTS; k++)
			sum += r->cpus[i].time_ns[k];
		assert_int_equal(sum, r->end_ns - r->start_ns);
	}
	for (size_t i = 0; i < r->n_roots; i++) {
		__u64 sum = 0;

		for (int k = 0; k < TMIGR_REGIMES; k++)
			sum += r->roots[i].regime_ns[k];
		assert_int_equal(sum, r->end_ns - r->start_ns);
	}
}

static void expect_segment(size_t i, enum tmigr_regime regime, int cpu, __u64 from, __u64 to)
{
	assert_true(i < segments.n);
	assert_int_equal(segments.seg[i].regime, regime);
	assert_int_equal(segments.seg[i].cpu, cpu);
	assert_int_equal(segments.seg[i].start_ns, from);
	assert_int_equal(segments.seg[i].end_ns, to);
}

/* Law 1: a CPU that idles twice; the first event dates back. */
static void law1_residency(void **state)
{
	struct tmigr_topology *topo = machine_new(3, 1, 1, NULL);
	struct tmigr_rec recs[] = {
		rec_idle(1100, 0, 1),  rec_idle(1300, 0, -1), rec_idle(1400, 0, 0),
		rec_idle(1350, 1, -1), rec_idle(1450, 1, 0),  rec_idle(1460, 1, -1),
	};
	const struct tmigr_result *r;
	struct tmigr_model *m;

	(void)state;
	topo->cpus[2].online = false;
	m = RUN(topo, recs);
	r = tmigr_model_result(m);
	check_laws(m);
	assert_int_equal(r->cpus[0].time_ns[TMIGR_SLOT_RUNNING], 200);
	assert_int_equal(r->cpus[0].time_ns[TMIGR_SLOT_STATE0 + 1], 200);
	assert_int_equal(r->cpus[0].time_ns[TMIGR_SLOT_STATE0], 600);
	assert_int_equal(r->cpus[0].entries[TMIGR_SLOT_STATE0 + 1], 1);
	assert_int_equal(r->cpus[0].hist[TMIGR_SLOT_STATE0 + 1][7], 1);
	assert_int_equal(r->cpus[1].time_ns[TMIGR_SLOT_UNKNOWN], 350);
	assert_int_equal(r->cpus[1].time_ns[TMIGR_SLOT_RUNNING], 640);
	assert_int_equal(r->cpus[1].hist[TMIGR_SLOT_STATE0][3], 1);
	assert_int_equal(r->cpus[2].time_ns[TMIGR_SLOT_OFFLINE], 1000);
	assert_int_equal(r->records, 6);
	tmigr_model_free(m);
	machine_free(topo);
}

/* Law 6: no event at all: what the snapshot said; without one, unknown. */
static void law6_silent_cpu(void **state)
{
	struct tmigr_topology *topo = machine_new(3, 1, 1, NULL);
	struct tmigr_rec recs[] = {
		rec_about(900, 0, TMIGR_REC_SNAP_IDLE, 0, 1),
		/* only the snapshot of the end saw it */
		rec_about(2100, 0, TMIGR_REC_SNAP_IDLE, 1, TMIGR_STATE_RUNNING),
		rec_about(900, 0, TMIGR_REC_SNAP_IDLE, 2, TMIGR_STATE_UNKNOWN),
	};
	struct tmigr_model *m = RUN(topo, recs);
	const struct tmigr_result *r = tmigr_model_result(m);

	(void)state;
	check_laws(m);
	assert_int_equal(r->cpus[0].time_ns[TMIGR_SLOT_STATE0 + 1], 1000);
	assert_int_equal(r->cpus[1].time_ns[TMIGR_SLOT_RUNNING], 1000);
	assert_int_equal(r->cpus[2].time_ns[TMIGR_SLOT_UNKNOWN], 1000);
	tmigr_model_free(m);
	machine_free(topo);
}

#define ONE_ROOT(w)                                                                                \
	rec_node_group(500, R0, 0, 0, 1), rec_node_cpu(500, R0, 0, 1),                             \
		rec_node_cpu(500, R0, 1, 2), rec_snap_group(500, R0, w),                           \
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 0, NEVER),                                   \
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 1, NEVER)

/* Law 2, and the duty dated back to the update that left nobody. */
static void law2_duty_dated_back(void **state)
{
	struct tmigr_topology *topo = machine_new(2, 1, 1, NULL);
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		rec_group(1200, 0, false, R0, 1, WORD(0, NONE, 8)),
		rec_about(1210, 0, TMIGR_REC_CPU_IDLE, 0, 5000),
		rec_about(1400, 1, TMIGR_REC_HANDLE_REMOTE_CPU, 0, 0),
		rec_group(1500, 1, true, R0, 2, WORD(2, 2, 9)),
		rec_group(1700, 1, false, R0, 2, WORD(0, NONE, 10)),
		rec_about(1720, 1, TMIGR_REC_CPU_IDLE, 1, NEVER),
		rec_group(1900, 0, true, R0, 1, WORD(1, 1, 11)),
		rec_group(1990, 0, false, R0, 1, WORD(0, NONE, 12)),
	};
	struct tmigr_model *m = RUN(topo, recs);
	const struct tmigr_root_figures *f = tmigr_model_result(m)->roots;

	(void)state;
	check_laws(m);
	assert_int_equal(segments.n, 7);
	expect_segment(0, TMIGR_HELD, 0, 1000, 1200);
	expect_segment(1, TMIGR_DUTY, -1, 1200, 1400);
	expect_segment(2, TMIGR_FREE, -1, 1400, 1500);
	expect_segment(3, TMIGR_HELD, 1, 1500, 1700);
	expect_segment(4, TMIGR_FREE, -1, 1700, 1900);
	expect_segment(5, TMIGR_HELD, 0, 1900, 1990);
	/* the end came before the CPU said */
	expect_segment(6, TMIGR_UNKNOWN, -1, 1990, 2000);
	assert_int_equal(f->n_holders, 2);
	assert_int_equal(f->holders[0].held_ns, 290);
	assert_int_equal(f->holders[0].holdings, 2);
	assert_int_equal(f->holders[0].longest_ns, 200);
	tmigr_model_free(m);
	machine_free(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(law1_residency),
		cmocka_unit_test(law6_silent_cpu),
		cmocka_unit_test(law2_duty_dated_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
