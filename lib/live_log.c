// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reader of one CPU's log (maps.h): looks at the oldest record and leaves it, as that of a
 * ring buffer does (live_ring.c).
 */
#include "live_priv.h"

#include <stdint.h>

/* A record's time is taken by another CPU's clock, which may be ahead by a little. */
#define AHEAD_NS (1 * TMIGR_NS_PER_S)

void tmigr_log_open(struct tmigr_log_reader *reader, struct tmigr_log *log, size_t size,
		    unsigned int cpu)
{
	*reader =
		(struct tmigr_log_reader){.log = log, .size = size, .cpu = cpu, .tail = log->tail};
}

static const __u64 *words_at(const struct tmigr_log_reader *reader, __u64 pos)
{
	return (const __u64 *)((const char *)(reader->log + 1) + (pos & (reader->size - 1)));
}

/* The latest instant up to @now_ns with these low bits. */
static __u64 full_time(__u64 head, __u64 now_ns)
{
	const __u64 ceiling = now_ns + AHEAD_NS;
	const unsigned int bits = 64 - TMIGR_LOG_TIME_SHIFT;

	return ceiling - ((ceiling - (head >> TMIGR_LOG_TIME_SHIFT)) & ((1ULL << bits) - 1));
}

/* Returns its length in bytes. */
static size_t decode(const struct tmigr_log_reader *reader, __u64 pos, __u64 now_ns,
		     struct tmigr_rec *rec)
{
	const __u64 *w = words_at(reader, pos);
	size_t n;

	*rec = (struct tmigr_rec){
		.t_ns = full_time(w[0], now_ns), .cpu = reader->cpu, .type = (__u8)w[0]};
	n = tmigr_log_words(rec->type);
	if (n == 1) {
		rec->a = (__u8)(w[0] >> 8);
		return n * sizeof(*w);
	}
	rec->mask = (__u8)(w[0] >> 8);
	rec->a = w[1];
	rec->b = n == 3 ? (__u32)w[2] : w[2];
	rec->level = (__u8)(w[n - 1] >> 32);
	rec->flags = (__u8)(w[n - 1] >> 40);
	if (n == 4)
		rec->cpu = (__u32)w[3];
	return n * sizeof(*w);
}

/* The head is read before the clock: all records up to it are older. */
static void look(struct tmigr_log_reader *reader)
{
	reader->head = __atomic_load_n(&reader->log->head, __ATOMIC_ACQUIRE);
	reader->now_ns = tmigr_now_ns();
}

const struct tmigr_rec *tmigr_log_peek(struct tmigr_log_reader *reader)
{
	if (!reader->log)
		return NULL;
	if (reader->bytes)
		return &reader->rec;
	if (reader->tail == reader->head)
		look(reader);
	if (reader->tail == reader->head)
		return NULL;
	reader->bytes = decode(reader, reader->tail, reader->now_ns, &reader->rec);
	return &reader->rec;
}

void tmigr_log_pop(struct tmigr_log_reader *reader)
{
	reader->tail += reader->bytes;
	reader->bytes = 0;
	__atomic_store_n(&reader->log->tail, reader->tail, __ATOMIC_RELEASE);
}

__u64 tmigr_log_find_lost(struct tmigr_log_reader *reader)
{
	struct tmigr_rec rec;

	if (!reader->log)
		return UINT64_MAX;
	look(reader);
	for (__u64 pos = reader->tail; pos != reader->head;) {
		pos += decode(reader, pos, reader->now_ns, &rec);
		if (rec.type == TMIGR_REC_LOST)
			return rec.b;
	}
	return UINT64_MAX;
}
