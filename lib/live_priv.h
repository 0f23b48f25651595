/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Insides of the live source, shared by lib/live*.c and lib/engine*.c only:
 *   live.c           its life: open, attach, detach, close
 *   live_load.c      the BPF skeleton (private to that file and the next): load, attach
 *   live_log.c       one CPU's log
 *   live_latency.c   what --latency loads, and its figures
 *   live_ring.c      one CPU's ring buffer
 *   live_drain.c     merge of logs and ring buffers by time
 *   live_snapshot.c  the hierarchy of the running kernel, as records
 *   live_edge.c      edges, and the CPUs' figures at them
 *   live_remote.c    remote expiries, taken out of the hash edge by edge
 */
#ifndef TMIGR_LIVE_PRIV_H
#define TMIGR_LIVE_PRIV_H

#include "tmigr/clock.h"
#include "tmigr/err.h"
#include "tmigr/live.h"
#include "tmigr/maps.h"
#include "tmigr/topology.h"
#include "tmigr/totals.h"

#include "features_priv.h"

#define TMIGR_NS_PER_MS 1000000ULL
#define TMIGR_NS_PER_S	1000000000ULL

struct tmigr_bpf;
struct bpf_program;
struct tmigr_live_latency;

/* A growing array of records. */
struct tmigr_rec_vec {
	struct tmigr_rec *recs;
	size_t n, cap;
};

/* 0 or -ENOMEM, with what there was. */
int tmigr_rec_vec_add(struct tmigr_rec_vec *vec, struct tmigr_rec rec);
int tmigr_rec_vec_append(struct tmigr_rec_vec *vec, const struct tmigr_rec *recs, size_t n);
void tmigr_rec_vec_free(struct tmigr_rec_vec *vec);

/* ---- one ring buffer, mapped ---- */
struct tmigr_ring {
	unsigned long *consumer; /* page of its own, written by us */
	unsigned long *producer;
	const unsigned char *data; /* twice in a row, so records never wrap */
	size_t size, page;
};

/* Of the map's @size bytes of data.  0 or a negative errno. */
int tmigr_ring_map(struct tmigr_ring *ring, int map_fd, size_t size);
void tmigr_ring_unmap(struct tmigr_ring *ring);
/* The oldest record, valid until the pop; NULL: nothing there. */
const struct tmigr_rec *tmigr_ring_peek(struct tmigr_ring *ring);
void tmigr_ring_pop(struct tmigr_ring *ring);

/* ---- one CPU's log ---- */
struct tmigr_log_reader {
	struct tmigr_log *log; /* mapped; NULL: there is none */
	size_t size;	       /* of its data, a power of two */
	unsigned int cpu;
	__u64 tail, head; /* read up to here; up to here there is something */
	__u64 now_ns;	  /* not older than what is there */
	struct tmigr_rec rec;
	size_t bytes; /* of @rec in the log; 0: none is looked at */
};

void tmigr_log_open(struct tmigr_log_reader *reader, struct tmigr_log *log, size_t size,
		    unsigned int cpu);
/* As those of a ring. */
const struct tmigr_rec *tmigr_log_peek(struct tmigr_log_reader *reader);
void tmigr_log_pop(struct tmigr_log_reader *reader);
/* Time of the first lost record that a LOST record still in the log tells of;
 * UINT64_MAX: none. */
__u64 tmigr_log_find_lost(struct tmigr_log_reader *reader);

/* ---- figures of a CPU at an edge, all of them since the start ---- */
struct tmigr_edge_cpu {
	struct tmigr_totals totals; /* open interval closed at the edge */
	__u64 since_ns;		    /* its start */
	__u64 first_ns;		    /* as of the reading: may lie behind the edge */
	__u32 first_type;
};

/* Cost of the tool itself up to now. */
struct tmigr_cost {
	bool bpf_known; /* bpf_ns and bpf_runs were measured */
	__u64 bpf_ns, bpf_runs, cpu_ns, wakeups;
	__u64 latency_ns, latency_runs; /* of bpf_*: programs for latency alone */
};

/* Remote expiries since the first edge, ascending by (executor, target).  An
 * interval in no known state stands at TMIGR_SLOT_UNKNOWN. */
struct tmigr_pairs {
	struct tmigr_totals_remote *pairs;
	size_t n, cap;
};

/* What a CPU was in before its first event, by snapshots: a slot,
 * TMIGR_SLOT_UNKNOWN, or this: they contradict one another. */
