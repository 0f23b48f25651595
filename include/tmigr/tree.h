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

/* ---- from a trace ---- */

struct tmigr_boot_opts {
	/* The machine's; NULL: made of the CPUs that the trace speaks of, and of what
	 * follows (see tmigr_topology_of(), import.h). */
	const struct tmigr_topology *topo;
	const char *const *classes;
	size_t n_classes;
	const char *cpus;
};

/* The hierarchy by a trace: as far as it tells, at its end. */
struct tmigr_boot {
	struct tmigr_topology *topo; /* NULL: the caller's is meant */
	struct tmigr_moment *moment; /* engine.h */
	__u64 connects;		     /* connect events */
	__u64 events;		     /* all that were of use */
	char partial[TMIGR_ERR_MAX]; /* of the file, "": all of it was read */
};

/*
 * @path: a trace.dat or text, "-" standard input; NULL: the global ftrace buffer, which
 * is read without being consumed.  Events beside the connect events count too: those of
 * a CPU tell its place as far as a live trace would.  -ENODATA: nothing is
 * told of a hierarchy; what to do about it is said.  Owned by the caller
 * (tmigr_boot_free).
 */
int tmigr_boot_read(const char *path, const struct tmigr_boot_opts *opts, struct tmigr_boot **ret,
		    struct tmigr_err *err);
void tmigr_boot_free(struct tmigr_boot *boot); /* NULL is fine */

/*
 * Compares @live with @boot, hierarchies of the same topology, and adds to @live the
 * places of CPUs that it lacks.  *@ret_notes: a JSON array of sentences, one a
 * difference, new reference.  0 or -ENOMEM.
 */
int tmigr_boot_merge(struct tmigr_hierarchy *live, const struct tmigr_hierarchy *boot,
		     json_t **ret_notes);

/* A digraph for dot(1).  0 or a negative errno. */
int tmigr_tree_dot(const struct tmigr_tree *t, FILE *out);

#endif
