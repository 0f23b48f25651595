// SPDX-License-Identifier: GPL-2.0-or-later
/* The report as text: its shape, its width, its notes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "report_view.h"

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

/* How long a short interval was, and was to be, stand together at any width. */
static void test_wakeups(void **state)
{
	static const char latency[] =
		"{\"causes_known\": true, \"cpus\": [], \"classes\": [{\"class\": \"LITTLE\","
		" \"states\": [{\"name\": \"cluster-off\", \"entries\": 4, \"wakeups\": ["
		"  {\"cause\": \"own-timer\", \"count\": 2, \"slept_ns\": 6000000,"
		"   \"awake_ns\": 20000, \"short\": 0},"
		"  {\"cause\": \"device-irq\", \"count\": 2, \"slept_ns\": 6000000,"
		"   \"awake_ns\": 20000, \"short\": 2, \"short_slept_ns\": 10000,"
		"   \"short_expected_ns\": 7912000}],"
		"  \"irqs\": [{\"irq\": 36, \"name\": \"virtio1-req.0\", \"count\": 2,"
		"   \"slept_ns\": 6000000, \"awake_ns\": 20000, \"short\": 2,"
		"   \"short_slept_ns\": 10000, \"short_expected_ns\": 7912000}]}]}]}";
	json_t *r = report_4_4();
	char *text;

	(void)state;
	json_object_set_new(r, "latency", json_loads(latency, 0, NULL));
	text = render(tmigr_report_text, r);
	assert_non_null(strstr(text, "after / of ms\n"));
	assert_non_null(strstr(text, "  0.005 / 3.956\n"));
	/* None was short. */
	assert_non_null(strstr(text, "own-timer                           -\n"));
	free(text);
	json_decref(r);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_text),
		cmocka_unit_test(test_five_classes),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_narrow_enough),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_wakeups),
		cmocka_unit_test(test_write_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
