/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --fail-if 'FIGURE OP NUMBER' of run and report. */
#ifndef TMIGR_TOOL_FAIL_IF_H
#define TMIGR_TOOL_FAIL_IF_H

#include <jansson.h>

#include "args.h"

#define TMIGR_EXIT_FAIL_IF 3

#define FAIL_IF_HELP                                                                               \
	"      --fail-if EXPR       exit with 3 when EXPR is true, e.g. 'big_share>0.05'; may "    \
	"be\n"                                                                                     \
	"                           repeated\n"

/* What FIGURE can be, and the exit codes. */
#define FAIL_IF_FIGURES                                                                            \
	"--fail-if compares a figure of the report (<, <=, >, >=, ==, !=) with a number, for "     \
	"scripts\n"                                                                                \
	"and CI: big_share, avoidable_share, unknown_share, handover_share, duty_share, "          \
	"free_share,\n"                                                                            \
	"held.CLASS and residency.CLASS.STATE (all from 0 to 1), entries.CLASS.STATE,\n"           \
	"remote_little_on_big, remote.CLASS_on_CLASS, lost_records, lost_updates, window_s,\n"     \
	"exit_status, metric.NAME, energy.DOMAIN (joules). STATE is an idle state, or running,\n"  \
	"offline, unknown. An unknown name is wrong usage (2), and the names that there are, "     \
	"are\n"                                                                                    \
	"listed; a figure that this run does not have (null) cannot be told: 1.\n"

/* One expression; 0, or TMIGR_EXIT_USAGE with the error told. */
int fail_if_check(const char *verb, const char *expr);

/*
 * All of @exprs (checked) against @report.  0: none is true; else the exit code,
 * with a line for each that is true or cannot be told.  @where: put before the
 * line ("run-2: "), or "".
 */
int fail_if_test(const char *verb, const char *where, const struct arg_list *exprs,
		 const json_t *report);

#endif
