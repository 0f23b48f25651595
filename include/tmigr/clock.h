/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of all that is measured. */
#ifndef TMIGR_CLOCK_H
#define TMIGR_CLOCK_H

#include <linux/types.h>

#include "tmigr/err.h"

/* CLOCK_MONOTONIC, in ns. */
__u64 tmigr_now_ns(void);

/* Is that the clock of the kernel's own stamps?  In a time namespace it may be ahead of it
 * or behind: -EOPNOTSUPP, with the message. */
int tmigr_clock_check(struct tmigr_err *err);

#endif
