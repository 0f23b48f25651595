// SPDX-License-Identifier: GPL-2.0-or-later
/* events.tmr: round trip, and what a reader makes of damaged files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "recording_file.h"

static void test_round_trip(void **state)
{
	enum tmigr_frame_type last;
	struct tmigr_err err;
	int opened;

	(void)state;
	write_small();
	assert_int_equal(read_small(&last, &opened, &err), 5);
	assert_int_equal(opened, 0);
	assert_int_equal(last, TMIGR_FRAME_EOF);
}

/* More records than a frame holds, fed in uneven pieces: same order, no more
 * than 1 MiB in a frame. */
static void test_many(void **state)
{
	struct tmigr_recording_writer *w = NULL;
	struct tmigr_recording_reader *r = NULL;
	const unsigned int total = 100000;
	struct tmigr_rec *recs = calloc(total, sizeof(*recs));
	json_t *obj = json_object();
	unsigned int seen = 0, frames = 0;
	struct tmigr_frame f;
	struct tmigr_err err;

	(void)state;
	assert_non_null(recs);
	for (unsigned int i = 0; i < total; i++)
		recs[i] = rec(i);
	assert_int_equal(tmigr_recording_create(path, true, obj, &w, &err), 0);
	for (unsigned int i = 0, n = 1; i < total; i += n, n = n * 2 + 1) {
		n = n < total - i ? n : total - i;
		assert_int_equal(tmigr_recording_events(w, recs + i, n, &err), 0);
	}
	assert_int_equal(tmigr_recording_end(w, obj, &err), 0);
	assert_int_equal(tmigr_recording_open(path, &r, &err), 0);
	do {
		assert_int_equal(tmigr_recording_next(r, &f, &err), 0);
		if (f.type != TMIGR_FRAME_EVENTS)
			continue;
		assert_true(f.n * sizeof(struct tmigr_rec) <= 1u << 20);
		assert_true(seen + f.n <= total);
		assert_memory_equal(f.recs, recs + seen, f.n * sizeof(*recs));
		seen += f.n;
		frames++;
	} while (f.type != TMIGR_FRAME_EOF && f.type != TMIGR_FRAME_CUT);
	assert_int_equal(f.type, TMIGR_FRAME_EOF);
	assert_int_equal(seen, total);
	assert_int_equal(frames, 4);
	tmigr_recording_close(r);
	json_decref(obj);
	free(recs);
}

/* Ends of the five frames of the small file, from their heads. */
static void frame_ends(const unsigned char *buf, size_t size, size_t ends[5])
{
	size_t at = 16;

	for (int i = 0; i < 5; i++) {
		at += 16 + (buf[at + 8] | buf[at + 9] << 8);
		ends[i] = at;
	}
	assert_int_equal(at, size);
}

/* Cut at every byte: never a crash, exactly the whole frames are there. */
static void test_truncated(void **state)
{
	enum tmigr_frame_type last;
	unsigned char *buf;
	struct tmigr_err err;
	size_t size, ends[5];
	int opened;

	(void)state;
	write_small();
	buf = slurp(&size);
	frame_ends(buf, size, ends);
	for (size_t len = 0; len < size; len++) {
		int n, whole = 0;

		spit(buf, len);
		n = read_small(&last, &opened, &err);
		assert_non_null(strstr(err.text, path));
		if (len < 16) {
			assert_int_equal(opened, -EINVAL);
			continue;
		}
		while (ends[whole] <= len)
			whole++;
		assert_int_equal(opened, 0);
		assert_int_equal(n, whole);
		assert_int_equal(last, TMIGR_FRAME_CUT);
	}
	free(buf);
}

/* The message of the first CUT names the byte where whole frames end. */
static void test_cut_message(void **state)
{
	struct tmigr_recording_reader *r = NULL;
	struct tmigr_frame f;
	unsigned char *buf;
	struct tmigr_err err;
	size_t size, ends[5];
	char place[256];

	(void)state;
	write_small();
	buf = slurp(&size);
	frame_ends(buf, size, ends);
	spit(buf, ends[1] + 20);
	assert_int_equal(tmigr_recording_open(path, &r, &err), 0);
	do
		assert_int_equal(tmigr_recording_next(r, &f, &err), 0);
	while (f.type != TMIGR_FRAME_CUT);
	snprintf(place, sizeof(place), "%s: byte %zu: the file stops inside a frame", path,
		 ends[1]);
	assert_memory_equal(err.text, place, strlen(place));
	tmigr_recording_close(r);
	free(buf);
}

/* Every byte flipped in several ways: whole frames before stay readable, and
 * no damaged frame is taken for good. */
static void test_flipped(void **state)
{
	static const unsigned char flips[] = {0xff, 0x01, 0x04, 0x10, 0x80};
	enum tmigr_frame_type last;
	unsigned char *buf;
	struct tmigr_err err;
	size_t size, ends[5];
	int opened;

	(void)state;
	write_small();
	buf = slurp(&size);
	frame_ends(buf, size, ends);
	for (size_t i = 0; i < size * sizeof(flips); i++) {
		size_t at = i / sizeof(flips);
		int n, whole = 0;

		buf[at] ^= flips[i % sizeof(flips)];
		spit(buf, size);
		n = read_small(&last, &opened, &err);
		buf[at] ^= flips[i % sizeof(flips)];
		if (at < 16) {
			assert_int_equal(opened, -EINVAL);
			continue;
		}
		while (ends[whole] <= at)
			whole++;
		assert_int_equal(opened, 0);
		/* One bit of a zstd head means nothing: then all is as it was
		 * (read_small compares the contents). */
		if (n == 5 && last == TMIGR_FRAME_EOF)
			continue;
		assert_int_equal(n, whole);
		assert_int_equal(last, TMIGR_FRAME_CUT);
	}
	free(buf);
}

