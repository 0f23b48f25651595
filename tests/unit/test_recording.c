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

#include "../../lib/zstd_frame.h"
#include "tmigr/recording.h"

static char dir[] = "/tmp/tmigr-test-recording-XXXXXX";
static char path[128];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/events.tmr", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

static struct tmigr_rec rec(unsigned int i)
{
	return (struct tmigr_rec){
		.t_ns = 1000 + i * 7ull,
		.cpu = i % 5,
		.type = TMIGR_REC_IDLE_ENTER,
		.a = i & 1,
		.b = i * 0x123456789abcull,
	};
}

/* META, 3 records, mark, 2 records, END. Returns the file's size. */
static size_t write_small(void)
{
	struct tmigr_recording_writer *w = NULL;
	struct tmigr_rec recs[5];
	json_t *meta = json_pack("{s:i, s:s}", "start_ns", 1000, "info", "x");
	json_t *end = json_pack("{s:i}", "end_ns", 2000);
	struct tmigr_err err;
	struct stat st;

	for (unsigned int i = 0; i < 5; i++)
		recs[i] = rec(i);
	unlink(path);
	assert_int_equal(tmigr_recording_create(path, false, meta, &w, &err), 0);
	assert_int_equal(tmigr_recording_events(w, recs, 3, &err), 0);
	assert_int_equal(tmigr_recording_mark(w, 1021, &err), 0);
	assert_int_equal(tmigr_recording_events(w, recs + 3, 2, &err), 0);
	assert_int_equal(tmigr_recording_end(w, end, &err), 0);
	json_decref(meta);
	json_decref(end);
	assert_int_equal(stat(path, &st), 0);
	return (size_t)st.st_size;
}

static unsigned char *slurp(size_t *ret_size)
{
	struct stat st;
	unsigned char *buf;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	buf = malloc((size_t)st.st_size + 1);
	assert_non_null(buf);
	assert_int_equal(read(fd, buf, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_size = (size_t)st.st_size;
	return buf;
}

static void spit(const void *buf, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, buf, size), (ssize_t)size);
	close(fd);
}

/*
 * Reads the small file's frames and checks each against what was written.
 * Returns how many of the 5 were whole; *@ret_last is EOF, CUT, or 0 with the
 * error of open in *@ret_open.
 */
static int read_small(enum tmigr_frame_type *ret_last, int *ret_open, struct tmigr_err *err)
{
	static const enum tmigr_frame_type want[] = {TMIGR_FRAME_META, TMIGR_FRAME_EVENTS,
						     TMIGR_FRAME_MARK, TMIGR_FRAME_EVENTS,
						     TMIGR_FRAME_END};
	struct tmigr_recording_reader *r = NULL;
	struct tmigr_frame f;
	int n = 0;

	*ret_open = tmigr_recording_open(path, &r, err);
	if (*ret_open < 0)
		return 0;
	for (;; n++) {
		assert_int_equal(tmigr_recording_next(r, &f, err), 0);
		*ret_last = f.type;
		if (f.type == TMIGR_FRAME_EOF || f.type == TMIGR_FRAME_CUT)
			break;
		assert_in_range(n, 0, 4);
		assert_int_equal(f.type, want[n]);
		if (f.type == TMIGR_FRAME_META)
			assert_int_equal(json_integer_value(json_object_get(f.json, "start_ns")),
					 1000);
		if (f.type == TMIGR_FRAME_MARK)
			assert_int_equal(f.watermark_ns, 1021);
		if (f.type == TMIGR_FRAME_END)
			assert_int_equal(json_integer_value(json_object_get(f.json, "end_ns")),
					 2000);
		if (f.type == TMIGR_FRAME_EVENTS) {
			unsigned int first = n == 1 ? 0 : 3;

			assert_int_equal(f.n, n == 1 ? 3 : 2);
			for (unsigned int i = 0; i < f.n; i++) {
				struct tmigr_rec e = rec(first + i);

				assert_memory_equal(&f.recs[i], &e, sizeof(e));
			}
		}
	}
	/* It stays where it ended. */
	assert_int_equal(tmigr_recording_next(r, &f, err), 0);
	assert_int_equal(f.type, *ret_last);
	tmigr_recording_close(r);
	return n;
}

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

