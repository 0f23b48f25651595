/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The segments of a run, which are not in its report. */
#ifndef TMIGR_CSV_SEGMENTS_H
#define TMIGR_CSV_SEGMENTS_H

#include <stdio.h>

#include "tmigr/csv.h"
#include "tmigr/err.h"
#include "tmigr/runset.h"

/*
 * Rows of TMIGR_CSV_SEGMENTS: from the migrator-segments.csv of a run directory, else
 * by replaying the recording.  @id as in tmigr_csv_rows().  -EINVAL: that file is
 * not one of tmigr; as tmigr_replay(); negative errno of writing with *@err empty.
 */
int tmigr_csv_segments(const struct tmigr_run *run, const struct tmigr_csv_run *id, FILE *out,
		       struct tmigr_err *err);

#endif
