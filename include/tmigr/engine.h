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
 *   open -> start -> [window_open ... drain ... window_close]* -> stop -> close
 *
 * Sinks and callbacks do not call the engine.  It is for one thread.
 *
 * No call waits for an event; those that take an edge need some milliseconds.
 *
 * Nothing grows with time but what an open window holds (its model), as long as
 * drains come: every second is meant.
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

/*
 * Loads and prepares; attaches nothing.  @opts may be NULL.  @topo is borrowed and
 * must outlive the engine.  -EPERM (names the capability), -ENOENT no BTF, or no
 * tracefs, -EOPNOTSUPP the kernel refuses the programs.  A kernel without timer
 * migration is no error: tmigr_engine_has_tmigr() tells.
 */
int tmigr_engine_open(const struct tmigr_live_opts *opts, const struct tmigr_topology *topo,
		      struct tmigr_engine **ret, struct tmigr_err *err);
/* Attaches, and lets every CPU that does anything be seen (at most 100 ms). */
int tmigr_engine_start(struct tmigr_engine *engine, struct tmigr_err *err);
/* Detaches: nothing is measured any more.  Closed windows keep their figures,
 * open ones have none. */
void tmigr_engine_stop(struct tmigr_engine *engine);
/* Stops, and frees its windows too. NULL is fine. */
void tmigr_engine_close(struct tmigr_engine *engine);

bool tmigr_engine_has_tmigr(const struct tmigr_engine *engine);

/*
 * "bpf" or "ftrace"; *@ret_why (optional): why it is not the first choice, NULL when
 * it is; the engine's.
 *
 * By ftrace, nothing can be read that no event tells: what a CPU was in, and the
 * words of groups, are unknown from the start to their first event, and the figures
 * are those of the records (tmigr_window_totals.timeline).
 */
const char *tmigr_engine_source(const struct tmigr_engine *engine, const char **ret_why);
/* Both as members of a report's @info: "source", and "source_why" where there is one;
 * and "timeline": false where nothing is recorded.
 * 0 or -ENOMEM. */
int tmigr_engine_put_source(const struct tmigr_engine *engine, json_t *info);

/* ---- windows ---- */

struct tmigr_window_opts {
	/* What is known of the machine by now (tmigr_topology_refresh() of the
	 * engine's), for the model; borrowed, must outlive the window.  NULL: the
	 * engine's. */
	const struct tmigr_topology *topo;
	/* Segments of the window as they become final; optional. */
	void (*segment)(void *arg, const struct tmigr_segment *seg);
	/* Records of the window in the order in which its model was fed, and
	 * the watermarks: what a recording of it must hold; optional.  The first
	 * ones come with the first drain after the open, or with the close.  A
	 * sink that fails is not called again; the window goes on. */
	tmigr_sink records;
	int (*mark)(void *arg, __u64 watermark_ns);
	void *arg;
	/* The window begins at the very edge where this one ends: closes it as
	 * tmigr_engine_window_close() would; optional.  It is closed also where
	 * the open fails, unless tmigr_window_end_ns() says otherwise. */
	struct tmigr_window *after;
};

/* Begins a window at a new edge, or at the held one. */
int tmigr_engine_window_open(struct tmigr_engine *engine, const struct tmigr_window_opts *opts,
			     struct tmigr_window **ret, struct tmigr_err *err);
/* What an open window holds in memory, about: by the number of CPUs. */
size_t tmigr_engine_window_bytes(const struct tmigr_engine *engine);
__u64 tmigr_window_start_ns(const struct tmigr_window *window);
/* 0 while it is open. */
__u64 tmigr_window_end_ns(const struct tmigr_window *window);

/*
 * Takes an edge now and holds it until released, or until the next drain: all
 * windows opened and closed in between begin and end at it, for the cost of one
 * edge.  Returns its time.
 */
int tmigr_engine_hold_edge(struct tmigr_engine *engine, __u64 *ret_edge_ns, struct tmigr_err *err);
/*
 * The same with the edge at exactly @at_ns (CLOCK_MONOTONIC), where the call comes
 * early enough for that; else at the first instant that is possible, which is later.
 * Waits until then.  tmigr_engine_edge_lead_ns() before @at_ns is early enough,
 * if nothing holds the caller up.
 */
