// SPDX-License-Identifier: GPL-2.0-or-later
/* Statistics of few values. */
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tmigr_sample tmigr_stats_sample(const double *values, size_t n)
{
	struct tmigr_sample s = {0, NAN, NAN};
	double sum = 0, squares = 0, first = NAN;
	bool equal = true;

	for (size_t i = 0; i < n; i++) {
		if (isnan(values[i]))
			continue;
		if (!s.n++)
			first = values[i];
		equal = equal && values[i] == first;
		sum += values[i];
	}
	if (!s.n)
		return s;
	/* Rounding would give equal values a spread. */
	s.mean = equal ? first : sum / (double)s.n;
	for (size_t i = 0; i < n; i++)
		if (!isnan(values[i]))
			squares += (values[i] - s.mean) * (values[i] - s.mean);
	if (s.n > 1)
		s.var = equal ? 0 : squares / (double)(s.n - 1);
	return s;
}

/* ---- Welch's test, and the ratio ---- */

/* Is mean(b) = @ratio * mean(a) ruled out?  Above 0: yes. */
struct question {
	const struct tmigr_sample *a, *b;
	double va, vb; /* variances of the means */
};

/* Welch's (Satterthwaite's) degrees of freedom of mean(b) - @ratio * mean(a). */
static double welch_df(const struct question *q, double ratio)
{
	double wa = ratio * ratio * q->va, wb = q->vb;
	/* @a's share of the variance; squares of shares do not overflow. */
	double a = isfinite(wa) ? wa / (wa + wb) : 1, b = 1 - a;

	return 1 / (a * a / (double)(q->a->n - 1) + b * b / (double)(q->b->n - 1));
}

static double ruled_out(const struct question *q, double ratio)
{
	double se = sqrt(q->vb + ratio * ratio * q->va);
	double t = (q->b->mean - ratio * q->a->mean) / se;

	return TMIGR_STATS_ALPHA - tmigr_stats_t_p(t, welch_df(q, ratio));
}

/*
 * The end of the interval on one side of the ratio of the means, where ruled_out()
 * changes its sign.  The caller knows that it does so somewhere.
 */
static double interval_end(const struct question *q, double ratio, double side)
{
	double in = ratio, step = fmax(fabs(ratio), 1) * 1e-3, out = ratio + side * step;

	while (!(ruled_out(q, out) > 0)) {
		in = out;
		step *= 2;
		out = ratio + side * step;
		if (!isfinite(out))
			return NAN;
	}
	for (int i = 0; i < 200; i++) {
		double mid = in + (out - in) / 2;

		if (mid == in || mid == out)
			break;
		if (ruled_out(q, mid) > 0)
			out = mid;
		else
			in = mid;
	}
	return in;
}

static void percent_interval(const struct question *q, struct tmigr_welch *w)
{
	double ratio = q->b->mean / q->a->mean, low, high;
	double sign = q->a->mean < 0 ? -1 : 1;

	/* A baseline that is not told from 0 bounds no ratio: far out only its
	 * own error counts, which is that of n - 1. */
	if (q->va > 0 &&
	    !(fabs(q->a->mean) > tmigr_stats_t_limit((double)(q->a->n - 1)) * sqrt(q->va)))
		return;
	low = interval_end(q, ratio, -sign);
	high = interval_end(q, ratio, sign);
	w->percent_low = 100 * (low - 1) * sign;
	w->percent_high = 100 * (high - 1) * sign;
}

struct tmigr_welch tmigr_stats_welch(const struct tmigr_sample *a, const struct tmigr_sample *b)
{
	struct tmigr_welch w = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	struct question q = {a, b, a->var / (double)a->n, b->var / (double)b->n};
	double se;

	w.diff = b->mean - a->mean;
	if (a->mean != 0)
		w.percent = 100 * w.diff / fabs(a->mean);
	se = sqrt(q.va + q.vb);
	/* Too few values (NAN), no spread, or beyond what a double holds. */
	if (!(se > 0) || !isfinite(se) || !isfinite(w.diff) || !tmigr_stats_library())
		return w;
	w.df = welch_df(&q, 1);
	if (!isfinite(w.df))
		return w;
	w.t = w.diff / se;
	w.p = tmigr_stats_t_p(w.t, w.df);
	w.diff_low = w.diff - tmigr_stats_t_limit(w.df) * se;
	w.diff_high = w.diff + tmigr_stats_t_limit(w.df) * se;
	if (a->mean != 0)
		percent_interval(&q, &w);
	return w;
}

/* ---- Holm ---- */

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->p, y = ((const struct ranked *)b)->p;

	return (x > y) - (x < y);
}

int tmigr_stats_holm(double *p, size_t n)
{
	struct ranked *r = calloc(n + 1, sizeof(*r));
	double least = 0;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		r[i] = (struct ranked){p[i], i};
	qsort(r, n, sizeof(*r), by_p);
	for (size_t i = 0; i < n; i++) {
		least = fmax(least, fmin(1, r[i].p * (double)(n - i)));
		p[r[i].at] = least;
	}
	free(r);
	return 0;
}

/* ---- far from its siblings ---- */

struct tmigr_spread tmigr_stats_spread(const struct tmigr_sample *s)
{
	double df = s->n > 1 ? (double)(s->n - 1) : 0;

	/* A label that does not vary at all tells nothing about another's spread. */
	if (!df || !(s->var > 0))
		return (struct tmigr_spread){0, 0};
	return (struct tmigr_spread){s->var * df, df};
}

double tmigr_stats_far(const double *values, size_t n, size_t i, const struct tmigr_spread *others,
		       size_t n_all)
{
	double *rest = malloc((n + 1) * sizeof(*rest)), sd, t, p;
	struct tmigr_spread all = *others;
	struct tmigr_sample s;

	if (!rest || isnan(values[i])) {
		free(rest);
		return 1;
	}
	memcpy(rest, values, n * sizeof(*rest));
	rest[i] = NAN;
	s = tmigr_stats_sample(rest, n);
	free(rest);
	if (s.n < 2)
		return 1;
	all.squares += s.var * (double)(s.n - 1);
	all.df += (double)(s.n - 1);
	/* The larger of the label's own spread and of all labels': a label that is
	 * less steady than others is not held against its runs. */
	sd = sqrt(fmax(s.var, all.squares / all.df));
	if (!(sd > 0) || !isfinite(sd))
		return 1;
	t = (values[i] - s.mean) / (sd * sqrt(1 + 1 / (double)s.n));
	p = tmigr_stats_t_p(t, all.df);
	return isnan(p) ? 1 : fmin(1, p * (double)n_all);
}
