/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of events.tmr, shared by recording_write.c and recording_read.c.  The
 * picture of the file is in tmigr/recording.h.
 */
#ifndef TMIGR_RECORDING_FORMAT_H
#define TMIGR_RECORDING_FORMAT_H

#include <endian.h>
#include <string.h>

#include "tmigr/recording.h"

#define TMIGR_FILE_MAGIC     "TMIGREC\n" /* 8 bytes, no NUL */
#define TMIGR_FILE_HEAD_SIZE 16
#define TMIGR_FRAME_MAGIC    0x0a4d5246u /* "FRM\n", little endian */

struct tmigr_frame_head {
	__u32 magic;
	__u32 type;
	__u32 stored; /* bytes of the zstd frame that follows */
	__u32 raw;    /* bytes that it unpacks to */
};

_Static_assert(sizeof(struct tmigr_frame_head) == 16, "frame head is 16 bytes");
_Static_assert(sizeof(struct tmigr_rec) == 32, "a record is 32 bytes");

/* Both ways: nothing to do on a little-endian machine. */
static inline void tmigr_frame_head_swap(struct tmigr_frame_head *h)
{
	h->magic = htole32(h->magic);
	h->type = htole32(h->type);
	h->stored = htole32(h->stored);
	h->raw = htole32(h->raw);
}

static inline void tmigr_recs_swap(struct tmigr_rec *recs, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (size_t i = 0; i < n; i++) {
		recs[i].t_ns = htole64(recs[i].t_ns);
		recs[i].cpu = htole32(recs[i].cpu);
		recs[i].a = htole64(recs[i].a);
		recs[i].b = htole64(recs[i].b);
	}
#else
	(void)recs;
	(void)n;
#endif
}

#endif
