// SPDX-License-Identifier: GPL-2.0-or-later
/* One output of the command on its way through the tool, copied to a file. */
#include "run.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

bool stream_done(const struct stream *s)
{
	return s->in < 0 && s->done == s->fill;
}

int stream_poll(const struct stream *s, short *ret_events)
{
	bool pending = s->done < s->fill;

	*ret_events = pending ? POLLOUT : POLLIN;
	return pending ? s->out : s->in;
}

static void stream_close(struct stream *s)
{
	if (s->in >= 0)
		close(s->in);
	s->in = -1;
}

/* The copy is given up on the first error; the output still goes on. */
static void copy(struct stream *s)
{
	size_t at = 0;
	ssize_t n;

	while (s->file >= 0 && at < s->fill) {
		n = write(s->file, s->buf + at, s->fill - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			s->file_errno = errno;
			close(s->file);
			s->file = -1;
			return;
		}
		at += (size_t)n;
	}
}

/* True when the buffer has new bytes. */
static bool take(struct stream *s)
{
	size_t want = sizeof(s->buf);
	ssize_t n;

	if (s->left >= 0 && (size_t)s->left < want)
		want = (size_t)s->left;
	n = read(s->in, s->buf, want);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	s->done = 0;
	s->fill = n > 0 ? (size_t)n : 0;
	if (s->left >= 0)
		s->left -= n > 0 ? n : s->left;
	if (n <= 0 || !s->left)
		stream_close(s);
	copy(s);
	return n > 0;
}

/*
 * True when some of the buffer went out.  At most PIPE_BUF at a time, and only
 * where poll(2) promises room: whoever reads the tool's output slowly must not
 * hold up the drain of the ring buffers.
 */
static bool pass(struct stream *s)
{
	struct pollfd p = {.fd = s->out, .events = POLLOUT};
	size_t n = s->fill - s->done;
	ssize_t ret;

	if (poll(&p, 1, 0) <= 0)
		return false;
	ret = write(s->out, s->buf + s->done, n < PIPE_BUF ? n : PIPE_BUF);
	if (ret < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (ret < 0) {
		/* Nobody listens: the command learns it by SIGPIPE, as it
		 * would without the tool in between. */
		stream_close(s);
		s->done = s->fill = 0;
		return false;
	}
	s->done += (size_t)ret;
	if (ret)
		s->whole_line = s->buf[s->done - 1] == '\n';
	return ret > 0;
}

void stream_pump(struct stream *s)
{
	/* Bounded: one command that writes without end must not keep the loop
	 * from its signals and drains. */
	int rounds = 256;

	while (rounds--) {
		if (s->done < s->fill) {
			if (!pass(s))
				return;
		} else if (s->in < 0 || !take(s)) {
			return;
		}
	}
}
