// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine that a file was traced on: a copy of its sysfs, or only the numbers of
 * its CPUs.  Never this machine's own.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import_priv.h"
#include "tmigr/import.h"
#include "topology_class.h"
#include "topology_copy.h"

#define CPU_DIR "/sys/devices/system/cpu"

static const char *const above[] = {"/sys/devices/system", "/sys/devices", "/sys"};
#define N_ABOVE (sizeof(above) / sizeof(above[0]))

static bool is_folder(const char *path, const char *below)
{
	char full[PATH_MAX];
	struct stat st;

	return snprintf(full, sizeof(full), "%s%s", path, below) < (int)sizeof(full) &&
	       !stat(full, &st) && S_ISDIR(st.st_mode);
}

static bool is_cpu_folder(const char *path)
{
	char full[PATH_MAX];

	if (is_folder(path, "/cpu0") || is_folder(path, "/cpu1"))
		return true;
	return snprintf(full, sizeof(full), "%s/present", path) < (int)sizeof(full) &&
	       !access(full, F_OK);
}

/* A folder of its own in which @cpu_dir is at the place where it was: "" or a path
 * to take away by import_remove(). */
static int make_root(const char *cpu_dir, char root[64], struct tmigr_err *err)
{
	char path[128], target[PATH_MAX];
	int r;

	if (!realpath(cpu_dir, target))
		return tmigr_fail(err, -errno, "%s: %s", cpu_dir, strerror(errno));
	r = import_make_folder(root, err);
	if (r < 0)
		return r;
	for (size_t i = N_ABOVE; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, above[i]);
		if (mkdir(path, 0700) < 0)
			return tmigr_fail(err, -errno, "%s: %s", path, strerror(errno));
	}
	snprintf(path, sizeof(path), "%s%s", root, CPU_DIR);
	if (symlink(target, path) < 0)
		return tmigr_fail(err, -errno, "%s: %s", path, strerror(errno));
	return 0;
}

static int read_root(const char *root, const char *const *classes, size_t n_classes,
		     struct tmigr_topology **ret, struct tmigr_step_names *names,
		     struct tmigr_err *err)
{
	/* Steps that nothing names have numbers. */
	if (names && tmigr_step_names_read(root, names) == -ENOMEM)
		return tmigr_fail(err, -ENOMEM, "no memory for the steps of hotplug");
	return topology_read_copy(root, classes, n_classes, ret, err);
}

/* What was said of a file in a temporary folder is said of the user's own. */
static void say_of(struct tmigr_err *err, const char *temporary, const char *own)
{
	size_t n = strlen(temporary);
	struct tmigr_err said;

	if (!err || strncmp(err->text, temporary, n))
		return;
	said = *err;
	tmigr_fail(err, 0, "%s%s", own, said.text + n);
}

static int read_tar(const char *path, const char *const *classes, size_t n_classes,
		    struct tmigr_topology **ret, struct tmigr_step_names *names,
		    struct tmigr_err *err)
{
	char unpacked[64], temporary[sizeof(unpacked) + 1], own[PATH_MAX + 2];
	int r = import_untar(path, unpacked, err);

	if (r == 0 && !is_folder(unpacked, CPU_DIR))
		r = tmigr_fail(err, -EINVAL, "%s: no tar file of " CPU_DIR, path);
	if (r == 0) {
		r = read_root(unpacked, classes, n_classes, ret, names, err);
		snprintf(temporary, sizeof(temporary), "%s/", unpacked);
		snprintf(own, sizeof(own), "%s: ", path);
		if (r < 0)
			say_of(err, temporary, own);
	}
	import_remove(unpacked);
	return r;
}

static int read_folder(const char *path, const char *const *classes, size_t n_classes,
		       struct tmigr_topology **ret, struct tmigr_step_names *names,
		       struct tmigr_err *err)
{
	/* tar and cp leave out some of the folders above, or all. */
	static const char *const below[] = {"", "/cpu", "/system/cpu", "/devices/system/cpu"};
	char root[64] = "", temporary[128], folder[PATH_MAX];
	size_t i = 0;
	int r;

	while (i < 4 &&
	       (snprintf(folder, sizeof(folder), "%s%s", path, below[i]) >= (int)sizeof(folder) ||
		!is_cpu_folder(folder)))
		i++;
	if (i == 4)
		return tmigr_fail(err, -EINVAL,
				  "%s: no copy of /sys/devices/system/cpu in it (no cpu0)", path);
	r = make_root(folder, root, err);
	if (r == 0) {
		r = read_root(root, classes, n_classes, ret, names, err);
		snprintf(temporary, sizeof(temporary), "%s" CPU_DIR, root);
		if (r < 0)
			say_of(err, temporary, folder);
	}
	import_remove(root);
	return r;
}

