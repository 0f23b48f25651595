/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of a report by name: what --fail-if tests and tables of runs show.
 *
 *   big_share            time that big CPUs held the migrator / window (answer.big_share)
 *   avoidable_share      the part of it in which a CPU of a lower class was awake
 *   unknown_share        unknown time of the hierarchies / (window * hierarchies)
 *   handover_share, duty_share, free_share   likewise
 *   held.CLASS           time that the class held a migrator / window, all hierarchies
 *   residency.CLASS.STATE   time in the state / (window * CPUs of the class); STATE is an
 *                        idle state's name, or running, offline, unknown
 *   entries.CLASS.STATE  entries of an idle state
 *   remote.A_on_B        timers of CPUs of class A that CPUs of class B ran
 *   remote_little_on_big the same of the lowest class on the highest
 *   lost_records, lost_updates   what the report lacks
 *   window_s             length of the window
 *   exit_status          the command's
 *   metric.NAME          what the command printed
 *   energy.DOMAIN        joules
 *
 * Shares are from 0 to 1.  A figure can be there without being known (null in the
 * report): a symmetric machine has no big_share.
 */
#ifndef TMIGR_FIGURES_H
#define TMIGR_FIGURES_H

#include <stdbool.h>

#include <jansson.h>

struct tmigr_figure {
	const char *name;
	/* "share", "s", "J", "" (a count), or the metric's own, which may be any text */
	const char *unit;
	bool known;
	double value; /* 0 where it is not known */
};

/*
 * Calls @fn with every figure of @report (which passed tmigr_report_check()), in
 * a fixed order; what @figure points to is valid during the call.  Ends early
 * with what @fn returned other than 0; -ENOMEM.
 */
int tmigr_figures(const json_t *report, int (*fn)(void *arg, const struct tmigr_figure *figure),
		  void *arg);

/*
 * The figure @name.  0; -ENODATA: it is there but not known; -ENOENT: this report
 * has none of that name; -ENOMEM.  *@ret is set on 0 only.
 */
int tmigr_figure_value(const json_t *report, const char *name, double *ret);

#endif
