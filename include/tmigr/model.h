/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model: hierarchy, state words, idle states, and the laws that the figures
 * obey.  Pure: no I/O, no clock, no global.  Records go in (rec.h), figures
 * and segments come out.
 *
 * Laws (each one a test):
 *  1. per CPU: running + every idle state + offline + unknown = window, in ns; and what
 *     it was to timer migration while it ran adds up to running
 *  2. per root: held + hand-over + duty + free + unknown = window, in ns
 *  3. a group's accepted updates and its seq distance agree; otherwise the lost
 *     updates are counted and the time they blur is unknown
 *  5. another delivery order of the same records (per-CPU order kept) gives the
 *     same result
 */
#ifndef TMIGR_MODEL_H
#define TMIGR_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "tmigr/rec.h"
#include "tmigr/topology.h"

struct tmigr_model;

/* Who has the migrator of a root. */
enum tmigr_regime {
	TMIGR_HELD,	/* a CPU holds it */
	TMIGR_HANDOVER, /* a group below the root says "none" while its parent
			 * still points at it */
	TMIGR_DUTY,	/* nobody; an idle CPU is armed for the first timer */
	TMIGR_FREE,	/* nobody, and no global timer pending */
	TMIGR_UNKNOWN,	/* lost records, or not learnt yet */
	TMIGR_REGIMES
};

/* A maximal interval of one root with the same regime and holder. */
struct tmigr_segment {
	unsigned int root; /* index into tmigr_result.roots */
	enum tmigr_regime regime;
	int cpu;	/* the holder under TMIGR_HELD, else -1 */
	__u64 start_ns; /* CLOCK_MONOTONIC */
	__u64 end_ns;
};

/*
 * A stretch of one CPU in one slot.  The stretches of a CPU follow one another
 * without a gap from the window's start to its end, and those of a slot add up to
 * the CPU's time in it.  An event ends one even where the slot stays the same
 * (an idle state entered again); one of no length is not told of.
 */
struct tmigr_cpu_span {
	unsigned int cpu;  /* the kernel's number */
	unsigned int slot; /* what it was in */
	__u64 start_ns;	   /* CLOCK_MONOTONIC */
	__u64 end_ns;
};

/* Where a group's state word sends one who looks for its migrator. */
enum tmigr_group_to {
	TMIGR_TO_UNKNOWN, /* updates lost, word or child not learnt yet */
	TMIGR_TO_NONE,	  /* it has no migrator */
	TMIGR_TO_CPU,
	TMIGR_TO_GROUP,
};

/*
 * A stretch of one group with the same migrator.  The stretches of a group follow
 * one another without a gap from the window's start to its end; two that follow
 * one another differ, unless both are not known or something else held between
 * them for no time: two updates that took effect at once.
 */
struct tmigr_group_span {
	unsigned int group; /* the model's number of it: tmigr_group_view.number */
	enum tmigr_group_to to;
	unsigned int child; /* TMIGR_TO_CPU: the kernel's number; TMIGR_TO_GROUP: as
			     * in group; else 0 */
	__u64 start_ns;	    /* CLOCK_MONOTONIC */
	__u64 end_ns;
};

/* A remote expiry inside the window. */
struct tmigr_remote_event {
	__u64 t_ns; /* CLOCK_MONOTONIC */
	unsigned int executor, target;
	int woke; /* slot that an idle interval of the executor ended for it; -1 none did */
};

struct tmigr_model_cfg {
	/* Borrowed; must outlive the model. CPUs in the records that are not
	 * in it are counted as lost knowledge (unknown), never a crash. */
	const struct tmigr_topology *topo;
	/* Window start; records before it set the state and count nothing. */
	__u64 start_ns;
	/* Called for each finished segment in time order per root; optional. */
	void (*segment)(void *arg, const struct tmigr_segment *seg);
	/* Called for each finished stretch in time order per CPU; optional. */
	void (*cpu_span)(void *arg, const struct tmigr_cpu_span *span);
	/* Called for each finished stretch in time order per group; optional. */
	void (*group_span)(void *arg, const struct tmigr_group_span *span);
	/* Called for each remote expiry in time order; optional. */
	void (*remote)(void *arg, const struct tmigr_remote_event *event);
	void *arg;  /* of all */
	size_t far; /* tests: records, see model_order.c; 0: as it should be */
};

/*
 * An update of a group that arrives later than this after a later update of the
 * same group counts as lost.  Records are held back in the model for that
 * long, so the model's present is tmigr_model_advance()'s time minus this.
 */
#define TMIGR_LOOKAHEAD_NS 100000000ULL

/* 0 or -ENOMEM; the model is owned by the caller (tmigr_model_free). */
int tmigr_model_new(const struct tmigr_model_cfg *cfg, struct tmigr_model **ret);
void tmigr_model_free(struct tmigr_model *m);
/* A copy that is fed and finished by itself, and tells of no segments, spans
 * and remote expiries; owned by the caller.  -EINVAL: the model is finished. */
int tmigr_model_clone(const struct tmigr_model *m, struct tmigr_model **ret);

/*
 * Takes @n records, in any order across CPUs; of one CPU (`cpu` field and
 * kernel-event types) in the order they were recorded.  0, -ENOMEM, or -EINVAL
 * for a record that no source can make (unknown type).
 */
int tmigr_model_feed(struct tmigr_model *m, const struct tmigr_rec *recs, size_t n);

