/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made-up machines: sysfs and procfs files below a temporary directory.  Fails
 * the running cmocka test when a file can't be written.
 */
#ifndef TMIGR_TESTS_SYSFS_TREE_H
#define TMIGR_TESTS_SYSFS_TREE_H

struct sysfs_tree {
	char root[64];
};

void sysfs_tree_new(struct sysfs_tree *m);
void sysfs_tree_remove(struct sysfs_tree *m);

/* Writes <root>/<path>, directories too. */
void sysfs_tree_file(const struct sysfs_tree *m, const char *path, const char *text);

/* A file below <root>/sys/devices/system/cpu/ */
void sysfs_tree_cpu_file(const struct sysfs_tree *m, const char *path, const char *text);

/* possible, present and online with the same CPU list */
void sysfs_tree_cpus(const struct sysfs_tree *m, const char *cpulist);

/* .../cpuN/cpu_capacity */
void sysfs_tree_capacity(const struct sysfs_tree *m, unsigned int cpu, unsigned int capacity);

/* .../cpuN/cpuidle/stateK/ */
void sysfs_tree_state(const struct sysfs_tree *m, unsigned int cpu, unsigned int state,
		      const char *name, unsigned int latency_us, unsigned int residency_us,
		      int disabled);

/* Four LITTLE and four big CPUs, each class with a state table and a node of its
 * own; two states and three. */
void sysfs_tree_4_4(const struct sysfs_tree *m);

/* For cmocka: *state is an empty tree, gone after the test. */
int sysfs_tree_setup(void **state);
int sysfs_tree_teardown(void **state);

#endif
