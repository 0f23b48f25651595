// SPDX-License-Identifier: GPL-2.0-or-later
/* Statistics of few values: the edges. Figures against an independent computation
 * are in tests/cli/compare.t. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lib/stats.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
		fail_msg("%.17g, not %.17g", got, want);
}

static struct tmigr_welch welch(const double *a, size_t n_a, const double *b, size_t n_b)
{
	struct tmigr_sample x = tmigr_stats_sample(a, n_a), y = tmigr_stats_sample(b, n_b);

	return tmigr_stats_welch(&x, &y);
}

static void test_sample(void **state)
{
	const double v[] = {NAN, 2, 4, NAN, 9}, same[] = {0.1, 0.1, 0.1}, none[] = {NAN};
	struct tmigr_sample s = tmigr_stats_sample(v, N(v));

	(void)state;
	assert_int_equal(s.n, 3);
	near(s.mean, 5);
	near(s.var, 13);
	/* Exactly: no spread by rounding. */
	s = tmigr_stats_sample(same, N(same));
	assert_true(s.mean == 0.1 && s.var == 0);
	s = tmigr_stats_sample(v, 2);
	assert_int_equal(s.n, 1);
	assert_true(s.mean == 2 && isnan(s.var));
	s = tmigr_stats_sample(none, 1);
	assert_true(s.n == 0 && isnan(s.mean) && isnan(s.var));
}

static void test_t(void **state)
{
	(void)state;
	if (!tmigr_stats_library())
		skip();
	/* Of any table of the t distribution. */
	near(round(tmigr_stats_t_limit(1) * 1000), 12706);
	near(round(tmigr_stats_t_limit(2) * 1000), 4303);
	near(round(tmigr_stats_t_limit(4) * 1000), 2776);
	near(round(tmigr_stats_t_limit(30) * 1000), 2042);
	near(tmigr_stats_t_p(tmigr_stats_t_limit(2.7), 2.7), 0.05);
	near(tmigr_stats_t_p(-tmigr_stats_t_limit(2.7), 2.7), 0.05);
	near(tmigr_stats_t_p(0, 5), 1);
}

/* No test is possible; the difference is there all the same. */
static void untested(const struct tmigr_welch *w, double diff)
{
	near(w->diff, diff);
	assert_true(isnan(w->t) && isnan(w->df) && isnan(w->p));
	assert_true(isnan(w->diff_low) && isnan(w->diff_high));
	assert_true(isnan(w->percent_low) && isnan(w->percent_high));
}

static void test_edges(void **state)
{
	const double zero[] = {0, 0, 0}, five[] = {5, 5, 5}, one[] = {4}, some[] = {4, 6, 5};
	const double huge[] = {1e308, -1e308, 1e308}, tiny[] = {5e-324, 1e-323, 1.5e-323};
	struct tmigr_welch w = welch(five, 3, zero, 3);

	(void)state;
	untested(&w, -5);
	near(w.percent, -100);
	w = welch(zero, 3, five, 3);
	untested(&w, 5);
	assert_true(isnan(w.percent));
	w = welch(one, 1, some, 3);
	untested(&w, 1);
	near(w.percent, 25);
	w = welch(some, 3, one, 1);
	untested(&w, -1);
	w = welch(some, 3, one, 0);
	assert_true(isnan(w.diff) && isnan(w.percent) && isnan(w.p));
	w = welch(huge, 3, some, 3);
	assert_true(isnan(w.p) && isnan(w.percent_low));
	w = welch(some, 3, huge, 3);
	assert_true(isnan(w.p) && isnan(w.percent_low));
	w = welch(tiny, 3, some, 3);
	assert_true(isnan(w.p) || (w.p >= 0 && w.p <= 1));
	w = welch(some, 3, tiny, 3);
	assert_true(isnan(w.p) || (w.p >= 0 && w.p <= 1));
	if (!tmigr_stats_library())
		return;
	/* One side without spread: the other's is all there is. */
	w = welch(five, 3, some, 3);
	near(w.df, 2);
	assert_true(w.p > 0.99);
	assert_true(w.percent_low < 0 && w.percent_high > 0);
	near(w.percent_low, -w.percent_high);
	near(w.percent_high, 100 * tmigr_stats_t_limit(2) / sqrt(3) / 5);
	/* From 0: no percentage, but a difference. */
	w = welch(zero, 3, some, 3);
	assert_true(isnan(w.percent) && isnan(w.percent_low) && isnan(w.percent_high));
	near(w.diff, 5);
	assert_true(w.p < 0.05 && w.diff_low > 0);
}

