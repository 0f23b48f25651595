// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The run directory.  A file gets its final name when it is whole: until then
 * it is NAME.partial.  run.json tells the state; it is replaced by rename, so
 * that at every moment there is one whole run.json.
 */
#include "tmigr/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rundir_priv.h"
#include "tmigr/report.h"

/* Everything a run leaves; --force takes these away and nothing else. */
static const char *const run_files[] = {
	"run.json",
	"report.json",
	"residency.csv",
	"migrator.csv",
	"migrator-states.csv",
	"migrator-segments.csv",
	"remote.csv",
	"hierarchy.json",
	"metrics.csv",
	"energy.csv",
	"hotplug.csv",
	"latency.csv",
	"wakeups.csv",
	"stdout",
	"stderr",
	"events.tmr",
};

/* Those that others write, given out by tmigr_rundir_temp(). */
#define MAX_GIVEN 8

struct tmigr_rundir {
	char *path;
	int dirfd;
	size_t made; /* length of the first part of path that was made; 0 none */
	bool finished;
	json_t *run; /* as last written */
	char *given[MAX_GIVEN];
	size_t n_given;
	/* Segments as they come, without a name in the directory: their root's
	 * name is known at the end only.  NULL when it could not be made. */
	FILE *segments;
	int segments_error; /* negative errno */
};

static void partial_name(const char *name, char buf[64])
{
	snprintf(buf, 64, "%s" TMIGR_PARTIAL, name);
}

/* ---- writing one file ---- */

typedef int (*write_fn)(struct tmigr_rundir *d, const json_t *json, FILE *out);

