/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Insides of the sequencer, for lib/sequencer*.c only.
 *
 * sequencer.c         life, what comes in, what goes out
 * sequencer_order.c   the order of a group's updates
 * sequencer_search.c  ... where it is not that of the stamps
 * sequencer_learn.c   links, and what the first events tell of the time before
 * sequencer_rec.c     records
 *
 * Events wait in `held`, sorted by time.  Updates of a group, and losses that may
 * be updates of it, are also in the group's queue, by their number; what is
 * decided leaves the queue, and events leave `held` from its front as far as all
 * updates there are decided.
 */
#ifndef TMIGR_SEQUENCER_PRIV_H
#define TMIGR_SEQUENCER_PRIV_H

#include "model_internal.h" /* tmigr_map, tmigr_grow */
#include "tmigr/traced.h"

struct held {
	struct tmigr_traced ev;
	/* The update was made after this stamp: of its CPU's event before. */
	__u64 lo_ns;
	__u16 seq;
	bool queued;	/* in a group's queue, not decided yet */
	bool overtaken; /* a later stamp in the queue may be of an earlier update */
	bool gap;	/* the update may not follow the one before */
};

struct word {
	bool known;
	__u8 active, migrator;
};

struct group {
	__u64 key;
	__u64 *queue; /* numbers of events in held */
	size_t head, tail, cap;
	struct word word;
	__u16 seq;
	__u64 good_ns; /* stamp of the last decided update */
	/* what is known of it */
	__u64 parent; /* with has_parent; 0: none */
	bool has_parent, has_node, has_level;
	bool made_here; /* a connect event or group_set told of it in the stream */
	bool started;	/* `first` is set, or can't be known */
	bool has_first;
	__u16 first_word; /* active and migrator as before the first update */
	__u8 level, mask;
	__s32 node;
	/* what of it was given out */
	bool out_node, out_parent, out_mask;
};

struct seq_cpu {
	bool seen;
	__u64 last_ns; /* of its last event that came in */
	/* its place */
	__u64 group;
	__u8 mask;
	bool connected_here;
	bool out_node, out_mask;
	/* the group walk that it is in */
	__u64 walk_group;
	__u8 walk_type;
	/* what its first event of timer migration tells of the time before */
	bool started, handled_remote;
	bool has_first;
	__u64 first_wakeup;
	__u8 first_flags;
	/* CPU hotplug that only tmigr_cpu_offline tells of */
	bool leaving, left;
};

struct tmigr_sequencer {
	struct tmigr_sequencer_cfg cfg;
	struct tmigr_sequencer_stats stats;
	int err;
	bool counted; /* an event was: stats.first_ns is one's */
	bool prologue;
	__u64 watermark_ns;

	struct held *held; /* [front, n_held): sorted up to n_sorted */
	size_t front, n_sorted, n_held, cap_held;
	bool sorted;	    /* the rest is in order too */
	__u64 first_number; /* of held[0] */

	struct group *groups;
	size_t n_groups, cap_groups;
	struct tmigr_map group_map;
	int last_group; /* index of the last one looked up */

	struct seq_cpu *cpus;
	size_t n_cpus, cap_cpus;

	struct tmigr_rec *out;
	size_t n_out;
	__u64 n_records, clean_ns;
	__u64 clean_at;	  /* n_records of the last CLEAN */
	__u64 mark_ns[2]; /* times some tens of thousands of records ago */
	__u64 mark_at;
};

#define SEQ_BASE 0x7fff
#define SEQ_OUT	 2048 /* records given out at once, at most */

static inline struct held *seq_held(struct tmigr_sequencer *s, __u64 number)
{
	return &s->held[number - s->first_number];
}

static inline bool seq_is_update(const struct tmigr_traced *ev)
{
	return ev->type == TMIGR_TRACED_GROUP_ACTIVE || ev->type == TMIGR_TRACED_GROUP_INACTIVE;
}

/* sequencer.c */
struct group *seq_find_group(struct tmigr_sequencer *s, __u64 key);
struct seq_cpu *seq_new_cpu(struct tmigr_sequencer *s, __u32 cpu);

/* Made when new; NULL: err. */
static inline struct group *seq_group(struct tmigr_sequencer *s, __u64 key)
{
	if (s->last_group >= 0 && s->groups[s->last_group].key == key)
		return &s->groups[s->last_group];
	return seq_find_group(s, key);
}

static inline struct seq_cpu *seq_cpu(struct tmigr_sequencer *s, __u32 cpu)
{
	return cpu < s->n_cpus ? &s->cpus[cpu] : seq_new_cpu(s, cpu);
}

/* sequencer_order.c */
/* Puts an update or a loss into the queue of its group. */
void seq_enqueue(struct tmigr_sequencer *s, struct group *g, __u64 number);
/* Decides what is at or before @limit_ns. */
void seq_decide(struct tmigr_sequencer *s, struct group *g, __u64 limit_ns);

/* How an update can follow a word. */
#define SEQ_ODD	  1000000000000ULL
#define SEQ_BREAK 1000000000000000ULL
__u64 seq_step_cost(const struct word *w, const struct tmigr_traced *u);
static inline struct word seq_word(const struct tmigr_traced *u)
{
	return (struct word){true, u->active, u->migrator};
}

/* sequencer_search.c */
#define SEQ_WINDOW 32
/* The best order of @n (up to SEQ_WINDOW) updates after @w: indices into @ups. */
void seq_search(const struct word *w, struct held *const *ups, unsigned int n,
		unsigned char *order);

/* sequencer_learn.c */
/* Notes what @ev tells of links; gives out what is new, with the time @t_ns, if
 * @out. */
void seq_learn(struct tmigr_sequencer *s, const struct tmigr_traced *ev, bool out);
/* What the first words and events tell of the time before. */
void seq_first_word(struct group *g, const struct tmigr_traced *u);
void seq_first_event(struct tmigr_sequencer *s, const struct tmigr_traced *ev);
void seq_out_start(struct tmigr_sequencer *s, __u64 start_ns);

/* sequencer_rec.c */
void seq_flush(struct tmigr_sequencer *s);
/* Where the next record goes, which is filled in place: a copy of what was just written in
 * parts would wait for them. */
static inline struct tmigr_rec *seq_next(struct tmigr_sequencer *s)
{
	if (s->n_out == SEQ_OUT)
		seq_flush(s);
	s->n_records++;
	return &s->out[s->n_out++];
}
static inline void seq_put(struct tmigr_sequencer *s, const struct tmigr_rec *rec)
{
	*seq_next(s) = *rec;
}
/* Gives out a CLEAN now and then; everything before @limit_ns was. */
void seq_out_clean(struct tmigr_sequencer *s, __u64 limit_ns);
void seq_out_event(struct tmigr_sequencer *s, const struct held *h);

#endif
