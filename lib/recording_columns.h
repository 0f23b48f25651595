/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the records of an EVENTS frame lie in it: as what is new in each of them, by columns.
 *
 * A record is mostly known from those before it: its CPU does what it did after the same
 * thing the last time, with the same group; the group's word follows from the word
 * before; the time is a little later.  What is left is differences, nearly all of
 * whose bytes are 0.  The frame has the first byte of all of them, then the second, and so
 * on: bytes of one kind, which zstd packs well.
 *
 * Column	bytes	what
 * rank		1	of the CPU's last few successors of its event before, which one this
 *			is; RANK_NEW: none, and the next column tells
 * meta		4	type, flags, level, mask; 0 unless RANK_NEW
 * time		8	signed difference to the record before
 * cpu		4	so too
 * a		8	difference to what is expected of this CPU and event
 * b		8	so too
 * A signed difference d is stored as d << 1 ^ d >> 63, the bytes from low to high.
 */
#ifndef TMIGR_RECORDING_COLUMNS_H
#define TMIGR_RECORDING_COLUMNS_H

#include <stddef.h>

#include "tmigr/rec.h"

#define TMIGR_COLUMNS 33 /* bytes of a record */

/* What is expected.  Of what lies between two marks: so the flight recorder may drop and join
 * such parts as they are. */
struct tmigr_columns;

struct tmigr_columns *tmigr_columns_new(void);
void tmigr_columns_free(struct tmigr_columns *c);
/* At a mark: nothing is expected. */
void tmigr_columns_reset(struct tmigr_columns *c);

/* @n records into @n * TMIGR_COLUMNS bytes, column @k beginning at @k * @n. */
void tmigr_columns_pack(struct tmigr_columns *c, const struct tmigr_rec *recs, size_t n,
			unsigned char *ret);
/* And back.  Any bytes give some records. */
void tmigr_columns_unpack(struct tmigr_columns *c, const unsigned char *columns, size_t n,
			  struct tmigr_rec *ret);

#endif
