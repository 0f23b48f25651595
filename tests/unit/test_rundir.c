// SPDX-License-Identifier: GPL-2.0-or-later
/* The run directory: what is in it at which moment, and what --force replaces. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "report_machine.h"
#include "tmigr/rundir.h"

static char base[64];
static char dir[128]; /* base/results/run-1 */

static int setup(void **state)
{
	(void)state;
	strcpy(base, "/tmp/tmigr-test-rundir-XXXXXX");
	if (!mkdtemp(base))
		return -1;
	snprintf(dir, sizeof(dir), "%s/results/run-1", base);
	return 0;
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
	return nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static bool there(const char *name)
{
	return access(path_of(name), F_OK) == 0;
}

static void write_text(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* Content of a file of the directory; owned by the caller. */
static char *text_of(const char *name)
{
	char *text = zalloc(1, 100000);
	FILE *in = fopen(path_of(name), "r");

	assert_non_null(in);
	assert_true(fread(text, 1, 99999, in) < 99999);
	fclose(in);
	return text;
}

static void expect_text(const char *name, const char *want)
{
	char *text = text_of(name);

	assert_string_equal(text, want);
	free(text);
}

static size_t count_files(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void expect_state(const char *state)
{
	json_t *run = json_load_file(path_of("run.json"), 0, NULL);

	assert_non_null(run);
	assert_string_equal(json_string_value(json_object_get(run, "schema")), "tmigr-run");
	assert_string_equal(json_string_value(json_object_get(run, "state")), state);
	assert_string_equal(json_string_value(json_object_get(run, "kernel")), "7.3.4");
	json_decref(run);
}

static struct tmigr_rundir *create(bool force)
{
	struct tmigr_rundir *d = NULL;
	struct tmigr_err err;
	json_t *info = machine_info();

	assert_int_equal(tmigr_rundir_create(dir, force, info, &d, &err), 0);
	json_decref(info);
	return d;
}

static json_t *report_4_4(void)
{
	struct machine *m = machine_4_4();
	json_t *info = machine_info(), *r = machine_report(m, true, info);

	assert_non_null(r);
	json_decref(info);
	machine_free(m);
	return r;
}

static void finish(struct tmigr_rundir *d, const json_t *run)
{
	json_t *report = report_4_4(), *info = machine_info();
	struct tmigr_err err;

	assert_int_equal(tmigr_rundir_finish(d, run ? run : info, report, &err), 0);
	tmigr_rundir_close(d);
	json_decref(info);
	json_decref(report);
}

static void test_complete(void **state)
{
	static const char *const names[] = {
		"run.json",	"report.json",	       "residency.csv",
		"migrator.csv", "migrator-states.csv", "migrator-segments.csv",
		"remote.csv",	"hierarchy.json",      "events.tmr",
	};
	const struct tmigr_segment a = {0, TMIGR_HELD, 0, 1000 * SEC, 1004 * SEC};
	const struct tmigr_segment b = {0, TMIGR_FREE, -1, 1004 * SEC, 1010 * SEC};
	struct tmigr_rundir *d = create(false);
	json_t *report = NULL, *want = report_4_4();
	struct tmigr_err err;
	char *temp, *text;

	(void)state;
	/* From the first moment: a state, and nothing else. */
	expect_state("running");
	assert_int_equal(count_files(), 1);
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), -ENODATA);
	assert_non_null(strstr(err.text, "still goes on"));
	temp = tmigr_rundir_temp(d, "events.tmr");
	write_text(temp, "x");
	assert_false(there("events.tmr"));
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), -ENODATA);
	assert_non_null(strstr(err.text, temp));
	free(temp);
	/* Given out, but never made: a command without output. */
	free(tmigr_rundir_temp(d, "stdout"));
	tmigr_rundir_segment(d, &a);
	tmigr_rundir_segment(d, &b);
	finish(d, NULL);
	expect_state("complete");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(there(names[i]));
	assert_int_equal(count_files(), sizeof(names) / sizeof(names[0]));
	text = text_of("migrator-segments.csv");
	assert_string_equal(text, "root,regime,cpu,class,start_ns,end_ns\n"
				  "GRP0:0,held,0,LITTLE,0,4000000000\n"
				  "GRP0:0,free,,,4000000000,10000000000\n");
	free(text);
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), 0);
	assert_true(json_equal(json_object_get(report, "cpus"), json_object_get(want, "cpus")));
	json_decref(report);
	json_decref(want);
}

