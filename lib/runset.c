// SPDX-License-Identifier: GPL-2.0-or-later
/* Several runs at once: finding and reading them.  Their labels: runset_label.c. */
#include "tmigr/runset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rundir_priv.h"
#include "runset_priv.h"
#include "tmigr/replay.h"
#include "tmigr/rundir.h"

int tmigr_runset_note(struct tmigr_runset *set, const char *fmt, ...)
{
	char **notes = reallocarray(set->notes, set->n_notes + 1, sizeof(*notes));
	va_list ap;
	int ret;

	if (!notes)
		return -ENOMEM;
	set->notes = notes;
	va_start(ap, fmt);
	ret = vasprintf(&notes[set->n_notes], fmt, ap);
	va_end(ap);
	if (ret < 0)
		return -ENOMEM;
	set->n_notes++;
	return 0;
}

static void run_free(struct tmigr_run *run)
{
	json_decref(run->report);
	json_decref(run->json);
	free(run->path);
	free(run->problem);
	free(run->left_out);
	free(run->name);
	free(run->holder);
	free(run->real_holder);
}

void tmigr_runset_free(struct tmigr_runset *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->n_runs; i++)
		run_free(&set->runs[i]);
	for (size_t i = 0; i < set->n_labels; i++)
		free(set->labels[i].name);
	for (size_t i = 0; i < set->n_notes; i++)
		free(set->notes[i]);
	free(set->runs);
	free(set->labels);
	free(set->notes);
	free(set);
}

/* ---- one run ---- */

/* report.json is gone or broken, but the whole recording is there: it gives the
 * same report. */
static int from_recording(struct tmigr_runset *set, struct tmigr_run *run,
			  const struct tmigr_err *why)
{
	char *path = NULL;
	int ret;

	if (asprintf(&path, "%s/events.tmr", run->path) < 0)
		return -ENOMEM;
	ret = access(path, R_OK) == 0 ? tmigr_replay(path, &run->report, NULL, NULL) : -ENOENT;
	if (ret == 0)
		tmigr_runset_note(set, "%s: its figures are taken from the recording", why->text);
	free(path);
	return ret;
}

