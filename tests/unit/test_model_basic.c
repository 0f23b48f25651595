// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The model on machines small enough to reckon by hand: idle states, regimes,
 * remote expiries.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lib/fixture.h"

#define STATE(k) (TMIGR_SLOT_STATE0 + (k))

/* Law 1: the first event dates back; an unknown state; a CPU that is offline. */
static void law1_residency(void **state)
{
	struct tmigr_topology *topo = machine_new(3, 1, 1, NULL);
	struct tmigr_rec recs[] = {
		rec_idle(1100, 0, 1),  rec_idle(1300, 0, -1), rec_idle(1400, 0, 0),
		rec_idle(1350, 1, -1), rec_idle(1450, 1, 0),  rec_idle(1460, 1, -1),
	};
	struct fixture *f;

	(void)state;
	topo->cpus[2].online = false;
	f = RUN(topo, recs);
	assert_int_equal(f->r->cpus[0].time_ns[TMIGR_SLOT_RUNNING], 200);
	assert_int_equal(f->r->cpus[0].time_ns[STATE(1)], 200);
	assert_int_equal(f->r->cpus[0].time_ns[STATE(0)], 600);
	assert_int_equal(f->r->cpus[0].entries[STATE(1)], 1);
	assert_int_equal(f->r->cpus[0].hist[STATE(1)][7], 1);
	assert_int_equal(f->r->cpus[0].hist[STATE(0)][9], 0); /* still open */
	assert_int_equal(f->r->cpus[1].time_ns[TMIGR_SLOT_UNKNOWN], 350);
	assert_int_equal(f->r->cpus[1].time_ns[TMIGR_SLOT_RUNNING], 640);
	assert_int_equal(f->r->cpus[1].hist[STATE(0)][3], 1);
	assert_int_equal(f->r->cpus[2].time_ns[TMIGR_SLOT_OFFLINE], 1000);
	assert_int_equal(f->r->records, 6);
	fixture_free(f);
}

/* Intervals across the window's edges are clipped; the histogram takes the
 * whole of one that ends inside. */
