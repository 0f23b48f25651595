// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The benchmarks whose output is known.  Formats of which versions: tests/fixtures/metrics.
 */
#include "metrics_priv.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 128

/* Behind @prefix at the start of @line; NULL: it starts otherwise. */
static const char *after(const char *line, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(line, prefix, len) ? NULL : line + len;
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* ---- perf bench ---- */

static const struct {
	const char *unit, *name;
	enum better better;
} perf_units[] = {
	{"usecs/op", "usecs_per_op", BETTER_LOWER}, {"nsecs/op", "nsecs_per_op", BETTER_LOWER},
	{"msecs/op", "msecs_per_op", BETTER_LOWER}, {"ops/sec", "ops_per_sec", BETTER_HIGHER},
	{"GB/sec", "GB_per_sec", BETTER_HIGHER},    {"MB/sec", "MB_per_sec", BETTER_HIGHER},
	{"KB/sec", "KB_per_sec", BETTER_HIGHER},
};

#define N_PERF_UNITS (sizeof(perf_units) / sizeof(perf_units[0]))

/* "# Running 'sched/pipe' benchmark:"; of `perf bench sched all` without quotes. */
static bool perf_head(char state[64], const char *line)
{
	const char *p = after(line, "# Running "), *slash;
	size_t len;

	if (!p)
		return false;
	p += *p == '\'';
	len = strcspn(p, "' ");
	slash = memchr(p, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - p);
		p = slash + 1;
	}
	snprintf(state, 64, "%.*s", (int)(len < 40 ? len : 40), p);
	return true;
}

/* "# function 'x86-64-movsq' (...)": `perf bench mem` has several results. */
static bool perf_function(char state[64], const char *line)
{
	const char *p = after(line, "# function '");
	char *dash = strchr(state, ':');

	if (!p)
		return false;
	if (dash)
		*dash = '\0';
	snprintf(state + strlen(state), 64 - strlen(state), ":%.*s",
		 (int)(strcspn(p, "'") < 20 ? strcspn(p, "'") : 20), p);
	return true;
}

static void perf_put(struct finds *f, const char *bench, const char *what, double value,
		     const char *unit, enum better better)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s_%s", *bench ? bench : "perf", what);
	tmigr_metrics_put(f, name, value, unit, better);
}

static void perf_line(struct finds *f, char state[64], const char *line)
{
	const char *p = skip_blanks(line), *time, *end;
	double value;

	if (perf_head(state, line) || perf_function(state, line))
		return;
	time = after(p, "Total time: ");
	if (time && tmigr_metrics_number(time, &end, &value) && after(end, " [sec]")) {
		perf_put(f, state, "time", value, "s", BETTER_LOWER);
		return;
	}
	time = after(p, "Averaged ");
	if (time && tmigr_metrics_number(time, &end, &value) && after(end, " operations/sec")) {
		perf_put(f, state, "ops_per_sec", value, "ops/sec", BETTER_HIGHER);
		return;
	}
	if (!tmigr_metrics_number(p, &end, &value))
		return;
	end = skip_blanks(end);
	for (size_t i = 0; i < N_PERF_UNITS; i++)
		if (!strncmp(end, perf_units[i].unit, strlen(perf_units[i].unit)))
			perf_put(f, state, perf_units[i].name, value, perf_units[i].unit,
				 perf_units[i].better);
}

/* ---- tbench, dbench ---- */

/* Of --machine-readable: ";201.171;2;2;0.823;", nothing else begins like that. */
static void tbench_machine(struct finds *f, const char *line)
{
	double mb, ms;
	int end = 0;

	if (sscanf(line, ";%lf;%*d;%*d;%lf;%n", &mb, &ms, &end) != 2 || !end || line[end])
		return;
	tmigr_metrics_put(f, "tbench_throughput", mb, "MB/s", BETTER_HIGHER);
	tmigr_metrics_put(f, "tbench_max_latency", ms, "ms", BETTER_LOWER);
}

static void tbench_line(struct finds *f, char state[64], const char *line)
{
	const char *p = after(line, "Throughput "), *end;
	double value;

	(void)state;
	if (*line == ';')
		tbench_machine(f, line);
	if (!p || !tmigr_metrics_number(p, &end, &value) || !after(end, " MB/sec"))
		return;
	tmigr_metrics_put(f, "tbench_throughput", value, "MB/s", BETTER_HIGHER);
	/* Version 3 has none. */
	p = strstr(end, "max_latency=");
	if (p && tmigr_metrics_number(p + strlen("max_latency="), NULL, &value))
		tmigr_metrics_put(f, "tbench_max_latency", value, "ms", BETTER_LOWER);
}

/* ---- schbench ---- */

