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

struct tmigr_window_totals {
	bool timeline; /* counted from the records, not by maps */
	size_t n_cpus; /* as in the topology */
	struct tmigr_totals_cpu *cpus;
	size_t n_remote; /* ascending by (executor, target) */
	struct tmigr_totals_remote *remote;
	__u64 remote_lost; /* remote expiries that found no room to be counted */
	struct tmigr_observer observer;
};

void tmigr_window_totals_free(struct tmigr_window_totals *totals);

/* Lossless JSON form, for the end frame of a recording. */
json_t *tmigr_window_totals_to_json(const struct tmigr_window_totals *totals);
int tmigr_window_totals_from_json(const json_t *json, struct tmigr_window_totals **ret,
				  struct tmigr_err *err);

#endif
