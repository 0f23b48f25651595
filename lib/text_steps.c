// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of hotplug as text:
 *
 *   cpuhp_enter: cpu: 0004 target:  87 step:  83 (bringup_cpu)
 *   cpuhp_exit:  cpu: 0004  state:  83 step:  83 ret: 0
 */
#include "text_line.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/hotplug_ops.h"

static bool is(const struct text_head *h, const char *name)
{
	return h->n_name == strlen(name) && !memcmp(h->name, name, h->n_name);
}

enum tmigr_traced_type text_step_type(const struct text_head *h)
{
	if (is(h, "cpuhp_enter") || is(h, "cpuhp_multi_enter"))
		return TMIGR_TRACED_STEP_ENTER;
	return is(h, "cpuhp_exit") ? TMIGR_TRACED_STEP_EXIT : TMIGR_TRACED_OTHER;
}

/* The number behind @key, which may be negative. */
static bool number(struct text_line line, const char *key, long long *ret)
{
	size_t n = strlen(key);
	const char *p = memmem(line.at, (size_t)(line.end - line.at), key, n);
	char text[24] = "", *end;

	if (!p)
		return false;
	for (p += n; p < line.end && *p == ' '; p++)
		;
	n = (size_t)(line.end - p) < sizeof(text) - 1 ? (size_t)(line.end - p) : sizeof(text) - 1;
	memcpy(text, p, n);
	*ret = strtoll(text, &end, 10);
	return end != text && *ret >= INT_MIN && *ret <= INT_MAX;
}

/* What "(bringup_cpu)" says: false only without memory. */
static bool name(struct text_line line, size_t step, struct tmigr_step_names *names)
{
	const char *open = memchr(line.at, '(', (size_t)(line.end - line.at));
	const char *close = open ? memchr(open, ')', (size_t)(line.end - open)) : NULL;

	return !close || close == open + 1 ||
	       tmigr_step_names_set(names, step, open + 1, (size_t)(close - open - 1)) >= 0;
}

const char *text_step(struct text_line rest, struct tmigr_step_names *names,
		      struct tmigr_traced *ev)
{
	bool enter = ev->type == TMIGR_TRACED_STEP_ENTER;
	long long cpu, step, result, state = 0;

	if (!number(rest, "cpu:", &cpu) || !number(rest, "step:", &step) ||
	    !number(rest, enter ? "target:" : "ret:", &result) ||
	    (!enter && !number(rest, "state:", &state)))
		return "a field is missing";
	if (cpu < 0 || cpu > TMIGR_TRACED_CPU_MAX)
		return "a CPU number out of range";
	names->functions = true;
	if (step < 0 || state < 0 ||
	    (enter && !name(rest, 2 * (size_t)step + (step <= result), names)))
		return "a step out of range";
	ev->subject = (__u32)cpu;
	ev->value = (__u64)step;
	ev->node = (__s32)result;
	ev->capacity = (__u32)state;
	return NULL;
}
