/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What idle costs a CPU, and who ended it: the figures of one idle state (a slot,
 * rec.h) of one CPU.  Counted by bpf/latency.bpf.h, only when asked.
 *
 * An interval begins with its cpu_idle enter event.  It is settled, with exactly one
 * cause, when the idle task is switched away from, or at the next enter event,
 * whichever comes first.  So at any instant a CPU's entries less its causes are 0, or
 * 1 for the interval that is open or not settled yet.
 *
 * Included by BPF programs: only fixed-size types, no libc.
 */
#ifndef TMIGR_LATENCY_H
#define TMIGR_LATENCY_H

#include "tmigr/rec.h"

/* Who ended an interval. */
enum tmigr_wake_cause {
	TMIGR_WAKE_UNKNOWN, /* this kernel lacks a tracepoint that would tell */
	TMIGR_WAKE_TIMER,   /* own timer (the tick too), also by another CPU's broadcast */
	TMIGR_WAKE_REMOTE,  /* a timer interrupt that ran other CPUs' timers, no own ones */
	TMIGR_WAKE_RESCHED, /* reschedule IPI */
	TMIGR_WAKE_CALL,    /* function-call IPI: also how most remote wake-ups come */
	TMIGR_WAKE_POLLED,  /* a wake-up without IPI: the CPU was watching its need_resched */
	TMIGR_WAKE_IRQ,	    /* a device's interrupt */
	TMIGR_WAKE_OTHER,   /* another IPI, the poll limit, a rejected entry, no handler */
	TMIGR_WAKE_CAUSES
};

/* Intervals of one cause; all sums. */
struct tmigr_lat_row {
	__u64 count;
	__u64 slept_ns;		 /* enter to wake-up */
	__u64 expected_n;	 /* whose end was known when they began: a timer was armed */
	__u64 short_n;		 /* of these, cut short: woken before it was due */
	__u64 short_slept_ns;	 /* of those: what they slept ... */
	__u64 short_expected_ns; /* ... and would have */
	__u64 awake_ns;		 /* wake-up to the switch to a task, or the next entry */
};

struct tmigr_lat_dist {
	__u64 hist[TMIGR_HIST_BUCKETS]; /* as of durations (rec.h) */
	__u64 sum_ns;
};

enum tmigr_lat_kind {
	TMIGR_LAT_ENTRY, /* ready for idle, to the enter event */
	TMIGR_LAT_TMIGR, /* of that, timer migration: its first event to its last */
	TMIGR_LAT_WAKE,	 /* a timer's expiry (later: the entry), to the wake-up by it */
	TMIGR_LAT_KINDS
};

/* Nothing but __u64: a window is the difference of two, member by member. */
struct tmigr_lat_sums {
	__u64 entries;
	__u64 rejected;	    /* entries that the state's driver refused (cpuidle) */
	__u64 remote_wakes; /* intervals after which other CPUs' timers ran, whatever the cause */
	__u64 detail_lost;  /* intervals whose interrupt or target found no room */
	struct tmigr_lat_dist dist[TMIGR_LAT_KINDS];
	struct tmigr_lat_row causes[TMIGR_WAKE_CAUSES];
};

/* The largest, and when it was.  Of the time since an edge only. */
struct tmigr_lat_peak {
	__u64 ns, t_ns;
};

struct tmigr_lat_figures {
	struct tmigr_lat_sums sums;
	struct tmigr_lat_peak peaks[TMIGR_LAT_KINDS];
};

#define TMIGR_IRQ_NAME 16

/* ---- the maps, shared by bpf/latency.bpf.h and lib/live_latency.c ---- */

/* Per-CPU array `lat_states`, one entry: what the programs know of the CPU's interval.
 * Of no use to user space, but for tests. */
struct tmigr_lat_state {
	__u64 ready_ns;	 /* nothing but going idle was left to do; 0: not seen */
	__u64 enter_ns;	 /* of the interval that is not settled yet; 0: none */
	__u64 wake_ns;	 /* first sign of its end; 0: it goes on */
	__u64 armed_ns;	 /* next timer interrupt, as of its begin; KTIME_MAX: none, 0: not known */
	__u64 no_ipi_ns; /* last wake-up without IPI; written by the waking CPU */
	__u64 tmigr_first_ns, tmigr_ns;
	__u64 bases;	  /* struct hrtimer_cpu_base of this CPU; 0: not known yet */
	__u32 slot;	  /* of the interval */
	__u32 cause;	  /* TMIGR_WAKE_*, as far as seen; UNKNOWN: no handler yet */
	__u32 irq;	  /* of the handler that is the cause */
	__u32 timer_irq1; /* 1 + the timer device's interrupt, or that in which hrtimers expire */
	__u32 target;	  /* whose timers were the first to run */
	__u8 idle;	  /* the idle task runs */
	__u8 exited;	  /* the exit event has come */
	__u8 open;	  /* the handler that is the cause runs */
	__u8 own;	  /* own timers expired, other than the tick */
	__u8 remote;	  /* other CPUs' timers ran */
	__u8 handling;	  /* they do now */
	__u8 tmigr_seen;
	__u8 learnt;	     /* the two above were looked for */
	__u32 rejected_seen; /* states whose counter was read, as bits */
	__u64 rejected[TMIGR_STATES];
	char name[TMIGR_IRQ_NAME];
};

/* Per-CPU array `lat_figures`, by slot.  An entry has edges as struct tmigr_cpu_value
 * (maps.h) does, and passes them when it is written to. */
struct tmigr_lat_value {
	__u64 seq;
	__u64 edge_ns;
	struct tmigr_lat_figures cur;
	struct tmigr_lat_figures edge;
};

/* Hash `lat_details`: the rows of interrupts by number and of remote duty by target,
 * exact per edge interval as in `remote` (maps.h). */
struct tmigr_lat_key {
	__u64 edge_ns;
	__u32 cpu;
	__u32 slot;
	__u32 cause; /* TMIGR_WAKE_IRQ or _REMOTE */
	__u32 arg;   /* number of the interrupt; CPU whose timers were the first to run */
};

struct tmigr_lat_detail {
	struct tmigr_lat_row row;
	char name[TMIGR_IRQ_NAME]; /* of the interrupt's action, cut off */
};

#endif
