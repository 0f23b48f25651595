/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples: one chain of windows per period, however many subscribers.  They are
 * taken at drains, so subscribers cause no wake-ups of their own.
 */
#ifndef TMIGRD_FEED_H
#define TMIGRD_FEED_H

#include "tmigrd.h"

#define FEED_MIN_MS 1000
#define FEED_MAX_MS 86400000
#define FEEDS_MAX   16 /* different periods at a time */

/* Samples that are due at @now. */
void feeds_run(struct tmigrd *d, __u64 now);
unsigned int feeds_subscribers(const struct tmigrd *d);
void feeds_free(struct tmigrd *d);

#endif
