/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made-up machines: sysfs and procfs files below a temporary directory.  Fails
 * the running cmocka test when a file can't be written.
 */
#ifndef TMIGR_TESTS_MACHINE_H
#define TMIGR_TESTS_MACHINE_H

struct machine {
	char root[64];
};

void machine_new(struct machine *m);
void machine_remove(struct machine *m);

/* Writes <root>/<path>, directories too. */
void machine_file(const struct machine *m, const char *path, const char *text);

/* A file below <root>/sys/devices/system/cpu/ */
void machine_cpu_file(const struct machine *m, const char *path, const char *text);

/* possible, present and online with the same CPU list */
void machine_cpus(const struct machine *m, const char *cpulist);

/* .../cpuN/cpu_capacity */
void machine_capacity(const struct machine *m, unsigned int cpu, unsigned int capacity);

/* .../cpuN/cpuidle/stateK/ */
void machine_state(const struct machine *m, unsigned int cpu, unsigned int state, const char *name,
		   unsigned int latency_us, unsigned int residency_us, int disabled);

/* Four LITTLE and four big CPUs, each class with a state table and a node of its
 * own; two states and three. */
void machine_4_4(const struct machine *m);

#endif