/*
 * The caller will feed no further record with t_ns < @watermark_ns.  Records
 * older than that by more than TMIGR_LOOKAHEAD_NS take effect: the window's end
 * must not lie before them, so once the end is chosen a caller does not advance
 * beyond end_ns + TMIGR_LOOKAHEAD_NS (but calls tmigr_model_finish).  To see
 * the state as of a snapshot at t, advance to t + TMIGR_LOOKAHEAD_NS + 1.
 */
int tmigr_model_advance(struct tmigr_model *m, __u64 watermark_ns);

/*
 * Ends the window: everything fed is processed.  Records at or after @end_ns
 * change no figure, but still tell what was lost before it (group words, LOST)
 * and what a CPU that was silent in the window had been in.  Called once.
 * -EINVAL: @end_ns lies before the start, or before what has been processed
 * (the watermark went beyond @end_ns + TMIGR_LOOKAHEAD_NS).
 */
int tmigr_model_finish(struct tmigr_model *m, __u64 end_ns);

/* ---- figures; valid after tmigr_model_finish(), owned by the model ---- */

/* What a CPU is to timer migration. */
enum tmigr_part {
	TMIGR_PART_ACTIVE,
	TMIGR_PART_IDLE,
	TMIGR_PART_OUTSIDE, /* not in the hierarchy: not available, isolated */
	TMIGR_PART_UNKNOWN,
	TMIGR_PARTS
};

struct tmigr_cpu_figures {
	unsigned int cpu;
	__u64 time_ns[TMIGR_SLOTS];
	/* time_ns[TMIGR_SLOT_RUNNING], by what the CPU was to timer migration. */
	__u64 running_ns[TMIGR_PARTS];
	__u64 entries[TMIGR_SLOTS]; /* cpu_idle enter events in the window */
	__u64 above[TMIGR_SLOTS];   /* cpu_idle_miss, by state */
	__u64 below[TMIGR_SLOTS];
	/* Intervals that ended in the window and whose start was seen (it may
	 * lie before the window), full length. */
	__u64 hist[TMIGR_SLOTS][TMIGR_HIST_BUCKETS];
};

struct tmigr_holder {
	unsigned int cpu;
	__u64 held_ns;
	__u64 holdings; /* maximal intervals of uninterrupted holding */
	__u64 longest_ns;
	__u64 slot_ns[TMIGR_SLOTS]; /* what the CPU was in while it held */
	/* Part of held_ns in which a CPU of a lower class under the same root
	 * was tmigr-active, and in which that could not be known. */
	__u64 avoidable_ns;
	__u64 avoidable_unknown_ns;
};

struct tmigr_root_figures {
	unsigned int group; /* index into tmigr_hierarchy.groups */
	__u64 regime_ns[TMIGR_REGIMES];
	size_t n_holders; /* CPUs that held at all, ascending */
	struct tmigr_holder *holders;
};

/* Remote expiries: tmigr_handle_remote_cpu, executor on behalf of target. */
struct tmigr_remote {
	unsigned int executor;
	unsigned int target;
	__u64 count;
	/* Of count: the first remote expiry after an idle interval of the
	 * executor which the idle task went on to run, so that the interval
	 * ended for it; by the state it had been in (slot). */
	__u64 woke[TMIGR_SLOTS];
	/* Nothing ever told what the executor was in: woke cannot be told. */
	bool woke_unknown;
};

struct tmigr_result {
	__u64 start_ns, end_ns;
	size_t n_cpus; /* as in the topology */
	struct tmigr_cpu_figures *cpus;
	/* By the lowest CPU below them; roots that appear after the first
	 * CLEAN inside the window follow at the end. */
	size_t n_roots;
	struct tmigr_root_figures *roots;
	size_t n_remote; /* ascending by (executor, target) */
	struct tmigr_remote *remote;
	__u64 lost_records; /* sum of LOST */
	__u64 lost_updates; /* by seq distance */
	__u64 late_updates; /* arrived too late to be used (counted lost) */
	__u64 records;	    /* kernel events processed inside the window */
};

const struct tmigr_result *tmigr_model_result(const struct tmigr_model *m);

/* ---- the hierarchy at the model's present; for tree and top ---- */

struct tmigr_group_view {
	char name[24]; /* "GRP0:1": level, number by lowest CPU */
	int parent;    /* index, or -1: a root */
	unsigned int level;
	__u8 mask;  /* in the parent */
	int node;   /* NUMA, -1 across nodes */
	bool known; /* word is valid */
	__u32 word;
	size_t n_cpus;	     /* below it, all levels */
	unsigned int number; /* the model's, the same at every time */
};

struct tmigr_cpu_view {
	unsigned int cpu;
	int group; /* level-0 group index; -1 not in the hierarchy or not
		    * learnt yet */
	__u8 mask;
	bool learnt; /* its place is known */
	bool available;
	int active;	   /* tmigr-active: 1, 0, or -1 unknown */
	unsigned int slot; /* what it is in */
	__u64 wakeup_ns;   /* duty; TMIGR_KTIME_MAX none */
	bool wakeup_known;
};

struct tmigr_root_view {
	unsigned int group;
	enum tmigr_regime regime;
	int cpu; /* holder, or -1 */
};

struct tmigr_hierarchy {
	size_t n_groups; /* by level from the top, then by lowest CPU */
	struct tmigr_group_view *groups;
	size_t n_cpus; /* as in the topology */
	struct tmigr_cpu_view *cpus;
	size_t n_roots;
	struct tmigr_root_view *roots;
};

/* A copy, owned by the caller (tmigr_hierarchy_free).  0 or -ENOMEM. */
int tmigr_model_hierarchy(const struct tmigr_model *m, struct tmigr_hierarchy **ret);
void tmigr_hierarchy_free(struct tmigr_hierarchy *h);

#endif