static int read_snapshot(const char *path, const char *const *classes, size_t n_classes,
			 struct tmigr_topology **ret, struct tmigr_step_names *names,
			 struct tmigr_err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return tmigr_fail(err, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return read_tar(path, classes, n_classes, ret, names, err);
	if (is_folder(path, CPU_DIR))
		return read_root(path, classes, n_classes, ret, names, err);
	return read_folder(path, classes, n_classes, ret, names, err);
}

/* CPUs of which there are events, and those that the user names: 0 or -ENOMEM. */
static int all_cpus(const unsigned int *cpus, size_t n_cpus, const char *const *classes,
		    size_t n_classes, struct tmigr_topology *topo)
{
	bool *there = calloc(TMIGR_CPU_MAX + 1, sizeof(*there));
	size_t n = 0;

	for (size_t i = 0; there && i < n_cpus; i++)
		there[cpus[i]] = true;
	for (size_t i = 0; there && i < n_classes; i++) {
		const char *list = strchr(classes[i], '=');
		unsigned int *named = NULL;
		struct tmigr_err why;
		size_t n_named = 0;

		/* What is wrong with one is told where classes are made. */
		if (!list || tmigr_cpulist_parse(list + 1, &named, &n_named, &why) < 0)
			continue;
		for (size_t k = 0; k < n_named; k++)
			there[named[k]] = true;
		free(named);
	}
	for (size_t cpu = 0; there && cpu <= TMIGR_CPU_MAX; cpu++)
		n += there[cpu];
	topo->cpus = there ? calloc(n, sizeof(*topo->cpus)) : NULL;
	for (unsigned int cpu = 0; topo->cpus && cpu <= TMIGR_CPU_MAX; cpu++)
		if (there[cpu])
			topo->cpus[topo->n_cpus++] = (struct tmigr_topo_cpu){
				.cpu = cpu, .online = true, .node = -1, .cluster = -1};
	free(there);
	return topo->cpus ? 0 : -ENOMEM;
}

static int make(const unsigned int *cpus, size_t n_cpus, bool more, const char *const *classes,
		size_t n_classes, struct tmigr_topology **ret, struct tmigr_err *err)
{
	struct tmigr_topology *topo = calloc(1, sizeof(*topo));
	int r;

	if (!topo || all_cpus(cpus, n_cpus, classes, more ? n_classes : 0, topo) < 0) {
		tmigr_topology_free(topo);
		return tmigr_fail(err, -ENOMEM, "no memory for %zu CPUs", n_cpus);
	}
	topo->n_possible = topo->cpus[topo->n_cpus - 1].cpu + 1;
	snprintf(topo->driver, sizeof(topo->driver), "unknown");
	topo->timer_migration = -1;
	r = topology_make_classes(topo, classes, n_classes, err);
	if (r < 0) {
		tmigr_topology_free(topo);
		return r;
	}
	*ret = topo;
	return 0;
}

void tmigr_topology_states(struct tmigr_topology *topo, size_t n)
{
	for (size_t i = 0; i < topo->n_cpus; i++) {
		struct tmigr_topo_cpu *c = &topo->cpus[i];

		c->n_states = (unsigned int)n;
		for (unsigned int k = 0; k < n; k++)
			snprintf(c->states[k].name, sizeof(c->states[k].name), "state%u", k);
	}
}

int tmigr_topology_of(const unsigned int *cpus, size_t n_cpus, bool more, const char *snapshot,
		      const char *const *classes, size_t n_classes, struct tmigr_topology **ret,
		      struct tmigr_step_names *names, struct tmigr_err *err)
{
	struct tmigr_topology *topo = NULL;
	int r;

	if (!snapshot)
		return make(cpus, n_cpus, more, classes, n_classes, ret, err);
	r = read_snapshot(snapshot, classes, n_classes, &topo, names, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n_cpus; i++) {
		int idx = tmigr_topology_index(topo, cpus[i]);

		if (idx < 0) {
			tmigr_topology_free(topo);
			return tmigr_fail(err, -EINVAL,
					  "%s: has no CPU %u, of which there are events; is it of "
					  "another machine?",
					  snapshot, cpus[i]);
		}
		/* It was there when it was traced. */
		topo->cpus[idx].online = true;
	}
	*ret = topo;
	return 0;
}
