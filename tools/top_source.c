// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the samples of `tmigr top` come from: the choice. */
#include "top_source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct top_source {
	const struct top_source_ops *ops;
	void *self;
};

/* Nobody serves there: then the engine of this process does the work. */
static bool no_daemon_answers(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED;
}

static int open_one(struct top_source *s, const struct top_source_ops *ops,
		    const struct top_source_opts *opts, struct tmigr_err *err)
{
	s->ops = ops;
	return ops->open(opts, &s->self, err);
}

static int open_any(struct top_source *s, const struct top_source_opts *opts, struct tmigr_err *err)
{
	int r;

	if (opts->file)
		return open_one(s, &top_file_ops, opts, err);
	/* The daemon has classes of its own. */
	if (opts->no_daemon || (opts->classes->n && !opts->socket))
		return open_one(s, &top_engine_ops, opts, err);
	r = open_one(s, &top_daemon_ops, opts, err);
	if (no_daemon_answers(r) && !opts->socket)
		r = open_one(s, &top_engine_ops, opts, err);
	return r;
}

int top_source_open(const struct top_source_opts *opts, struct top_source **ret,
		    struct tmigr_err *err)
{
	struct top_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	r = open_any(s, opts, err);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

int top_source_fd(const struct top_source *s)
{
	return s->ops->fd(s->self);
}

int top_source_next(struct top_source *s, struct top_sample *ret, struct tmigr_err *err)
{
	return s->ops->next(s->self, ret, err);
}

const char *top_source_name(const struct top_source *s)
{
	return s->ops->name;
}

void top_source_close(struct top_source *s)
{
	if (!s)
		return;
	s->ops->close(s->self);
	free(s);
}
