// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading a run directory: its report, or why there is none. */
#include "tmigr/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rundir_priv.h"
#include "tmigr/report.h"

/* NULL: errno.  A FIFO of that name must not be waited for.  Buffered: from a
 * descriptor jansson reads byte by byte. */
static FILE *open_json(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && !in)
		close(fd);
	return in;
}

json_t *tmigr_rundir_load_run(int dirfd)
{
	FILE *in = open_json(dirfd, "run.json");
	const char *schema;
	json_t *run;

	if (!in)
		return NULL;
	run = json_loadf(in, 0, NULL);
	fclose(in);
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
	FILE *in;
	int r;

	if (!run)
		return tmigr_fail(err, -ENOENT, "%s: not a run directory (no run.json of tmigr)",
				  path);
	in = open_json(dirfd, "report.json");
	if (!in) {
		r = errno == ENOENT
			    ? no_report(path, dirfd, run, err)
			    : tmigr_fail(err, -errno, "%s/report.json: %s", path, strerror(errno));
		json_decref(run);
		return r;
	}
	json_decref(run);
	report = json_loadf(in, JSON_REJECT_DUPLICATES, &error);
	fclose(in);
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
