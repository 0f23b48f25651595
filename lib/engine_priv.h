/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Insides of the engine, for lib/engine*.c and its tests:
 *   engine.c             its life, the drain
 *   engine_source.c      which source it measures with
 *   engine_edge.c        edges
 *   engine_window.c      life of a window
 *   engine_latency.c     latency at edges and of a window
 *   engine_totals.c      figures of a window, cost of the tool
 *   engine_moment.c      the hierarchy now
 *   engine_bpf*.c        the source of BPF programs (live_priv.h)
 *   engine_ftrace.c      the source of the kernel's ftrace buffers (ftrace_priv.h)
 */
#ifndef TMIGR_ENGINE_PRIV_H
#define TMIGR_ENGINE_PRIV_H

#include "live_priv.h"
#include "tmigr/engine.h"

struct tmigr_ftrace;
struct tmigr_keeper;

/* Latency since the start, at one instant. */
struct tmigr_lat_edge {
	struct tmigr_lat_figures (*cpus)[TMIGR_SLOTS]; /* by topology index */
	struct tmigr_latency_detail *details;
	size_t n_details;
};

struct tmigr_window_peak {
	__u64 ns[TMIGR_LAT_KINDS];
};

/* All figures since the start, at one instant.  Shared by the windows that begin
 * or end there. */
struct tmigr_edge {
	unsigned int refs;
	__u64 t_ns;
	struct tmigr_edge_cpu *cpus; /* by topology index */
	struct tmigr_pairs remote;
	struct tmigr_lat_edge *latency; /* NULL: not measured */
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
	/* By topology index and slot, as of the last edge; NULL: not measured. */
	struct tmigr_window_peak *peaks;
	/* What the model gets first; given with the first drain, for the caller's
	 * sink can do nothing before it knows the start. */
	struct tmigr_rec_vec queue;
	bool begun;  /* the queue was given */
	bool closed; /* has its figures */
	int error;   /* of the model or the queue: no figures */
};

/* What an engine measures with. */
struct tmigr_source_ops {
	const char *name;
	int (*start)(struct tmigr_engine *engine, struct tmigr_err *err);
	void (*stop)(struct tmigr_engine *engine);
	/* Frees what open() made, also where that failed. */
	void (*close)(struct tmigr_engine *engine);
	bool (*has_tmigr)(const struct tmigr_engine *engine);
	/* Gives records to tmigr_engine_sink(). */
	int (*drain)(struct tmigr_engine *engine, __u64 *ret_watermark_ns, struct tmigr_err *err);
	/* An edge at @at_ns, or soon: all records up to it go to tmigr_engine_sink(),
	 * those a window needs that begins there are collected. */
	int (*fill_edge)(struct tmigr_engine *engine, __u64 at_ns, struct tmigr_edge *edge,
			 struct tmigr_err *err);
	/* The same in two steps, without a wait: an edge now, which is read when it is
	 * settled, for good or never.  Optional, all three. */
	int (*announce)(struct tmigr_engine *engine, struct tmigr_edge *edge,
			struct tmigr_err *err);
	bool (*is_settled)(const struct tmigr_engine *engine, const struct tmigr_edge *edge);
	int (*read_announced)(struct tmigr_engine *engine, struct tmigr_edge *edge,
			      struct tmigr_err *err);
	__u64 (*edge_lead_ns)(const struct tmigr_engine *engine);
	/* Appends what a window that begins at engine->edge must know. */
	int (*seed)(const struct tmigr_engine *engine, struct tmigr_rec_vec *vec);
	/* What is known of a window's end beside the records; optional. */
	int (*end_records)(const struct tmigr_engine *engine, struct tmigr_rec_vec *vec);
	/* Is @rec one to collect?  NULL: all are. */
	bool (*keeps)(const struct tmigr_engine *engine, const struct tmigr_rec *rec);
	/* Figures that were counted beside the records; NULL: the model's are all there
	 * is.  -ENOMEM. */
	int (*totals)(const struct tmigr_engine *engine, const struct tmigr_edge *start,
		      const struct tmigr_edge *end, struct tmigr_window_totals *totals);
	int (*moment)(struct tmigr_engine *engine, struct tmigr_moment **ret,
		      struct tmigr_err *err);
	/* Since the start. */
	void (*observer)(struct tmigr_engine *engine, struct tmigr_cost *begin,
			 struct tmigr_cost *now, __u64 *records, __u64 *drains);
	__u64 (*lost)(const struct tmigr_engine *engine);
};

