/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moments of the running kernel's hierarchy, for `tmigr tree`. */
#ifndef TMIGR_TOOL_TREE_SNAPSHOT_H
#define TMIGR_TOOL_TREE_SNAPSHOT_H

#include <stddef.h>

#include "args.h"
#include "daemon.h"
#include "tmigr/err.h"
#include "tmigr/live.h"
#include "tmigr/tree.h"

struct tree_source; /* the engine, or a daemon */
struct tree_moment; /* one snapshot, made into a hierarchy */

/*
 * -EINVAL: a bad --class.  -EOPNOTSUPP: a kernel without timer migration.
 * Others as tmigr_engine_open().
 */
int tree_source_open(const struct daemon_opts *daemon, const struct arg_list *classes,
		     enum tmigr_source source, struct tree_source **ret, struct tmigr_err *err);
void tree_source_close(struct tree_source *s);

/* Owned by the caller (tree_moment_free); must not outlive the source. */
int tree_source_take(struct tree_source *s, struct tree_moment **ret, struct tmigr_err *err);
const struct tmigr_tree *tree_moment_view(const struct tree_moment *m);
/* The same, to be completed by a boot trace. */
struct tmigr_hierarchy *tree_moment_hierarchy(struct tree_moment *m);
void tree_moment_free(struct tree_moment *m);

#endif
