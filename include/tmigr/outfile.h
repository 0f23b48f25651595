/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that appears whole or not at all: written beside its place under a name
 * of its own, renamed at the end.  A target that is not a regular file (a device, a
 * FIFO) cannot be replaced so, and is written to as it is.  A symbolic link stays
 * one: the file behind it is replaced, with the access rights that it had.
 */
#ifndef TMIGR_OUTFILE_H
#define TMIGR_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "tmigr/err.h"

struct tmigr_outfile;

/* NULL or "-": standard output.  -EISDIR, -EACCES ... with nothing made. */
int tmigr_outfile_open(const char *path, struct tmigr_outfile **ret, struct tmigr_err *err);
/* Where to write to; errors may be left to the end, which knows the first one. */
FILE *tmigr_outfile_stream(struct tmigr_outfile *f);
/* A file, which is replaced; false: written to directly. */
bool tmigr_outfile_replaces(const struct tmigr_outfile *f);

/* Puts it aside, whole and on the disk, for a commit later; with several files that
 * shall come together.  After a failure (disk full, closed pipe) abort it. */
int tmigr_outfile_close(struct tmigr_outfile *f, struct tmigr_err *err);
/* Closes unless closed, gives the file its name, frees @f.  On failure nothing of it
 * stays, and what was at the path before is still there. */
int tmigr_outfile_commit(struct tmigr_outfile *f, struct tmigr_err *err);
/* Aborts, and says why: what writing failed with, or @ret, a negative errno of the
 * one who wrote, where no write has failed. */
int tmigr_outfile_fail(struct tmigr_outfile *f, int ret, struct tmigr_err *err);
/* Takes away what was written, and frees.  NULL is fine. */
void tmigr_outfile_abort(struct tmigr_outfile *f);

/* For a signal handler that ends the process: takes away all temporary files.  Files
 * may be open in one thread only. */
void tmigr_outfile_interrupted(void);

#endif
