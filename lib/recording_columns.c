// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records to columns of differences and back.  Both directions walk the same
 * expectations (struct tmigr_columns): what one makes of a record, the other undoes.
 */
#include "recording_columns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of each table.  Two CPUs or groups that share an entry cost bytes, no more. */
#define SLOT_BITS 14
#define SLOTS	  (1u << SLOT_BITS)
#define RANKS	  4 /* successors remembered */
#define RANK_NEW  RANKS
#define BLOCK	  64 /* records turned at once: their bytes stay in the cache */

/* What is stored of a record, in the order of the columns. */
enum field { META, TIME, CPU, A, B, FIELDS };
static const unsigned char field_bytes[FIELDS] = {4, 8, 4, 8, 8};

struct rows {
	unsigned char rank[BLOCK];
	__u64 v[FIELDS][BLOCK];
};

enum table {
	NEXT,	/* what came after an event of a CPU, latest first */
	LAST,	/* of a CPU: its event before */
	WAKEUP, /* of a CPU */
	WORD,	/* of a group */
	ARGS,	/* a and b of a CPU's event, the last time */
	TABLES
};

struct entry {
	union {
		__u32 meta[RANKS];
		struct {
			__u64 a, b;
		};
	};
	/* Of another round than the present one: nothing is expected.  So a reset touches no
	 * entry, and memory is what is in use. */
	__u32 round;
};

struct tmigr_columns {
	__u32 round; /* from 1 on */
	__u32 cpu;
	__u64 t_ns;
	struct entry tables[TABLES][SLOTS];
};

struct tmigr_columns *tmigr_columns_new(void)
{
	struct tmigr_columns *c = calloc(1, sizeof(*c));

	if (c)
		c->round = 1;
	return c;
}

void tmigr_columns_reset(struct tmigr_columns *c)
{
	if (++c->round == 0) {
		memset(c->tables, 0, sizeof(c->tables));
		c->round = 1;
	}
	c->t_ns = 0;
	c->cpu = 0;
}

void tmigr_columns_free(struct tmigr_columns *c)
{
	free(c);
}

/* @y: with NEXT the event before, else a number of the table's own, which is part of the
 * format: it says which of them share an entry. */
static struct entry *entry(struct tmigr_columns *c, enum table table, __u64 x, __u64 y)
{
	__u64 hash = ((x * 0x9e3779b97f4a7c15ULL) ^ y) * 0x9e3779b97f4a7c15ULL;
	struct entry *e = &c->tables[table][hash >> (64 - SLOT_BITS)];

	if (e->round != c->round)
		*e = (struct entry){.round = c->round};
	return e;
}

static __u64 fold(__u64 d)
{
	return d << 1 ^ (__u64)((__s64)d >> 63);
}

static __u64 unfold(__u64 f)
{
	return f >> 1 ^ -(f & 1);
}

static __u32 meta_of(const struct tmigr_rec *r)
{
	return r->type | (__u32)r->flags << 8 | (__u32)r->level << 16 | (__u32)r->mask << 24;
}

static bool is_group(__u8 type)
{
	return type == TMIGR_REC_GROUP_ACTIVE || type == TMIGR_REC_GROUP_INACTIVE ||
	       type == TMIGR_REC_SNAP_GROUP;
}

/* The kernel's rule as of today: only a guess, what differs is stored. */
static __u64 expect_word(__u32 word, __u8 type, __u8 child)
{
	__u8 active = tmigr_word_active(word), migrator = tmigr_word_migrator(word);

	if (type == TMIGR_REC_GROUP_ACTIVE) {
		active |= child;
		if (migrator == TMIGR_NO_MIGRATOR)
			migrator = child;
	} else if (type == TMIGR_REC_GROUP_INACTIVE) {
		active &= (__u8)~child;
		if (migrator == child)
			migrator = active ? (__u8)(active & -active) : TMIGR_NO_MIGRATOR;
	} else {
		return word;
	}
	return (__u32)(__u16)(tmigr_word_seq(word) + 1) << 16 | (__u32)migrator << 8 | active;
}

static struct entry *args_of(struct tmigr_columns *c, __u32 cpu, __u32 meta)
{
	return entry(c, ARGS, cpu, (__u64)meta << 8 | 4);
}

/* Where its a is expected: the duty that a CPU held while idle is the one that it took. */
static const struct entry *expect_a(struct tmigr_columns *c, const struct tmigr_rec *r,
				    const struct entry *args)
{
	return r->type == TMIGR_REC_CPU_ACTIVE ? entry(c, WAKEUP, r->cpu, 2) : args;
}

/* @meta came: to the front, from @rank (RANK_NEW: the last one goes). */
static void came(struct entry *next, struct entry *last, unsigned int rank, __u32 meta)
{
	if (rank >= RANKS)
		rank = RANKS - 1;
	for (; rank; rank--)
		next->meta[rank] = next->meta[rank - 1];
	next->meta[0] = meta;
	last->meta[0] = meta;
}

