// SPDX-License-Identifier: GPL-2.0-or-later
/* The report object from figures that are written down here, and its views. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "report_machine.h"
#include "tmigr/hotplug_ops.h"

/* ---- helpers ---- */

typedef int (*view_fn)(const json_t *report, FILE *out);

/* A view as a string; owned by the caller. */
static char *render(view_fn fn, const json_t *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(fn(report, out), 0);
	fclose(out);
	return text;
}

static json_int_t num(const json_t *obj, const char *key)
{
	json_t *v = json_object_get(obj, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static const char *str(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	assert_non_null(s);
	return s;
}

static json_t *at(const json_t *obj, const char *key, size_t i)
{
	json_t *v = json_array_get(json_object_get(obj, key), i);

	assert_non_null(v);
	return v;
}

static json_t *report_4_4(void)
{
	struct machine *m = machine_4_4();
	json_t *info = machine_info();
	json_t *report = machine_report(m, true, info);

	assert_non_null(report);
	machine_free(m);
	json_decref(info);
	return report;
}

/* ---- the object ---- */

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

/* ---- the answer ---- */

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

/* 12 CPUs in five classes, two levels, the classes' own idle states. */
static struct machine *five_classes(void)
{
	static const char *const names[] = {"LITTLE", "mid1", "mid2", "mid3", "big"};
	static const size_t ends[] = {2, 4, 7, 10, 12};
	struct machine *m = machine_new(12);
	struct tmigr_hierarchy *h = &m->model.h;

	for (size_t c = 0; c < 5; c++)
		set_class(m, c, names[c], (unsigned int)(300 + c * 150), c ? ends[c - 1] : 0,
			  ends[c]);
	h->n_groups = 3;
	h->groups[0] = (struct tmigr_group_view){.name = "GRP1:0", .parent = -1, .level = 1};
	h->groups[1] = (struct tmigr_group_view){.name = "GRP0:0", .parent = 0, .mask = 1};
	h->groups[2] = (struct tmigr_group_view){.name = "GRP0:1", .parent = 0, .mask = 2};
	for (size_t i = 0; i < 12; i++) {
		h->cpus[i].group = i < 8 ? 1 : 2;
		set_state(&m->topo.cpus[i], 0, "WFI");
		set_state(&m->topo.cpus[i], 1, i < 7 ? "core-off" : "cluster-off");
		set_idle(m, i, 1, (i + 1) * 100 * MS, 3);
	}
	add_holder(m, 0, 0, 1 * SEC);
	add_holder(m, 0, 8, 2 * SEC)->avoidable_ns = 2 * SEC;
	add_holder(m, 0, 11, 3 * SEC)->avoidable_ns = 1;
	add_remote(m, 8, 0, 5, 0, 2);
	add_remote(m, 11, 8, 3, 0, 3);
	add_remote(m, 0, 11, 1, 0, 0);
	return m;
}

static void test_five_classes(void **state)
{
	struct machine *m = five_classes();
	json_t *r = machine_report(m, true, NULL), *root;
	char *text;

	(void)state;
	root = at(r, "roots", 0);
	assert_int_equal(json_array_size(json_object_get(root, "classes")), 5);
	assert_int_equal(num(at(root, "classes", 3), "held_ns"), 2000000000);
	assert_string_equal(str(root, "cpus"), "0-11");
	assert_string_equal(str(at(json_object_get(r, "hierarchy"), "groups", 2), "cpus"), "8-11");
	assert_string_equal(str(json_object_get(r, "answer"), "text"),
			    "YES, a big CPU held the global migrator for 3.000 s, 30.0 % of the "
			    "window; for 1 ns of that (<0.1 %) a CPU of a lower class was awake.");
	text = render(tmigr_report_text, r);
	assert_non_null(strstr(text, "Global migrator of GRP1:0 over GRP0:0 [LITTLE 0-1, mid1 2-3, "
				     "mid2 4-6, mid3 7], GRP0:1 [mid3"));
	assert_non_null(strstr(text, "8 for lower-class CPUs ran on higher-class CPUs, 1 the other "
				     "way"));
	free(text);
	json_decref(r);
	machine_free(m);
}

/* ---- views ---- */

static char *read_file(const char *name)
{
	const char *tests = getenv("TMIGR_TESTS");
	char path[512], *text;
	long size;
	FILE *in;

	snprintf(path, sizeof(path), "%s/fixtures/%s", tests ? tests : "tests", name);
	in = fopen(path, "r");
	if (!in)
		return strdup("");
	fseek(in, 0, SEEK_END);
	size = ftell(in);
	rewind(in);
	text = zalloc((size_t)size + 1, 1);
	assert_int_equal(fread(text, 1, (size_t)size, in), size);
	fclose(in);
	return text;
}

/* Any change of the shape shows here.  UPDATE=1 writes the new text to stderr
 * for a look before it becomes the fixture. */
static void test_golden_text(void **state)
{
	json_t *r = report_4_4();
	char *text = render(tmigr_report_text, r), *want = read_file("report-4+4.txt");

	(void)state;
	if (getenv("UPDATE"))
		fputs(text, stderr);
	assert_string_equal(text, want);
	free(text);
	free(want);
	json_decref(r);
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

static void test_csv(void **state)
{
	json_t *r = report_4_4();
	char *text = render(tmigr_report_csv_residency, r);
	static const char head[] =
		"cpu,class,capacity,state,state_name,time_ns,entries,above,below,"
		"tmigr_idle_ns,tmigr_unknown_ns\n"
		"0,LITTLE,442,-1,running,1000000000,,,,0,1000000000\n"
		"0,LITTLE,442,0,WFI,2000000000,1000,0,0,,\n"
		"0,LITTLE,442,1,cpu-sleep,7000000000,700,12,0,,\n"
		"1,LITTLE,442,-1,running,1000000000,,,,0,1000000000\n"
		"1,LITTLE,442,0,WFI,2000000000,1000,0,5,,\n";

	(void)state;
	assert_memory_equal(text, head, sizeof(head) - 1);
	free(text);
	text = render(tmigr_report_csv_migrator, r);
	assert_string_equal(text, "root,cpu,class,regime,time_ns,holdings,longest_ns,avoidable_ns,"
				  "avoidable_unknown_ns\n"
				  "GRP0:0,0,LITTLE,held,4000000000,3,2500000000,0,0\n"
				  "GRP0:0,1,LITTLE,held,1000000000,1,1000000000,0,0\n"
				  "GRP0:0,4,big,held,3000000001,1,3000000001,1500000000,0\n"
				  "GRP0:0,,,handover,1000000,,,,\n"
				  "GRP0:0,,,duty,1500000000,,,,\n"
				  "GRP0:0,,,free,400000000,,,,\n"
				  "GRP0:0,,,unknown,98999999,,,,\n");
	free(text);
	text = render(tmigr_report_csv_migrator_states, r);
	assert_string_equal(text, "root,cpu,class,state,state_name,held_ns\n"
				  "GRP0:0,0,LITTLE,-1,running,100000000\n"
				  "GRP0:0,0,LITTLE,0,WFI,3000000000\n"
				  "GRP0:0,0,LITTLE,1,cpu-sleep,900000000\n"
				  "GRP0:0,1,LITTLE,-1,running,1000000000\n"
				  "GRP0:0,1,LITTLE,0,WFI,0\n"
				  "GRP0:0,1,LITTLE,1,cpu-sleep,0\n"
				  "GRP0:0,4,big,-1,running,1\n"
				  "GRP0:0,4,big,0,WFI,0\n"
				  "GRP0:0,4,big,1,cpu-sleep,3000000000\n");
	free(text);
	text = render(tmigr_report_csv_remote, r);
	assert_string_equal(text,
			    "executor,executor_class,target,target_class,count,woke_executor\n"
			    "0,LITTLE,0,LITTLE,4,0\n"
			    "0,LITTLE,5,big,2,2\n"
			    "4,big,0,LITTLE,12,6\n"
			    "4,big,1,LITTLE,3,0\n");
	free(text);
	json_decref(r);
}

static void test_csv_segments(void **state)
{
	const struct tmigr_segment held = {0, TMIGR_HELD, 4, 1000 * SEC, 1003 * SEC + 1};
	const struct tmigr_segment duty = {0, TMIGR_DUTY, -1, 1003 * SEC + 1, 1010 * SEC};
	json_t *r = report_4_4();
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(tmigr_report_csv_segments_head(out), 0);
	assert_int_equal(tmigr_report_csv_segment(r, &held, out), 0);
	assert_int_equal(tmigr_report_csv_segment(r, &duty, out), 0);
	fclose(out);
	assert_string_equal(text, "root,regime,cpu,class,start_ns,end_ns\n"
				  "GRP0:0,held,4,big,0,3000000001\n"
				  "GRP0:0,duty,,,3000000001,10000000000\n");
	free(text);
	json_decref(r);
}

/* Offline and unknown time, and names that CSV must quote. */
static void test_csv_odd(void **state)
{
	struct machine *m = machine_new(1);
	json_t *r;
	char *text;

	(void)state;
	set_class(m, 0, "a,\"b\"", 1024, 0, 1);
	m->totals.cpus[0].time_ns[TMIGR_SLOT_RUNNING] = 1;
	m->totals.cpus[0].time_ns[TMIGR_SLOT_OFFLINE] = 2;
	m->totals.cpus[0].time_ns[TMIGR_SLOT_UNKNOWN] = 10 * SEC - 3;
	r = machine_report(m, true, NULL);
	text = render(tmigr_report_csv_residency, r);
	assert_string_equal(text, "cpu,class,capacity,state,state_name,time_ns,entries,above,below,"
				  "tmigr_idle_ns,tmigr_unknown_ns\n"
				  "0,\"a,\"\"b\"\"\",1024,-1,running,1,,,,0,1\n"
				  "0,\"a,\"\"b\"\"\",1024,,offline,2,,,,,\n"
				  "0,\"a,\"\"b\"\"\",1024,,unknown,9999999997,,,,,\n");
	free(text);
	json_decref(r);
	machine_free(m);
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

static size_t check_width(const char *text)
{
	size_t lines = 0;

	for (const char *p = text; *p; lines++) {
		size_t len = strcspn(p, "\n");

		assert_true(len <= 100);
		assert_true(len == 0 || p[len - 1] != ' ');
		for (size_t i = 0; i < len; i++)
			assert_in_range(p[i], 0x20, 0x7e);
		p += len + 1;
	}
	return lines;
}

/* 192 CPUs, ten states with long names, three levels: a row per CPU, tables
 * that go on below, no line over 100 columns. */
static void test_wide(void **state)
{
	struct machine *m = machine_new(192);
	struct tmigr_hierarchy *h = &m->model.h;
	json_t *r;
	char *text;

	(void)state;
	h->n_groups = 28;
	h->groups[0] = (struct tmigr_group_view){.name = "GRP2:0", .parent = -1, .level = 2};
	for (int g = 1; g < 4; g++) {
		h->groups[g] = (struct tmigr_group_view){.parent = 0, .level = 1};
		sprintf(h->groups[g].name, "GRP1:%d", g - 1);
	}
	for (int g = 4; g < 28; g++) {
		h->groups[g] = (struct tmigr_group_view){.parent = 1 + (g - 4) / 8};
		sprintf(h->groups[g].name, "GRP0:%d", g - 4);
	}
	for (unsigned int i = 0; i < 192; i++) {
		h->cpus[i].group = 4 + (int)i / 8;
		for (unsigned int k = 0; k < 10; k++) {
			char name[32];

			sprintf(name, "package-c%u", k);
			set_state(&m->topo.cpus[i], k, name);
			set_idle(m, i, k, i + k, 1);
		}
		add_holder(m, 0, i, MS);
		add_remote(m, i, 191 - i, i + 1, 0, 0);
		m->totals.cpus[i].lost = i % 2;
	}
	r = machine_report(m, true, NULL);
	text = render(tmigr_report_text, r);
	/* Both per-CPU tables twice, the class table, the pairs and the rest. */
	assert_true(check_width(text) > 4 * 192);
	assert_non_null(strstr(text, "GRP2:0 (3 levels, 28 groups, CPUs 0-191)"));
	assert_non_null(strstr(text, "and 182 more pairs with 16653 expiries"));
	assert_non_null(strstr(text, "96 CPUs in all"));
	free(text);
	json_decref(r);
	machine_free(m);
}

static void test_narrow_enough(void **state)
{
	struct machine *m = five_classes();
	json_t *r = machine_report(m, true, NULL);
	char *text = render(tmigr_report_text, r);

	(void)state;
	check_width(text);
	free(text);
	json_decref(r);
	machine_free(m);
}

/* Escape sequences in names do not reach a terminal. */
static void test_control_characters(void **state)
{
	struct machine *m = machine_4_4();
	json_t *info =
		json_pack("{s:s, s:[s]}", "kernel", "7\n8", "command", "a\033[31mb\302\233x");
	json_t *r;
	char *text;

	(void)state;
	set_class(m, 0, "L\033]0;x\a", 442, 0, 4);
	strcpy(m->topo.cpus[0].states[0].name, "W\rI");
	r = machine_report(m, true, info);
	text = render(tmigr_report_text, r);
	for (const char *p = text; *p; p++)
		assert_true(*p == '\n' || (*p >= 0x20 && *p < 0x7f));
	free(text);
	json_decref(r);
	json_decref(info);
	machine_free(m);
}

static void test_notes(void **state)
{
	struct machine *m = machine_4_4();
	json_t *info = json_pack("{s:s, s:b}", "partial", "x.tmr: byte 77: cut", "interrupted", 1);
	json_t *r;
	char *text;

	(void)state;
	m->topo.timer_migration = 0;
	m->model.h.cpus[7].learnt = false;
	m->model.h.cpus[7].group = -1;
	m->topo.cpus[5].class_guessed = m->topo.cpus[6].class_guessed = true;
	r = machine_report(m, false, info);
	text = render(tmigr_report_text, r);
	assert_non_null(strstr(text, "part of the run only (x.tmr: byte 77: cut)"));
	assert_non_null(strstr(text, "the run was interrupted"));
	assert_non_null(strstr(text, "kernel.timer_migration = 0"));
	assert_non_null(strstr(text, "place of CPUs 7 in the hierarchy never showed"));
	assert_non_null(strstr(text, "the class of CPUs 5-6 is a guess"));
	assert_non_null(strstr(text, "computed from the recorded events"));
	assert_non_null(strstr(text, "what tmigr itself took is not known"));
	free(text);
	json_decref(r);
	json_decref(info);
	machine_free(m);
}

static void test_write_errors(void **state)
{
	static const view_fn fns[] = {tmigr_report_text,	  tmigr_report_json,
				      tmigr_report_csv_residency, tmigr_report_csv_migrator,
				      tmigr_report_csv_remote,	  tmigr_report_csv_migrator_states};
	json_t *r = report_4_4();

	(void)state;
	for (size_t i = 0; i < sizeof(fns) / sizeof(fns[0]); i++) {
		FILE *out = fopen("/dev/full", "w");

		assert_non_null(out);
		assert_int_equal(fns[i](r, out), -ENOSPC);
		fclose(out);
	}
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

/* ---- reports that somebody else wrote ---- */

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
		cmocka_unit_test(test_object),
		cmocka_unit_test(test_lost_expiries),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_tick_off),
		cmocka_unit_test(test_sysctl),
		cmocka_unit_test(test_timeline_only),
		cmocka_unit_test(test_state_names),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_answer_yes),
		cmocka_unit_test(test_answer_no),
		cmocka_unit_test(test_answer_level_classes),
		cmocka_unit_test(test_answer_split),
		cmocka_unit_test(test_answer_mixed_roots),
		cmocka_unit_test(test_answer_symmetric),
		cmocka_unit_test(test_answer_no_hierarchy),
		cmocka_unit_test(test_five_classes),
		cmocka_unit_test(test_golden_text),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_csv_segments),
		cmocka_unit_test(test_csv_odd),
		cmocka_unit_test(test_json_round_trip),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_narrow_enough),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_write_errors),
		cmocka_unit_test(test_empty_window),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_not_a_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
