// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports that somebody else wrote. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "report_view.h"
#include "tmigr/hotplug_ops.h"

static unsigned long rejected, accepted;

/* Every view, checked or not: never a crash. */
static void survive(const json_t *report)
{
	static const view_fn fns[] = {tmigr_report_text,	  tmigr_report_json,
				      tmigr_report_csv_residency, tmigr_report_csv_migrator,
				      tmigr_report_csv_remote,	  tmigr_report_csv_migrator_states,
				      tmigr_report_csv_hotplug,	  tmigr_hotplug_text};
	const struct tmigr_segment seg = {0, TMIGR_HELD, 4, 1000 * SEC, 1003 * SEC};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (size_t i = 0; i < sizeof(fns) / sizeof(fns[0]); i++)
		fns[i](report, out);
	tmigr_report_csv_segment(report, &seg, out);
	fclose(out);
	free(text);
}

static int judge(const json_t *report)
{
	struct tmigr_err err = {""};
	int ret = tmigr_report_check(report, &err);

	if (ret < 0) {
		assert_int_equal(ret, -EINVAL);
		assert_true(err.text[0]);
		rejected++;
	} else {
		accepted++;
	}
	survive(report);
	return ret;
}

static json_t *mutant(int kind)
{
	switch (kind) {
	case 0:
		return json_null();
	case 1:
		return json_string("\001x");
	case 2:
		return json_integer(-1);
	case 3:
		return json_integer(INT64_MAX);
	case 4:
		return json_array();
	case 5:
		return json_pack("[i, n, {}]", 1);
	case 6:
		return json_object();
	case 7:
		return json_real(1e300);
	default:
		return json_true();
	}
}

#define MUTANTS 9

static bool is_info(const char *key)
{
	static const char *const info[] = {"tool",    "kernel",	     "machine",
					   "command", "exit_status", "hotplug"};

	for (size_t i = 0; i < sizeof(info) / sizeof(info[0]); i++)
		if (!strcmp(key, info[i]))
			return true;
	return false;
}

/* Of a step of hotplug: there only where it is true; and what older reports lack. */
static bool is_optional(const json_t *node, const char *key)
{
	if (json_object_get(node, "calls"))
		return !strcmp(key, "back") || !strcmp(key, "timer_migration");
	return !strcmp(key, "running_tmigr");
}

static void damage(const json_t *report, json_t *node);

static void damage_member(const json_t *report, json_t *node, const char *key)
{
	json_t *old = json_incref(json_object_get(node, key));

	damage(report, old);
	for (int kind = 0; kind < MUTANTS; kind++) {
		json_object_set_new(node, key, mutant(kind));
		judge(report);
	}
	json_object_del(node, key);
	if ((node != report || !is_info(key)) && !is_optional(node, key))
		assert_int_equal(judge(report), -EINVAL);
	json_object_set_new(node, key, old);
}

static void damage_element(const json_t *report, json_t *node, size_t i)
{
	json_t *old = json_incref(json_array_get(node, i));

	damage(report, old);
	for (int kind = 0; kind < MUTANTS; kind++) {
		json_array_set_new(node, i, mutant(kind));
		judge(report);
	}
	json_array_remove(node, i);
	judge(report);
	json_array_insert_new(node, i, old);
}

/* Removes and replaces every node below @node, one at a time. */
static void damage(const json_t *report, json_t *node)
{
	const char *keys[64], *key;
	size_t n = 0;
	json_t *v;

	json_object_foreach (node, key, v)
		keys[n++] = strdup(key);
	for (size_t i = 0; i < n; i++) {
		damage_member(report, node, keys[i]);
		free((char *)keys[i]);
	}
	for (size_t i = 0; i < json_array_size(node); i++)
		damage_element(report, node, i);
}

/* A bring-up that failed, with all that a report may say of one. */
static json_t *hotplug_member(void)
{
	json_t *step =
		json_pack("{si ss si si sb sb sb}", "step", 184, "name", "tmigr:online", "time_ns",
			  70, "calls", 1, "own", 1, "back", 1, "timer_migration", 1);
	json_t *op = json_pack("{si sb si si si si si si s[ss] s{si ss si} s[o]}", "cpu", 3, "up",
			       1, "start_ns", 10, "total_ns", 100, "asking_ns", 0, "own_ns", 70,
			       "between_ns", 30, "timer_migration_ns", 70, "cut", "start", "lost",
			       "failed", "step", 184, "name", "tmigr:online", "errno", 16, "steps",
			       step);

	return json_pack("{s{si si} s{si si} si si s[o]}", "bring_ups", "count", 0, "any_ns", 0,
			 "take_downs", "count", 0, "any_ns", 0, "lost", 1, "callbacks", 2,
			 "operations", op);
}

static void test_hostile(void **state)
{
	struct machine *m = machine_4_4();
	json_t *info = machine_info(), *r;

	(void)state;
	json_object_set_new(info, "hotplug", hotplug_member());
	/* Two CPUs a class say the same as four, in a quarter of the time. */
	m->topo.n_cpus = m->totals.n_cpus = m->model.res.n_cpus = m->model.h.n_cpus = 5;
	m->totals.cpus[0].hist[TMIGR_SLOT_STATE0][20] = 0;
	m->totals.cpus[0].hist[TMIGR_SLOT_STATE0][1] = 3;
	r = machine_report(m, true, info);
	assert_int_equal(judge(r), 0);
	damage(r, r);
	assert_int_equal(judge(r), 0);
	assert_true(rejected > 1000);
	assert_true(accepted > 100);
	json_decref(r);
	json_decref(info);
	machine_free(m);
}

static void test_not_a_report(void **state)
{
	json_t *r = report_4_4();
	struct tmigr_err err;

	(void)state;
	assert_int_equal(tmigr_report_check(NULL, &err), -EINVAL);
	json_object_set_new(r, "version", json_integer(2));
	assert_int_equal(tmigr_report_check(r, &err), -EINVAL);
	assert_string_equal(err.text, "report of schema version 2, this tool reads version 1");
	json_object_set_new(r, "version", json_integer(1));
	json_object_set_new(at(at(r, "cpus", 3), "states", 1), "time_ns", json_string("x"));
	assert_int_equal(tmigr_report_check(r, &err), -EINVAL);
	assert_string_equal(err.text,
			    "not a usable report: cpus[3].states[1].time_ns is not a whole "
			    "number from 0");
	json_object_set_new(r, "schema", json_string("other"));
	assert_int_equal(tmigr_report_check(r, &err), -EINVAL);
	json_decref(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_not_a_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
