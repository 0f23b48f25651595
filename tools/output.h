/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A result for standard output or for a file (tmigr/outfile.h), with errors told as a
 * verb tells them.
 */
#ifndef TMIGR_TOOL_OUTPUT_H
#define TMIGR_TOOL_OUTPUT_H

#include <stdio.h>

#include "tmigr/outfile.h"

struct output {
	const char *verb;
	struct tmigr_outfile *to; /* NULL: finished or discarded */
	FILE *file;		  /* to be written to */
};

/* All of these return 0, or the exit code with the error told. */

/* @path NULL or "-": standard output. */
int output_open(struct output *o, const char *verb, const char *path);
/* Flushes and puts a file aside, whole, under its temporary name; on failure it is
 * discarded. */
int output_close(struct output *o);
/* Nothing is left.  May be called of what is finished. */
void output_discard(struct output *o);

/*
 * The file gets its name where @ret is 0; else discard.  @ret negative: what writing
 * failed with, told here; positive: an exit code, told before.
 */
int output_finish(struct output *o, int ret);

/* An interrupt leaves nothing of what is temporary: files, folders, a run directory that is
 * being made. */
void output_interrupts(void);
/* And a closed pipe is an error to be told. */
void output_signals(void);

#endif
