/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live engine under test: a load, one run of it with all its records, and the
 * recomputation of its totals from these. */
#ifndef TMIGR_TESTS_ENGINE_H
#define TMIGR_TESTS_ENGINE_H

#include "../../lib/engine_priv.h"

#include <sys/types.h>

struct engine_run {
	const struct tmigr_topology *topo;
	struct tmigr_engine *engine;
	struct tmigr_live *live; /* of the engine */
	struct tmigr_window *window;
	struct tmigr_rec_vec recs;	    /* of the window, as its model got them */
	struct tmigr_window_totals *totals; /* of the window */
	__u64 start_ns, end_ns, watermark_ns;
	/* In the engine's stream of records: */
	__u64 last_ns;
	size_t disorder; /* older than the one before */
	size_t early;	 /* older than an earlier drain's watermark */
};

/* Sleepers on every CPU; the load is owned by the caller (engine_load_stop). */
pid_t *engine_load_start(const struct tmigr_topology *topo);
void engine_load_stop(const struct tmigr_topology *topo, pid_t *load);

void engine_sleep_ms(long ms);
/* Opens the engine, runs it through one window, and detaches it.  0, or the error, reported
 * as a failed test; engine_end() in any case. */
int engine_run(struct engine_run *run, const struct tmigr_topology *topo,
	       const struct tmigr_live_opts *opts, const char *what);
void engine_end(struct engine_run *run);

/* @t lies in the run's window. */
bool engine_inside(const struct engine_run *run, __u64 t);
/* Tests: times, entries, histograms and remote expiries of the maps are those
 * that the records give. */
void engine_check_recomputed(const struct engine_run *run, const char *what);

/* Tests: an engine that is attached to nothing, its programs run by hand until the log has
 * overrun three times; no other load on its CPU is needed, or in the way. */
void engine_drive(const struct tmigr_topology *topo);

/* Time of CPU @i (topology index) by slot between @start_ns and @end_ns, by
 * the records alone. */
void engine_redo_times(const struct tmigr_topology *topo, const struct tmigr_rec_vec *recs,
		       __u64 start_ns, __u64 end_ns, size_t i, __u64 *ret_time_ns);

#endif
