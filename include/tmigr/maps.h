/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layout of the BPF maps and globals that user space reads: shared by bpf/ and
 * lib/live*.c, by nobody else.  Fixed-size types only.
 *
 * Window edges.  User space announces an edge E (a CLOCK_MONOTONIC instant a
 * little in the future) in `tmigr_edge_ns`.  The first event of a CPU at or
 * after E copies `cur` to `edge` before it counts: `edge` holds the CPU's
 * cumulative figures as they were at its last event before E, and the open
 * interval (slot, since) is closed at E by arithmetic.  A CPU silent since E
 * has not copied yet: then `cur` is what `edge` would be.  Either way the
 * figures are exact at E, and no CPU is woken.  A handler reads the clock
 * first and the edge after it, so one that misses the announcement has a time
 * before E.
 *
 * There may be any number of edges, one after the other: the figures at one are
 * read before the next is announced, or never, and all figures are cumulative, so that
 * any two edges make a window.  A CPU silent over several edges passes the last
 * one only.
 *
 * `edge` is written once per edge, before `edge_ns` (an atomic exchange, so in
 * that order on every machine): a reader that saw edge_ns == E may use an `edge`
 * that it reads afterwards.  `cur` of a CPU that has not copied yet is used when
 * two copies of the value are equal in every byte, `seq` even, and all handlers
 * that ran at the time of the first have ended before the second (the kernel
 * waits for them when a map in a map is replaced).  `seq` is odd while a handler
 * of this CPU writes.  Without that wait a handler's stores could be seen in
 * another order on arm64.
 */
#ifndef TMIGR_MAPS_H
#define TMIGR_MAPS_H

#include "tmigr/rec.h"

struct tmigr_slot_totals {
	__u64 time_ns;
	__u64 entries;
	__u64 above;
	__u64 below;
	__u64 hist[TMIGR_HIST_BUCKETS];
};

struct tmigr_totals {
	__u64 since_ns;	   /* start of the open interval */
	__u32 slot;	   /* TMIGR_SLOT_* it is in */
	__u32 since_known; /* its start was seen (counts in the histogram) */
	__u32 woke_slot;   /* slot of the last idle interval if the idle task
			    * ran no remote expiry since it began, else
			    * TMIGR_SLOTS */
	__u32 pad;
	__u64 lost;	   /* records that found no room */
	__u64 records;	   /* records written */
	__u64 remote_lost; /* remote expiries that `remote` had no room for */
	struct tmigr_slot_totals slots[TMIGR_SLOTS];
};

/* Value of the per-CPU array `cpus`, one entry. */
struct tmigr_cpu_value {
	__u64 seq;
	__u64 edge_ns;	     /* the edge that `edge` is for */
	__u64 first_ns;	     /* first cpu_idle event ever seen, 0 none yet */
	__u32 first_type;    /* TMIGR_REC_IDLE_ENTER, _EXIT, CPU_ONLINE ... */
	__u32 check_duty;    /* tmigr_handle_remote ran since the last idle entry */
	__u64 tmc;	     /* struct tmigr_cpu * of this CPU, 0 not seen yet */
	__u64 lost_since_ns; /* first record lost since the last success, 0 none */
	__u64 lost_since_n;  /* records lost that no LOST record told of yet */
	__u32 learnt;	     /* this CPU's path is in the timeline, or the
			      * snapshot has it */
	__u32 pad;
	struct tmigr_totals cur;
	struct tmigr_totals edge;
};

/*
 * The log of one CPU, an element of the array `logs` that user space maps: the records of
 * the handlers that own the CPU's value, one after the other.  This CPU alone writes to it,
 * user space alone reads, and what finds no room is lost, and counted.  Positions are in
 * bytes since the start; a record at position p is at (p & (size - 1)) of the data and does
 * not wrap: the element is longer than the log by TMIGR_LOG_SPARE.
 *
 * A record is 1, 3 or 4 words by its type.  The first has the low 48 bits of the time (the
 * reader, who comes more often than every three days, knows the others), 8 bits of its
 * own, and the type:
 *   1 word   IDLE_ENTER (own bits: the state), IDLE_EXIT
 *   3 words  own bits: mask; a; b (low half), level, flags
 *   4 words  own bits: mask; a; b; cpu (low half), level, flags
 * `cpu` is the log's where the record does not say.
 */
