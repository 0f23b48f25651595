// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples from a file, for tests: JSON values one after the other, each a
 * report, or an object with `report` and `tree`.  One comes a period; the last
 * one stays.
 */
#include "top_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct file {
	FILE *in;
	const char *path;
	int timer;
};

static void file_close(void *self)
{
	struct file *f = self;

	if (f->in)
		fclose(f->in);
	if (f->timer >= 0)
		close(f->timer);
	free(f);
}

static int file_open(const struct top_source_opts *opts, struct daemon *daemon, void **ret_self,
		     struct tmigr_err *err)
{
	struct itimerspec when = {
		.it_interval = {.tv_sec = (time_t)(opts->period_ns / 1000000000ULL),
				.tv_nsec = (long)(opts->period_ns % 1000000000ULL)},
		.it_value = {.tv_nsec = 1}, /* the first one at once */
	};
	struct file *f = calloc(1, sizeof(*f));
	int r;

	(void)daemon;
	if (!f)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	f->path = opts->file;
	f->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	f->in = fopen(opts->file, "re");
	if (f->timer < 0 || !f->in || timerfd_settime(f->timer, 0, &when, NULL)) {
		r = -errno;
		file_close(f);
		return tmigr_fail(err, r == -EINVAL ? -EIO : r, "cannot open %s: %s", opts->file,
				  strerror(-r));
	}
	*ret_self = f;
	return 0;
}

static int file_fd(void *self)
{
	return ((struct file *)self)->timer;
}

static bool at_end(FILE *in)
{
	int c = getc(in);

	while (c == ' ' || c == '\n' || c == '\t' || c == '\r')
		c = getc(in);
	ungetc(c, in);
	return c == EOF;
}

static int file_next(void *self, struct top_sample *ret, struct tmigr_err *err)
{
	struct file *f = self;
	json_error_t where;
	json_t *value, *report;
	__u64 ticks;

	if (read(f->timer, &ticks, sizeof(ticks)) != sizeof(ticks) || at_end(f->in))
		return 0;
	value = json_loadf(f->in, JSON_DISABLE_EOF_CHECK, &where);
	if (!value)
		return tmigr_fail(err, -EIO, "%s: %s", f->path, where.text);
	report = json_object_get(value, "report");
	ret->report = json_incref(report ? report : value);
	ret->tree = json_incref(report ? json_object_get(value, "tree") : NULL);
	json_decref(value);
	return 1;
}

static const char *file_name(void *self)
{
	return ((struct file *)self)->path;
}

const struct top_source_ops top_file_ops = {
	.open = file_open,
	.fd = file_fd,
	.next = file_next,
	.close = file_close,
	.name = file_name,
};
