/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report.  There is one representation of it: a JSON object (schema
 * "tmigr-report", version 1, documented in docs/report-schema.md).  The text,
 * the CSV files and the run directory are views of that object, so `tmigr
 * report` of a run directory, of a recording, and the live run print the same
 * bytes.
 */
#ifndef TMIGR_REPORT_H
#define TMIGR_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/model.h"
#include "tmigr/topology.h"
#include "tmigr/totals.h"

#define TMIGR_REPORT_SCHEMA_VERSION 1

struct tmigr_report_input {
	const struct tmigr_topology *topo;
	const struct tmigr_model *model;	  /* finished */
	const struct tmigr_window_totals *totals; /* NULL: timeline only (a
						   * recording that was cut) */
	/* Object with what the figures don't hold, copied to the report as it
	 * is: "tool", "kernel", "machine", "command" (array), "exit_status",
	 * "start_time" (ISO 8601), "interrupted", "partial" (text or absent),
	 * "timer_migration_hierarchy" (false: kernel without it); what a run adds
	 * ("label", "metrics", "energy", ...) is in docs/report-schema.md. */
	const json_t *info;
};

/* New reference, or NULL (no memory). */
json_t *tmigr_report_build(const struct tmigr_report_input *in);

/* Checks that @report has the shape the views need.  -EINVAL names the place. */
int tmigr_report_check(const json_t *report, struct tmigr_err *err);

/* The object itself, the elements of its arrays one per line, so that it can be
 * read, searched and compared.  0 or a negative errno from writing. */
int tmigr_report_json(const json_t *report, FILE *out);

/* The text that a user reads (docs/report-schema.md).  Plain, no colour, at most 100
 * columns where names allow.  0 or a negative errno from writing. */
int tmigr_report_text(const json_t *report, FILE *out);

/* CSV views of one run (csv.h: tables of several).  0 or negative errno. */
int tmigr_report_csv_residency(const json_t *report, FILE *out);
int tmigr_report_csv_migrator(const json_t *report, FILE *out);
int tmigr_report_csv_remote(const json_t *report, FILE *out);
/* What each holder was in while it held: running or an idle state. */
int tmigr_report_csv_migrator_states(const json_t *report, FILE *out);
/* What the command printed, and energy: only the head where the report has none. */
int tmigr_report_csv_metrics(const json_t *report, FILE *out);
int tmigr_report_csv_energy(const json_t *report, FILE *out);
int tmigr_report_csv_hotplug(const json_t *report, FILE *out);
/* What --latency measured: only the head where it did not. */
int tmigr_report_csv_latency(const json_t *report, FILE *out);
int tmigr_report_csv_wakeups(const json_t *report, FILE *out);
/* migrator-segments.csv: the head, and one row.  The root's name and the CPU's
 * class come from @report; times are relative to the window's start. */
int tmigr_report_csv_segments_head(FILE *out);
int tmigr_report_csv_segment(const json_t *report, const struct tmigr_segment *seg, FILE *out);

#endif
