/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison of windows with one another. */
#ifndef TMIGR_TESTS_ENGINE_COMPARE_H
#define TMIGR_TESTS_ENGINE_COMPARE_H

#include "engine.h"

/* Tests: the figures of @a are the sum of those of @c and, right after it, @d. */
void engine_check_sum(const struct tmigr_topology *topo, struct tmigr_window *a,
		      struct tmigr_window *c, struct tmigr_window *d, const char *what);

/* Tests: the model of @late, which began at its start, has what one that was fed
 * with everything since the programs were attached (@all) has of the same time. */
void engine_check_seed(const struct tmigr_topology *topo, const struct tmigr_rec_vec *all,
		       struct tmigr_window *late, const char *what);

/*
 * Streams of two engines; the outer one ran longer at both ends.  The inner one's events
 * before @from_ns are not compared: its programs were being attached one after the other.
 */
struct engine_two {
	const struct tmigr_topology *topo;
	__u64 from_ns;
	const struct tmigr_rec_vec *inner, *outer;
};

/*
 * Tests: both saw the same events, and a window of the inner one has the times
 * that the outer one's records give, up to the differences of their stamps.
 */
void engine_check_two(const struct engine_two *two, struct tmigr_window *w, const char *what);

#endif
