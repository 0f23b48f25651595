// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine.h"

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

void machine_new(struct machine *m)
{
	strcpy(m->root, "/tmp/tmigr-machine-XXXXXX");
	assert_non_null(mkdtemp(m->root));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void machine_remove(struct machine *m)
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

void machine_file(const struct machine *m, const char *path, const char *text)
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

void machine_cpu_file(const struct machine *m, const char *path, const char *text)
{
	char full[256];

	snprintf(full, sizeof(full), "/sys/devices/system/cpu/%s", path);
	machine_file(m, full, text);
}

void machine_cpus(const struct machine *m, const char *cpulist)
{
	machine_cpu_file(m, "possible", cpulist);
	machine_cpu_file(m, "present", cpulist);
	machine_cpu_file(m, "online", cpulist);
}

void machine_capacity(const struct machine *m, unsigned int cpu, unsigned int capacity)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "cpu%u/cpu_capacity", cpu);
	snprintf(text, sizeof(text), "%u\n", capacity);
	machine_cpu_file(m, path, text);
}

static void state_file(const struct machine *m, unsigned int cpu, unsigned int state,
		       const char *what, const char *text)
{
	char path[96];

	snprintf(path, sizeof(path), "cpu%u/cpuidle/state%u/%s", cpu, state, what);
	machine_cpu_file(m, path, text);
}

void machine_state(const struct machine *m, unsigned int cpu, unsigned int state, const char *name,
		   unsigned int latency_us, unsigned int residency_us, int disabled)
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

void machine_4_4(const struct machine *m)
{
	machine_cpus(m, "0-7\n");
	machine_cpu_file(m, "isolated", "\n");
	machine_cpu_file(m, "nohz_full", "(null)\n");
	machine_cpu_file(m, "cpuidle/current_driver", "psci_idle\n");
	machine_cpu_file(m, "cpuidle/current_governor", "teo\n");
	machine_cpu_file(m, "cpuidle/current_governor_ro", "menu\n");
	machine_file(m, "/proc/sys/kernel/timer_migration", "1\n");
	machine_file(m, "/sys/devices/system/node/node0/cpulist", "0-3\n");
	machine_file(m, "/sys/devices/system/node/node3/cpulist", "4-7\n");
	machine_file(m, "/sys/devices/system/node/online", "0,3\n");
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		char path[64];

		machine_capacity(m, cpu, cpu < 4 ? 442 : 1024);
		snprintf(path, sizeof(path), "cpu%u/topology/cluster_id", cpu);
		machine_cpu_file(m, path, cpu < 4 ? "0\n" : "1\n");
		machine_state(m, cpu, 0, "WFI", 1, 1, 0);
		machine_state(m, cpu, 1, cpu < 4 ? "cpu-sleep" : "big-sleep", cpu < 4 ? 370 : 500,
			      cpu < 4 ? 900 : 1200, cpu == 7);
		if (cpu >= 4)
			machine_state(m, cpu, 2, "cluster-sleep", 2000, 4000, 1);
	}
}
