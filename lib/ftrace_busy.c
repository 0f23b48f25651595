// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CPU that is busy all the time makes no idle event, and neither does one that
 * sleeps.  The kernel's own sums of idle time tell them apart, without waking any.
 */
#include "ftrace_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"

/* "cpu3 user nice system idle iowait ...": idle and iowait. */
static void take_line(const struct tmigr_topology *topo, const char *line, long long *ticks)
{
	unsigned long long idle, iowait;
	unsigned int cpu;
	int i;

	if (sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &iowait) != 3)
		return;
	i = tmigr_topology_index(topo, cpu);
	if (i >= 0)
		ticks[i] = (long long)(idle + iowait);
}

int tmigr_idle_ticks(const char *root, const struct tmigr_topology *topo, long long *ticks)
{
	char *text, *line, *next;
	int ret;

	for (size_t i = 0; i < topo->n_cpus; i++)
		ticks[i] = -1;
	ret = sysfs_text(root, "/proc/stat", &text);
	if (ret < 0)
		return ret;
	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strncmp(line, "cpu", 3) == 0)
			take_line(topo, line, ticks);
	}
	free(text);
	return 0;
}
