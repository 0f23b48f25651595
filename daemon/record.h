/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A window with a recording that goes into a client's descriptor. */
#ifndef TMIGRD_RECORD_H
#define TMIGRD_RECORD_H

#include "windows.h"

#define RECORDINGS_MAX 16

/* The window's recording is given up; what is out stays. */
void record_drop(struct tmigrd *d, struct window *w);

#endif
