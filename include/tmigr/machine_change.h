/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of the machine for the time of a run: CPUs offline, the sysctl
 * kernel.timer_migration.
 *
 * A process of its own holds what was before and puts it back: when it is told
 * to (undo), and also when the caller is gone, however it ended, kill -9
 * included.
 */
#ifndef TMIGR_MACHINE_CHANGE_H
#define TMIGR_MACHINE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/topology.h"

struct tmigr_change;

/* Of one CPU, below @root as below: 0, or as writing its file fails. */
int tmigr_change_cpu(const char *root, unsigned int cpu, bool online);

struct tmigr_change_opts {
	const char *root;		   /* NULL or "": the running machine */
	const struct tmigr_topology *topo; /* as it is before; read below the same root */
	const unsigned int *offline;	   /* CPUs to take offline, ascending */
	size_t n_offline;
	int timer_migration; /* 0, 1; -1: as it is */
	bool force;	     /* also the last CPU online of a class */
	/* Nothing is changed now: the caller takes these CPUs offline and online itself, one
	 * after the other (or with @together also all at once), and those that are online now
	 * are put back. */
	bool hold, together;
};

/*
 * Makes the changes, all or none.  -EINVAL: a CPU that the machine does not have
 * or that cannot go offline; -EBUSY: nobody would be left of a class (without
 * @force), or of the machine; else as writing the files fails.  *@ret is the
 * caller's (tmigr_change_undo).
 */
int tmigr_change_make(const struct tmigr_change_opts *opts, struct tmigr_change **ret,
		      struct tmigr_err *err);

/* What was changed: {offline: "5-7", timer_migration: 0}, each only where it was
 * not so before; NULL: nothing was.  Borrowed. */
const json_t *tmigr_change_json(const struct tmigr_change *change);

/* Puts everything back and frees.  NULL is fine.  On an error what could be put
 * back is; the message names what is not. */
int tmigr_change_undo(struct tmigr_change *change, struct tmigr_err *err);

#endif
