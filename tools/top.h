/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `tmigr top`.
 *
 *   top.c          options, --once
 *   top_source.c   where samples come from
 *   top_engine.c   ... an engine of its own
 *   top_daemon.c   ... a daemon
 *   top_file.c     ... a file (tests)
 *   top_curses.c   the screen; left out of a build without ncursesw
 */
#ifndef TMIGR_TOOL_TOP_H
#define TMIGR_TOOL_TOP_H

#include "tmigr/top.h"
#include "top_source.h"

struct top_screen {
	struct tmigr_top *top;
	struct top_source *source;
	struct tmigr_top_opts view;
};

/* Shows samples until the user has enough.  Returns the exit code; an error is
 * told when the terminal is as it was. */
int top_screen_run(struct top_screen *s);

/* "6.4", or NULL: not built in. */
const char *top_screen_version(void);

#endif
