// SPDX-License-Identifier: GPL-2.0-or-later
/* Student's t distribution, of the GNU Scientific Library. */
#include "stats.h"

#include <math.h>

#ifdef TMIGR_GSL

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>

const char *tmigr_stats_library(void)
{
	return "GSL " GSL_VERSION;
}

double tmigr_stats_t_p(double t, double df)
{
	/* GSL's own handler ends the program. */
	gsl_error_handler_t *old = gsl_set_error_handler_off();
	double p = df > 0 && !isnan(t) ? 2 * gsl_cdf_tdist_Q(fabs(t), df) : NAN;

	gsl_set_error_handler(old);
	return p;
}

double tmigr_stats_t_limit(double df)
{
	gsl_error_handler_t *old = gsl_set_error_handler_off();
	double t = df > 0 ? gsl_cdf_tdist_Qinv(TMIGR_STATS_ALPHA / 2, df) : NAN;

	gsl_set_error_handler(old);
	return t;
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