static void expect_open(const char *file, int want, const char *text)
{
	struct tmigr_recording_reader *r = (void *)0x1;
	struct tmigr_err err;

	assert_int_equal(tmigr_recording_open(file, &r, &err), want);
	assert_ptr_equal(r, (void *)0x1); /* untouched on failure */
	assert_non_null(strstr(err.text, text));
	assert_non_null(strstr(err.text, file));
	assert_null(strchr(err.text, '\n'));
}

static void test_not_a_recording(void **state)
{
	(void)state;
	spit("", 0);
	expect_open(path, -EINVAL, "empty file");
	spit("#!/bin/sh\necho hello world\n", 27);
	expect_open(path, -EINVAL, "not a tmigr recording");
	spit("TMIGREC\n\3\0\0\0\0\0\0\0", 16);
	expect_open(path, -EINVAL, "version 3");
	spit("TMIGREC\n\0\0\0\0\0\0\0\0", 16);
	expect_open(path, -EINVAL, "version 0");
	expect_open(dir, -EISDIR, "directory");
	unlink(path);
	expect_open(path, -ENOENT, "No such file");
}

/* A file of one frame made by hand. */
static void spit_frame(uint32_t type, uint32_t stored, uint32_t raw, const void *data, size_t size)
{
	unsigned char buf[512] = "TMIGREC\n\1\0\0\0\0\0\0\0FRM\n";

	assert_true(size <= sizeof(buf) - 32);
	memcpy(buf + 20, &type, 4);
	memcpy(buf + 24, &stored, 4);
	memcpy(buf + 28, &raw, 4);
	memcpy(buf + 32, data, size);
	spit(buf, 32 + size);
}

/* ---- the records of version 1: as they are in memory of a little-endian machine ---- */

/* One frame, with room for 1024 bytes at @out. */
static size_t pack(void *out, const void *raw, size_t size)
{
	struct tmigr_zstd_packer *p = tmigr_zstd_packer_new();
	ssize_t n = tmigr_zstd_pack(p, out, 1024, raw, size, size);

	tmigr_zstd_packer_free(p);
	assert_in_range(n, 1, 1024);
	return (size_t)n;
}

static size_t add_frame(unsigned char *buf, size_t at, uint32_t type, const void *raw, size_t size)
{
	size_t stored = pack(buf + at + 16, raw, size);
	uint32_t head[4] = {0x0a4d5246, type, (uint32_t)stored, (uint32_t)size};

	memcpy(buf + at, head, 16);
	return at + 16 + stored;
}

static void test_version_1(void **state)
{
	static const char end[] = "{\"end_ns\":2000}";
	unsigned char buf[4096] = "TMIGREC\n\1\0\0\0\0\0\0\0";
	struct tmigr_recording_reader *r = NULL;
	struct tmigr_rec recs[7];
	struct tmigr_frame f;
	struct tmigr_err err;
	size_t size = 16, seen = 0;

	(void)state;
	for (unsigned int i = 0; i < 7; i++)
		recs[i] = rec(i);
	size = add_frame(buf, size, 1, "{}", 2);
	size = add_frame(buf, size, 2, recs, 4 * sizeof(recs[0]));
	size = add_frame(buf, size, 2, recs + 4, 3 * sizeof(recs[0]));
	size = add_frame(buf, size, 4, end, sizeof(end) - 1);
	spit(buf, size);
	assert_int_equal(tmigr_recording_open(path, &r, &err), 0);
	do {
		assert_int_equal(tmigr_recording_next(r, &f, &err), 0);
		if (f.type != TMIGR_FRAME_EVENTS)
			continue;
		assert_true(seen + f.n <= 7);
		assert_memory_equal(f.recs, recs + seen, f.n * sizeof(recs[0]));
		seen += f.n;
	} while (f.type != TMIGR_FRAME_EOF && f.type != TMIGR_FRAME_CUT);
	assert_int_equal(f.type, TMIGR_FRAME_EOF);
	assert_int_equal(seen, 7);
	tmigr_recording_close(r);
}

