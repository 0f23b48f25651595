// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The run directory.  A file gets its final name when it is whole: until then
 * it is NAME.partial.  run.json tells the state; it is replaced by rename, so
 * that at every moment there is one whole run.json.  How it is made, and taken
 * away again: rundir_make.c.
 */
#include "tmigr/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rundir_priv.h"
#include "signals.h"
#include "tmigr/report.h"

/* By functions that a signal handler may call. */
void rundir_partial_name(const struct tmigr_rundir *d, const char *name, char buf[64])
{
	const char *ending = d->earlier ? TMIGR_NEW : TMIGR_PARTIAL;
	size_t n = strnlen(name, 64 - sizeof(TMIGR_PARTIAL));

	memcpy(buf, name, n);
	memcpy(buf + n, ending, strlen(ending) + 1);
}

/* ---- writing one file ---- */

typedef int (*write_fn)(struct tmigr_rundir *d, const json_t *json, FILE *out);

/* Writes NAME.partial; 0 or negative errno with the file gone. */
static int write_partial(struct tmigr_rundir *d, const char *name, write_fn fn, const json_t *json)
{
	char temp[64];
	FILE *out;
	int fd, ret;

	rundir_partial_name(d, name, temp);
	fd = openat(d->dirfd, temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		unlinkat(d->dirfd, temp, 0);
		return -ENOMEM;
	}
	errno = 0;
	ret = fn(d, json, out);
	if (ret == 0 && (fflush(out) != 0 || ferror(out)))
		ret = errno ? -errno : -EIO;
	/* A recording of hours hangs on this: have it on the disk before the
	 * name says that it is whole. */
	if (ret == 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
		ret = -errno;
	if (fclose(out) != 0 && ret == 0)
		ret = -errno;
	if (ret < 0)
		unlinkat(d->dirfd, temp, 0);
	return ret;
}

static int rename_partial(struct tmigr_rundir *d, const char *name)
{
	char temp[64];

	rundir_partial_name(d, name, temp);
	return renameat(d->dirfd, temp, d->dirfd, name) < 0 ? -errno : 0;
}

static int write_pretty(struct tmigr_rundir *d, const json_t *json, FILE *out)
{
	(void)d;
	if (json_dumpf(json, out, JSON_INDENT(1)) < 0)
		return errno ? -errno : -EIO;
	putc('\n', out);
	return 0;
}

/* ---- run.json ---- */

static json_t *run_with_state(const json_t *run, const char *state)
{
	json_t *copy = json_object();
	bool bad = !copy;

	bad |= json_object_set_new(copy, "schema", json_string(TMIGR_RUN_SCHEMA)) < 0;
	bad |= json_object_set_new(copy, "version", json_integer(TMIGR_RUN_VERSION)) < 0;
	bad |= json_object_set_new(copy, "state", json_string(state)) < 0;
	if (!bad && json_is_object(run))
		bad |= json_object_update_missing(copy, (json_t *)run) < 0;
	if (!bad)
		return copy;
	json_decref(copy);
	return NULL;
}

static int write_state(struct tmigr_rundir *d, const json_t *run, const char *state)
{
	json_t *copy = run_with_state(run, state);
	int ret;

	if (!copy)
		return -ENOMEM;
	ret = write_partial(d, "run.json", write_pretty, copy);
	json_decref(copy);
	return ret;
}

int rundir_write_run(struct tmigr_rundir *d, const json_t *run, const char *state)
{
	int ret = write_state(d, run, state);

	return ret == 0 && !d->earlier ? rename_partial(d, "run.json") : ret;
}

/* ---- what others write ---- */

char *tmigr_rundir_where(const struct tmigr_rundir *d, const char *name)
{
	char temp[64], *path = NULL;

	rundir_partial_name(d, name, temp);
	return asprintf(&path, "%s/%s", d->path, temp) < 0 ? NULL : path;
}

char *tmigr_rundir_temp(struct tmigr_rundir *d, const char *name)
{
	char *path = d->n_given < MAX_GIVEN ? tmigr_rundir_where(d, name) : NULL;
	char *copy;

	if (!path)
		return NULL;
	copy = strdup(name);
	if (!copy) {
		free(path);
		return NULL;
	}
	d->given[d->n_given++] = copy;
	return path;
}

void tmigr_rundir_give_up(struct tmigr_rundir *d, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n_given; i++) {
		if (strcmp(d->given[i], name))
			d->given[kept++] = d->given[i];
		else
			free(d->given[i]);
	}
	d->n_given = kept;
}

/* ---- segments ---- */

/* A segment without holes, so that no stray byte of memory reaches the disk. */
struct stored_segment {
	__u64 start_ns, end_ns;
	__u32 root, regime;
	__s32 cpu;
	__u32 zero;
};

void tmigr_rundir_segment(void *arg, const struct tmigr_segment *seg)
{
	struct tmigr_rundir *d = arg;
	const struct stored_segment s = {
		.start_ns = seg->start_ns,
		.end_ns = seg->end_ns,
		.root = seg->root,
		.regime = seg->regime,
		.cpu = seg->cpu,
	};

	if (!d->segments_error && fwrite(&s, sizeof(s), 1, d->segments) != 1)
		d->segments_error = errno ? -errno : -EIO;
}

