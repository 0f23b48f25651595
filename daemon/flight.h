/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flight recorder: the last minutes as whole compressed frames in memory.
 *
 * A drain makes an entry: the frames of its records and its watermark.  Some
 * entries are *keys*: they have the start of a recording too (head, META, and
 * what a window that begins there must know), taken from a window opened for
 * that.  A dump is a key's start and the frames of the entries after it, so it
 * is a recording that begins at the key; nothing is copied or compressed again.
 * Oldest entries go first, up to the next key.
 */
#ifndef TMIGRD_FLIGHT_H
#define TMIGRD_FLIGHT_H

#include "tmigrd.h"

/* NULL: off (no seconds, or no memory asked for). -ENOMEM. */
int flight_new(struct tmigrd *d);
void flight_free(struct flight *f);
/* Around the engine's drain: a key may be due; an entry is made. */
void flight_before_drain(struct flight *f);
void flight_after_drain(struct flight *f, __u64 watermark_ns);

struct flight_state {
	size_t bytes;
	__u64 from_ns, to_ns; /* 0: nothing yet */
};
void flight_state(const struct flight *f, struct flight_state *ret);

/*
 * Adds the last @last_ns to @q, or what there is of them; from a key on.
 * -ENODATA: nothing yet.
 */
int flight_dump(struct flight *f, __u64 last_ns, struct msgq *q, __u64 *ret_start_ns,
		__u64 *ret_end_ns);

/* methods_flight.c: ends dumps that nobody reads. */
void dumps_expire(struct tmigrd *d, __u64 now);

#endif
