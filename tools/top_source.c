// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the samples of `tmigr top` come from: the choice. */
#include "top_source.h"

#include <errno.h>
#include <stdlib.h>

struct top_source {
	const struct top_source_ops *ops;
	void *self;
};

static int choose(const struct top_source_opts *opts, const struct top_source_ops **ret,
		  struct daemon **ret_daemon, struct tmigr_err *err)
{
	int r = 0;

	*ret_daemon = NULL;
	/* A daemon has classes and a source of its own. */
	if (!opts->file && !opts->classes->n && opts->source == TMIGR_SOURCE_AUTO)
		r = daemon_find(opts->daemon, ret_daemon, err);
	*ret = opts->file ? &top_file_ops : *ret_daemon ? &top_daemon_ops : &top_engine_ops;
	return r;
}

int top_source_open(const struct top_source_opts *opts, struct top_source **ret,
		    struct tmigr_err *err)
{
	struct top_source *s = calloc(1, sizeof(*s));
	struct daemon *daemon;
	int r;

	if (!s)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	r = choose(opts, &s->ops, &daemon, err);
	if (!r)
		r = s->ops->open(opts, daemon, &s->self, err);
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
	return s->ops->name(s->self);
}

void top_source_close(struct top_source *s)
{
	if (!s)
		return;
	s->ops->close(s->self);
	free(s);
}
