/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection: bytes in, requests one after the other, bytes out.
 *
 * What keeps clients from disturbing one another:
 *  - a round of the loop does one read of at most CLIENT_READ bytes and one
 *    request for each, in the order in which they came, for a bounded time;
 *  - a request is at most REQUEST_MAX bytes, and no more is read while it waits;
 *  - while more than CLIENT_OUT_IDLE bytes wait to go out, no request is begun;
 *    more than CLIENT_OUT_MAX (only a stream can get there) ends the connection
 *    with an error.  Messages are counted by reference, so what is the same for
 *    many clients is in memory once;
 *  - all together hold at most CLIENTS_HELD_MAX (and what a round adds): above it
 *    those go who hold the most.
 */
#ifndef TMIGRD_CLIENT_H
#define TMIGRD_CLIENT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <jansson.h>

#include "loop.h"
#include "msg.h"
#include "request.h"

#define CLIENT_READ	(32u << 10)
#define CLIENT_OUT_IDLE (64u << 10)
#define CLIENT_OUT_MAX	(4u << 20)
/* Of CLIENT_OUT_IDLE and more in a queue, and of begun requests; what the kernel holds
 * for a connection is CLIENT_SNDBUF, twice. */
#define CLIENTS_HELD_MAX (96u << 20)
#define CLIENT_SNDBUF	 (32 << 10)

#define INTERFACE	 "org.tmigrd"
#define SERVICE		 "org.varlink.service"

struct client;
struct tmigrd;

/* What an unfinished call does meanwhile. */
struct activity {
	/* Room in the queue (again): go on. Optional. */
	void (*room)(struct client *c);
	/* The client is gone, or is being cut off. */
	void (*gone)(struct client *c);
	/* The daemon ends: what the client still gets before it is told. Optional;
	 * nothing that waits is dropped then. */
	void (*stop)(struct client *c);
};

struct client {
	struct source src;
	struct tmigrd *d;
	struct client *next, **link; /* of all clients */
	struct client *next_ready;   /* work left for the next round */
	bool is_ready;
	bool dead;    /* freed at the end of the round */
	bool eof;     /* it will send no more */
	bool closing; /* closed once its queue is out, or at close_ns */
	__u64 close_ns;
	uint32_t events;
	struct ucred cred;

	char *in;
	size_t n_in, cap_in;

	struct msgq out;

	/* The call that is being answered; its method for `activity`. */
	bool in_call, more, oneway;
	const struct activity *activity;
	void *activity_arg;
	unsigned int n_windows;
};

struct clients {
	struct client *first;
	struct client *ready, **ready_tail;
	struct client *dead;
	unsigned int n;
	bool check;			 /* somebody may hold much */
	__u64 served, cut_off, requests; /* since start */
};

void clients_init(struct clients *cs);

/* Takes over @fd; 0, or a negative errno with @fd closed. */
int client_new(struct tmigrd *d, int fd, const struct ucred *cred);
/* One step of each client that has something to do, as far as the time for a round
 * goes.  True: some is left. */
bool clients_run_ready(struct tmigrd *d);
/* Closes those whose time to take the last reply is over. */
void clients_expire(struct tmigrd *d, __u64 now);
/* Cuts off who holds the most, while all hold too much. */
void clients_bound(struct tmigrd *d);
void clients_reap(struct tmigrd *d);
/* Ends all: those with an unfinished call get an error; then a little time to
 * take it. */
void clients_stop(struct tmigrd *d);

/* ---- for methods ---- */
/* The last reply of the call, or an error; @params is stolen, NULL: {} . */
void client_reply(struct client *c, json_t *params);
/* @name without a dot: of our interface. @params is stolen, may be NULL. */
void client_error(struct client *c, const char *name, json_t *params);
void client_errorf(struct client *c, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void client_bad_param(struct client *c, const char *param);
/* A reply with more to follow; steals one reference.  May cut the client off,
 * then its activity is over. */
void client_stream(struct client *c, struct msg *m);
/* The call goes on after the method returns. */
void client_begin(struct client *c, const struct activity *a, void *arg);
/* Says why, and closes. */
void client_cut_off(struct client *c, const char *error, const char *why);

#endif
