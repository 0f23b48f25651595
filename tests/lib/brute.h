/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer found the slow way, from the rules as they are written in
 * lib/model_order.c, lib/model_residency.c and lib/model_root.c and from none of
 * the product's code: first what changes when, then, for every stretch of time
 * in which nothing changes, everything is found anew.
 */
#ifndef TESTS_BRUTE_H
#define TESTS_BRUTE_H

#include "tmigr/model.h"

struct brute {
	struct tmigr_result result; /* .group of the roots is not set */
	struct tmigr_segment *segs; /* by root, then time */
	size_t n_segs;
};

/* @recs: every CPU of them is in @topo, every mask one-hot. */
void brute_run(const struct tmigr_topology *topo, const struct tmigr_rec *recs, size_t n,
	       __u64 start_ns, __u64 end_ns, struct brute *ret);
void brute_free(struct brute *b);

/* Prints the first difference to stderr; true: none. @segs as in brute. */
bool brute_same(const struct brute *b, const struct tmigr_result *r,
		const struct tmigr_segment *segs, size_t n_segs);

#endif
