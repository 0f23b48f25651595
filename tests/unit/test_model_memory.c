// SPDX-License-Identifier: GPL-2.0-or-later
/* A long window costs the model no more memory than a short one: once it has seen a
 * few seconds of a machine it asks for no more, whatever comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../bench/synth.h"
#include "tmigr/model.h"

#define PIECE 20000 /* records */

#ifndef __SANITIZE_ADDRESS__
#include "../lib/counting_malloc.h"

/* The next records of the stream into the model; how often it asked for memory. */
static size_t feed(struct tmigr_model *m, struct synth *y, size_t pieces)
{
	struct stream *s = y->out;
	size_t sum = 0;

	for (size_t i = 0; i < pieces; i++) {
		size_t before, at = 0;

		synth_until(y, PIECE);
		before = asked;
		for (size_t k = 0; k < s->n_marks; at = s->marks[k++].at) {
			tmigr_model_feed(m, s->recs + at, s->marks[k].at - at);
			tmigr_model_advance(m, s->marks[k].watermark_ns);
		}
		tmigr_model_feed(m, s->recs + at, s->n - at);
		sum += asked - before;
		s->n = s->n_marks = 0;
	}
	return sum;
}

static void flat(size_t n_cpus)
{
	struct stream s = {0};
	struct tmigr_model_cfg cfg;
	struct tmigr_model *m;
	struct synth y;

	synth_begin(&y, &s, n_cpus, 2000);
	cfg = (struct tmigr_model_cfg){.topo = s.topo, .start_ns = s.start_ns};
	assert_int_equal(tmigr_model_new(&cfg, &m), 0);
	assert_true(feed(m, &y, 10 + n_cpus) > 0);
	assert_int_equal(feed(m, &y, 120), 0);
	assert_int_equal(tmigr_model_result(m)->lost_updates, 0);
	synth_end(&y);
	tmigr_model_free(m);
	synth_free(&s);
}

static void long_window(void **state)
{
	(void)state;
	flat(8);
	flat(64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(long_window)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	puts("1..0 # SKIP malloc is the sanitizer's, and cannot be counted");
	return 0;
}
#endif
