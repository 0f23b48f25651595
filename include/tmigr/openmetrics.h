/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports as OpenMetrics text: counters in base units (seconds, joules), label sets
 * bounded by the machine: CPUs times idle states, CPUs times roots, classes times
 * classes; times the runs, where several are written.
 */
#ifndef TMIGR_OPENMETRICS_H
#define TMIGR_OPENMETRICS_H

#include <stdio.h>

#include <jansson.h>

struct tmigr_om_run {
	const json_t *report;
	const char *label; /* NULL: no labels `label` and `run` */
	unsigned long run;
};

/* All families of the reports, without the end.  Look at ferror(@f) afterwards. */
void tmigr_om_reports(FILE *f, const struct tmigr_om_run *runs, size_t n);
void tmigr_om_end(FILE *f);

/* ---- what else a writer has to say ---- */

/* The lines before a family's samples; @unit "" none. */
void tmigr_om_family(FILE *f, const char *name, const char *type, const char *unit,
		     const char *help);
/* A family of one sample without labels: an integer, or nanoseconds as seconds. */
void tmigr_om_number(FILE *f, const char *name, const char *type, const char *help,
		     json_int_t value);
void tmigr_om_seconds(FILE *f, const char *name, const char *help, json_int_t ns);

#endif
