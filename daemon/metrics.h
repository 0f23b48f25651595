/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TMIGRD_METRICS_H
#define TMIGRD_METRICS_H

#include <jansson.h>

/*
 * OpenMetrics text: a view of the report since the start and of the status, for
 * scrapers.  Label sets are bounded by the machine: CPUs times idle states, CPUs
 * times roots, classes times classes.  Owned by the caller (free); NULL: no
 * memory.
 */
char *metrics_text(const json_t *report, const json_t *status);

#endif
