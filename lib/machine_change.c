// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of the machine for the time of a run, and the keeper who takes them back. */
#include "tmigr/machine_change.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard.h"
#include "sysfs.h"

#define SYSCTL "/proc/sys/kernel/timer_migration"

struct tmigr_change {
	const char *root;
	unsigned int *cpus; /* that were online and are to be offline */
	size_t n_cpus;
	int before, after; /* the sysctl; -1: not to be changed */
	json_t *json;
	pid_t keeper;
	int life;  /* write end of a pipe: the keeper sees it close */
	int error; /* read end: what the keeper could not put back */
};

static void change_free(struct tmigr_change *c)
{
	if (c->life >= 0)
		close(c->life);
	if (c->error >= 0)
		close(c->error);
	json_decref(c->json);
	free(c->cpus);
	free(c);
}

const json_t *tmigr_change_json(const struct tmigr_change *change)
{
	return change->json;
}

/* ---- the files ---- */

static void online_path(unsigned int cpu, char path[64])
{
	snprintf(path, 64, "/sys/devices/system/cpu/cpu%u/online", cpu);
}

static int write_digit(const char *root, const char *path, int digit)
{
	char full[PATH_MAX], text[2] = {(char)('0' + digit), '\n'};
	int fd, ret = 0;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	errno = EIO; /* of a short write */
	if (write(fd, text, sizeof(text)) != sizeof(text))
		ret = -errno;
	close(fd);
	return ret;
}

static int read_digit(const char *root, const char *path)
{
	long long v;
	int ret = sysfs_number(root, path, 0, 1, &v);

	return ret < 0 ? ret : (int)v;
}

int tmigr_change_cpu(const char *root, unsigned int cpu, bool online)
{
	char path[64];

	online_path(cpu, path);
	return write_digit(root ? root : "", path, online);
}

/* ---- the keeper ---- */

/* Puts back what is not as it was; the first that fails is named. */
static int put_back(const struct tmigr_change *c, struct tmigr_err *err)
{
	char path[64];
	int ret = 0, r;

	if (c->before >= 0 && read_digit(c->root, SYSCTL) != c->before) {
		ret = write_digit(c->root, SYSCTL, c->before);
		if (ret < 0)
			tmigr_fail(err, ret,
				   "kernel.timer_migration could not be put back to %d: %s",
				   c->before, strerror(-ret));
	}
	for (size_t i = c->n_cpus; i-- > 0;) {
		online_path(c->cpus[i], path);
		if (read_digit(c->root, path) == 1)
			continue;
		r = write_digit(c->root, path, 1);
		if (r < 0 && !ret)
			ret = tmigr_fail(err, r, "CPU %u could not be taken online again: %s",
					 c->cpus[i], strerror(-r));
	}
	return ret;
}

/* Sleeps until the other end of @life is closed, by undo or by the kernel. */
static void keep(const struct tmigr_change *c, int life, int error)
{
	struct tmigr_err err = {""};
	ssize_t n;
	char byte;

	tmigr_guard_settle("tmigr-keeper");
	tmigr_guard_wait(life, &byte, 1);
	if (put_back(c, &err) == 0)
		_exit(0);
	n = write(error, err.text, strlen(err.text));
	_exit(n < 0 ? 2 : 1);
}

static int start_keeper(struct tmigr_change *c, struct tmigr_err *err)
{
	int life[2] = {-1, -1}, error[2] = {-1, -1}, ret;

	if (pipe2(life, O_CLOEXEC) || pipe2(error, O_CLOEXEC) || (c->keeper = fork()) < 0) {
		ret = tmigr_fail(err, -errno, "cannot start the process that puts things back: %s",
				 strerror(errno));
		for (int i = 0; i < 2; i++) {
			if (life[i] >= 0)
				close(life[i]);
			if (error[i] >= 0)
				close(error[i]);
		}
		return ret;
	}
	if (!c->keeper) {
		close(life[1]);
		close(error[0]);
		keep(c, life[0], error[1]);
	}
	close(life[0]);
	close(error[1]);
	c->life = life[1];
	c->error = error[0];
	return 0;
}

int tmigr_change_undo(struct tmigr_change *c, struct tmigr_err *err)
{
	char text[TMIGR_ERR_MAX];
	int status = 0, ret = 0;
	ssize_t n;

	if (!c)
		return 0;
	if (c->keeper > 0) {
		close(c->life);
		c->life = -1;
		do
			n = read(c->error, text, sizeof(text) - 1);
		while (n < 0 && errno == EINTR);
		while (waitpid(c->keeper, &status, 0) < 0 && errno == EINTR)
			;
		text[n > 0 ? n : 0] = '\0';
		/* Somebody killed it: then it is for the caller to do. */
		if (WIFSIGNALED(status))
			ret = put_back(c, err);
		else if (status)
			ret = tmigr_fail(err, -EIO, "%s", n > 0 ? text : "not all was put back");
	}
	change_free(c);
	return ret;
}

/* ---- what may be changed ---- */

static bool wanted(const struct tmigr_change_opts *o, unsigned int cpu)
{
	for (size_t i = 0; i < o->n_offline; i++)
		if (o->offline[i] == cpu)
			return true;
	return false;
}

/* CPUs of the class (-1: of all) that would stay online. */
static size_t staying(const struct tmigr_change_opts *o, int class_idx)
{
	size_t n = 0;

	for (size_t i = 0; i < o->topo->n_cpus; i++) {
		const struct tmigr_topo_cpu *cpu = &o->topo->cpus[i];

		if (class_idx >= 0 && cpu->class_idx != (unsigned int)class_idx)
			continue;
		n += cpu->online && !wanted(o, cpu->cpu);
	}
	return n;
}

