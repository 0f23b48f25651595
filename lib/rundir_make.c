// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The run directory: made, and taken away again where no run comes of it.  An earlier run
 * that is to be replaced stays as it is until the new one takes its place.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rundir_priv.h"
#include "signals.h"
#include "tmigr/rundir.h"

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

#define N_FILES (sizeof(run_files) / sizeof(run_files[0]))

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

/* ---- an earlier run ---- */

/* NAME with an ending, as it may be there. */
static const char *ending(char buf[64], const char *name, const char *end)
{
	snprintf(buf, 64, "%s%s", name, end);
	return buf;
}

/* Refuses where files of a run's names are not an earlier run's.  What another replacement
 * that was killed has left goes. */
static int look_for_earlier(struct tmigr_rundir *d, struct tmigr_err *err)
{
	json_t *run = tmigr_rundir_load_run(d->dirfd);
	char temp[64];

	d->earlier = run;
	json_decref(run);
	for (size_t i = 0; i < N_FILES; i++) {
		if (d->earlier)
			unlinkat(d->dirfd, ending(temp, run_files[i], TMIGR_NEW), 0);
		else if (faccessat(d->dirfd, run_files[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return tmigr_fail(err, -EEXIST,
					  "%s/%s: is not from an earlier run, not replaced",
					  d->path, run_files[i]);
	}
	return 0;
}

int rundir_clear_earlier(struct tmigr_rundir *d, struct tmigr_err *err)
{
	char temp[64];

	for (size_t i = 0; i < N_FILES; i++) {
		/* run.json stays: should this stop half-way, the rest is still
		 * known as a run's. */
		if (i && unlinkat(d->dirfd, run_files[i], 0) < 0 && errno != ENOENT)
			return tmigr_fail(err, -errno, "%s/%s: cannot replace: %s", d->path,
					  run_files[i], strerror(errno));
		unlinkat(d->dirfd, ending(temp, run_files[i], TMIGR_PARTIAL), 0);
	}
	return 0;
}

int tmigr_rundir_replace(struct tmigr_rundir *d, struct tmigr_err *err)
{
	char old[64], new[64];
	int ret;

	if (!d->earlier)
		return 0;
	ret = rundir_clear_earlier(d, err);
	for (size_t i = N_FILES; ret == 0 && i--;) {
		ending(old, run_files[i], TMIGR_NEW);
		ending(new, run_files[i], i ? TMIGR_PARTIAL : "");
		if (renameat(d->dirfd, old, d->dirfd, new) < 0 && errno != ENOENT)
			ret = tmigr_fail(err, -errno, "%s/%s: %s", d->path, run_files[i],
					 strerror(errno));
	}
	if (ret == 0)
		d->earlier = false;
	return ret;
}

/* The name that @st has in the directory: its own file, and the only name that it has. */
static bool is_file(int dirfd, const char *name, const struct stat *st)
{
	struct stat there;

	return fstatat(dirfd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       there.st_dev == st->st_dev && there.st_ino == st->st_ino && there.st_nlink == 1;
}

bool tmigr_rundir_has(const char *path, const struct stat *st)
{
	int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false;
	char temp[64];

	for (size_t i = 0; dirfd >= 0 && !found && i < N_FILES; i++)
		found = is_file(dirfd, run_files[i], st) ||
			is_file(dirfd, ending(temp, run_files[i], TMIGR_PARTIAL), st) ||
			is_file(dirfd, ending(temp, run_files[i], TMIGR_NEW), st);
	if (dirfd >= 0)
		close(dirfd);
	return found;
}

/* ---- taking away ---- */

/* The one whose files an interrupt takes away, and the process that writes it: not its
 * children. */
static struct tmigr_rundir *volatile at_work;
static volatile pid_t worker;

void rundir_at_work(struct tmigr_rundir *d)
{
	worker = getpid();
	at_work = d;
}

/* In a signal handler too. */
static void take_away(struct tmigr_rundir *d)
{
	char temp[64], *end;

	for (size_t i = 0; d->ours && i < N_FILES; i++) {
		rundir_partial_name(d, run_files[i], temp);
		unlinkat(d->dirfd, temp, 0);
		if (!d->earlier)
			unlinkat(d->dirfd, run_files[i], 0);
	}
	/* From the innermost folder up to the first that was made. */
	end = d->path ? d->path + strlen(d->path) : NULL;
	while (d->made && end && (size_t)(end - d->path) >= d->made) {
		*end = '\0';
		rmdir(d->path);
		end = strrchr(d->path, '/');
	}
}

void tmigr_rundir_interrupted(void)
{
	if (at_work && worker == getpid())
		take_away(at_work);
}

void rundir_free(struct tmigr_rundir *d)
{
	if (!d)
		return;
	if (at_work == d)
		rundir_at_work(NULL);
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

void tmigr_rundir_discard(struct tmigr_rundir *d)
{
	if (d)
		take_away(d);
	rundir_free(d);
}

/* ---- creating ---- */

/* An unnamed file in the directory: its size counts there, and nothing of it
 * stays behind after a crash. */
static void open_segments(struct tmigr_rundir *d)
{
	static const char temp[] = "migrator-segments.bin" TMIGR_PARTIAL;
	int fd = openat(d->dirfd, temp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0)
		unlinkat(d->dirfd, temp, 0);
	d->segments = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (d->segments)
		return;
	d->segments_error = -errno;
	if (fd >= 0)
		close(fd);
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
	return look_for_earlier(d, err);
}

int tmigr_rundir_create(const char *path, bool force, const json_t *run, struct tmigr_rundir **ret,
			struct tmigr_err *err)
{
	struct tmigr_rundir *d = calloc(1, sizeof(*d));
	sigset_t before;
	int r;

	if (!d)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	d->dirfd = -1;
	d->path = strdup(path);
	d->run = json_deep_copy(run);
	signals_hold(&before);
	r = d->path && d->run ? rundir_open(d, force, err)
			      : tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	if (r == 0) {
		d->ours = true;
		rundir_at_work(d);
		r = rundir_write_run(d, d->run, "running");
		if (r < 0)
			tmigr_fail(err, r, "%s/run.json: cannot write: %s", path, strerror(-r));
	}
	if (r == 0) {
		open_segments(d);
		*ret = d;
	} else {
		tmigr_rundir_discard(d);
	}
	signals_let_go(&before);
	return r;
}
