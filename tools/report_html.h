/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TMIGR_TOOL_REPORT_HTML_H
#define TMIGR_TOOL_REPORT_HTML_H

#include <stddef.h>

/* `tmigr report --html FILE PATH...`; the exit code. */
int report_html(const char *file, char *const *paths, size_t n);

#endif
