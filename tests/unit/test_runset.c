// SPDX-License-Identifier: GPL-2.0-or-later
/* Several runs at once: which are found, in which order, under which label, and
 * what is said of those that cannot be read or do not count. */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "report_machine.h"
#include "tmigr/rundir.h"
#include "tmigr/runset.h"

static char base[64];
static char home[4096];

static int setup(void **state)
{
	(void)state;
	strcpy(base, "/tmp/tmigr-test-runset-XXXXXX");
	if (!getcwd(home, sizeof(home)) || !mkdtemp(base))
		return -1;
	return chdir(base);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	if (chdir(home))
		return -1;
	return nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_text(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* A run directory; @more: members of its info (stolen), or NULL. */
static void make_run(const char *path, json_t *more)
{
	struct machine *m = machine_4_4();
	json_t *info = machine_info(), *report;
	struct tmigr_rundir *d = NULL;
	struct tmigr_err err = {""};

	if (more)
		assert_int_equal(json_object_update(info, more), 0);
	report = machine_report(m, true, info);
	assert_int_equal(tmigr_rundir_create(path, false, info, &d, &err), 0);
	assert_int_equal(tmigr_rundir_finish(d, info, report, &err), 0);
	tmigr_rundir_close(d);
	json_decref(report);
	json_decref(info);
	json_decref(more);
	machine_free(m);
}

static struct tmigr_runset *load(const char *a, const char *b, const char *c)
{
	const char *paths[] = {a, b, c};
	struct tmigr_runset *set = NULL;
	struct tmigr_err err = {""};
	size_t n = 0;

	while (n < 3 && paths[n])
		n++;
	assert_int_equal(tmigr_runset_load(paths, n, &set, &err), 0);
	return set;
}

static void expect_label(const struct tmigr_runset *set, size_t k, const char *name, size_t n,
			 size_t n_counted)
{
	assert_true(k < set->n_labels);
	assert_string_equal(set->labels[k].name, name);
	assert_int_equal(set->labels[k].n, n);
	assert_int_equal(set->labels[k].n_counted, n_counted);
	assert_int_equal(tmigr_runset_label(set, name), k);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(set->runs[set->labels[k].first + i].label, k);
}

static void expect_run(const struct tmigr_runset *set, size_t i, const char *path,
		       unsigned long number)
{
	assert_true(i < set->n_runs);
	assert_string_equal(set->runs[i].path, path);
	assert_int_equal(set->runs[i].run, number);
}

static void expect_note(const struct tmigr_runset *set, const char *part)
{
	for (size_t i = 0; i < set->n_notes; i++) {
		assert_null(strchr(set->notes[i], '\n'));
		if (strstr(set->notes[i], part))
			return;
	}
	fail_msg("no note has '%s'", part);
}

static void test_label_dirs(void **state)
{
	struct tmigr_runset *set;

	(void)state;
	make_run("r/unaware/run-10", NULL);
	make_run("r/unaware/run-2", NULL);
	make_run("r/unaware/run-1", NULL);
	assert_int_equal(mkdir("r/unaware/run-x", 0777), 0);
	assert_int_equal(mkdir("r/unaware/notes", 0777), 0);
	make_run("r/split/run-1", json_pack("{s:s, s:i}", "label", "by capacity", "run", 1));
	set = load("r/unaware/", "r/split", NULL);
	assert_int_equal(set->n_labels, 2);
	assert_int_equal(set->n_runs, 4);
	expect_label(set, 0, "unaware", 3, 3);
	expect_label(set, 1, "by capacity", 1, 1);
	/* By number, not by letter. */
	expect_run(set, 0, "r/unaware/run-1", 1);
	expect_run(set, 1, "r/unaware/run-2", 2);
	expect_run(set, 2, "r/unaware/run-10", 10);
	assert_int_equal(set->n_notes, 1);
	expect_note(set, "r/unaware: there is no run-3 to run-9");
	assert_string_equal(set->runs[0].state, "complete");
	assert_non_null(set->runs[0].json);
	assert_true(tmigr_run_counts(&set->runs[0]));
	assert_int_equal(tmigr_runset_label(set, "nobody"), -ENOENT);
	tmigr_runset_free(set);
	tmigr_runset_free(NULL);
}

/* The same runs one by one, by different paths: the same groups. */
static void test_single(void **state)
{
	struct tmigr_runset *set;

	(void)state;
	make_run("r/unaware/run-1", NULL);
	make_run("r/unaware/run-2", NULL);
	make_run("alone", NULL);
	set = load("r/unaware/run-2", "./r/unaware/run-1", "alone");
	assert_int_equal(set->n_labels, 2);
	expect_label(set, 0, "unaware", 2, 2);
	expect_run(set, 0, "./r/unaware/run-1", 1);
	expect_run(set, 1, "r/unaware/run-2", 2);
	expect_label(set, 1, "alone", 1, 1);
	expect_run(set, 2, "alone", 1);
	assert_int_equal(set->n_notes, 0);
	tmigr_runset_free(set);
	/* A run twice counts once. */
	set = load("r/unaware", "r/../r/unaware/run-1", NULL);
	expect_label(set, 0, "unaware", 2, 2);
	assert_int_equal(set->n_labels, 1);
	expect_note(set, "r/../r/unaware/run-1: is r/unaware/run-1 again");
	tmigr_runset_free(set);
	/* From inside, where no path has the name. */
	assert_int_equal(chdir("r/unaware"), 0);
	set = load("run-1", NULL, NULL);
	expect_label(set, 0, "unaware", 1, 1);
	tmigr_runset_free(set);
	set = load(".", NULL, NULL);
	expect_label(set, 0, "unaware", 2, 2);
	tmigr_runset_free(set);
}

/* Labels that the user gave, on run directories side by side. */
static void test_own_labels(void **state)
{
	struct tmigr_runset *set;

	(void)state;
	make_run("a", json_pack("{s:s}", "label", "x/y"));
	make_run("b", json_pack("{s:s}", "label", "x/y"));
	make_run("c", json_pack("{s:s}", "label", ""));
	set = load("a", "b", "c");
	expect_label(set, 0, "x/y", 2, 2);
	expect_run(set, 0, "a", 1);
	expect_run(set, 1, "b", 2);
	expect_label(set, 1, "c", 1, 1);
	assert_int_equal(set->n_notes, 1);
	expect_note(set, "label 'x/y' is taken as a name");
	tmigr_runset_free(set);
}

static void test_same_label(void **state)
{
	struct tmigr_runset *set;

	(void)state;
	make_run("old/unaware/run-1", NULL);
	make_run("new/unaware/run-1", NULL);
	make_run("new/z/run-1", json_pack("{s:s}", "label", "unaware"));
	set = load("old/unaware", "new/unaware", "new/z");
	assert_int_equal(set->n_labels, 3);
	expect_label(set, 0, "old/unaware", 1, 1);
	expect_label(set, 1, "new/unaware", 1, 1);
	expect_label(set, 2, "new/z (unaware)", 1, 1);
	assert_int_equal(set->n_notes, 3);
	expect_note(set, "one is old/unaware");
	tmigr_runset_free(set);
	/* One that looks like another's path. */
	make_run("q", json_pack("{s:s}", "label", "old/unaware"));
	set = load("old/unaware", "new/unaware", "q");
	expect_label(set, 0, "old/unaware", 1, 1);
	expect_label(set, 2, "old/unaware #3", 1, 1);
	tmigr_runset_free(set);
}

static void expect_left_out(const struct tmigr_run *run, const char *why)
{
	assert_non_null(run->report);
	assert_null(run->problem);
	assert_non_null(run->left_out);
	assert_string_equal(run->left_out, why);
	assert_false(tmigr_run_counts(run));
}

static void test_left_out(void **state)
{
	struct tmigr_runset *set;

	(void)state;
	make_run("l/run-1", json_pack("{s:s, s:s, s:i}", "label", "u", "failed",
				      "killed by signal 9", "exit_status", 137));
	make_run("l/run-2", json_pack("{s:b, s:i}", "interrupted", 1, "exit_status", 130));
	make_run("l/run-3", json_pack("{s:s}", "partial", "cut"));
	make_run("l/run-4", json_pack("{s:i}", "exit_status", 3));
	make_run("l/run-5", json_pack("{s:s}", "label", "u"));
	write_text("l/run-5/run.json", "{\"schema\":\"tmigr-run\",\"version\":1,"
				       "\"state\":\"running\"}");
	make_run("l/run-6", json_pack("{s:s}", "label", "u"));
	set = load("l", NULL, NULL);
	assert_int_equal(set->n_labels, 2); /* "u", and those that say nothing: "l" */
	expect_label(set, 0, "u", 3, 1);
	expect_left_out(&set->runs[0], "failed: killed by signal 9");
	expect_left_out(&set->runs[1], "interrupted: still goes on, or was killed");
	assert_null(set->runs[2].left_out);
	expect_label(set, 1, "l", 3, 0);
	expect_left_out(&set->runs[3], "interrupted");
	expect_left_out(&set->runs[4], "a part of the run only: cut");
	expect_left_out(&set->runs[5], "failed: exit status 3");
	tmigr_runset_free(set);
}

static void expect_problem(const struct tmigr_run *run, const char *part)
{
	assert_null(run->report);
	assert_non_null(run->problem);
	assert_null(strchr(run->problem, '\n'));
	if (!strstr(run->problem, part))
		fail_msg("'%s' lacks '%s'", run->problem, part);
	assert_false(tmigr_run_counts(run));
}

static void test_broken(void **state)
{
	struct tmigr_runset *set;

	(void)state;
	make_run("l/run-1", json_pack("{s:s}", "label", "u"));
	make_run("l/run-2", NULL);
	write_text("l/run-2/report.json", "{\"schema\":\"tmigr-report\",\"version\":2}");
	make_run("l/run-3", NULL);
	write_text("l/run-3/report.json", "{\n\"schema\":");
	make_run("l/run-4", NULL);
	assert_int_equal(unlink("l/run-4/report.json"), 0);
	assert_int_equal(mkdir("l/run-5", 0777), 0);
	write_text("l/run-6", "x");
	make_run("l/run-7", json_pack("{s:s}", "label", "u"));
	write_text("l/run-7/run.json", "{\"schema\":\"tmigr-run\",\"version\":7,"
				       "\"state\":\"complete\"}");
	set = load("l", "nothing/there", NULL);
	/* The broken ones are of their siblings' label. */
	assert_int_equal(set->n_labels, 2);
	expect_label(set, 0, "u", 7, 2);
	expect_problem(&set->runs[1], "l/run-2/report.json: report of schema version 2");
	expect_problem(&set->runs[2], "l/run-3/report.json: line 2");
	expect_problem(&set->runs[3], "l/run-4: no report: report.json is gone");
	expect_problem(&set->runs[4], "l/run-5: not a run directory");
	expect_problem(&set->runs[5], "l/run-6: ");
	assert_non_null(set->runs[6].report);
	expect_note(set, "l/run-7/run.json: of schema version 7, this tool reads version 1");
	expect_label(set, 1, "there", 1, 0);
	expect_problem(&set->runs[7], "nothing/there: ");
	tmigr_runset_free(set);
}

static void copy(const char *from, const char *to)
{
	static char buf[1 << 20];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n;

	assert_non_null(in);
	assert_non_null(out);
	n = fread(buf, 1, sizeof(buf), in);
	assert_true(n > 0 && n < sizeof(buf));
	assert_int_equal(fwrite(buf, 1, n, out), n);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

/* A recording for a run, and in place of a report that is broken. */
static void test_recording(void **state)
{
	struct tmigr_runset *set;
	char demo[4200];

	(void)state;
	snprintf(demo, sizeof(demo), "%s/demo/events.tmr", home);
	make_run("l/run-1", NULL);
	copy(demo, "l/run-1/events.tmr");
	write_text("l/run-1/report.json", "");
	make_run("l/run-2", NULL);
	copy(demo, "alone.tmr");
	set = load("l", "alone.tmr", NULL);
	expect_label(set, 0, "l", 2, 2);
	expect_label(set, 1, "alone", 1, 1);
	assert_true(json_equal(set->runs[0].report, set->runs[2].report));
	assert_int_equal(set->n_notes, 1);
	expect_note(set, "l/run-1/report.json: line 1");
	tmigr_runset_free(set);
	/* Inside a run directory: the run's number and label. */
	set = load("l/run-1/events.tmr", "l/run-2", NULL);
	expect_label(set, 0, "l", 2, 2);
	expect_run(set, 0, "l/run-1/events.tmr", 1);
	tmigr_runset_free(set);
}

static void test_none(void **state)
{
	struct tmigr_runset *set = (void *)0x1;
	struct tmigr_err err = {""};

	(void)state;
	assert_int_equal(tmigr_runset_load(NULL, 0, &set, &err), -EINVAL);
	assert_ptr_equal(set, (void *)0x1);
	assert_true(*err.text);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_label_dirs), T(test_single), T(test_own_labels), T(test_same_label),
		T(test_left_out),   T(test_broken), T(test_recording),	T(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
