// SPDX-License-Identifier: GPL-2.0-or-later
#include "tmigr/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

__u64 tmigr_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000ULL + (__u64)t.tv_nsec;
}

int tmigr_clock_check(struct tmigr_err *err)
{
	long long s = 0, ns = 0;
	/* Since Linux 5.5, with CONFIG_TIME_NS. */
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	int n;

	if (!f)
		return 0;
	n = fscanf(f, "monotonic %lld %lld", &s, &ns);
	fclose(f);
	if (n != 2 || (!s && !ns))
		return 0;
	return tmigr_fail(
		err, -EOPNOTSUPP,
		"in a time namespace whose CLOCK_MONOTONIC is not the kernel's own, by %lld s: "
		"start it outside (nsenter --target 1 --time)",
		s);
}
