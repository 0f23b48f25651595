/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Insides of what is known of hotplug:
 *   hotplug.c        events in, operations out
 *   hotplug_walk.c   the events of one CPU as operations
 *   hotplug_json.c   the member of a report, and metrics of it
 *   hotplug_text.c   what a user reads
 *   hotplug_live.c   events of the running kernel
 *   hotplug_file.c   ... of a file, or of the boot
 */
#ifndef TMIGR_HOTPLUG_PRIV_H
#define TMIGR_HOTPLUG_PRIV_H

#include "tmigr/hotplug_ops.h"

struct hotplug_event {
	__u64 t_ns;
	size_t order;	     /* in which they came: of two at one time */
	unsigned int cpu;    /* whose step */
	unsigned int on_cpu; /* where it was recorded */
	int pid;
	int step;
	int result; /* enter: the state it is on the way to; exit: 0 or an error */
	int state;  /* exit: the state the CPU is in */
	bool enter;
};

struct hotplug_loss {
	__u64 from_ns, to_ns;
};

/* A step that has not ended. */
struct hotplug_open {
	int step;
	size_t at; /* in the operation's steps */
};

struct hotplug_walk {
	__u64 start_ns, end_ns; /* of the window */
	struct tmigr_hotplug_result *result;
	/* ---- of the present CPU ---- */
	struct tmigr_hotplug_op op;
	bool has_op;
	bool done;     /* it has come to where it was to */
	int last_step; /* of those that began, on the way there */
	int target;
	int control;	/* PID of who asked for it; -1: not known */
	__u64 at_ns;	/* up to which the time is accounted for */
	__u64 first_ns; /* of the operation, not cut */
	size_t cap_steps, cap_ops;
	struct hotplug_open *open; /* innermost last; the caller's to free */
	size_t n_open, cap_open;
};

/* The events of one CPU, by time; its operations go to w->result.  0 or -ENOMEM. */
int hotplug_walk(struct hotplug_walk *w, const struct hotplug_event *evs, size_t n);

#endif
