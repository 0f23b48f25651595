// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz harness for what is read of a machine: sysfs files below a folder, and the
 * JSON form.  Input beginning with '{' is JSON; else pieces that end with 0xff, each
 * a letter for the file (or --class) and its text.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tmigr/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define CPU "sys/devices/system/cpu/"

static const char *const files[] = {
	CPU "possible",
	CPU "present",
	CPU "online",
	CPU "isolated",
	CPU "nohz_full",
	CPU "cpu0/cpu_capacity",
	CPU "cpu1/cpu_capacity",
	CPU "cpu2/cpu_capacity",
	CPU "cpu0/topology/cluster_id",
	CPU "cpu0/regs/identification/midr_el1",
	CPU "cpu1/regs/identification/midr_el1",
	CPU "cpu0/cpuidle/state0/name",
	CPU "cpu0/cpuidle/state0/latency",
	CPU "cpu0/cpuidle/state0/residency",
	CPU "cpu0/cpuidle/state0/disable",
	CPU "cpu0/cpuidle/state1/name",
	CPU "cpu1/cpuidle/state0/name",
	CPU "cpuidle/current_driver",
	CPU "cpuidle/current_governor",
	"sys/devices/system/node/node0/cpulist",
	"proc/sys/kernel/timer_migration",
};
#define N_FILES (sizeof(files) / sizeof(files[0]))

static char root[] = "/tmp/tmigr-fuzz-XXXXXX";
static int root_fd; /* no chdir: libFuzzer's folders may be relative */

static void forget(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(root))
		abort();
	root_fd = open(root, O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		abort();
	atexit(forget);
	for (size_t i = 0; i < N_FILES; i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s", files[i]);
		for (char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
			*p = '\0';
			mkdirat(root_fd, path, 0700);
			*p = '/';
		}
	}
	return 0;
}

static void check(struct tmigr_topology *topo)
{
	struct tmigr_topology *again = NULL;
	struct tmigr_err err;
	json_t *json = tmigr_topology_to_json(topo), *json2;
	unsigned int n = 0;

	assert(topo->n_cpus && topo->n_classes);
	for (size_t i = 0; i < topo->n_classes; i++)
		n += topo->classes[i].n_cpus;
	assert(n == topo->n_cpus);
	for (size_t i = 0; i < topo->n_cpus; i++) {
		assert(topo->cpus[i].class_idx < topo->n_classes);
		assert(tmigr_topology_index(topo, topo->cpus[i].cpu) == (int)i);
	}
	assert(json && tmigr_topology_from_json(json, &again, &err) == 0);
	json2 = tmigr_topology_to_json(again);
	assert(json_equal(json, json2));
	json_decref(json);
	json_decref(json2);
	tmigr_topology_free(again);
}

static void from_json(const uint8_t *data, size_t size)
{
	json_t *json = json_loadb((const char *)data, size, 0, NULL);
	struct tmigr_topology *topo = NULL;
	struct tmigr_err err = {""};

	if (json && tmigr_topology_from_json(json, &topo, &err) == 0)
		check(topo);
	else
		assert(!json || err.text[0]);
	tmigr_topology_free(topo);
	json_decref(json);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	int fd = openat(root_fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void from_sysfs(const uint8_t *data, size_t size)
{
	struct tmigr_topology *topo = NULL;
	struct tmigr_err err = {""};
	const char *classes[8];
	size_t n_classes = 0;

	while (size) {
		const uint8_t *end = memchr(data, 0xff, size);
		size_t n = end ? (size_t)(end - data) : size;
		size_t k = n ? data[0] - (size_t)'a' : 0;

		if (n && k < N_FILES)
			write_file(files[k], data + 1, n - 1);
		else if (n && n_classes < 8)
			classes[n_classes++] = strndup((const char *)data + 1, n - 1);
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
	if (tmigr_topology_read(root, classes, n_classes, &topo, &err) == 0)
		check(topo);
	else
		assert(err.text[0] && !strchr(err.text, '\n'));
	tmigr_topology_free(topo);
	for (size_t i = 0; i < n_classes; i++)
		free((char *)classes[i]);
	for (size_t i = 0; i < N_FILES; i++)
		unlinkat(root_fd, files[i], 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == '{')
		from_json(data, size);
	else
		from_sysfs(data, size);
	return 0;
}
