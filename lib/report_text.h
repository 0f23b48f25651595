/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of tmigr_report_text(): the tables that follow the answer.  Each
 * prints one section with a blank line before it; 0 or -ENOMEM. */
#ifndef TMIGR_REPORT_TEXT_H
#define TMIGR_REPORT_TEXT_H

#include "report_fmt.h"

/* ---- report_text_migrator.c ---- */
int tmigr_text_root(const json_t *report, const json_t *root, FILE *out);
int tmigr_text_holdings(const json_t *report, FILE *out);

/* ---- report_text_residency.c ---- */
int tmigr_text_residency(const json_t *report, FILE *out);

/* ---- report_text_remote.c ---- */
/* One line for the answer block; nothing when there was no remote expiry. */
void tmigr_text_remote_line(const json_t *report, FILE *out);
int tmigr_text_remote(const json_t *report, FILE *out);

/* ---- report_text_run.c ---- */
/* The line about label, run number and what was done for it; nothing without. */
void tmigr_text_run(const json_t *report, FILE *out);
int tmigr_text_metrics(const json_t *report, FILE *out);
void tmigr_text_energy(const json_t *report, FILE *out);
/* A metric's value as the tables show it. */
void tmigr_fmt_metric(char *buf, size_t size, double value);

/* Distinct names in order of appearance; strings are borrowed. */
struct tmigr_names {
	size_t n;
	const char **names;
	bool failed; /* no memory */
};

/* Index of @name, which is added when it is new; 0 when that failed. */
size_t tmigr_names_index(struct tmigr_names *l, const char *name);

/* Index of a class in the report's classes[] (low to high), or -1. */
int tmigr_rep_class_index(const json_t *report, const char *name);

#endif
