// SPDX-License-Identifier: GPL-2.0-or-later
/* An edge is at the time that was asked for, or later where that is too near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lib/live_priv.h"

#define FAR_NS (3600 * TMIGR_NS_PER_S)

static void test_wanted(void **state)
{
	__u64 word = 0, at = tmigr_now_ns() + FAR_NS;
	struct tmigr_live live = {.edge_ns = &word};

	(void)state;
	assert_int_equal(tmigr_live_announce(&live, at), at);
	assert_int_equal(word, at);
}

/* Too near, past, none: the handlers must be able to see it before it comes. */
static void test_too_near(void **state)
{
	__u64 word = 0, before = tmigr_now_ns();
	struct tmigr_live live = {.edge_ns = &word};
	const __u64 wanted[] = {0, 1, before, before + 1000};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		__u64 edge = tmigr_live_announce(&live, wanted[i]);

		assert_int_equal(edge, word);
		assert_true(edge > before + 1000);
		assert_true(edge > wanted[i]);
		assert_true(edge < before + FAR_NS);
	}
}

/* The lead is enough for what it is the lead of. */
static void test_lead(void **state)
{
	__u64 word = 0, edge, at;
	struct tmigr_live live = {.edge_ns = &word};
	int tries = 0;

	(void)state;
	do { /* held up in between, it is later */
		at = tmigr_now_ns() + tmigr_live_edge_lead_ns();
		edge = tmigr_live_announce(&live, at);
		assert_true(edge >= at);
	} while (edge != at && ++tries < 100);
	assert_int_equal(edge, at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_too_near),
		cmocka_unit_test(test_lead),
	};

	return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
