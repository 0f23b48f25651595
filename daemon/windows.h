/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows that clients opened; with a recording or without. */
#ifndef TMIGRD_WINDOWS_H
#define TMIGRD_WINDOWS_H

#include "tmigrd.h"

#define WINDOWS_PER_CLIENT 16

struct recording;

struct window {
	struct window *next;
	__u64 id;
	struct client *owner;
	struct tmigr_window *w;
	struct tmigr_topology *topo; /* as it began */
	char start_time[40];	     /* ISO 8601 */
	struct recording *rec;
};

/* Opens one for @c with @opts (may be NULL), or answers with an error: NULL. */
struct window *window_open(struct client *c, const struct tmigr_window_opts *opts);
/* May @c end it?  Whoever began it, in this connection or another; and root. */
bool window_may(const struct client *c, const struct window *w);
/* The client's window of that number, or answers with an error: NULL. */
struct window *window_find(struct client *c, json_t *params);
void window_free(struct tmigrd *d, struct window *w);
/* Closes it: its report, and the info in that (new references). */
int window_close(struct tmigrd *d, struct window *w, json_t **ret_report, json_t **ret_info,
		 struct tmigr_err *err);

/* What reports of [from, to) say of themselves. NULL: no memory. */
json_t *window_info(struct tmigrd *d, const char *start_time, __u64 from_ns, __u64 to_ns);
/* Report of a closed window that began with @start; NULL: no memory. */
json_t *window_report(struct tmigrd *d, struct tmigr_window *w, const struct tmigr_topology *start,
		      const json_t *info);
/* The report up to now of an open window. */
int window_so_far(struct tmigrd *d, struct tmigr_window *w, const struct tmigr_topology *start,
		  const char *start_time, json_t **ret_report, struct tmigr_err *err);

#endif