static void law1_window_edges(void **state)
{
	struct tmigr_rec recs[] = {
		rec_idle(600, 0, 1),
		rec_idle(1100, 0, -1),
		rec_idle(1900, 0, 0),
		rec_idle(2500, 0, -1),
		rec_about(1200, 0, TMIGR_REC_IDLE_MISS, 1, 1),
		rec_about(1300, 0, TMIGR_REC_IDLE_MISS, 0, 0),
		rec_about(2000, 0, TMIGR_REC_IDLE_MISS, 0, 0),
	};
	struct fixture *f = RUN(machine_new(1, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->cpus[0].time_ns[STATE(1)], 100);
	assert_int_equal(f->r->cpus[0].time_ns[STATE(0)], 100);
	assert_int_equal(f->r->cpus[0].entries[STATE(1)], 0);
	assert_int_equal(f->r->cpus[0].entries[STATE(0)], 1);
	assert_int_equal(f->r->cpus[0].hist[STATE(1)][8], 1);
	assert_int_equal(f->r->cpus[0].below[STATE(1)], 1);
	assert_int_equal(f->r->cpus[0].above[STATE(0)], 1);
	assert_int_equal(f->r->records, 4);
	fixture_free(f);
}

static struct tmigr_rec rec_snap_cpu(__u64 t, unsigned int cpu, __u8 flags)
{
	struct tmigr_rec rec = rec_about(t, cpu, TMIGR_REC_SNAP_CPU, cpu, NEVER);

	rec.flags = flags;
	return rec;
}

static void expect_parts(const struct fixture *f, size_t i, __u64 active, __u64 idle, __u64 outside,
			 __u64 unknown)
{
	const __u64 *ns = f->r->cpus[i].running_ns;

	assert_int_equal(ns[TMIGR_PART_ACTIVE], active);
	assert_int_equal(ns[TMIGR_PART_IDLE], idle);
	assert_int_equal(ns[TMIGR_PART_OUTSIDE], outside);
	assert_int_equal(ns[TMIGR_PART_UNKNOWN], unknown);
}

/* What a CPU is to timer migration while it runs: a silent nohz_full one; one that
 * stops its tick, sleeps, and wakes; one that leaves and comes back; an isolated one;
 * one of which nothing is known; one with lost records. */
static void law1_running_parts(void **state)
{
	struct tmigr_topology *topo = machine_new(6, 1, 1, NULL);
	struct tmigr_rec recs[] = {
		rec_snap_cpu(500, 0, TMIGR_RF_AVAILABLE | TMIGR_RF_TMIGR_IDLE),
		rec_about(500, 0, TMIGR_REC_SNAP_IDLE, 0, TMIGR_STATE_RUNNING),
		rec_about(1200, 1, TMIGR_REC_CPU_IDLE, 1, NEVER),
		rec_idle(1300, 1, 0),
		rec_idle(1600, 1, -1),
		rec_about(1650, 1, TMIGR_REC_CPU_ACTIVE, 1, NEVER),
		rec_idle(1100, 2, 0),
		rec_idle(1150, 2, -1),
		rec_about(1200, 2, TMIGR_REC_CPU_UNAVAILABLE, 2, 0),
		rec_about(1500, 2, TMIGR_REC_CPU_AVAILABLE, 2, 0),
		rec_about(1510, 2, TMIGR_REC_CPU_ACTIVE, 2, NEVER),
		rec_snap_cpu(500, 3, 0),
		rec_idle(2500, 3, 0),
		rec_idle(1400, 4, 0),
		rec_idle(1500, 4, -1),
		rec_about(500, 5, TMIGR_REC_SNAP_IDLE, 5, TMIGR_STATE_RUNNING),
		rec_about(1100, 5, TMIGR_REC_CPU_ACTIVE, 5, NEVER),
		rec_about(1400, 5, TMIGR_REC_LOST, 1300, 3),
		rec_idle(1400, 5, 0),
		rec_idle(1600, 5, -1),
		rec_about(1700, 5, TMIGR_REC_CPU_IDLE, 5, NEVER),
	};
	struct fixture *f = RUN(topo, recs);

	(void)state;
	expect_parts(f, 0, 0, 1000, 0, 0);
	expect_parts(f, 1, 200 + 350, 100 + 50, 0, 0);
	expect_parts(f, 2, 490, 10, 300, 100 + 50);
	expect_parts(f, 3, 0, 0, 1000, 0);
	expect_parts(f, 4, 0, 0, 0, 900);
	expect_parts(f, 5, 200, 100 + 300, 0, 100);
	fixture_free(f);
}

static void law1_hotplug(void **state)
{
	struct tmigr_topology *topo = machine_new(3, 1, 1, NULL);
	struct tmigr_rec recs[] = {
		rec_about(1200, 0, TMIGR_REC_CPU_OFFLINE, 1, 0),
		rec_about(1700, 0, TMIGR_REC_CPU_ONLINE, 1, 0),
		rec_about(1500, 0, TMIGR_REC_CPU_ONLINE, 2, 0),
		rec_idle(1600, 2, 0),
	};
	struct fixture *f;

	(void)state;
	topo->cpus[2].online = false;
	f = RUN(topo, recs);
	assert_int_equal(f->r->cpus[1].time_ns[TMIGR_SLOT_OFFLINE], 500);
	assert_int_equal(f->r->cpus[1].time_ns[TMIGR_SLOT_RUNNING], 500);
	assert_int_equal(f->r->cpus[2].time_ns[TMIGR_SLOT_OFFLINE], 500);
	assert_int_equal(f->r->cpus[2].time_ns[TMIGR_SLOT_RUNNING], 100);
	assert_int_equal(f->r->cpus[2].time_ns[STATE(0)], 400);
	fixture_free(f);
}

/* Law 6: no event at all: what the snapshot said; without one, unknown. */
static void law6_silent_cpu(void **state)
{
	struct tmigr_rec recs[] = {
		rec_about(900, 0, TMIGR_REC_SNAP_IDLE, 0, 1),
		/* only the snapshot of the end saw it */
		rec_about(2100, 0, TMIGR_REC_SNAP_IDLE, 1, TMIGR_STATE_RUNNING),
		rec_about(900, 0, TMIGR_REC_SNAP_IDLE, 2, TMIGR_STATE_UNKNOWN),
	};
	struct fixture *f = RUN(machine_new(3, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->cpus[0].time_ns[STATE(1)], 1000);
	assert_int_equal(f->r->cpus[1].time_ns[TMIGR_SLOT_RUNNING], 1000);
	assert_int_equal(f->r->cpus[2].time_ns[TMIGR_SLOT_UNKNOWN], 1000);
	fixture_free(f);
}

/* Law 2, and the duty dated back to the update that left nobody. */
static void law2_duty_dated_back(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		rec_group(1200, 0, false, R0, 1, WORD(0, NOBODY, 8)),
		rec_about(1210, 0, TMIGR_REC_CPU_IDLE, 0, 5000),
		rec_about(1400, 1, TMIGR_REC_HANDLE_REMOTE_CPU, 0, 0),
		rec_group(1500, 1, true, R0, 2, WORD(2, 2, 9)),
		rec_group(1700, 1, false, R0, 2, WORD(0, NOBODY, 10)),
		rec_about(1720, 1, TMIGR_REC_CPU_IDLE, 1, NEVER),
		rec_group(1900, 0, true, R0, 1, WORD(1, 1, 11)),
		rec_group(1990, 0, false, R0, 1, WORD(0, NOBODY, 12)),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);
	const struct tmigr_root_figures *root = f->r->roots;

	(void)state;
	assert_int_equal(f->n_segs, 7);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 1200);
	expect_segment(f, 1, TMIGR_DUTY, -1, 1200, 1400);
	expect_segment(f, 2, TMIGR_FREE, -1, 1400, 1500);
	expect_segment(f, 3, TMIGR_HELD, 1, 1500, 1700);
	expect_segment(f, 4, TMIGR_FREE, -1, 1700, 1900);
	expect_segment(f, 5, TMIGR_HELD, 0, 1900, 1990);
	/* the end came before the CPU said */
	expect_segment(f, 6, TMIGR_UNKNOWN, -1, 1990, 2000);
	assert_int_equal(root->n_holders, 2);
	assert_int_equal(root->holders[0].held_ns, 290);
	assert_int_equal(root->holders[0].holdings, 2);
	assert_int_equal(root->holders[0].longest_ns, 200);
	fixture_free(f);
}

