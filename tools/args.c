// SPDX-License-Identifier: GPL-2.0-or-later
#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "tmigr.h"

#define SECONDS_MAX 3155760000ULL

/* By hand: strtod() would take "inf", "0x1p3", blanks, and the locale's comma. */
int arg_seconds(const char *text, __u64 *ret_ns)
{
	__u64 sec = 0, frac = 0, unit = 1000000000;
	const char *p = text;

	if (!isdigit((unsigned char)*p) && *p != '.')
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		sec = sec * 10 + (__u64)(*p - '0');
		if (sec > SECONDS_MAX)
			return -EINVAL;
	}
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p); p++) {
			unit /= 10;
			frac += unit * (__u64)(*p - '0');
		}
	}
	if (*p || !(sec || frac))
		return -EINVAL;
	*ret_ns = sec * 1000000000 + frac;
	return 0;
}

int arg_number(const char *text, unsigned long min, unsigned long max, unsigned long *ret)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || value < min || value > max)
		return -EINVAL;
	*ret = value;
	return 0;
}

int arg_source(const char *verb, const char *text, enum tmigr_source *ret)
{
	if (!tmigr_source_named(text, ret))
		return 0;
	return tool_usage(verb, "--source: '%s' is none of bpf, ftrace, auto", text);
}

int arg_list_add(struct arg_list *list, const char *item)
{
	const char **items = realloc(list->items, (list->n + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	list->items = items;
	list->items[list->n++] = item;
	return 0;
}

void arg_list_free(struct arg_list *list)
{
	free(list->items);
	list->items = NULL;
	list->n = 0;
}
