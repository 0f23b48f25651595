// SPDX-License-Identifier: GPL-2.0-or-later
/* Classes that the user names (--class). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "topology_read.h"

static void overrides_valid(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;

	sysfs_tree_4_4(m);
	/* a new class in the middle: the order among equals is by CPU */
	topo = read_with(m, (const char *const[]){"prime=7"}, 1);
	assert_int_equal(topo->n_classes, 3);
	check_class(topo, 0, "LITTLE", 442, "0-3");
	check_class(topo, 1, "big", 1024, "4-6");
	check_class(topo, 2, "prime", 1024, "7");
	round_trip(topo);
	tmigr_topology_free(topo);
	/* every CPU named: the machine's own classes are gone */
	topo = read_with(m, (const char *const[]){"fast=3-7", "slow=0-2"}, 2);
	assert_int_equal(topo->n_classes, 2);
	check_class(topo, 0, "slow", 442, "0-2");
	check_class(topo, 1, "fast", 1024, "3-7");
	round_trip(topo);
	tmigr_topology_free(topo);
	/* the name of a class that is there: the CPUs join it */
	topo = read_with(m, (const char *const[]){"LITTLE=4", "LITTLE=6"}, 2);
	assert_int_equal(topo->n_classes, 2);
	check_class(topo, 0, "LITTLE", 1024, "0-4,6");
	check_class(topo, 1, "big", 1024, "5,7");
	round_trip(topo);
	tmigr_topology_free(topo);
	/* where capacities tell nothing, names do */
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		sysfs_tree_capacity(m, cpu, 1024);
	topo = read_with(m, (const char *const[]){"Big=0-1", "little=6-7"}, 2);
	assert_int_equal(topo->n_classes, 3);
	check_class(topo, 0, "little", 1024, "6-7");
	check_class(topo, 1, "others", 1024, "2-5");
	check_class(topo, 2, "Big", 1024, "0-1");
	round_trip(topo);
	tmigr_topology_free(topo);
	/* what is left of the one class is no longer all, unless the user's words say so */
	topo = read_with(m, (const char *const[]){"all=0-1", "x=6-7"}, 2);
	assert_int_equal(topo->n_classes, 2);
	check_class(topo, 0, "all", 1024, "0-5");
	check_class(topo, 1, "x", 1024, "6-7");
	tmigr_topology_free(topo);
	topo = read_with(m, (const char *const[]){"others=6-7"}, 1);
	assert_int_equal(topo->n_classes, 2);
	check_class(topo, 0, "all", 1024, "0-5");
	check_class(topo, 1, "others", 1024, "6-7");
	tmigr_topology_free(topo);
	/* one for all */
	topo = read_with(m, (const char *const[]){"x_Y.1+-=0-7"}, 1);
	assert_int_equal(topo->n_classes, 1);
	check_class(topo, 0, "x_Y.1+-", 1024, "0-7");
	round_trip(topo);
	tmigr_topology_free(topo);
}

static void overrides_refused(void **state)
{
	static const struct {
		const char *first, *second, *says;
	} cases[] = {
		{"big", NULL, "NAME=CPULIST"},
		{"", NULL, "NAME=CPULIST"},
		{"=0-3", NULL, "a name is"},
		{"a b=0", NULL, "a name is"},
		{"a,b=0", NULL, "a name is"},
		{"\xc3\xa9=0", NULL, "a name is"},
		{"a\n=0", NULL, "a name is"},
		{"abcdefghijklmnopqrstuvwxyzabcdef=0", NULL, "a name is"},
		{"big=", NULL, "no CPU"},
		{"big=x", NULL, "'x' is not a CPU list"},
		{"big=4=5", NULL, "not a CPU list"},
		{"big=8", NULL, "no CPU 8"},
		{"big=0-9", NULL, "no CPU 8"},
		{"a=0-3", "b=3-4", "CPU 3 is in another"},
		{"a=0", "a=0", "CPU 0 is in another"},
		{"a=0", "b", "NAME=CPULIST"},
	};
	struct sysfs_tree *m = *state;

	sysfs_tree_4_4(m);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *const overrides[] = {cases[i].first, cases[i].second};
		struct tmigr_topology *topo = NULL;
		struct tmigr_err err = {""};

		assert_int_equal(tmigr_topology_read(m->root, overrides, cases[i].second ? 2 : 1,
						     &topo, &err),
				 -EINVAL);
		assert_null(topo);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s': '%s'", cases[i].first, err.text);
	}
}

#define MACHINE_TEST(f) cmocka_unit_test_setup_teardown(f, sysfs_tree_setup, sysfs_tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE_TEST(overrides_valid),
		MACHINE_TEST(overrides_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
