/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of recordings: one in a file, written, changed and read. */
#ifndef TESTS_RECORDING_FILE_H
#define TESTS_RECORDING_FILE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/zstd_frame.h"
#include "tmigr/recording.h"

static char dir[] = "/tmp/tmigr-test-recording-XXXXXX";
static char path[128];

static inline int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/events.tmr", dir);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

static inline struct tmigr_rec rec(unsigned int i)
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
static inline size_t write_small(void)
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

static inline unsigned char *slurp(size_t *ret_size)
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

static inline void spit(const void *buf, size_t size)
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
static inline int read_small(enum tmigr_frame_type *ret_last, int *ret_open, struct tmigr_err *err)
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

#endif
