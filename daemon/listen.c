// SPDX-License-Identifier: GPL-2.0-or-later
/* The socket: the service manager's, or one of our own. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tmigrd.h"

#define LISTEN_FD_FIRST 3
#define ACCEPT_ROUND	16
#define TELL_NS		(60 * NS_PER_SEC)
#ifndef SO_PASSRIGHTS /* Linux 6.16 */
#define SO_PASSRIGHTS 83
#endif

/* ---- accepting ---- */

/* A short answer to one who is not let in; the socket buffer takes it. */
static void refuse(int fd, const char *text)
{
	if (send(fd, text, strlen(text) + 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_line(LOG_DEBUG, "a refused client did not wait: %m");
	close(fd);
}

static void take(struct tmigrd *d, int fd)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0) {
		close(fd);
		return;
	}
	if (!cred_may(fd, &cred, d->listener.gid))
		refuse(fd, "{\"error\":\"" SERVICE ".PermissionDenied\",\"parameters\":{}}");
	else if (d->clients.n >= d->opts->max_clients)
		refuse(fd, "{\"error\":\"" INTERFACE ".TooManyClients\",\"parameters\":{}}");
	else if (client_new(d, fd, &cred) < 0)
		log_line(LOG_ERR, "no memory for another client");
}

/* Connections wait in the kernel's queue until a descriptor is free: tried again
 * when a client goes, and at each drain. */
static void pause_listening(struct tmigrd *d)
{
	__u64 now = tmigr_now_ns();

	/* Each drain tries again: not told every time. */
	if (!d->listener.told_ns || now - d->listener.told_ns >= TELL_NS) {
		log_line(LOG_WARNING, "no more clients for now: %m");
		d->listener.told_ns = now;
	}
	d->listener.paused = true;
	loop_mod(&d->loop, &d->listener.src, 0);
}

static void on_connect(struct source *s, uint32_t events)
{
	struct listener *l = (struct listener *)((char *)s - offsetof(struct listener, src));
	struct tmigrd *d = (struct tmigrd *)((char *)l - offsetof(struct tmigrd, listener));

	(void)events;
	for (int i = 0; i < ACCEPT_ROUND; i++) {
		int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			take(d, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			pause_listening(d);
		if (errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

void listen_resume(struct tmigrd *d)
{
	if (!d->listener.paused || d->listener.src.fd < 0)
		return;
	d->listener.paused = false;
	loop_mod(&d->loop, &d->listener.src, EPOLLIN);
}

/* ---- the service manager's ---- */

static bool is_for_us(const char *name, long want)
{
	const char *text = getenv(name);
	char *end;
	long n;

	if (!text || !*text)
		return false;
	n = strtol(text, &end, 10);
	return !*end && n == want;
}

/* The descriptor that was passed; -1 none. */
static int passed_fd(void)
{
	int fd = LISTEN_FD_FIRST, family = 0, listening = 0, flags;
	socklen_t size = sizeof(int);
	bool ours = is_for_us("LISTEN_PID", (long)getpid()) && is_for_us("LISTEN_FDS", 1);

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (!ours)
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) || family != AF_UNIX ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) || !listening) {
		log_line(LOG_WARNING, "what LISTEN_FDS passes is no listening AF_UNIX socket; it "
				      "is not used");
		return -1;
	}
	flags = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	return fd;
}

/* ---- our own ---- */

static int fail(const char *path, const char *what, int err)
{
	log_line(LOG_ERR, "%s: %s: %s", path, what, strerror(err));
	return -err;
}

/* Held for as long as the process lives, whatever ends it. */
static int take_lock(struct listener *l)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s.lock", l->path);
	l->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->lock_fd < 0 && errno == ENOENT)
		return fail(path, "no such folder: --socket names another place", errno);
	if (l->lock_fd < 0)
		return fail(path, "cannot create the lock", errno);
	if (flock(l->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK) {
		log_line(LOG_ERR, "%s: another tmigrd serves this socket", l->path);
		return -EADDRINUSE;
	}
	return fail(path, "cannot lock", errno);
}

