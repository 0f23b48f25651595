// SPDX-License-Identifier: GPL-2.0-or-later
/* A recording that comes in pieces: every way to cut it gives the same frames. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tmigr/recording.h"

#define N_RECS 1000

struct bytes {
	unsigned char data[65536];
	size_t n;
};

static int put(void *arg, const void *data, size_t size)
{
	struct bytes *b = arg;

	assert_true(b->n + size <= sizeof(b->data));
	memcpy(b->data + b->n, data, size);
	b->n += size;
	return 0;
}

static struct tmigr_rec rec(unsigned int i)
{
	return (struct tmigr_rec){.t_ns = i * 13ull, .cpu = i % 3, .type = TMIGR_REC_IDLE_EXIT};
}

/* META, N_RECS records, mark, END */
static void make(struct bytes *b)
{
	struct tmigr_recording_writer *w = NULL;
	json_t *meta = json_pack("{si}", "start_ns", 5), *end = json_pack("{si}", "end_ns", 9);

	b->n = 0;
	assert_int_equal(tmigr_recording_create_put("x", put, b, meta, &w, NULL), 0);
	for (unsigned int i = 0; i < N_RECS; i++) {
		struct tmigr_rec r = rec(i);

		assert_int_equal(tmigr_recording_events(w, &r, 1, NULL), 0);
	}
	assert_int_equal(tmigr_recording_mark(w, 77, NULL), 0);
	assert_int_equal(tmigr_recording_end(w, end, NULL), 0);
	json_decref(meta);
	json_decref(end);
}

/* The @i-th frame is as it was made. */
static void check_frame(const struct tmigr_frame *f, int i)
{
	static const enum tmigr_frame_type types[] = {TMIGR_FRAME_META, TMIGR_FRAME_EVENTS,
						      TMIGR_FRAME_MARK, TMIGR_FRAME_END};

	assert_in_range(i, 0, 3);
	assert_int_equal(f->type, types[i]);
	if (f->type == TMIGR_FRAME_MARK)
		assert_int_equal(f->watermark_ns, 77);
	if (f->type != TMIGR_FRAME_EVENTS)
		return;
	assert_int_equal(f->n, N_RECS);
	for (unsigned int k = 0; k < N_RECS; k++) {
		struct tmigr_rec r = rec(k);

		assert_memory_equal(&f->recs[k], &r, sizeof(r));
	}
}

/* Frames that are there, checked; @i of them were there before. */
static int take(struct tmigr_recording_reader *r, int i)
{
	struct tmigr_frame f;

	while (i < 4 && tmigr_recording_ready(r)) {
		assert_int_equal(tmigr_recording_next(r, &f, NULL), 0);
		check_frame(&f, i++);
	}
	return i;
}

static void test_pieces(void **state)
{
	struct bytes b;
	struct tmigr_frame f;

	(void)state;
	make(&b);
	for (size_t step = 1; step <= b.n; step += step < 70 ? 1 : 997) {
		struct tmigr_recording_reader *r = NULL;
		int i = 0;

		assert_int_equal(tmigr_recording_open_push("x", &r, NULL), 0);
		assert_false(tmigr_recording_ready(r));
		for (size_t at = 0; at < b.n; at += step) {
			size_t n = b.n - at < step ? b.n - at : step;

			/* None before it is whole. */
			assert_true(i < 4);
			assert_int_equal(tmigr_recording_push(r, b.data + at, n), 0);
			i = take(r, i);
		}
		assert_int_equal(i, 4);
		assert_int_equal(tmigr_recording_next(r, &f, NULL), 0);
		assert_int_equal(f.type, TMIGR_FRAME_EOF);
		tmigr_recording_close(r);
	}
}

/* It stops anywhere: whole frames, then CUT, or an error before the first. */
static void test_stops(void **state)
{
	struct bytes b;
	struct tmigr_frame f;

	(void)state;
	make(&b);
	for (size_t size = 0; size < b.n; size++) {
		struct tmigr_recording_reader *r = NULL;
		int ret;

		assert_int_equal(tmigr_recording_open_push("x", &r, NULL), 0);
		assert_int_equal(tmigr_recording_push(r, b.data, size), 0);
		assert_true(take(r, 0) < 4);
		ret = tmigr_recording_next(r, &f, NULL);
		if (size < 16)
			assert_int_equal(ret, -EINVAL);
		else
			assert_int_equal(ret, 0);
		if (!ret)
			assert_int_equal(f.type, TMIGR_FRAME_CUT);
		tmigr_recording_close(r);
	}
}

/* A head that lies is told at once, not waited for. */
static void test_nonsense(void **state)
{
	struct bytes b;
	struct tmigr_frame f;
	struct tmigr_recording_reader *r = NULL;

	(void)state;
	make(&b);
	b.data[16 + 8 + 3] = 0x7f; /* the first frame claims 2 GiB */
	assert_int_equal(tmigr_recording_open_push("x", &r, NULL), 0);
	assert_int_equal(tmigr_recording_push(r, b.data, 32), 0);
	assert_true(tmigr_recording_ready(r));
	assert_int_equal(tmigr_recording_next(r, &f, NULL), 0);
	assert_int_equal(f.type, TMIGR_FRAME_CUT);
	tmigr_recording_close(r);

	assert_int_equal(tmigr_recording_open_push("x", &r, NULL), 0);
	assert_int_equal(tmigr_recording_push(r, "this is no recording, it is just some text", 42),
			 0);
	assert_true(tmigr_recording_ready(r));
	assert_int_equal(tmigr_recording_next(r, &f, NULL), -EINVAL);
	tmigr_recording_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
