/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text and markdown of a comparison are the same tables and lists.
 *
 *   compare_text.c    the whole, and the table of differences
 *   compare_runs.c    every run's value
 *   compare_notes.c   what stands above and below the tables
 *   compare_fmt.c     numbers
 */
#ifndef TMIGR_COMPARE_VIEW_H
#define TMIGR_COMPARE_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "report_fmt.h"

/* An e-mail's. */
#define TMIGR_COMPARE_WIDTH 80

struct tmigr_compare_view {
	const json_t *c; /* the object */
	FILE *out;
	size_t width; /* of tables */
	bool markdown;
};

/* ---- compare_fmt.c ---- */

/* Decimals of one quantity's values, as they are shown; its mean and sd may have
 * more. */
struct tmigr_decimals {
	int value, mean;
};

struct tmigr_decimals tmigr_compare_decimals(const json_t *quantity);
/* Sets "decimals" in each quantity.  False: no memory. */
bool tmigr_compare_put_decimals(json_t *quantities);
/* "-" where @v is null. */
const char *tmigr_fmt_real(char buf[TMIGR_FMT_MAX], const json_t *v, int decimals);
/* As above; what is not 0 does not show as 0. */
const char *tmigr_fmt_sd(char buf[TMIGR_FMT_MAX], const json_t *v, int decimals);
/* "+5.87", "-31.0", "+1234": percent, its digits by its size. */
const char *tmigr_fmt_signed(char buf[TMIGR_FMT_MAX], double percent);
/* Three digits, or all before the point. */
const char *tmigr_fmt_signed_units(char buf[TMIGR_FMT_MAX], double v);
bool tmigr_compare_is_per_cpu(const json_t *quantity);

/* ---- compare_text.c ---- */

void tmigr_view_title(const struct tmigr_compare_view *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* One entry of a list, wrapped. */
void tmigr_view_item(const struct tmigr_compare_view *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int tmigr_view_table(const struct tmigr_compare_view *v, struct tmigr_table *t);

/* ---- compare_runs.c: 0 or -ENOMEM ---- */
int tmigr_view_runs(const struct tmigr_compare_view *v);
int tmigr_view_cpus(const struct tmigr_compare_view *v);

/* ---- compare_notes.c ---- */
void tmigr_view_head(const struct tmigr_compare_view *v);
void tmigr_view_flags(const struct tmigr_compare_view *v);
void tmigr_view_foot(const struct tmigr_compare_view *v);

#endif
