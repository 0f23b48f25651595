/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views of the hierarchy at one moment: a text tree, JSON, graphviz.  Pure:
 * everything comes from the caller.
 */
#ifndef TMIGR_TREE_H
#define TMIGR_TREE_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/model.h"
#include "tmigr/topology.h"

struct tmigr_tree {
	const struct tmigr_topology *topo;
	const struct tmigr_hierarchy *h;
	__u64 now_ns; /* CLOCK_MONOTONIC of the snapshot */
	/* Next expiry, CLOCK_MONOTONIC; TMIGR_KTIME_MAX none, 0 not known.  By
	 * index in h->cpus, h->groups; NULL: nothing is known. */
	const __u64 *cpu_expiry_ns;
	const __u64 *group_expiry_ns;
};

/*
 * Text, one line a group and CPU, box drawing in UTF-8 or ASCII.  0 or a
 * negative errno.
 */
int tmigr_tree_text(const struct tmigr_tree *t, bool utf8, FILE *out);

/* Schema "tmigr-tree", docs/tree-schema.md.  New reference or NULL (no memory). */
json_t *tmigr_tree_json(const struct tmigr_tree *t);

/*
 * The reverse: what tmigr_tree_json() shows of a moment on a machine with @topo's
 * CPUs, so that the views of it are those of the moment itself.  Owned by the
 * caller (tmigr_moment_free, engine.h).  -EINVAL: not such an object.
 */
struct tmigr_moment;
int tmigr_tree_parse(const json_t *tree, const struct tmigr_topology *topo,
		     struct tmigr_moment **ret, struct tmigr_err *err);

/* A digraph for dot(1).  0 or a negative errno. */
int tmigr_tree_dot(const struct tmigr_tree *t, FILE *out);

#endif
