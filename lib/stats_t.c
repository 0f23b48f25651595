// SPDX-License-Identifier: GPL-2.0-or-later
/* Student's t distribution, of the GNU Scientific Library. */
#include "stats.h"

#include <math.h>

#ifdef TMIGR_GSL

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_version.h>

const char *tmigr_stats_library(void)
{
	return "GSL " GSL_VERSION;
}

double tmigr_stats_t_p(double t, double df)
{
	return 2 * gsl_cdf_tdist_Q(fabs(t), df);
}

double tmigr_stats_t_limit(double df)
{
	return gsl_cdf_tdist_Qinv(TMIGR_STATS_ALPHA / 2, df);
}

#else

const char *tmigr_stats_library(void)
{
	return NULL;
}

double tmigr_stats_t_p(double t, double df)
{
	(void)t;
	(void)df;
	return NAN;
}

double tmigr_stats_t_limit(double df)
{
	(void)df;
	return NAN;
}

#endif
