/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tmigrd: one thread, one engine, many clients.
 *
 *   main.c      options, life of the process     cred.c     who may; capabilities
 *   serve.c     the rounds: drain, samples       listen.c   the socket
 *   loop.c      epoll                            notify.c   the service manager
 *   client.c    one connection                   log.c      messages
 *   request.c   a request, checked               msg.c      bytes on their way out
 *   methods*.c  the interface                    windows.c  windows of clients
 *   feed.c      samples for subscribers          flight.c   the flight recorder
 *   record.c    recordings of windows            marks.c    named instants
 *   topology.c  CPUs that come online            metrics.c  OpenMetrics text
 */
#ifndef TMIGRD_H
#define TMIGRD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <syslog.h>

#include <jansson.h>

#include "client.h"
#include "loop.h"
#include "tmigr/engine.h"
#include "tmigr/housekeeping.h"
#include "tmigr/topology.h"

#define TMIGRD_GROUP "tmigr"

struct tmigrd_opts {
	const char *socket; /* of the flag, or the default */
	__u64 drain_ns;
	__u64 flight_ns;
	size_t flight_bytes;
	unsigned int max_clients;
	size_t window_bytes; /* of all clients' windows */
	const char *root;    /* of sysfs; NULL: the running machine's. Tests. */
	int housekeeping;    /* -1: chosen */
	enum tmigr_source source;
	bool foreground;
	const char **classes;
	size_t n_classes;
};

/* ---- log.c ---- */
/* To stderr with the journal's priorities, or to syslog once detached. */
void log_line(int priority, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_to_syslog(void);

/* ---- listen.c ---- */
struct listener {
	struct source src; /* fd -1: none */
	int lock_fd;	   /* -1: the service manager made the socket */
	const char *path;
	gid_t gid;     /* whose members may; 0: root only */
	bool bound;    /* the path is ours to remove */
	bool paused;   /* no descriptor left: tried again at resume */
	__u64 told_ns; /* when that was last said */
};

/* The service manager's socket, or one of our own at d->opts->socket. */
int listen_open(struct tmigrd *d);
void listen_resume(struct tmigrd *d);
void listen_close(struct tmigrd *d);

/* ---- cred.c ---- */
/* root, the daemon's own user, or a member of @gid (0: nobody more). */
bool cred_may(int fd, const struct ucred *cred, gid_t gid);
/* No capability from here on, no new ones, no core file of others' data. */
int cred_drop(void);

/* ---- notify.c ---- */
void notify(const char *state);

/* ---- marks.c ---- */
struct mark {
	__u64 t_ns;
	char *text;
};

/* The last MARKS_MAX of them, oldest first. */
#define MARKS_MAX     1024
#define MARK_TEXT_MAX 1024
struct marks {
	struct mark *ring;
	size_t first, n;
};

/* @text is copied; the oldest goes where there are MARKS_MAX.  0 or -ENOMEM. */
int marks_add(struct marks *m, __u64 t_ns, const char *text);
/* [{"time_ns", "text"}] of those in [from, to). NULL: no memory. */
json_t *marks_json(const struct marks *m, __u64 from_ns, __u64 to_ns);
void marks_free(struct marks *m);

struct dump;
struct flight;
struct feed;
struct window;

struct tmigrd {
	const struct tmigrd_opts *opts;
	struct loop loop;
	struct source signals;
	struct listener listener;
	struct clients clients;
	bool stop;
	int failed; /* exit status */

	struct source ends; /* of recordings that end at a given time */

	struct tmigr_topology *topo; /* as at the start: the engine's */
	struct tmigr_topology *late; /* with what was learnt since; NULL: nothing */
	char *online;		     /* CPUs, when they were last looked at */
	bool look_again;

	struct tmigr_engine *engine;
	struct tmigr_window *base; /* since the start */
	char start_time[40];
	struct tmigr_housekeeping housekeeping;
	int cpu;      /* -1: not pinned */
	json_t *info; /* of reports: tool, kernel, machine, ... */

	__u64 start_ns;
	__u64 next_drain_ns;
	__u64 drains;

	struct window *windows;
	unsigned int n_windows;
	__u64 last_window;
	struct feed *feeds;
	struct flight *flight;
	struct dump *dumps; /* under way */
	unsigned int n_dumps;
	struct marks marks;
};

/* ---- serve.c ---- */
/* Engine, base window, flight recorder. */
int serve_start(struct tmigrd *d);
void serve_run(struct tmigrd *d);
void serve_end(struct tmigrd *d);
/* Empties the buffers now. */
int serve_drain(struct tmigrd *d, struct tmigr_err *err);

/* ---- topology.c ---- */
/* CPUs, classes and idle states as they are known, and which CPUs are online, now: for a
 * window to begin with; owned by the caller.  NULL: no memory. */
struct tmigr_topology *topology_now(const struct tmigrd *d);
/* For the report of a window that began with @start: what is known now, but CPUs online
 * as they were then; owned by the caller.  NULL: no memory. */
struct tmigr_topology *topology_since(const struct tmigrd *d, const struct tmigr_topology *start);
/* Looks for CPUs that came online. */
void topology_follow(struct tmigrd *d);
/* The head of a recording that begins at @start_ns with @start; NULL: no memory. */
json_t *topology_meta(const struct tmigrd *d, const struct tmigr_topology *start, __u64 start_ns,
		      const char *start_time);
/* To the end of a recording that began with @start: what was learnt since.  -ENOMEM. */
int topology_add_late(const struct tmigrd *d, const struct tmigr_topology *start, json_t *end);
void topology_free(struct tmigrd *d);

/* ---- windows.c ---- */
/* Those of a client that goes. */
void windows_drop(struct tmigrd *d, struct client *c);

#endif
