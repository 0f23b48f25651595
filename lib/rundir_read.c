// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading a run directory: its report, or why there is none. */
#include "tmigr/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rundir_priv.h"
#include "tmigr/report.h"

/* A FIFO of that name must not be waited for. */
static int open_json(int dirfd, const char *name)
{
	return openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

json_t *tmigr_rundir_load_run(int dirfd)
{
	int fd = open_json(dirfd, "run.json");
	const char *schema;
	json_t *run;

	if (fd < 0)
		return NULL;
	run = json_loadfd(fd, 0, NULL);
	close(fd);
	schema = json_string_value(json_object_get(run, "schema"));
	if (schema && !strcmp(schema, TMIGR_RUN_SCHEMA))
		return run;
	json_decref(run);
	return NULL;
}

/* No report: says why, and what could be read instead. */
static int no_report(const char *path, int dirfd, const json_t *run, struct tmigr_err *err)
{
	const char *state = json_string_value(json_object_get(run, "state"));
	const char *why = "the run was interrupted";
	const char *rec = NULL;

	if (state && !strcmp(state, "running"))
		why = "the run still goes on, or was killed";
	else if (state && !strcmp(state, "complete"))
		why = "report.json is gone";
	if (faccessat(dirfd, "events.tmr", R_OK, 0) == 0)
		rec = "events.tmr";
	else if (faccessat(dirfd, "events.tmr" TMIGR_PARTIAL, R_OK, 0) == 0)
		rec = "events.tmr" TMIGR_PARTIAL;
	if (!rec)
		return tmigr_fail(err, -ENODATA, "%s: no report: %s", path, why);
	return tmigr_fail(err, -ENODATA, "%s: no report: %s; its recording can be read: %s/%s",
			  path, why, path, rec);
}

static int load_report(const char *path, int dirfd, json_t **ret, struct tmigr_err *err)
{
	struct tmigr_err why = {""};
	json_error_t error;
	json_t *run = tmigr_rundir_load_run(dirfd), *report;
	int fd, r;

	if (!run)
		return tmigr_fail(err, -ENOENT, "%s: not a run directory (no run.json of tmigr)",
				  path);
	fd = open_json(dirfd, "report.json");
	if (fd < 0) {
		r = errno == ENOENT
			    ? no_report(path, dirfd, run, err)
			    : tmigr_fail(err, -errno, "%s/report.json: %s", path, strerror(errno));
		json_decref(run);
		return r;
	}
	json_decref(run);
	report = json_loadfd(fd, JSON_REJECT_DUPLICATES, &error);
	close(fd);
	if (!report)
		return tmigr_fail(err, -EINVAL, "%s/report.json: line %d: %s", path, error.line,
				  error.text);
	r = tmigr_report_check(report, &why);
	if (r < 0) {
		json_decref(report);
		return tmigr_fail(err, r, "%s/report.json: %s", path, why.text);
	}
	*ret = report;
	return 0;
}

int tmigr_rundir_report(const char *path, json_t **ret, struct tmigr_err *err)
{
	int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (dirfd < 0)
		return tmigr_fail(err, -errno, "%s: %s", path, strerror(errno));
	r = load_report(path, dirfd, ret, err);
	close(dirfd);
	return r;
}
