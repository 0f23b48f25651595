/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon, as the verbs see it: which one, whether it answers, calls with a
 * limit on how long it may be silent, and how an error is worded.
 */
#ifndef TMIGR_TOOL_DAEMON_H
#define TMIGR_TOOL_DAEMON_H

#include <getopt.h>
#include <stdbool.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/topology.h"
#include "tmigr/varlink.h"

/* --socket, --no-daemon */
struct daemon_opts {
	const char *socket; /* NULL: the default one */
	bool never;
};

enum { OPT_SOCKET = 1024, OPT_NO_DAEMON };

#define DAEMON_SOCKET_OPTION                                                                       \
	{                                                                                          \
		"socket", required_argument, NULL, OPT_SOCKET                                      \
	}
#define DAEMON_NEVER_OPTION                                                                        \
	{                                                                                          \
		"no-daemon", no_argument, NULL, OPT_NO_DAEMON                                      \
	}

#define DAEMON_SOCKET_HELP                                                                         \
	"      --socket PATH        the daemon's socket (else $TMIGR_SOCKET, else\n"               \
	"                           " TMIGR_SOCKET ")\n"
#define DAEMON_NEVER_HELP                                                                          \
	"      --no-daemon          measure with the tool's own engine, also where a daemon "      \
	"answers\n"

/* The path where no --socket says another. */
const char *daemon_default_socket(void);

/*
 * Takes the two options: true when @c is one of them, with *@ret the exit code
 * of a wrong value (told), else 0.
 */
bool daemon_option(struct daemon_opts *o, const char *verb, int c, int *ret);
/* What both together are: an exit code with the error told, or 0. */
int daemon_check_options(const struct daemon_opts *o, const char *verb);

struct daemon {
	struct tmigr_varlink *link;
	const char *path;
	json_t *status;	  /* of its Status() */
	char engine[128]; /* "tmigrd 0.1 (PID 123)" */
};

/*
 * The daemon that is to be used.  *@ret NULL: none, use the own engine.  That
 * is so with --no-daemon, where nobody listens on the default socket, and where
 * its daemon refuses one who may do without it.  <0: an error, worded.
 */
int daemon_find(const struct daemon_opts *o, struct daemon **ret, struct tmigr_err *err);
/* The same where there is no doing without. */
int daemon_need(const struct daemon_opts *o, struct daemon **ret, struct tmigr_err *err);
void daemon_close(struct daemon *d); /* NULL is fine */

/* tmigr_varlink_call() of "org.tmigrd.@method", errors worded. */
int daemon_call(struct daemon *d, const char *method, json_t *params, json_t **ret_params,
		struct tmigr_err *err);
/* Its two halves. */
int daemon_send(struct daemon *d, const char *method, json_t *params, struct tmigr_err *err);
int daemon_reply(struct daemon *d, json_t **ret_params, struct tmigr_err *err);
/* A call with a stream of replies, and one of these; *@ret_more false: the last. */
int daemon_stream(struct daemon *d, const char *method, json_t *params, struct tmigr_err *err);
int daemon_next(struct daemon *d, json_t **ret_params, bool *ret_more, struct tmigr_err *err);
/* 1: a whole reply is there; 0: not yet, without waiting. */
int daemon_has_reply(struct daemon *d, struct tmigr_err *err);
/* The bytes of a reply's `data`, owned by the caller (free); NULL: it has none. */
int daemon_data(const struct daemon *d, const json_t *params, void **ret, size_t *ret_n,
		struct tmigr_err *err);

/* The last error that it answered, by its whole name. */
bool daemon_says(const struct daemon *d, const char *name);

/* For poll(2) on what it sends by another way. */
#define DAEMON_SILENCE_MS 10000
/* -ETIMEDOUT: it has been silent for that long. */
int daemon_silent(const struct daemon *d, struct tmigr_err *err);

/*
 * CPUs and classes as the daemon has them, or, with @classes (--class), as sysfs
 * has them.  -EINVAL: a bad --class.
 */
int daemon_topology(struct daemon *d, const char *const *classes, size_t n_classes,
		    struct tmigr_topology **ret, struct tmigr_err *err);

/* -EIO: not the same numbers. */
int daemon_same_cpus(const struct tmigr_topology *a, const struct tmigr_topology *b,
		     struct tmigr_err *err);

#endif
