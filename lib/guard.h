/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the library: a process that waits for its maker's end, whatever that is, and
 * tidies up then.  Both are for the child, between fork() and _exit().
 */
#ifndef TMIGR_GUARD_H
#define TMIGR_GUARD_H

#include <stddef.h>

/* Named @name, away from the terminal and its signals, and from whoever waits for the
 * end of its maker's standard streams. */
void tmigr_guard_settle(const char *name);
/* Sleeps until every other end of the pipe @fd is closed.  What came through it last is
 * in @buf (at most @size bytes, as they are). */
void tmigr_guard_wait(int fd, char *buf, size_t size);

#endif