/* A CPU of unknown duty makes "nobody" unknown, unless another has one. */
static void duty_unknown(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		/* CPU 2 is in no known place */
		rec_group(1200, 0, false, R0, 1, WORD(0, NOBODY, 8)),
		rec_about(1200, 0, TMIGR_REC_CPU_IDLE, 0, NEVER),
		rec_about(1300, 1, TMIGR_REC_CPU_NEW_TIMER_IDLE, 1, 9000),
		rec_about(1400, 1, TMIGR_REC_DUTY, 1, NEVER),
		rec_about(1500, 2, TMIGR_REC_CPU_ACTIVE, 2, NEVER),
		rec_about(1600, 1, TMIGR_REC_DUTY, 1, 9000),
		rec_about(1700, 1, TMIGR_REC_CPU_UNAVAILABLE, 1, 0),
	};
	struct fixture *f = RUN(machine_new(3, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 7);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 1200);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, 1200, 1300);
	expect_segment(f, 2, TMIGR_DUTY, -1, 1300, 1400);
	expect_segment(f, 3, TMIGR_UNKNOWN, -1, 1400, 1500);
	expect_segment(f, 4, TMIGR_FREE, -1, 1500, 1600);
	expect_segment(f, 5, TMIGR_DUTY, -1, 1600, 1700);
	expect_segment(f, 6, TMIGR_FREE, -1, 1700, 2000);
	fixture_free(f);
}

