/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bring-ups and take-downs of CPUs, by the events of their steps (cpuhp_enter,
 * cpuhp_multi_enter, cpuhp_exit).
 *
 * Steps of one CPU are nested: the task that asked for it waits in a step of its own while
 * the CPU's thread, idle task or stopper does others.  At every instant a bring-up's time
 * is the innermost open step's, or, where none is open, time between steps: so the steps'
 * own times and the time between them add up to the whole, to the nanosecond.
 *
 * A bring-up lasts from the first step's beginning to the last one's end.  What is asked
 * for in parts (the kernel's parallel bring-up at boot) is one, and the waiting between the
 * parts is time between steps.
 */
#ifndef TMIGR_HOTPLUG_OPS_H
#define TMIGR_HOTPLUG_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/topology.h"
#include "tmigr/traced.h"

/* ---- the steps' names ---- */

/* What /sys/devices/system/cpu/hotplug/states says: names by number. */
struct tmigr_step_names {
	char **names; /* owned; NULL: that number has none */
	size_t n;
	bool functions; /* of functions, in text: by twice the number, plus 1 for the way up */
};

/* Below @root (NULL: "/").  -ENOENT: the kernel (or the copy of sysfs) has no such file. */
int tmigr_step_names_read(const char *root, struct tmigr_step_names *ret);
/* -ENOMEM, -EINVAL: no number of the kernel's.  One that has a name keeps it. */
int tmigr_step_names_set(struct tmigr_step_names *names, size_t step, const char *name,
			 size_t size);
void tmigr_step_names_free(struct tmigr_step_names *names);
/* Is it a step of timer migration?  By its name, or its function's where steps have none. */
bool tmigr_step_is_tmigr(const char *name);

/* ---- from events to operations ---- */

/* One step of an operation; several calls of one step (its instances) are one. */
struct tmigr_hotplug_step {
	int step;
	bool own;  /* it ran on the CPU itself, not on the one that asked for it */
	bool back; /* it took back what was done: the operation had failed */
	unsigned int calls;
	__u64 ns; /* of the step itself, without steps within it */
};

enum tmigr_hotplug_cut {
	TMIGR_HOTPLUG_CUT_START = 1, /* it began before the window */
	TMIGR_HOTPLUG_CUT_END = 2,   /* it ended after it */
	TMIGR_HOTPLUG_CUT_LOST = 4,  /* events were lost while it went on */
};

struct tmigr_hotplug_op {
	unsigned int cpu;
	bool up;
	unsigned int cut; /* enum tmigr_hotplug_cut, or-ed */
	int failed_step;  /* -1: none did */
	int error;	  /* that it failed with, negative errno */
	__u64 start_ns, end_ns;
	__u64 between_ns;
	struct tmigr_hotplug_step *steps; /* in the order of their beginnings; owned */
	size_t n_steps;
};

struct tmigr_hotplug_result {
	struct tmigr_hotplug_op *ops; /* by start_ns; owned */
	size_t n_ops;
	__u64 lost;	 /* events */
	__u64 callbacks; /* steps that were run on CPUs that are online, for a driver that
			  * came or went: no part of any operation */
};

struct tmigr_hotplug;

/* 0 or -ENOMEM; the caller's (tmigr_hotplug_free). */
int tmigr_hotplug_new(struct tmigr_hotplug **ret);
void tmigr_hotplug_free(struct tmigr_hotplug *h); /* NULL is fine */
/* Of each CPU in the order of the records; other types than STEP_* and LOST are passed
 * over.  0 or -ENOMEM. */
int tmigr_hotplug_feed(struct tmigr_hotplug *h, const struct tmigr_traced *evs, size_t n);
/*
 * What went on from @start_ns to @end_ns, by all events so far.  Operations that lie
 * wholly outside are left out; what reaches over an edge is cut there.  0 or -ENOMEM;
 * the caller's (tmigr_hotplug_result_free).
 */
int tmigr_hotplug_result(struct tmigr_hotplug *h, __u64 start_ns, __u64 end_ns,
			 struct tmigr_hotplug_result *ret);
void tmigr_hotplug_result_free(struct tmigr_hotplug_result *r);

/* The member "hotplug" of a report (docs/report-schema.md); times since @start_ns.  New
 * reference or NULL. */
json_t *tmigr_hotplug_json(const struct tmigr_hotplug_result *r,
			   const struct tmigr_step_names *names, __u64 start_ns);

/* ---- the running kernel ---- */

struct tmigr_hotplug_live;

/*
 * Traces from here on, in a tracefs instance of its own that is gone with us.  @topo must
 * outlive it.  -EPERM, -ENOENT, -EOPNOTSUPP with the remedy.
 */
int tmigr_hotplug_live_open(const struct tmigr_topology *topo, struct tmigr_hotplug_live **ret,
			    struct tmigr_err *err);
void tmigr_hotplug_live_close(struct tmigr_hotplug_live *l); /* NULL is fine */
/* Once a second or so: takes what there is out of the buffers. */
int tmigr_hotplug_live_drain(struct tmigr_hotplug_live *l, struct tmigr_err *err);
/* As tmigr_hotplug_json(), of a window that has just ended: waits for what is being
 * written. */
int tmigr_hotplug_live_result(struct tmigr_hotplug_live *l, __u64 start_ns, __u64 end_ns,
			      json_t **ret, struct tmigr_err *err);

/* ---- a file, or the boot ---- */

struct tmigr_hotplug_file_opts {
	const char *tool;
	/* As in struct tmigr_import_opts. */
	const char *cpus;
	const char *const *classes;
	size_t n_classes;
};

/*
 * Of @path (trace.dat, or text of ftrace; "-": standard input), from its first such event
 * to the last.  NULL: of what the global ftrace buffer holds since boot, of this machine.
 * *@ret is a new reference: schema "tmigr-hotplug" (docs/report-schema.md).  -ENODATA: the
 * buffer holds none; else as tmigr_import().
 */
int tmigr_hotplug_read(const char *path, const struct tmigr_hotplug_file_opts *opts, json_t **ret,
		       struct tmigr_err *err);

/* ---- text ---- */

/* Of a report that has the member; 0 or a negative errno from writing. */
int tmigr_hotplug_text(const json_t *report, FILE *out);

#endif