/* The interval and the test say the same, and a sign more or less turns both. */
static void test_interval(void **state)
{
	unsigned int seed = 12345; /* a linear congruential generator's */
	int seen = 0, bounded = 0;

	(void)state;
	if (!tmigr_stats_library())
		skip();
	for (int round = 0; round < 2000; round++) {
		double a[4], b[3], minus_a[4], minus_b[3];
		struct tmigr_welch w, m;

		for (size_t i = 0; i < 7; i++) {
			double v;

			seed = seed * 1103515245 + 12345;
			v = 10 + (double)(seed >> 16 & 1023) / 100 * (round % 5);

			if (i < 4)
				minus_a[i] = -(a[i] = v);
			else
				minus_b[i - 4] = -(b[i - 4] = v + round % 7 - 3);
		}
		w = welch(a, 4, b, 3);
		m = welch(minus_a, 4, minus_b, 3);
		if (isnan(w.p) || isnan(w.percent_low))
			continue;
		bounded++;
		seen += w.p < 0.05;
		assert_true(w.percent_low <= w.percent && w.percent <= w.percent_high);
		assert_int_equal(w.p<0.05, w.percent_low> 0 || w.percent_high < 0);
		assert_int_equal(w.p<0.05, w.diff_low> 0 || w.diff_high < 0);
		/* In percent of the baseline's size: more is more. */
		near(m.percent, -w.percent);
		near(m.percent_low, -w.percent_high);
		near(m.percent_high, -w.percent_low);
	}
	assert_true(bounded > 1000 && seen > 100 && seen < bounded - 100);
}

static void test_holm(void **state)
{
	double p[] = {0.01, 0.04, 0.03, 0.005}, many[] = {0.9, 0.5, 0.5};

	(void)state;
	assert_int_equal(tmigr_stats_holm(p, N(p)), 0);
	near(p[0], 0.03);
	near(p[1], 0.06);
	near(p[2], 0.06);
	near(p[3], 0.02);
	assert_int_equal(tmigr_stats_holm(many, N(many)), 0);
	for (size_t i = 0; i < N(many); i++)
		near(many[i], 1);
	assert_int_equal(tmigr_stats_holm(NULL, 0), 0);
}

static void test_far(void **state)
{
	const struct tmigr_spread none = {0, 0}, steady = {0.02, 4};
	const double v[] = {10, 10.1, 15, NAN}, two[] = {1, 100}, equal[] = {1, 1, 2};
	const double near_by[] = {10, 10.1, 10.2};

	(void)state;
	/* Two are no siblings; equal ones have no spread to measure with. */
	near(tmigr_stats_far(two, 2, 1, &steady, 5), 1);
	near(tmigr_stats_far(equal, 3, 2, &none, 3), 1);
	near(tmigr_stats_far(v, 4, 3, &steady, 6), 1);
	if (!tmigr_stats_library())
		skip();
	/* Three values alone tell little, other labels that vary as much tell more. */
	assert_true(tmigr_stats_far(v, 4, 2, &none, 3) > 0.01);
	assert_true(tmigr_stats_far(v, 4, 2, &steady, 6) < 0.01);
	assert_true(tmigr_stats_far(near_by, 3, 2, &steady, 6) > 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample), cmocka_unit_test(test_t),
		cmocka_unit_test(test_edges),  cmocka_unit_test(test_interval),
		cmocka_unit_test(test_holm),   cmocka_unit_test(test_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
