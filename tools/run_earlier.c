// SPDX-License-Identifier: GPL-2.0-or-later
/* run -n --continue: what an earlier start left, and whether it is of the same series. */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tmigr.h"
#include "tmigr/runset.h"

/* A member as it stands in JSON, for the line that names a difference. */
static char *shown(const json_t *value)
{
	return value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("nothing");
}

static int differs(const char *path, const char *what, const json_t *then, const json_t *now)
{
	char *was = shown(then), *is = shown(now);

	tool_error("run",
		   "--continue: %s was made with another %s: %s, now %s (give what it was, or "
		   "another -o)",
		   path, what, was ? was : "?", is ? is : "?");
	free(was);
	free(is);
	return -1;
}

static int same(const char *path, const char *what, const json_t *then, const json_t *now)
{
	return json_equal((json_t *)then, (json_t *)now) || (!then && !now)
		       ? 0
		       : differs(path, what, then, now);
}

/* Its options one by one, so that the line names the one. */
static int same_options(const char *path, const json_t *then, const json_t *now)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)now, key, value)
		if (same(path, key, json_object_get(then, key), value))
			return -1;
	return 0;
}

static int same_series(const char *path, const json_t *then, const json_t *now)
{
	static const char *const keys[] = {"label", "command", "kernel"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (same(path, keys[i], json_object_get(then, keys[i]),
			 json_object_get(now, keys[i])))
			return -1;
	return same_options(path, json_object_get(then, "options"),
			    json_object_get(now, "options"));
}

static int judge(const struct tmigr_run *run, unsigned long number, const json_t *now)
{
	if (!run->json) {
		tool_error("run",
			   "--continue: %s is in the way: it is not empty, and no run (take it "
			   "away, or give another -o)",
			   run->path);
		return -1;
	}
	if (same_series(run->path, run->json, now))
		return -1;
	if (strcmp(run->state, "complete") || !run->report) {
		tool_error("run", "run %lu was not finished (%s): it is done again", number,
			   *run->state ? run->state : "no report");
		return RUN_AGAIN;
	}
	if (run->left_out)
		tool_error("run", "run %lu stays (%s); take %s away to repeat it", number,
			   run->left_out, run->path);
	return RUN_KEPT;
}

bool run_is_there(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	bool any = false;

	if (!dir)
		return errno != ENOENT;
	while (!any && (e = readdir(dir)))
		any = strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(dir);
	return any;
}

int run_earlier(const char *path, unsigned long number, const json_t *now)
{
	struct tmigr_runset *set;
	struct tmigr_err err = {""};
	int ret;

	if (!run_is_there(path))
		return RUN_MISSING;
	if (tmigr_runset_load(&path, 1, &set, &err) < 0) {
		tool_error("run", "%s", err.text);
		return -1;
	}
	ret = set->n_runs == 1 ? judge(&set->runs[0], number, now) : -1;
	if (set->n_runs != 1)
		tool_error("run",
			   "--continue: %s is in the way: it is no run (take it away, or give "
			   "another -o)",
			   path);
	tmigr_runset_free(set);
	return ret;
}