static void hand_over(void **state)
{
	struct tmigr_rec recs[] = {
		TWO_LEVELS(WORD(1, 1, 3), WORD(2, 2, 5), WORD(3, 1, 9)),
		rec_group(1100, 0, false, G0, 1, WORD(0, NOBODY, 4)),
		rec_group(1130, 0, false, TOP, 1, WORD(2, 2, 10)),
		rec_about(1140, 0, TMIGR_REC_CPU_IDLE, 0, NEVER),
		rec_idle(1150, 3, 1),
	};
	struct fixture *f = RUN(machine_new(4, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 3);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 1100);
	expect_segment(f, 1, TMIGR_HANDOVER, -1, 1100, 1130);
	expect_segment(f, 2, TMIGR_HELD, 3, 1130, 2000);
	/* what the holder was in: not dated back, unlike residency */
	assert_int_equal(f->r->roots[0].holders[1].slot_ns[TMIGR_SLOT_UNKNOWN], 20);
	assert_int_equal(f->r->roots[0].holders[1].slot_ns[STATE(1)], 850);
	fixture_free(f);
}

/* CPUs 0, 1 are of the lower class.  CPU 3 holds; CPU 0 is active for 300, CPU 2 for 400.
 * @guessed: a CPU whose class is a guess, or -1. */
static struct fixture *run_avoidable(int guessed)
{
	unsigned int class_of[] = {0, 0, 1, 1};
	struct tmigr_topology *topo = machine_new(4, 1, 2, class_of);
	struct tmigr_rec recs[] = {
		TWO_LEVELS(WORD(0, NOBODY, 3), WORD(2, 2, 5), WORD(2, 2, 9)),
		rec_group(1100, 0, true, G0, 1, WORD(1, 1, 4)),
		rec_group(1101, 0, true, TOP, 1, WORD(3, 2, 10)),
		rec_group(1400, 0, false, G0, 1, WORD(0, NOBODY, 5)),
		rec_group(1401, 0, false, TOP, 1, WORD(2, 2, 11)),
		/* of the same class: not avoidable */
		rec_group(1600, 2, true, G1, 1, WORD(3, 2, 6)),
	};
	struct fixture *f;

	if (guessed >= 0)
		topo->cpus[guessed].class_guessed = true;
	f = RUN(topo, recs);
	assert_int_equal(f->r->roots[0].n_holders, 1);
	assert_int_equal(f->r->roots[0].holders[0].cpu, 3);
	assert_int_equal(f->r->roots[0].holders[0].held_ns, 1000);
	return f;
}

static void avoidable(void **state)
{
	/* a guess; avoidable; not known */
	static const int expected[][3] = {
		{-1, 300, 0}, {0, 0, 300}, {1, 300, 0}, {2, 300, 400}, {3, 0, 700}};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		struct fixture *f = run_avoidable(expected[i][0]);

		assert_int_equal(f->r->roots[0].holders[0].avoidable_ns, expected[i][1]);
		assert_int_equal(f->r->roots[0].holders[0].avoidable_unknown_ns, expected[i][2]);
		fixture_free(f);
	}
}

static struct tmigr_rec rec_remote(__u64 t, unsigned int executor, unsigned int target, bool idle)
{
	struct tmigr_rec r = rec_about(t, executor, TMIGR_REC_HANDLE_REMOTE_CPU, target, 0);

	r.flags = idle ? TMIGR_RF_IDLE_TASK : 0;
	return r;
}

