/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: one set of attached programs, any number of windows on it.
 *
 * A window is what `tmigr run` measures: an exact start, an exact end, its own
 * model, and a report at the end.  `tmigr run` has one window; the daemon has
 * one a client that asks, and a sample of `tmigr top` is a window too, each
 * beginning at the edge where the one before it ended.  Windows may overlap in
 * any way and do not disturb each other: all read the same stream of records
 * and the same cumulative figures.
 *
 *   open -> start -> [window_open ... drain ... window_close]* -> close
 *
 * No call waits for an event; those that announce an edge take some
 * milliseconds.
 */
#ifndef TMIGR_ENGINE_H
#define TMIGR_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/live.h"
#include "tmigr/model.h"
#include "tmigr/recording.h"
#include "tmigr/topology.h"
#include "tmigr/totals.h"

struct tmigr_engine;
struct tmigr_window;

/* Loads; attaches nothing.  @topo is borrowed.  Errors as tmigr_live_open(). */
int tmigr_engine_open(const struct tmigr_live_opts *opts, const struct tmigr_topology *topo,
		      struct tmigr_engine **ret, struct tmigr_err *err);
/* Attaches, takes the first snapshot, lets CPUs be seen (at most 100 ms). */
int tmigr_engine_start(struct tmigr_engine *engine, struct tmigr_err *err);
/* Closes its windows too. */
void tmigr_engine_close(struct tmigr_engine *engine);

bool tmigr_engine_has_tmigr(const struct tmigr_engine *engine);

struct tmigr_window_opts {
	/* Segments of the window as they become final; optional. */
	void (*segment)(void *arg, const struct tmigr_segment *seg);
	/* Records of the window in the order in which its model was fed, and
	 * the watermarks: what a recording of it must hold; optional.  A sink
	 * that fails is not called again; the window goes on. */
	tmigr_sink records;
	int (*mark)(void *arg, __u64 watermark_ns);
	void *arg;
	/* The window begins at the very edge where this one ends: closes it as
	 * tmigr_engine_window_close() would; optional. */
	struct tmigr_window *after;
};

/* Begins a window at a new edge. */
int tmigr_engine_window_open(struct tmigr_engine *engine, const struct tmigr_window_opts *opts,
			     struct tmigr_window **ret, struct tmigr_err *err);
__u64 tmigr_window_start_ns(const struct tmigr_window *window);
/* 0 while it is open. */
__u64 tmigr_window_end_ns(const struct tmigr_window *window);

/* Moves the records to all windows' models (and sinks), and to @sink
 * (optional: the flight recorder). */
int tmigr_engine_drain(struct tmigr_engine *engine, tmigr_sink sink, void *arg,
		       __u64 *ret_watermark_ns, struct tmigr_err *err);

/* Announces the end edge, reads the figures and the records up to it, and
 * finishes the model.  The window's figures are valid until it is freed. */
int tmigr_engine_window_close(struct tmigr_engine *engine, struct tmigr_window *window,
			      struct tmigr_err *err);
/* The parts of a closed window that a report is made of (report.h). */
const struct tmigr_model *tmigr_window_model(const struct tmigr_window *window);
struct tmigr_window_totals *tmigr_window_totals(struct tmigr_window *window);
void tmigr_window_free(struct tmigr_window *window); /* NULL is fine; closes without figures */

/* The hierarchy now, by a snapshot (tmigr tree): owned by the caller. */
int tmigr_engine_hierarchy(struct tmigr_engine *engine, struct tmigr_hierarchy **ret,
			   struct tmigr_err *err);

/* Cost of the tool since start: the observer's line of the whole engine. */
void tmigr_engine_observer(struct tmigr_engine *engine, struct tmigr_observer *ret);

/* Records lost since start, all CPUs. */
__u64 tmigr_engine_lost(const struct tmigr_engine *engine);

#endif
