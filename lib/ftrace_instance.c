// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tracefs instance of our own: what others trace, and their settings, are not
 * touched.  It must not outlive us, whatever ends us: a guard, a process that does
 * nothing but wait for a pipe to close, removes it.  Where the guard is killed
 * too, the next start does: an instance in use has its folder locked.
 */
#include "ftrace_priv.h"
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracefs.h>

#define PREFIX	     "tmigr-"
#define REMOVE_TRIES 200
#define REMOVE_STEP  10000000L /* ns */
#define PATH_BYTES   512       /* below PIPE_BUF: written and read in one piece */

/* ---- tracefs ---- */

static bool kernel_has_tracefs(void)
{
	char line[128];
	FILE *f = fopen("/proc/filesystems", "re");
	bool found = !f;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strcmp(line, "nodev\ttracefs\n") == 0;
	if (f)
		fclose(f);
	return found;
}

bool tmigr_tracefs_mounted(char dir[TMIGR_TRACEFS_BYTES])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	bool found = false;

	if (!mounts)
		return false;
	while (!found && (m = getmntent(mounts))) {
		found = strcmp(m->mnt_type, "tracefs") == 0 &&
			strlen(m->mnt_dir) < TMIGR_TRACEFS_BYTES;
		if (found)
			memcpy(dir, m->mnt_dir, strlen(m->mnt_dir) + 1);
	}
	endmntent(mounts);
	return found;
}

int tmigr_tracefs_find(char dir[TMIGR_TRACEFS_BYTES], struct tmigr_err *err)
{
	if (tmigr_tracefs_mounted(dir)) {
		if (access(dir, R_OK | W_OK | X_OK) < 0)
			return tmigr_fail(err, -EPERM, "%s is not this user's to use: run as root",
					  dir);
		return 0;
	}
	if (!kernel_has_tracefs())
		return tmigr_fail(err, -ENOENT,
				  "this kernel has no tracefs: it needs CONFIG_FTRACE and "
				  "CONFIG_ENABLE_DEFAULT_TRACERS or a tracer");
	return tmigr_fail(err, -ENOENT,
			  "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing");
}

int tmigr_tracefs_buffer(char **ret_path, struct tmigr_err *err)
{
	char dir[TMIGR_TRACEFS_BYTES];
	int ret = tmigr_tracefs_find(dir, err);

	if (ret)
		return ret;
	if (asprintf(ret_path, "%s/trace", dir) < 0)
		return tmigr_fail(err, -ENOMEM, "no memory");
	return 0;
}

/* ---- removal ---- */

/* Readers that are just being closed keep it for some moments. */
static int remove_dir(const char *path)
{
	const struct timespec step = {.tv_nsec = REMOVE_STEP};
	int ret = 0;

	for (int i = 0; i < REMOVE_TRIES; i++) {
		ret = rmdir(path) ? -errno : 0;
		if (ret != -EBUSY)
			break;
		nanosleep(&step, NULL);
	}
	return ret == -ENOENT ? 0 : ret;
}

static int lock_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

/* Named as make_dir() does: "tmigr-mine" is the user's. */
static bool is_ours(const char *name)
{
	const char *rest = name + strlen(PREFIX);

	return !strncmp(name, PREFIX, strlen(PREFIX)) && *rest &&
	       rest[strspn(rest, "0123456789-")] == '\0';
}

/* Whoever uses one has it locked, whatever PID namespace they are in. */
static void remove_stale(const char *tracing_dir)
{
	char path[512];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%.200s/instances", tracing_dir);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		int fd;

		if (!is_ours(d->d_name))
			continue;
		snprintf(path, sizeof(path), "%.200s/instances/%s", tracing_dir, d->d_name);
		fd = lock_dir(path);
		if (fd < 0)
			continue;
		remove_dir(path);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* ---- the guard ---- */

/*
 * What comes through the pipe before its end is the path to remove, told before it is
 * made: so there is no moment at which nobody would.  Somebody else's of that name is
 * locked.
 */
__attribute__((noreturn)) static void guard(int lease)
{
	const struct timespec step = {.tv_nsec = REMOVE_STEP};
	char path[PATH_BYTES] = "";
	int lock;

	tmigr_guard_settle("tmigr-guard");
	if (dup2(lease, 3) == 3)
		lease = 3;
	close_range(4, ~0U, 0);
	tmigr_guard_wait(lease, path, sizeof(path));
	path[sizeof(path) - 1] = '\0';
	/* One that dies closes the pipe some moments before it lets go of the lock. */
	for (int tries = REMOVE_TRIES; (lock = lock_dir(path)) == -EWOULDBLOCK && tries; tries--)
		nanosleep(&step, NULL);
	_exit(lock >= 0 && remove_dir(path) ? 1 : 0);
}

static int start_guard(struct tmigr_instance *i)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	i->guard = fork();
	if (i->guard == 0) {
		close(fds[1]);
		guard(fds[0]);
	}
	close(fds[0]);
	if (i->guard < 0) {
		int ret = -errno;

		i->guard = 0;
		close(fds[1]);
		return ret;
	}
	i->lease = fds[1];
	return 0;
}

