/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that appears whole or not at all: written beside its place under a name
 * of its own, renamed at the end.  A target that is not a regular file (a device, a
 * FIFO) cannot be replaced so, and is written to as it is.
 */
#ifndef TMIGR_OUTFILE_H
#define TMIGR_OUTFILE_H

#include <stdio.h>

#include "tmigr/err.h"

struct tmigr_outfile;

/* "-": standard output.  -EISDIR, -EACCES ... with nothing made. */
int tmigr_outfile_open(const char *path, struct tmigr_outfile **ret, struct tmigr_err *err);
/* Where to write to; errors may be left to tmigr_outfile_commit(). */
FILE *tmigr_outfile_stream(struct tmigr_outfile *f);
/* Flushes, gives the file its name, frees @f.  On failure (disk full, closed pipe)
 * nothing of it stays, and what was at the path before is still there. */
int tmigr_outfile_commit(struct tmigr_outfile *f, struct tmigr_err *err);
/* Takes away what was written, and frees.  NULL is fine. */
void tmigr_outfile_abort(struct tmigr_outfile *f);

#endif
