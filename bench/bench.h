/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What more than one of the programs here needs; in a header because each is one file. */
#ifndef TMIGR_BENCH_H
#define TMIGR_BENCH_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tmigr/rec.h"

/* CPU time of this thread, ns. */
static inline __u64 bench_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (__u64)ts.tv_sec * 1000000000ULL + (__u64)ts.tv_nsec;
}

/* A whole number from @min to @max; else @program says so and ends with 2. */
static inline size_t bench_number(const char *program, const char *text, size_t min, size_t max)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (*end || end == text || *text == '-' || n < min || n > max) {
		fprintf(stderr, "%s: '%s' is not a number from %zu to %zu\n", program, text, min,
			max);
		exit(2);
	}
	return (size_t)n;
}

#endif
