// SPDX-License-Identifier: GPL-2.0-or-later
/* The report object from figures that are written down here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "report_view.h"

static void test_object(void **state)
{
	json_t *r = report_4_4(), *c, *s, *root;

	(void)state;
	assert_string_equal(str(r, "schema"), "tmigr-report");
	assert_int_equal(num(r, "version"), 1);
	assert_string_equal(str(r, "kernel"), "7.3.4");
	assert_int_equal(num(r, "start_ns"), 1000000000000);
	assert_int_equal(num(r, "window_ns"), 10000000000);
	assert_string_equal(str(r, "residency_source"), "maps");
	assert_int_equal(json_array_size(json_object_get(r, "classes")), 2);
	assert_string_equal(str(at(r, "classes", 1), "name"), "big");
	assert_string_equal(str(at(r, "classes", 1), "cpus"), "4-7");
	c = at(r, "cpus", 0);
	assert_string_equal(str(c, "class"), "LITTLE");
	assert_int_equal(num(c, "capacity"), 442);
	assert_int_equal(num(c, "running_ns"), 1000000000);
	s = at(c, "states", 1);
	assert_string_equal(str(s, "name"), "cpu-sleep");
	assert_int_equal(num(s, "time_ns"), 7000000000);
	assert_int_equal(num(s, "entries"), 700);
	assert_int_equal(num(s, "above"), 12);
	/* Empty buckets at the end are cut off. */
	assert_int_equal(json_array_size(json_object_get(s, "hist")), 0);
	assert_int_equal(json_array_size(json_object_get(at(c, "states", 0), "hist")), 21);
	root = at(r, "roots", 0);
	assert_string_equal(str(root, "group"), "GRP0:0");
	assert_string_equal(str(root, "cpus"), "0-7");
	assert_int_equal(num(root, "held_ns"), 8000000001);
	assert_int_equal(num(root, "unknown_ns"), 98999999);
	assert_int_equal(num(root, "free_ns"), 400000000);
	s = at(root, "holders", 2);
	assert_int_equal(num(s, "cpu"), 4);
	assert_int_equal(num(s, "running_ns"), 1);
	assert_int_equal(num(at(s, "idle_ns", 1), "time_ns"), 3000000000);
	assert_int_equal(num(s, "avoidable_ns"), 1500000000);
	s = at(root, "classes", 0);
	assert_int_equal(num(s, "held_ns"), 5000000000);
	assert_int_equal(num(at(root, "classes", 1), "avoidable_ns"), 1500000000);
	s = at(r, "remote", 2);
	assert_int_equal(num(s, "executor"), 4);
	assert_int_equal(num(s, "woke_executor"), 6);
	assert_string_equal(str(at(s, "woke", 1), "name"), "cpu-sleep");
	assert_int_equal(num(at(s, "woke", 1), "count"), 5);
	s = json_object_get(r, "lost");
	assert_int_equal(num(s, "records"), 3);
	assert_int_equal(num(s, "group_updates"), 2);
	assert_int_equal(num(at(s, "cpus", 0), "cpu"), 2);
	s = json_object_get(r, "observer");
	assert_int_equal(num(s, "bpf_ns"), 4200000);
	assert_int_equal(num(s, "housekeeping_cpu"), 2);
	json_decref(r);
}

/* A line that goes on indented is one line. */
static void unwrap(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		bool wrapped = strncmp(at, "\n  ", 3) == 0;

		*to++ = wrapped ? ' ' : *at;
		at += wrapped ? 2 : 0;
	}
	*to = '\0';
}

/* Remote expiries that the maps had no room for: a loss, and said wherever losses
 * are. */
static void test_lost_expiries(void **state)
{
	struct machine *m = machine_4_4();
	struct tmigr_err err;
	json_t *r, *lost;
	char *text;

	(void)state;
	m->totals.cpus[2].lost = 0;
	m->model.res.lost_updates = 0;
	m->totals.remote_lost = 17;
	r = machine_report(m, true, NULL);
	assert_non_null(r);
	assert_int_equal(tmigr_report_check(r, &err), 0);
	lost = json_object_get(r, "lost");
	assert_int_equal(num(lost, "remote_expiries"), 17);
	assert_int_equal(num(lost, "records"), 0);
	text = render(tmigr_report_text, r);
	unwrap(text);
	assert_non_null(strstr(text, " unknown. 17 remote expiries not counted."));
	free(text);
	json_object_del(lost, "remote_expiries");
	assert_int_equal(tmigr_report_check(r, &err), -EINVAL);
	json_decref(r);
	m->totals.remote_lost = 0;
	r = machine_report(m, true, NULL);
	text = render(tmigr_report_text, r);
	assert_non_null(strstr(text, "Lost: nothing."));
	free(text);
	json_decref(r);
	machine_free(m);
}

