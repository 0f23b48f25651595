// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of one group's updates, on a handful of them: what is legal, what is best
 * and what is told of losses, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sequencer_story.h"

static void late_stamp_is_put_in_order(void **state)
{
	(void)state;
	up(100, 0, 1, 1);
	down(205, 0, 0, NONE); /* stamped late */
	up(200, 1, 2, 2);
	sequence();
	assert_int_equal(seq_of(100, 0), SEQ_BASE + 1);
	assert_int_equal(seq_of(205, 0), SEQ_BASE + 2);
	assert_int_equal(seq_of(200, 1), SEQ_BASE + 3);
	assert_stats(2, 0, 0);
}

/* ... but no later than events are held. */
static void later_than_that_is_not(void **state)
{
	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		n_evs = 0;
		up(100, 0, 1, 1);
		other(190, 1);
		down(200 + TMIGR_SEQUENCER_HOLD_NS + late, 0, 0, NONE);
		up(200, 1, 2, 2);
		sequence();
		assert_int_equal(stats.moved, late ? 0 : 2);
		assert_int_equal(stats.breaks, late ? 2 : 0);
	}
}

/* With stamps of microseconds: CPU 1's may be of before CPU 0's, as its event before has
 * the very stamp. */
static void equal_stamps_may_be_either_way(void **state)
{
	(void)state;
	up(100, 0, 1, 1);
	other(200, 1);
	down(200, 0, 2, 2);
	up(205, 1, 3, 1);
	sequence();
	assert_int_equal(seq_of(205, 1), SEQ_BASE + 2);
	assert_int_equal(seq_of(200, 0), SEQ_BASE + 3);
	assert_stats(2, 0, 0);
}

/* Of those whose stamps don't fit two orders do, and end in another migrator each: which
 * it was is told by the update after them. */
static void next_update_decides(void **state)
{
	(void)state;
	for (unsigned int by = 1; by <= 2; by++) {
		n_evs = 0;
		up(50, 3, 8, 8);
		down(60, 3, 0, NONE);
		other(70, 0);
		other(70, 1);
		up(101, 0, 1, 1);
		up(100, 1, 3, 1);
		down(120, 0, 2, 2);
		up(120, 0, 3, 2);
		down(120, 1, 1, 1);
		up(120, 1, 3, 1);
		other(125, 2);
		up(130, 2, 7, by);
		sequence();
		assert_int_equal(stats.odd + stats.breaks, 0);
	}
}

/* Two orders fit, that of the stamps too: the same. */
static void next_update_decides_where_stamps_fit(void **state)
{
	(void)state;
	for (unsigned int by = 1; by <= 2; by++) {
		n_evs = 0;
		up(50, 0, 1, 1);
		up(60, 1, 3, 1);
		other(70, 2);
		down(120, 0, 2, 2);
		up(120, 0, 3, 2);
		down(120, 1, 1, 1);
		up(120, 2, 5, 1);
		up(121, 1, 7, 1);
		down(122, 2, 3, 1);
		other(125, 3);
		up(130, 3, 0xb, by);
		sequence();
		assert_int_equal(stats.moved > 0, by == 2);
		assert_int_equal(stats.odd + stats.breaks, 0);
	}
}

/* Nobody knows what follows the word before a loss, so nothing is moved over it. */
static void nothing_is_searched_over_a_loss(void **state)
{
	(void)state;
	up(100, 1, 2, 2);
	other(150, 0);
	up(200, 0, 1, 1);
	down(210, 0, 0, NONE);
	other(250, 1);
	down(300, 1, 0, NONE); /* would fit before CPU 0's two, were clocks apart */
	event(TMIGR_TRACED_LOST, 350, 2)->value = 1;
	up(400, 3, 8, 8); /* reaches back to all */
	sequence();
	assert_stats(0, 0, 2);
	assert_int_equal(seq_of(400, 3), seq_of(300, 1) + 2);
}

