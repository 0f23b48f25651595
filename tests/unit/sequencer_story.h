/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the tests of the order of one group's updates: a handful of events, and what the
 * sequencer makes of them.
 */
#ifndef TESTS_SEQUENCER_STORY_H
#define TESTS_SEQUENCER_STORY_H

#include <string.h>

#include "../lib/sim.h"
#include "tmigr/traced.h"

#define MAX	 64
#define GROUP	 0x1000
#define NONE	 TMIGR_NO_MIGRATOR
#define SEQ_BASE 0x7fff

static struct tmigr_traced evs[MAX];
static size_t n_evs;
static struct tmigr_rec recs[MAX * 4];
static size_t n_recs;
static struct tmigr_sequencer_stats stats;

static inline int on_records(void *arg, const struct tmigr_rec *r, size_t n)
{
	(void)arg;
	assert_true(n_recs + n <= sizeof(recs) / sizeof(recs[0]));
	memcpy(recs + n_recs, r, n * sizeof(*r));
	n_recs += n;
	return 0;
}

static inline int setup(void **state)
{
	(void)state;
	n_evs = n_recs = 0;
	return 0;
}

static inline struct tmigr_traced *event(unsigned int type, __u64 t_ns, __u32 cpu)
{
	assert_true(n_evs < MAX);
	evs[n_evs] = (struct tmigr_traced){.t_ns = t_ns, .cpu = cpu, .type = (__u8)type};
	return &evs[n_evs++];
}

/* An update by a CPU of the group; the word after it. */
static inline void update(unsigned int type, __u64 t_ns, __u32 cpu, unsigned int active,
			  unsigned int migrator)
{
	struct tmigr_traced *ev = event(type, t_ns, cpu);

	ev->group = GROUP;
	ev->has = TMIGR_HAS_PARENT;
	ev->mask = (__u8)(1u << cpu);
	ev->active = (__u8)active;
	ev->migrator = (__u8)migrator;
}

#define up(...)	  update(TMIGR_TRACED_GROUP_ACTIVE, __VA_ARGS__)
#define down(...) update(TMIGR_TRACED_GROUP_INACTIVE, __VA_ARGS__)
/* The CPU was somewhere else until then: its next update is later than that. */
#define other(...) event(TMIGR_TRACED_OTHER, __VA_ARGS__)

/* All at once, each CPU's in the order in which they were made. */
static inline void sequence(void)
{
	const struct tmigr_sequencer_cfg cfg = {
		.records = on_records, .prologue_events = 1 << 20, .prologue_ns = ~0ULL};
	struct tmigr_sequencer *s;

	n_recs = 0;
	assert_int_equal(tmigr_sequencer_new(&cfg, &s), 0);
	assert_int_equal(tmigr_sequencer_feed(s, evs, n_evs), 0);
	assert_int_equal(tmigr_sequencer_finish(s), 0);
	stats = *tmigr_sequencer_stats(s);
	tmigr_sequencer_free(s);
}

static inline const struct tmigr_rec *record_of(__u64 t_ns, __u32 cpu)
{
	for (size_t i = 0; i < n_recs; i++)
		if (recs[i].t_ns == t_ns && recs[i].cpu == cpu &&
		    (recs[i].type == TMIGR_REC_GROUP_ACTIVE ||
		     recs[i].type == TMIGR_REC_GROUP_INACTIVE))
			return &recs[i];
	fail_msg("no record of CPU %u at %llu", cpu, (unsigned long long)t_ns);
	return NULL;
}

static inline unsigned int seq_of(__u64 t_ns, __u32 cpu)
{
	return (__u16)(record_of(t_ns, cpu)->b >> 16);
}

static inline void assert_stats(__u64 moved, __u64 odd, __u64 breaks)
{
	assert_int_equal(stats.moved, moved);
	assert_int_equal(stats.odd, odd);
	assert_int_equal(stats.breaks, breaks);
}

#endif
