/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No signal comes between: what is made and its being remembered, so that an interrupt's
 * handler takes all of it away; or names that change together.  Private to the library.
 */
#ifndef TMIGR_LIB_SIGNALS_H
#define TMIGR_LIB_SIGNALS_H

#include <signal.h>

static inline void signals_hold(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, before);
}

/* errno stays. */
static inline void signals_let_go(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

#endif