int tmigr_engine_hold_edge_at(struct tmigr_engine *engine, __u64 at_ns, __u64 *ret_edge_ns,
			      struct tmigr_err *err);
__u64 tmigr_engine_edge_lead_ns(const struct tmigr_engine *engine);
void tmigr_engine_release_edge(struct tmigr_engine *engine);

/*
 * An edge in two steps, neither of which waits, for one who is awake only now and
 * then (the flight recorder): announced now, some ms ahead, and held half a second
 * later or more.  -EAGAIN: none was announced, or not so long ago, or it is lost since
 * another edge was taken or records beyond it were.  -EOPNOTSUPP: not by this source.
 */
int tmigr_engine_announce_edge(struct tmigr_engine *engine, struct tmigr_err *err);
int tmigr_engine_hold_announced(struct tmigr_engine *engine, __u64 *ret_edge_ns,
				struct tmigr_err *err);

/*
 * All records from now on go to @sink too, in time order (the flight recorder);
 * NULL: no more.  It is called by drains and by whatever takes an edge; when it
 * fails it is not called again.
 */
void tmigr_engine_tap(struct tmigr_engine *engine, tmigr_sink sink, void *arg);

/* Moves the records to all windows' models (and sinks), and to the tap.
 * *@ret_watermark_ns (optional): no later record has a smaller time. */
int tmigr_engine_drain(struct tmigr_engine *engine, __u64 *ret_watermark_ns, struct tmigr_err *err);

/* Takes the end edge (or uses the held one), reads the figures and the records
 * up to it, and finishes the model.  The window's figures are valid until it is
 * freed.  Where it fails, the window can only be freed. */
int tmigr_engine_window_close(struct tmigr_engine *engine, struct tmigr_window *window,
			      struct tmigr_err *err);
/* The window as it were if it ended at a new edge (or the held one), while it goes
 * on: a closed one, to be freed. */
int tmigr_engine_window_peek(struct tmigr_engine *engine, struct tmigr_window *window,
			     struct tmigr_window **ret, struct tmigr_err *err);
/* 0, or why the window could not follow the records (-ENOMEM): it has no figures any more,
 * and every peek and the close will fail. */
int tmigr_window_error(const struct tmigr_window *window);
/* The model, also of an open window: its present state (tmigr_model_hierarchy());
 * of a closed one the figures that a report is made of (report.h). */
const struct tmigr_model *tmigr_window_model(const struct tmigr_window *window);
/* NULL while it is open. */
struct tmigr_window_totals *tmigr_window_totals(struct tmigr_window *window);
/* NULL is fine; an open one is dropped without figures. */
void tmigr_window_free(struct tmigr_window *window);

/* ---- the present ---- */

/* The hierarchy at one moment, by a snapshot of the kernel's memory. */
struct tmigr_moment {
	__u64 now_ns; /* CLOCK_MONOTONIC */
	struct tmigr_hierarchy *h;
	/* Next expiry, CLOCK_MONOTONIC; TMIGR_KTIME_MAX none, 0 not known.  By
	 * index in h->cpus, h->groups. */
	__u64 *cpu_expiry_ns, *group_expiry_ns;
};

/*
 * May be called from open on; without kallsyms it needs start.  -EAGAIN: no CPU has
 * shown where the hierarchy is yet (every CPU is busy): again later.  Without a
 * hierarchy it has no group, and what each CPU is in.  Owned by the caller
 * (tmigr_moment_free), independent of the engine.
 */
int tmigr_engine_moment(struct tmigr_engine *engine, struct tmigr_moment **ret,
			struct tmigr_err *err);
void tmigr_moment_free(struct tmigr_moment *moment); /* NULL is fine */
/* -EOPNOTSUPP, and in @err that this kernel has none. */
int tmigr_fail_no_hierarchy(struct tmigr_err *err);
/* The same without expiries: owned by the caller (tmigr_hierarchy_free). */
int tmigr_engine_hierarchy(struct tmigr_engine *engine, struct tmigr_hierarchy **ret,
			   struct tmigr_err *err);

/* Cost of the tool since start: the observer's line of the whole engine. */
void tmigr_engine_observer(struct tmigr_engine *engine, struct tmigr_observer *ret);

/* Records lost since start, all CPUs, as of the last drain or edge. */
__u64 tmigr_engine_lost(const struct tmigr_engine *engine);

#endif
