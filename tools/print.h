/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TMIGR_TOOL_PRINT_H
#define TMIGR_TOOL_PRINT_H

#include <stdbool.h>

#include <jansson.h>

/* The report to standard output, as text or JSON.  Returns the exit code. */
int tool_print_report(const char *verb, const json_t *report, bool json);

#endif
