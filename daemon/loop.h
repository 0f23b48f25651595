/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop: file descriptors by epoll, and work that is left over from
 * one round to the next.  The time to wait is epoll_wait's own timeout, which
 * obeys the thread's timer slack; a timerfd would not.
 */
#ifndef TMIGRD_LOOP_H
#define TMIGRD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "tmigr/clock.h"

#define NS_PER_SEC 1000000000ULL

struct source {
	int fd;
	void (*fn)(struct source *s, uint32_t events);
};

struct epoll_event;

struct loop {
	int ep;
	/* Of this round, still to be run. */
	struct epoll_event *left;
	int n_left;
	unsigned long rounds; /* that something was done in */
};

/* 0 or a negative errno, as loop_add() and loop_mod(). */
int loop_init(struct loop *l);
void loop_free(struct loop *l);
int loop_add(struct loop *l, struct source *s, uint32_t events);
int loop_mod(struct loop *l, struct source *s, uint32_t events);
/* Nothing of @s is run any more, also not what this round found: it may be freed. */
void loop_del(struct loop *l, struct source *s);
/* Waits up to @until_ns (0: not at all), and runs what is there: each source
 * once. */
void loop_round(struct loop *l, __u64 until_ns);

#endif
