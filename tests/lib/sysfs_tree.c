// SPDX-License-Identifier: GPL-2.0-or-later
#include "sysfs_tree.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

void sysfs_tree_new(struct sysfs_tree *m)
{
	strcpy(m->root, "/tmp/tmigr-sysfs-XXXXXX");
	assert_non_null(mkdtemp(m->root));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void sysfs_tree_remove(struct sysfs_tree *m)
{
	nftw(m->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

void sysfs_tree_file(const struct sysfs_tree *m, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	assert_in_range(snprintf(full, sizeof(full), "%s%s", m->root, path), 1, PATH_MAX - 1);
	f = fopen(full, "w");
	if (!f) {
		make_parents(full);
		f = fopen(full, "w");
	}
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

void sysfs_tree_cpu_file(const struct sysfs_tree *m, const char *path, const char *text)
{
	char full[256];

	snprintf(full, sizeof(full), "/sys/devices/system/cpu/%s", path);
	sysfs_tree_file(m, full, text);
}

void sysfs_tree_cpus(const struct sysfs_tree *m, const char *cpulist)
{
	sysfs_tree_cpu_file(m, "possible", cpulist);
	sysfs_tree_cpu_file(m, "present", cpulist);
	sysfs_tree_cpu_file(m, "online", cpulist);
}

void sysfs_tree_capacity(const struct sysfs_tree *m, unsigned int cpu, unsigned int capacity)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "cpu%u/cpu_capacity", cpu);
	snprintf(text, sizeof(text), "%u\n", capacity);
	sysfs_tree_cpu_file(m, path, text);
}

static void state_file(const struct sysfs_tree *m, unsigned int cpu, unsigned int state,
		       const char *what, const char *text)
{
	char path[96];

	snprintf(path, sizeof(path), "cpu%u/cpuidle/state%u/%s", cpu, state, what);
	sysfs_tree_cpu_file(m, path, text);
}

void sysfs_tree_state(const struct sysfs_tree *m, unsigned int cpu, unsigned int state,
		      const char *name, unsigned int latency_us, unsigned int residency_us,
		      int disabled)
{
	char text[64];

	snprintf(text, sizeof(text), "%s\n", name);
	state_file(m, cpu, state, "name", text);
	snprintf(text, sizeof(text), "%u\n", latency_us);
	state_file(m, cpu, state, "latency", text);
	snprintf(text, sizeof(text), "%u\n", residency_us);
	state_file(m, cpu, state, "residency", text);
	state_file(m, cpu, state, "disable", disabled ? "1\n" : "0\n");
}

void sysfs_tree_4_4(const struct sysfs_tree *m)
{
	sysfs_tree_cpus(m, "0-7\n");
	sysfs_tree_cpu_file(m, "isolated", "\n");
	sysfs_tree_cpu_file(m, "nohz_full", "  (null)\n");
	sysfs_tree_cpu_file(m, "cpuidle/current_driver", "psci_idle\n");
	sysfs_tree_cpu_file(m, "cpuidle/current_governor", "teo\n");
	sysfs_tree_cpu_file(m, "cpuidle/current_governor_ro", "menu\n");
	sysfs_tree_file(m, "/proc/sys/kernel/timer_migration", "1\n");
	sysfs_tree_file(m, "/sys/devices/system/node/node0/cpulist", "0-3\n");
	sysfs_tree_file(m, "/sys/devices/system/node/node3/cpulist", "4-7\n");
	sysfs_tree_file(m, "/sys/devices/system/node/online", "0,3\n");
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		char path[64];

		sysfs_tree_capacity(m, cpu, cpu < 4 ? 442 : 1024);
		snprintf(path, sizeof(path), "cpu%u/topology/cluster_id", cpu);
		sysfs_tree_cpu_file(m, path, cpu < 4 ? "0\n" : "1\n");
		sysfs_tree_state(m, cpu, 0, "WFI", 1, 1, 0);
		sysfs_tree_state(m, cpu, 1, cpu < 4 ? "cpu-sleep" : "big-sleep",
				 cpu < 4 ? 370 : 500, cpu < 4 ? 900 : 1200, cpu == 7);
		if (cpu >= 4)
			sysfs_tree_state(m, cpu, 2, "cluster-sleep", 2000, 4000, 1);
	}
}

int sysfs_tree_setup(void **state)
{
	struct sysfs_tree *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	sysfs_tree_new(m);
	*state = m;
	return 0;
}

int sysfs_tree_teardown(void **state)
{
	sysfs_tree_remove(*state);
	free(*state);
	return 0;
}
