/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes into a descriptor that a client passed.  Nothing of it can make the
 * daemon wait: a pipe is written without blocking, and a regular file only on
 * file systems whose writes end by themselves (not on those that a user or a
 * network can hold up).
 */
#ifndef TMIGRD_TRANSFER_H
#define TMIGRD_TRANSFER_H

#include "tmigrd.h"

/* What may wait to be written, of each recording; flight recorder frames are shared
 * and count not. */
#define TRANSFER_MAX (4u << 20)

struct transfer {
	struct source src; /* of a pipe */
	struct tmigrd *d;
	struct transfer *next; /* of those with work left (regular files) */
	bool listed;
	__u64 round; /* of its last step */
	bool regular;
	bool full; /* a pipe: waits for EPOLLOUT */
	struct msgq q;
	__u64 bytes; /* written */
	int failed;  /* negative errno: nothing more is written */
	/* Called once, when all is out or it failed; may free the transfer. */
	void (*done)(struct transfer *t);
	void *arg;
};

/* Takes over @fd, which @c passed, also on failure: -EBADF with *@ret_why, or
 * -ENOMEM. */
int transfer_open(struct client *c, int fd, struct transfer **ret, const char **ret_why);
/* Takes over the reference.  @limit: no more than TRANSFER_MAX may wait. */
int transfer_add(struct transfer *t, struct msg *m, bool limit);
/* Nothing more comes; @done is called in this round or a later one. */
void transfer_finish(struct transfer *t, void (*done)(struct transfer *t), void *arg);
/* Closes; what is not out is lost. */
void transfer_free(struct transfer *t);
/* One step of each that has work left.  True: some have more. */
bool transfers_run(struct tmigrd *d);

#endif