static void read_run_json(struct tmigr_runset *set, struct tmigr_run *run)
{
	int dirfd = open(run->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_int_t version;

	if (dirfd < 0)
		return;
	run->json = tmigr_rundir_load_run(dirfd);
	close(dirfd);
	if (!run->json)
		return;
	run->state = json_string_value(json_object_get(run->json, "state"));
	version = json_integer_value(json_object_get(run->json, "version"));
	if (version != TMIGR_RUN_VERSION)
		tmigr_runset_note(set,
				  "%s/run.json: of schema version %lld, this tool reads version %d",
				  run->path, (long long)version, TMIGR_RUN_VERSION);
}

/* A report that is not of a whole run, or not of one that went well. */
static int find_left_out(struct tmigr_run *run)
{
	const json_t *r = run->report, *status = json_object_get(r, "exit_status");
	const char *failed = json_string_value(json_object_get(r, "failed"));
	const char *partial = json_string_value(json_object_get(r, "partial"));
	int ret = 0;

	if (failed)
		ret = asprintf(&run->left_out, "failed: %s", failed);
	else if (partial)
		ret = asprintf(&run->left_out, "a part of the run only: %s", partial);
	else if (json_is_true(json_object_get(r, "interrupted")) ||
		 !strcmp(run->state, "interrupted"))
		ret = asprintf(&run->left_out, "interrupted");
	else if (!strcmp(run->state, "running"))
		ret = asprintf(&run->left_out, "interrupted: still goes on, or was killed");
	else if (json_is_integer(status) && json_integer_value(status))
		ret = asprintf(&run->left_out, "failed: exit status %lld",
			       (long long)json_integer_value(status));
	return ret < 0 ? -ENOMEM : 0;
}

static int read_run(struct tmigr_runset *set, struct tmigr_run *run, bool dir)
{
	struct tmigr_err why = {""};
	int ret;

	run->state = "";
	if (dir) {
		read_run_json(set, run);
		ret = tmigr_rundir_report(run->path, &run->report, &why);
		if (ret < 0 && run->json)
			ret = from_recording(set, run, &why) == 0 ? 0 : ret;
	} else {
		ret = tmigr_replay(run->path, &run->report, NULL, &why);
	}
	if (!run->state)
		run->state = "";
	if (ret == -ENOMEM)
		return ret;
	if (ret == 0)
		return find_left_out(run);
	run->problem = *why.text ? strdup(why.text) : NULL;
	if (!*why.text && asprintf(&run->problem, "%s: %s", run->path, strerror(-ret)) < 0)
		run->problem = NULL;
	return run->problem ? 0 : -ENOMEM;
}

/* The same folder or file by another path? */
static const struct tmigr_run *find_same(const struct tmigr_runset *set, const struct stat *st)
{
	for (size_t i = 0; i < set->n_runs; i++)
		if (set->runs[i].dev == st->st_dev && set->runs[i].ino == st->st_ino)
			return &set->runs[i];
	return NULL;
}

/* @number: of its name in a label directory, 0: none. */
static int add_run(struct tmigr_runset *set, const char *path, unsigned long number)
{
	struct tmigr_run *runs, *run;
	const struct tmigr_run *same;
	struct stat st = {0};
	int ret;

	if (stat(path, &st) == 0) {
		same = find_same(set, &st);
		if (same)
			return tmigr_runset_note(set, "%s: is %s again, taken once", path,
						 same->path);
	}
	runs = reallocarray(set->runs, set->n_runs + 1, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	set->runs = runs;
	run = &runs[set->n_runs++];
	memset(run, 0, sizeof(*run));
	run->dev = st.st_dev;
	run->ino = st.st_ino;
	run->run = number;
	run->in_label_dir = number;
	run->path = strdup(path);
	if (!run->path)
		return -ENOMEM;
	ret = read_run(set, run, S_ISDIR(st.st_mode));
	return ret < 0 ? ret : tmigr_runset_name(run);
}

/* ---- a label directory ---- */

unsigned long tmigr_runset_number(const char *name)
{
	const char *digits = name + 4;

	if (strncmp(name, "run-", 4) || !*digits || digits[strspn(digits, "0123456789")] ||
	    strlen(digits) > 9)
		return 0;
	return strtoul(digits, NULL, 10);
}

static int is_run(const struct dirent *e)
{
	return tmigr_runset_number(e->d_name) > 0;
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	unsigned long x = tmigr_runset_number((*a)->d_name);
	unsigned long y = tmigr_runset_number((*b)->d_name);

	return x == y ? strcmp((*a)->d_name, (*b)->d_name) : (x > y) - (x < y);
}

static int add_label_runs(struct tmigr_runset *set, const char *path, struct dirent **list, int n)
{
	unsigned long next = 1;
	char *sub;
	int ret = 0;

	for (int i = 0; i < n && ret == 0; i++) {
		unsigned long number = tmigr_runset_number(list[i]->d_name);

		if (number == next + 1)
			ret = tmigr_runset_note(set, "%s: there is no run-%lu", path, next);
		else if (number > next)
			ret = tmigr_runset_note(set, "%s: there is no run-%lu to run-%lu", path,
						next, number - 1);
		next = number + 1;
		if (ret < 0 || asprintf(&sub, "%s/%s", path, list[i]->d_name) < 0)
			return -ENOMEM;
		ret = add_run(set, sub, number);
		free(sub);
	}
	return ret;
}

/* The runs of a label directory; -ENOENT: it is none. */
static int add_label_dir(struct tmigr_runset *set, const char *path)
{
	struct dirent **list = NULL;
	int n = scandir(path, &list, is_run, by_number), ret = -ENOENT;

	if (n > 0)
		ret = add_label_runs(set, path, list, n);
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	return ret;
}

static bool has_run_json(const char *path)
{
	int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool has = dirfd >= 0 && faccessat(dirfd, "run.json", F_OK, 0) == 0;

	if (dirfd >= 0)
		close(dirfd);
	return has;
}

static int add_path(struct tmigr_runset *set, const char *path)
{
	int ret = -ENOENT;

	if (!has_run_json(path))
		ret = add_label_dir(set, path);
	return ret == -ENOENT ? add_run(set, path, 0) : ret;
}

int tmigr_runset_load(const char *const *paths, size_t n, struct tmigr_runset **ret,
		      struct tmigr_err *err)
{
	struct tmigr_runset *set = calloc(1, sizeof(*set));
	int r = set ? 0 : -ENOMEM;

	if (!n) {
		free(set);
		return tmigr_fail(err, -EINVAL, "no runs given");
	}
	for (size_t i = 0; r == 0 && i < n; i++) {
		char *path = strdup(paths[i]);
		size_t len = path ? strlen(path) : 0;

		while (len > 1 && path[len - 1] == '/')
			path[--len] = '\0';
		r = path ? add_path(set, path) : -ENOMEM;
		free(path);
	}
	if (r == 0)
		r = tmigr_runset_labels(set);
	if (r < 0) {
		tmigr_runset_free(set);
		return tmigr_fail(err, r, "no memory for the runs");
	}
	*ret = set;
	return 0;
}

ssize_t tmigr_runset_label(const struct tmigr_runset *set, const char *name)
{
	for (size_t i = 0; i < set->n_labels; i++)
		if (!strcmp(set->labels[i].name, name))
			return (ssize_t)i;
	return -ENOENT;
}
