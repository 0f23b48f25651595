/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TMIGR_TOOL_PRINT_H
#define TMIGR_TOOL_PRINT_H

#include <stdbool.h>

#include <jansson.h>

struct daemon_opts;

/* The report to standard output, as text or JSON.  Returns the exit code. */
int tool_print_report(const char *verb, const json_t *report, bool json);

/*
 * What the daemon counted: 0 with its reply, whose "text" is OpenMetrics
 * text; or the exit code with the error told.
 */
int tool_ask_metrics(const char *verb, const struct daemon_opts *opts, json_t **ret);

#endif
