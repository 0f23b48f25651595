// SPDX-License-Identifier: GPL-2.0-or-later
/* The answer, for each kind of machine and of root. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "report_view.h"

#define NONE (-1)

static void expect_answer(struct machine *m, int big_holds, double share, const char *text)
{
	json_t *r = machine_report(m, true, NULL);
	const json_t *a = json_object_get(r, "answer"), *v = json_object_get(a, "big_holds");

	assert_non_null(r);
	assert_int_equal(json_is_null(v) ? NONE : json_is_true(v), big_holds);
	v = json_object_get(a, "big_share");
	if (share < 0)
		assert_true(json_is_null(v));
	else
		assert_float_equal(json_real_value(v), share, 1e-12);
	assert_string_equal(str(a, "text"), text);
	assert_int_equal(tmigr_report_check(r, NULL), 0);
	json_decref(r);
	machine_free(m);
}

static struct machine *two_classes(void)
{
	struct machine *m = machine_new(8);

	set_class(m, 0, "LITTLE", 442, 0, 4);
	set_class(m, 1, "big", 1024, 4, 8);
	return m;
}

static void test_answer_yes(void **state)
{
	struct machine *m;

	(void)state;
	expect_answer(machine_4_4(), 1, 0.3000000001,
		      "YES, a big CPU held the global migrator for 3.000 s, 30.0 % of the window; "
		      "for 1.500 s of that (50.0 %) a LITTLE CPU was awake.");
	m = two_classes();
	add_holder(m, 0, 7, 1);
	expect_answer(
		m, 1, 1e-10,
		"YES, a big CPU held the global migrator for 1 ns, <0.1 % of the window; never "
		"while a LITTLE CPU was awake.");
}

static void test_answer_no(void **state)
{
	struct machine *m = two_classes();

	(void)state;
	add_holder(m, 0, 2, 9 * SEC);
	expect_answer(m, 0, 0,
		      "NO, no big CPU held the global migrator at any moment of the window.");
	m = two_classes();
	set_regime(m, 0, TMIGR_UNKNOWN, 300 * MS);
	expect_answer(m, NONE, 0,
		      "UNKNOWN: no big CPU was seen holding the global migrator, but 3.0 % of the "
		      "window is not known.");
}

/* Classes of one capacity: the names tell, or nothing does. */
static void test_answer_level_classes(void **state)
{
	struct machine *m = two_classes();

	(void)state;
	set_class(m, 0, "little", 1024, 0, 4);
	set_class(m, 1, "all", 1024, 4, 8);
	add_holder(m, 0, 2, 9 * SEC);
	expect_answer(m, 0, 0,
		      "NO, no all CPU held the global migrator at any moment of the window.");
	m = two_classes();
	set_class(m, 0, "a", 1024, 0, 4);
	set_class(m, 1, "b", 1024, 4, 8);
	add_holder(m, 0, 7, 1 * SEC);
	expect_answer(m, NONE, -1,
		      "no answer: all classes have the same capacity, so none is big (a --class "
		      "that is named LITTLE or big would tell).");
	m = two_classes();
	set_class(m, 0, "a", 0, 0, 4);
	set_class(m, 1, "b", 0, 4, 8);
	add_holder(m, 0, 7, 1 * SEC);
	expect_answer(m, NONE, -1,
		      "no answer: the classes' capacities are not known, so none is big (a --class "
		      "that is named LITTLE or big would tell).");
	/* A part of the big CPUs has a name of its own: they are big all the same. */
	m = two_classes();
	set_class(m, 1, "big", 1024, 4, 7);
	set_class(m, 2, "prime", 1024, 7, 8);
	add_holder(m, 0, 5, 1 * SEC);
	add_holder(m, 0, 7, 2 * SEC);
	expect_answer(
		m, 1, 0.3,
		"YES, a prime CPU held the global migrator for 3.000 s, 30.0 % of the window; "
		"never while a CPU of a lower class was awake.");
}

/* Two roots of one class each. */
static struct machine *split(void)
{
	struct machine *m = two_classes();

