/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live engine: BPF programs on the running kernel.  Life of it:
 *
 *   open -> start -> drain, drain, ... -> stop -> totals -> close
 *
 * Records leave through a sink in time order (merged over CPUs), ready for
 * tmigr_model_feed() and tmigr_recording_write().
 */
#ifndef TMIGR_LIVE_H
#define TMIGR_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "tmigr/err.h"
#include "tmigr/rec.h"
#include "tmigr/topology.h"
#include "tmigr/totals.h"

struct tmigr_live;

struct tmigr_live_opts {
	size_t ring_bytes; /* per CPU; 0: chosen from the number of CPUs */
	bool no_timeline;  /* residency only: maps, no records */
	bool no_stats;	   /* do not measure the programs' own time */
	bool kick;	   /* wake each CPU once before the window */
	bool no_ksyms;	   /* tests: behave as without KALLSYMS_ALL */
	bool no_snapshot;  /* tests: learn from events alone */
};

/*
 * Loads and prepares; attaches nothing.  @topo is borrowed and must outlive the
 * engine.  -EPERM (names the capability), -ENOENT no BTF, -EOPNOTSUPP the
 * kernel refuses the programs.  A kernel without timer migration is no error:
 * tmigr_live_has_tmigr() tells.
 */
int tmigr_live_open(const struct tmigr_live_opts *opts, const struct tmigr_topology *topo,
		    struct tmigr_live **ret, struct tmigr_err *err);
void tmigr_live_close(struct tmigr_live *live);

bool tmigr_live_has_tmigr(const struct tmigr_live *live);

/* Takes @n records; <0 stops the drain and is returned. */
typedef int (*tmigr_sink)(void *arg, const struct tmigr_rec *recs, size_t n);

/*
 * Attaches, takes the snapshot, lets every CPU that does anything be seen (at
 * most 100 ms), announces the window's start and returns it.  Records from
 * before the start follow through the sink at the first drain: they set the
 * model's state.
 */
int tmigr_live_start(struct tmigr_live *live, __u64 *ret_start_ns, struct tmigr_err *err);

/*
 * Moves what the buffers hold to @sink, merged by time.  *@ret_watermark_ns
 * (optional): no later drain brings a record with a smaller time.  A CLEAN
 * record is part of the stream where the engine can vouch for it.
 */
int tmigr_live_drain(struct tmigr_live *live, tmigr_sink sink, void *arg, __u64 *ret_watermark_ns,
		     struct tmigr_err *err);

/*
 * Announces the end of the window and returns it once it is past, with the
 * snapshot of the end; then detaches.  A last tmigr_live_drain() brings the
 * rest.
 */
int tmigr_live_stop(struct tmigr_live *live, __u64 *ret_end_ns, struct tmigr_err *err);

/* Takes a snapshot now, as NODE_ and SNAP_ records, into @sink (tmigr tree).
 * May be called from open on; without kallsyms it needs start (attached).
 * -EAGAIN: no CPU has shown where the hierarchy is yet (every CPU is busy):
 * again later. */
int tmigr_live_snapshot(struct tmigr_live *live, tmigr_sink sink, void *arg, struct tmigr_err *err);

/* Next expiry that the last snapshot saw: of a CPU's first global timer, of a
 * group; TMIGR_KTIME_MAX none, 0 not known. @group as in the records. */
__u64 tmigr_live_cpu_expiry(const struct tmigr_live *live, unsigned int cpu);
__u64 tmigr_live_group_expiry(const struct tmigr_live *live, __u64 group);

/* Exact totals of the window; after stop.  *@ret is owned by the caller. */
int tmigr_live_totals(struct tmigr_live *live, struct tmigr_window_totals **ret,
		      struct tmigr_err *err);

#endif