struct tmigr_engine {
	const struct tmigr_topology *topo;
	const struct tmigr_source_ops *source;
	struct tmigr_live *live;     /* of BPF programs */
	struct tmigr_ftrace *ftrace; /* of ftrace buffers */
	const char *why;	     /* this source and not the first choice; NULL: it is */
	char why_text[TMIGR_ERR_MAX];
	bool started, attached;
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
/* All windows: what they were given is all before @watermark_ns. */
int tmigr_engine_advance(void *arg, __u64 watermark_ns);

/* ---- engine_edge.c ---- */
/* Makes engine->edge, where there is none. */
int tmigr_engine_take_edge(struct tmigr_engine *engine, struct tmigr_err *err);
/* Lets it go, unless the caller holds it. */
void tmigr_engine_drop_edge(struct tmigr_engine *engine);
struct tmigr_edge *tmigr_edge_ref(struct tmigr_edge *edge);
void tmigr_edge_unref(struct tmigr_edge *edge);

/* ---- engine_source.c ---- */
/* Chooses and opens.  Where it fails, engine->source->close() is still due. */
int tmigr_source_open(struct tmigr_engine *engine, const struct tmigr_live_opts *opts,
		      struct tmigr_err *err);

/* ---- engine_bpf.c, engine_bpf_totals.c, engine_moment.c ---- */
extern const struct tmigr_source_ops tmigr_bpf_source;
int tmigr_bpf_open(struct tmigr_engine *engine, const struct tmigr_live_opts *opts,
		   struct tmigr_err *err);
int tmigr_bpf_seed(const struct tmigr_engine *engine, struct tmigr_rec_vec *vec);
int tmigr_bpf_totals(const struct tmigr_engine *engine, const struct tmigr_edge *start,
		     const struct tmigr_edge *end, struct tmigr_window_totals *totals);
int tmigr_bpf_moment(struct tmigr_engine *engine, struct tmigr_moment **ret, struct tmigr_err *err);

/* ---- engine_ftrace.c ---- */
int tmigr_ftrace_open(struct tmigr_engine *engine, const struct tmigr_live_opts *opts,
		      struct tmigr_err *err);

/* ---- engine_moment.c ---- */
/* The hierarchy as @keeper has seen it, without expiries. */
int tmigr_keeper_moment(const struct tmigr_keeper *keeper, const struct tmigr_topology *topo,
			struct tmigr_moment **ret, struct tmigr_err *err);

/* ---- engine_window.c ---- */
/* Gives the window what waits for it. */
void tmigr_window_begin(struct tmigr_window *w);
void tmigr_window_feed(struct tmigr_window *w, const struct tmigr_rec *recs, size_t n);
void tmigr_window_advance(struct tmigr_window *w, __u64 watermark_ns);

/* ---- engine_latency.c ---- */
/* All that is there at an edge, and what open windows need of it; nothing where
 * latency is not measured. */
int tmigr_lat_edge_read(struct tmigr_engine *engine, __u64 edge_ns, struct tmigr_lat_edge **ret,
			struct tmigr_err *err);
void tmigr_lat_edge_free(struct tmigr_lat_edge *edge); /* NULL is fine */
/* 0 or -ENOMEM, all of them.  The second: @copy is to end while @w goes on. */
int tmigr_lat_window_open(const struct tmigr_engine *engine, struct tmigr_window *w);
int tmigr_lat_window_copy(const struct tmigr_engine *engine, const struct tmigr_window *w,
			  struct tmigr_window *copy);
/* Of @w, which has its end; *@ret untouched where latency is not measured. */
int tmigr_lat_window(const struct tmigr_engine *engine, const struct tmigr_window *w,
		     struct tmigr_latency **ret);

/* ---- engine_totals.c ---- */
/* Of @w, whose model is finished. */
int tmigr_engine_totals(const struct tmigr_engine *engine, const struct tmigr_window *w,
			struct tmigr_window_totals **ret, struct tmigr_err *err);

#endif
