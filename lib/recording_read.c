// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading events.tmr.  The file is not trusted: every size is checked before
 * memory is reserved for it, every frame carries a checksum, and whatever does
 * not fit ends the recording there (TMIGR_FRAME_CUT) with the byte and the
 * reason.  Frames before that place stay good.
 */
#include "recording_columns.h"
#include "recording_format.h"
#include "zstd_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* The stored bytes of a frame are taken in steps, so that a head which lies
 * costs no more memory than the file has bytes. */
#define READ_STEP (1u << 20)

struct tmigr_recording_reader {
	int fd; /* -1: what is pushed */
	bool own_fd;
	bool head_read; /* the file's */
	__u32 version;
	unsigned char *pushed;
	size_t pushed_size, pushed_at, pushed_n;
	char *path;
	__u64 pos; /* bytes taken from the file */
	bool meta_read;
	bool end_read;
	bool cut; /* nothing more comes */
	struct tmigr_zstd_unpacker *zstd;
	unsigned char *stored;
	size_t stored_size;
	void *raw; /* malloc: aligned for records */
	size_t raw_size;
	void *recs; /* of a frame of columns */
	size_t recs_size;
	struct tmigr_columns *columns;
	json_t *json;
};

void tmigr_recording_close(struct tmigr_recording_reader *r)
{
	if (!r)
		return;
	if (r->own_fd && r->fd >= 0)
		close(r->fd);
	tmigr_zstd_unpacker_free(r->zstd);
	json_decref(r->json);
	free(r->path);
	free(r->stored);
	free(r->raw);
	free(r->recs);
	tmigr_columns_free(r->columns);
	free(r->pushed);
	free(r);
}

static size_t take_pushed(struct tmigr_recording_reader *r, void *buf, size_t size)
{
	size_t left = r->pushed_n - r->pushed_at;
	size_t n = size < left ? size : left;

	if (n)
		memcpy(buf, r->pushed + r->pushed_at, n);
	r->pushed_at += n;
	return n;
}

