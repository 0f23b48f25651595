/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Insides of the engine, for lib/engine*.c and its tests:
 *   engine.c         its life, the drain
 *   engine_edge.c    an edge: figures, records up to it, what a window that begins
 *                    there must know
 *   engine_window.c  life of a window
 *   engine_totals.c  figures of a window: the difference of two edges
 *   engine_moment.c  the hierarchy now
 */
#ifndef TMIGR_ENGINE_PRIV_H
#define TMIGR_ENGINE_PRIV_H

#include "live_priv.h"
#include "tmigr/engine.h"

/* All figures since the start, at one instant.  Shared by the windows that begin
 * or end there. */
struct tmigr_edge {
	unsigned int refs;
	__u64 t_ns;
	struct tmigr_edge_cpu *cpus; /* by topology index */
	struct tmigr_pairs remote;
	struct tmigr_cost cost;
	__u64 drains;
};

struct tmigr_window {
	struct tmigr_engine *engine; /* NULL: out of its list */
	struct tmigr_window *next, *prev;
	struct tmigr_window_opts opts;
	struct tmigr_model *model;
	struct tmigr_edge *start, *end;
	struct tmigr_window_totals *totals;
	/* What the model gets first; given with the first drain, for the caller's
	 * sink can do nothing before it knows the start. */
	struct tmigr_rec_vec queue;
	bool begun;  /* the queue was given */
	bool closed; /* has its figures */
	int error;   /* of the model or the queue: no figures */
};

struct tmigr_engine {
	struct tmigr_live *live;
	struct tmigr_window *windows; /* the open ones */
	tmigr_sink tap;
	void *tap_arg;

	/* The edge that the next opens and closes happen at; NULL: none yet. */
	struct tmigr_edge *edge;
	bool held; /* by the caller */
	/* Announced, and not read yet; NULL: none. */
	struct tmigr_edge *announced;
	__u64 announced_collect_ns; /* collect_ns, as of then */
	__u64 snapshot_took_ns;	    /* the longest one so far */
	/* What was learnt at it: the snapshot before it, as records and as idle
	 * states of CPUs without events; the records since then. */
	struct tmigr_rec_vec snap, since;
	unsigned char *quiet;
	__u64 snap_ns;	  /* all of the snapshot is younger */
	__u64 collect_ns; /* records in `since` are not older */
	__u64 have_ns;	  /* those from here on are in `since` */
	__u64 *snap_lost; /* by topology index: lost before snap_ns */
	bool collect;	  /* records go to `since` too */
};

/* ---- engine.c ---- */
/* Takes records: to the windows, the tap, and engine->since. */
int tmigr_engine_sink(void *arg, const struct tmigr_rec *recs, size_t n);

/* ---- engine_edge.c ---- */
/* Makes engine->edge, where there is none. */
int tmigr_engine_take_edge(struct tmigr_engine *engine, struct tmigr_err *err);
/* Lets it go, unless the caller holds it. */
void tmigr_engine_drop_edge(struct tmigr_engine *engine);
struct tmigr_edge *tmigr_edge_ref(struct tmigr_edge *edge);
void tmigr_edge_unref(struct tmigr_edge *edge);
/* Appends what a window that begins at engine->edge must know. */
int tmigr_engine_seed(struct tmigr_engine *engine, struct tmigr_rec_vec *vec);

/* ---- engine_window.c ---- */
/* Gives the window what waits for it. */
void tmigr_window_begin(struct tmigr_window *w);
void tmigr_window_feed(struct tmigr_window *w, const struct tmigr_rec *recs, size_t n);
void tmigr_window_advance(struct tmigr_window *w, __u64 watermark_ns);

/* ---- engine_totals.c ---- */
int tmigr_engine_totals(const struct tmigr_engine *engine, const struct tmigr_edge *start,
			const struct tmigr_edge *end, struct tmigr_window_totals **ret,
			struct tmigr_err *err);

#endif
