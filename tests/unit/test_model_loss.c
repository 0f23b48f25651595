// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Order of the updates, and what a loss makes unknown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/model_internal.h"
#include "../lib/fixture.h"

#define MS 1000000ULL

static struct tmigr_rec rec_lost(__u64 t, unsigned int cpu, __u64 n, __u64 from)
{
	return (struct tmigr_rec){.t_ns = t, .cpu = cpu, .type = TMIGR_REC_LOST, .a = n, .b = from};
}

static struct tmigr_rec rec_clean(__u64 t)
{
	return (struct tmigr_rec){.t_ns = t, .type = TMIGR_REC_CLEAN};
}

/* The older update is stamped later than the newer one: it took place before. */
static void order_of_seq(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(2, 2, 7)),
		rec_group(1200, 1, true, R0, 1, WORD(3, 2, 9)),
		rec_group(1250, 0, false, R0, 1, WORD(2, 2, 8)),
		rec_group(1300, 1, false, R0, 2, WORD(1, 1, 10)),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 2);
	expect_segment(f, 0, TMIGR_HELD, 1, 1000, 1300);
	expect_segment(f, 1, TMIGR_HELD, 0, 1300, 2000);
	assert_int_equal(f->r->lost_updates, 0);
	assert_int_equal(f->r->late_updates, 0);
	fixture_free(f);
}

/* File order would end at "nobody"; seq says that CPU 0 holds. */
static void order_of_record_is_not_order_of_words(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(2, 2, 7)),
		rec_group(1200, 0, true, R0, 1, WORD(1, 1, 9)),
		rec_group(1201, 1, false, R0, 2, WORD(0, NOBODY, 8)),
		rec_about(1210, 1, TMIGR_REC_CPU_IDLE, 1, NEVER),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 2);
	expect_segment(f, 0, TMIGR_HELD, 1, 1000, 1200);
	expect_segment(f, 1, TMIGR_HELD, 0, 1200, 2000);
	fixture_free(f);
}

/* The look-ahead's edge: at its very end an update is taken, beyond it is lost
 * and comes late. */
static void look_ahead_edge(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(2, 2, 7)),
		rec_group(MS, 1, true, R0, 2, WORD(3, 2, 9)),
		rec_group(MS + TMIGR_LOOKAHEAD_NS, 0, true, R0, 1, WORD(1, 1, 8)),
		rec_group(200 * MS, 1, true, R0, 2, WORD(3, 2, 11)),
		rec_group(200 * MS + TMIGR_LOOKAHEAD_NS + 1, 0, true, R0, 1, WORD(1, 1, 10)),
	};
	struct fixture *f = fixture_window(machine_new(2, 1, 1, NULL), recs,
					   sizeof(recs) / sizeof(*recs), S, 400 * MS);

	(void)state;
	assert_int_equal(f->r->lost_updates, 1);
	assert_int_equal(f->r->late_updates, 1);
	assert_int_equal(f->n_segs, 3);
	expect_segment(f, 0, TMIGR_HELD, 1, S, MS);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, MS, 200 * MS);
	expect_segment(f, 2, TMIGR_HELD, 1, 200 * MS, 400 * MS);
	fixture_free(f);
}

/* Law 3: the distance of seq is the number of lost updates, and what depended on
 * the word is unknown from the last known update on. */
static void law3_gap(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 0xfffe)),
		rec_group(1200, 1, true, R0, 2, WORD(3, 1, 0xffff)),
		rec_group(1500, 0, false, R0, 1, WORD(2, 2, 3)),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->lost_updates, 3);
	assert_int_equal(f->n_segs, 3);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 1200);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, 1200, 1500);
	expect_segment(f, 2, TMIGR_HELD, 1, 1500, 2000);
	fixture_free(f);
}

/* A CLEAN bounds how far back the loss can reach; a LOST before it opens that
 * again. */
static void law3_clean_and_lost(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		rec_clean(1400),
		rec_group(1500, 0, true, R0, 1, WORD(1, 1, 10)),
		rec_clean(1600),
		rec_lost(1700, 1, 5, 1620),
		rec_clean(1710),
		rec_group(1900, 0, true, R0, 1, WORD(1, 1, 12)),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->lost_updates, 3);
	assert_int_equal(f->r->lost_records, 5);
	assert_int_equal(f->n_segs, 5);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 1400);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, 1400, 1500);
	expect_segment(f, 2, TMIGR_HELD, 0, 1500, 1620);
	expect_segment(f, 3, TMIGR_UNKNOWN, -1, 1620, 1900);
	expect_segment(f, 4, TMIGR_HELD, 0, 1900, 2000);
	fixture_free(f);
}

