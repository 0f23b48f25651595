/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What writing (rundir.c) and reading (rundir_read.c) of a run directory share. */
#ifndef TMIGR_RUNDIR_PRIV_H
#define TMIGR_RUNDIR_PRIV_H

#include <jansson.h>

#define TMIGR_PARTIAL	  ".partial"
#define TMIGR_RUN_SCHEMA  "tmigr-run"
#define TMIGR_RUN_VERSION 1

/* run.json of the directory when it is one of ours (new reference), else NULL. */
json_t *tmigr_rundir_load_run(int dirfd);

#endif