/* Writes NAME.partial; 0 or negative errno with the file gone. */
static int write_partial(struct tmigr_rundir *d, const char *name, write_fn fn, const json_t *json)
{
	char temp[64];
	FILE *out;
	int fd, ret;

	partial_name(name, temp);
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

	partial_name(name, temp);
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

static int write_run(struct tmigr_rundir *d, const json_t *run, const char *state)
{
	json_t *copy = run_with_state(run, state);
	int ret;

	if (!copy)
		return -ENOMEM;
	ret = write_partial(d, "run.json", write_pretty, copy);
	if (ret == 0)
		ret = rename_partial(d, "run.json");
	json_decref(copy);
	return ret;
}

/* ---- making the directory ---- */

/* *@ret_made: length of the first part of @path that was not there before. */
static int make_dirs(const char *path, size_t *ret_made)
{
	char *copy = strdup(path);
	size_t made = 0;
	int ret = 0;

	if (!copy)
		return -ENOMEM;
	for (char *p = copy + 1; *copy && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		/* What is wrong with a parent shows at the last one. */
		if (mkdir(copy, 0777) == 0 && !made)
			made = (size_t)(p - copy);
		*p = '/';
	}
	if (mkdir(copy, 0777) < 0)
		ret = -errno;
	else if (!made)
		made = strlen(copy);
	*ret_made = made;
	free(copy);
	return ret;
}

static bool is_empty(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	bool empty = true;
	struct dirent *e;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (empty && (e = readdir(dir)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	closedir(dir);
	return empty;
}

/* Takes an earlier run's files away; refuses where files of the same names are
 * not an earlier run's. */
static int clear_earlier(struct tmigr_rundir *d, struct tmigr_err *err)
{
	json_t *run = tmigr_rundir_load_run(d->dirfd);
	bool ours = run;
	char temp[64];

	json_decref(run);
	for (size_t i = 0; i < sizeof(run_files) / sizeof(run_files[0]); i++) {
		partial_name(run_files[i], temp);
		if (!ours && faccessat(d->dirfd, run_files[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return tmigr_fail(err, -EEXIST,
					  "%s/%s: is not from an earlier run, not replaced",
					  d->path, run_files[i]);
		if (!ours)
			continue;
		/* run.json last: should this stop half-way, the rest is still
		 * known as a run's. */
		if (i && unlinkat(d->dirfd, run_files[i], 0) < 0 && errno != ENOENT)
			return tmigr_fail(err, -errno, "%s/%s: cannot replace: %s", d->path,
					  run_files[i], strerror(errno));
		unlinkat(d->dirfd, temp, 0);
	}
	return 0;
}

/* An unnamed file in the directory: its size counts there, and nothing of it
 * stays behind after a crash. */
static void open_segments(struct tmigr_rundir *d)
{
	char temp[64];
	int fd;

	partial_name("migrator-segments.bin", temp);
	fd = openat(d->dirfd, temp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0)
		unlinkat(d->dirfd, temp, 0);
	d->segments = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (d->segments)
		return;
	d->segments_error = -errno;
	if (fd >= 0)
		close(fd);
}

static void rundir_free(struct tmigr_rundir *d)
{
	if (!d)
		return;
	if (d->segments)
		fclose(d->segments);
	if (d->dirfd >= 0)
		close(d->dirfd);
	for (size_t i = 0; i < d->n_given; i++)
		free(d->given[i]);
	json_decref(d->run);
	free(d->path);
	free(d);
}

/* Files of a run in the root directory are nobody's wish. */
static bool is_root(int dirfd)
{
	struct stat here, root;

	return fstat(dirfd, &here) == 0 && stat("/", &root) == 0 && here.st_dev == root.st_dev &&
	       here.st_ino == root.st_ino;
}

static int rundir_open(struct tmigr_rundir *d, bool force, struct tmigr_err *err)
{
	int made = make_dirs(d->path, &d->made);

	if (made < 0 && made != -EEXIST)
		return tmigr_fail(err, made, "%s: cannot make the directory: %s", d->path,
				  strerror(-made));
	d->dirfd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dirfd < 0)
		return tmigr_fail(err, -errno, "%s: %s", d->path, strerror(errno));
	if (is_root(d->dirfd))
		return tmigr_fail(err, -EINVAL,
				  "%s: is the root directory: a run needs a directory of its own",
				  d->path);
	if (made == 0 || is_empty(d->dirfd))
		return 0;
	if (!force)
		return tmigr_fail(err, -EEXIST,
				  "%s: exists and is not empty (--force replaces an earlier run)",
				  d->path);
	return clear_earlier(d, err);
}

int tmigr_rundir_create(const char *path, bool force, const json_t *run, struct tmigr_rundir **ret,
			struct tmigr_err *err)
{
	struct tmigr_rundir *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	d->dirfd = -1;
	d->path = strdup(path);
	d->run = json_deep_copy(run);
	r = d->path && d->run ? rundir_open(d, force, err)
			      : tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	if (r == 0) {
		r = write_run(d, d->run, "running");
		if (r < 0)
			tmigr_fail(err, r, "%s/run.json: cannot write: %s", path, strerror(-r));
	}
	if (r < 0) {
		rundir_free(d);
		return r;
	}
	open_segments(d);
	*ret = d;
	return 0;
}

char *tmigr_rundir_temp(struct tmigr_rundir *d, const char *name)
{
	char *path = NULL, *copy = NULL;

	if (d->n_given == MAX_GIVEN || asprintf(&path, "%s/%s" TMIGR_PARTIAL, d->path, name) < 0)
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

static int write_views(struct tmigr_rundir *d, const json_t *report, struct tmigr_err *err)
{
	char temp[64];

	for (size_t i = 0; i < N_VIEWS; i++) {
		int ret = 0;

		if (has_view(&views[i], report))
			ret = write_partial(d, views[i].name, views[i].fn, report);
		if (ret == 0)
			continue;
		while (i--) {
			partial_name(views[i].name, temp);
			unlinkat(d->dirfd, temp, 0);
		}
		return tmigr_fail(err, ret, "%s: cannot write the results: %s", d->path,
				  strerror(-ret));
	}
	return 0;
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
	ret = write_views(d, report, err);
	if (ret == 0)
		ret = rename_all(d, report, err);
	if (ret == 0) {
		ret = write_run(d, run, stopped ? "interrupted" : "complete");
		if (ret < 0)
			tmigr_fail(err, ret, "%s/run.json: cannot write: %s", d->path,
				   strerror(-ret));
	}
	d->finished = ret == 0;
	if (ret < 0)
		write_run(d, d->run, "interrupted");
	return ret;
}

void tmigr_rundir_close(struct tmigr_rundir *d)
{
	if (d && !d->finished)
		write_run(d, d->run, "interrupted");
	rundir_free(d);
}

void tmigr_rundir_discard(struct tmigr_rundir *d)
{
	char temp[64], *end;

	if (!d)
		return;
	for (size_t i = 0; i < d->n_given; i++) {
		partial_name(d->given[i], temp);
		unlinkat(d->dirfd, temp, 0);
	}
	unlinkat(d->dirfd, "run.json", 0);
	/* From the innermost folder up to the first that was made. */
	end = d->path + strlen(d->path);
	while (d->made && end && (size_t)(end - d->path) >= d->made) {
		*end = '\0';
		rmdir(d->path);
		end = strrchr(d->path, '/');
	}
	rundir_free(d);
}