/* Its sections begin with a line of their own, and come again as it goes on. */
static const struct {
	const char *head, *name, *unit;
	enum better better;
} schbench_sections[] = {
	{"Wakeup Latencies percentiles (usec)", "wakeup", "us", BETTER_LOWER},
	{"Request Latencies percentiles (usec)", "request", "us", BETTER_LOWER},
	{"RPS percentiles (requests)", "rps", "1/s", BETTER_HIGHER},
	/* Before 2023 there was one. */
	{"Latency percentiles (usec)", "wakeup", "us", BETTER_LOWER},
};

#define N_SECTIONS (sizeof(schbench_sections) / sizeof(schbench_sections[0]))

static void schbench_put(struct finds *f, size_t section, const char *what, double value)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "schbench_%s_%s", schbench_sections[section].name, what);
	tmigr_metrics_put_last(f, name, value, schbench_sections[section].unit,
			       schbench_sections[section].better);
}

/* "99.0th: 3996": the percentile as people write it, p99. */
static void schbench_percentile(struct finds *f, size_t section, const char *line)
{
	char what[32];
	double percent, value;
	const char *end;

	line += strspn(line, " \t*");
	if (!tmigr_metrics_number(line, &end, &percent))
		return;
	end = after(end, "th: ");
	if (!end || !tmigr_metrics_number(end, NULL, &value))
		return;
	snprintf(what, sizeof(what), "p%.6g", percent);
	schbench_put(f, section, what, value);
}

static void schbench_text(struct finds *f, char state[64], const char *line)
{
	const char *p;
	double value;

	for (size_t i = 0; i < N_SECTIONS; i++)
		if (after(line, schbench_sections[i].head)) {
			*state = (char)(i + 1);
			return;
		}
	p = after(line, "average rps: ");
	if (p && tmigr_metrics_number(p, NULL, &value))
		tmigr_metrics_put_last(f, "schbench_rps", value, "1/s", BETTER_HIGHER);
	p = after(line, "avg worker transfer: ");
	if (p && tmigr_metrics_number(p, NULL, &value))
		tmigr_metrics_put_last(f, "schbench_transfer", value, "ops/s", BETTER_HIGHER);
	if (!*state)
		return;
	schbench_percentile(f, (size_t)*state - 1, line);
	p = after(line + strspn(line, " \t"), "min=");
	p = p ? strstr(p, "max=") : NULL;
	if (p && tmigr_metrics_number(p + 4, NULL, &value))
		schbench_put(f, (size_t)*state - 1, "max", value);
}

/* One member of its JSON: "request_latency_pct99.0": 56000 */
static const char *schbench_member(struct finds *f, size_t section, const char *key)
{
	const char *p, *end;
	double percent, value;
	char what[32] = "max";

	p = after(key, "_pct");
	if (p && tmigr_metrics_number(p, &p, &percent))
		snprintf(what, sizeof(what), "p%.6g", percent);
	else
		p = after(key, "_max");
	p = p ? after(p, "\":") : NULL;
	if (!p || !tmigr_metrics_number(p, &end, &value))
		return key;
	schbench_put(f, section, what, value);
	return end;
}

/*
 * Member by member, in whichever lines: schbench does not always write valid
 * JSON (its command line is copied into it), and the object may have gone
 * through a pretty-printer.
 */
static void schbench_json(struct finds *f, const char *line)
{
	static const char *const keys[] = {"wakeup_latency", "request_latency", "rps"};
	const char *p = line;

	while ((p = strchr(p, '"'))) {
		const char *next = ++p;

		for (size_t i = 0; i < 3; i++) {
			const char *rest = after(p, keys[i]);

			if (rest)
				next = schbench_member(f, i, rest);
		}
		p = next;
	}
}

static void schbench_line(struct finds *f, char state[64], const char *line)
{
	schbench_text(f, state, line);
	schbench_json(f, line);
}

/* ---- hackbench ---- */

static void hackbench_line(struct finds *f, char state[64], const char *line)
{
	const char *p = after(line, "Time: "), *end;
	double value;

	(void)state;
	if (p && tmigr_metrics_number(p, &end, &value) && !*skip_blanks(end))
		tmigr_metrics_put(f, "hackbench_time", value, "s", BETTER_LOWER);
}

/* ---- cyclictest ---- */

static void cyclictest_put(struct finds *f, long thread, const char *what, double value)
{
	char name[NAME_SIZE];

	if (thread < 0)
		snprintf(name, sizeof(name), "cyclictest_%s", what);
	else
		snprintf(name, sizeof(name), "cyclictest_t%ld_%s", thread, what);
	tmigr_metrics_put_last(f, name, value, "us", BETTER_LOWER);
}

/* "T: 0 (17094) P: 0 I:10000 C:    100 Min:    104 Act:  124 Avg:  191 Max:    3787": once
 * a thread with -q, else again and again between the terminal's cursor movements. */