static void test_existing(void **state)
{
	struct tmigr_rundir *d = (void *)0x1;
	json_t *info = machine_info();
	struct tmigr_err err;

	(void)state;
	/* An empty folder is as good as none. */
	snprintf(dir, sizeof(dir), "%s/empty", base);
	assert_int_equal(mkdir(dir, 0777), 0);
	finish(create(false), NULL);
	assert_int_equal(tmigr_rundir_create(dir, false, info, &d, &err), -EEXIST);
	assert_ptr_equal(d, (void *)0x1);
	assert_non_null(strstr(err.text, dir));
	assert_non_null(strstr(err.text, "--force"));
	/* A file where the directory should be. */
	snprintf(dir, sizeof(dir), "%s/file", base);
	write_text(dir, "x");
	assert_true(tmigr_rundir_create(dir, false, info, &d, &err) < 0);
	assert_non_null(strstr(err.text, dir));
	assert_true(tmigr_rundir_create(dir, true, info, &d, &err) < 0);
	snprintf(dir, sizeof(dir), "%s/file/below", base);
	assert_int_equal(tmigr_rundir_create(dir, true, info, &d, &err), -ENOTDIR);
	json_decref(info);
}

/* Never, by whatever name: not with force, and nothing is left there. */
static void test_root(void **state)
{
	const char *const names[] = {"/", "//", "/.", "/../"};
	json_t *info = json_object();

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tmigr_rundir *d = NULL;
		struct tmigr_err err = {""};

		assert_int_equal(tmigr_rundir_create(names[i], true, info, &d, &err), -EINVAL);
		assert_null(d);
		assert_non_null(strstr(err.text, "root directory"));
		assert_int_equal(tmigr_rundir_create(names[i], false, info, &d, NULL), -EINVAL);
	}
	assert_int_equal(access("/run.json", F_OK), -1);
	json_decref(info);
}

static void test_force(void **state)
{
	json_t *info = machine_info();
	struct tmigr_rundir *d = create(false);
	struct tmigr_err err;
	char *text, *temp;

	(void)state;
	temp = tmigr_rundir_temp(d, "events.tmr");
	write_text(temp, "old recording");
	free(temp);
	finish(d, NULL);
	write_text(path_of("notes.txt"), "mine");
	write_text(path_of("metrics.csv"), "old");
	write_text(path_of("stderr.partial"), "killed");
	d = create(true);
	temp = tmigr_rundir_temp(d, "events.tmr");
	write_text(temp, "new recording");
	/* Until the new one has begun the earlier run stays as it is ... */
	expect_state("complete");
	expect_text("events.tmr", "old recording");
	expect_text("metrics.csv", "old");
	expect_text("stderr.partial", "killed");
	/* ... and then its figures do not stand beside the new state. */
	assert_int_equal(tmigr_rundir_replace(d, &err), 0);
	expect_state("running");
	assert_false(there("report.json"));
	assert_false(there("events.tmr"));
	assert_false(there("metrics.csv"));
	assert_false(there("stderr.partial"));
	assert_int_equal(access(temp, F_OK), -1);
	free(temp);
	temp = tmigr_rundir_where(d, "events.tmr");
	assert_string_equal(temp, path_of("events.tmr.partial"));
	assert_int_equal(access(temp, F_OK), 0);
	free(temp);
	assert_int_equal(count_files(), 3);
	text = text_of("notes.txt");
	assert_string_equal(text, "mine");
	free(text);
	finish(d, NULL);
	expect_state("complete");
	assert_true(there("report.json"));
	assert_true(there("notes.txt"));
	json_decref(info);
	/* Files of the same name that no run wrote are not replaced. */
	snprintf(dir, sizeof(dir), "%s/other", base);
	assert_int_equal(mkdir(dir, 0777), 0);
	write_text(path_of("stdout"), "not a run's");
	info = machine_info();
	assert_int_equal(tmigr_rundir_create(dir, true, info, &d, &err), -EEXIST);
	assert_non_null(strstr(err.text, "stdout"));
	assert_int_equal(count_files(), 1);
	/* Files of other names do not matter under --force. */
	assert_int_equal(unlink(path_of("stdout")), 0);
	write_text(path_of("README"), "x");
	finish(create(true), NULL);
	assert_true(there("README"));
	json_decref(info);
}

