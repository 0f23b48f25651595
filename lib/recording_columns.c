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

enum { AT_RANK = 0, AT_META = 1, AT_TIME = 5, AT_CPU = 13, AT_A = 17, AT_B = 25 };

struct tmigr_columns {
	bool fresh; /* nothing is expected yet */
	__u64 t_ns;
	__u32 cpu;
	__u32 last[SLOTS];	  /* of a CPU: its event before */
	__u32 next[SLOTS][RANKS]; /* what came after an event of a CPU, latest first */
	struct {
		__u64 a, b;
	} args[SLOTS];	     /* of a CPU's event, the last time */
	__u64 wakeup[SLOTS]; /* of a CPU */
	__u32 word[SLOTS];   /* of a group */
};

struct tmigr_columns *tmigr_columns_new(void)
{
	struct tmigr_columns *c = calloc(1, sizeof(*c));

	if (c)
		c->fresh = true;
	return c;
}

void tmigr_columns_reset(struct tmigr_columns *c)
{
	if (c->fresh)
		return;
	memset(c, 0, sizeof(*c));
	c->fresh = true;
}

void tmigr_columns_free(struct tmigr_columns *c)
{
	free(c);
}

static size_t slot(__u64 x, __u64 y)
{
	return (size_t)(((x * 0x9e3779b97f4a7c15ULL) ^ y) * 0x9e3779b97f4a7c15ULL >>
			(64 - SLOT_BITS));
}

static __u64 fold(__u64 d)
{
	return d << 1 ^ (__u64)((__s64)d >> 63);
}

static __u64 unfold(__u64 f)
{
	return f >> 1 ^ -(f & 1);
}

static void put(unsigned char *p, __u64 v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static __u64 get(const unsigned char *p, int bytes)
{
	__u64 v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (__u64)p[i] << 8 * i;
	return v;
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

/* Where the successors of its CPU's event before are. */
static __u32 *successors(struct tmigr_columns *c, __u32 cpu)
{
	return c->next[slot(cpu, c->last[slot(cpu, 1)])];
}

/* @meta came: to the front, from @rank (RANK_NEW: the last one goes). */
static void came(struct tmigr_columns *c, __u32 *next, unsigned int rank, __u32 cpu, __u32 meta)
{
	if (rank >= RANKS)
		rank = RANKS - 1;
	memmove(next + 1, next, rank * sizeof(*next));
	next[0] = meta;
	c->last[slot(cpu, 1)] = meta;
}

static __u64 *expect_a(struct tmigr_columns *c, const struct tmigr_rec *r, size_t args)
{
	/* The duty that a CPU held while idle is the one that it took. */
	return r->type == TMIGR_REC_CPU_ACTIVE ? &c->wakeup[slot(r->cpu, 2)] : &c->args[args].a;
}

static void learn(struct tmigr_columns *c, const struct tmigr_rec *r, size_t args)
{
	c->fresh = false;
	c->t_ns = r->t_ns;
	c->cpu = r->cpu;
	c->args[args].a = r->a;
	c->args[args].b = r->b;
	if (is_group(r->type))
		c->word[slot(r->a, 3)] = (__u32)r->b;
	else if (r->type == TMIGR_REC_CPU_IDLE || r->type == TMIGR_REC_CPU_NEW_TIMER_IDLE)
		c->wakeup[slot(r->cpu, 2)] = r->a;
}

static __u64 expect_b(const struct tmigr_columns *c, const struct tmigr_rec *r, size_t args)
{
	return is_group(r->type) ? expect_word(c->word[slot(r->a, 3)], r->type, r->mask)
				 : c->args[args].b;
}

static void pack_one(struct tmigr_columns *c, const struct tmigr_rec *r, unsigned char *p)
{
	__u32 meta = meta_of(r), *next = successors(c, r->cpu);
	size_t args = slot(r->cpu, (__u64)meta << 8 | 4);
	unsigned int rank = 0;

	while (rank < RANKS && next[rank] != meta)
		rank++;
	p[AT_RANK] = (unsigned char)rank;
	put(p + AT_META, rank == RANK_NEW ? meta : 0, 4);
	put(p + AT_TIME, fold(r->t_ns - c->t_ns), 8);
	put(p + AT_CPU, fold((__u64)(__s32)(r->cpu - c->cpu)), 4);
	put(p + AT_A, fold(r->a - *expect_a(c, r, args)), 8);
	put(p + AT_B, fold(r->b - expect_b(c, r, args)), 8);
	came(c, next, rank, r->cpu, meta);
	learn(c, r, args);
}

static void unpack_one(struct tmigr_columns *c, const unsigned char *p, struct tmigr_rec *r)
{
	__u32 meta, *next;
	size_t args;

	r->t_ns = c->t_ns + unfold(get(p + AT_TIME, 8));
	r->cpu = c->cpu + (__u32)unfold(get(p + AT_CPU, 4));
	next = successors(c, r->cpu);
	meta = p[AT_RANK] < RANKS ? next[p[AT_RANK]] : (__u32)get(p + AT_META, 4);
	r->type = (__u8)meta;
	r->flags = (__u8)(meta >> 8);
	r->level = (__u8)(meta >> 16);
	r->mask = (__u8)(meta >> 24);
	args = slot(r->cpu, (__u64)meta << 8 | 4);
	r->a = *expect_a(c, r, args) + unfold(get(p + AT_A, 8));
	r->b = expect_b(c, r, args) + unfold(get(p + AT_B, 8));
	came(c, next, p[AT_RANK], r->cpu, meta);
	learn(c, r, args);
}

static size_t block(size_t left)
{
	return left < BLOCK ? left : BLOCK;
}

void tmigr_columns_pack(struct tmigr_columns *c, const struct tmigr_rec *recs, size_t n,
			unsigned char *ret)
{
	unsigned char rows[BLOCK][TMIGR_COLUMNS];

	for (size_t i = 0; i < n; i += BLOCK) {
		size_t m = block(n - i);

		for (size_t k = 0; k < m; k++)
			pack_one(c, recs + i + k, rows[k]);
		for (size_t col = 0; col < TMIGR_COLUMNS; col++)
			for (size_t k = 0; k < m; k++)
				ret[col * n + i + k] = rows[k][col];
	}
}

void tmigr_columns_unpack(struct tmigr_columns *c, const unsigned char *columns, size_t n,
			  struct tmigr_rec *ret)
{
	unsigned char rows[BLOCK][TMIGR_COLUMNS];

	for (size_t i = 0; i < n; i += BLOCK) {
		size_t m = block(n - i);

		for (size_t col = 0; col < TMIGR_COLUMNS; col++)
			for (size_t k = 0; k < m; k++)
				rows[k][col] = columns[col * n + i + k];
		for (size_t k = 0; k < m; k++)
			unpack_one(c, rows[k], ret + i + k);
	}
}
