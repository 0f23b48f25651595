/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a benchmark prints, as numbers: "metrics" of the report.
 *
 *   tmigr_metrics_new -> add(spec)... -> [read(fd)...] -> result -> reset, or free
 *
 * Output is read line by line in bounded memory (a line ends with LF, CR or both;
 * of one longer than TMIGR_METRICS_LINE the beginning counts; NUL bytes read as
 * blanks).
 */
#ifndef TMIGR_METRICS_H
#define TMIGR_METRICS_H

#include <jansson.h>

#include "tmigr/err.h"

#define TMIGR_METRICS_LINE 16384

struct tmigr_metrics;

/* NULL: no memory. */
struct tmigr_metrics *tmigr_metrics_new(void);
void tmigr_metrics_free(struct tmigr_metrics *m); /* NULL is fine */

/*
 * The name of a known benchmark (tmigr_metrics_known()), or
 * NAME=REGEX[:UNIT][:higher|lower]: POSIX extended, its first group takes the
 * value.  What follows the last colon is the unit only when it looks like one
 * (letters, digits and %/_^.-, or nothing) and the group comes before it.
 * -EINVAL: malformed, or the name is there already.
 */
int tmigr_metrics_add(struct tmigr_metrics *m, const char *text, struct tmigr_err *err);

/* Known benchmarks, NULL after the last one. */
const char *const *tmigr_metrics_known(void);

/* Reads @fd to its end.  0 or a negative errno of read(2), -ENOMEM. */
int tmigr_metrics_read(struct tmigr_metrics *m, int fd);

/*
 * What was found: *@ret_metrics an array of {name, value, unit, better}, in the
 * order of the specs; *@ret_notes an array of texts about what was not found, or
 * several times (the last one counts).  New references.  0 or -ENOMEM.
 */
int tmigr_metrics_result(struct tmigr_metrics *m, json_t **ret_metrics, json_t **ret_notes);

/* Forgets what was read, for the next run. */
void tmigr_metrics_reset(struct tmigr_metrics *m);

#endif
