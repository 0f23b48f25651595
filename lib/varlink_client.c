// SPDX-License-Identifier: GPL-2.0-or-later
#include "tmigr/varlink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A report of 4096 CPUs is about 20 MiB. */
#define REPLY_MAX (256u << 20)
#define READ_STEP ((size_t)64 << 10)

struct tmigr_varlink {
	int fd;
	char *in;
	size_t n, cap;
	size_t seen;   /* bytes of in[] without a NUL */
	json_t *error; /* the last error reply */
};

/* ---- life ---- */

int tmigr_varlink_connect(const char *path, struct tmigr_varlink **ret, struct tmigr_err *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct tmigr_varlink *v;
	int r;

	if (!*path || strlen(path) >= sizeof(addr.sun_path))
		return tmigr_fail(err, -ENAMETOOLONG,
				  "%s: no path of a socket, which has 1 to %zu bytes", path,
				  sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path));
	v = calloc(1, sizeof(*v));
	if (!v)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	v->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (v->fd < 0 || connect(v->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		r = -errno;
		tmigr_varlink_close(v);
		return tmigr_fail(err, r, "%s: cannot connect: %s", path, strerror(-r));
	}
	*ret = v;
	return 0;
}

void tmigr_varlink_close(struct tmigr_varlink *v)
{
	if (!v)
		return;
	if (v->fd >= 0)
		close(v->fd);
	json_decref(v->error);
	free(v->in);
	free(v);
}

int tmigr_varlink_fd(const struct tmigr_varlink *v)
{
	return v->fd;
}

bool tmigr_varlink_pending(const struct tmigr_varlink *v)
{
	return v->n > v->seen && memchr(v->in + v->seen, '\0', v->n - v->seen);
}

const char *tmigr_varlink_error(const struct tmigr_varlink *v)
{
	const char *name = json_string_value(json_object_get(v->error, "error"));

	return name ? name : "";
}

const json_t *tmigr_varlink_error_params(const struct tmigr_varlink *v)
{
	return json_object_get(v->error, "parameters");
}

/* ---- out ---- */

static int send_all(struct tmigr_varlink *v, const char *data, size_t size, struct tmigr_err *err)
{
	while (size) {
		ssize_t n = send(v->fd, data, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		/* What it said before it went may still be there to be read. */
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return 0;
		if (n < 0)
			return tmigr_fail(err, -errno, "cannot ask the daemon: %s",
					  strerror(errno));
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int send_call(struct tmigr_varlink *v, const char *method, json_t *params, bool more,
		     struct tmigr_err *err)
{
	json_t *call = json_pack("{ss}", "method", method);
	char *text = NULL;
	int ret;

	if (call && params)
		json_object_set(call, "parameters", params);
	if (call && more)
		json_object_set_new(call, "more", json_true());
	if (call)
		text = json_dumps(call, JSON_COMPACT);
	json_decref(call);
	if (!text)
		return tmigr_fail(err, -ENOMEM, "no memory to ask the daemon");
	ret = send_all(v, text, strlen(text) + 1, err);
	free(text);
	return ret;
}

/* ---- in ---- */

/* @flags: of recv(2).  -EAGAIN with MSG_DONTWAIT, or when the socket's limit is over. */
static int read_some(struct tmigr_varlink *v, int flags, struct tmigr_err *err)
{
	ssize_t n;

	if (v->cap - v->n < READ_STEP) {
		size_t cap = v->cap ? v->cap * 2 : 2 * READ_STEP;
		char *in = cap <= REPLY_MAX ? realloc(v->in, cap) : NULL;

		if (!in)
			return tmigr_fail(err, -ENOMEM, "no memory for the daemon's answer");
		v->in = in;
		v->cap = cap;
	}
	do {
		n = recv(v->fd, v->in + v->n, READ_STEP, flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno != ECONNRESET)
		return tmigr_fail(err, -errno, "cannot hear the daemon: %s", strerror(errno));
	if (n <= 0)
		return tmigr_fail(err, -ECONNRESET, "the daemon is gone");
	v->n += (size_t)n;
	return 0;
}

int tmigr_varlink_peek(struct tmigr_varlink *v, struct tmigr_err *err)
{
	int ret = read_some(v, MSG_DONTWAIT, err);

	return ret == -EAGAIN ? 0 : ret;
}

/* Size of the first message in the buffer, without its NUL. */
static int wait_message(struct tmigr_varlink *v, size_t *ret_size, struct tmigr_err *err)
{
	for (;;) {
		char *nul = v->n > v->seen ? memchr(v->in + v->seen, '\0', v->n - v->seen) : NULL;
		int ret;

		if (nul) {
			*ret_size = (size_t)(nul - v->in);
			return 0;
		}
		v->seen = v->n;
		ret = read_some(v, 0, err);
		if (ret < 0)
			return ret;
	}
}

static int take_reply(struct tmigr_varlink *v, json_t **ret, struct tmigr_err *err)
{
	size_t size = 0;
	json_error_t error;
	int r = wait_message(v, &size, err);

	if (r < 0)
		return r;
	*ret = json_loadb(v->in, size, JSON_REJECT_DUPLICATES, &error);
	v->n -= size + 1;
	v->seen = 0;
	memmove(v->in, v->in + size + 1, v->n);
	if (json_is_object(*ret))
		return 0;
	json_decref(*ret);
	return tmigr_fail(err, -EPROTO, "the daemon's answer is not Varlink");
}

/* An error reply: keeps it; the message has its name without the interface's,
 * and the reason where there is one. */
static int take_error(struct tmigr_varlink *v, json_t *reply, struct tmigr_err *err)
{
	const char *name = json_string_value(json_object_get(reply, "error"));
	json_t *params = json_object_get(reply, "parameters");
	const char *reason = json_string_value(json_object_get(params, "reason"));
	const char *dot = name ? strrchr(name, '.') : NULL;

	json_decref(v->error);
	v->error = json_incref(reply);
	return tmigr_fail(err, -EREMOTEIO, "the daemon answers %s%s%s", dot ? dot + 1 : "an error",
			  reason ? ": " : "", reason ? reason : "");
}

int tmigr_varlink_next(struct tmigr_varlink *v, json_t **ret_params, bool *ret_more,
		       struct tmigr_err *err)
{
	json_t *reply = NULL, *params;
	int ret = take_reply(v, &reply, err);

	if (ret < 0)
		return ret;
	params = json_object_get(reply, "parameters");
	if (json_object_get(reply, "error")) {
		ret = take_error(v, reply, err);
	} else {
		if (ret_params)
			*ret_params = json_is_object(params) ? json_incref(params) : json_object();
		if (ret_more)
			*ret_more = json_is_true(json_object_get(reply, "continues"));
	}
	json_decref(reply);
	return ret;
}

int tmigr_varlink_send(struct tmigr_varlink *v, const char *method, json_t *params,
		       struct tmigr_err *err)
{
	return send_call(v, method, params, false, err);
}

int tmigr_varlink_start(struct tmigr_varlink *v, const char *method, json_t *params,
			struct tmigr_err *err)
{
	return send_call(v, method, params, true, err);
}

int tmigr_varlink_call(struct tmigr_varlink *v, const char *method, json_t *params,
		       json_t **ret_params, struct tmigr_err *err)
{
	int ret = send_call(v, method, params, false, err);

	return ret < 0 ? ret : tmigr_varlink_next(v, ret_params, NULL, err);
}
