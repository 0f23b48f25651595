// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of traced events, as every kernel series has them. */
#include "tmigr/traced.h"

#include <string.h>

static const struct {
	const char *name;
	unsigned char size, type;
} names[] = {
#define NAME(name, type)                                                                           \
	{                                                                                          \
		name, sizeof(name) - 1, TMIGR_TRACED_##type                                        \
	}
	NAME("cpu_idle", CPU_IDLE),
	NAME("cpu_idle_miss", CPU_IDLE_MISS),
	NAME("tmigr_group_set_cpu_active", GROUP_ACTIVE),
	NAME("tmigr_group_set_cpu_inactive", GROUP_INACTIVE),
	NAME("tmigr_cpu_active", CPU_ACTIVE),
	NAME("tmigr_cpu_idle", CPU_INACTIVE),
	NAME("tmigr_cpu_new_timer", CPU_NEW_TIMER),
	NAME("tmigr_cpu_new_timer_idle", CPU_NEW_TIMER_IDLE),
	NAME("tmigr_handle_remote", HANDLE_REMOTE),
	NAME("tmigr_handle_remote_cpu", HANDLE_REMOTE_CPU),
	NAME("tmigr_cpu_available", CPU_AVAILABLE),
	NAME("tmigr_cpu_unavailable", CPU_UNAVAILABLE),
	NAME("tmigr_cpu_online", CPU_AVAILABLE), /* before v6.19 */
	NAME("tmigr_cpu_offline", CPU_UNAVAILABLE),
	NAME("tmigr_update_events", UPDATE_EVENTS),
	NAME("tmigr_group_set", GROUP_SET),
	NAME("tmigr_connect_cpu_parent", CONNECT_CPU),
	NAME("tmigr_connect_child_parent", CONNECT_CHILD),
};

enum tmigr_traced_type tmigr_traced_type(const char *name, size_t size)
{
	if (size < 8 || (name[0] != 't' && name[0] != 'c'))
		return TMIGR_TRACED_OTHER;
	/* (The last letter tells most of those of one size apart.) */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].size == size && names[i].name[size - 1] == name[size - 1] &&
		    !memcmp(names[i].name, name, size))
			return names[i].type;
	return TMIGR_TRACED_OTHER;
}

bool tmigr_traced_is_hotplug(const char *name, size_t size)
{
	return (size == 16 && !memcmp(name, "tmigr_cpu_online", size)) ||
	       (size == 17 && !memcmp(name, "tmigr_cpu_offline", size));
}

void tmigr_hotplug_learn(struct tmigr_hotplug_steps *steps, int step, const char *function,
			 size_t size)
{
	/* cpuhp_bringup_ap: where CPUs are started in parallel (since v6.5). */
	if ((size == 11 && !memcmp(function, "bringup_cpu", size)) ||
	    (size == 16 && !memcmp(function, "cpuhp_bringup_ap", size)))
		steps->bringup = step;
	else if (size == 12 && !memcmp(function, "takedown_cpu", size))
		steps->teardown = step;
}
