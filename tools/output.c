// SPDX-License-Identifier: GPL-2.0-or-later
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tmigr.h"

/* Temporary files that an interrupt takes away; as many as a verb has at once. */
#define MAX_TEMPS 16
static char *volatile temps[MAX_TEMPS];

static void on_signal(int sig)
{
	for (int i = 0; i < MAX_TEMPS; i++)
		if (temps[i])
			unlink(temps[i]);
	/* The handler is gone with its first call (SA_RESETHAND). */
	raise(sig);
}

void output_signals(void)
{
	struct sigaction end = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP};

	for (int i = 0; i < 3; i++)
		if (sigaction(sigs[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(sigs[i], &end, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

static void remember(char *old, char *new)
{
	for (int i = 0; i < MAX_TEMPS; i++)
		if (temps[i] == old) {
			temps[i] = new;
			return;
		}
}

static void forget_temp(struct output *o)
{
	remember(o->temp, NULL);
	free(o->temp);
	o->temp = NULL;
}

static int failed(const struct output *o, int error)
{
	return tool_error(o->verb, "cannot write %s: %s", o->path ? o->path : "to standard output",
			  strerror(error));
}

/* A name that nobody has: never through a link that somebody put there. */
static int open_temp(struct output *o)
{
	int fd;

	if (asprintf(&o->temp, "%s.%ld", o->path, (long)getpid()) < 0) {
		o->temp = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0) {
		free(o->temp);
		o->temp = NULL;
	} else {
		remember(NULL, o->temp);
	}
	return fd;
}

/* Why a write failed is told at the end, when errno is long another: kept here. */
static ssize_t write_some(void *cookie, const char *data, size_t size)
{
	struct output *o = cookie;
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		if (o->error == ECANCELED)
			return 0;
		n = write(o->fd, data + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			o->error = o->error ? o->error : n ? errno : EIO;
			return 0;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int close_fd(struct output *o)
{
	int ret = o->path && o->fd >= 0 ? close(o->fd) : 0;

	o->fd = -1;
	return ret;
}

int output_open(struct output *o, const char *verb, const char *path)
{
	static const cookie_io_functions_t io = {.write = write_some};
	struct stat st;
	int error;

	*o = (struct output){.verb = verb, .path = path, .fd = STDOUT_FILENO};
	if (path && (stat(path, &st) < 0 || S_ISREG(st.st_mode)))
		o->fd = open_temp(o);
	else if (path)
		o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (o->fd >= 0)
		o->file = fopencookie(o, "w", io);
	if (o->file) {
		setvbuf(o->file, NULL, _IOFBF, 1 << 16);
		return 0;
	}
	error = errno;
	output_discard(o);
	return failed(o, error);
}

int output_close(struct output *o)
{
	int error = 0;

	if (fflush(o->file) || ferror(o->file))
		error = o->error ? o->error : EIO;
	if (!error && o->temp && fsync(o->fd) < 0 && errno != EINVAL && errno != EROFS)
		error = errno;
	fclose(o->file);
	o->file = NULL;
	if (close_fd(o) < 0 && !error)
		error = errno;
	if (!error)
		return 0;
	output_discard(o);
	return failed(o, error);
}

int output_rename(struct output *o)
{
	int error;

	if (!o->temp)
		return 0;
	if (rename(o->temp, o->path) == 0) {
		forget_temp(o);
		return 0;
	}
	error = errno;
	output_discard(o);
	return failed(o, error);
}

void output_discard(struct output *o)
{
	/* What is still in its buffer is of no use. */
	if (o->file) {
		o->error = o->error ? o->error : ECANCELED;
		fclose(o->file);
	}
	o->file = NULL;
	close_fd(o);
	if (!o->temp)
		return;
	unlink(o->temp);
	forget_temp(o);
}

int output_finish(struct output *o, int ret)
{
	if (ret == 0)
		ret = output_close(o);
	else if (ret < 0)
		ret = failed(o, o->error ? o->error : -ret);
	if (ret == 0)
		return output_rename(o);
	output_discard(o);
	return ret;
}
