/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the process that reads a trace.dat (tracedat_child.c) tells the one that asked
 * (tracedat.c), through a pipe: a head, then so many bytes.
 */
#ifndef TMIGR_LIB_TRACEDAT_PRIV_H
#define TMIGR_LIB_TRACEDAT_PRIV_H

#include "tmigr/traced.h"

enum dat_msg {
	DAT_HELLO = 1, /* struct dat_hello */
	DAT_EVENTS,    /* struct tmigr_traced[], watermark in the head; may be none */
	DAT_ERROR,     /* a line: cannot be read */
	DAT_DONE,      /* struct dat_done */
};

struct dat_head {
	__u32 msg; /* enum dat_msg */
	__u32 bytes;
	__u64 watermark_ns;
};

struct dat_hello {
	__u32 n_cpus;
	char clock[32], kernel[65], machine[65], host[65];
};

struct dat_done {
	__u64 skipped;
	char partial[TMIGR_ERR_MAX]; /* "": all of it was read */
};

#define DAT_BATCH 1024

/* Reads the file open at @fd, called @name, writes to @out, and never returns. */
__attribute__((noreturn)) void tmigr_dat_child(int fd, const char *name, int out);

#endif
