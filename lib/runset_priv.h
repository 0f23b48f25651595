/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What finding runs (runset.c) and labelling them (runset_label.c) share.  All
 * return 0 or -ENOMEM. */
#ifndef TMIGR_RUNSET_PRIV_H
#define TMIGR_RUNSET_PRIV_H

#include "tmigr/runset.h"

int tmigr_runset_note(struct tmigr_runset *set, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The number in "run-12", 0 where @name is none. */
unsigned long tmigr_runset_number(const char *name);

/* ---- runset_label.c ---- */

/* The run's own name and holder, from its report and path. */
int tmigr_runset_name(struct tmigr_run *run);

/* Groups the runs, sorts them, makes labels and numbers. */
int tmigr_runset_labels(struct tmigr_runset *set);

#endif
