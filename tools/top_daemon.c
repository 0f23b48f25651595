// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples from a daemon: its stream of reports on one connection, and on a
 * second one the hierarchy, asked for at each report.
 */
#include "top_source.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#define NS_PER_MS 1000000ULL

struct daemon_source {
	struct daemon *ask, *stream;
};

static void daemon_source_close(void *self)
{
	struct daemon_source *d = self;

	daemon_close(d->stream);
	daemon_close(d->ask);
	free(d);
}

static int subscribe(struct daemon_source *d, __u64 period_ns, struct tmigr_err *err)
{
	json_t *params = json_pack("{sI}", "period_ms", (json_int_t)(period_ns / NS_PER_MS));
	int r;

	if (!params)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	r = daemon_stream(d->stream, "Subscribe", params, err);
	json_decref(params);
	return r;
}

static int daemon_source_open(const struct top_source_opts *opts, struct daemon *daemon,
			      void **ret_self, struct tmigr_err *err)
{
	const struct daemon_opts same = {.socket = daemon->path};
	struct daemon_source *d = calloc(1, sizeof(*d));
	int r;

	if (!d) {
		daemon_close(daemon);
		return tmigr_fail(err, -ENOMEM, "out of memory");
	}
	d->ask = daemon;
	r = daemon_need(&same, &d->stream, err);
	if (!r)
		r = subscribe(d, opts->period_ns, err);
	if (r) {
		daemon_source_close(d);
		return r;
	}
	*ret_self = d;
	return 0;
}

static int daemon_source_fd(void *self)
{
	return tmigr_varlink_fd(((struct daemon_source *)self)->stream->link);
}

static bool has_reply(const struct daemon_source *d)
{
	struct pollfd p = {.fd = tmigr_varlink_fd(d->stream->link), .events = POLLIN};

	return tmigr_varlink_pending(d->stream->link) || poll(&p, 1, 0) > 0;
}

/* NULL where the daemon does not know: every CPU is busy. */
static int tree_now(struct daemon_source *d, json_t **ret, struct tmigr_err *err)
{
	json_t *params = NULL;
	int r = daemon_call(d->ask, "Hierarchy", NULL, &params, err);

	if (r == -EREMOTEIO)
		return 0;
	if (r)
		return r;
	*ret = json_incref(json_object_get(params, "tree"));
	json_decref(params);
	return 0;
}

static int daemon_source_next(void *self, struct top_sample *ret, struct tmigr_err *err)
{
	struct daemon_source *d = self;
	struct top_sample s = {0};
	json_t *params = NULL;
	int r;

	if (!has_reply(d))
		return 0;
	r = daemon_reply(d->stream, &params, err);
	if (r)
		return r;
	s.report = json_incref(json_object_get(params, "report"));
	json_decref(params);
	if (!s.report)
		return tmigr_fail(err, -EPROTO, "the daemon's answer has no report");
	/* Behind a stop (Ctrl-Z) several may wait: the present is the last one's. */
	if (!has_reply(d))
		r = tree_now(d, &s.tree, err);
	if (r) {
		json_decref(s.report);
		return r;
	}
	*ret = s;
	return 1;
}

static const char *daemon_source_name(void *self)
{
	return ((struct daemon_source *)self)->ask->engine;
}

const struct top_source_ops top_daemon_ops = {
	.open = daemon_source_open,
	.fd = daemon_source_fd,
	.next = daemon_source_next,
	.close = daemon_source_close,
	.name = daemon_source_name,
};
