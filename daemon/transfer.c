// SPDX-License-Identifier: GPL-2.0-or-later
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A step of a round. */
#define STEP_BYTES (256u << 10)

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* ---- which descriptors ---- */

static bool is_unnamed(int fd)
{
	struct statfs st;

	return fstatfs(fd, &st) == 0 && st.f_type == PIPEFS_MAGIC;
}

/* Not FUSE, not a network's, nor what may lie on top of one (overlayfs): a write
 * there lasts as long as somebody likes. */
static bool is_local(int fd, bool in_memory)
{
	static const unsigned long local[] = {
		EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, XFS_SUPER_MAGIC,	F2FS_SUPER_MAGIC,
		TMPFS_MAGIC,	  RAMFS_MAGIC,	     MSDOS_SUPER_MAGIC,
	};
	struct statfs st;

	if (fstatfs(fd, &st) < 0)
		return false;
	if (!in_memory && (st.f_type == TMPFS_MAGIC || (unsigned long)st.f_type == RAMFS_MAGIC))
		return false;
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		if ((unsigned long)st.f_type == local[i])
			return true;
	return false;
}

static const char *why_not(int fd, bool in_memory, bool *ret_regular)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) < 0)
		return "the descriptor cannot be looked at";
	if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH))
		return "the descriptor is not open for writing";
	if (flags & (O_DIRECT | O_SYNC | O_DSYNC | O_ASYNC))
		return "the descriptor is open with O_DIRECT, O_SYNC, O_DSYNC or O_ASYNC";
	*ret_regular = S_ISREG(st.st_mode);
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return "the descriptor is neither a pipe nor a regular file";
	if (S_ISFIFO(st.st_mode) && !is_unnamed(fd))
		return "a named pipe cannot be written without waiting: pass an unnamed one";
	if (S_ISREG(st.st_mode) && !is_local(fd, in_memory))
		return "the file's system is not one that the daemon writes to: pass a pipe";
	return NULL;
}

/* ---- writing ---- */

static void set_listed(struct transfer *t)
{
	struct transfer **p = &t->d->transfers;

	if (t->listed)
		return;
	while (*p)
		p = &(*p)->next;
	*p = t;
	t->next = NULL;
	t->listed = true;
}

static void set_unlisted(struct transfer *t)
{
	struct transfer **p = &t->d->transfers;

	if (!t->listed)
		return;
	while (*p != t)
		p = &(*p)->next;
	*p = t->next;
	t->listed = false;
}

/*
 * One write that does not wait, whatever the pipe's O_NONBLOCK says: that one is the
 * client's too, who can clear it at any time.  Named pipes cannot be asked for it,
 * and others not after a splice into them: EOPNOTSUPP then ends the transfer.
 */
static ssize_t write_once(struct transfer *t, const char *data, size_t size)
{
	struct iovec iov = {.iov_base = (void *)data, .iov_len = size};

	if (t->regular)
		return write(t->src.fd, data, size);
	return pwritev2(t->src.fd, &iov, 1, -1, RWF_NOWAIT);
}

static void set_full(struct transfer *t, bool full)
{
	if (t->regular || t->full == full)
		return;
	t->full = full;
	loop_mod(&t->d->loop, &t->src, full ? EPOLLOUT : 0);
}

static void fail(struct transfer *t, int err)
{
	t->failed = -err;
	msgq_free(&t->q);
	set_full(t, false);
}

/* Up to STEP_BYTES. */
static void write_step(struct transfer *t)
{
	size_t size, budget = STEP_BYTES;
	const char *data;

	while (!t->failed && budget && (data = msgq_peek(&t->q, &size)) && size) {
		ssize_t n = write_once(t, data, size < budget ? size : budget);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			set_full(t, true);
			return;
		}
		if (n <= 0) {
			fail(t, n ? errno : EIO);
			return;
		}
		msgq_advance(&t->q, (size_t)n);
		t->bytes += (__u64)n;
		budget -= (size_t)n;
	}
	if (!t->q.bytes)
		set_full(t, false);
}

static void step(struct transfer *t)
{
	void (*done)(struct transfer * t) = t->done;

	if (!t->full)
		write_step(t);
	if (t->failed || !t->q.bytes) {
		t->done = NULL;
		if (done)
			done(t);
	} else if (!t->full) {
		set_listed(t);
	}
}

static void on_writable(struct source *s, uint32_t events)
{
	struct transfer *t = (struct transfer *)((char *)s - offsetof(struct transfer, src));

	/* Without a reader EPOLLERR comes again and again: seen here once. */
	if ((events & EPOLLERR) && !t->failed)
		fail(t, EPIPE);
	if (t->failed)
		loop_del(&t->d->loop, s);
	t->full = false;
	set_listed(t);
}

/* Whatever a step does may free any other transfer: so nothing of the list is kept
 * over it. */
bool transfers_run(struct tmigrd *d)
{
	struct transfer *t;

	d->transfer_round++;
	while ((t = d->transfers) && t->round != d->transfer_round) {
		t->round = d->transfer_round;
		set_unlisted(t);
		step(t);
	}
	return d->transfers;
}

/* ---- life ---- */

int transfer_open(struct client *c, int fd, struct transfer **ret, const char **ret_why)
{
	struct transfer *t = calloc(1, sizeof(*t));
	struct tmigrd *d = c->d;
	const char *why = NULL;

	if (!t) {
		close(fd);
		return -ENOMEM;
	}
	t->src = (struct source){.fd = fd, .fn = on_writable};
	t->d = d;
	msgq_init(&t->q);
	/* What is written to tmpfs counts as the daemon's own memory. */
	why = why_not(fd, c->cred.uid == 0, &t->regular);
	if (!why && !t->regular && loop_add(&d->loop, &t->src, 0) < 0)
		why = "the descriptor cannot be waited for";
	if (why) {
		*ret_why = why;
		close(fd);
		free(t);
		return -EBADF;
	}
	*ret = t;
	return 0;
}

int transfer_add(struct transfer *t, struct msg *m, bool limit)
{
	int ret = t->failed;

	if (!ret && !m)
		ret = -ENOMEM;
	if (!ret && limit && t->q.bytes + m->size > TRANSFER_MAX)
		ret = -ENOBUFS;
	if (ret) {
		msg_unref(m);
		return ret;
	}
	ret = msgq_add(&t->q, m);
	set_listed(t);
	return ret;
}

void transfer_finish(struct transfer *t, void (*done)(struct transfer *t), void *arg)
{
	t->done = done;
	t->arg = arg;
	set_listed(t);
}

void transfer_free(struct transfer *t)
{
	if (!t)
		return;
	set_unlisted(t);
	if (!t->regular)
		loop_del(&t->d->loop, &t->src);
	msgq_free(&t->q);
	close(t->src.fd);
	free(t);
}
