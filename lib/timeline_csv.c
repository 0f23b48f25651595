// SPDX-License-Identifier: GPL-2.0-or-later
/* Holders over time from a run directory without a recording. */
#include "timeline_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_fmt.h"

static const char *const regimes[TMIGR_REGIMES] = {
	[TMIGR_HELD] = "held", [TMIGR_HANDOVER] = "handover", [TMIGR_DUTY] = "duty",
	[TMIGR_FREE] = "free", [TMIGR_UNKNOWN] = "unknown",
};

/* The number that @text is, up to its end; false: it is none. */
static bool number(const char *text, __u64 *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !*end && !errno;
}

/* Cuts the last field off @line; NULL: there is none. */
static char *last_field(char *line)
{
	char *comma = strrchr(line, ',');

	if (comma)
		*comma++ = '\0';
	return comma;
}

static int root_of(const json_t *report, const char *name)
{
	int i;

	tmigr_rep_find(json_object_get(report, "roots"), "group", name, &i);
	return i;
}

/*
 * "root,regime,cpu,class,start_ns,end_ns".  The class, which is the user's own
 * text, is not looked at: the CPU tells it.
 */
static bool parse(char *line, const json_t *report, struct tmigr_segment *ret)
{
	__u64 start = tmigr_rep_u64(report, "start_ns"), from, to, cpu = 0;
	char *end_text = last_field(line), *start_text = end_text ? last_field(line) : NULL;
	char *root = line, *regime = strchr(line, ','), *cpu_text, *rest;
	int idx;

	if (!start_text || !regime)
		return false;
	*regime++ = '\0';
	cpu_text = strchr(regime, ',');
	rest = cpu_text ? strchr(cpu_text + 1, ',') : NULL;
	if (!rest)
		return false;
	*cpu_text++ = '\0';
	*rest = '\0';
	idx = root_of(report, root);
	if (idx < 0 || !number(start_text, &from) || !number(end_text, &to) || from > to ||
	    to > tmigr_rep_u64(report, "window_ns"))
		return false;
	*ret = (struct tmigr_segment){(unsigned int)idx, TMIGR_REGIMES, -1, start + from,
				      start + to};
	for (int i = 0; i < TMIGR_REGIMES; i++)
		if (!strcmp(regime, regimes[i]))
			ret->regime = (enum tmigr_regime)i;
	if (ret->regime == TMIGR_HELD) {
		if (!number(cpu_text, &cpu) || !tmigr_rep_cpu(report, cpu))
			return false;
		ret->cpu = (int)cpu;
	}
	return ret->regime != TMIGR_REGIMES;
}

int tmigr_segments_read(const char *path, const json_t *report,
			void (*segment)(void *arg, const struct tmigr_segment *seg), void *arg,
			struct tmigr_err *err)
{
	FILE *in = fopen(path, "re");
	struct tmigr_segment seg;
	char *line = NULL;
	size_t size = 0, n = 0;
	int ret = 0;

	if (!in)
		return tmigr_fail(err, -errno, "%s: %s", path, strerror(errno));
	while (ret == 0 && getline(&line, &size, in) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (n++ == 0)
			continue;
		if (parse(line, report, &seg))
			segment(arg, &seg);
		else
			ret = tmigr_fail(err, -EINVAL,
					 "%s: line %zu is no segment of this run's report", path,
					 n);
	}
	if (ret == 0 && ferror(in))
		ret = tmigr_fail(err, -EIO, "%s: cannot read", path);
	free(line);
	fclose(in);
	return ret;
}
