/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of CSV tables: cells, for those that write rows (report_csv*.c).  A write that
 * fails shows at the table's end.
 */
#ifndef TMIGR_LIB_CSV_ROWS_H
#define TMIGR_LIB_CSV_ROWS_H

#include <stdio.h>

#include <jansson.h>

#include "tmigr/csv.h"

/* A table that is being written. */
struct csv {
	FILE *out;
	const struct tmigr_csv_run *run; /* NULL: a table of one run */
	bool begun;			 /* the row has a cell */
};

/* Begins with the label and the run, in a table of several runs. */
void csv_begin_row(struct csv *t);
void csv_end_row(struct csv *t);
void csv_text(struct csv *t, const char *s);
void csv_u64(struct csv *t, __u64 v);
/* The member @key of @obj, a whole number; 0 where it is not. */
void csv_key(struct csv *t, const json_t *obj, const char *key);
/* @n cells with nothing in them. */
void csv_empty(struct csv *t, int n);
/* What may be absent: an empty cell then. */
void csv_maybe(struct csv *t, const json_t *v);

/* ---- report_csv_latency.c ---- */
void csv_put_latency(struct csv *t, const json_t *report);
void csv_put_wakeups(struct csv *t, const json_t *report);

#endif
