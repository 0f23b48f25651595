// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the machine from sysfs.  A file that is absent is a kernel without that
 * feature and gives the default; a file that decides an answer (CPU lists,
 * capacities) and holds something else than it should is an error that names
 * the file.
 */
#include "tmigr/topology.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"
#include "topology_capacity.h"
#include "topology_class.h"
#include "topology_copy.h"

#define CPU_DIR	 "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"

struct lists {
	struct cpulist possible, present, online, isolated, nohz_full;
};

void tmigr_topology_free(struct tmigr_topology *topo)
{
	if (!topo)
		return;
	free(topo->cpus);
	free(topo->classes);
	free(topo);
}

int tmigr_topology_index(const struct tmigr_topology *topo, unsigned int cpu)
{
	size_t low = 0, high = topo->n_cpus;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (topo->cpus[mid].cpu == cpu)
			return (int)mid;
		if (topo->cpus[mid].cpu < cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

static void free_lists(struct lists *l)
{
	cpulist_free(&l->possible);
	cpulist_free(&l->present);
	cpulist_free(&l->online);
	cpulist_free(&l->isolated);
	cpulist_free(&l->nohz_full);
}

static int read_lists(const char *root, struct lists *l, struct tmigr_err *err)
{
	const struct {
		const char *path;
		struct cpulist *list;
	} files[] = {
		{CPU_DIR "/possible", &l->possible},   {CPU_DIR "/present", &l->present},
		{CPU_DIR "/online", &l->online},       {CPU_DIR "/isolated", &l->isolated},
		{CPU_DIR "/nohz_full", &l->nohz_full},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int r = sysfs_cpulist(root, files[i].path, files[i].list, err);

		if (r == -EINVAL)
			return r;
		if (r < 0 && r != -ENOENT)
			return tmigr_fail(err, r, "%s%s: %s", root ? root : "", files[i].path,
					  strerror(-r));
	}
	return 0;
}

/* Builds "<dir>/cpuN/<what>" in @buf. */
static const char *cpu_path(char *buf, size_t size, unsigned int cpu, const char *what)
{
	snprintf(buf, size, CPU_DIR "/cpu%u/%s", cpu, what);
	return buf;
}

static int read_capacity(const char *root, struct tmigr_topo_cpu *cpu, struct tmigr_err *err)
{
	char path[128];
	long long n = CAPACITY_UNKNOWN;
	int r = sysfs_number(root, cpu_path(path, sizeof(path), cpu->cpu, "cpu_capacity"), 0,
			     CAPACITY_UNKNOWN - 1, &n);

	if (r == -EINVAL)
		return tmigr_fail(err, r, "%s%s: not a capacity", root ? root : "", path);
	cpu->capacity = (unsigned int)n;
	return 0;
}

/* Descriptive figures only, so what can't be read is 0; a kernel prints no
 * more than 32 bits, disabled states may have the largest number. */
static unsigned int read_state_number(const char *root, const struct tmigr_topo_cpu *cpu,
				      unsigned int state, const char *what)
{
	char path[128];
	long long n = 0;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cpuidle/state%u/%s", cpu->cpu, state, what);
	if (sysfs_number(root, path, 0, LLONG_MAX, &n) < 0)
		return 0;
	return n > UINT_MAX ? UINT_MAX : (unsigned int)n;
}

static void read_states(const char *root, struct tmigr_topo_cpu *cpu)
{
	char path[128];

	for (unsigned int i = 0; i < TMIGR_STATES; i++) {
		struct tmigr_idle_state *s = &cpu->states[i];

		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cpuidle/state%u/name", cpu->cpu, i);
		if (sysfs_name(root, path, s->name, sizeof(s->name)) < 0)
			return;
		if (!s->name[0])
			snprintf(s->name, sizeof(s->name), "state%u", i);
		s->latency_us = read_state_number(root, cpu, i, "latency");
		s->residency_us = read_state_number(root, cpu, i, "residency");
		s->disabled = read_state_number(root, cpu, i, "disable") != 0;
		cpu->n_states = i + 1;
	}
}

static int read_cpu(const char *root, const struct lists *l, unsigned int number,
		    struct tmigr_topo_cpu *ret, struct tmigr_err *err)
{
	char path[128];
	long long cluster = -1;
	int r;

	ret->cpu = number;
	/* No `online` file: a kernel without CPU hotplug. */
	ret->online = !l->online.cpus || cpulist_has(&l->online, number);
	ret->isolated = cpulist_has(&l->isolated, number);
	ret->nohz_full = cpulist_has(&l->nohz_full, number);
	ret->node = -1;
	r = read_capacity(root, ret, err);
	if (r < 0)
		return r;
	sysfs_number(root, cpu_path(path, sizeof(path), number, "topology/cluster_id"), -1, INT_MAX,
		     &cluster);
	ret->cluster = (int)cluster;
	read_states(root, ret);
	return 0;
}

static int read_cpus(const char *root, bool copied, const struct lists *l,
		     struct tmigr_topology *topo, struct tmigr_err *err)
{
	const struct cpulist *present = l->present.n ? &l->present : &l->possible;
	const struct cpulist *possible = l->possible.n ? &l->possible : present;

	if (!present->n)
		return tmigr_fail(err, -ENODATA,
				  "%s" CPU_DIR "/present: no list of CPUs there; is %s?",
				  root ? root : "", copied ? "the copy whole" : "sysfs mounted");
	topo->cpus = calloc(present->n, sizeof(*topo->cpus));
	if (!topo->cpus)
		return tmigr_fail(err, -ENOMEM, "no memory for %zu CPUs", present->n);
	topo->n_cpus = present->n;
	topo->n_possible = possible->cpus[possible->n - 1] + 1;
	if (topo->n_possible <= present->cpus[present->n - 1])
		topo->n_possible = present->cpus[present->n - 1] + 1;
	for (size_t i = 0; i < present->n; i++) {
		int r = read_cpu(root, l, present->cpus[i], &topo->cpus[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* N of a directory entry "nodeN", or -1. */
static int node_number(const char *name)
{
	char *end;
	long n;

	if (strncmp(name, "node", 4) != 0 || !isdigit((unsigned char)name[4]))
		return -1;
	n = strtol(name + 4, &end, 10);
	return *end || n > INT_MAX ? -1 : (int)n;
}

static DIR *open_dir(const char *root, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", root ? root : "", path) >= (int)sizeof(full))
		return NULL;
	return opendir(full);
}

/* Node of a CPU that is in no node's list: its directory may have the link. */
static int linked_node(const char *root, unsigned int cpu)
{
	char path[64];
	const struct dirent *e;
	int node = -1;
	DIR *dir;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u", cpu);
	dir = open_dir(root, path);
	if (!dir)
		return -1;
	while (node < 0 && (e = readdir(dir)))
		node = node_number(e->d_name);
	closedir(dir);
	return node;
}

/* The nodes' lists hold the online CPUs only. */
static int read_nodes(const char *root, struct tmigr_topology *topo, struct tmigr_err *err)
{
	DIR *dir = open_dir(root, NODE_DIR);
	const struct dirent *e;
	int r = 0;

	while (dir && r == 0 && (e = readdir(dir))) {
		int node = node_number(e->d_name);
		struct cpulist list = {0};
		char path[64];

		if (node < 0)
			continue;
		snprintf(path, sizeof(path), NODE_DIR "/node%d/cpulist", node);
		r = sysfs_cpulist(root, path, &list, err);
		if (r < 0 && r != -EINVAL && r != -ENOMEM)
			r = 0;
		for (size_t i = 0; i < list.n; i++) {
			int idx = tmigr_topology_index(topo, list.cpus[i]);

			if (idx >= 0)
				topo->cpus[idx].node = node;
		}
		cpulist_free(&list);
	}
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < topo->n_cpus; i++)
		if (topo->cpus[i].node < 0)
			topo->cpus[i].node = linked_node(root, topo->cpus[i].cpu);
	return r;
}

static void read_system(const char *root, struct tmigr_topology *topo)
{
	if (sysfs_name(root, CPU_DIR "/cpuidle/current_driver", topo->driver,
		       sizeof(topo->driver)) < 0 ||
	    !topo->driver[0])
		snprintf(topo->driver, sizeof(topo->driver), "none");
	/* Kernels have one of them or both. */
	if (sysfs_name(root, CPU_DIR "/cpuidle/current_governor_ro", topo->governor,
		       sizeof(topo->governor)) < 0)
		sysfs_name(root, CPU_DIR "/cpuidle/current_governor", topo->governor,
			   sizeof(topo->governor));
	topo->timer_migration = tmigr_topology_sysctl(root);
}

int tmigr_topology_sysctl(const char *root)
{
	long long n = -1;

	sysfs_number(root, "/proc/sys/kernel/timer_migration", 0, 1, &n);
	return (int)n;
}

static int read_machine(const char *root, bool copied, const char *const *overrides,
			size_t n_overrides, struct tmigr_topology **ret, struct tmigr_err *err)
{
	struct tmigr_topology *topo = calloc(1, sizeof(*topo));
	struct lists lists = {0};
	int r;

	if (!topo)
		return tmigr_fail(err, -ENOMEM, "no memory for the topology");
	r = read_lists(root, &lists, err);
	if (r == 0)
		r = read_cpus(root, copied, &lists, topo, err);
	if (r == 0 && copied)
		r = topology_check_capacities(root, topo, err);
	free_lists(&lists);
	if (r == 0)
		r = read_nodes(root, topo, err);
	if (r == 0 && topology_fill_capacities(root, topo) < 0)
		r = tmigr_fail(err, -ENOMEM, "no memory for the topology");
	if (r == 0) {
		read_system(root, topo);
		r = topology_make_classes(topo, overrides, n_overrides, err);
	}
	if (r < 0) {
		tmigr_topology_free(topo);
		return r;
	}
	*ret = topo;
	return 0;
}

int tmigr_topology_read(const char *root, const char *const *overrides, size_t n_overrides,
			struct tmigr_topology **ret, struct tmigr_err *err)
{
	return read_machine(root, false, overrides, n_overrides, ret, err);
}

int topology_read_copy(const char *root, const char *const *overrides, size_t n_overrides,
		       struct tmigr_topology **ret, struct tmigr_err *err)
{
	return read_machine(root, true, overrides, n_overrides, ret, err);
}

int tmigr_topology_online(const char *root, char **ret)
{
	return sysfs_text(root, CPU_DIR "/online", ret);
}

/* Without classes. */
static struct tmigr_topology *copy(const struct tmigr_topology *topo)
{
	struct tmigr_topology *new = malloc(sizeof(*new));

	if (!new)
		return NULL;
	*new = *topo;
	new->classes = NULL;
	new->n_classes = 0;
	new->cpus = calloc(topo->n_cpus, sizeof(*new->cpus));
	if (!new->cpus) {
		free(new);
		return NULL;
	}
	memcpy(new->cpus, topo->cpus, topo->n_cpus * sizeof(*new->cpus));
	return new;
}

static struct tmigr_topology *whole_copy(const struct tmigr_topology *topo)
{
	struct tmigr_topology *new = copy(topo);

	if (!new)
		return NULL;
	new->classes = calloc(topo->n_classes, sizeof(*new->classes));
	if (!new->classes) {
		tmigr_topology_free(new);
		return NULL;
	}
	memcpy(new->classes, topo->classes, topo->n_classes * sizeof(*new->classes));
	new->n_classes = topo->n_classes;
	return new;
}

struct tmigr_topology *tmigr_topology_now(const char *root, const struct tmigr_topology *topo)
{
	struct tmigr_topology *new = whole_copy(topo);
	struct cpulist online = {0};

	if (new &&sysfs_cpulist(root, CPU_DIR "/online", &online, NULL) == 0)
		for (size_t i = 0; i < new->n_cpus; i++)
			new->cpus[i].online = cpulist_has(&online, new->cpus[i].cpu);
	cpulist_free(&online);
	return new;
}

struct tmigr_topology *tmigr_topology_as_at(const struct tmigr_topology *start,
					    const struct tmigr_topology *topo)
{
	struct tmigr_topology *new = whole_copy(topo);

	for (size_t i = 0; new &&i < new->n_cpus; i++)
		new->cpus[i].online = start->cpus[i].online;
	return new;
}

/* An offline CPU's own files, if they have come. */
static int reread_cpus(const char *root, struct tmigr_topology *topo, struct tmigr_err *err)
{
	for (size_t i = 0; i < topo->n_cpus; i++) {
		struct tmigr_topo_cpu *cpu = &topo->cpus[i];
		unsigned int known = cpu->class_guessed ? CAPACITY_UNKNOWN : cpu->capacity;
		char path[128];
		long long cluster = cpu->cluster;
		int r;

		if (cpu->online)
			continue;
		cpu->class_guessed = false;
		r = read_capacity(root, cpu, err);
		if (r < 0)
			return r;
		/* Its file goes with it. */
		if (cpu->capacity == CAPACITY_UNKNOWN)
			cpu->capacity = known;
		sysfs_number(root, cpu_path(path, sizeof(path), cpu->cpu, "topology/cluster_id"),
			     -1, INT_MAX, &cluster);
		cpu->cluster = (int)cluster;
		read_states(root, cpu);
	}
	return 0;
}

/* 1, 0 or -ENOMEM */
static int differ(const struct tmigr_topology *a, const struct tmigr_topology *b)
{
	json_t *x = tmigr_topology_to_json(a), *y = tmigr_topology_to_json(b);
	int r = x && y ? !json_equal(x, y) : -ENOMEM;

	json_decref(x);
	json_decref(y);
	return r;
}

int tmigr_topology_refresh(const char *root, const char *const *overrides, size_t n_overrides,
			   const struct tmigr_topology *start, struct tmigr_topology **ret,
			   struct tmigr_err *err)
{
	struct tmigr_topology *topo = copy(start);
	int r;

	if (!topo)
		return tmigr_fail(err, -ENOMEM, "no memory for the topology");
	r = reread_cpus(root, topo, err);
	if (r == 0)
		r = read_nodes(root, topo, err);
	if (r == 0 && topology_fill_capacities(root, topo) < 0)
		r = tmigr_fail(err, -ENOMEM, "no memory for the topology");
	if (r == 0)
		r = topology_make_classes(topo, overrides, n_overrides, err);
	if (r == 0) {
		r = differ(start, topo);
		if (r > 0) {
			*ret = topo;
			return 0;
		}
		if (r == 0)
			*ret = NULL;
		else
			tmigr_fail(err, r, "no memory for the topology");
	}
	tmigr_topology_free(topo);
	return r;
}
