/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports from files: recordings (events.tmr), trace.dat, and text of ftrace, told
 * apart by what is in them.  The model and the report are those of a live run.
 */
#ifndef TMIGR_IMPORT_H
#define TMIGR_IMPORT_H

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/hotplug_ops.h"
#include "tmigr/model.h"
#include "tmigr/topology.h"

struct tmigr_import_opts {
	const char *tool; /* for the report's "tool" */
	/* --class, as in tmigr_topology_read(); and a copy of a machine's sysfs: a
	 * folder or a tar file; NULL: nothing is known of the machine. */
	const char *const *classes;
	size_t n_classes;
	const char *cpus;
	/* Where to write a recording of it; NULL: nowhere. */
	const char *recording;
	/* As in tmigr_model_cfg; optional. */
	void (*segment)(void *arg, const struct tmigr_segment *seg);
	void *arg;
};

/*
 * Reads @path ("-": standard input) from its first event to its last, which is the
 * window, in memory that does not grow with the file.  *@ret_report is a new
 * reference; its "partial" says what was not understood or is missing.  The last
 * event's time is the window's end: the event itself counts no more.
 *
 * *@ret_topo (optional) is what the report is about, owned by the caller.
 *
 * -EINVAL: no such file, or options that don't fit it; -EISDIR, -ENOENT ... from the
 * system.
 */
int tmigr_import(const char *path, const struct tmigr_import_opts *opts, json_t **ret_report,
		 struct tmigr_topology **ret_topo, struct tmigr_err *err);

/*
 * A topology of the CPUs @cpus (ascending), of which nothing else is known (where nobody
 * said how many there are, @more: and those that @classes name), or what
 * @snapshot has; -EINVAL also where it lacks one of @cpus.  *@ret is owned by the
 * caller.  @names, empty (NULL: not wanted): what the snapshot has of the steps of
 * hotplug.
 */
int tmigr_topology_of(const unsigned int *cpus, size_t n_cpus, bool more, const char *snapshot,
		      const char *const *classes, size_t n_classes, struct tmigr_topology **ret,
		      struct tmigr_step_names *names, struct tmigr_err *err);

/* Of such a topology without a snapshot: each CPU has @n idle states, as were seen of any, named
 * state0, state1 and so on. */
void tmigr_topology_states(struct tmigr_topology *topo, size_t n);

/* For a signal handler that ends the process: takes away temporary folders. */
void tmigr_import_interrupted(void);

#endif
