/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One-line error messages.
 *
 * Library functions return 0 (or a count) on success and a negative errno on
 * failure.  Those that can fail for a reason a user must act on also take a
 * `struct tmigr_err *`, which receives one line saying what happened, to which
 * object, and what to do.  It may be NULL.  The library prints nothing.
 */
#ifndef TMIGR_ERR_H
#define TMIGR_ERR_H

#define TMIGR_ERR_MAX 512

struct tmigr_err {
	char text[TMIGR_ERR_MAX]; /* no control characters, always NUL terminated */
};

/*
 * Formats the message into @err (when not NULL) and returns @ret, so that
 * `return tmigr_fail(err, -EINVAL, "...")` is the whole error path.
 */
int tmigr_fail(struct tmigr_err *err, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Text that may be anybody's as a part of a line: control characters become '?'. */
void tmigr_one_line(char *text);

#endif
