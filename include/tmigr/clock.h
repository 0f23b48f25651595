/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of all that is measured. */
#ifndef TMIGR_CLOCK_H
#define TMIGR_CLOCK_H

#include <linux/types.h>

/* CLOCK_MONOTONIC, in ns. */
__u64 tmigr_now_ns(void);

#endif