/* Above level 0 an update may change nothing but seq: the child turned round meanwhile. */
static void above_level_0_bits_may_stay(void **state)
{
	static const struct {
		unsigned int type, cpu, active, migrator;
	} steps[] = {
		{TMIGR_TRACED_GROUP_ACTIVE, 0, 1, 1},
		{TMIGR_TRACED_GROUP_INACTIVE, 0, 1, 1}, /* active again already */
		{TMIGR_TRACED_GROUP_ACTIVE, 0, 1, 1},	/* and that one */
		{TMIGR_TRACED_GROUP_ACTIVE, 1, 3, 1},
		{TMIGR_TRACED_GROUP_INACTIVE, 1, 1, 1},
		{TMIGR_TRACED_GROUP_INACTIVE, 1, 1, 1},
	};

	(void)state;
	for (unsigned int level = 0; level < 2; level++) {
		n_evs = 0;
		for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			__u64 t_ns = 100 + 10 * i;

			other(t_ns - 5, steps[i].cpu);
			update(steps[i].type, t_ns, steps[i].cpu, steps[i].active,
			       steps[i].migrator);
			evs[n_evs - 1].level = (__u8)level;
		}
		sequence();
		assert_stats(0, 0, level ? 0 : 3);
	}
}

/* Who takes over is the kernel's policy, but it is one who is awake. */
static void who_takes_over(void **state)
{
	static const struct {
		unsigned int migrator, odd;
	} to[] = {{2, 0}, {4, 0}, {8, 1}, {NONE, 1}};

	(void)state;
	for (unsigned int i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		n_evs = 0;
		up(100, 0, 1, 1);
		up(200, 1, 3, 1);
		up(300, 2, 7, 1);
		down(400, 0, 6, to[i].migrator);
		sequence();
		assert_stats(0, to[i].odd, 0);
	}
}

/* A word that cannot follow leaves room for what is missing: its time is unknown. */
static void missing_update_leaves_a_gap(void **state)
{
	(void)state;
	up(100, 0, 1, 1);
	other(190, 1);
	other(190, 0);
	down(200, 1, 1, 1); /* CPU 1 was never told to be active */
	down(300, 0, 0, NONE);
	sequence();
	assert_int_equal(seq_of(200, 1), seq_of(100, 0) + 2);
	assert_int_equal(seq_of(300, 0), seq_of(200, 1) + 1);
	assert_stats(0, 0, 1);
}

/* Nothing is known of the word over a loss: no update after it is wrong, and none is
 * the direct successor of the one before, whether it would fit or not. */
static void loss_makes_the_word_unknown(void **state)
{
	static const struct {
		unsigned int active, migrator;
	} next[] = {{3, 1}, {0xe, 8}};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		n_evs = 0;
		up(100, 0, 1, 1);
		event(TMIGR_TRACED_LOST, 150, 1)->value = 1;
		up(200, 1, next[i].active, next[i].migrator);
		sequence();
		assert_int_equal(seq_of(200, 1), seq_of(100, 0) + 2);
		assert_stats(0, 0, 0);
	}
}

/* Before the first update nothing is missing that anybody could know of. */
static void loss_before_all_is_no_gap(void **state)
{
	(void)state;
	event(TMIGR_TRACED_LOST, 50, 0)->value = 1;
	up(100, 0, 1, 1);
	sequence();
	assert_int_equal(seq_of(100, 0), SEQ_BASE + 1);
}

/* Only its own CPU's next update reaches back to each of CPU 0's: that is no reason to
 * look for another order, even where one would fit. */
static void own_successor_does_not_overtake(void **state)
{
	(void)state;
	up(100, 1, 2, 2);
	other(150, 0);
	up(200, 0, 1, 1);
	down(210, 0, 0, NONE);
	other(250, 1);
	down(300, 1, 0, NONE);
	sequence();
	assert_int_equal(seq_of(200, 0), seq_of(100, 1) + 2);
	assert_int_equal(seq_of(210, 0), seq_of(200, 0) + 1);
	assert_int_equal(seq_of(300, 1), seq_of(210, 0) + 2);
	assert_stats(0, 0, 2);
}

