// SPDX-License-Identifier: GPL-2.0-or-later
#include "tmigr/clock.h"

#include <time.h>

__u64 tmigr_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000ULL + (__u64)t.tv_nsec;
}