static void cyclictest_thread(struct finds *f, const char *line)
{
	double min, avg, max;
	long thread;

	if (sscanf(line, "T:%ld (%*d) P:%*d I:%*d C:%*d Min:%lf Act:%*f Avg:%lf Max:%lf", &thread,
		   &min, &avg, &max) != 4 ||
	    thread < 0)
		return;
	cyclictest_put(f, thread, "min", min);
	cyclictest_put(f, thread, "avg", avg);
	cyclictest_put(f, thread, "max", max);
}

/* The histogram's end: "# Max Latencies: 00045 00051", a column a thread. */
static void cyclictest_columns(struct finds *f, const char *line)
{
	static const struct {
		const char *head, *what;
	} rows[] = {{"# Min Latencies:", "min"},
		    {"# Avg Latencies:", "avg"},
		    {"# Max Latencies:", "max"}};

	for (size_t i = 0; i < 3; i++) {
		const char *p = after(line, rows[i].head);
		double value;

		for (long t = 0; p && tmigr_metrics_number(p, &p, &value); t++)
			cyclictest_put(f, t, rows[i].what, value);
	}
}

static void cyclictest_line(struct finds *f, char state[64], const char *line)
{
	const char *thread = strstr(line, "T:");

	(void)state;
	/* Escape sequences may stand before it. */
	if (thread && (thread == line || *line == '\033'))
		cyclictest_thread(f, thread);
	cyclictest_columns(f, line);
}

/* Of all threads: the least, the mean, the greatest. */
static void cyclictest_end(struct finds *f)
{
	static const char *const what[] = {"min", "avg", "max"};
	double all[3] = {0, 0, 0};
	size_t n[3] = {0, 0, 0};

	for (size_t i = 0; i < f->n; i++) {
		double v = f->values[i].value;
		char word[4];

		if (sscanf(f->values[i].name, "cyclictest_t%*d_%3s", word) != 1)
			continue;
		for (size_t k = 0; k < 3; k++) {
			if (strcmp(word, what[k]))
				continue;
			if (k == 1)
				all[k] += v;
			else if (!n[k] || (k ? v > all[k] : v < all[k]))
				all[k] = v;
			n[k]++;
		}
	}
	for (size_t k = 0; k < 3; k++)
		if (n[k])
			cyclictest_put(f, -1, what[k], k == 1 ? all[k] / (double)n[k] : all[k]);
}

/* ---- stress-ng ---- */

/* "stress-ng: metrc: [17188] cpu  1087  1.00  0.63  0.01  1082.21  1695.01": before 0.14.03
 * "info:" in place of "metrc:", with --timestamp the time before it. */
static void stress_ng_line(struct finds *f, char state[64], const char *line)
{
	const char *p = after(line, "stress-ng: "), *kind;
	char stressor[64], name[NAME_SIZE];
	double v[6];
	int n = 0;

	(void)state;
	if (!p)
		return;
	kind = strstr(p, "metrc: [");
	if (!kind)
		kind = strstr(p, "info: ");
	p = kind ? strchr(kind, '[') : NULL;
	p = p ? strchr(p, ']') : NULL;
	if (!p ||
	    sscanf(p + 1, " %63[a-z0-9_-] %lf %lf %lf %lf %lf %lf%n", stressor, &v[0], &v[1], &v[2],
		   &v[3], &v[4], &v[5], &n) != 7 ||
	    !n || (p[1 + n] && p[1 + n] != ' '))
		return;
	snprintf(name, sizeof(name), "stress-ng_%s", stressor);
	tmigr_metrics_put(f, name, v[4], "bogo-ops/s", BETTER_HIGHER);
}

/* ---- the table ---- */

const struct known tmigr_metrics_benchmarks[] = {
	{"perf-bench", perf_line, NULL, "result of perf bench ('Total time: ... [sec]')"},
	{"tbench", tbench_line, NULL, "'Throughput ... MB/sec' of tbench or dbench"},
	{"schbench", schbench_line, NULL, "percentiles of schbench"},
	{"hackbench", hackbench_line, NULL, "'Time: ...' of hackbench"},
	{"cyclictest", cyclictest_line, cyclictest_end,
	 "'T: ... Max: ...' of cyclictest (-q prints it at the end)"},
	{"stress-ng", stress_ng_line, NULL, "table of stress-ng (--metrics-brief prints it)"},
};

#define N_KNOWN (sizeof(tmigr_metrics_benchmarks) / sizeof(tmigr_metrics_benchmarks[0]))

const size_t tmigr_metrics_n_benchmarks = N_KNOWN;

const char *const *tmigr_metrics_known(void)
{
	static const char *const names[] = {"perf-bench", "tbench",    "schbench", "hackbench",
					    "cyclictest", "stress-ng", NULL};

	return names;
}