/* A CPU's own updates stay in order, though the words would fit the other way round. */
static void cpus_own_order_stays(void **state)
{
	(void)state;
	up(100, 1, 2, 2);
	down(110, 1, 0, NONE);
	other(150, 0);
	other(150, 2);
	down(200, 0, 0, NONE);
	up(210, 0, 1, 1);
	up(220, 2, 5, 1); /* reaches back to both */
	sequence();
	assert_int_equal(seq_of(200, 0), seq_of(110, 1) + 2);
	assert_int_equal(seq_of(210, 0), seq_of(200, 0) + 1);
	assert_stats(0, 0, 1);
}

/* The order that fits best would have CPU 1 before an event that it came after. */
static void intervals_are_kept_where_they_can(void **state)
{
	(void)state;
	up(100, 0, 1, 1);
	down(200, 0, 0, NONE);
	other(202, 1);
	up(203, 1, 2, 2);
	up(210, 2, 6, 2);   /* reaches back to all: a cluster */
	down(204, 1, 4, 1); /* odd: the migrator is none of the active */
	sequence();
	assert_true(seq_of(200, 0) < seq_of(203, 1));
}

/* Where no order fits the stamps, clocks of CPUs may be apart. */
static void clocks_may_be_apart(void **state)
{
	(void)state;
	up(100, 1, 2, 2);
	other(150, 0);
	up(200, 0, 1, 1);
	down(210, 0, 0, NONE);
	other(250, 1);
	down(300, 1, 0, NONE); /* before CPU 0's two, by the words */
	up(310, 2, 4, 4);
	sequence();
	assert_int_equal(seq_of(300, 1), seq_of(100, 1) + 1);
	assert_int_equal(seq_of(200, 0), seq_of(300, 1) + 1);
	assert_int_equal(seq_of(310, 2), SEQ_BASE + 5);
	assert_int_equal(stats.breaks, 0);
}

/* CPUs 0 and 1 take turns, in stamps @t0 + 10 i; those at @swapped and after it have
 * each other's. */
static void turns(unsigned int n, const unsigned int *swapped, size_t n_swapped)
{
	__u64 t_ns[MAX];

	for (unsigned int i = 0; i < n; i++)
		t_ns[i] = 1000 + 10 * i;
	for (size_t k = 0; k < n_swapped; k++) {
		t_ns[swapped[k]] += 10;
		t_ns[swapped[k] + 1] -= 10;
	}
	for (unsigned int i = 0; i < n; i++) {
		__u32 cpu = i / 2 % 2;

		if (i % 2)
			down(t_ns[i], cpu, 0, NONE);
		else
			up(t_ns[i], cpu, 1u << cpu, 1u << cpu);
	}
}

/* More than can be searched at once, all of which the last one reaches into.  What is
 * behind the part that is searched may come before its end. */