static int check_cpu(const struct tmigr_change_opts *o, unsigned int cpu, struct tmigr_err *err)
{
	int i = tmigr_topology_index(o->topo, cpu);
	const struct tmigr_topo_cpu *c;

	if (i < 0)
		return tmigr_fail(err, -EINVAL, "this machine has no CPU %u", cpu);
	c = &o->topo->cpus[i];
	if (!c->online || o->force || staying(o, (int)c->class_idx))
		return 0;
	return tmigr_fail(err, -EBUSY,
			  "CPU %u: no CPU of class %s would be left online (--force does it)", cpu,
			  o->topo->classes[c->class_idx].name);
}

static int check(const struct tmigr_change_opts *o, struct tmigr_err *err);

/* Each is away alone; and one that is away already cannot go. */
static int check_held(const struct tmigr_change_opts *o, struct tmigr_err *err)
{
	struct tmigr_change_opts one = *o;
	int ret = 0;

	one.hold = false;
	if (o->together)
		ret = check(&one, err);
	one.n_offline = 1;
	for (size_t i = 0; i < o->n_offline && !ret; i++) {
		int k = tmigr_topology_index(o->topo, o->offline[i]);

		one.offline = &o->offline[i];
		ret = o->together && k >= 0 ? 0 : check(&one, err);
		if (!ret && !o->topo->cpus[k].online)
			ret = tmigr_fail(err, -EINVAL, "CPU %u is offline already", o->offline[i]);
	}
	return ret;
}

static int check(const struct tmigr_change_opts *o, struct tmigr_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < o->n_offline && !ret; i++)
		ret = check_cpu(o, o->offline[i], err);
	if (!ret && o->n_offline && !staying(o, -1))
		ret = tmigr_fail(err, -EBUSY, "no CPU would be left online");
	return ret;
}

/* ---- making them ---- */

static int plan_cpus(struct tmigr_change *c, const struct tmigr_change_opts *o,
		     struct tmigr_err *err)
{
	char path[64];

	c->cpus = calloc(o->n_offline + 1, sizeof(*c->cpus));
	if (!c->cpus)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < o->n_offline; i++) {
		int now;

		online_path(o->offline[i], path);
		now = read_digit(c->root, path);
		if (now == -ENOENT)
			return tmigr_fail(err, -EINVAL,
					  "CPU %u cannot be taken offline here (no %s)",
					  o->offline[i], path);
		if (now < 0)
			return tmigr_fail(err, now, "%s: %s", path, strerror(-now));
		if (now)
			c->cpus[c->n_cpus++] = o->offline[i];
	}
	return 0;
}

static int plan_sysctl(struct tmigr_change *c, const struct tmigr_change_opts *o,
		       struct tmigr_err *err)
{
	int now;

	if (o->timer_migration < 0)
		return 0;
	now = read_digit(c->root, SYSCTL);
	if (now < 0)
		return tmigr_fail(err, now, "kernel.timer_migration (%s): %s", SYSCTL,
				  now == -ENOENT ? "this kernel has none" : strerror(-now));
	if (now == o->timer_migration)
		return 0;
	c->before = now;
	c->after = o->timer_migration;
	return 0;
}

static int describe(struct tmigr_change *c, struct tmigr_err *err)
{
	char *list = tmigr_cpulist_format(c->cpus, c->n_cpus);
	bool bad = !list;

	c->json = json_object();
	if (!bad && c->n_cpus)
		bad = json_object_set_new(c->json, "offline", json_string(list)) < 0;
	if (!bad && c->before >= 0)
		bad = json_object_set_new(c->json, "timer_migration", json_integer(c->after)) < 0;
	free(list);
	if (bad || !c->json)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	if (json_object_size(c->json))
		return 0;
	json_decref(c->json);
	c->json = NULL;
	return 0;
}

static const char *remedy(int ret)
{
	return ret == -EACCES || ret == -EPERM ? " (run as root)" : "";
}

static int carry_out(const struct tmigr_change *c, struct tmigr_err *err)
{
	char path[64];
	int ret;

	for (size_t i = 0; i < c->n_cpus; i++) {
		online_path(c->cpus[i], path);
		ret = write_digit(c->root, path, 0);
		if (ret < 0)
			return tmigr_fail(err, ret, "CPU %u cannot be taken offline: %s%s",
					  c->cpus[i], strerror(-ret), remedy(ret));
	}
	if (c->before < 0)
		return 0;
	ret = write_digit(c->root, SYSCTL, c->after);
	return ret < 0 ? tmigr_fail(err, ret, "kernel.timer_migration cannot be set: %s%s",
				    strerror(-ret), remedy(ret))
		       : 0;
}

/* Half-way: back, and what cannot be put back is told as well.  @r, what went wrong. */
static int give_up(struct tmigr_change *c, int r, struct tmigr_err *err)
{
	struct tmigr_err first = {""}, undo = {""};

	if (err)
		first = *err;
	if (tmigr_change_undo(c, &undo) < 0)
		tmigr_fail(err, r, "%s; %s", first.text, undo.text);
	return r;
}

int tmigr_change_make(const struct tmigr_change_opts *o, struct tmigr_change **ret,
		      struct tmigr_err *err)
{
	struct tmigr_change *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	*c = (struct tmigr_change){
		.root = o->root ? o->root : "", .before = -1, .after = -1, .life = -1, .error = -1};
	r = o->hold ? check_held(o, err) : check(o, err);
	if (!r)
		r = plan_cpus(c, o, err);
	if (!r)
		r = plan_sysctl(c, o, err);
	if (!r && !o->hold)
		r = describe(c, err);
	if (!r && (c->json || o->hold))
		r = start_keeper(c, err);
	if (!r && c->json)
		r = carry_out(c, err);
	if (r < 0)
		return give_up(c, r, err);
	*ret = c;
	return 0;
}
