/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of `tmigr export`. */
#ifndef TMIGR_TOOL_EXPORT_H
#define TMIGR_TOOL_EXPORT_H

#include "daemon.h"
#include "tmigr/runset.h"

struct export_opts {
	const char *output; /* NULL: standard output */
	const char *table;  /* NULL: not asked for one */
	struct daemon_opts daemon;
	char **paths;
	size_t n_paths;
};

/* All of these return the exit code, with errors told.  @set: the runs that are to be
 * exported are those with a report; there is at least one. */
int export_csv(const struct export_opts *opts, const struct tmigr_runset *set);
int export_json(const struct export_opts *opts, const struct tmigr_runset *set);
int export_openmetrics(const struct export_opts *opts, const struct tmigr_runset *set);
/* These read for themselves. */
int export_perfetto(const struct export_opts *opts);
int export_daemon(const struct export_opts *opts);

/* The table of that name, or -1 with the error told. */
int export_table(const char *name);
/* Label of a run. */
const char *export_label(const struct tmigr_runset *set, const struct tmigr_run *run);
/* How many runs have a report. */
size_t export_count(const struct tmigr_runset *set);

#endif
