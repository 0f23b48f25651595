/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording as a native trace of Perfetto (ui.perfetto.dev, trace_processor):
 * lib/perfetto.proto.  docs/export.md says what is on which track.
 */
#ifndef TMIGR_PERFETTO_H
#define TMIGR_PERFETTO_H

#include <stdio.h>

#include <jansson.h>

#include "tmigr/err.h"

/*
 * Writes the recording at @path to @out, in memory that depends on the machine, not
 * on the recording's length.  It is read twice (names first), so it cannot be a pipe:
 * -ESPIPE.  *@ret_report is its report (new reference), whose "partial" says whether
 * the recording stops early.  -EOPNOTSUPP: not built in; else as tmigr_replay(),
 * or negative errno from writing, with *@err empty.
 */
int tmigr_perfetto_write(const char *path, FILE *out, json_t **ret_report, struct tmigr_err *err);

/* Of the library that is built in; NULL: none. */
const char *tmigr_perfetto_library(void);

#endif