static int write_segments(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	struct stored_segment s;
	int ret = d->segments_error;

	if (ret == 0 && fflush(d->segments) != 0)
		ret = -errno;
	if (ret < 0)
		return ret;
	rewind(d->segments);
	ret = tmigr_report_csv_segments_head(out);
	while (ret == 0 && fread(&s, sizeof(s), 1, d->segments) == 1) {
		const struct tmigr_segment seg = {s.root, (enum tmigr_regime)s.regime, s.cpu,
						  s.start_ns, s.end_ns};

		ret = tmigr_report_csv_segment(report, &seg, out);
	}
	return ret == 0 && ferror(d->segments) ? -EIO : ret;
}

/* ---- the end ---- */

static int write_report(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_json(report, out);
}

static int write_residency(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_csv_residency(report, out);
}

static int write_migrator(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_csv_migrator(report, out);
}

static int write_migrator_states(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_csv_migrator_states(report, out);
}

static int write_remote(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_csv_remote(report, out);
}

static int write_hierarchy(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	return write_pretty(d, json_object_get(report, "hierarchy"), out);
}

static int write_metrics(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_csv_metrics(report, out);
}

static int write_energy(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_csv_energy(report, out);
}

static int write_hotplug(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_csv_hotplug(report, out);
}

static int write_latency(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_csv_latency(report, out);
}

static int write_wakeups(struct tmigr_rundir *d, const json_t *report, FILE *out)
{
	(void)d;
	return tmigr_report_csv_wakeups(report, out);
}

static const struct view {
	const char *name;
	write_fn fn;
	const char *member; /* only where the report has it; NULL: always */
} views[] = {
	{"report.json", write_report, NULL},
	{"residency.csv", write_residency, NULL},
	{"migrator.csv", write_migrator, NULL},
	{"migrator-states.csv", write_migrator_states, NULL},
	{"migrator-segments.csv", write_segments, NULL},
	{"remote.csv", write_remote, NULL},
	{"hierarchy.json", write_hierarchy, NULL},
	{"metrics.csv", write_metrics, "metrics"},
	{"energy.csv", write_energy, "energy"},
	{"hotplug.csv", write_hotplug, "hotplug"},
	{"latency.csv", write_latency, "latency"},
	{"wakeups.csv", write_wakeups, "latency"},
};

static bool has_view(const struct view *v, const json_t *report)
{
	return !v->member || json_object_get(report, v->member);
}

#define N_VIEWS (sizeof(views) / sizeof(views[0]))

/* The views, and what run.json will be: all that needs room on the disk. */
static int write_results(struct tmigr_rundir *d, const json_t *report, const char *state,
			 struct tmigr_err *err)
{
	char temp[64];
	size_t i = 0;
	int ret = 0;

	for (; ret == 0 && i < N_VIEWS; i++)
		if (has_view(&views[i], report))
			ret = write_partial(d, views[i].name, views[i].fn, report);
	if (ret == 0)
		ret = write_state(d, d->run, state);
	if (ret == 0)
		return 0;
	while (i--) {
		rundir_partial_name(d, views[i].name, temp);
		unlinkat(d->dirfd, temp, 0);
	}
	return tmigr_fail(err, ret, "%s: cannot write the results: %s", d->path, strerror(-ret));
}

static int rename_all(struct tmigr_rundir *d, const json_t *report, struct tmigr_err *err)
{
	for (size_t i = 0; i < d->n_given; i++) {
		int ret = rename_partial(d, d->given[i]);

		/* A command that was never started has no output. */
		if (ret < 0 && ret != -ENOENT)
			return tmigr_fail(err, ret, "%s/%s: %s", d->path, d->given[i],
					  strerror(-ret));
	}
	for (size_t i = 0; i < N_VIEWS; i++) {
		int ret = has_view(&views[i], report) ? rename_partial(d, views[i].name) : 0;

		if (ret < 0)
			return tmigr_fail(err, ret, "%s/%s: %s", d->path, views[i].name,
					  strerror(-ret));
	}
	return 0;
}

/* What is written gets its names, run.json last; nothing comes between. */
static int settle(struct tmigr_rundir *d, const json_t *report, struct tmigr_err *err)
{
	sigset_t before;
	int ret;

	signals_hold(&before);
	ret = d->earlier ? rundir_clear_earlier(d, err) : 0;
	if (ret == 0)
		ret = rename_all(d, report, err);
	if (ret == 0) {
		ret = rename_partial(d, "run.json");
		if (ret < 0)
			tmigr_fail(err, ret, "%s/run.json: %s", d->path, strerror(-ret));
	}
	if (ret == 0) {
		d->earlier = false;
		d->finished = true;
		rundir_at_work(NULL);
	}
	signals_let_go(&before);
	return ret;
}

int tmigr_rundir_finish(struct tmigr_rundir *d, const json_t *run, const json_t *report,
			struct tmigr_err *err)
{
	bool stopped = json_is_true(json_object_get(run, "interrupted"));
	json_t *copy = json_deep_copy(run);
	int ret;

	if (copy) {
		json_decref(d->run);
		d->run = copy;
	}
	ret = write_results(d, report, stopped ? "interrupted" : "complete", err);
	if (ret == 0)
		ret = settle(d, report, err);
	if (ret < 0 && !d->earlier)
		rundir_write_run(d, d->run, "interrupted");
	return ret;
}

void tmigr_rundir_close(struct tmigr_rundir *d)
{
	if (d && d->earlier) {
		tmigr_rundir_discard(d);
		return;
	}
	if (d && !d->finished)
		rundir_write_run(d, d->run, "interrupted");
	rundir_free(d);
}
