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

int output_open(struct output *o, const char *verb, const char *path)
{
	struct stat st;
	int fd;

	*o = (struct output){.verb = verb, .path = path, .file = stdout};
	if (!path)
		return 0;
	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		fd = open_temp(o);
	else
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	o->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (o->file)
		return 0;
	fd = errno;
	output_discard(o);
	return failed(o, fd);
}

int output_close(struct output *o)
{
	FILE *file = o->file;
	int error = 0;

	errno = 0;
	if (fflush(file) || ferror(file))
		error = errno ? errno : EIO;
	if (!error && o->temp && fsync(fileno(file)) < 0 && errno != EINVAL && errno != EROFS)
		error = errno;
	if (file != stdout && fclose(file) && !error)
		error = errno;
	o->file = NULL;
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
	if (o->file && o->file != stdout)
		fclose(o->file);
	o->file = NULL;
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
		ret = failed(o, -ret);
	if (ret == 0)
		return output_rename(o);
	output_discard(o);
	return ret;
}