/* Laws 1 and 2, on the object as it is printed. */
static void test_sums(void **state)
{
	json_t *r = report_4_4(), *c, *s;
	json_int_t window = num(r, "window_ns");
	size_t i, k;

	(void)state;
	json_array_foreach (json_object_get(r, "cpus"), i, c) {
		json_int_t sum = num(c, "running_ns") + num(c, "offline_ns") + num(c, "unknown_ns");

		json_array_foreach (json_object_get(c, "states"), k, s)
			sum += num(s, "time_ns");
		assert_int_equal(sum, window);
	}
	json_array_foreach (json_object_get(r, "roots"), i, c) {
		json_int_t sum = num(c, "handover_ns") + num(c, "duty_ns") + num(c, "free_ns") +
				 num(c, "unknown_ns");
		size_t j;

		json_array_foreach (json_object_get(c, "holders"), k, s) {
			json_int_t held = num(s, "running_ns") + num(s, "unknown_state_ns");
			json_t *st;

			json_array_foreach (json_object_get(s, "idle_ns"), j, st)
				held += num(st, "time_ns");
			assert_int_equal(held, num(s, "held_ns"));
			sum += held;
		}
		assert_int_equal(sum, window);
	}
	json_decref(r);
}

/* Without totals: residency and remote expiry from the timeline, cost unknown. */
static void test_timeline_only(void **state)
{
	struct machine *m = machine_4_4();
	struct tmigr_remote *remote = zalloc(1, sizeof(*remote));
	json_t *r, *o;

	(void)state;
	*remote = (struct tmigr_remote){.executor = 7, .target = 3, .count = 9};
	m->model.res.remote = remote;
	m->model.res.n_remote = 1;
	m->model.res.lost_records = 77;
	m->model.res.records = 123;
	r = machine_report(m, false, NULL);
	assert_non_null(r);
	assert_string_equal(str(r, "residency_source"), "timeline");
	assert_int_equal(num(at(r, "cpus", 0), "running_ns"), 10000000000);
	assert_int_equal(json_array_size(json_object_get(r, "remote")), 1);
	assert_int_equal(num(at(r, "remote", 0), "executor"), 7);
	assert_int_equal(num(json_object_get(r, "lost"), "records"), 77);
	o = json_object_get(r, "observer");
	assert_true(json_is_null(json_object_get(o, "bpf_ns")));
	assert_true(json_is_null(json_object_get(o, "cpu_ns")));
	assert_true(json_is_null(json_object_get(o, "housekeeping_cpu")));
	assert_int_equal(num(o, "records"), 123);
	assert_int_equal(tmigr_report_check(r, NULL), 0);
	json_decref(r);
	machine_free(m);
}

/* States without a sysfs entry are listed when they were used. */
static void test_state_names(void **state)
{
	struct machine *m = machine_new(2);
	json_t *r, *c;

	(void)state;
	set_idle(m, 0, 0, 5 * MS, 1);
	set_idle(m, 0, 1, 1 * SEC, 10);
	set_state(&m->topo.cpus[1], 0, "C1");
	set_idle(m, 1, 3, 2 * SEC, 4);
	r = machine_report(m, true, NULL);
	c = at(r, "cpus", 0);
	assert_int_equal(json_array_size(json_object_get(c, "states")), 2);
	assert_string_equal(str(at(c, "states", 0), "name"), "poll");
	assert_string_equal(str(at(c, "states", 1), "name"), "default idle");
	c = at(r, "cpus", 1);
	assert_int_equal(json_array_size(json_object_get(c, "states")), 2);
	assert_string_equal(str(at(c, "states", 0), "name"), "C1");
	assert_string_equal(str(at(c, "states", 1), "name"), "state3");
	assert_int_equal(num(at(c, "states", 1), "index"), 3);
	json_decref(r);
	machine_free(m);
}

/* What comes as info cannot stand in for a figure. */
static void test_info(void **state)
{
	struct machine *m = machine_4_4();
	json_t *info =
		json_pack("{s:s, s:s, s:i}", "kernel", "x", "schema", "evil", "window_ns", 1);
	json_t *r = machine_report(m, true, info);

	(void)state;
	assert_string_equal(str(r, "schema"), "tmigr-report");
	assert_string_equal(str(r, "kernel"), "x");
	assert_int_equal(num(r, "window_ns"), 10000000000);
	json_decref(r);
	json_decref(info);
	machine_free(m);
}

/* CPU 0 was busy with its tick off, CPU 1 ran a little while it went idle and is outside
 * for the rest; of CPU 2 the timeline says more than the maps: then it says nothing. */
static json_t *tick_off_report(json_t *info)
{
	struct machine *m = machine_4_4();
	struct tmigr_cpu_figures *f = m->model.res.cpus;
	json_t *r;

	m->topo.cpus[0].nohz_full = true;
	f[0].running_ns[TMIGR_PART_ACTIVE] = SEC / 10;
	f[0].running_ns[TMIGR_PART_IDLE] = SEC * 8 / 10;
	f[1].running_ns[TMIGR_PART_IDLE] = SEC / 100;
	f[1].running_ns[TMIGR_PART_OUTSIDE] = SEC - SEC / 100;
	f[2].running_ns[TMIGR_PART_IDLE] = 2 * SEC;
	r = machine_report(m, true, info);
	machine_free(m);
	return r;
}

