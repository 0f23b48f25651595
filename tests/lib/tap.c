// SPDX-License-Identifier: GPL-2.0-or-later
#include "tap.h"

#include <stdarg.h>

static int n_tests, n_failed;

void tap_ok(bool good, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++n_tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	n_failed += !good;
}

void tap_skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++n_tests, what, why);
}

int tap_done(void)
{
	printf("1..%d\n", n_tests);
	return n_failed != 0;
}
