/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison of labelled runs.  There is one representation of it: a JSON object
 * (schema "tmigr-compare", version 1, docs/compare-schema.md) with every run's
 * value, means, differences to a baseline with their uncertainty, values far from
 * their siblings, and what makes the runs unlike each other.  Text, markdown and
 * CSV are views of that object.
 */
#ifndef TMIGR_COMPARE_H
#define TMIGR_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/runset.h"

#define TMIGR_COMPARE_SCHEMA_VERSION 1

struct tmigr_compare_opts {
	const char *baseline; /* a label's name; NULL: the first with runs that count */
	bool cpus;	      /* residency and holdings per CPU too */
};

/*
 * New reference in *@ret.  -ENOENT: no label of the baseline's name (the message
 * lists those that are there); -ENODATA: no run can be read; -ENOMEM.
 */
int tmigr_compare(const struct tmigr_runset *set, const struct tmigr_compare_opts *opts,
		  json_t **ret, struct tmigr_err *err);

/* Plain text for an e-mail, 80 columns where names allow.  0 or negative errno. */
int tmigr_compare_text(const json_t *compare, FILE *out);
/* The same as GitHub-flavoured markdown. */
int tmigr_compare_markdown(const json_t *compare, FILE *out);
/* One row per quantity and label. */
int tmigr_compare_csv(const json_t *compare, FILE *out);
/* One row per quantity and run. */
int tmigr_compare_csv_runs(const json_t *compare, FILE *out);
/* The object itself, the elements of its arrays one per line. */
int tmigr_compare_json(const json_t *compare, FILE *out);

/* What the tests and intervals are computed with, "GSL 2.7.1"; NULL: this build has
 * none, and comparisons come without them. */
const char *tmigr_compare_statistics(void);

#endif