static void learn(struct tmigr_columns *c, const struct tmigr_rec *r, struct entry *args)
{
	c->t_ns = r->t_ns;
	c->cpu = r->cpu;
	args->a = r->a;
	args->b = r->b;
	if (is_group(r->type))
		entry(c, WORD, r->a, 3)->meta[0] = (__u32)r->b;
	else if (r->type == TMIGR_REC_CPU_IDLE || r->type == TMIGR_REC_CPU_NEW_TIMER_IDLE)
		entry(c, WAKEUP, r->cpu, 2)->a = r->a;
}

static __u64 expect_b(struct tmigr_columns *c, const struct tmigr_rec *r, const struct entry *args)
{
	if (!is_group(r->type))
		return args->b;
	return expect_word(entry(c, WORD, r->a, 3)->meta[0], r->type, r->mask);
}

static void pack_one(struct tmigr_columns *c, const struct tmigr_rec *r, struct rows *rows,
		     size_t i)
{
	__u32 meta = meta_of(r);
	struct entry *last = entry(c, LAST, r->cpu, 1);
	struct entry *next = entry(c, NEXT, r->cpu, last->meta[0]);
	struct entry *args = args_of(c, r->cpu, meta);
	unsigned int rank = 0;

	while (rank < RANKS && next->meta[rank] != meta)
		rank++;
	rows->rank[i] = (unsigned char)rank;
	rows->v[META][i] = rank == RANK_NEW ? meta : 0;
	rows->v[TIME][i] = fold(r->t_ns - c->t_ns);
	rows->v[CPU][i] = fold((__u64)(__s32)(r->cpu - c->cpu));
	rows->v[A][i] = fold(r->a - expect_a(c, r, args)->a);
	rows->v[B][i] = fold(r->b - expect_b(c, r, args));
	came(next, last, rank, meta);
	learn(c, r, args);
}

static void unpack_one(struct tmigr_columns *c, const struct rows *rows, size_t i,
		       struct tmigr_rec *r)
{
	struct entry *last, *next, *args;
	unsigned int rank = rows->rank[i];
	__u32 meta;

	r->t_ns = c->t_ns + unfold(rows->v[TIME][i]);
	r->cpu = c->cpu + (__u32)unfold(rows->v[CPU][i]);
	last = entry(c, LAST, r->cpu, 1);
	next = entry(c, NEXT, r->cpu, last->meta[0]);
	meta = rank < RANKS ? next->meta[rank] : (__u32)rows->v[META][i];
	r->type = (__u8)meta;
	r->flags = (__u8)(meta >> 8);
	r->level = (__u8)(meta >> 16);
	r->mask = (__u8)(meta >> 24);
	args = args_of(c, r->cpu, meta);
	r->a = expect_a(c, r, args)->a + unfold(rows->v[A][i]);
	r->b = expect_b(c, r, args) + unfold(rows->v[B][i]);
	came(next, last, rank, meta);
	learn(c, r, args);
}

/* ---- between numbers and columns of their bytes ---- */

static void scatter(const __u64 v[BLOCK], size_t m, int bytes, unsigned char *column, size_t n)
{
	__u64 all = 0;

	for (size_t k = 0; k < m; k++)
		all |= v[k];
	for (int i = 0; i < bytes; i++, column += n) {
		if (all >> 8 * i == 0)
			memset(column, 0, m);
		else
			for (size_t k = 0; k < m; k++)
				column[k] = (unsigned char)(v[k] >> 8 * i);
	}
}

static bool is_zero(const unsigned char *column, size_t m)
{
	static const unsigned char zero[BLOCK];

	return !memcmp(column, zero, m);
}

static void gather(const unsigned char *column, size_t n, int bytes, __u64 v[BLOCK], size_t m)
{
	for (size_t k = 0; k < m; k++)
		v[k] = column[k];
	for (int i = 1; i < bytes; i++) {
		column += n;
		/* Most are. */
		if (is_zero(column, m))
			continue;
		for (size_t k = 0; k < m; k++)
			v[k] |= (__u64)column[k] << 8 * i;
	}
}

static size_t block(size_t left)
{
	return left < BLOCK ? left : BLOCK;
}

void tmigr_columns_pack(struct tmigr_columns *c, const struct tmigr_rec *recs, size_t n,
			unsigned char *ret)
{
	struct rows rows;

	for (size_t i = 0; i < n; i += BLOCK) {
		size_t m = block(n - i);
		unsigned char *column = ret + n + i;

		for (size_t k = 0; k < m; k++)
			pack_one(c, recs + i + k, &rows, k);
		memcpy(ret + i, rows.rank, m);
		for (int f = 0; f < FIELDS; column += n * field_bytes[f++])
			scatter(rows.v[f], m, field_bytes[f], column, n);
	}
}

void tmigr_columns_unpack(struct tmigr_columns *c, const unsigned char *columns, size_t n,
			  struct tmigr_rec *ret)
{
	struct rows rows;

	for (size_t i = 0; i < n; i += BLOCK) {
		size_t m = block(n - i);
		const unsigned char *column = columns + n + i;

		memcpy(rows.rank, columns + i, m);
		for (int f = 0; f < FIELDS; column += n * field_bytes[f++])
			gather(column, n, field_bytes[f], rows.v[f], m);
		for (size_t k = 0; k < m; k++)
			unpack_one(c, &rows, k, ret + i + k);
	}
}
