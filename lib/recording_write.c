// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing events.tmr.  Whole frames only: each leaves by one write(2), and when
 * that fails half-way (disk full, file size limit) the file is cut back to the
 * end of the frame before.
 */
#include "recording_columns.h"
#include "recording_format.h"
#include "zstd_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Records per EVENTS frame: 1 MiB of them.  A crash loses at most one frame, and a
 * reader needs no more memory than that. */
#define FRAME_RECS (1u << 15)
/* From so many on each column gets a zstd block of its own, whose code fits it. */
#define MANY_RECS 2048

struct tmigr_recording_writer {
	int fd;			 /* -1: `put` */
	tmigr_recording_put put; /* with put_arg */
	void *put_arg;
	char *path;
	off_t end;  /* of the last whole frame */
	int failed; /* negative errno of the first error, told once */
	struct tmigr_zstd_packer *zstd;
	unsigned char *out; /* a frame, head included */
	size_t out_size;
	struct tmigr_columns *columns;
	size_t n_recs;
	struct tmigr_rec recs[FRAME_RECS];
	unsigned char packed[FRAME_RECS * TMIGR_COLUMNS];
};

const char *tmigr_recording_library(void)
{
	return tmigr_zstd_version();
}

static void writer_free(struct tmigr_recording_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	tmigr_zstd_packer_free(w->zstd);
	tmigr_columns_free(w->columns);
	free(w->path);
	free(w->out);
	free(w);
}

/* The first error: cuts the file back, remembers, formats the message. */
static int writer_fail(struct tmigr_recording_writer *w, int ret, const char *what,
		       struct tmigr_err *err)
{
	const char *kept = "whole frames before it are kept";

	w->failed = ret;
	/* Not a regular file (pipe, /dev/full): nothing to cut. */
	if (!w->put && ftruncate(w->fd, w->end) < 0 && errno != EINVAL)
		kept = "and its tail could not be cut off";
	return tmigr_fail(err, ret, "%s: %s at byte %lld: %s (%s)", w->path, what,
			  (long long)w->end, strerror(-ret), kept);
}

