/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the process that reads a trace.dat (tracedat_child.c) tells the one that asked
 * (tracedat.c): messages through a socket, a head and then so many bytes; events
 * through memory that both have.
 */
#ifndef TMIGR_LIB_TRACEDAT_PRIV_H
#define TMIGR_LIB_TRACEDAT_PRIV_H

#include "tmigr/traced.h"

enum dat_msg {
	DAT_HELLO = 1, /* struct dat_hello */
	DAT_EVENTS,    /* nothing follows: `n` events, maybe none, lie in the next slot */
	DAT_ERROR,     /* a line: cannot be read */
	DAT_DONE,      /* struct dat_done */
};

struct dat_head {
	__u32 msg; /* enum dat_msg */
	__u32 n;   /* bytes that follow; of DAT_EVENTS, events */
	__u64 watermark_ns;
};

struct dat_hello {
	__u32 n_cpus;
	char clock[32], kernel[65], machine[65], host[65];
};

struct dat_done {
	__u64 skipped;
	char partial[TMIGR_ERR_MAX]; /* "": all of it was read */
	char buffers[TMIGR_TRACED_BUFFERS_MAX];
};

/*
 * Slots are used in turn.  One that was told of is the asker's, until it gives it
 * back with a byte.  It takes nothing in there for granted: the file's reader may
 * have been broken by the file.
 */
#define DAT_BATCH 4096
#define DAT_SLOTS 4

struct dat_shared {
	bool steps; /* those of hotplug are wanted, and nothing else */
	struct tmigr_traced evs[DAT_SLOTS][DAT_BATCH];
};

/* Reads the file open at @fd, called @name, tells @out, and never returns. */
__attribute__((noreturn)) void tmigr_dat_child(int fd, const char *name, int out,
					       struct dat_shared *shared);

/* What a process tells at @in (closed with the source) as a source; NULL: no memory. */
struct tmigr_traced_source *tmigr_dat_of_child(const char *name, int in,
					       const struct dat_shared *shared);

#endif