static void test_stdin(void **state)
{
	enum tmigr_frame_type last = TMIGR_FRAME_CUT;
	struct tmigr_recording_reader *r = NULL;
	struct tmigr_frame f;
	struct tmigr_err err;
	int saved = dup(STDIN_FILENO), fd, n = 0;

	(void)state;
	write_small();
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && saved >= 0);
	dup2(fd, STDIN_FILENO);
	close(fd);
	assert_int_equal(tmigr_recording_open("-", &r, &err), 0);
	do {
		assert_int_equal(tmigr_recording_next(r, &f, &err), 0);
		last = f.type;
	} while (++n < 10 && last != TMIGR_FRAME_EOF && last != TMIGR_FRAME_CUT);
	assert_int_equal(last, TMIGR_FRAME_EOF);
	assert_int_equal(n, 6);
	tmigr_recording_close(r);
	dup2(saved, STDIN_FILENO);
	close(saved);
}

static void test_create_errors(void **state)
{
	struct tmigr_recording_writer *w = (void *)0x1;
	json_t *obj = json_object();
	struct tmigr_err err;
	char deep[200];

	(void)state;
	write_small();
	assert_int_equal(tmigr_recording_create(path, false, obj, &w, &err), -EEXIST);
	assert_ptr_equal(w, (void *)0x1);
	assert_non_null(strstr(err.text, path));
	snprintf(deep, sizeof(deep), "%s/no/such/folder", dir);
	assert_int_equal(tmigr_recording_create(deep, false, obj, &w, &err), -ENOENT);
	assert_int_equal(tmigr_recording_create("/dev/full", true, obj, &w, &err), -ENOSPC);
	assert_int_equal(access("/dev/full", F_OK), 0);
	json_decref(obj);
}

/*
 * The file may not grow beyond a limit in the middle of a frame: the error is
 * told once, the file ends with its last whole frame, later records are
 * dropped, and end() knows.
 */
static void test_disk_full(void **state)
{
	struct rlimit old, lim;
	struct tmigr_recording_writer *w = NULL;
	struct tmigr_recording_reader *r = NULL;
	json_t *obj = json_object();
	struct tmigr_rec recs[64];
	struct tmigr_frame f;
	struct tmigr_err err;
	unsigned int marks = 0, good = 0;
	int ret = 0;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	for (unsigned int i = 0; i < 64; i++)
		recs[i] = rec(i);
	assert_int_equal(tmigr_recording_create(path, true, obj, &w, &err), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	lim = old;
	lim.rlim_cur = 3001;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
	while (ret == 0 && good < 1000) {
		assert_int_equal(tmigr_recording_events(w, recs, 64, &err), 0);
		ret = tmigr_recording_mark(w, good, &err);
		good += ret == 0;
	}
	assert_int_equal(ret, -EFBIG);
	assert_non_null(strstr(err.text, path));
	/* Room again: a gap would not be seen by a reader, so nothing more. */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(tmigr_recording_events(w, recs, 64, &err), 0);
	assert_int_equal(tmigr_recording_mark(w, 99999, &err), 0);
	assert_int_equal(tmigr_recording_end(w, obj, &err), -EFBIG);
	assert_non_null(strstr(err.text, "incomplete"));

	assert_int_equal(tmigr_recording_open(path, &r, &err), 0);
	do {
		assert_int_equal(tmigr_recording_next(r, &f, &err), 0);
		if (f.type == TMIGR_FRAME_MARK)
			assert_int_equal(f.watermark_ns, marks++);
	} while (f.type != TMIGR_FRAME_CUT && f.type != TMIGR_FRAME_EOF);
	assert_int_equal(f.type, TMIGR_FRAME_CUT);
	assert_non_null(strstr(err.text, "stops here without its end"));
	assert_int_equal(marks, good);
	assert_true(good > 0);
	tmigr_recording_close(r);
	json_decref(obj);
}

/* A writer that goes away without end: what was fed is there, partial. */
static void test_abort(void **state)
{
	struct tmigr_recording_writer *w = NULL;
	struct tmigr_recording_reader *r = NULL;
	json_t *obj = json_object();
	struct tmigr_rec one = rec(3);
	struct tmigr_frame f;
	struct tmigr_err err;

	(void)state;
	tmigr_recording_abort(NULL);
	assert_int_equal(tmigr_recording_create(path, true, obj, &w, &err), 0);
	assert_int_equal(tmigr_recording_events(w, &one, 1, &err), 0);
	tmigr_recording_abort(w);
	assert_int_equal(tmigr_recording_open(path, &r, &err), 0);
	assert_int_equal(tmigr_recording_next(r, &f, &err), 0);
	assert_int_equal(f.type, TMIGR_FRAME_META);
	assert_int_equal(tmigr_recording_next(r, &f, &err), 0);
	assert_int_equal(f.type, TMIGR_FRAME_EVENTS);
	assert_int_equal(tmigr_recording_next(r, &f, &err), 0);
	assert_int_equal(f.type, TMIGR_FRAME_CUT);
	tmigr_recording_close(r);
	json_decref(obj);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_many),
		cmocka_unit_test(test_truncated),     cmocka_unit_test(test_cut_message),
		cmocka_unit_test(test_flipped),	      cmocka_unit_test(test_stdin),
		cmocka_unit_test(test_create_errors), cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_abort),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
