/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a report as CSV: one header, one observation a row, RFC 4180
 * quoting, lines end in LF; a cell that does not apply is empty.  Each table's
 * columns are named, and what they mean is said, in one place: the header and
 * the description come from it.
 */
#ifndef TMIGR_CSV_H
#define TMIGR_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "tmigr/model.h"

enum tmigr_csv {
	TMIGR_CSV_RUNS,
	TMIGR_CSV_RESIDENCY,
	TMIGR_CSV_MIGRATOR,
	TMIGR_CSV_MIGRATOR_STATES,
	TMIGR_CSV_SEGMENTS, /* its rows are not in the report: tmigr_csv_segment() */
	TMIGR_CSV_REMOTE,
	TMIGR_CSV_METRICS,
	TMIGR_CSV_ENERGY,
	TMIGR_CSV_HOTPLUG,
	TMIGR_CSV_LATENCY,
	TMIGR_CSV_WAKEUPS,
	TMIGR_CSV_TABLES
};

struct tmigr_csv_column {
	const char *name;
	const char *title;
	const char *unit; /* "ns", "" none */
	const char *type; /* of CSVW: "string", "integer", "number" */
	const char *meaning;
};

struct tmigr_csv_table {
	const char *name; /* file name without ".csv" */
	const char *title;
	const struct tmigr_csv_column *columns;
	size_t n_columns;
	/* Of the report: only where that has it; NULL: always there. */
	const char *member;
};

/* Whose rows: the columns `label` and `run`, which stand before the others. */
struct tmigr_csv_run {
	const char *label;
	unsigned long run;
};

/* What it is and its columns; never NULL. */
const struct tmigr_csv_table *tmigr_csv_table(enum tmigr_csv which);

/*
 * @run NULL: a table of one run, without label and run.  Each returns 0 or a
 * negative errno from writing.
 */
int tmigr_csv_head(enum tmigr_csv which, bool with_run, FILE *out);
int tmigr_csv_rows(enum tmigr_csv which, const json_t *report, const struct tmigr_csv_run *run,
		   FILE *out);
int tmigr_csv_segment(const json_t *report, const struct tmigr_segment *seg,
		      const struct tmigr_csv_run *run, FILE *out);

/* What a row of @run starts with, for rows that come from elsewhere. */
void tmigr_csv_begin(const struct tmigr_csv_run *run, FILE *out);

/*
 * What the tables in @which (bits 1 << enum tmigr_csv) hold, as "CSV on the Web"
 * metadata (www.w3.org/ns/csvw): title, unit, type and meaning of each column.
 * @url: name of the file of the only table, or NULL: NAME.csv.  New reference or NULL
 * (no memory).
 */
json_t *tmigr_csv_describe(unsigned int which, bool with_run, const char *url);

#endif
