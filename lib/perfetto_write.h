/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of a Perfetto trace, one call each, written as they come.  All are one
 * packet sequence: its state (names by number, the clock of time stamps) is set by
 * pf_begin() and pf_name() before it is used.  Only in builds with protobuf-c.
 */
#ifndef TMIGR_PERFETTO_WRITE_H
#define TMIGR_PERFETTO_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/types.h>

/* Clocks by Perfetto's numbers. */
#define PF_CLOCK_MONOTONIC 3
#define PF_CLOCK_BOOTTIME  6

/* What pf_name() gives a number: each kind has numbers of its own, from 1. */
enum pf_kind { PF_EVENT, PF_CATEGORY, PF_ARGUMENT };

struct pf_track {
	__u64 uuid, parent; /* parent 0: none */
	const char *name;
	const char *unit; /* a counter's, "" none; NULL: no counter */
	int rank;	  /* among its siblings */
};

/* An argument of an event: a number, or a text. */
struct pf_arg {
	__u64 name; /* PF_ARGUMENT */
	const char *text;
	__u64 value; /* where text is NULL */
};

#define PF_ARGS 12

struct pf_event {
	__u64 t_ns, track;
	__u64 category; /* PF_CATEGORY */
	__u64 name;	/* PF_EVENT, or 0: text */
	const char *text;
	const struct pf_arg *args;
	size_t n_args; /* up to PF_ARGS */
};

struct pf_idle {
	__u64 t_ns;
	__u32 state; /* as in the trace: (u32)-1 on leaving */
};

#define PF_IDLES 256 /* of one bundle */

/* None of these returns an error: look at ferror(@out) at the end. */

/* Starts the sequence; both clocks show @t_ns. */
void pf_begin(FILE *out, __u64 t_ns);
void pf_name(FILE *out, enum pf_kind kind, __u64 number, const char *name);
void pf_track(FILE *out, const struct pf_track *track);
void pf_instant(FILE *out, const struct pf_event *event);
void pf_slice(FILE *out, const struct pf_event *event, __u64 end_ns);
void pf_counter(FILE *out, __u64 track, __u64 t_ns, __s64 value);
/* power:cpu_idle of CPU @cpu, at most PF_IDLES; @lost: there were more before. */
void pf_idles(FILE *out, unsigned int cpu, bool lost, const struct pf_idle *idles, size_t n);

/* "1.4.1" */
const char *pf_version(void);

#endif