static void long_cluster_is_searched_in_parts(void **state)
{
	static const unsigned int swapped[] = {3, 15, 31, 41};
	const __u64 n = 48;

	(void)state;
	turns((unsigned int)n, swapped, 4);
	up(2000, 2, 4, 4);
	sequence();
	assert_int_equal(stats.breaks, 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(seq_of(evs[i].t_ns, evs[i].cpu), SEQ_BASE + 1 + i);
	assert_int_equal(seq_of(2000, 2), SEQ_BASE + 1 + n);
}

/* ---- in pieces ---- */

/* Each event by itself, and after it that none before the next one's stamp will follow;
 * then all at once.  The same updates with the same numbers in the same order. */
static void assert_same_in_pieces(void)
{
	const struct tmigr_sequencer_cfg cfg = {.records = on_records};
	struct tmigr_rec pieces[MAX * 4];
	size_t n_pieces = 0;

	for (unsigned int once = 0; once < 2; once++) {
		struct tmigr_sequencer *s;

		n_recs = 0;
		assert_int_equal(tmigr_sequencer_new(&cfg, &s), 0);
		for (size_t i = 0; i < n_evs; i++) {
			assert_int_equal(tmigr_sequencer_feed(s, &evs[i], 1), 0);
			if (i + 1 < n_evs && !once)
				assert_int_equal(tmigr_sequencer_advance(s, evs[i + 1].t_ns), 0);
		}
		assert_int_equal(tmigr_sequencer_finish(s), 0);
		tmigr_sequencer_free(s);
		if (!once)
			memcpy(pieces, recs, (n_pieces = n_recs) * sizeof(*recs));
	}
	assert_int_equal(n_pieces, n_recs);
	assert_memory_equal(pieces, recs, n_recs * sizeof(*recs));
}

/* What is held back is held as long as something may come before it, to the ns. */
static void pieces_do_not_matter(void **state)
{
	(void)state;
	up(100, 0, 1, 1);
	other(190, 1);
	up(200, 1, 2, 2);
	down(200 + TMIGR_SEQUENCER_HOLD_NS, 0, 0, NONE);
	sequence();
	assert_stats(2, 0, 0);
	assert_same_in_pieces();
	n_evs = 0;
	up(100, 1, 2, 2);
	up(200, 1, 2, 2);
	up(200, 0, 3, 2); /* sorted before it */
	up(300, 2, 7, 2);
	assert_same_in_pieces();
}

/* ---- the word before a group's first update ---- */

static void first_words(void **state)
{
	static const struct {
		unsigned int type, cpu, active, migrator;
		bool known;
		unsigned int was, by;
	} cases[] = {
		{TMIGR_TRACED_GROUP_ACTIVE, 0, 1, 1, true, 0, NONE},
		{TMIGR_TRACED_GROUP_ACTIVE, 1, 3, 1, true, 1, 1},
		{TMIGR_TRACED_GROUP_ACTIVE, 2, 7, 2, true, 3, 2},
		{TMIGR_TRACED_GROUP_ACTIVE, 1, 3, 2, false, 0, 0},
		{TMIGR_TRACED_GROUP_INACTIVE, 1, 0, NONE, true, 2, 2},
		{TMIGR_TRACED_GROUP_INACTIVE, 1, 1, 1, false, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const struct tmigr_rec *snap = NULL;
		unsigned int level = i % 2;
		size_t k = i / 2;

		n_evs = 0;
		update(cases[k].type, 100, cases[k].cpu, cases[k].active, cases[k].migrator);
		evs[0].level = (__u8)level;
		sequence();
		for (size_t r = 0; r < n_recs; r++)
			if (recs[r].type == TMIGR_REC_SNAP_GROUP)
				snap = &recs[r];
		/* Above level 0 an update may have changed nothing. */
		assert_int_equal(snap != NULL, cases[k].known && !level);
		if (snap)
			assert_int_equal(snap->b, cases[k].was | cases[k].by << 8 | SEQ_BASE << 16);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(late_stamp_is_put_in_order, setup),
		cmocka_unit_test_setup(later_than_that_is_not, setup),
		cmocka_unit_test_setup(equal_stamps_may_be_either_way, setup),
		cmocka_unit_test_setup(next_update_decides, setup),
		cmocka_unit_test_setup(next_update_decides_where_stamps_fit, setup),
		cmocka_unit_test_setup(nothing_is_searched_over_a_loss, setup),
		cmocka_unit_test_setup(above_level_0_bits_may_stay, setup),
		cmocka_unit_test_setup(who_takes_over, setup),
		cmocka_unit_test_setup(missing_update_leaves_a_gap, setup),
		cmocka_unit_test_setup(loss_makes_the_word_unknown, setup),
		cmocka_unit_test_setup(loss_before_all_is_no_gap, setup),
		cmocka_unit_test_setup(own_successor_does_not_overtake, setup),
		cmocka_unit_test_setup(cpus_own_order_stays, setup),
		cmocka_unit_test_setup(intervals_are_kept_where_they_can, setup),
		cmocka_unit_test_setup(clocks_may_be_apart, setup),
		cmocka_unit_test_setup(long_cluster_is_searched_in_parts, setup),
		cmocka_unit_test_setup(pieces_do_not_matter, setup),
		cmocka_unit_test_setup(first_words, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