/* An earlier run that stays, for whatever reason no other takes its place. */
static void test_keep(void **state)
{
	json_t *info = machine_info(), *report = report_4_4();
	struct tmigr_rundir *d = create(false);
	char *temp = tmigr_rundir_temp(d, "events.tmr");
	struct rlimit old, lim;
	struct tmigr_err err;
	size_t n;

	(void)state;
	write_text(temp, "old recording");
	free(temp);
	finish(d, NULL);
	n = count_files();
	for (int i = 0; i < 4; i++) {
		d = create(true);
		temp = tmigr_rundir_temp(d, "events.tmr");
		write_text(temp, "new recording");
		free(temp);
		assert_int_equal(count_files(), n + 2);
		if (i == 0) {
			tmigr_rundir_discard(d);
		} else if (i == 1) {
			tmigr_rundir_close(d);
		} else if (i == 2) {
			tmigr_rundir_interrupted();
			tmigr_rundir_close(d);
		} else {
			signal(SIGXFSZ, SIG_IGN);
			assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
			lim = old;
			lim.rlim_cur = 1000;
			assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
			assert_int_equal(tmigr_rundir_finish(d, info, report, &err), -EFBIG);
			assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
			tmigr_rundir_close(d);
		}
		assert_int_equal(count_files(), n);
		expect_state("complete");
		expect_text("events.tmr", "old recording");
	}
	/* What one that was killed has left is not the next one's. */
	write_text(path_of("events.tmr.new"), "killed");
	finish(create(true), NULL);
	assert_false(there("events.tmr"));
	assert_false(there("events.tmr.new"));
	assert_int_equal(count_files(), n - 1);
	json_decref(info);
	json_decref(report);
}

/* What a signal handler does: nothing of a new run stays, nothing of a finished one goes. */
static void test_signal(void **state)
{
	struct tmigr_rundir *d = create(false);
	char *temp = tmigr_rundir_temp(d, "events.tmr");

	(void)state;
	write_text(temp, "x");
	free(temp);
	tmigr_rundir_interrupted();
	assert_int_equal(access(dir, F_OK), -1);
	tmigr_rundir_discard(d);
	tmigr_rundir_interrupted();
	d = create(false);
	finish(d, NULL);
	tmigr_rundir_interrupted();
	expect_state("complete");
	assert_true(there("report.json"));
}

/* A run's own files, by whatever path. */
static void test_has(void **state)
{
	struct tmigr_rundir *d = create(false);
	char *temp = tmigr_rundir_temp(d, "events.tmr");
	char other[256];
	struct stat st;

	(void)state;
	write_text(temp, "x");
	free(temp);
	finish(d, NULL);
	write_text(path_of("notes.txt"), "mine");
	assert_int_equal(stat(path_of("notes.txt"), &st), 0);
	assert_false(tmigr_rundir_has(dir, &st));
	assert_int_equal(stat(path_of("events.tmr"), &st), 0);
	assert_true(tmigr_rundir_has(dir, &st));
	assert_false(tmigr_rundir_has(base, &st));
	/* Under another name it stays. */
	snprintf(other, sizeof(other), "%s/backup", base);
	assert_int_equal(link(path_of("events.tmr"), other), 0);
	assert_int_equal(stat(other, &st), 0);
	assert_false(tmigr_rundir_has(dir, &st));
	write_text(path_of("stdout.partial"), "x");
	assert_int_equal(stat(path_of("stdout.partial"), &st), 0);
	assert_true(tmigr_rundir_has(dir, &st));
}

