/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the timeline, for lib/timeline*.c only. */
#ifndef TMIGR_TIMELINE_PRIV_H
#define TMIGR_TIMELINE_PRIV_H

#include "tmigr/timeline.h"

/* The lanes for at most @cells / @min_columns; sets lanes, lane_of, grouped. */
int tmigr_lanes_build(struct tmigr_timeline *t, const json_t *report, size_t max_lanes);

/* Reads migrator-segments.csv and tells @segment of each row.  -EINVAL: not such a
 * file, or one that is not of @report. */
int tmigr_segments_read(const char *path, const json_t *report,
			void (*segment)(void *arg, const struct tmigr_segment *seg), void *arg,
			struct tmigr_err *err);

#endif
