/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `tmigr hotplug`, beside those of `run`.
 *
 *   hotplug.c         options
 *   hotplug_cycle.c   --cycle
 */
#ifndef TMIGR_TOOL_HOTPLUG_H
#define TMIGR_TOOL_HOTPLUG_H

#include "run.h"

struct cycle {
	unsigned int *cpus; /* ascending; owned by the verb */
	size_t n_cpus;
	unsigned long times;
	bool together, yes;
	pid_t tool; /* whose child the body is */
};

/* In the place of a command (struct run_opts). */
int cycle_body(const struct run_opts *o);
/* In the place of machine_change(): what the body takes away comes back. */
int cycle_hold(struct machine *m, const struct run_opts *o);
/* 0: go on; else the exit code with the reason told. */
int cycle_ask(const struct cycle *c, const char *list);

#endif