/* Up to @size bytes; fewer only at the end of the file. */
static ssize_t read_full(struct tmigr_recording_reader *r, void *buf, size_t size)
{
	size_t got = take_pushed(r, buf, size);

	while (r->fd >= 0 && got < size) {
		ssize_t n = read(r->fd, (char *)buf + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	r->pos += got;
	return (ssize_t)got;
}

static int reserve(void **buf, size_t *have, size_t size)
{
	void *p;

	if (size <= *have)
		return 0;
	p = realloc(*buf, size);
	if (!p)
		return -ENOMEM;
	*buf = p;
	*have = size;
	return 0;
}

static int check_file_head(struct tmigr_recording_reader *r, struct tmigr_err *err)
{
	unsigned char head[TMIGR_FILE_HEAD_SIZE];
	ssize_t n = read_full(r, head, sizeof(head));
	__u32 zero;

	if (n < 0)
		return tmigr_fail(err, (int)n, "%s: %s", r->path, strerror((int)-n));
	if (n == 0)
		return tmigr_fail(err, -EINVAL, "%s: empty file, not a tmigr recording", r->path);
	if (n < 8 || memcmp(head, TMIGR_FILE_MAGIC, 8))
		return tmigr_fail(err, -EINVAL,
				  "%s: not a tmigr recording ('tmigr import' makes a run directory "
				  "of a trace)",
				  r->path);
	if (n < (ssize_t)sizeof(head))
		return tmigr_fail(err, -EINVAL, "%s: stops at byte %zd, inside its own head",
				  r->path, n);
	memcpy(&r->version, head + 8, sizeof(r->version));
	memcpy(&zero, head + 12, sizeof(zero));
	r->version = le32toh(r->version);
	if (!r->version || r->version > TMIGR_RECORDING_VERSION || zero)
		return tmigr_fail(err, -EINVAL,
				  "%s: recording of version %u, this tool reads versions 1 to %u",
				  r->path, r->version, TMIGR_RECORDING_VERSION);
	r->head_read = true;
	return 0;
}

int tmigr_recording_open_push(const char *name, struct tmigr_recording_reader **ret,
			      struct tmigr_err *err)
{
	struct tmigr_recording_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", name);
	r->fd = -1;
	r->path = strdup(name);
	r->zstd = tmigr_zstd_unpacker_new();
	r->columns = tmigr_columns_new();
	if (!r->path || !r->zstd || !r->columns) {
		tmigr_recording_close(r);
		return tmigr_fail(err, -ENOMEM, "%s: no memory", name);
	}
	*ret = r;
	return 0;
}

int tmigr_recording_open(const char *path, struct tmigr_recording_reader **ret,
			 struct tmigr_err *err)
{
	bool in = !strcmp(path, "-");
	struct tmigr_recording_reader *r = NULL;
	int e = tmigr_recording_open_push(in ? "standard input" : path, &r, err);

	if (e < 0)
		return e;
	r->own_fd = !in;
	r->fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0)
		e = tmigr_fail(err, -errno, "%s: %s", r->path, strerror(errno));
	else
		e = check_file_head(r, err);
	if (e < 0) {
		tmigr_recording_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

int tmigr_recording_open_fd(const char *name, int fd, const void *head, size_t n,
			    struct tmigr_recording_reader **ret, struct tmigr_err *err)
{
	struct tmigr_recording_reader *r = NULL;
	int e = tmigr_recording_open_push(name, &r, err);

	if (e == 0 && tmigr_recording_push(r, head, n) < 0)
		e = tmigr_fail(err, -ENOMEM, "%s: no memory", name);
	if (e == 0) {
		r->fd = fd;
		e = check_file_head(r, err);
	}
	if (e < 0) {
		tmigr_recording_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

/* Ends the recording at byte @at: fills @frame, 0. */
__attribute__((format(printf, 5, 6))) static int cut(struct tmigr_recording_reader *r,
						     struct tmigr_frame *frame, __u64 at,
						     struct tmigr_err *err, const char *fmt, ...)
{
	char why[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	r->cut = true;
	*frame = (struct tmigr_frame){.type = TMIGR_FRAME_CUT};
	tmigr_fail(err, 0, "%s: byte %llu: %s", r->path, (unsigned long long)at, why);
	return 0;
}

static size_t raw_max(__u32 type)
{
	switch (type) {
	case TMIGR_FRAME_META:
	case TMIGR_FRAME_END:
		return TMIGR_FRAME_JSON_MAX;
	case TMIGR_FRAME_EVENTS:
		return TMIGR_FRAME_RAW_MAX;
	case TMIGR_FRAME_MARK:
		return sizeof(__u64);
	default:
		return 0;
	}
}

/* Bytes of a record in an EVENTS frame. */
static size_t rec_bytes(const struct tmigr_recording_reader *r)
{
	return r->version == 1 ? sizeof(struct tmigr_rec) : TMIGR_COLUMNS;
}

/* Why a head cannot be one of the next frame, or NULL. */
static const char *head_fault(const struct tmigr_recording_reader *r,
			      const struct tmigr_frame_head *h)
{
	size_t max = raw_max(h->type);

	if (h->magic != TMIGR_FRAME_MAGIC)
		return "no frame starts here (damaged, or another program wrote here)";
	if (!max)
		return "frame of a type that this tool does not know";
	if ((h->type == TMIGR_FRAME_META) == r->meta_read)
		return r->meta_read ? "second META frame" : "the first frame is not META";
	if (!h->raw || h->raw > max)
		return "frame claims an impossible size";
	if (h->type == TMIGR_FRAME_EVENTS && h->raw % rec_bytes(r))
		return "frame of events that is not a whole number of records";
	if (h->type == TMIGR_FRAME_MARK && h->raw != sizeof(__u64))
		return "mark of a wrong size";
	if (!h->stored || h->stored > tmigr_zstd_bound(h->raw))
		return "frame claims an impossible stored size";
	return NULL;
}

/* 1: all there; 0: the file ends before (*@ret_got); negative errno. */
static int read_stored(struct tmigr_recording_reader *r, size_t size, size_t *ret_got)
{
	size_t got = 0;

	while (got < size) {
		size_t step = size - got < READ_STEP ? size - got : READ_STEP;
		void *p = r->stored;
		ssize_t n;
		int ret = reserve(&p, &r->stored_size, got + step);

		if (ret < 0)
			return ret;
		r->stored = p;
		n = read_full(r, r->stored + got, step);
		if (n < 0)
			return (int)n;
		got += (size_t)n;
		if ((size_t)n < step)
			break;
	}
	*ret_got = got;
	return got == size;
}

/* NULL when @h->stored bytes unpack to exactly @h->raw. */
static const char *unpack(struct tmigr_recording_reader *r, const struct tmigr_frame_head *h)
{
	/* The size inside the zstd frame is what decompression would need:
	 * compare before reserving. */
	const char *fault = tmigr_zstd_check(r->stored, h->stored, h->raw);

	if (fault)
		return fault;
	if (reserve(&r->raw, &r->raw_size, h->raw) < 0)
		return "no memory for this frame";
	return tmigr_zstd_unpack(r->zstd, r->stored, h->stored, r->raw, h->raw);
}

/* NULL or what is wrong. */
static const char *parse_events(struct tmigr_recording_reader *r, size_t raw,
				struct tmigr_frame *frame)
{
	frame->n = raw / rec_bytes(r);
	if (r->version == 1) {
		tmigr_recs_swap(r->raw, frame->n);
		frame->recs = r->raw;
		return NULL;
	}
	if (reserve(&r->recs, &r->recs_size, frame->n * sizeof(struct tmigr_rec)) < 0)
		return "no memory for this frame";
	tmigr_columns_unpack(r->columns, r->raw, frame->n, r->recs);
	frame->recs = r->recs;
	return NULL;
}

/* Fills @frame from the unpacked bytes; NULL or what is wrong with them. */
static const char *parse(struct tmigr_recording_reader *r, const struct tmigr_frame_head *h,
			 struct tmigr_frame *frame)
{
	__u64 mark;

	frame->type = (enum tmigr_frame_type)h->type;
	switch (h->type) {
	case TMIGR_FRAME_EVENTS:
		return parse_events(r, h->raw, frame);
	case TMIGR_FRAME_MARK:
		memcpy(&mark, r->raw, sizeof(mark));
		tmigr_columns_reset(r->columns);
		frame->watermark_ns = le64toh(mark);
		return NULL;
	default:
		json_decref(r->json);
		r->json = json_loadb(r->raw, h->raw, JSON_REJECT_DUPLICATES, NULL);
		frame->json = r->json;
		return json_is_object(r->json) ? NULL : "frame does not hold a JSON object";
	}
}

static int read_frame(struct tmigr_recording_reader *r, struct tmigr_frame *frame,
		      struct tmigr_err *err)
{
	__u64 at = r->pos;
	struct tmigr_frame_head h;
	struct tmigr_frame f = {.type = TMIGR_FRAME_CUT};
	const char *fault;
	size_t got = 0;
	ssize_t n = read_full(r, &h, sizeof(h));
	int ret;

	if (n < 0)
		return tmigr_fail(err, (int)n, "%s: %s", r->path, strerror((int)-n));
	if (n == 0)
		return cut(r, frame, at, err, "the recording stops here without its end");
	if (n < (ssize_t)sizeof(h))
		return cut(r, frame, at, err, "the file stops inside a frame's head");
	tmigr_frame_head_swap(&h);
	fault = head_fault(r, &h);
	if (fault)
		return cut(r, frame, at, err, "%s", fault);
	ret = read_stored(r, h.stored, &got);
	if (ret < 0)
		return tmigr_fail(err, ret, "%s: %s", r->path, strerror(-ret));
	if (ret == 0)
		return cut(r, frame, at, err, "the file stops inside a frame (%zu of %u bytes)",
			   got, h.stored);
	fault = unpack(r, &h);
	if (!fault)
		fault = parse(r, &h, &f);
	if (fault)
		return cut(r, frame, at, err, "%s", fault);
	r->meta_read = true;
	r->end_read = f.type == TMIGR_FRAME_END;
	*frame = f;
	return 0;
}

int tmigr_recording_next(struct tmigr_recording_reader *r, struct tmigr_frame *frame,
			 struct tmigr_err *err)
{
	unsigned char byte;
	ssize_t n;
	int ret;

	/* Of a file it was read at the open. */
	ret = r->head_read ? 0 : check_file_head(r, err);
	if (ret < 0)
		return ret;
	if (r->cut)
		return cut(r, frame, r->pos, err, "nothing can be read behind the damage");
	if (!r->end_read)
		return read_frame(r, frame, err);
	n = read_full(r, &byte, 1);
	if (n < 0)
		return tmigr_fail(err, (int)n, "%s: %s", r->path, strerror((int)-n));
	if (n > 0)
		return cut(r, frame, r->pos - 1, err, "bytes follow the end of the recording");
	*frame = (struct tmigr_frame){.type = TMIGR_FRAME_EOF};
	return 0;
}

/* ---- in pieces ---- */

int tmigr_recording_push(struct tmigr_recording_reader *r, const void *data, size_t size)
{
	size_t left = r->pushed_n - r->pushed_at;
	void *buf = r->pushed;
	int ret;

	if (!size)
		return 0;
	if (left && r->pushed_at)
		memmove(r->pushed, r->pushed + r->pushed_at, left);
	r->pushed_at = 0;
	r->pushed_n = left;
	ret = reserve(&buf, &r->pushed_size, left + size);
	if (ret < 0)
		return ret;
	r->pushed = buf;
	memcpy(r->pushed + left, data, size);
	r->pushed_n += size;
	return 0;
}

bool tmigr_recording_ready(const struct tmigr_recording_reader *r)
{
	size_t skip = r->head_read ? 0 : TMIGR_FILE_HEAD_SIZE;
	size_t left = r->pushed_n - r->pushed_at;
	struct tmigr_frame_head h;

	if (r->end_read || r->cut)
		return true;
	if (left < skip + sizeof(h))
		return false;
	memcpy(&h, r->pushed + r->pushed_at + skip, sizeof(h));
	tmigr_frame_head_swap(&h);
	return head_fault(r, &h) || left - skip - sizeof(h) >= h.stored;
}
