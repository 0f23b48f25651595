// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU lists as the kernel writes and reads them ("0-3,8", "0-10:2/4"). */
#include "tmigr/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BITS (TMIGR_CPU_MAX + 1)

/* One item of a list: of every @group CPUs from @first on, the first @used. */
struct range {
	unsigned int first, last, used, group;
};

/* Decimal digits only; no sign, no space.  False if there are none or if the
 * number is above TMIGR_CPU_MAX. */
static bool parse_number(const char **p, unsigned int *ret)
{
	const char *s = *p;
	unsigned int n = 0;

	for (; *s >= '0' && *s <= '9'; s++) {
		n = n * 10 + (unsigned int)(*s - '0');
		if (n > TMIGR_CPU_MAX)
			return false;
	}
	if (s == *p)
		return false;
	*p = s;
	*ret = n;
	return true;
}

static bool skip_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* NUM, NUM-NUM or NUM-NUM:USED/GROUP; @p ends behind it. */
static bool parse_range(const char **p, struct range *ret)
{
	struct range r = {.used = 1, .group = 1};

	if (!parse_number(p, &r.first))
		return false;
	r.last = r.first;
	if (skip_char(p, '-')) {
		if (!parse_number(p, &r.last) || r.last < r.first)
			return false;
		if (skip_char(p, ':') &&
		    (!parse_number(p, &r.used) || !skip_char(p, '/') || !parse_number(p, &r.group)))
			return false;
	}
	if (r.group == 0 || r.used > r.group)
		return false;
	*ret = r;
	return true;
}

static void set_range(unsigned char *set, const struct range *r)
{
	for (unsigned int cpu = r->first; cpu <= r->last; cpu++)
		if ((cpu - r->first) % r->group < r->used)
			set[cpu / 8] |= (unsigned char)(1u << cpu % 8);
}

static bool in_set(const unsigned char *set, unsigned int cpu)
{
	return set[cpu / 8] & (1u << cpu % 8);
}

/* Of the CPUs below @end. */
static int collect(const unsigned char *set, unsigned int end, unsigned int **ret_cpus,
		   size_t *ret_n)
{
	unsigned int *cpus;
	size_t n = 0;

	for (unsigned int cpu = 0; cpu < end; cpu++)
		n += in_set(set, cpu);
	cpus = malloc((n ? n : 1) * sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	n = 0;
	for (unsigned int cpu = 0; cpu < end; cpu++)
		if (in_set(set, cpu))
			cpus[n++] = cpu;
	*ret_cpus = cpus;
	*ret_n = n;
	return 0;
}

int tmigr_cpulist_parse(const char *text, unsigned int **ret_cpus, size_t *ret_n,
			struct tmigr_err *err)
{
	unsigned char set[BITS / 8] = {0};
	const char *p = text;
	unsigned int end = 0;
	struct range r;

	while (*p) {
		if (!parse_range(&p, &r) || (*p && (!skip_char(&p, ',') || !*p)))
			return tmigr_fail(
				err, -EINVAL,
				"'%.100s' is not a CPU list: wanted is a form such as 0-3,8 with "
				"numbers up to %d",
				text, TMIGR_CPU_MAX);
		set_range(set, &r);
		end = r.last < end ? end : r.last + 1;
	}
	if (collect(set, end, ret_cpus, ret_n) < 0)
		return tmigr_fail(err, -ENOMEM, "no memory for a CPU list");
	return 0;
}

char *tmigr_cpulist_format(const unsigned int *cpus, size_t n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	bool failed;

	if (!f)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t first = i;

		while (i + 1 < n && cpus[i + 1] == cpus[i] + 1)
			i++;
		fprintf(f, "%s%u", first ? "," : "", cpus[first]);
		if (i > first)
			fprintf(f, "-%u", cpus[i]);
	}
	failed = ferror(f);
	if (fclose(f) != 0 || failed) {
		free(text);
		return NULL;
	}
	return text;
}
