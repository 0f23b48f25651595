// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of a made-up machine, and how they are taken back. */
#include <errno.h>
#include <setjmp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../lib/sysfs_tree.h"
#include "tmigr/machine_change.h"

#define SYSCTL "/proc/sys/kernel/timer_migration"

static struct tmigr_topology *topo;
static struct tmigr_change *change;
static struct tmigr_err err;

static int setup(void **state)
{
	const struct sysfs_tree *m;
	char path[64];

	if (sysfs_tree_setup(state))
		return -1;
	m = *state;
	sysfs_tree_4_4(m);
	for (int cpu = 1; cpu < 8; cpu++) {
		snprintf(path, sizeof(path), "cpu%d/online", cpu);
		sysfs_tree_cpu_file(m, path, "1\n");
	}
	sysfs_tree_file(m, SYSCTL, "1\n");
	if (tmigr_topology_read(m->root, NULL, 0, &topo, &err) < 0)
		return -1;
	change = NULL;
	*err.text = '\0';
	return 0;
}

static int teardown(void **state)
{
	tmigr_topology_free(topo);
	return sysfs_tree_teardown(state);
}

static int make(const struct sysfs_tree *m, const char *offline, int timer_migration, bool force)
{
	struct tmigr_change_opts o = {
		.root = m->root, .topo = topo, .timer_migration = timer_migration, .force = force};
	unsigned int *cpus;
	int ret;

	assert_int_equal(tmigr_cpulist_parse(offline, &cpus, &o.n_offline, NULL), 0);
	o.offline = cpus;
	ret = tmigr_change_make(&o, &change, &err);
	free(cpus);
	return ret;
}

/* "1 1110000 1": the sysctl and CPUs 1-7, as their files say; '?' is something else. */
static const char *now(const struct sysfs_tree *m)
{
	static char text[16];
	char path[200], c;
	FILE *in;

	for (int i = 0; i < 8; i++) {
		if (i)
			snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/online",
				 m->root, i);
		else
			snprintf(path, sizeof(path), "%s" SYSCTL, m->root);
		in = fopen(path, "r");
		assert_non_null(in);
		c = (char)getc(in);
		fclose(in);
		text[i] = c == '0' || c == '1' ? c : '?';
	}
	text[8] = '\0';
	return text;
}

static void is_json(const char *want)
{
	const json_t *json = tmigr_change_json(change);
	char *text = json ? json_dumps(json, JSON_COMPACT) : strdup("none");

	assert_string_equal(text, want);
	free(text);
}

static void test_offline(void **state)
{
	assert_int_equal(make(*state, "5-7", -1, false), 0);
	assert_string_equal(now(*state), "11111000");
	is_json("{\"offline\":\"5-7\"}");
	assert_int_equal(tmigr_change_undo(change, &err), 0);
	assert_string_equal(now(*state), "11111111");
}

static void test_sysctl(void **state)
{
	assert_int_equal(make(*state, "", 0, false), 0);
	assert_string_equal(now(*state), "01111111");
	is_json("{\"timer_migration\":0}");
	assert_int_equal(tmigr_change_undo(change, &err), 0);
	assert_string_equal(now(*state), "11111111");
}

/* What was so before is not changed, and is not put back. */
static void test_already(void **state)
{
	sysfs_tree_cpu_file(*state, "cpu6/online", "0\n");
	assert_int_equal(make(*state, "6-7", 1, false), 0);
	assert_string_equal(now(*state), "11111100");
	is_json("{\"offline\":\"7\"}");
	assert_int_equal(tmigr_change_undo(change, &err), 0);
	assert_string_equal(now(*state), "11111101");
	assert_int_equal(make(*state, "6", 1, false), 0);
	is_json("none");
	assert_int_equal(tmigr_change_undo(change, &err), 0);
	assert_string_equal(now(*state), "11111101");
}

static void refused(const struct sysfs_tree *m, const char *offline, int ret, const char *text)
{
	assert_int_equal(make(m, offline, 0, false), ret);
	assert_non_null(strstr(err.text, text));
	assert_string_equal(now(m), "11111111");
}

static void test_refused(void **state)
{
	refused(*state, "4-7", -EBUSY, "no CPU of class big");
	refused(*state, "0-3", -EBUSY, "no CPU of class LITTLE");
	refused(*state, "8", -EINVAL, "no CPU 8");
	/* CPU 0 has no such file here, as on most machines. */
	refused(*state, "0,5", -EINVAL, "CPU 0 cannot be taken offline");
	assert_int_equal(make(*state, "0-7", -1, true), -EBUSY);
	assert_non_null(strstr(err.text, "no CPU would be left"));
}

static void test_force(void **state)
{
	assert_int_equal(make(*state, "4-7", -1, true), 0);
	assert_string_equal(now(*state), "11110000");
	assert_int_equal(tmigr_change_undo(change, &err), 0);
	assert_string_equal(now(*state), "11111111");
}

/* One that nobody may write, root neither, and that says 1. */
#define READ_ONLY "/sys/class/net/lo/iflink"

/* The last step fails: the others are taken back. */
static void test_halfway(void **state)
{
	const struct sysfs_tree *m = *state;
	char path[200], digit = 0;
	int fd = open(READ_ONLY, O_RDONLY);

	if (fd < 0 || read(fd, &digit, 1) != 1 || digit != '1')
		skip();
	close(fd);
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu7/online", m->root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(READ_ONLY, path), 0);
	assert_int_equal(make(m, "5-7", 0, false), -EACCES);
	assert_string_equal(err.text,
			    "CPU 7 cannot be taken offline: Permission denied (run as root)");
	assert_string_equal(now(m), "11111111");
	assert_int_equal(unlink(path), 0);
	sysfs_tree_cpu_file(m, "cpu7/online", "1\n");
	/* The sysctl comes after the CPUs. */
	snprintf(path, sizeof(path), "%s" SYSCTL, m->root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(READ_ONLY, path), 0);
	assert_int_equal(make(m, "5-7", 0, false), -EACCES);
	assert_non_null(strstr(err.text, "kernel.timer_migration cannot be set"));
	assert_string_equal(now(m), "11111111");
}

/* Waits until @want is so; not for ever. */
static void becomes(const struct sysfs_tree *m, const char *want)
{
	const struct timespec t = {.tv_nsec = 10000000};

	for (int i = 0; i < 3000 && strcmp(now(m), want) != 0; i++)
		nanosleep(&t, NULL);
	assert_string_equal(now(m), want);
}

/* Whoever made the changes is killed, as hard as can be. */
static void test_killed(void **state)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (make(*state, "5-7", 0, false) < 0)
			_exit(1);
		pause();
		_exit(2);
	}
	becomes(*state, "01111000");
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	becomes(*state, "11111111");
}

/* What of them can be put back is; what cannot is named. */
static void test_not_back(void **state)
{
	const struct sysfs_tree *m = *state;
	char path[200];

	assert_int_equal(make(m, "5-7", -1, false), 0);
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu6/online", m->root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(tmigr_change_undo(change, &err), -EIO);
	assert_non_null(strstr(err.text, "CPU 6 could not be taken online again"));
	sysfs_tree_cpu_file(m, "cpu6/online", "?\n");
	assert_string_equal(now(m), "111111?1");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_offline), TEST(test_sysctl),	TEST(test_already), TEST(test_refused),
		TEST(test_force),   TEST(test_halfway), TEST(test_killed),  TEST(test_not_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
