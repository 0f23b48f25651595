// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tmigr hotplug --cycle: takes CPUs offline and online again, in a process of its own in
 * the place of a command.  Whatever ends that or the tool, the keeper of machine_change.h
 * brings back what is away.
 */
#include "hotplug.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tmigr.h"

/* ---- the one who does it ---- */

static int move(const struct run_opts *o, unsigned int cpu, bool online)
{
	int ret = tmigr_change_cpu(o->sys_root, cpu, online);

	if (ret < 0)
		tool_error("run", "CPU %u could not be taken %s: %s", cpu,
			   online ? "online again" : "offline", strerror(-ret));
	return ret;
}

/* All away, then all back; those that went come back whatever happens. */
static int together(const struct run_opts *o, const struct cycle *c)
{
	size_t gone;
	int ret = 0;

	for (gone = 0; gone < c->n_cpus && !ret; gone++)
		ret = move(o, c->cpus[gone], false);
	for (size_t i = 0; i < gone; i++) {
		int r = move(o, c->cpus[i], true);

		ret = ret ? ret : r;
	}
	return ret;
}

static int one_by_one(const struct run_opts *o, const struct cycle *c)
{
	int ret = 0;

	for (size_t i = 0; i < c->n_cpus && !ret; i++) {
		ret = move(o, c->cpus[i], false);
		if (!ret)
			ret = move(o, c->cpus[i], true);
	}
	return ret;
}

int cycle_body(const struct run_opts *o)
{
	const struct cycle *c = o->cycle;
	/* With -o each window has one cycle. */
	unsigned long n = o->n ? 1 : c->times;
	int ret = 0;

	/* A script's background job has it ignored; this one ends all the same. */
	signal(SIGINT, SIG_DFL);
	/* Without the tool nobody asked for it any more. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != c->tool)
		return TMIGR_EXIT_ERROR;
	for (unsigned long i = 0; i < n && !ret; i++)
		ret = c->together ? together(o, c) : one_by_one(o, c);
	return ret ? TMIGR_EXIT_ERROR : 0;
}

/* ---- before it ---- */

int cycle_hold(struct machine *m, const struct run_opts *o)
{
	struct tmigr_change_opts change = {
		.root = o->sys_root,
		.offline = o->cycle->cpus,
		.n_offline = o->cycle->n_cpus,
		.timer_migration = -1,
		.force = o->force,
		.hold = true,
		.together = o->cycle->together,
	};

	return machine_make(m, o, &change, "--cycle");
}

int cycle_ask(const struct cycle *c, const char *list)
{
	char answer[16] = "";

	if (c->yes)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return tool_usage("run", "--cycle asks first, and there is no terminal to ask on: "
					 "--yes says it is fine");
	fprintf(stderr,
		"CPUs %s of this machine go offline and online again, %lu time%s%s. What runs on "
		"them moves\nto others, and a task that may run nowhere else loses its affinity. "
		"Go on? [y/N] ",
		list, c->times, c->times == 1 ? "" : "s", c->together ? ", all at once" : "");
	fflush(stderr);
	if (!fgets(answer, sizeof(answer), stdin) || (*answer != 'y' && *answer != 'Y'))
		return tool_error("run", "nothing was done");
	return 0;
}
