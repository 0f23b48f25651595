/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Insides of the live engine, shared by lib/live*.c only:
 *   live.c           its life: open, start, stop, close
 *   live_load.c      the BPF skeleton (private to that file): load, attach
 *   live_percpu.c    where the kernel's per-CPU variables lie
 *   live_ring.c      one CPU's ring buffer
 *   live_drain.c     merge of the ring buffers by time
 *   live_snapshot.c  the hierarchy of the running kernel, as records
 *   live_window.c    the window's edges and the figures at them
 *   live_totals.c    figures of the window
 */
#ifndef TMIGR_LIVE_PRIV_H
#define TMIGR_LIVE_PRIV_H

#include "tmigr/features.h"
#include "tmigr/live.h"
#include "tmigr/maps.h"

#define TMIGR_NS_PER_MS 1000000ULL
#define TMIGR_NS_PER_S	1000000000ULL

struct tmigr_bpf;

/* A growing array of records. */
struct tmigr_rec_vec {
	struct tmigr_rec *recs;
	size_t n, cap;
};

int tmigr_rec_vec_add(struct tmigr_rec_vec *vec, struct tmigr_rec rec);

/* ---- one ring buffer, mapped ---- */
struct tmigr_ring {
	unsigned long *consumer; /* page of its own, written by us */
	unsigned long *producer;
	const unsigned char *data; /* twice in a row, so records never wrap */
	size_t size, page;
};

int tmigr_ring_map(struct tmigr_ring *ring, int map_fd, size_t size);
void tmigr_ring_unmap(struct tmigr_ring *ring);
/* Time of the first lost record that a LOST record still in the ring tells of;
 * UINT64_MAX: none. */
__u64 tmigr_ring_find_lost(const struct tmigr_ring *ring);
/* The oldest record, valid until the pop; NULL: nothing there. */
const struct tmigr_rec *tmigr_ring_peek(struct tmigr_ring *ring);
void tmigr_ring_pop(struct tmigr_ring *ring);

/* ---- figures of a CPU at an edge ---- */
struct tmigr_edge_cpu {
	struct tmigr_totals totals; /* open interval closed at the edge */
	__u64 first_ns;
	__u32 first_type;
};

/* Cost of the tool itself up to now. */
struct tmigr_cost {
	__u64 bpf_ns, bpf_runs, cpu_ns, wakeups;
};

struct tmigr_live {
	struct tmigr_live_opts opts;
	const struct tmigr_topology *topo;
	struct tmigr_features features;
	struct tmigr_bpf *skel;
	bool use_ksyms;
	__s64 rq_to_tmc; /* see struct tmigr_snap_args */

	/* CPUs as the kernel's per-CPU maps order them, and where those of the
	 * topology are among them. */
	unsigned int *possible;
	size_t n_possible;
	size_t *possible_idx; /* by topology index */

	/* Maps and globals of the skeleton. */
	int cpus_fd, rings_fd, remote_fd, ring0_fd;
	volatile __u64 *edge_ns;
	struct tmigr_snap_cpu *snap; /* mapped; by CPU number */
	size_t snap_bytes;

	struct tmigr_ring *rings;	 /* by topology index; none: no timeline */
	struct tmigr_cpu_value *values;	 /* by possible index: copies of the map */
	struct tmigr_cpu_value *values2; /* n_possible each */

	bool attached;
	bool started, stopped;
	bool base_read;
	int stats_fd; /* -1: the programs' time is not measured */
	__u64 attached_ns, start_ns, end_ns;
	struct tmigr_edge_cpu *base, *last; /* by topology index */
	struct tmigr_cost cost_start, cost_end;

	/* Per CPU of the topology: its slot in the snapshots at start and end
	 * if it had made no event then, else TMIGR_SLOT_UNKNOWN. */
	unsigned char *quiet_start, *quiet_end;

	struct tmigr_rec_vec pending; /* records of the engine itself, by time */
	size_t pending_done;
	__u64 *told;	/* by topology index: losses that LOST records told of */
	__u64 clean_ns; /* of the last CLEAN */
	__u64 drains;

	/* Last snapshot, for the expiries. */
	struct tmigr_snap_cpu *last_snap; /* by topology index */
};

/* ---- live_load.c ---- */
int tmigr_live_load(struct tmigr_live *live, struct tmigr_err *err);
int tmigr_live_attach(struct tmigr_live *live, struct tmigr_err *err);
void tmigr_live_detach(struct tmigr_live *live);
void tmigr_live_unload(struct tmigr_live *live);
/* Runs the snapshot programs for @args->cpu; they fill live->snap[cpu]. */
int tmigr_live_run_snap(struct tmigr_live *live, struct tmigr_snap_args *args);
/* Time and runs of all programs, when measured. */
void tmigr_live_bpf_cost(struct tmigr_live *live, struct tmigr_cost *cost);

/* ---- live_percpu.c ---- */
/* Distance from one per-CPU variable of the kernel to another by the kernel's
 * BTF; 0: not known. */
__s64 tmigr_percpu_distance(const char *from, const char *to);

/* ---- live_window.c ---- */
__u64 tmigr_now_ns(void);
void tmigr_sleep_until(__u64 t_ns);
/* Copies the value of every possible CPU into @values. */
int tmigr_live_read_values(struct tmigr_live *live, struct tmigr_cpu_value *values);
/* Every handler running now has ended when this returns. */
int tmigr_live_wait_handlers(struct tmigr_live *live);
/* Announces an edge a little in the future and returns it. */
__u64 tmigr_live_announce(struct tmigr_live *live);
/* Figures of each CPU at @edge, which is past, into @ret[n_cpus]. */
int tmigr_live_read_edge(struct tmigr_live *live, __u64 edge, struct tmigr_edge_cpu *ret,
			 struct tmigr_err *err);
/* Figures at the start, if not read yet. */
int tmigr_live_read_base(struct tmigr_live *live, struct tmigr_err *err);
void tmigr_live_cost(struct tmigr_live *live, struct tmigr_cost *cost);

/* ---- live_snapshot.c ---- */
/* Reads the kernel's structures into live->last_snap; @quiet: see above.  Without
 * kallsyms and before any CPU's first event no entry is valid. */
int tmigr_live_read_snapshot(struct tmigr_live *live, unsigned char *quiet, struct tmigr_err *err);
/* Appends what the last snapshot says of the hierarchy, in time order. */
int tmigr_live_snapshot_records(const struct tmigr_live *live, struct tmigr_rec_vec *vec);
/* Appends what @quiet says of idle states, for the time @t_ns. */
int tmigr_live_quiet_records(const struct tmigr_live *live, const unsigned char *quiet, __u64 t_ns,
			     struct tmigr_rec_vec *vec);

#endif