static void test_interrupted(void **state)
{
	struct tmigr_rundir *d = create(false);
	json_t *report = NULL, *run = machine_info();
	struct tmigr_err err;
	char *temp = tmigr_rundir_temp(d, "events.tmr");

	(void)state;
	write_text(temp, "x");
	tmigr_rundir_close(d);
	expect_state("interrupted");
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), -ENODATA);
	assert_non_null(strstr(err.text, "interrupted"));
	assert_non_null(strstr(err.text, temp));
	assert_null(report);
	free(temp);
	/* Stopped by the user: says so, and has its report all the same. */
	json_object_set_new(run, "interrupted", json_true());
	finish(create(true), run);
	expect_state("interrupted");
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), 0);
	json_decref(report);
	json_decref(run);
	tmigr_rundir_close(NULL);
}

/* A recording that broke off keeps its temporary name. */
static void test_give_up(void **state)
{
	struct tmigr_rundir *d = create(false);
	char *out = tmigr_rundir_temp(d, "stdout"), *rec = tmigr_rundir_temp(d, "events.tmr");

	(void)state;
	write_text(out, "o");
	write_text(rec, "r");
	tmigr_rundir_give_up(d, "events.tmr");
	finish(d, NULL);
	assert_true(there("stdout"));
	assert_false(there("events.tmr"));
	assert_int_equal(access(rec, F_OK), 0);
	free(out);
	free(rec);
}

static void test_discard(void **state)
{
	struct tmigr_rundir *d = create(false);

	(void)state;
	tmigr_rundir_discard(d);
	assert_false(there("run.json"));
	assert_int_equal(access(dir, F_OK), -1);
	tmigr_rundir_discard(NULL);
}

/* No file may grow over a few bytes: the results cannot be written.  Nothing of
 * them stays, under no name, and the state says interrupted. */
static void test_disk_full(void **state)
{
	struct tmigr_rundir *d = create(false);
	json_t *report = report_4_4(), *info = machine_info();
	struct rlimit old, lim;
	struct tmigr_err err = {""};
	int ret;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	lim = old;
	lim.rlim_cur = 1000; /* run.json fits, report.json does not */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
	ret = tmigr_rundir_finish(d, info, report, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(ret, -EFBIG);
	assert_non_null(strstr(err.text, dir));
	tmigr_rundir_close(d);
	expect_state("interrupted");
	assert_int_equal(count_files(), 1);
	json_decref(report);
	json_decref(info);
}

/* The segments' own file is full: an error at the end, not a short table. */
static void test_segments_full(void **state)
{
	struct tmigr_rundir *d = create(false);
	json_t *report = report_4_4(), *info = machine_info();
	struct rlimit old, lim;
	struct tmigr_err err = {""};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	lim = old;
	lim.rlim_cur = 8000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
	for (__u64 i = 0; i < 1000; i++) {
		const struct tmigr_segment seg = {0, TMIGR_HELD, 0, 1000 * SEC + i,
						  1000 * SEC + i + 1};

		tmigr_rundir_segment(d, &seg);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(tmigr_rundir_finish(d, info, report, &err), -EFBIG);
	assert_int_equal(count_files(), 1);
	tmigr_rundir_close(d);
	expect_state("interrupted");
	json_decref(report);
	json_decref(info);
}

static void test_foreign(void **state)
{
	json_t *report = NULL;
	struct tmigr_err err;

	(void)state;
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), -ENOENT);
	assert_int_equal(tmigr_rundir_report(base, &report, &err), -ENOENT);
	assert_non_null(strstr(err.text, "not a run directory"));
	finish(create(false), NULL);
	write_text(path_of("report.json"), "{\n \"schema\": \n");
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "report.json: line"));
	write_text(path_of("report.json"), "{\"schema\": \"tmigr-report\", \"version\": 1}");
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "start_ns is missing"));
	assert_int_equal(unlink(path_of("report.json")), 0);
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), -ENODATA);
	write_text(path_of("run.json"), "[]");
	assert_int_equal(tmigr_rundir_report(dir, &report, &err), -ENOENT);
	assert_null(report);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_complete),      T(test_existing), T(test_root),	  T(test_force),
		T(test_interrupted),   T(test_give_up),	 T(test_discard), T(test_disk_full),
		T(test_segments_full), T(test_foreign),	 T(test_keep),	  T(test_signal),
		T(test_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
