// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings whose frames are whole, and hold what makes no sense. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay_story.h"

static void expect_refused(json_t *meta, const struct tmigr_rec *rec, json_t *end, const char *text)
{
	struct tmigr_recording_writer *w = NULL;
	struct tmigr_err err = {""};
	json_t *r = NULL;

	assert_int_equal(tmigr_recording_create(path, true, meta, &w, &err), 0);
	if (rec)
		assert_int_equal(tmigr_recording_events(w, rec, 1, &err), 0);
	assert_int_equal(tmigr_recording_end(w, end, &err), 0);
	assert_int_equal(tmigr_replay(path, &r, NULL, &err), -EINVAL);
	assert_null(r);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, text));
	json_decref(meta);
	json_decref(end);
}

static json_t *good_meta(void)
{
	return json_pack("{s:o, s:I}", "topology", tmigr_topology_to_json(&topo), "start_ns",
			 (json_int_t)START);
}

static json_t *good_end(void)
{
	return json_pack("{s:I, s:n}", "end_ns", (json_int_t)(START + 1), "totals");
}

static json_t *end_with_totals(__u64 window_ns)
{
	return json_pack("{s:I, s:o}", "end_ns", (json_int_t)(START + window_ns), "totals",
			 tmigr_window_totals_to_json(&totals));
}

static void test_senseless(void **state)
{
	const struct tmigr_rec odd = {.t_ns = START, .type = 200};

	(void)state;
	expect_refused(json_object(), NULL, good_end(), "start_ns");
	expect_refused(json_pack("{s:I}", "start_ns", (json_int_t)5), NULL, good_end(), "topology");
	expect_refused(json_pack("{s:s}", "start_ns", "x"), NULL, good_end(), "start_ns");
	expect_refused(good_meta(), NULL, json_object(), "end_ns");
	expect_refused(good_meta(), NULL, json_pack("{s:i}", "end_ns", 5), "before it starts");
	expect_refused(good_meta(), NULL,
		       json_pack("{s:I, s:[]}", "end_ns", (json_int_t)(START + 1), "totals"),
		       "totals");
	expect_refused(good_meta(), &odd, good_end(), "unknown type");
	/* figures of 10 s for a window of less, and of too few CPUs */
	expect_refused(good_meta(), NULL, end_with_totals(10 * SEC - 1), "do not fit");
	totals.n_cpus--;
	expect_refused(good_meta(), NULL, end_with_totals(10 * SEC), "do not fit");
	totals.n_cpus++;
}

static __u64 next_random(__u64 *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static struct tmigr_rec random_rec(__u64 *x)
{
	static const __u8 types[] = {1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11,
				     12, 13, 14, 32, 33, 34, 35, 36, 37, 64, 65};
	static const __u64 odd[] = {0, 1, TMIGR_KTIME_MAX, (__u64)-1, (__u64)-2, 1ull << 63};
	__u64 r = next_random(x), s = next_random(x);
	struct tmigr_rec rec = {
		.t_ns = START + r % (11 * SEC) - SEC / 2,
		.cpu = (__u32)(s % 10), /* two of them do not exist */
		.type = types[(s >> 8) % sizeof(types)],
		.flags = (__u8)(s >> 16),
		.level = (__u8)(s >> 24) % 4,
		.mask = (__u8)(s >> 32),
		.a = GROUP + (s >> 40) % 4 * 64,
		.b = (s >> 44) % 10,
	};

	if (rec.type == TMIGR_REC_GROUP_ACTIVE || rec.type == TMIGR_REC_GROUP_INACTIVE ||
	    rec.type == TMIGR_REC_SNAP_GROUP)
		rec.b = (__u32)next_random(x) & 0x000fffff;
	else if (rec.type == TMIGR_REC_NODE_GROUP)
		rec.b = (s >> 50) % 2 ? 0 : GROUP + (s >> 51) % 4 * 64;
	else if (rec.type < TMIGR_REC_NODE_GROUP)
		rec.a = (s >> 52) % 3;
	if ((r >> 40) % 16 == 0)
		rec.a = odd[(r >> 44) % 6];
	if ((r >> 48) % 16 == 0)
		rec.b = odd[(r >> 52) % 6];
	return rec;
}

/* Whatever a well-formed file says: no crash, and the sums stay exact. */
static void test_random_records(void **state)
{
	json_t *end = json_pack("{s:I}", "end_ns", (json_int_t)(START + 10 * SEC));
	json_t *meta = good_meta();
	__u64 x = 88172645463325252ull;

	(void)state;
	for (int round = 0; round < 150; round++) {
		struct tmigr_recording_writer *w = NULL;
		struct tmigr_rec batch[200];
		struct tmigr_err err;
		bool partial;

		for (size_t i = 0; i < 200; i++)
			batch[i] = random_rec(&x);
		assert_int_equal(tmigr_recording_create(path, true, meta, &w, &err), 0);
		assert_int_equal(tmigr_recording_events(w, batch, 200, &err), 0);
		assert_int_equal(tmigr_recording_mark(w, START + round % 11 * SEC, &err), 0);
		assert_int_equal(tmigr_recording_events(w, batch, round, &err), 0);
		assert_int_equal(tmigr_recording_end(w, end, &err), 0);
		assert_int_equal(replay_window(&partial), 10 * SEC);
	}
	json_decref(meta);
	json_decref(end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_senseless),
		cmocka_unit_test(test_random_records),
	};

	return cmocka_run_group_tests(tests, make_story, remove_file);
}
