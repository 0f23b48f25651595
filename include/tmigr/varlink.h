/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small blocking client of a Varlink service on a Unix socket: what the tool
 * talks to the daemon with.
 */
#ifndef TMIGR_VARLINK_H
#define TMIGR_VARLINK_H

#include <stdbool.h>

#include <jansson.h>

#include "tmigr/err.h"

#define TMIGR_SOCKET	"/run/tmigr/tmigrd.sock"
#define TMIGR_INTERFACE "org.tmigrd"

struct tmigr_varlink;

/* -ENOENT, -ECONNREFUSED: nobody serves there; -EACCES: the user may not. */
int tmigr_varlink_connect(const char *path, struct tmigr_varlink **ret, struct tmigr_err *err);
void tmigr_varlink_close(struct tmigr_varlink *v); /* NULL is fine */
/* For poll(2): readable when a reply comes, or the service is gone. */
int tmigr_varlink_fd(const struct tmigr_varlink *v);
/* A whole reply has been read already: poll(2) does not tell of it. */
bool tmigr_varlink_pending(const struct tmigr_varlink *v);
/* Reads what is there, without waiting: then tmigr_varlink_pending() tells whether
 * it makes a whole reply.  Errors as of a call. */
int tmigr_varlink_peek(struct tmigr_varlink *v, struct tmigr_err *err);

/*
 * Calls @method ("org.tmigrd.Status") and waits for its reply.  @params is
 * borrowed and may be NULL.
 * *@ret_params (optional) is a new reference.
 *
 * -EREMOTEIO: the service answers with an error, tmigr_varlink_error() is its
 * name.  -ECONNRESET: it is gone.  -EPROTO: what it sends is not Varlink.
 */
int tmigr_varlink_call(struct tmigr_varlink *v, const char *method, json_t *params,
		       json_t **ret_params, struct tmigr_err *err);

/* The first half of a call: its reply is what tmigr_varlink_next() gives. */
int tmigr_varlink_send(struct tmigr_varlink *v, const char *method, json_t *params,
		       struct tmigr_err *err);

/* A call with a stream of replies: send it, then take one after the other.
 * *@ret_more false: that was the last. */
int tmigr_varlink_start(struct tmigr_varlink *v, const char *method, json_t *params,
			struct tmigr_err *err);
int tmigr_varlink_next(struct tmigr_varlink *v, json_t **ret_params, bool *ret_more,
		       struct tmigr_err *err);

/* Of the last -EREMOTEIO: its name ("org.tmigrd.ShuttingDown"), parameters
 * (borrowed). */
const char *tmigr_varlink_error(const struct tmigr_varlink *v);
const json_t *tmigr_varlink_error_params(const struct tmigr_varlink *v);

#endif