#define TMIGR_LOG_TIME_SHIFT 16
#define TMIGR_LOG_SPARE	     128 /* more than a record, and a LOST before it */

struct tmigr_log {
	__u64 tail; /* read up to here: user space's */
	__u8 pad1[120];
	__u64 head; /* written up to here */
	__u8 pad2[120];
	/* the data */
};

static inline __u32 tmigr_log_words(__u8 type)
{
	switch (type) {
	case TMIGR_REC_IDLE_ENTER:
	case TMIGR_REC_IDLE_EXIT:
		return 1;
	case TMIGR_REC_GROUP_ACTIVE:
	case TMIGR_REC_GROUP_INACTIVE:
	case TMIGR_REC_CPU_ACTIVE:
	case TMIGR_REC_CPU_IDLE:
	case TMIGR_REC_CPU_NEW_TIMER_IDLE:
	case TMIGR_REC_CPU_NEW_TIMER:
	case TMIGR_REC_HANDLE_REMOTE_CPU:
	case TMIGR_REC_CPU_AVAILABLE:
	case TMIGR_REC_CPU_UNAVAILABLE:
	case TMIGR_REC_NODE_CPU:
	case TMIGR_REC_SNAP_GROUP:
	case TMIGR_REC_SNAP_CPU:
	case TMIGR_REC_DUTY:
		return 3;
	default:
		return 4;
	}
}

/* Key and value of the hash `remote`: exact counts per edge interval.  User
 * space takes those of an interval out when it has ended. */
struct tmigr_remote_key {
	__u64 edge_ns; /* the last edge that the CPU had passed, 0: none yet */
	__u32 executor;
	__u32 target;
	__u32 woke_slot; /* state the executor was woken from, or
			  * TMIGR_SLOTS: none */
	__u32 pad;
};

/* Context of the snapshot programs: one run reads one CPU. */
struct tmigr_snap_args {
	__u32 cpu;
	__u32 known_cpu; /* ruler: the CPU of known_tmc */
	__u64 known_tmc; /* a struct tmigr_cpu *, from its first event, or 0 */
	__s64 rq_to_tmc; /* from a CPU's runqueue to its struct tmigr_cpu, as
			  * the two lie in the kernel's per-CPU section;
			  * 0: not known */
};

/* Entry of the array that the snapshot program fills, one per possible CPU. */
#define TMIGR_SNAP_LEVELS                                                                          \
	10 /* the kernel's own bound on levels is below it:                                        \
	    * 8 children a group, 32-bit CPU numbers */
struct tmigr_snap_group {
	__u64 group; /* 0: end of the path */
	__u64 parent;
	__u64 next_expiry;
	__u32 word;
	__s32 node;
	__u8 level;
	__u8 mask;
	__u8 pad[6];
};

struct tmigr_snap_cpu {
	__u64 t_ns; /* when it was read */
	__u64 wakeup;
	__u64 next_expiry; /* cpuevt.nextevt.expires, KTIME_MAX if ignored */
	__u8 valid;	   /* cpuevt.cpu confirmed */
	__u8 available;
	__u8 idle;
	__u8 mask;
	__u8 rq_valid;
	__u8 rq_idle; /* the idle task runs */
	__u8 quiet;   /* no cpu_idle event of it up to now: rq_* hold
		       * since the programs were attached */
	__u8 pad;
	char state_name[16]; /* of rq->idle_state, "" when NULL */
	struct tmigr_snap_group path[TMIGR_SNAP_LEVELS];
};

#endif
