// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs that come and go in a window: their steps, beside what the engine measures. */
#include "run.h"

#include <errno.h>

#include "tmigr.h"

int run_hotplug_attach(struct session *s)
{
	struct tmigr_err err = {""};

	if (!s->opts->hotplug || tmigr_hotplug_live_open(s->topo, &s->hotplug, &err) == 0)
		return 0;
	return tool_error("run", "%s", err.text);
}

int run_hotplug_drain(struct session *s)
{
	struct tmigr_err err = {""};

	if (!s->hotplug || tmigr_hotplug_live_drain(s->hotplug, &err) == 0)
		return 0;
	return tool_error("run", "%s", err.text);
}

int run_hotplug_put(struct session *s)
{
	struct tmigr_err err = {""};
	json_t *hotplug;

	if (!s->hotplug)
		return 0;
	if (tmigr_hotplug_live_result(s->hotplug, s->start_ns, s->end_ns, &hotplug, &err) < 0)
		return tool_error("run", "%s", err.text);
	if (json_object_set_new(s->info, "hotplug", hotplug))
		return tool_error("run", "out of memory");
	return 0;
}

int run_hotplug_print(const json_t *report)
{
	if (tmigr_hotplug_text(report, stdout) == -ENOMEM)
		return tool_error("run", "out of memory");
	return tool_flush("run");
}
