// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.dat, by libtracecmd.  A file is anybody's, and libtracecmd trusts it:
 * version 3.1.6 crashes on some that are cut off or damaged.  So a process of its
 * own reads it; if that dies, the file is damaged, and what came before stays.
 */
#include "tracedat_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tmigr/err.h"

#define SILENCE_MS 120000 /* a damaged file may make the reader spin */

static const char magic[] = "\x17\x08\x44tracing";

struct dat {
	struct tmigr_traced_source src;
	char *path;
	char format[40];
	pid_t child;
	int in;
	struct tmigr_traced evs[DAT_BATCH]; /* of the last message */
	size_t n, next;
	__u64 watermark_ns; /* told with them */
	__u64 events;
	bool hello, done;
};

/* 1: a version that can be read; *@ret_version is the file's own word. */
static int check_head(int fd, const char *path, char ret_version[16], struct tmigr_err *err)
{
	char head[32] = {0};
	ssize_t n = pread(fd, head, sizeof(head) - 1, 0);

	if (n < 0)
		return tmigr_fail(err, -errno, "%s: cannot be read: %s", path, strerror(errno));
	if ((size_t)n < sizeof(magic) + 1 || memcmp(head, magic, sizeof(magic) - 1) != 0)
		return tmigr_fail(err, -EINVAL, "%s: is no trace.dat", path);
	snprintf(ret_version, 16, "%.15s", head + sizeof(magic) - 1);
	if (strcmp(ret_version, "6") != 0 && strcmp(ret_version, "7") != 0)
		return tmigr_fail(err, -EINVAL,
				  "%s: is a trace.dat of version '%.10s': 6 and 7 can be read",
				  path, ret_version);
	return 0;
}

/* ---- messages ---- */

/* Whole, or as much as came before the end. */
static ssize_t take(struct dat *d, void *buf, size_t size)
{
	size_t got = 0;

	while (got < size) {
		struct pollfd p = {.fd = d->in, .events = POLLIN};
		int ready = poll(&p, 1, SILENCE_MS);
		ssize_t n;

		if (ready == 0)
			return -ETIMEDOUT;
		n = ready < 0 ? -1 : read(d->in, (char *)buf + got, size - got);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		if (n > 0)
			got += (size_t)n;
	}
	return (ssize_t)got;
}

/* It said nothing more and is not done: how it ended. */
static int ended_early(struct dat *d, ssize_t ret, struct tmigr_err *err)
{
	char why[64] = "it stops in the middle";
	int status = 0;

	if (ret == -ETIMEDOUT) {
		snprintf(why, sizeof(why), "reading it makes no progress");
		kill(d->child, SIGKILL);
	}
	while (waitpid(d->child, &status, 0) < 0 && errno == EINTR)
		;
	d->child = 0;
	d->done = true;
	if (ret != -ETIMEDOUT && WIFSIGNALED(status))
		snprintf(why, sizeof(why), "reading it ends in signal %d", WTERMSIG(status));
	if (!d->events)
		return tmigr_fail(err, -EINVAL, "%s: is damaged or cut off: %s", d->path, why);
	snprintf(d->src.partial, sizeof(d->src.partial),
		 "%.300s: is damaged or cut off: %s, after %llu events", d->path, why,
		 (unsigned long long)d->events);
	return 0;
}

static int on_hello(struct dat *d, const struct dat_hello *h)
{
	d->src.n_cpus = h->n_cpus;
	d->src.resolution_ns = 1;
	memcpy(d->src.clock, h->clock, sizeof(d->src.clock));
	memcpy(d->src.kernel, h->kernel, sizeof(d->src.kernel));
	memcpy(d->src.machine, h->machine, sizeof(d->src.machine));
	memcpy(d->src.host, h->host, sizeof(d->src.host));
	d->hello = true;
	return 0;
}

static int on_done(struct dat *d, const struct dat_done *done)
{
	d->src.skipped = done->skipped;
	memcpy(d->src.partial, done->partial, sizeof(d->src.partial));
	d->done = true;
	return 0;
}