/* An update that a later one shows behind the window's end, its own record not among those
 * read: with a CLEAN at the end it took effect after it, without one it is lost. */
static void law3_clean_at_the_end(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		rec_clean(1400),
		rec_group(1500, 0, true, R0, 1, WORD(1, 1, 8)),
		rec_clean(2000),
		rec_group(2050, 1, true, R0, 2, WORD(1, 3, 10)),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->lost_updates, 0);
	assert_int_equal(f->n_segs, 1);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 2000);
	fixture_free(f);

	recs[sizeof(recs) / sizeof(*recs) - 2] = rec_clean(1450);
	f = RUN(machine_new(2, 1, 1, NULL), recs);
	assert_int_equal(f->r->lost_updates, 1);
	assert_int_equal(f->n_segs, 2);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 1500);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, 1500, 2000);
	fixture_free(f);
}

/* A loss in a group that the way to the holder does not pass leaves the holder
 * alone; whether the holding was avoidable is what gets unknown. */
static void law3_beside_the_way(void **state)
{
	unsigned int class_of[] = {0, 0, 1, 1};
	struct tmigr_rec recs[] = {
		TWO_LEVELS(WORD(1, 1, 3), WORD(2, 2, 5), WORD(3, 2, 9)),
		rec_group(1600, 1, true, G0, 2, WORD(3, 1, 6)),
	};
	struct fixture *f = RUN(machine_new(4, 1, 2, class_of), recs);

	(void)state;
	assert_int_equal(f->r->lost_updates, 2);
	assert_int_equal(f->n_segs, 1);
	expect_segment(f, 0, TMIGR_HELD, 3, 1000, 2000);
	assert_int_equal(f->r->roots[0].holders[0].avoidable_ns, 400);
	assert_int_equal(f->r->roots[0].holders[0].avoidable_unknown_ns, 600);
	fixture_free(f);
}

/* After a LOST the next update decides: no gap, nothing was lost of the group.
 * What the CPU itself would have told stays unknown. */
static void lost_without_gap(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(3, 1, 7)),
		rec_about(900, 0, TMIGR_REC_SNAP_IDLE, 0, TMIGR_STATE_RUNNING),
		rec_idle(1100, 0, 1),
		rec_lost(1300, 0, 2, 1200),
		rec_idle(1400, 0, -1),
		rec_group(1500, 1, false, R0, 2, WORD(1, 1, 8)),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);
	const struct tmigr_holder *h = f->r->roots[0].holders;

	(void)state;
	assert_int_equal(f->n_segs, 1);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 2000);
	assert_int_equal(f->r->lost_updates, 0);
	assert_int_equal(h->slot_ns[TMIGR_SLOT_RUNNING], 700);
	assert_int_equal(h->slot_ns[TMIGR_SLOT_STATE0 + 1], 100);
	assert_int_equal(h->slot_ns[TMIGR_SLOT_UNKNOWN], 200);
	assert_int_equal(f->r->cpus[0].time_ns[TMIGR_SLOT_UNKNOWN], 200);
	fixture_free(f);
}

/* No update follows a LOST: unknown until the end, unless a snapshot of the end
 * confirms the word. */
static void lost_tail(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(3, 1, 7)),
		rec_lost(1300, 1, 2, 1200),
		rec_snap_group(2100, R0, WORD(3, 1, 7)),
	};
	size_t n = sizeof(recs) / sizeof(*recs);
	struct fixture *f;

	(void)state;
	f = RUN(machine_new(2, 1, 1, NULL), recs);
	assert_int_equal(f->n_segs, 1);
	fixture_free(f);
	f = fixture_run(machine_new(2, 1, 1, NULL), recs, n - 1);
	assert_int_equal(f->n_segs, 2);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 1200);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, 1200, 2000);
	fixture_free(f);
}

/* Nothing told of the loss but the end's snapshot.  An update after the end is
 * counted by its seq, so it is not mistaken for a loss. */
