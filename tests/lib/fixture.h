/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model fed by hand, and what it said.  The including file has included
 * cmocka.h.
 */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include "machine.h"

/* group pointers */
#define G0     0xffff0000ULL
#define G1     0xffff0040ULL
#define TOP    0xffff0080ULL
#define R0     0xffff00c0ULL
#define NOBODY TMIGR_NO_MIGRATOR
#define NEVER  TMIGR_KTIME_MAX
/* window */
#define S 1000ULL
#define E 2000ULL

struct fixture {
	struct tmigr_topology *topo;
	struct tmigr_model *m;
	const struct tmigr_result *r;
	const struct tmigr_rec *recs; /* what it was fed */
	size_t n_recs;
	struct tmigr_segment *segs;
	size_t n_segs, cap_segs;
	struct tmigr_cpu_span *spans;
	size_t n_spans, cap_spans;
	struct tmigr_group_span *groups;
	size_t n_groups, cap_groups;
	struct tmigr_remote_event *remotes;
	size_t n_remotes, cap_remotes;
};

/* Takes over @topo.  Fails the test when a law does not hold. */
struct fixture *fixture_run(struct tmigr_topology *topo, const struct tmigr_rec *recs, size_t n);
/* The same with a window of its own. */
struct fixture *fixture_window(struct tmigr_topology *topo, const struct tmigr_rec *recs, size_t n,
			       __u64 start_ns, __u64 end_ns);
void fixture_free(struct fixture *f);
/* Segment callback; arg is a struct fixture. */
void fixture_segment(void *arg, const struct tmigr_segment *seg);
/* Span callback; arg is a struct fixture. */
void fixture_span(void *arg, const struct tmigr_cpu_span *span);
/* The same of groups' spans and of remote expiries. */
void fixture_group_span(void *arg, const struct tmigr_group_span *span);
void fixture_remote(void *arg, const struct tmigr_remote_event *event);
/* A model's callbacks, all of them into @f. */
struct tmigr_model_cfg fixture_cfg(const struct tmigr_topology *topo, __u64 start_ns,
				   struct fixture *f);
/* Forgets what was told, to be told anew; frees it. */
void fixture_forget(struct fixture *f);
void fixture_free_told(struct fixture *f);
/* The spans of each CPU fill the window without a gap, and are its figures. */
bool fixture_spans_hold(const struct fixture *f, const struct tmigr_topology *topo);
/*
 * The groups' spans fill the window without a gap; from each root down they lead to
 * who held it wherever it was held, and to no other CPU where that is known; and the
 * remote expiries told of are the figures.
 */
bool fixture_groups_hold(const struct fixture *f);
/* Laws 1 and 2, and that holders' times agree with them. */
bool fixture_sums_hold(const struct tmigr_result *r);

#define RUN(topo, recs) fixture_run(topo, recs, sizeof(recs) / sizeof(*(recs)))

/* Segment @i of all. */
void expect_segment(const struct fixture *f, size_t i, enum tmigr_regime regime, int cpu,
		    __u64 from, __u64 to);

/* CPUs 0 and 1 below one root, both without a duty. */
#define ONE_ROOT(w)                                                                                \
	rec_node_group(500, R0, 0, 0, 1), rec_node_cpu(500, R0, 0, 1),                             \
		rec_node_cpu(500, R0, 1, 2), rec_snap_group(500, R0, w),                           \
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 0, NEVER),                                   \
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 1, NEVER)

/* CPUs 0, 1 below G0, CPUs 2, 3 below G1, both below TOP. */
#define TWO_LEVELS(w0, w1, top)                                                                    \
	rec_node_group(500, TOP, 0, 1, 1), rec_node_group(500, G0, TOP, 0, 1),                     \
		rec_node_group(500, G1, TOP, 0, 2), rec_node_cpu(500, G0, 0, 1),                   \
		rec_node_cpu(500, G0, 1, 2), rec_node_cpu(500, G1, 2, 1),                          \
		rec_node_cpu(500, G1, 3, 2), rec_snap_group(500, G0, w0),                          \
		rec_snap_group(500, G1, w1), rec_snap_group(500, TOP, top),                        \
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 0, NEVER),                                   \
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 1, NEVER),                                   \
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 2, NEVER),                                   \
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 3, NEVER)

#endif
