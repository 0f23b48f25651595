// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings: what is none, heads that lie, an older version. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_a_recording),
		cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_lying_heads),
		cmocka_unit_test(test_trailing_bytes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