static void tail_revealed_by_end_snapshot(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(3, 1, 7)),
		rec_clean(1500),
		rec_group(2050, 0, false, R0, 1, WORD(2, 2, 8)),
		rec_snap_group(2100, R0, WORD(2, 2, 8)),
		rec_snap_group(2200, R0, WORD(2, 2, 8)),
	};
	size_t n = sizeof(recs) / sizeof(*recs);
	struct fixture *f;

	(void)state;
	f = RUN(machine_new(2, 1, 1, NULL), recs);
	assert_int_equal(f->n_segs, 1);
	assert_int_equal(f->r->lost_updates, 0);
	fixture_free(f);
	recs[n - 3] = rec_clean(1400);
	f = RUN(machine_new(2, 1, 1, NULL), recs);
	assert_int_equal(f->r->lost_updates, 1);
	assert_int_equal(f->n_segs, 2);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, 1500, 2000);
	fixture_free(f);
}

/* LOST makes "nobody" unknown, and the duty that was due. */
static void lost_duty(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		rec_group(1200, 0, false, R0, 1, WORD(0, NOBODY, 8)),
		rec_lost(1300, 0, 1, 1250),
		rec_about(1400, 0, TMIGR_REC_CPU_NEW_TIMER_IDLE, 0, 9999),
		rec_snap_group(1500, R0, WORD(0, NOBODY, 8)),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 3);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, 1200, 1400);
	expect_segment(f, 2, TMIGR_DUTY, -1, 1400, 2000);
	assert_int_equal(f->r->lost_updates, 0);
	fixture_free(f);
}

/* A CPU whose records are lost may have expired another one's timers, and with
 * them its duty. */
static void lost_ends_duties_of_others(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		rec_about(900, 1, TMIGR_REC_CPU_NEW_TIMER_IDLE, 1, 8000),
		rec_group(1200, 0, false, R0, 1, WORD(0, NOBODY, 8)),
		rec_about(1200, 0, TMIGR_REC_CPU_IDLE, 0, NEVER),
		rec_lost(1400, 0, 1, 1300),
		rec_about(1410, 0, TMIGR_REC_CPU_NEW_TIMER_IDLE, 0, NEVER),
		rec_snap_group(1450, R0, WORD(0, NOBODY, 8)),
		rec_about(1500, 1, TMIGR_REC_SNAP_CPU, 1, 8000),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 4);
	expect_segment(f, 1, TMIGR_DUTY, -1, 1200, 1300);
	expect_segment(f, 2, TMIGR_UNKNOWN, -1, 1300, 1500);
	expect_segment(f, 3, TMIGR_DUTY, -1, 1500, 2000);
	fixture_free(f);
}

/* Records of a CPU whose place is not known: any root may have lost an update. */
static void lost_of_unknown_cpu(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(0, NOBODY, 7)),
		rec_node_group(500, G0, 0, 0, 1),
		rec_node_cpu(500, G0, 2, 1),
		rec_snap_group(500, G0, WORD(1, 1, 1)),
		rec_clean(1200),
		rec_lost(1300, 77, 4, 1200),
		rec_snap_group(1600, R0, WORD(0, NOBODY, 7)),
		rec_group(1700, 2, true, G0, 1, WORD(1, 1, 3)),
	};
	struct fixture *f = RUN(machine_new(3, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->lost_records, 4);
	assert_int_equal(f->r->lost_updates, 1);
	assert_int_equal(f->n_segs, 6);
	expect_segment(f, 0, TMIGR_FREE, -1, 1000, 1200);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, 1200, 1300);
	expect_segment(f, 2, TMIGR_FREE, -1, 1300, 2000);
	expect_segment(f, 3, TMIGR_HELD, 2, 1000, 1200);
	expect_segment(f, 4, TMIGR_UNKNOWN, -1, 1200, 1700);
	expect_segment(f, 5, TMIGR_HELD, 2, 1700, 2000);
	fixture_free(f);
}

/* A snapshot that reads a CPU between its last group and its CPU_IDLE must not
 * decide the duty that is due. */
static void snapshot_while_duty_is_due(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		rec_group(1200, 0, false, R0, 1, WORD(0, NOBODY, 8)),
		rec_about(1250, 1, TMIGR_REC_SNAP_CPU, 0, NEVER),
		rec_about(1300, 0, TMIGR_REC_CPU_IDLE, 0, 5000),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 2);
	expect_segment(f, 1, TMIGR_DUTY, -1, 1200, 2000);
	fixture_free(f);
}

/* A snapshot with an older word than the updates is no news; with a newer one
 * it tells of lost updates. */