static void expect_cut(const char *text)
{
	struct tmigr_recording_reader *r = NULL;
	struct tmigr_frame f;
	struct tmigr_err err;

	assert_int_equal(tmigr_recording_open(path, &r, &err), 0);
	assert_int_equal(tmigr_recording_next(r, &f, &err), 0);
	assert_int_equal(f.type, TMIGR_FRAME_CUT);
	assert_non_null(strstr(err.text, "byte 16: "));
	assert_non_null(strstr(err.text, text));
	tmigr_recording_close(r);
}

static void test_lying_heads(void **state)
{
	/* A head that says 8 MiB, and blocks of 128 KiB of one byte (RFC 8878). */
	static const unsigned char bomb_head[] = {0x28, 0xb5, 0x2f, 0xfd, 0xa4, 0, 0, 0x80, 0};
	static const unsigned char block[] = {0x02, 0, 0x10, 0}, last[] = {0x03, 0, 0x10, 0};
	char packed[1024];
	size_t n = sizeof(bomb_head);

	(void)state;
	/* A bomb: 8 MiB of nothing in a few hundred bytes, with a head that
	 * claims 1000 bytes. */
	memcpy(packed, bomb_head, n);
	for (int i = 0; i < 64; i++, n += sizeof(block))
		memcpy(packed + n, i < 63 ? block : last, sizeof(block));
	memset(packed + n, 0, 4);
	spit_frame(1, (uint32_t)n + 4, 1000, packed, n + 4);
	expect_cut("sizes disagree");
	memset(packed, 0, sizeof(packed));
	spit_frame(1, 100, 0xffffffff, packed, 100);
	expect_cut("impossible size");
	spit_frame(1, 100, TMIGR_FRAME_JSON_MAX + 1, packed, 100);
	expect_cut("impossible size");
	spit_frame(1, 0xffffffff, 100, packed, 100);
	expect_cut("impossible stored size");
	spit_frame(1, 0, 100, packed, 100);
	expect_cut("impossible stored size");
	spit_frame(1, 100, 100, packed, 100);
	expect_cut("sizes disagree");
	spit_frame(2, 100, 64, packed, 100);
	expect_cut("first frame is not META");
	spit_frame(9, 100, 64, packed, 100);
	expect_cut("type that this tool does not know");
	/* Claims 60 MiB to come, has 100 bytes: no 60 MiB are reserved. */
	spit_frame(1, 60u << 20, 60u << 20, packed, 100);
	expect_cut("stops inside a frame (100 of");
	/* Good zstd, not JSON; JSON, not an object. */
	n = pack(packed, "{nonsense", 9);
	spit_frame(1, (uint32_t)n, 9, packed, n);
	expect_cut("JSON object");
	n = pack(packed, "[1,2]", 5);
	spit_frame(1, (uint32_t)n, 5, packed, n);
	expect_cut("JSON object");
}

static void test_trailing_bytes(void **state)
{
	enum tmigr_frame_type last;
	unsigned char *buf;
	struct tmigr_err err;
	size_t size;
	int opened;

	(void)state;
	write_small();
	buf = slurp(&size);
	buf[size] = 'x';
	spit(buf, size + 1);
	assert_int_equal(read_small(&last, &opened, &err), 5);
	assert_int_equal(last, TMIGR_FRAME_CUT);
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
		cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_many),
		cmocka_unit_test(test_truncated),   cmocka_unit_test(test_cut_message),
		cmocka_unit_test(test_flipped),	    cmocka_unit_test(test_not_a_recording),
		cmocka_unit_test(test_lying_heads), cmocka_unit_test(test_trailing_bytes),
		cmocka_unit_test(test_stdin),	    cmocka_unit_test(test_create_errors),
		cmocka_unit_test(test_disk_full),   cmocka_unit_test(test_abort),
		cmocka_unit_test(test_version_1),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