	m->model.h.n_groups = m->model.res.n_roots = 2;
	strcpy(m->model.h.groups[1].name, "GRP0:1");
	m->model.h.groups[1].parent = -1;
	m->model.res.roots[1].group = 1;
	m->model.res.roots[1].regime_ns[TMIGR_FREE] = 10 * SEC;
	for (size_t i = 4; i < 8; i++)
		m->model.h.cpus[i].group = 1;
	return m;
}

static void test_answer_split(void **state)
{
	struct machine *m = split();

	(void)state;
	add_holder(m, 1, 5, 9 * SEC);
	expect_answer(
		m, 0, 0,
		"NO: each capacity class keeps to a hierarchy of its own (2 roots), so no big "
		"CPU holds the migrator of another class.");
	/* The rest was not seen: it may share a root with the others. */
	m = two_classes();
	for (size_t i = 4; i < 8; i++) {
		m->model.h.cpus[i].group = -1;
		m->model.h.cpus[i].learnt = false;
	}
	expect_answer(m, NONE, -1,
		      "UNKNOWN: the place of CPUs 4-7 in the hierarchy never showed, so whether "
		      "capacity classes share one is open.");
}

/* One root with both classes beside one of big CPUs only: the second gives no
 * yes, and does not thin the share either. */
static void test_answer_mixed_roots(void **state)
{
	struct machine *m = split();

	(void)state;
	m->model.h.cpus[4].group = 0;
	add_holder(m, 0, 4, 1 * SEC)->avoidable_unknown_ns = 1 * SEC;
	add_holder(m, 1, 6, 9 * SEC);
	expect_answer(m, 1, 0.1,
		      "YES, a big CPU held the global migrator for 1.000 s, 10.0 % of the window.");
}

static void test_answer_symmetric(void **state)
{
	struct machine *m = machine_new(12);

	(void)state;
	for (unsigned int i = 0; i < 10; i++)
		add_holder(m, 0, i, (i + 1) * 100 * MS);
	expect_answer(
		m, NONE, -1,
		"this machine is symmetric (one capacity class), so no CPU is big; held 10.0 % of "
		"the window by CPU 9, 9.0 % by CPU 8, 8.0 % by CPU 7, 7.0 % by CPU 6, 6.0 % by CPU "
		"5, 5.0 % by CPU 4, 4.0 % by CPU 3, 3.0 % by CPU 2, 3.0 % by 2 others.");
	expect_answer(
		machine_new(2), NONE, -1,
		"this machine is symmetric (one capacity class), so no CPU is big; no CPU held "
		"the migrator.");
	m = machine_new(2);
	set_regime(m, 0, TMIGR_UNKNOWN, 10 * SEC);
	expect_answer(
		m, NONE, -1,
		"this machine is symmetric (one capacity class), so no CPU is big; no CPU is known "
		"to have held the migrator; 100.0 % of the window is unknown.");
}

static void test_answer_no_hierarchy(void **state)
{
	struct machine *m = two_classes();
	json_t *info = json_pack("{s:b}", "timer_migration_hierarchy", 0), *r;
	char *text;

	(void)state;
	m->model.res.n_roots = 0;
	m->model.h.n_groups = 0;
	for (size_t i = 0; i < 8; i++) {
		m->model.h.cpus[i].group = -1;
		m->model.h.cpus[i].learnt = false;
	}
	r = machine_report(m, true, info);
	assert_true(json_is_null(json_object_get(json_object_get(r, "answer"), "big_holds")));
	text = render(tmigr_report_text, r);
	assert_non_null(strstr(text, "Answer: no answer: this kernel has no timer-migration"));
	assert_non_null(strstr(text, "Residency per CPU"));
	assert_null(strstr(text, "Remote expiry"));
	assert_null(strstr(text, "Note:"));
	free(text);
	json_decref(r);
	json_decref(info);
	free(m->model.res.roots[0].holders);
	expect_answer(
		m, NONE, -1,
		"no answer: nothing of the timer-migration hierarchy was seen (a CPU shows its "
		"place when it goes idle).");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_yes),
		cmocka_unit_test(test_answer_no),
		cmocka_unit_test(test_answer_level_classes),
		cmocka_unit_test(test_answer_split),
		cmocka_unit_test(test_answer_mixed_roots),
		cmocka_unit_test(test_answer_symmetric),
		cmocka_unit_test(test_answer_no_hierarchy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
