/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run directory (docs/report-schema.md): run.json, report.json, residency.csv,
 * migrator.csv, migrator-segments.csv, remote.csv, hierarchy.json, stdout and
 * stderr of the command, events.tmr under --record.
 *
 * Every file is written to a temporary name in the directory and renamed when
 * whole.  run.json is there from the first moment with "state": "running" and
 * becomes "complete" or "interrupted" at the end.
 */
#ifndef TMIGR_RUNDIR_H
#define TMIGR_RUNDIR_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/model.h"

struct tmigr_rundir;

/*
 * Makes the directory (parents too).  -EEXIST when it is there and not empty,
 * unless @force, which replaces the files of an earlier run and touches no
 * others; -EACCES, -ENOSPC ... from the system.  @run is the first run.json.
 *
 * An earlier run stays as it is until tmigr_rundir_replace(), or else until
 * tmigr_rundir_finish() has all that comes in its place.
 */
int tmigr_rundir_create(const char *path, bool force, const json_t *run, struct tmigr_rundir **ret,
			struct tmigr_err *err);

/* The earlier run's files go, and run.json says "running": for a run that has begun.  Temporary
 * files get other names (tmigr_rundir_where()).  Nothing where there was none. */
int tmigr_rundir_replace(struct tmigr_rundir *d, struct tmigr_err *err);

/* A file that would go with the earlier run in @path, or be written to: nothing to make a
 * run of. */
bool tmigr_rundir_has(const char *path, const struct stat *st);

/* Path of a file inside (owned by the caller, free), for the recording and the
 * command's output; the name gets its temporary suffix until finish. */
char *tmigr_rundir_temp(struct tmigr_rundir *d, const char *name);

/* Where such a file is now; owned by the caller, NULL: no memory. */
char *tmigr_rundir_where(const struct tmigr_rundir *d, const char *name);

/* The file @name, which tmigr_rundir_temp() gave out, did not become whole: it
 * keeps its temporary name at finish. */
void tmigr_rundir_give_up(struct tmigr_rundir *d, const char *name);

/* Segment callback for tmigr_model_cfg (arg = the struct tmigr_rundir). */
void tmigr_rundir_segment(void *arg, const struct tmigr_segment *seg);

/*
 * Writes the views of @report and the final run.json (@run with "state" set),
 * renames everything into place.  On error nothing half-written stays under a
 * final name, and run.json says "interrupted"; but an earlier run is still there.
 */
int tmigr_rundir_finish(struct tmigr_rundir *d, const json_t *run, const json_t *report,
			struct tmigr_err *err);
/*
 * Instead of close, for a run that never began, or of which nothing is to stay: takes
 * away what it wrote and the folders that it made, and frees.  NULL is fine.
 */
void tmigr_rundir_discard(struct tmigr_rundir *d);
/* Frees; without finish before it, marks the run as interrupted, or discards it where an
 * earlier one is still there. */
void tmigr_rundir_close(struct tmigr_rundir *d);

/*
 * The report of a run directory.  New reference in *@ret.  -ENOENT: no run
 * directory; -ENODATA: the run was interrupted (the message names the recording
 * to use instead, if there is one).
 */
int tmigr_rundir_report(const char *path, json_t **ret, struct tmigr_err *err);

/* For a signal handler that ends the process: discards what is not finished. */
void tmigr_rundir_interrupted(void);

#endif
