/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What making (rundir_make.c), writing (rundir.c) and reading (rundir_read.c) of a run directory
 * share. */
#ifndef TMIGR_RUNDIR_PRIV_H
#define TMIGR_RUNDIR_PRIV_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "tmigr/err.h"

#define TMIGR_PARTIAL	  ".partial"
#define TMIGR_NEW	  ".new" /* for as long as an earlier run is there: what it has may be partial */
#define TMIGR_RUN_SCHEMA  "tmigr-run"
#define TMIGR_RUN_VERSION 1

/* run.json of the directory when it is one of ours (new reference), else NULL. */
json_t *tmigr_rundir_load_run(int dirfd);

/* Those that others write, given out by tmigr_rundir_temp(). */
#define MAX_GIVEN 8

struct tmigr_rundir {
	char *path;
	int dirfd;
	size_t made;  /* length of the first part of path that was made; 0 none */
	bool ours;    /* what has a run's names in it */
	bool earlier; /* an earlier run is there, as it was */
	bool finished;
	json_t *run; /* as last written */
	char *given[MAX_GIVEN];
	size_t n_given;
	/* Segments as they come, without a name in the directory: their root's
	 * name is known at the end only.  NULL when it could not be made. */
	FILE *segments;
	int segments_error; /* negative errno */
};

void rundir_partial_name(const struct tmigr_rundir *d, const char *name, char buf[64]);
/* Where an earlier run is, run.json is still that one's. */
int rundir_write_run(struct tmigr_rundir *d, const json_t *run, const char *state);

/* rundir_make.c */
/* That an interrupt takes away what it has written; NULL: none, any more. */
void rundir_at_work(struct tmigr_rundir *d);
/* All but run.json. */
int rundir_clear_earlier(struct tmigr_rundir *d, struct tmigr_err *err);
void rundir_free(struct tmigr_rundir *d);

#endif
