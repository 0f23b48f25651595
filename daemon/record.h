/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings: a window each, whose frames go to its client as they are made, in
 * replies with `data`.
 */
#ifndef TMIGRD_RECORD_H
#define TMIGRD_RECORD_H

#include "windows.h"

#define RECORDINGS_MAX 16

/* 0 or a negative errno. */
int records_init(struct tmigrd *d);
/* After a drain: what it brought. */
void records_send(struct tmigrd *d);
/* Without an end: its client is gone. */
void record_drop(struct window *w);

#endif