static int write_all(const struct tmigr_recording_writer *w, const unsigned char *data, size_t size)
{
	if (w->put)
		return w->put(w->put_arg, data, size);
	while (size) {
		ssize_t n = write(w->fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int reserve_out(struct tmigr_recording_writer *w, size_t size)
{
	unsigned char *out;

	if (size <= w->out_size)
		return 0;
	out = realloc(w->out, size);
	if (!out)
		return -ENOMEM;
	w->out = out;
	w->out_size = size;
	return 0;
}

/* @size: a multiple of @block. */
static int write_frame(struct tmigr_recording_writer *w, enum tmigr_frame_type type,
		       const void *raw, size_t size, size_t block, struct tmigr_err *err)
{
	struct tmigr_frame_head head = {TMIGR_FRAME_MAGIC, type, 0, (__u32)size};
	ssize_t stored;
	int ret;

	ret = reserve_out(w, sizeof(head) + tmigr_zstd_bound(size));
	if (ret < 0)
		return writer_fail(w, ret, "cannot record", err);
	stored = tmigr_zstd_pack(w->zstd, w->out + sizeof(head), w->out_size - sizeof(head), raw,
				 size, block);
	if (stored < 0)
		return writer_fail(w, (int)stored, "cannot compress", err);
	head.stored = (__u32)stored;
	tmigr_frame_head_swap(&head);
	memcpy(w->out, &head, sizeof(head));
	ret = write_all(w, w->out, sizeof(head) + (size_t)stored);
	if (ret < 0)
		return writer_fail(w, ret, "recording stopped", err);
	w->end += (off_t)sizeof(head) + stored;
	return 0;
}

static int write_json(struct tmigr_recording_writer *w, enum tmigr_frame_type type,
		      const json_t *json, struct tmigr_err *err)
{
	char *text = json_dumps(json, JSON_COMPACT);
	size_t size;
	int ret;

	if (!text)
		return writer_fail(w, -ENOMEM, "cannot record", err);
	size = strlen(text);
	if (size > TMIGR_FRAME_JSON_MAX)
		ret = writer_fail(w, -EFBIG, "cannot record", err);
	else
		ret = write_frame(w, type, text, size, size, err);
	free(text);
	return ret;
}

static int flush_events(struct tmigr_recording_writer *w, struct tmigr_err *err)
{
	size_t n = w->n_recs;

	if (!n)
		return 0;
	w->n_recs = 0;
	tmigr_columns_pack(w->columns, w->recs, n, w->packed);
	return write_frame(w, TMIGR_FRAME_EVENTS, w->packed, n * TMIGR_COLUMNS,
			   n < MANY_RECS ? n * TMIGR_COLUMNS : n, err);
}

static int write_file_head(struct tmigr_recording_writer *w, struct tmigr_err *err)
{
	unsigned char head[TMIGR_FILE_HEAD_SIZE] = {0};
	__u32 version = htole32(TMIGR_RECORDING_VERSION);
	int ret;

	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): a magic number, no string */
	memcpy(head, TMIGR_FILE_MAGIC, 8);
	memcpy(head + 8, &version, sizeof(version));
	ret = write_all(w, head, sizeof(head));
	if (ret < 0)
		return writer_fail(w, ret, "recording stopped", err);
	w->end = sizeof(head);
	return 0;
}

static int writer_new(const char *path, struct tmigr_recording_writer **ret, struct tmigr_err *err)
{
	struct tmigr_recording_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	w->fd = -1;
	w->path = strdup(path);
	w->zstd = tmigr_zstd_packer_new();
	w->columns = tmigr_columns_new();
	if (!w->path || !w->zstd || !w->columns) {
		writer_free(w);
		return tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	}
	*ret = w;
	return 0;
}

static int write_start(struct tmigr_recording_writer *w, const json_t *meta, struct tmigr_err *err)
{
	int r = write_file_head(w, err);

	return r ? r : write_json(w, TMIGR_FRAME_META, meta, err);
}

int tmigr_recording_create_put(const char *name, tmigr_recording_put put, void *arg,
			       const json_t *meta, struct tmigr_recording_writer **ret,
			       struct tmigr_err *err)
{
	struct tmigr_recording_writer *w = NULL;
	int r = writer_new(name, &w, err);

	if (r < 0)
		return r;
	w->put = put;
	w->put_arg = arg;
	r = write_start(w, meta, err);
	if (r < 0) {
		writer_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

int tmigr_recording_create(const char *path, bool force, const json_t *meta,
			   struct tmigr_recording_writer **ret, struct tmigr_err *err)
{
	struct tmigr_recording_writer *w = NULL;
	struct stat st;
	int r;

	r = writer_new(path, &w, err);
	if (r < 0)
		return r;
	w->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
	if (w->fd < 0) {
		r = -errno;
		writer_free(w);
		return tmigr_fail(err, r, "%s: cannot create: %s", path, strerror(-r));
	}
	r = write_start(w, meta, err);
	if (r < 0) {
		/* A recording without its first frame is of no use to anyone;
		 * a device or pipe given as the path stays. */
		if (fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode))
			unlink(path);
		writer_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

int tmigr_recording_events(struct tmigr_recording_writer *w, const struct tmigr_rec *recs, size_t n,
			   struct tmigr_err *err)
{
	while (n && !w->failed) {
		size_t room = FRAME_RECS - w->n_recs;
		size_t take = n < room ? n : room;

		memcpy(w->recs + w->n_recs, recs, take * sizeof(*recs));
		w->n_recs += take;
		recs += take;
		n -= take;
		if (w->n_recs == FRAME_RECS) {
			int r = flush_events(w, err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

int tmigr_recording_mark(struct tmigr_recording_writer *w, __u64 watermark_ns,
			 struct tmigr_err *err)
{
	__u64 raw = htole64(watermark_ns);
	int r;

	if (w->failed)
		return 0;
	r = flush_events(w, err);
	if (r < 0)
		return r;
	tmigr_columns_reset(w->columns);
	return write_frame(w, TMIGR_FRAME_MARK, &raw, sizeof(raw), sizeof(raw), err);
}

int tmigr_recording_end(struct tmigr_recording_writer *w, const json_t *end, struct tmigr_err *err)
{
	int r = w->failed;

	if (r < 0) {
		tmigr_fail(err, r, "%s: incomplete, stops at byte %lld: %s", w->path,
			   (long long)w->end, strerror(-r));
		writer_free(w);
		return r;
	}
	r = flush_events(w, err);
	if (r == 0)
		r = write_json(w, TMIGR_FRAME_END, end, err);
	/* EINVAL: a pipe or device, which cannot be synced. */
	if (r == 0 && !w->put && fsync(w->fd) < 0 && errno != EINVAL && errno != EROFS)
		r = writer_fail(w, -errno, "cannot sync", err);
	/* close(2) is where some file systems tell that the disk was full. */
	if (r == 0 && !w->put) {
		int fd = w->fd;

		w->fd = -1;
		if (close(fd) < 0)
			r = tmigr_fail(err, -errno, "%s: cannot close: %s", w->path,
				       strerror(errno));
	}
	writer_free(w);
	return r;
}

void tmigr_recording_abort(struct tmigr_recording_writer *w)
{
	if (!w)
		return;
	/* What is buffered is whole records: worth a last frame. */
	if (!w->failed)
		flush_events(w, NULL);
	writer_free(w);
}
