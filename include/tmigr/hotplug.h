/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a CPU is up, by the kernel's own tracepoints of CPU hotplug: the one rule,
 * also for the BPF programs.  The numbers of the steps are the kernel's:
 * CPUHP_BRINGUP_CPU and CPUHP_TEARDOWN_CPU of its enum cpuhp_state.
 */
#ifndef TMIGR_HOTPLUG_H
#define TMIGR_HOTPLUG_H

/*
 * cpuhp_enter: the bring-up step begins.  From there on the CPU works, and up to
 * there it has no event (where it is started earlier, it waits for this).  On the way
 * down the same step is passed once more, with a target below it.
 */
static inline int tmigr_hotplug_brings_up(int step, int bringup, int target)
{
	return step == bringup && target >= step;
}

/* cpuhp_exit: the teardown step has ended, and did not fail: the CPU is dead. */
static inline int tmigr_hotplug_took_down(int step, int teardown, int ret)
{
	return step == teardown && ret == 0;
}

#endif
