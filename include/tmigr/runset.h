/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several runs at once: what `tmigr compare` and others read.  A path is
 *
 *   - a run directory (it has a run.json),
 *   - a label directory, as `tmigr run -n 3 -o DIR` makes it: run-1, run-2, ...
 *   - a recording (events.tmr).
 *
 * What cannot be read is kept as a run without a report and a line that says
 * why, so that nothing is left out silently.
 */
#ifndef TMIGR_RUNSET_H
#define TMIGR_RUNSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>
#include <sys/types.h>

#include "tmigr/err.h"

struct tmigr_run {
	char *path;	   /* of the run directory or recording, as it was given */
	size_t label;	   /* index in labels */
	unsigned long run; /* from 1, different for each run of a label */
	json_t *report;	   /* NULL: could not be read, see problem */
	json_t *json;	   /* run.json; NULL: there is none, or it cannot be read */
	const char *state; /* of run.json: "complete", "interrupted", "running"; "" */
	char *problem;	   /* why there is no report, one line with the path; else NULL */
	/*
	 * Why the run does not count, although it has a report: it failed, was
	 * interrupted, or only a part of it is there ("failed: exit status 3").
	 * NULL: it counts.
	 */
	char *left_out;

	/* Inside of runset.c. */
	char *name;   /* label as the run has it */
	char *holder; /* folder whose runs belong together */
	char *real_holder;
	size_t order; /* in which it was given */
	bool in_label_dir;
	bool labelled; /* the name is from the report */
	dev_t dev;
	ino_t ino;
};

struct tmigr_run_label {
	/* The report's "label", else the label directory's name, else the run
	 * directory's; where two folders have the same one, their paths.
	 * No two are equal. */
	char *name;
	size_t first, n;  /* its runs: runs[first] ... runs[first + n - 1], ascending */
	size_t n_counted; /* of them, with a report and not left out */
};

struct tmigr_runset {
	size_t n_runs;
	struct tmigr_run *runs; /* by label, then by number */
	size_t n_labels;
	struct tmigr_run_label *labels; /* in the order they were given */
	size_t n_notes;
	char **notes; /* one line each: what was unclear, and how it was taken */
};

/*
 * Reads the runs at @paths.  0 also when some, or all, cannot be read (see
 * problem); -EINVAL: no path; -ENOMEM.  Free with tmigr_runset_free().
 */
int tmigr_runset_load(const char *const *paths, size_t n, struct tmigr_runset **ret,
		      struct tmigr_err *err);
void tmigr_runset_free(struct tmigr_runset *set); /* NULL is fine */

/*
 * The runs side by side: migrator, residency, metrics and energy of each, and means
 * of those that count; a line for each that does not.  0, -ENOMEM or a negative
 * errno from writing.
 */
int tmigr_runset_text(const struct tmigr_runset *set, FILE *out);

/* Index of the label with this name; -ENOENT. */
ssize_t tmigr_runset_label(const struct tmigr_runset *set, const char *name);

/* Can it be read, and does it count? */
static inline bool tmigr_run_counts(const struct tmigr_run *run)
{
	return run->report && !run->left_out;
}

#endif
