// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tmigr.h"
#include "tmigr/base64.h"
#include "tmigr/info.h"

/* ---- options ---- */

bool daemon_option(struct daemon_opts *o, const char *verb, int c, int *ret)
{
	*ret = 0;
	if (c == OPT_NO_DAEMON)
		o->never = true;
	else if (c == OPT_SOCKET && !*optarg)
		*ret = tool_usage(verb, "--socket: the path is empty");
	else if (c == OPT_SOCKET)
		o->socket = optarg;
	else
		return false;
	return true;
}

int daemon_check_options(const struct daemon_opts *o, const char *verb)
{
	if (o->socket && o->never)
		return tool_usage(verb, "either --socket or --no-daemon");
	return 0;
}

const char *daemon_default_socket(void)
{
	const char *path = getenv("TMIGR_SOCKET");

	return path && *path ? path : TMIGR_SOCKET;
}

/* ---- wording ---- */

/* Who may: the group that the socket belongs to. */
static int refused(const char *path, int ret, struct tmigr_err *err)
{
	const struct group *g = NULL;
	const char *name = "tmigr";
	struct stat st = {.st_gid = (gid_t)-1};

	if (stat(path, &st) == 0 && st.st_gid == 0)
		return tmigr_fail(
			err, ret,
			"%s: the daemon lets in only root, for there was no group '%s' when "
			"it was started: groupadd -r %s, usermod -aG %s USER, start it again",
			path, name, name, name);
	g = getgrgid(st.st_gid);
	if (g)
		name = g->gr_name;
	return tmigr_fail(err, ret,
			  "%s: the daemon lets in only root and the group '%s': join it (usermod "
			  "-aG %s USER, then log in again), or be root",
			  path, name, name);
}

int daemon_silent(const struct daemon *d, struct tmigr_err *err)
{
	return tmigr_fail(err, -ETIMEDOUT, "%s: the daemon has been silent for %d s", d->path,
			  DAEMON_SILENCE_MS / 1000);
}

bool daemon_says(const struct daemon *d, const char *name)
{
	return !strcmp(tmigr_varlink_error(d->link), name);
}

/* What went wrong with a call, in words; @why is the library's. */
static int explain(const struct daemon *d, int ret, const struct tmigr_err *why,
		   struct tmigr_err *err)
{
	if (ret == -EAGAIN)
		return daemon_silent(d, err);
	if (ret == -EREMOTEIO && daemon_says(d, "org.varlink.service.PermissionDenied"))
		return refused(d->path, -EACCES, err);
	if (ret == -EREMOTEIO && daemon_says(d, TMIGR_INTERFACE ".ShuttingDown"))
		return tmigr_fail(err, -ECONNRESET, "%s: the daemon was stopped", d->path);
	if (ret == -EPROTO)
		return tmigr_fail(err, ret, "%s: what answers there is no tmigrd", d->path);
	return tmigr_fail(err, ret, "%s: %s", d->path, why->text);
}

/* ---- calls ---- */

static int start(struct daemon *d, const char *method, json_t *params, bool more,
		 struct tmigr_err *err)
{
	char name[64];
	struct tmigr_err why = {""};
	int ret;

	snprintf(name, sizeof(name), TMIGR_INTERFACE ".%s", method);
	ret = more ? tmigr_varlink_start(d->link, name, params, &why)
		   : tmigr_varlink_send(d->link, name, params, &why);
	return ret < 0 ? explain(d, ret, &why, err) : 0;
}

int daemon_send(struct daemon *d, const char *method, json_t *params, struct tmigr_err *err)
{
	return start(d, method, params, false, err);
}

int daemon_stream(struct daemon *d, const char *method, json_t *params, struct tmigr_err *err)
{
	return start(d, method, params, true, err);
}

int daemon_next(struct daemon *d, json_t **ret_params, bool *ret_more, struct tmigr_err *err)
{
	struct tmigr_err why = {""};
	int ret = tmigr_varlink_next(d->link, ret_params, ret_more, &why);

	return ret < 0 ? explain(d, ret, &why, err) : 0;
}

int daemon_reply(struct daemon *d, json_t **ret_params, struct tmigr_err *err)
{
	return daemon_next(d, ret_params, NULL, err);
}

int daemon_call(struct daemon *d, const char *method, json_t *params, json_t **ret_params,
		struct tmigr_err *err)
{
	int ret = daemon_send(d, method, params, err);

	return ret < 0 ? ret : daemon_reply(d, ret_params, err);
}

int daemon_has_reply(struct daemon *d, struct tmigr_err *err)
{
	struct tmigr_err why = {""};
	int ret = tmigr_varlink_pending(d->link) ? 0 : tmigr_varlink_peek(d->link, &why);

	return ret < 0 ? explain(d, ret, &why, err) : tmigr_varlink_pending(d->link);
}

int daemon_data(const struct daemon *d, const json_t *params, void **ret, size_t *ret_n,
		struct tmigr_err *err)
{
	const json_t *json = json_object_get(params, "data");
	size_t size = json_string_length(json);
	void *data;

