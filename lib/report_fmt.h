/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the report's views: numbers as a reader wants them, tables, and
 * access to the report object that never fails on a wrong shape (missing is 0
 * or "").
 */
#ifndef TMIGR_REPORT_FMT_H
#define TMIGR_REPORT_FMT_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>
#include <linux/types.h>

#define TMIGR_TEXT_WIDTH 100
#define TMIGR_FMT_MAX	 32

/* "1800.0 s", "412.30 s", "4.414 s", "12.3 ms", "1.5 us", "80 ns", "0". */
const char *tmigr_fmt_dur(char buf[TMIGR_FMT_MAX], __u64 ns);

/* Share in percent with one digit and no sign: "68.7"; what is not zero never
 * shows as 0.0 ("<0.1"), what is not all never as 100.0 (">99.9"); "-" zero. */
const char *tmigr_fmt_pct(char buf[TMIGR_FMT_MAX], __u64 part, __u64 whole);

/* Seconds with digits chosen for a window of @window_ns; "-" for exactly 0. */
const char *tmigr_fmt_sec(char buf[TMIGR_FMT_MAX], __u64 ns, __u64 window_ns);

/* "-" for 0. */
const char *tmigr_fmt_count(char buf[TMIGR_FMT_MAX], __u64 n);

/* Writes @text with control characters made visible as '?'. */
void tmigr_fmt_puts(FILE *out, const char *text);

/* @first, then @text word by word within the width; further lines indented by
 * @indent.  Ends the line. */
void tmigr_fmt_wrapped(FILE *out, const char *first, const char *text, size_t indent);
/* Within @width columns. */
void tmigr_fmt_wrapped_to(FILE *out, const char *first, const char *text, size_t indent,
			  size_t width);

/* A CSV cell with RFC 4180 quoting where needed. */
void tmigr_fmt_csv(FILE *out, const char *text);

/* @obj as JSON, a line per member and per object in an array; reals with @digits
 * significant digits.  0 or a negative errno from writing. */
int tmigr_json_lines(const json_t *obj, FILE *out, size_t digits);

/* ---- report access ---- */
__u64 tmigr_rep_u64(const json_t *obj, const char *key);
const char *tmigr_rep_str(const json_t *obj, const char *key);
/* First of the objects in @array whose string @key is @value, or NULL; *@ret_i, where
 * asked for: its index, -1 none. */
const json_t *tmigr_rep_find(const json_t *array, const char *key, const char *value, int *ret_i);
/* An operation of hotplug that lies in the window as a whole and did not fail: others make no
 * figure. */
bool tmigr_rep_is_whole(const json_t *op);
/* Of an entry of cpus[]: so much of the window did it run and was idle to timer migration
 * that it had its tick off; else that is the idle loop outside of its idle states. */
bool tmigr_rep_tick_off(const json_t *cpu, __u64 window_ns);
/* Entry of cpus[] (ascending) with this number, or NULL.  O(log n). */
const json_t *tmigr_rep_cpu(const json_t *report, __u64 cpu);
/* Its class name; "?" when the report does not have the CPU. */
const char *tmigr_rep_class(const json_t *report, __u64 cpu);

/* Is this class, of a report's classes[], the highest, or level with it? */
bool tmigr_rep_is_big(const json_t *classes, const char *name);
/* Are classes of more than one size?  Else none of them is big. */
bool tmigr_rep_any_big(const json_t *classes);

/* ---- tables ---- */
struct tmigr_table;

/* @n_keys leading columns are repeated when a table is too wide for
 * TMIGR_TEXT_WIDTH and goes on below.  NULL: no memory. */
struct tmigr_table *tmigr_table_new(size_t n_keys);
/* Adds a column; @right aligned numbers, else text. */
void tmigr_table_column(struct tmigr_table *t, bool right, const char *head);
/* Adds the next cell, row by row. */
void tmigr_table_cell(struct tmigr_table *t, const char *text);
/* Cells of figures: as tmigr_fmt_sec() and tmigr_fmt_count() write them, with the
 * exact value kept for views that can show it. */
void tmigr_table_sec(struct tmigr_table *t, __u64 ns, __u64 window_ns);
void tmigr_table_count(struct tmigr_table *t, __u64 n);
void tmigr_table_number(struct tmigr_table *t, __u64 n); /* 0 is "0" */
/* As wide as @width columns at most, in place of TMIGR_TEXT_WIDTH. */
void tmigr_table_max_width(struct tmigr_table *t, size_t width);
/* Columns that it would take undivided, as it is now. */
size_t tmigr_table_width(const struct tmigr_table *t);
/* Prints as a GitHub-flavoured markdown table and frees.  0 or -ENOMEM. */
int tmigr_table_markdown(struct tmigr_table *t, FILE *out);
/* Prints indented by two and frees.  0 or -ENOMEM (some call before failed). */
int tmigr_table_print(struct tmigr_table *t, FILE *out);
void tmigr_table_free(struct tmigr_table *t); /* without printing it; NULL is fine */

/* What another view of a table needs; strings are the table's. */
struct tmigr_table_cell_view {
	const char *text;
	bool exact; /* there is a figure behind the text: */
	__u64 value;
};
struct tmigr_table_shape {
	size_t n_keys, n_columns, n_rows;
};
/* 0, or -ENOMEM: some call before failed. */
int tmigr_table_shape(const struct tmigr_table *t, struct tmigr_table_shape *ret);
const char *tmigr_table_head(const struct tmigr_table *t, size_t column, bool *ret_right);
struct tmigr_table_cell_view tmigr_table_at(const struct tmigr_table *t, size_t row, size_t column);

#endif
