/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A result for standard output or for a file: who reads the file sees the old one
 * or the whole new one, never a part.  A device or pipe is written to as it is.
 */
#ifndef TMIGR_TOOL_OUTPUT_H
#define TMIGR_TOOL_OUTPUT_H

#include <stdio.h>

struct output {
	const char *verb, *path; /* path NULL: standard output */
	char *temp;		 /* NULL: it is written to directly */
	FILE *file;
	/* Inside of output.c. */
	int fd;
	int error; /* errno of the first write that failed */
};

/* All of these return 0, or the exit code with the error told. */

/* @path is borrowed until the end; @o must stay where it is. */
int output_open(struct output *o, const char *verb, const char *path);
/* Flushes and puts a file aside, whole, under its temporary name. */
int output_close(struct output *o);
/* Gives it its name. */
int output_rename(struct output *o);
/* Instead of close or rename: nothing is left. */
void output_discard(struct output *o);

/*
 * close and rename where @ret is 0; else discard.  @ret negative: what writing
 * failed with, told here; positive: an exit code, told before.
 */
int output_finish(struct output *o, int ret);

/* A closed pipe is an error to be told, and an interrupt leaves no temporary file. */
void output_signals(void);

#endif