/* What is left at the path of one that was killed goes away; nothing else. */
static int clear_path(const struct sockaddr_un *addr)
{
	struct stat st;
	int fd, ret;

	if (lstat(addr->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : fail(addr->sun_path, "cannot be looked at", errno);
	if (!S_ISSOCK(st.st_mode))
		return fail(addr->sun_path, "is no socket, and stays", EEXIST);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail(addr->sun_path, "no socket", errno);
	ret = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ? errno : 0;
	close(fd);
	if (ret != ECONNREFUSED)
		return fail(addr->sun_path, "somebody listens there", EADDRINUSE);
	if (unlink(addr->sun_path) < 0)
		return fail(addr->sun_path, "cannot be removed", errno);
	return 0;
}

static int bind_path(struct listener *l, const struct sockaddr_un *addr)
{
	mode_t old = umask(0177);
	int ret = bind(l->src.fd, (const struct sockaddr *)addr, sizeof(*addr)) ? errno : 0;

	umask(old);
	if (ret)
		return fail(l->path, "cannot bind", ret);
	l->bound = true;
	if (l->gid && chown(l->path, (uid_t)-1, l->gid) < 0)
		return fail(l->path, "cannot give it to the group " TMIGRD_GROUP, errno);
	if (chmod(l->path, 0660) < 0)
		return fail(l->path, "cannot set its mode", errno);
	return 0;
}

static void make_folder(const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return;
	*slash = '\0';
	mkdir(dir, 0755); /* what is wrong shows when it is used */
}

static int own_socket(struct listener *l)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int ret;

	if (!*l->path || strlen(l->path) >= sizeof(addr.sun_path))
		return fail(l->path, "no path for a socket", ENAMETOOLONG);
	memcpy(addr.sun_path, l->path, strlen(l->path));
	make_folder(l->path);
	ret = take_lock(l);
	if (!ret)
		ret = clear_path(&addr);
	if (ret)
		return ret;
	l->src.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->src.fd < 0)
		return fail(l->path, "no socket", errno);
	ret = bind_path(l, &addr);
	if (!ret && listen(l->src.fd, SOMAXCONN) < 0)
		ret = fail(l->path, "cannot listen", errno);
	return ret;
}

static gid_t group_id(void)
{
	struct group *g = getgrnam(TMIGRD_GROUP);

	return g ? g->gr_gid : 0;
}

/*
 * No descriptor is taken from anybody: of a file whose server hangs (FUSE, a
 * network's) even close(2) waits, and so does a write to a pipe whose other end's
 * owner sees to it.  Since Linux 6.16 the sender gets an error, in connections that
 * were not accepted yet too; before, the kernel drops what comes, without a
 * close(2), for recv(2) has no place for it.
 */
static void refuse_descriptors(int fd)
{
	const int off = 0;

	setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
}

int listen_open(struct tmigrd *d)
{
	struct listener *l = &d->listener;
	int ret;

	*l = (struct listener){.src = {.fd = passed_fd(), .fn = on_connect},
			       .lock_fd = -1,
			       .path = d->opts->socket,
			       .gid = group_id()};
	ret = l->src.fd >= 0 ? 0 : own_socket(l);
	if (ret == 0)
		refuse_descriptors(l->src.fd);
	return ret;
}

void listen_close(struct tmigrd *d)
{
	struct listener *l = &d->listener;

	if (l->src.fd >= 0) {
		close(l->src.fd);
		if (l->bound && unlink(l->path) < 0)
			log_line(LOG_WARNING, "%s: cannot be removed: %m", l->path);
	}
	l->src.fd = -1;
	if (l->lock_fd >= 0)
		close(l->lock_fd);
	l->lock_fd = -1;
}
