/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.tmr: a recording.
 *
 * File: 16-byte head ("TMIGREC\n", u32 version, u32 0), then frames.  Frame:
 * 16-byte head (u32 magic "FRM\n", u32 type, u32 stored bytes, u32 raw bytes),
 * then one zstd frame with checksum.  All integers little endian.  A frame is
 * written by one write(2), so a crash leaves whole frames readable.
 *   META    JSON: "topology", "start_ns", and what the writer adds ("info")
 *   EVENTS  struct tmigr_rec[], in the order in which the model was fed; since version 2
 *           as columns of differences (lib/recording_columns.h), anew after each MARK
 *   MARK    u64 watermark: tmigr_model_advance() was called here
 *   END     JSON: "end_ns", "totals" (totals.h), "info"; "topology" if the run
 *           knew more of it at its end
 */
#ifndef TMIGR_RECORDING_H
#define TMIGR_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/rec.h"

/* What is written; older ones are read. */
#define TMIGR_RECORDING_VERSION 2

/* Bounds on what one frame may unpack to: a reader refuses more before it
 * reserves memory.  The totals of 4096 CPUs with all histograms filled take
 * about 20 MiB of JSON. */
#define TMIGR_FRAME_RAW_MAX  (4u << 20)	 /* EVENTS */
#define TMIGR_FRAME_JSON_MAX (64u << 20) /* META, END */

/* The version of libzstd; NULL: built without, recordings are written uncompressed, and only
 * such are read. */
const char *tmigr_recording_library(void);

/* ---- writing ---- */
struct tmigr_recording_writer;

/* Creates @path (O_EXCL unless @force).  @meta is written as the first frame. */
int tmigr_recording_create(const char *path, bool force, const json_t *meta,
			   struct tmigr_recording_writer **ret, struct tmigr_err *err);
/*
 * The same into a callback, which gets the file's head and then whole frames, each
 * in one call; <0 from it is what a failing write(2) is to a file.  @name is for
 * messages.
 */
typedef int (*tmigr_recording_put)(void *arg, const void *data, size_t size);
int tmigr_recording_create_put(const char *name, tmigr_recording_put put, void *arg,
			       const json_t *meta, struct tmigr_recording_writer **ret,
			       struct tmigr_err *err);
/*
 * Buffers up to one frame.  An error (disk full) is returned once: the file
 * keeps its whole frames (a half-written one is cut off), and what is fed after
 * that is dropped, so a run can go on without its recording.
 * tmigr_recording_end() then fails with the same errno.
 */
int tmigr_recording_events(struct tmigr_recording_writer *w, const struct tmigr_rec *recs, size_t n,
			   struct tmigr_err *err);
int tmigr_recording_mark(struct tmigr_recording_writer *w, __u64 watermark_ns,
			 struct tmigr_err *err);
/* Writes the end frame, fsyncs, closes and frees @w, also on error. */
int tmigr_recording_end(struct tmigr_recording_writer *w, const json_t *end, struct tmigr_err *err);
/* Closes without an end frame; what is buffered is still tried. NULL is fine. */
void tmigr_recording_abort(struct tmigr_recording_writer *w);

/* ---- reading ---- */
struct tmigr_recording_reader;

enum tmigr_frame_type {
	TMIGR_FRAME_EOF = 0, /* clean end: the END frame has been read */
	TMIGR_FRAME_META = 1,
	TMIGR_FRAME_EVENTS = 2,
	TMIGR_FRAME_MARK = 3,
	TMIGR_FRAME_END = 4,
	TMIGR_FRAME_CUT = 5, /* the file stops without END: partial */
};

struct tmigr_frame {
	enum tmigr_frame_type type;
	const json_t *json;	      /* META, END */
	const struct tmigr_rec *recs; /* EVENTS */
	size_t n;
	__u64 watermark_ns; /* MARK */
};

/* -EINVAL: not a recording, or a version that this tool cannot read; -EISDIR,
 * -ENOENT and so on from open(2).  "-" is standard input. */
int tmigr_recording_open(const char *path, struct tmigr_recording_reader **ret,
			 struct tmigr_err *err);
/* The same of an open file (the caller's), of which @n bytes, @head, were read. */
int tmigr_recording_open_fd(const char *name, int fd, const void *head, size_t n,
			    struct tmigr_recording_reader **ret, struct tmigr_err *err);
/*
 * The same of bytes that come in pieces, without waiting for them: push what has
 * come, and take frames as long as tmigr_recording_ready() says that there is one
 * whole.  A frame taken earlier is a CUT.  @name is for messages.
 */
int tmigr_recording_open_push(const char *name, struct tmigr_recording_reader **ret,
			      struct tmigr_err *err);
int tmigr_recording_push(struct tmigr_recording_reader *r, const void *data, size_t size);
bool tmigr_recording_ready(const struct tmigr_recording_reader *r);
/*
 * Next frame; what it points to is valid until the next call.  A file that
 * stops in the middle of a frame, or whose next frame is damaged, gives
 * TMIGR_FRAME_CUT, with *@err saying at which byte and why.  <0 only for
 * read(2) errors and no memory.
 */
int tmigr_recording_next(struct tmigr_recording_reader *r, struct tmigr_frame *frame,
			 struct tmigr_err *err);
void tmigr_recording_close(struct tmigr_recording_reader *r);

#endif
