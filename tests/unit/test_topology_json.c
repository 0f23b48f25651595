// SPDX-License-Identifier: GPL-2.0-or-later
/* The topology's JSON form when it comes from anywhere: nothing is taken on trust. */
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

/* @edit is merged into a good topology at @at: "", "cpus", "classes", "states". */
static const struct {
	const char *at, *edit;
} damages[] = {
	{"", "{\"n_possible\": 7}"},
	{"", "{\"n_possible\": -1}"},
	{"", "{\"n_possible\": 65537}"},
	{"", "{\"n_possible\": 8.0}"},
	{"", "{\"n_possible\": \"8\"}"},
	{"", "{\"n_possible\": null}"},
	{"", "{\"driver\": 1}"},
	{"", "{\"driver\": \"\"}"},
	{"", "{\"driver\": \"a\\u0000b\"}"},
	{"", "{\"driver\": \"a\\nb\"}"},
	{"", "{\"driver\": \"\\u001b[31m\"}"},
	{"", "{\"governor\": "
	     "\"0123456789012345678901234567890123456789012345678901234567890123\"}"},
	{"", "{\"governor\": []}"},
	{"", "{\"timer_migration\": 2}"},
	{"", "{\"timer_migration\": true}"},
	{"", "{\"cpus\": {}}"},
	{"", "{\"cpus\": []}"},
	{"", "{\"cpus\": [1]}"},
	{"", "{\"cpus\": null}"},
	{"", "{\"classes\": []}"},
	{"", "{\"classes\": [null, null]}"},
	{"", "{\"classes\": 3}"},
	{"classes", "{\"name\": \"\"}"},
	{"classes", "{\"name\": \"LITTLE\"}"},
	{"classes", "{\"name\": \"abcdefghijklmnopqrstuvwxyzabcdef\"}"},
	{"classes", "{\"capacity\": -1}"},
	{"classes", "{\"capacity\": 441}"},
	{"classes", "{\"capacity\": 1025}"},
	{"classes", "{\"capacity\": 4294967296}"},
	{"classes", "{\"n_cpus\": 3}"},
	{"classes", "{\"n_cpus\": 0}"},
	{"cpus", "{\"cpu\": 6}"},
	{"cpus", "{\"cpu\": 5}"},
	{"cpus", "{\"cpu\": 8}"},
	{"cpus", "{\"cpu\": -1}"},
	{"cpus", "{\"cpu\": 65536}"},
	{"cpus", "{\"cpu\": 9223372036854775807}"},
	{"cpus", "{\"cpu\": \"7\"}"},
	{"cpus", "{\"online\": 1}"},
	{"cpus", "{\"isolated\": null}"},
	{"cpus", "{\"nohz_full\": \"no\"}"},
	{"cpus", "{\"capacity\": 2000}"},
	{"cpus", "{\"capacity\": -5}"},
	{"cpus", "{\"node\": -2}"},
	{"cpus", "{\"node\": 2147483648}"},
	{"cpus", "{\"cluster\": -2}"},
	{"cpus", "{\"class_idx\": 2}"},
	{"cpus", "{\"class_idx\": -1}"},
	{"cpus", "{\"class_idx\": 0}"},
	{"cpus", "{\"states\": null}"},
	{"cpus", "{\"states\": [[]]}"},
	{"cpus", "{\"states\": [0,0,0,0,0,0,0,0,0,0,0]}"},
	{"states", "{\"name\": \"\"}"},
	{"states", "{\"name\": 5}"},
	{"states", "{\"name\": \"0123456789abcdef0123456789abcdef\"}"},
	{"states", "{\"latency_us\": -1}"},
	{"states", "{\"latency_us\": 4294967296}"},
	{"states", "{\"residency_us\": 1.5}"},
	{"states", "{\"disabled\": 0}"},
};

static void refused(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;
	json_t *good;

	sysfs_tree_4_4(m);
	topo = read_machine(m);
	good = tmigr_topology_to_json(topo);
	assert_non_null(good);
	for (size_t i = 0; i < COUNT(damages); i++) {
		json_t *copy = json_deep_copy(good), *at = copy;
		json_t *edit = json_loads(damages[i].edit, JSON_ALLOW_NUL, NULL);
		struct tmigr_topology *back = (struct tmigr_topology *)&copy;
		struct tmigr_err err = {""};

		assert_non_null(edit);
		/* the last class, CPU, or state */
		if (strcmp(damages[i].at, "classes") == 0)
			at = json_array_get(json_object_get(copy, "classes"), 1);
		else if (damages[i].at[0])
			at = json_array_get(json_object_get(copy, "cpus"), 7);
		if (strcmp(damages[i].at, "states") == 0)
			at = json_array_get(json_object_get(at, "states"), 2);
		assert_int_equal(json_object_update(at, edit), 0);
		if (tmigr_topology_from_json(copy, &back, &err) != -EINVAL)
			fail_msg("%s: %s was accepted", damages[i].at, damages[i].edit);
		assert_ptr_equal(back, &copy);
		assert_int_equal(strncmp(err.text, "topology: ", 10), 0);
		json_decref(edit);
		json_decref(copy);
	}
	json_decref(good);
	tmigr_topology_free(topo);
}

/* Consistent in itself, but with the classes from high to low. */
static void class_order(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo, *back = NULL;
	struct tmigr_class first;
	struct tmigr_err err;
	json_t *json;

	sysfs_tree_4_4(m);
	topo = read_machine(m);
	first = topo->classes[0];
	topo->classes[0] = topo->classes[1];
	topo->classes[1] = first;
	for (size_t i = 0; i < topo->n_cpus; i++)
		topo->cpus[i].class_idx = 1 - topo->cpus[i].class_idx;
	json = tmigr_topology_to_json(topo);
	assert_non_null(json);
	assert_int_equal(tmigr_topology_from_json(json, &back, &err), -EINVAL);
	assert_string_equal(err.text, "topology: classes[1]: not in the order of capacities");
	assert_null(back);
	json_decref(json);
	tmigr_topology_free(topo);
}

/* No key may be missing, and nothing but an object is one. */
static void incomplete(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo, *back = NULL;
	json_t *good, *array;
	const char *key;
	json_t *value;
	size_t n = 0;

	sysfs_tree_4_4(m);
	topo = read_machine(m);
	good = tmigr_topology_to_json(topo);
	assert_non_null(good);
	json_object_foreach (good, key, value) {
		json_t *copy = json_copy(good);

		json_object_del(copy, key);
		assert_int_equal(tmigr_topology_from_json(copy, &back, NULL), -EINVAL);
		json_decref(copy);
		n++;
	}
	assert_int_equal(n, 6);
	array = json_array();
	assert_int_equal(tmigr_topology_from_json(array, &back, NULL), -EINVAL);
	assert_int_equal(tmigr_topology_from_json(NULL, &back, NULL), -EINVAL);
	assert_null(back);
	/* What a later version adds is no reason to refuse. */
	json_object_set_new(good, "more", json_true());
	assert_int_equal(tmigr_topology_from_json(good, &back, NULL), 0);
	tmigr_topology_free(back);
	json_decref(array);
	json_decref(good);
	tmigr_topology_free(topo);
}

#define MACHINE_TEST(f) cmocka_unit_test_setup_teardown(f, sysfs_tree_setup, sysfs_tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE_TEST(refused),
		MACHINE_TEST(incomplete),
		MACHINE_TEST(class_order),
	};

	return cmocka_run_group_tests_name("topology_json", tests, NULL, NULL);
}