#define TMIGR_QUIET_UNSURE 0xff

struct tmigr_live {
	struct tmigr_live_opts opts;
	const struct tmigr_topology *topo;
	struct tmigr_features features;
	struct tmigr_bpf *skel;
	bool use_ksyms;
	struct kbtf kbtf; /* until the programs are loaded */

	/* CPUs as the kernel's per-CPU maps order them, and where those of the
	 * topology are among them. */
	unsigned int *possible;
	size_t n_possible;
	size_t *possible_idx; /* by topology index */

	/* Maps and globals of the skeleton. */
	int cpus_fd, rings_fd, remote_fd, ring0_fd;
	volatile __u64 *edge_ns;
	struct tmigr_live_latency *latency; /* NULL: not measured */
	struct tmigr_snap_cpu *snap;	    /* mapped; by CPU number */
	size_t snap_bytes;

	/* By topology index; none: no timeline. */
	struct tmigr_log_reader *logs;
	struct tmigr_ring *rings;
	void *logs_map;
	size_t logs_bytes;
	struct tmigr_cpu_value *values;	 /* by possible index: copies of the map */
	struct tmigr_cpu_value *values2; /* n_possible each */

	bool attached, started;
	int stats_fd; /* -1: the programs' time is not measured */
	__u64 attached_ns;
	struct tmigr_cost cost_start;

	unsigned char *quiet; /* by topology index: see TMIGR_QUIET_UNSURE */
	struct tmigr_pairs remote;

	/* By topology index: losses that were told of, by LOST records or ahead
	 * of these at an edge; those of the latter whose record is still to
	 * come, and the edge. */
	__u64 *told, *early, *early_ns;
	__u64 watermark_ns; /* records before it are out of the rings */
	__u64 clean_ns;	    /* of the last CLEAN */
	__u64 lost;	    /* all CPUs, when last read */
	__u64 drains;

	/* Last snapshot, for the expiries. */
	struct tmigr_snap_cpu *last_snap; /* by topology index */
};

/* ---- live.c ---- */
int tmigr_live_open(const struct tmigr_live_opts *opts, const struct tmigr_topology *topo,
		    struct tmigr_live **ret, struct tmigr_err *err);
void tmigr_live_close(struct tmigr_live *live);
/* Attaches, and lets every CPU that does anything be seen (at most 100 ms). */
int tmigr_live_start(struct tmigr_live *live, struct tmigr_err *err);

/* ---- live_drain.c ---- */
/* What was given so far is all before @watermark_ns; 0, or an error that ends the drain. */
typedef int (*tmigr_advance)(void *arg, __u64 watermark_ns);
/*
 * Moves what the buffers hold to @sink, merged by time; @advance (or NULL) is told on
 * the way how far it is.  *@ret_watermark_ns: no later drain brings a record with a
 * smaller time.  A CLEAN record is part of the stream where it can be vouched for.
 */
int tmigr_live_drain(struct tmigr_live *live, tmigr_sink sink, tmigr_advance advance, void *arg,
		     __u64 *ret_watermark_ns, struct tmigr_err *err);
/*
 * The same at an edge with its figures @cpus: what was lost before it and not told
 * yet is told at its last ns, so that the stream up to the edge is complete, and
 * says so.  All records before @complete_ns, after the edge, are in the rings.
 * A batch ends with every LOST, so that live->told is as of it.
 */
int tmigr_live_drain_edge(struct tmigr_live *live, __u64 edge_ns, const struct tmigr_edge_cpu *cpus,
			  __u64 complete_ns, tmigr_sink sink, void *arg, struct tmigr_err *err);

/* ---- live_load.c ---- */
int tmigr_live_load(struct tmigr_live *live, struct tmigr_err *err);
int tmigr_live_attach(struct tmigr_live *live, struct tmigr_err *err);
void tmigr_live_detach(struct tmigr_live *live);
void tmigr_live_unload(struct tmigr_live *live);
/* Runs the snapshot programs for @args->cpu; they fill live->snap[cpu]. */
int tmigr_live_run_snap(struct tmigr_live *live, struct tmigr_snap_args *args);
/* Time and runs of all programs, when measured. */
void tmigr_live_bpf_cost(struct tmigr_live *live, struct tmigr_cost *cost);

/* Adds the time and runs of a program, if it is loaded. */
void tmigr_live_add_cost(struct bpf_program *prog, __u64 *ns, __u64 *runs);