static void snapshots_in_the_window(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		rec_group(1200, 1, true, R0, 2, WORD(3, 1, 8)),
		rec_snap_group(1300, R0, WORD(1, 1, 7)),
		/* confirms, so the next loss is after it */
		rec_snap_group(1400, R0, WORD(3, 1, 8)),
		rec_snap_group(1600, R0, WORD(2, 2, 10)),
	};
	struct fixture *f = RUN(machine_new(2, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->lost_updates, 2);
	assert_int_equal(f->n_segs, 3);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 1400);
	expect_segment(f, 1, TMIGR_UNKNOWN, -1, 1400, 1600);
	expect_segment(f, 2, TMIGR_HELD, 1, 1600, 2000);
	fixture_free(f);
}

/* Without a snapshot a root is unknown until its first update. */
static void start_in_the_middle(void **state)
{
	struct tmigr_rec recs[] = {
		rec_node_group(1100, R0, 0, 0, 1),
		rec_node_cpu(1100, R0, 0, 1),
		rec_group(1300, 0, true, R0, 1, WORD(1, 1, 500)),
	};
	struct fixture *f = RUN(machine_new(1, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 2);
	expect_segment(f, 0, TMIGR_UNKNOWN, -1, 1000, 1300);
	expect_segment(f, 1, TMIGR_HELD, 0, 1300, 2000);
	assert_int_equal(f->r->lost_updates, 0);
	fixture_free(f);
}

/* 200,000 updates of one group: seq wraps three times. CLEAN comes now and then
 * and the model's memory does not grow with the window. */
static void seq_wraps(void **state)
{
	struct tmigr_rec head[] = {ONE_ROOT(WORD(1, 1, 0xff00))};
	struct fixture f = {.topo = machine_new(2, 1, 1, NULL)};
	struct tmigr_model_cfg cfg = {
		.topo = f.topo, .start_ns = S, .segment = fixture_segment, .arg = &f};
	size_t cap_held = 0, cap_log = 0;
	__u64 t = 2000, held;
	__u16 seq = 0xff00;

	(void)state;
	assert_int_equal(tmigr_model_new(&cfg, &f.m), 0);
	assert_int_equal(tmigr_model_feed(f.m, head, sizeof(head) / sizeof(*head)), 0);
	for (unsigned int i = 0; i < 200000; i++, t += 5000) {
		bool one = i & 1;
		struct tmigr_rec rec =
			rec_group(t, one, true, R0, 1 << one, WORD(1 << one, 1 << one, ++seq));

		assert_int_equal(tmigr_model_feed(f.m, &rec, 1), 0);
		if (i % 1000)
			continue;
		rec = rec_clean(t);
		assert_int_equal(tmigr_model_feed(f.m, &rec, 1), 0);
		assert_int_equal(tmigr_model_advance(f.m, t), 0);
		if (i == 60000) {
			cap_held = f.m->cap_held;
			cap_log = f.m->roots[0].cap_log;
		}
	}
	assert_int_equal(f.m->cap_held, cap_held);
	assert_int_equal(f.m->roots[0].cap_log, cap_log);
	assert_int_equal(tmigr_model_finish(f.m, t), 0);
	f.r = tmigr_model_result(f.m);
	assert_true(fixture_sums_hold(f.r));
	assert_int_equal(f.r->lost_updates, 0);
	assert_int_equal(f.n_segs, 200000);
	held = f.r->roots[0].holders[1].held_ns;
	assert_int_equal(held, 100000 * 5000ULL);
	tmigr_model_free(f.m);
	machine_free(f.topo);
	free(f.segs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_of_seq),
		cmocka_unit_test(order_of_record_is_not_order_of_words),
		cmocka_unit_test(look_ahead_edge),
		cmocka_unit_test(law3_gap),
		cmocka_unit_test(law3_clean_and_lost),
		cmocka_unit_test(law3_clean_at_the_end),
		cmocka_unit_test(law3_beside_the_way),
		cmocka_unit_test(lost_without_gap),
		cmocka_unit_test(lost_tail),
		cmocka_unit_test(tail_revealed_by_end_snapshot),
		cmocka_unit_test(lost_duty),
		cmocka_unit_test(lost_ends_duties_of_others),
		cmocka_unit_test(lost_of_unknown_cpu),
		cmocka_unit_test(snapshot_while_duty_is_due),
		cmocka_unit_test(snapshots_in_the_window),
		cmocka_unit_test(start_in_the_middle),
		cmocka_unit_test(seq_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
