// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Some kernels take cpu_capacity away while a CPU is offline (those in which
 * arch_topology.c adds and removes it by CPU hotplug callbacks).  Such a LITTLE CPU must not be
 * called big when it comes back during a run, so its capacity is that of its kind: the CPUs of
 * equal capacity-dmips-mhz in the device tree if they agree, else those of its cpufreq policy.
 */
#include "topology_capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

#define CPU_DIR		 "/sys/devices/system/cpu"
#define DEFAULT_CAPACITY 1024

/* The device tree's figure before clock and scale, four bytes; 0: none. */
static uint32_t read_dmips(const char *root, unsigned int cpu)
{
	char path[PATH_MAX];
	uint32_t value = 0;
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s" CPU_DIR "/cpu%u/of_node/capacity-dmips-mhz",
		     root ? root : "", cpu) >= (int)sizeof(path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, &value, sizeof(value));
	close(fd);
	/* Only compared, so the order of its bytes does not matter. */
	return n == sizeof(value) ? value : 0;
}

/* A CPU, the kind it is of (0: none), and the capacity it has by that. */
struct kind {
	uint32_t kind;
	unsigned int found;
	struct tmigr_topo_cpu *cpu;
};

/* One more CPU of a kind; false: they differ. */
static bool agree(unsigned int *capacity, unsigned int other)
{
	if (other == CAPACITY_UNKNOWN)
		return true;
	if (*capacity != CAPACITY_UNKNOWN && *capacity != other)
		return false;
	*capacity = other;
	return true;
}

static int compare_kinds(const void *a, const void *b)
{
	uint32_t x = ((const struct kind *)a)->kind, y = ((const struct kind *)b)->kind;

	return (x > y) - (x < y);
}

static unsigned int agreed(const struct kind *k, size_t n)
{
	unsigned int capacity = CAPACITY_UNKNOWN;

	for (size_t i = 0; i < n; i++)
		if (!agree(&capacity, k[i].cpu->capacity))
			return CAPACITY_UNKNOWN;
	return capacity;
}

static void fill_by_device_tree(const char *root, struct tmigr_topology *topo, struct kind *kinds)
{
	size_t n = topo->n_cpus;

	for (size_t i = 0; i < n; i++)
		kinds[i] = (struct kind){read_dmips(root, topo->cpus[i].cpu), CAPACITY_UNKNOWN,
					 &topo->cpus[i]};
	qsort(kinds, n, sizeof(*kinds), compare_kinds);
	for (size_t i = 0, end; i < n; i = end) {
		unsigned int capacity;

		for (end = i + 1; end < n && kinds[end].kind == kinds[i].kind;)
			end++;
		capacity = kinds[i].kind ? agreed(kinds + i, end - i) : CAPACITY_UNKNOWN;
		for (size_t k = i; k < end; k++)
			if (kinds[k].cpu->capacity == CAPACITY_UNKNOWN)
				kinds[k].cpu->capacity = capacity;
	}
}

/* The CPUs ("0 1 2 3") of the policy that is named after @first, one of them;
 * offline ones stay in related_cpus. */
static bool read_policy(const char *root, unsigned int first, struct cpulist *ret)
{
	char path[128];
	char *text;
	int r;

	snprintf(path, sizeof(path), CPU_DIR "/cpufreq/policy%u/related_cpus", first);
	if (sysfs_text(root, path, &text) < 0)
		return false;
	for (char *p = text; *p; p++)
		if (*p == ' ')
			*p = ',';
	r = tmigr_cpulist_parse(text, &ret->cpus, &ret->n, NULL);
	free(text);
	return r == 0;
}

/* The capacity on which the CPUs of a list agree. */
static unsigned int agreed_in(const struct tmigr_topology *topo, const struct cpulist *list)
{
	unsigned int capacity = CAPACITY_UNKNOWN;

	for (size_t i = 0; i < list->n; i++) {
		int idx = tmigr_topology_index(topo, list->cpus[i]);

		if (idx >= 0 && !agree(&capacity, topo->cpus[idx].capacity))
			return CAPACITY_UNKNOWN;
	}
	return capacity;
}

/* A CPU in the lists of several policies is of the first.  What was found counts once all
 * are read, so that it teaches nothing about others. */
static void fill_by_policy(const char *root, struct tmigr_topology *topo, struct kind *kinds)
{
	for (size_t i = 0; i < topo->n_cpus; i++)
		kinds[i] = (struct kind){0, CAPACITY_UNKNOWN, &topo->cpus[i]};
	for (size_t i = 0; i < topo->n_cpus; i++) {
		struct cpulist list = {0};
		unsigned int capacity;

		if (!read_policy(root, topo->cpus[i].cpu, &list))
			continue;
		capacity = agreed_in(topo, &list);
		for (size_t k = 0; k < list.n; k++) {
			int idx = tmigr_topology_index(topo, list.cpus[k]);

			if (idx >= 0 && !kinds[idx].kind) {
				kinds[idx].kind = 1;
				kinds[idx].found = capacity;
			}
		}
		cpulist_free(&list);
	}
	for (size_t i = 0; i < topo->n_cpus; i++)
		if (topo->cpus[i].capacity == CAPACITY_UNKNOWN)
			topo->cpus[i].capacity = kinds[i].found;
}

static size_t count_known(const struct tmigr_topology *topo)
{
	size_t known = 0;

	for (size_t i = 0; i < topo->n_cpus; i++)
		known += topo->cpus[i].capacity != CAPACITY_UNKNOWN;
	return known;
}

int topology_check_capacities(const char *root, const struct tmigr_topology *topo,
			      struct tmigr_err *err)
{
	size_t known = count_known(topo);

	for (size_t i = 0; known && i < topo->n_cpus; i++) {
		const struct tmigr_topo_cpu *cpu = &topo->cpus[i];
		char path[128], *text = NULL;
		int r;

		if (!cpu->online || cpu->capacity != CAPACITY_UNKNOWN)
			continue;
		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cpu_capacity", cpu->cpu);
		r = sysfs_text(root, path, &text);
		free(text);
		return tmigr_fail(err, -EINVAL,
				  "%s%s: %s, but other CPUs have theirs, and CPU %u is not offline "
				  "there; is the copy whole?",
				  root ? root : "", path, strerror(-r), cpu->cpu);
	}
	return 0;
}

int topology_fill_capacities(const char *root, struct tmigr_topology *topo)
{
	size_t known = count_known(topo);

	/* Without any there is nothing to learn from: one class. */
	if (known && known < topo->n_cpus) {
		struct kind *kinds = calloc(topo->n_cpus, sizeof(*kinds));

		if (!kinds)
			return -ENOMEM;
		fill_by_device_tree(root, topo, kinds);
		if (count_known(topo) < topo->n_cpus)
			fill_by_policy(root, topo, kinds);
		free(kinds);
	}
	for (size_t i = 0; i < topo->n_cpus; i++) {
		struct tmigr_topo_cpu *cpu = &topo->cpus[i];

		if (cpu->capacity == CAPACITY_UNKNOWN) {
			cpu->capacity = DEFAULT_CAPACITY;
			cpu->class_guessed = known > 0;
		}
	}
	return 0;
}