static void expect_parts(const json_t *r, int cpu, json_int_t active, json_int_t idle,
			 json_int_t outside, json_int_t unknown)
{
	const json_t *p =
		json_object_get(json_array_get(json_object_get(r, "cpus"), cpu), "running_tmigr");

	assert_int_equal(json_integer_value(json_object_get(p, "active_ns")), active);
	assert_int_equal(json_integer_value(json_object_get(p, "idle_ns")), idle);
	assert_int_equal(json_integer_value(json_object_get(p, "outside_ns")), outside);
	assert_int_equal(json_integer_value(json_object_get(p, "unknown_ns")), unknown);
}

static void test_tick_off(void **state)
{
	json_t *r = tick_off_report(NULL), *info;
	char *text = render(tmigr_report_text, r);
	const json_t *cpus = json_object_get(r, "cpus");

	(void)state;
	expect_parts(r, 0, SEC / 10, SEC * 8 / 10, 0, SEC / 10);
	expect_parts(r, 1, 0, SEC / 100, SEC - SEC / 100, 0);
	expect_parts(r, 2, 0, 0, 0, SEC);
	assert_true(json_is_true(json_object_get(json_array_get(cpus, 0), "nohz_full")));
	assert_null(json_object_get(json_array_get(cpus, 1), "nohz_full"));
	assert_non_null(strstr(text, "Note: CPUs 0 were idle to timer migration while they ran"));
	assert_non_null(strstr(text, "of it tmigr-idle"));
	free(text);
	text = render(tmigr_report_csv_residency, r);
	assert_non_null(
		strstr(text, "0,LITTLE,442,-1,running,1000000000,,,,800000000,100000000\n"));
	free(text);
	json_decref(r);
	info = json_pack("{sb}", "timeline", 0);
	r = tick_off_report(info);
	cpus = json_object_get(r, "cpus");
	assert_true(json_is_null(json_object_get(json_array_get(cpus, 0), "running_tmigr")));
	text = render(tmigr_report_text, r);
	assert_null(strstr(text, "of it tmigr-idle"));
	free(text);
	text = render(tmigr_report_csv_residency, r);
	assert_non_null(strstr(text, "0,LITTLE,442,-1,running,1000000000,,,,,\n"));
	free(text);
	json_decref(r);
	json_decref(info);
}

/* kernel.timer_migration at both ends of the window; -1: not known, -2: not told. */
static char *sysctl_text(int start, int end)
{
	struct machine *m = machine_4_4();
	json_t *info = json_object(), *r;
	char *text;

	m->topo.timer_migration = start;
	if (end > -2)
		json_object_set_new(info, "timer_migration_end",
				    end < 0 ? json_null() : json_integer(end));
	r = machine_report(m, true, info);
	text = render(tmigr_report_text, r);
	json_decref(r);
	json_decref(info);
	machine_free(m);
	return text;
}

static void test_sysctl(void **state)
{
	static const struct {
		int start, end;
		const char *note; /* NULL: none about it */
	} cases[] = {
		{1, 1, NULL},
		{1, -2, NULL},
		{1, -1, NULL},
		{0, 0, "timer migration is switched off"},
		{0, -2, "timer migration is switched off"},
		{0, 1, "kernel.timer_migration was 0 at the start of the window and 1 at its end"},
		{1, 0, "kernel.timer_migration was 1 at the start of the window and 0 at its end"},
		{-1, -2, "what kernel.timer_migration was is not known"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = sysctl_text(cases[i].start, cases[i].end);

		if (cases[i].note)
			assert_non_null(strstr(text, cases[i].note));
		else
			assert_null(strstr(text, "kernel.timer_migration"));
		free(text);
	}
}

/* Object -> text -> object: the same bytes in every view. */
static void test_json_round_trip(void **state)
{
	static const view_fn fns[] = {tmigr_report_json, tmigr_report_text,
				      tmigr_report_csv_residency};
	json_t *r = report_4_4(), *again;
	char *text = render(tmigr_report_json, r);

	(void)state;
	again = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(again);
	assert_int_equal(tmigr_report_check(again, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		char *a = render(fns[i], r), *b = render(fns[i], again);

		assert_string_equal(a, b);
		free(a);
		free(b);
	}
	free(text);
	json_decref(again);
	json_decref(r);
}

/* A window of no length divides nothing. */
static void test_empty_window(void **state)
{
	struct machine *m = machine_new(2);
	json_t *r;
	char *text;

	(void)state;
	m->model.res.end_ns = m->model.res.start_ns;
	m->model.res.roots[0].regime_ns[TMIGR_FREE] = 0;
	for (int i = 0; i < 2; i++)
		m->totals.cpus[i].time_ns[TMIGR_SLOT_RUNNING] = 0;
	r = machine_report(m, true, NULL);
	text = render(tmigr_report_text, r);
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	free(text);
	json_decref(r);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object),
		cmocka_unit_test(test_lost_expiries),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_timeline_only),
		cmocka_unit_test(test_state_names),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_tick_off),
		cmocka_unit_test(test_sysctl),
		cmocka_unit_test(test_json_round_trip),
		cmocka_unit_test(test_empty_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
