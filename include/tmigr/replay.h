/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a recording back to the report of the run that wrote it, byte for byte:
 * the model is fed with the same records and watermarks, and the report is
 * built by the same function from the same totals.
 *
 * META is {"topology": tmigr_topology_to_json(), "start_ns", "info": {...}},
 * END is {"end_ns", "totals": tmigr_window_totals_to_json(), "info": {...}}, and
 * "topology" where the report is about a corrected one (tmigr_topology_refresh()).
 * What the live run puts into the report as info is tmigr_replay_info() of both.
 */
#ifndef TMIGR_REPLAY_H
#define TMIGR_REPLAY_H

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/model.h"

struct tmigr_replay_opts {
	/* As in tmigr_model_cfg; optional. */
	void (*segment)(void *arg, const struct tmigr_segment *seg);
	void (*cpu_span)(void *arg, const struct tmigr_cpu_span *span);
	void (*group_span)(void *arg, const struct tmigr_group_span *span);
	void (*remote)(void *arg, const struct tmigr_remote_event *event);
	/* Records as they are read, before the model has them. */
	void (*records)(void *arg, const struct tmigr_rec *recs, size_t n);
	/* At the end: the hierarchy that the report's names of groups come from. */
	void (*hierarchy)(void *arg, const struct tmigr_hierarchy *h);
	void *arg;
};

/*
 * The "info" of the report: @meta_info with the members of @end_info set over
 * it (either may be NULL).  New reference, NULL: no memory.
 */
json_t *tmigr_replay_info(const json_t *meta_info, const json_t *end_info);

/*
 * Reads the recording at @path ("-": standard input); *@ret_report is a new
 * reference.  @opts may be NULL.  A recording that stops early gives the report
 * up to its last watermark, with "partial" saying where and why it stops, and
 * residency from the timeline.  -EINVAL: not a recording, or one that stops
 * before its first frame, or whose frames do not make sense.
 */
int tmigr_replay(const char *path, json_t **ret_report, const struct tmigr_replay_opts *opts,
		 struct tmigr_err *err);
/* The same from an open file (the caller's), of which @n bytes, @head, were read. */
int tmigr_replay_fd(const char *name, int fd, const void *head, size_t n, json_t **ret_report,
		    const struct tmigr_replay_opts *opts, struct tmigr_err *err);

#endif