static void remote_matrix(void **state)
{
	struct tmigr_rec recs[] = {
		rec_idle(900, 0, 1),
		rec_remote(1050, 0, 1, true), /* in the interval that is open */
		rec_idle(1100, 0, -1),
		rec_remote(1110, 0, 1, true), /* not the first */
		rec_idle(1200, 0, 0),
		rec_idle(1300, 0, -1),
		rec_remote(1305, 0, 2, false), /* not the idle task */
		rec_remote(1310, 0, 1, true),
		rec_remote(1400, 1, 1, true), /* its state was never seen */
		rec_remote(1500, 1, 0, true),
		rec_remote(999, 1, 2, false),
		rec_remote(2000, 1, 2, false),
	};
	struct fixture *f = RUN(machine_new(3, 1, 1, NULL), recs);
	const struct tmigr_remote *e = f->r->remote;

	(void)state;
	assert_int_equal(f->r->n_remote, 4);
	assert_true(e[0].executor == 0 && e[0].target == 1 && e[0].count == 3);
	assert_int_equal(e[0].woke[STATE(1)], 1);
	assert_int_equal(e[0].woke[STATE(0)], 1);
	assert_true(e[1].executor == 0 && e[1].target == 2 && e[1].count == 1);
	assert_true(e[2].executor == 1 && e[2].target == 0 && e[2].count == 1);
	assert_int_equal(e[2].woke[TMIGR_SLOT_UNKNOWN], 0);
	assert_true(e[3].executor == 1 && e[3].target == 1 && e[3].count == 1);
	assert_int_equal(e[3].woke[TMIGR_SLOT_UNKNOWN], 1);
	fixture_free(f);
}

/* CPUs that the topology has not, groups that nothing tells of, state numbers
 * that no kernel has: unknown, and the sums hold. */
static void unknown_cpus_and_groups(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(4, 4, 7)),
		rec_node_cpu(500, R0, 77, 4),
		rec_idle(1100, 77, 1),
		rec_idle(1200, 0, 10),
		rec_idle(1300, 0, 4000000),
		rec_group(1350, 77, true, G0, 1, WORD(1, 1, 1)),
		rec_group(1400, 77, false, R0, 4, WORD(0, NOBODY, 8)),
		rec_about(1500, 77, TMIGR_REC_CPU_IDLE, 77, NEVER),
		rec_remote(1600, 77, 78, true),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 1);
	expect_segment(f, 0, TMIGR_UNKNOWN, -1, 1000, 2000);
	assert_int_equal(f->r->cpus[0].time_ns[TMIGR_SLOT_UNKNOWN], 800);
	assert_int_equal(f->r->remote[0].woke[TMIGR_SLOT_UNKNOWN], 1);
	fixture_free(f);
}

static void bad_calls(void **state)
{
	struct tmigr_topology *topo = machine_new(1, 1, 1, NULL);
	struct tmigr_model_cfg cfg = {.topo = topo, .start_ns = S};
	struct tmigr_rec recs[] = {rec_idle(1100, 0, 0), {.type = 99}};
	struct tmigr_model *m;

	(void)state;
	assert_int_equal(tmigr_model_new(&cfg, &m), 0);
	assert_int_equal(tmigr_model_feed(m, recs, 2), -EINVAL);
	assert_int_equal(tmigr_model_finish(m, 999), -EINVAL);
	assert_int_equal(tmigr_model_finish(m, 2000), 0);
	assert_int_equal(tmigr_model_finish(m, 2000), -EINVAL);
	assert_int_equal(tmigr_model_feed(m, recs, 1), -EINVAL);
	/* nothing of the refused batch was taken */
	assert_int_equal(tmigr_model_result(m)->records, 0);
	tmigr_model_free(m);
	tmigr_model_free(NULL);
	machine_free(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(law1_residency),
		cmocka_unit_test(law1_window_edges),
		cmocka_unit_test(law1_running_parts),
		cmocka_unit_test(law1_hotplug),
		cmocka_unit_test(law6_silent_cpu),
		cmocka_unit_test(law2_duty_dated_back),
		cmocka_unit_test(duty_unknown),
		cmocka_unit_test(hand_over),
		cmocka_unit_test(avoidable),
		cmocka_unit_test(remote_matrix),
		cmocka_unit_test(unknown_cpus_and_groups),
		cmocka_unit_test(bad_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