/* One message.  0, or negative with *err told. */
static int receive(struct dat *d, struct tmigr_err *err)
{
	union {
		struct dat_hello hello;
		struct dat_done done;
		char line[TMIGR_ERR_MAX];
	} u;
	struct dat_head head;
	void *to = &u;
	ssize_t n;

	n = take(d, &head, sizeof(head));
	if (n != sizeof(head))
		return ended_early(d, n, err);
	if (head.msg == DAT_EVENTS)
		to = d->evs;
	if (head.bytes > (head.msg == DAT_EVENTS ? sizeof(d->evs) : sizeof(u)))
		return ended_early(d, -EPROTO, err);
	n = take(d, to, head.bytes);
	if (n != (ssize_t)head.bytes)
		return ended_early(d, n, err);
	switch (head.msg) {
	case DAT_HELLO:
		return on_hello(d, &u.hello);
	case DAT_EVENTS:
		d->n = head.bytes / sizeof(d->evs[0]);
		d->next = 0;
		d->events += d->n;
		d->watermark_ns = head.watermark_ns;
		return 0;
	case DAT_DONE:
		return on_done(d, &u.done);
	default:
		d->done = true;
		u.line[sizeof(u.line) - 1] = '\0';
		return tmigr_fail(err, -EINVAL, "%s", u.line);
	}
}

/* ---- as a source ---- */

static ssize_t dat_read(struct tmigr_traced_source *src, struct tmigr_traced *evs, size_t max,
			__u64 *ret_watermark_ns, struct tmigr_err *err)
{
	struct dat *d = (struct dat *)src;
	size_t n;

	while (d->next == d->n && !d->done) {
		int ret = receive(d, err);

		if (ret < 0)
			return ret;
	}
	n = d->n - d->next < max ? d->n - d->next : max;
	memcpy(evs, d->evs + d->next, n * sizeof(*evs));
	d->next += n;
	/* Before the rest of a message is given, its watermark does not hold. */
	*ret_watermark_ns = d->next == d->n ? d->watermark_ns : 0;
	return (ssize_t)n;
}

static void dat_close(struct tmigr_traced_source *src)
{
	struct dat *d = (struct dat *)src;

	if (d->in >= 0)
		close(d->in);
	if (d->child) {
		kill(d->child, SIGKILL);
		while (waitpid(d->child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(d->path);
	free(d);
}

static int start_child(struct dat *d, int fd, struct tmigr_err *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return tmigr_fail(err, -errno, "%s: no pipe: %s", d->path, strerror(errno));
	d->in = fds[0];
	fcntl(fds[1], F_SETPIPE_SZ, 1 << 20);
	d->child = fork();
	if (d->child == 0) {
		close(fds[0]);
		tmigr_dat_child(fd, d->path, fds[1]);
	}
	close(fds[1]);
	if (d->child > 0)
		return 0;
	d->child = 0;
	return tmigr_fail(err, -errno, "%s: cannot start a process to read it: %s", d->path,
			  strerror(errno));
}

static struct dat *dat_new(const char *path)
{
	struct dat *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->in = -1;
	d->src.read = dat_read;
	d->src.close = dat_close;
	d->src.format = d->format;
	d->path = strdup(path);
	if (d->path)
		return d;
	free(d);
	return NULL;
}

int tmigr_dat_open_fd(const char *name, int fd, struct tmigr_traced_source **ret,
		      struct tmigr_err *err)
{
	char version[16];
	struct dat *d;
	int r;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return tmigr_fail(err, -ESPIPE,
				  "%s: a trace.dat cannot be read from a pipe: it is not read in "
				  "order",
				  name);
	r = check_head(fd, name, version, err);
	if (r)
		return r;
	d = dat_new(name);
	if (!d)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", name);
	snprintf(d->format, sizeof(d->format), "trace.dat version %s", version);
	r = start_child(d, fd, err);
	if (r) {
		dat_close(&d->src);
		return r;
	}
	*ret = &d->src;
	return 0;
}
