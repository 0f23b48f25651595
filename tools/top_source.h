/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the samples of `tmigr top` come from. */
#ifndef TMIGR_TOOL_TOP_SOURCE_H
#define TMIGR_TOOL_TOP_SOURCE_H

#include <jansson.h>
#include <linux/types.h>

#include "args.h"
#include "daemon.h"
#include "tmigr/err.h"
#include "tmigr/live.h"

/* Both are the receiver's (json_decref); tree NULL: not known. */
struct top_sample {
	json_t *report, *tree;
};

struct top_source_opts {
	__u64 period_ns;
	const struct arg_list *classes;
	const struct daemon_opts *daemon;
	enum tmigr_source source;
	const char *file; /* tests; NULL: the running machine */
};

struct top_source;

/* One kind of source; @self is its own. */
struct top_source_ops {
	/* @daemon: the one that answers, or NULL; the source's from here on. */
	int (*open)(const struct top_source_opts *opts, struct daemon *daemon, void **ret_self,
		    struct tmigr_err *err);
	/* poll(2) it for reading: then there may be something to do. */
	int (*fd)(void *self);
	/* 1: a sample, and there may be more; 0: not yet; negative errno. */
	int (*next)(void *self, struct top_sample *ret, struct tmigr_err *err);
	void (*close)(void *self);
	const char *(*name)(void *self); /* for the title */
};

extern const struct top_source_ops top_engine_ops, top_daemon_ops, top_file_ops;

/* -EINVAL: a bad --class.  The first window begins here. */
int top_source_open(const struct top_source_opts *opts, struct top_source **ret,
		    struct tmigr_err *err);
int top_source_fd(const struct top_source *s);
int top_source_next(struct top_source *s, struct top_sample *ret, struct tmigr_err *err);
const char *top_source_name(const struct top_source *s);
void top_source_close(struct top_source *s); /* NULL is fine */

#endif
