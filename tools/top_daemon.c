// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples from a daemon: its stream of reports on one connection, and on a
 * second one the hierarchy, asked for at each report.
 */
#include "top_source.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "tmigr/varlink.h"

#define NS_PER_MS 1000000ULL

struct daemon_source {
	struct tmigr_varlink *stream, *ask;
};

static void daemon_close(void *self)
{
	struct daemon_source *d = self;

	tmigr_varlink_close(d->stream);
	tmigr_varlink_close(d->ask);
	free(d);
}

static int subscribe(struct daemon_source *d, __u64 period_ns, struct tmigr_err *err)
{
	json_t *params = json_pack("{sI}", "period_ms", (json_int_t)(period_ns / NS_PER_MS));
	int r;

	if (!params)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	r = tmigr_varlink_start(d->stream, TMIGR_INTERFACE ".Subscribe", params, -1, err);
	json_decref(params);
	return r;
}

static int daemon_open(const struct top_source_opts *opts, void **ret_self, struct tmigr_err *err)
{
	const char *path = opts->socket ? opts->socket : TMIGR_SOCKET;
	struct daemon_source *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	r = tmigr_varlink_connect(path, &d->stream, err);
	if (!r)
		r = tmigr_varlink_connect(path, &d->ask, err);
	if (!r)
		r = subscribe(d, opts->period_ns, err);
	if (r) {
		daemon_close(d);
		return r == -EINVAL ? -EIO : r;
	}
	*ret_self = d;
	return 0;
}

static int daemon_fd(void *self)
{
	return tmigr_varlink_fd(((struct daemon_source *)self)->stream);
}

static bool has_reply(const struct daemon_source *d)
{
	struct pollfd p = {.fd = tmigr_varlink_fd(d->stream), .events = POLLIN};

	return tmigr_varlink_pending(d->stream) || poll(&p, 1, 0) > 0;
}

/* NULL where the daemon does not know (it answers with an error). */
static int tree_now(struct daemon_source *d, json_t **ret, struct tmigr_err *err)
{
	json_t *params = NULL;
	int r = tmigr_varlink_call(d->ask, TMIGR_INTERFACE ".Hierarchy", NULL, -1, &params, err);

	if (r == -EREMOTEIO)
		return 0;
	if (r)
		return r;
	*ret = json_incref(json_object_get(params, "tree"));
	json_decref(params);
	return 0;
}

static int daemon_next(void *self, struct top_sample *ret, struct tmigr_err *err)
{
	struct daemon_source *d = self;
	struct top_sample s = {0};
	json_t *params = NULL;
	bool more = false;
	int r;

	if (!has_reply(d))
		return 0;
	r = tmigr_varlink_next(d->stream, &params, &more, err);
	if (r)
		return r;
	s.report = json_incref(json_object_get(params, "report"));
	json_decref(params);
	/* Behind a stop (Ctrl-Z) several may wait: the present is the last one's. */
	if (!has_reply(d))
		r = tree_now(d, &s.tree, err);
	if (!r && !s.report)
		r = tmigr_fail(err, -EPROTO, "the daemon's answer has no report");
	if (!r && !more)
		r = tmigr_fail(err, -ECONNRESET, "the daemon ended the stream");
	if (r) {
		json_decref(s.report);
		json_decref(s.tree);
		return r;
	}
	*ret = s;
	return 1;
}

const struct top_source_ops top_daemon_ops = {
	.open = daemon_open,
	.fd = daemon_fd,
	.next = daemon_next,
	.close = daemon_close,
	.name = "daemon",
};
