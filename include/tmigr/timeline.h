/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run was like over time, reduced to columns: for a picture, whose size
 * then depends on its width and on the number of lanes, never on the recording.
 * Integer arithmetic throughout: the same recording gives the same digest.
 */
#ifndef TMIGR_TIMELINE_H
#define TMIGR_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/model.h"

/* CPUs that are drawn as one: of one class, and one level-0 group, neighbours. */
struct tmigr_lane {
	char *cpus; /* "4", "0-7" */
	size_t n_cpus;
	unsigned int first; /* the lowest of them */
	int class_idx;	    /* index into the report's classes[], -1 unknown */
};

/* One stretch of time in columns; column i is [column_ns(i), column_ns(i + 1)). */
struct tmigr_view {
	__u64 from_ns, to_ns; /* CLOCK_MONOTONIC */
	size_t n_columns;
	/* Per root and column, n_parts times: held by each class in the order of
	 * classes[], then the regimes after TMIGR_HELD.  ns. */
	__u64 *root_ns;
	/* Per lane and column: time in each slot, summed over the lane's CPUs, and
	 * time for which one of them held a migrator; NULL: not known. */
	__u64 (*slot_ns)[TMIGR_SLOTS];
	__u64 *held_ns;
};

struct tmigr_timeline {
	size_t n_roots, n_classes;
	size_t n_parts; /* of root_ns: n_classes + TMIGR_REGIMES - 1 */
	size_t n_lanes; /* 0: only the roots are known (no recording) */
	struct tmigr_lane *lanes;
	int *lane_of; /* by CPU number */
	size_t n_numbers;
	bool grouped; /* some lane is of several CPUs */
	struct tmigr_view overview;
	/* The longest holding by a big CPU, or of any where none is big or none
	 * held; with some of what is around it.  n_columns 0: nobody held. */
	struct tmigr_view zoom;
	struct tmigr_segment longest;
	bool longest_is_big;
};

/* Sizes the picture; 0 takes the default. */
struct tmigr_timeline_size {
	size_t columns;	    /* at most; 960 */
	size_t cells;	    /* at most, lanes x columns of one view; 131072 */
	size_t min_columns; /* lanes are joined rather than go below; 200 */
};

/* When the column begins; of the one behind the last: the view's end. */
__u64 tmigr_view_column_ns(const struct tmigr_view *v, size_t column);

/*
 * Reads the recording at @path (not standard input: it is read twice) or, if it
 * is called migrator-segments.csv, the holders alone from there.  @report is the
 * run's.  *@ret is owned by the caller.  Memory depends on the machine and on @size
 * only.  Negative errno as from tmigr_replay().
 */
int tmigr_timeline_read(const char *path, const json_t *report,
			const struct tmigr_timeline_size *size, struct tmigr_timeline **ret,
			struct tmigr_err *err);
void tmigr_timeline_free(struct tmigr_timeline *t);

#endif
