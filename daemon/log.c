// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "tmigrd.h"

static bool use_syslog;

void log_to_syslog(void)
{
	openlog("tmigrd", LOG_PID, LOG_DAEMON);
	use_syslog = true;
}

void log_line(int priority, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (use_syslog)
		syslog(priority, "%s", text);
	else if (isatty(STDERR_FILENO))
		fprintf(stderr, "tmigrd: %s\n", text);
	else
		fprintf(stderr, "<%d>tmigrd: %s\n", priority, text);
}
