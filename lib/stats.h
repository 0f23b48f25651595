/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of few values: means, Welch's t, the interval of a ratio, Holm's
 * correction, values far from their siblings.  docs/compare-schema.md says why
 * these.  Pure; a figure that does not exist is NAN.
 */
#ifndef TMIGR_STATS_H
#define TMIGR_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Two-sided level of tests and intervals. */
#define TMIGR_STATS_ALPHA 0.05

/* ---- stats_t.c: Student's t distribution; NAN in a build without GSL ---- */

/* "GSL 2.7.1", or NULL: not built in. */
const char *tmigr_stats_library(void);
/* P(|T| >= |t|) with @df degrees of freedom (real, above 0). */
double tmigr_stats_t_p(double t, double df);
/* The |t| that is exceeded with probability TMIGR_STATS_ALPHA. */
double tmigr_stats_t_limit(double df);

/* ---- stats.c ---- */

struct tmigr_sample {
	size_t n;
	double mean; /* NAN: n is 0 */
	double var;  /* of the values, over n - 1; exactly 0 where all are equal; NAN: n < 2 */
};

/* Of the values that are not NAN. */
struct tmigr_sample tmigr_stats_sample(const double *values, size_t n);

struct tmigr_welch {
	double t, df, p;		  /* NAN: too few values, or no spread */
	double diff, diff_low, diff_high; /* @b's mean less @a's */
	/*
	 * The same in percent of |@a's mean|.  low and high hold every
	 * percentage that Welch's test at TMIGR_STATS_ALPHA would not reject
	 * (Fieller's interval, with Welch's degrees of freedom at each ratio):
	 * 0 is outside exactly where p is below alpha.  NAN: @a's mean is 0; low
	 * and high also where it is not told from 0.
	 */
	double percent, percent_low, percent_high;
};

/* @b against the baseline @a. */
struct tmigr_welch tmigr_stats_welch(const struct tmigr_sample *a, const struct tmigr_sample *b);

/* Adjusts @n p values (no NAN among them) in place, as Holm (1979).  0 or -ENOMEM. */
int tmigr_stats_holm(double *p, size_t n);

/*
 * How far is values[@i] of a label from its siblings?  @others: spread of the other
 * labels (sum of squares and its degrees of freedom).  Probability that one value
 * in @n_all is as far by chance, at most 1; 1 with fewer than 3 values.
 */
struct tmigr_spread {
	double squares;
	double df;
};

struct tmigr_spread tmigr_stats_spread(const struct tmigr_sample *s);
double tmigr_stats_far(const double *values, size_t n, size_t i, const struct tmigr_spread *others,
		       size_t n_all);

#endif
