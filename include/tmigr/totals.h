/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the maps counted over a window: exact and lossless, whatever happens to
 * the timeline.  Made by the live engine, carried by a recording's end frame.
 * Where there are no maps (ftrace), what the model counted from the records.
 */
#ifndef TMIGR_TOTALS_H
#define TMIGR_TOTALS_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/latency.h"
#include "tmigr/rec.h"

struct tmigr_totals_cpu {
	unsigned int cpu;
	__u64 time_ns[TMIGR_SLOTS]; /* sums up to the window */
	__u64 entries[TMIGR_SLOTS];
	__u64 above[TMIGR_SLOTS];
	__u64 below[TMIGR_SLOTS];
	__u64 hist[TMIGR_SLOTS][TMIGR_HIST_BUCKETS];
	__u64 lost; /* records */
	__u64 records;
};

struct tmigr_totals_remote {
	unsigned int executor, target;
	__u64 count;
	__u64 woke[TMIGR_SLOTS];
};

struct tmigr_observer {
	bool bpf_known;		/* bpf_ns and bpf_runs were measured */
	__u64 bpf_ns, bpf_runs; /* over the window, all programs */
	__u64 cpu_ns;		/* the tool's own CPU time */
	__u64 wakeups;		/* the tool's own voluntary switches */
	int housekeeping_cpu;	/* -1: not pinned */
	__u64 records;
	__u64 drains;
};

/* One idle state of one CPU.  entries + open_start - open_end = all causes. */
struct tmigr_latency_slot {
	struct tmigr_lat_sums sums;
	__u64 max_ns[TMIGR_LAT_KINDS];
	bool open_start, open_end; /* an interval was not settled at that edge */
};

struct tmigr_latency_detail {
	unsigned int cpu, slot;
	unsigned int cause; /* TMIGR_WAKE_IRQ, TMIGR_WAKE_REMOTE */
	unsigned int arg;   /* interrupt; CPU whose timers were the first to run */
	char name[TMIGR_IRQ_NAME];
	struct tmigr_lat_row row;
};

/* What was measured on request (--latency). */
struct tmigr_latency {
	bool causes_known; /* the kernel traces all that can end an interval */
	bool bpf_known;
	__u64 bpf_ns, bpf_runs; /* of the programs that are loaded for this alone; in the
				 * observer's too */
	size_t n_cpus;		/* as in the topology */
	struct tmigr_latency_slot (*cpus)[TMIGR_SLOTS];
	size_t n_details; /* ascending by cpu, slot, cause, arg */
	struct tmigr_latency_detail *details;
};

struct tmigr_window_totals {
	bool timeline; /* counted from the records, not by maps */
	size_t n_cpus; /* as in the topology */
	struct tmigr_totals_cpu *cpus;
	size_t n_remote; /* ascending by (executor, target) */
	struct tmigr_totals_remote *remote;
	__u64 remote_lost; /* remote expiries that found no room to be counted */
	struct tmigr_observer observer;
	struct tmigr_latency *latency; /* NULL: not asked for */
};

void tmigr_window_totals_free(struct tmigr_window_totals *totals);

/* ---- totals_latency.c ---- */
/* Without figures; NULL: no memory. */
struct tmigr_latency *tmigr_latency_new(size_t n_cpus, size_t n_details);
void tmigr_latency_free(struct tmigr_latency *latency); /* NULL is fine */
/* "own-timer" and so on, as in reports. */
const char *tmigr_wake_cause_name(unsigned int cause);
void tmigr_lat_row_add(struct tmigr_lat_row *to, const struct tmigr_lat_row *row);
json_t *tmigr_latency_to_json(const struct tmigr_latency *latency);
int tmigr_latency_from_json(const json_t *json, struct tmigr_latency **ret, struct tmigr_err *err);

/* ---- totals.c ---- */
/* Lossless JSON form, for the end frame of a recording. */
json_t *tmigr_window_totals_to_json(const struct tmigr_window_totals *totals);
int tmigr_window_totals_from_json(const json_t *json, struct tmigr_window_totals **ret,
				  struct tmigr_err *err);

#endif
