/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the tool itself runs: on the CPU where its own wake-ups disturb least,
 * with a timer slack that lets the kernel join them with others.
 */
#ifndef TMIGR_HOUSEKEEPING_H
#define TMIGR_HOUSEKEEPING_H

#include <sched.h>
#include <stddef.h>

#include "tmigr/err.h"
#include "tmigr/topology.h"

#define TMIGR_HOUSEKEEPING_SLACK_NS 50000000UL

/* What the calling thread had before; zeroed means "nothing pinned". */
struct tmigr_housekeeping {
	cpu_set_t *mask; /* owned; of mask_bytes, so not bounded by CPU_SETSIZE */
	size_t mask_bytes;
	unsigned long slack_ns;
};

/*
 * Pins the calling thread to the CPU where it matters least: of those it may
 * run on now, one that is not isolated or nohz_full if there is one, of the
 * lowest class, busiest so far (least idle time in /proc/stat); or to
 * @want >= 0.  Sets its timer slack to TMIGR_HOUSEKEEPING_SLACK_NS.
 *
 * Returns the CPU.  *@ret is then the caller's (tmigr_housekeeping_release).
 * -EINVAL: no such CPU, or it is offline; else as sched_setaffinity(2) fails.
 * Nothing is changed on failure.
 */
int tmigr_housekeeping_pin(const struct tmigr_topology *topo, int want,
			   struct tmigr_housekeeping *ret, struct tmigr_err *err);

/*
 * Gives the calling thread the mask and slack from before the pin; for a child
 * between fork and exec too (two system calls, no memory).  What a child keeps
 * is the default slack that prctl(PR_SET_TIMERSLACK, 0) would return to: the
 * kernel makes it the parent's slack at fork.  No-op when nothing was pinned.
 */
void tmigr_housekeeping_undo(const struct tmigr_housekeeping *h);

/* Frees what @h owns; undoes nothing. */
void tmigr_housekeeping_release(struct tmigr_housekeeping *h);

#endif