	if (!json) {
		*ret = NULL;
		*ret_n = 0;
		return 0;
	}
	data = malloc(size + 1);
	if (!data)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	if (!json_is_string(json) ||
	    tmigr_base64_decode(json_string_value(json), size, data, ret_n) < 0) {
		free(data);
		return tmigr_fail(err, -EPROTO, "%s: a piece of its recording is not base64",
				  d->path);
	}
	*ret = data;
	return 0;
}

/* ---- finding it ---- */

/*
 * The process behind the next message; 0 unknown.  Not SO_PEERCRED: where the
 * service manager made the socket, that is the service manager.
 */
static pid_t sender(int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr h = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.buf,
			   .msg_controllen = sizeof(control.buf)};
	struct ucred cred = {.pid = 0};
	const struct cmsghdr *m;

	if (recvmsg(fd, &h, MSG_PEEK | MSG_CMSG_CLOEXEC) <= 0)
		return 0;
	m = CMSG_FIRSTHDR(&h);
	if (m && m->cmsg_level == SOL_SOCKET && m->cmsg_type == SCM_CREDENTIALS)
		memcpy(&cred, CMSG_DATA(m), sizeof(cred));
	return cred.pid;
}

static void name_engine(struct daemon *d, pid_t pid)
{
	const char *version = json_string_value(json_object_get(d->status, "version"));

	tmigr_info_daemon(d->engine, sizeof(d->engine), version ? version : "?", (long)pid);
}

static int greet(struct daemon *d, struct tmigr_err *err)
{
	const struct timeval limit = {.tv_sec = DAEMON_SILENCE_MS / 1000};
	int fd = tmigr_varlink_fd(d->link), on = 1, ret;
	pid_t pid;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	ret = daemon_send(d, "Status", NULL, err);
	if (ret < 0)
		return ret;
	pid = sender(fd);
	ret = daemon_reply(d, &d->status, err);
	if (ret < 0)
		return ret;
	if (!json_is_boolean(json_object_get(d->status, "timer_migration_hierarchy")))
		return explain(d, -EPROTO, NULL, err);
	name_engine(d, pid);
	return 0;
}

static bool nobody_there(int ret)
{
	return ret == -ENOENT || ret == -ECONNREFUSED || ret == -ENOTDIR;
}

static int connect_to(const struct daemon_opts *o, struct daemon **ret, struct tmigr_err *err)
{
	struct daemon *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	d->path = o->socket ? o->socket : daemon_default_socket();
	r = tmigr_varlink_connect(d->path, &d->link, err);
	if (nobody_there(r))
		tmigr_fail(err, r, "%s: no daemon answers there (%s); is tmigrd running?", d->path,
			   strerror(-r));
	else if (r == -EACCES || r == -EPERM)
		r = refused(d->path, -EACCES, err);
	else if (!r)
		r = greet(d, err);
	if (r < 0) {
		daemon_close(d);
		return r;
	}
	*ret = d;
	return 0;
}

/* May attach BPF programs without any daemon's help. */
static bool privileged(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};
	__u64 have, bpf = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;

	if (syscall(SYS_capget, &head, caps))
		return false;
	have = caps[0].effective | (__u64)caps[1].effective << 32;
	return (have & bpf) == bpf || (have >> CAP_SYS_ADMIN & 1);
}

int daemon_find(const struct daemon_opts *o, struct daemon **ret, struct tmigr_err *err)
{
	int r;

	*ret = NULL;
	if (o->never)
		return 0;
	r = connect_to(o, ret, err);
	if (r < 0 && !o->socket && (nobody_there(r) || (r == -EACCES && privileged())))
		return 0;
	return r;
}

int daemon_need(const struct daemon_opts *o, struct daemon **ret, struct tmigr_err *err)
{
	return connect_to(o, ret, err);
}

void daemon_close(struct daemon *d)
{
	if (!d)
		return;
	tmigr_varlink_close(d->link);
	json_decref(d->status);
	free(d);
}

/* ---- the machine ---- */

int daemon_same_cpus(const struct tmigr_topology *a, const struct tmigr_topology *b,
		     struct tmigr_err *err)
{
	bool same = a->n_cpus == b->n_cpus;

	for (size_t i = 0; same && i < a->n_cpus; i++)
		same = a->cpus[i].cpu == b->cpus[i].cpu;
	return same ? 0 : tmigr_fail(err, -EIO, "the CPUs are not the same as before");
}

int daemon_topology(struct daemon *d, const char *const *classes, size_t n_classes,
		    struct tmigr_topology **ret, struct tmigr_err *err)
{
	struct tmigr_topology *theirs = NULL, *ours = NULL;
	struct tmigr_err why = {""};
	json_t *params = NULL;
	int r = daemon_call(d, "Topology", NULL, &params, err);

	if (r < 0)
		return r;
	r = tmigr_topology_from_json(json_object_get(params, "topology"), &theirs, &why);
	json_decref(params);
	if (r < 0)
		return tmigr_fail(err, -EIO, "%s: not a tmigrd's answer: %s", d->path, why.text);
	if (!n_classes) {
		*ret = theirs;
		return 0;
	}
	r = tmigr_topology_read(NULL, classes, n_classes, &ours, err);
	if (r == 0)
		r = daemon_same_cpus(ours, theirs, err);
	tmigr_topology_free(theirs);
	if (r < 0) {
		tmigr_topology_free(ours);
		return r;
	}
	*ret = ours;
	return 0;
}
