// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of hotplug as text:
 *
 *   cpuhp_enter: cpu: 0004 target:  87 step:  83 (bringup_cpu)
 *   cpuhp_exit:  cpu: 0004  state:  83 step:  83 ret: 0
 */
#include "text_line.h"

#include "tmigr/hotplug_ops.h"

enum tmigr_traced_type text_step_type(const struct text_head *h)
{
	if (text_is(h, "cpuhp_enter") || text_is(h, "cpuhp_multi_enter"))
		return TMIGR_TRACED_STEP_ENTER;
	return text_is(h, "cpuhp_exit") ? TMIGR_TRACED_STEP_EXIT : TMIGR_TRACED_OTHER;
}

/* What "(bringup_cpu)" says: false only without memory. */
static bool name(struct text_line line, size_t step, struct tmigr_step_names *names)
{
	size_t n;
	const char *function = text_in_parens(line, &n);

	return !n || tmigr_step_names_set(names, step, function, n) >= 0;
}

const char *text_step(struct text_line rest, struct tmigr_step_names *names,
		      struct tmigr_traced *ev)
{
	bool enter = ev->type == TMIGR_TRACED_STEP_ENTER;
	int cpu, step, result, state = 0;

	if (!text_int_after(rest, "cpu:", &cpu) || !text_int_after(rest, "step:", &step) ||
	    !text_int_after(rest, enter ? "target:" : "ret:", &result) ||
	    (!enter && !text_int_after(rest, "state:", &state)))
		return "a field is missing";
	if (cpu < 0 || cpu > (int)TMIGR_TRACED_CPU_MAX)
		return "a CPU number out of range";
	names->functions = true;
	if (step < 0 || state < 0 ||
	    (enter && !name(rest, 2 * (size_t)step + (step <= result), names)))
		return "a step out of range";
	ev->subject = (__u32)cpu;
	ev->value = (__u64)step;
	ev->node = result;
	ev->capacity = (__u32)state;
	return NULL;
}
