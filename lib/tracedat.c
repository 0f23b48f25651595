// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.dat, by libtracecmd.  A file is anybody's, and libtracecmd trusts it:
 * version 3.1.6 crashes on some that are cut off or damaged.  So a process of its
 * own reads it; if that dies, the file is damaged, and what came before stays.
 */
#include "tracedat_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tmigr/err.h"
#include "tmigr/topology.h"

#define SILENCE_S 120 /* a damaged file may make the reader spin */

static const char magic[] = "\x17\x08\x44tracing";

struct dat {
	struct tmigr_traced_source src;
	char *path;
	char format[40];
	pid_t child; /* 0: none, or no more */
	int in;
	const struct dat_shared *shared;
	bool mapped;	    /* `shared` is a mapping of ours */
	unsigned int slot;  /* that the last message was of */
	bool holds;	    /* it was not given back */
	size_t n, next;	    /* events in it; of these, the next to be read */
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
		ssize_t n = read(d->in, (char *)buf + got, size - got);

		if (n < 0 && errno == EAGAIN)
			return -ETIMEDOUT;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		if (n > 0)
			got += (size_t)n;
	}
	return (ssize_t)got;
}

/* Waits for its end, or kills it where nobody asks for its @ret_status. */
static void end_child(struct dat *d, int *ret_status)
{
	if (!d->child)
		return;
	if (!ret_status)
		kill(d->child, SIGKILL);
	while (waitpid(d->child, ret_status, 0) < 0 && errno == EINTR)
		;
	d->child = 0;
}

/* It said nothing more and is not done: how it ended. */
static int ended_early(struct dat *d, ssize_t ret, struct tmigr_err *err)
{
	char why[64] = "it stops in the middle";
	int status = 0;

	if (ret == -ETIMEDOUT) {
		snprintf(why, sizeof(why), "reading it makes no progress");
		end_child(d, NULL);
	}
	end_child(d, &status);
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

/* Of a reader that may be broken, or of the file: maybe without a NUL, or no line. */
static void text(char *ret, size_t size, const char *from, size_t n)
{
	snprintf(ret, size, "%.*s", (int)n, from);
	tmigr_one_line(ret);
}

static int on_hello(struct dat *d, const struct dat_hello *h, struct tmigr_err *err)
{
	if (h->n_cpus > TMIGR_CPU_MAX + 1)
		return ended_early(d, -EPROTO, err);
	d->src.n_cpus = h->n_cpus;
	d->src.resolution_ns = 1;
	text(d->src.clock, sizeof(d->src.clock), h->clock, sizeof(h->clock));
	text(d->src.kernel, sizeof(d->src.kernel), h->kernel, sizeof(h->kernel));
	text(d->src.machine, sizeof(d->src.machine), h->machine, sizeof(h->machine));
	text(d->src.host, sizeof(d->src.host), h->host, sizeof(h->host));
	d->hello = true;
	return 0;
}

static int on_done(struct dat *d, const struct dat_done *done)
{
	d->src.skipped = done->skipped;
	text(d->src.partial, sizeof(d->src.partial), done->partial, sizeof(done->partial));
	text(d->src.buffers, sizeof(d->src.buffers), done->buffers, sizeof(done->buffers));
	d->done = true;
	return 0;
}

static int on_events(struct dat *d, const struct dat_head *head)
{
	d->slot = (d->slot + 1) % DAT_SLOTS;
	d->holds = true;
	d->n = head->n;
	d->next = 0;
	d->events += d->n;
	d->watermark_ns = head->watermark_ns;
	return 0;
}

/* The reader may write there again. */
static void give_back(struct dat *d)
{
	if (d->holds)
		send(d->in, "", 1, MSG_NOSIGNAL); /* (if it is gone, the next message tells) */
	d->holds = false;
}

/* One message.  0, or negative with *err told. */
static int receive(struct dat *d, struct tmigr_err *err)
{
	union {
		struct dat_hello hello;
		struct dat_done done;
		char line[TMIGR_ERR_MAX];
	} u = {.hello = {0}};
	struct dat_head head;
	ssize_t n;

	give_back(d);
	n = take(d, &head, sizeof(head));
	if (n != sizeof(head))
		return ended_early(d, n, err);
	if (head.msg == DAT_EVENTS && head.n <= DAT_BATCH)
		return on_events(d, &head);
	n = head.msg != DAT_EVENTS && head.n <= sizeof(u) ? take(d, &u, head.n) : -EPROTO;
	if (n != (ssize_t)head.n)
		return ended_early(d, n, err);
	switch (head.msg) {
	case DAT_HELLO:
		return on_hello(d, &u.hello, err);
	case DAT_DONE:
		return on_done(d, &u.done);
	case DAT_ERROR:
		d->done = true;
		return tmigr_fail(err, -EINVAL, "%.*s", (int)sizeof(u.line), u.line);
	default:
		return ended_early(d, -EPROTO, err);
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
	memcpy(evs, d->shared->evs[d->slot] + d->next, n * sizeof(*evs));
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
	end_child(d, NULL);
	if (d->mapped)
		munmap((void *)d->shared, sizeof(*d->shared));
	free(d->path);
	free(d);
}

struct tmigr_traced_source *tmigr_dat_of_child(const char *name, int in,
					       const struct dat_shared *shared)
{
	struct dat *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->in = in;
	d->shared = shared;
	d->slot = DAT_SLOTS - 1;
	d->src.read = dat_read;
	d->src.close = dat_close;
	d->src.format = d->format;
	d->path = strdup(name);
	if (d->path)
		return &d->src;
	free(d);
	return NULL;
}

static int start_child(struct dat *d, int fd, bool steps, struct tmigr_err *err)
{
	const struct timeval silence = {.tv_sec = SILENCE_S};
	struct dat_shared *shared;
	int fds[2];

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", d->path);
	shared->steps = steps;
	d->shared = shared;
	d->mapped = true;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return tmigr_fail(err, -errno, "%s: no socket: %s", d->path, strerror(errno));
	d->in = fds[0];
	setsockopt(d->in, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
	d->child = fork();
	if (d->child == 0) {
		close(fds[0]);
		tmigr_dat_child(fd, d->path, fds[1], shared);
	}
	close(fds[1]);
	if (d->child > 0)
		return 0;
	d->child = 0;
	return tmigr_fail(err, -errno, "%s: cannot start a process to read it: %s", d->path,
			  strerror(errno));
}

int tmigr_dat_open_fd(const char *name, int fd, bool steps, struct tmigr_traced_source **ret,
		      struct tmigr_err *err)
{
	struct tmigr_traced_source *src;
	char version[16];
	struct dat *d;
	int r;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return tmigr_fail(err, -ESPIPE,
				  "%s: a trace.dat cannot be read from a pipe, as it is not read "
				  "in order: write it to a file first",
				  name);
	r = check_head(fd, name, version, err);
	if (r)
		return r;
	src = tmigr_dat_of_child(name, -1, NULL);
	if (!src)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", name);
	d = (struct dat *)src;
	snprintf(d->format, sizeof(d->format), "trace.dat version %s", version);
	r = start_child(d, fd, steps, err);
	if (r) {
		dat_close(src);
		return r;
	}
	*ret = src;
	return 0;
}