/* ---- live_latency.c ---- */
/* Before the load: which programs and maps there are to be. */
void tmigr_live_latency_choose(struct tmigr_live *live);
/* Behind it; 0 or -ENOMEM. */
int tmigr_live_latency_loaded(struct tmigr_live *live);
void tmigr_live_latency_free(struct tmigr_live *live);
/* Does the kernel tell of all that can end an interval? */
bool tmigr_live_latency_causes(const struct tmigr_live *live);
void tmigr_live_latency_cost(struct tmigr_live *live, struct tmigr_cost *cost);
/* Ahead of an announcement. */
void tmigr_live_latency_announce(struct tmigr_live *live);
/* As tmigr_live_read_edge(), into @ret[n_cpus].  It always waits for handlers: these take
 * their time before they count. */
int tmigr_live_latency_read(struct tmigr_live *live, __u64 edge,
			    struct tmigr_lat_figures (*ret)[TMIGR_SLOTS], struct tmigr_err *err);
/* All up to @edge, the figures at which have been read; *@ret is the caller's. */
int tmigr_live_latency_details(struct tmigr_live *live, __u64 edge,
			       struct tmigr_latency_detail **ret, size_t *ret_n);

/* ---- live_edge.c ---- */
void tmigr_sleep_until(__u64 t_ns);
/* Copies the value of every possible CPU into @values. */
int tmigr_live_read_values(struct tmigr_live *live, struct tmigr_cpu_value *values);
/* Every handler running now has ended when this returns. */
int tmigr_live_wait_handlers(struct tmigr_live *live);
/* Announces an edge and returns it: @at_ns where there is time enough to announce
 * that, else (and with 0) one a little in the future.  The figures at the one before
 * must have been read, or never will be. */
__u64 tmigr_live_announce(struct tmigr_live *live, __u64 at_ns);
/* Time enough, with some to spare. */
__u64 tmigr_live_edge_lead_ns(void);
/* Figures of each CPU at @edge, which is past, into @ret[n_cpus].
 * *@ret_complete_ns, not before the edge: records before it are in the rings.
 * @settled: no handler runs that began before the edge was announced, nor any that
 * took its time before the edge; else they are waited for. */
int tmigr_live_read_edge(struct tmigr_live *live, __u64 edge, bool settled,
			 struct tmigr_edge_cpu *ret, __u64 *ret_complete_ns, struct tmigr_err *err);
void tmigr_live_cost(struct tmigr_live *live, struct tmigr_cost *cost);
/* Of this process alone. */
void tmigr_process_cost(struct tmigr_cost *cost);

/* ---- live_remote.c ---- */
/* Takes what was counted before @edge_ns, the figures at which have been read,
 * out of the hash and adds it to live->remote. */
int tmigr_live_fold_remote(struct tmigr_live *live, __u64 edge_ns);

/* ---- live_snapshot.c ---- */
/* Reads the kernel's structures into live->last_snap, and what is to be seen of
 * CPUs without events into live->quiet and @quiet (by topology index).  Without
 * kallsyms and before any CPU's first event no entry is valid. */
int tmigr_live_read_snapshot(struct tmigr_live *live, unsigned char *quiet, struct tmigr_err *err);
/* The last snapshot has every online CPU's place. */
bool tmigr_live_snapshot_whole(const struct tmigr_live *live);
/* Appends what the last snapshot says of the hierarchy, in time order. */
int tmigr_live_snapshot_records(const struct tmigr_live *live, struct tmigr_rec_vec *vec);
/* Appends what @slots says of idle states, for the time @t_ns. */
int tmigr_live_idle_records(const struct tmigr_live *live, const unsigned char *slots, __u64 t_ns,
			    struct tmigr_rec_vec *vec);
/* The hierarchy and idle states now, as records (replaces @vec).  -EAGAIN: see
 * tmigr_engine_moment(). */
int tmigr_live_snapshot(struct tmigr_live *live, struct tmigr_rec_vec *vec, struct tmigr_err *err);

/* Next expiry that the last snapshot saw: of a CPU's first global timer, of a
 * group; TMIGR_KTIME_MAX none, 0 not known. @group as in the records. */
__u64 tmigr_live_cpu_expiry(const struct tmigr_live *live, unsigned int cpu);
__u64 tmigr_live_group_expiry(const struct tmigr_live *live, __u64 group);

#endif
