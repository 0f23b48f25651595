// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tmigrd.h"

static bool use_syslog;

void log_to_syslog(void)
{
	openlog("tmigrd", LOG_PID, LOG_DAEMON);
	use_syslog = true;
}

/* Standard error is the journal, which takes priorities off the lines: the service manager
 * says of which file that is true. */
static bool is_journal(void)
{
	const char *text = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return text && sscanf(text, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
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
	else if (is_journal())
		fprintf(stderr, "<%d>tmigrd: %s\n", priority, text);
	else
		fprintf(stderr, "tmigrd: %s\n", text);
}
