// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Some kernels take cpu_capacity away while a CPU is offline (those in which
 * arch_topology.c adds and removes it by CPU hotplug callbacks).  Such a LITTLE CPU must not be
 * called big when it comes back during a run, so its capacity is that of its kind: the CPUs of
 * equal capacity-dmips-mhz in the device tree if they agree, else those of its cpufreq policy.
 */
#include "topology_capacity.h"

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

/* @cpu's capacity given one more CPU of its kind: unknown once they differ. */
static unsigned int agree(unsigned int so_far, unsigned int other, bool *differ)
{
	if (other == CAPACITY_UNKNOWN)
		return so_far;
	if (so_far != CAPACITY_UNKNOWN && so_far != other)
		*differ = true;
	return other;
}

static unsigned int from_device_tree(const char *root, const struct tmigr_topology *topo,
				     unsigned int cpu)
{
	uint32_t dmips = read_dmips(root, cpu);
	unsigned int capacity = CAPACITY_UNKNOWN;
	bool differ = false;

	for (size_t i = 0; dmips && i < topo->n_cpus; i++)
		if (topo->cpus[i].capacity != CAPACITY_UNKNOWN &&
		    read_dmips(root, topo->cpus[i].cpu) == dmips)
			capacity = agree(capacity, topo->cpus[i].capacity, &differ);
	return differ ? CAPACITY_UNKNOWN : capacity;
}

/* The CPUs of the policy whose list ("0 1 2 3") holds @cpu.  A policy is named
 * after one of its CPUs, and keeps its offline ones in related_cpus. */
static bool read_policy(const char *root, unsigned int first, unsigned int cpu, struct cpulist *ret)
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
	if (r < 0)
		return false;
	if (cpulist_has(ret, cpu))
		return true;
	cpulist_free(ret);
	return false;
}

static unsigned int from_policy(const char *root, const struct tmigr_topology *topo,
				unsigned int cpu)
{
	struct cpulist list = {0};
	unsigned int capacity = CAPACITY_UNKNOWN;
	bool differ = false;

	for (size_t i = 0; !list.n && i < topo->n_cpus; i++)
		read_policy(root, topo->cpus[i].cpu, cpu, &list);
	for (size_t i = 0; i < list.n; i++) {
		int idx = tmigr_topology_index(topo, list.cpus[i]);

		if (idx >= 0)
			capacity = agree(capacity, topo->cpus[idx].capacity, &differ);
	}
	cpulist_free(&list);
	return differ ? CAPACITY_UNKNOWN : capacity;
}

void topology_fill_capacities(const char *root, struct tmigr_topology *topo)
{
	size_t known = 0;

	for (size_t i = 0; i < topo->n_cpus; i++)
		known += topo->cpus[i].capacity != CAPACITY_UNKNOWN;
	for (size_t i = 0; i < topo->n_cpus; i++) {
		struct tmigr_topo_cpu *cpu = &topo->cpus[i];

		/* Without any there is nothing to learn from: one class. */
		if (cpu->capacity == CAPACITY_UNKNOWN && known)
			cpu->capacity = from_device_tree(root, topo, cpu->cpu);
		if (cpu->capacity == CAPACITY_UNKNOWN && known)
			cpu->capacity = from_policy(root, topo, cpu->cpu);
		if (cpu->capacity == CAPACITY_UNKNOWN) {
			cpu->capacity = DEFAULT_CAPACITY;
			cpu->class_guessed = known > 0;
		}
	}
}