static void end_guard(struct tmigr_instance *i)
{
	if (i->lease >= 0)
		close(i->lease);
	i->lease = -1;
	while (i->guard && waitpid(i->guard, NULL, 0) < 0 && errno == EINTR)
		;
	i->guard = 0;
}

/* ---- life ---- */

static int no_instance(int ret, const char *what, struct tmigr_err *err)
{
	if (ret == -EPERM || ret == -EACCES)
		return tmigr_fail(err, -EPERM,
				  "%s in tracefs is not permitted: run as root (or is the kernel "
				  "locked down?)",
				  what);
	return tmigr_fail(err, ret, "%s in tracefs failed: %s", what, strerror(-ret));
}

/* Between the making and the lock another start may take it for a stale one. */
static int make_dir(struct tmigr_instance *i, const char *tracing_dir)
{
	char name[64], path[PATH_BYTES];
	int ret = 0;

	for (int n = 0; n < 20; n++) {
		snprintf(name, sizeof(name), PREFIX "%d%s%.0d", (int)getpid(), n ? "-" : "", n);
		snprintf(path, sizeof(path), "%.200s/instances/%s", tracing_dir, name);
		if (write(i->lease, path, sizeof(path)) != sizeof(path))
			return -EPIPE;
		if (mkdir(path, 0750)) {
			ret = -errno;
			if (ret == -EEXIST)
				continue;
			return ret;
		}
		i->lock = lock_dir(path);
		if (i->lock >= 0 && access(path, F_OK) == 0) {
			i->inst = tracefs_instance_create(name);
			return i->inst ? 0 : -errno;
		}
		if (i->lock >= 0)
			close(i->lock);
		i->lock = -1;
	}
	return ret ? ret : -EBUSY;
}

static int put(struct tmigr_instance *i, const char *file, const char *text)
{
	return tracefs_instance_file_write(i->inst, file, text) < 0 ? -errno : 0;
}

static int set_up(struct tmigr_instance *i, size_t bytes, struct tmigr_err *err)
{
	int ret = put(i, "tracing_on", "0");

	if (!ret)
		ret = put(i, "trace_clock", "mono");
	if (ret)
		return no_instance(ret, "setting the clock of an instance", err);
	/* Names of tasks are not used, and are kept for all instances in one place. */
	tracefs_option_disable(i->inst, TRACEFS_OPTION_RECORD_CMD);
	/* The oldest give way: a page then says where events are missing. */
	tracefs_option_enable(i->inst, TRACEFS_OPTION_OVERWRITE);
	/* Nobody waits for these buffers; and nobody is woken but by a full one. */
	put(i, "buffer_percent", "100");
	if (tracefs_instance_set_buffer_size(i->inst, (bytes + 1023) / 1024, -1) < 0)
		return tmigr_fail(err, -ENOMEM, "no memory for trace buffers of %zu KiB a CPU",
				  bytes / 1024);
	return 0;
}

int tmigr_instance_create(size_t bytes, struct tmigr_instance *ret, struct tmigr_err *err)
{
	struct tmigr_instance i = {.lock = -1, .lease = -1};
	char tracing_dir[TMIGR_TRACEFS_BYTES];
	int r = tmigr_tracefs_find(tracing_dir, err);

	if (r)
		return r;
	remove_stale(tracing_dir);
	r = start_guard(&i);
	if (!r)
		r = make_dir(&i, tracing_dir);
	if (r)
		no_instance(r, "making an instance", err);
	else
		r = set_up(&i, bytes, err);
	if (r) {
		tmigr_instance_remove(&i);
		return r == -EACCES ? -EPERM : r;
	}
	*ret = i;
	return 0;
}

void tmigr_instance_remove(struct tmigr_instance *i)
{
	if (!i->inst && i->lock <= 0 && !i->guard)
		return;
	/* The guard takes only what is not locked any more. */
	if (i->lock >= 0)
		close(i->lock);
	i->lock = -1;
	end_guard(i);
	if (i->inst) {
		/* Where somebody killed the guard. */
		if (tracefs_instance_get_name(i->inst))
			tracefs_instance_destroy(i->inst);
		tracefs_instance_free(i->inst);
	}
	*i = (struct tmigr_instance){.lock = -1, .lease = -1};
}

int tmigr_instance_enable(struct tmigr_instance *i, const char *system, const char *event)
{
	char file[128];

	snprintf(file, sizeof(file), "events/%.50s/%.60s/enable", system, event);
	if (!tracefs_file_exists(i->inst, file))
		return -ENOENT;
	return put(i, file, "1");
}

int tmigr_instance_on(struct tmigr_instance *i, bool on)
{
	return put(i, "tracing_on", on ? "1" : "0");
}
