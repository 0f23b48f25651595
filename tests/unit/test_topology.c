// SPDX-License-Identifier: GPL-2.0-or-later
/* Topology of made-up machines, and of this one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "topology_read.h"

static void little_big(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;

	sysfs_tree_4_4(m);
	topo = read_machine(m);
	assert_int_equal(topo->n_cpus, 8);
	assert_int_equal(topo->n_possible, 8);
	assert_int_equal(topo->n_classes, 2);
	check_class(topo, 0, "LITTLE", 442, "0-3");
	check_class(topo, 1, "big", 1024, "4-7");
	assert_string_equal(topo->driver, "psci_idle");
	assert_string_equal(topo->governor, "menu");
	assert_int_equal(topo->timer_migration, 1);
	for (unsigned int i = 0; i < 8; i++) {
		const struct tmigr_topo_cpu *cpu = &topo->cpus[i];

		assert_int_equal(cpu->cpu, i);
		assert_true(cpu->online);
		assert_false(cpu->isolated);
		assert_false(cpu->nohz_full);
		assert_int_equal(cpu->node, i < 4 ? 0 : 3);
		assert_int_equal(cpu->cluster, i < 4 ? 0 : 1);
		assert_int_equal(cpu->n_states, i < 4 ? 2 : 3);
		check_state(cpu, 0, "WFI", 1, 1, false);
	}
	check_state(&topo->cpus[3], 1, "cpu-sleep", 370, 900, false);
	check_state(&topo->cpus[4], 1, "big-sleep", 500, 1200, false);
	check_state(&topo->cpus[7], 1, "big-sleep", 500, 1200, true);
	check_state(&topo->cpus[4], 2, "cluster-sleep", 2000, 4000, true);
	round_trip(topo);
	tmigr_topology_free(topo);
}

static void five_classes(void **state)
{
	static const unsigned int caps[] = {1024, 300, 300, 500, 500, 700,
					    700,  700, 900, 300, 900, 1024};
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;

	sysfs_tree_cpus(m, "0-11\n");
	for (unsigned int cpu = 0; cpu < COUNT(caps); cpu++)
		sysfs_tree_capacity(m, cpu, caps[cpu]);
	topo = read_machine(m);
	assert_int_equal(topo->n_classes, 5);
	check_class(topo, 0, "LITTLE", 300, "1-2,9");
	check_class(topo, 1, "mid1", 500, "3-4");
	check_class(topo, 2, "mid2", 700, "5-7");
	check_class(topo, 3, "mid3", 900, "8,10");
	check_class(topo, 4, "big", 1024, "0,11");
	round_trip(topo);
	tmigr_topology_free(topo);
}

static void three_classes(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;

	sysfs_tree_cpus(m, "0-3\n");
	sysfs_tree_capacity(m, 0, 300);
	sysfs_tree_capacity(m, 1, 800);
	sysfs_tree_capacity(m, 2, 800);
	sysfs_tree_capacity(m, 3, 1024);
	topo = read_machine(m);
	assert_int_equal(topo->n_classes, 3);
	check_class(topo, 0, "LITTLE", 300, "0");
	check_class(topo, 1, "mid", 800, "1-2");
	check_class(topo, 2, "big", 1024, "3");
	tmigr_topology_free(topo);
}

/* The least a kernel can say: no capacities, driver, nodes, sysctl, `online`. */
static void bare(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;

	sysfs_tree_cpu_file(m, "present", "0-1\n");
	topo = read_machine(m);
	assert_int_equal(topo->n_cpus, 2);
	assert_int_equal(topo->n_possible, 2);
	assert_int_equal(topo->n_classes, 1);
	check_class(topo, 0, "all", 1024, "0-1");
	assert_string_equal(topo->driver, "none");
	assert_string_equal(topo->governor, "");
	assert_int_equal(topo->timer_migration, -1);
	for (size_t i = 0; i < 2; i++) {
		assert_true(topo->cpus[i].online);
		assert_int_equal(topo->cpus[i].n_states, 0);
		assert_int_equal(topo->cpus[i].node, -1);
		assert_int_equal(topo->cpus[i].cluster, -1);
	}
	round_trip(topo);
	tmigr_topology_free(topo);
}

/* Equal capacities other than 1024 are one class as well. */
static void symmetric(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;

	sysfs_tree_cpus(m, "0-3\n");
	sysfs_tree_cpu_file(m, "cpuidle/current_driver", "none\n");
	sysfs_tree_file(m, "/proc/sys/kernel/timer_migration", "0\n");
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		sysfs_tree_capacity(m, cpu, 512);
	topo = read_machine(m);
	assert_int_equal(topo->n_classes, 1);
	check_class(topo, 0, "all", 512, "0-3");
	assert_string_equal(topo->driver, "none");
	assert_int_equal(topo->timer_migration, 0);
	tmigr_topology_free(topo);
}

/* Sparse numbers, offline CPUs, possible ones that are not there, nodes by
 * link, isolation. */
static void sparse(void **state)
{
	static const unsigned int numbers[] = {0, 2, 17, 18, 300, 4095};
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;

	sysfs_tree_cpu_file(m, "possible", "0-4199\n");
	sysfs_tree_cpu_file(m, "present", "0,2,17-18,300,4095\n");
	sysfs_tree_cpu_file(m, "online", "0,2,18,4095\n");
	sysfs_tree_cpu_file(m, "isolated", "2,300-4095\n");
	sysfs_tree_cpu_file(m, "nohz_full", "18\n");
	sysfs_tree_cpu_file(m, "cpuidle/current_driver", "acpi_idle\n");
	sysfs_tree_cpu_file(m, "cpuidle/current_governor", "ladder\n");
	sysfs_tree_file(m, "/sys/devices/system/node/node1/cpulist", "0,2,18\n");
	sysfs_tree_cpu_file(m, "cpu300/node7/dummy", "");
	sysfs_tree_cpu_file(m, "cpu300/nodexyz/dummy", "");
	for (size_t i = 0; i < COUNT(numbers); i++) {
		sysfs_tree_capacity(m, numbers[i], 1024);
		if (numbers[i] != 17 && numbers[i] != 300)
			sysfs_tree_state(m, numbers[i], 0, "POLL", 0, 0, 0);
	}
	topo = read_machine(m);
	assert_int_equal(topo->n_cpus, COUNT(numbers));
	assert_int_equal(topo->n_possible, 4200);
	assert_string_equal(topo->governor, "ladder");
	for (size_t i = 0; i < COUNT(numbers); i++) {
		const struct tmigr_topo_cpu *cpu = &topo->cpus[i];
		bool offline = cpu->cpu == 17 || cpu->cpu == 300;

		assert_int_equal(cpu->cpu, numbers[i]);
		assert_int_equal(tmigr_topology_index(topo, numbers[i]), i);
		assert_int_equal(cpu->online, !offline);
		assert_int_equal(cpu->n_states, offline ? 0 : 1);
		assert_int_equal(cpu->isolated, cpu->cpu == 2 || cpu->cpu >= 300);
		assert_int_equal(cpu->nohz_full, cpu->cpu == 18);
	}
	assert_int_equal(topo->cpus[2].node, -1);
	assert_int_equal(topo->cpus[3].node, 1);
	assert_int_equal(topo->cpus[4].node, 7);
	assert_int_equal(tmigr_topology_index(topo, 1), -1);
	assert_int_equal(tmigr_topology_index(topo, 299), -1);
	assert_int_equal(tmigr_topology_index(topo, 4096), -1);
	assert_int_equal(tmigr_topology_index(topo, UINT32_MAX), -1);
	round_trip(topo);
	tmigr_topology_free(topo);
}

static void many(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;

	sysfs_tree_cpus(m, "0-1023\n");
	for (unsigned int cpu = 0; cpu < 1024; cpu++) {
		sysfs_tree_capacity(m, cpu, cpu % 2 ? 1024 : 512);
		if (cpu % 64 == 0)
			sysfs_tree_state(m, cpu, 0, "WFI", 1, 1, 0);
	}
	topo = read_machine(m);
	assert_int_equal(topo->n_cpus, 1024);
	assert_int_equal(topo->n_classes, 2);
	assert_int_equal(topo->classes[0].n_cpus, 512);
	for (unsigned int cpu = 0; cpu < 1024; cpu++) {
		assert_int_equal(tmigr_topology_index(topo, cpu), cpu);
		assert_int_equal(topo->cpus[cpu].class_idx, cpu % 2);
	}
	round_trip(topo);
	tmigr_topology_free(topo);
}

/* Offline CPUs without cpu_capacity are of the class of their kind: CPU 2 by the
 * device tree, CPU 7 by it though its clock policy says otherwise, CPU 1 by its
 * policy (its device tree value is that of CPUs that differ); CPU 3 has none. */
static void offline_capacity(void **state)
{
	static const unsigned int caps[] = {442, 0, 0, 0, 800, 1024, 1024, 0};
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;
	char path[64];

	sysfs_tree_cpus(m, "0-7\n");
	sysfs_tree_cpu_file(m, "online", "0,4-6\n");
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		snprintf(path, sizeof(path), "cpu%u/of_node/capacity-dmips-mhz", cpu);
		if (cpu != 3)
			sysfs_tree_cpu_file(m, path,
					    cpu == 0 || cpu == 2   ? "abcd"
					    : cpu == 6 || cpu == 7 ? "efgh"
								   : "ijkl");
		if (caps[cpu])
			sysfs_tree_capacity(m, cpu, caps[cpu]);
	}
	sysfs_tree_cpu_file(m, "cpufreq/policy0/related_cpus", "0 2 7\n");
	sysfs_tree_cpu_file(m, "cpufreq/policy1/related_cpus", "1 4\n");
	sysfs_tree_cpu_file(m, "cpufreq/policy3/related_cpus", "3\n");
	sysfs_tree_cpu_file(m, "cpufreq/policy5/related_cpus", "?\n");
	topo = read_machine(m);
	assert_int_equal(topo->n_classes, 3);
	check_class(topo, 0, "LITTLE", 442, "0,2");
	check_class(topo, 1, "mid", 800, "1,4");
	check_class(topo, 2, "big", 1024, "3,5-7");
	tmigr_topology_free(topo);
	/* a short value is none, and a policy of CPUs that differ says nothing */
	sysfs_tree_cpu_file(m, "cpu2/of_node/capacity-dmips-mhz", "abc");
	sysfs_tree_cpu_file(m, "cpufreq/policy0/related_cpus", "0 2 4\n");
	topo = read_machine(m);
	check_class(topo, 0, "LITTLE", 442, "0");
	check_class(topo, 2, "big", 1024, "2-3,5-7");
	tmigr_topology_free(topo);
	/* what was guessed for one CPU of a policy is a guess for the next, too */
	sysfs_tree_cpu_file(m, "cpufreq/policy0/related_cpus", "0\n");
	sysfs_tree_cpu_file(m, "cpufreq/policy3/related_cpus", "2 3\n");
	topo = read_machine(m);
	assert_true(topo->cpus[2].class_guessed);
	assert_true(topo->cpus[3].class_guessed);
	tmigr_topology_free(topo);
}

static struct tmigr_topology *refresh(const struct sysfs_tree *m, const char *override,
				      const struct tmigr_topology *start)
{
	struct tmigr_topology *topo = (void *)-1;
	struct tmigr_err err = {""};

	assert_int_equal(
		tmigr_topology_refresh(m->root, &override, override != NULL, start, &topo, &err),
		0);
	return topo;
}

/* CPUs 2 and 3, a kind of their own, are offline at the start: their class is a
 * guess, unless the user says it, until they have been online. */
static void comes_online(void **state)
{
	const char *override = "slow=2-3";
	struct tmigr_topology *topo, *late, *told = NULL;
	struct sysfs_tree *m = *state;
	struct tmigr_err err = {""};
	char *online;

	sysfs_tree_cpus(m, "0-4\n");
	sysfs_tree_cpu_file(m, "online", "0-1,4\n");
	sysfs_tree_capacity(m, 0, 442);
	sysfs_tree_capacity(m, 1, 442);
	sysfs_tree_capacity(m, 4, 1024);
	topo = read_machine(m);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(topo->cpus[i].class_guessed, i == 2 || i == 3);
	check_class(topo, 1, "big", 1024, "2-4");
	assert_null(refresh(m, NULL, topo));
	round_trip(topo);
	assert_int_equal(tmigr_topology_read(m->root, &override, 1, &told, &err), 0);
	assert_false(told->cpus[2].class_guessed);
	assert_null(refresh(m, override, told));

	/* CPU 3 went off again and left nothing; CPU 0's change is none of ours. */
	sysfs_tree_cpu_file(m, "online", "0-2,4\n");
	sysfs_tree_capacity(m, 2, 800);
	sysfs_tree_capacity(m, 0, 500);
	sysfs_tree_state(m, 2, 0, "WFI", 1, 1, 0);
	assert_int_equal(tmigr_topology_online(m->root, &online), 0);
	assert_string_equal(online, "0-2,4");
	free(online);
	assert_int_equal(tmigr_topology_online("/nonexistent", &online), -ENOENT);
	late = refresh(m, NULL, topo);
	check_class(late, 0, "LITTLE", 442, "0-1");
	check_class(late, 1, "mid", 800, "2");
	check_class(late, 2, "big", 1024, "3-4");
	assert_false(late->cpus[2].class_guessed);
	assert_true(late->cpus[3].class_guessed);
	assert_false(late->cpus[2].online); /* at the start */
	check_state(&late->cpus[2], 0, "WFI", 1, 1, false);
	round_trip(late);
	tmigr_topology_free(late);

	late = refresh(m, override, told);
	check_class(late, 1, "slow", 1024, "2-3");
	tmigr_topology_free(late);
	sysfs_tree_cpu_file(m, "cpu2/cpu_capacity", "many\n");
	assert_int_equal(tmigr_topology_refresh(m->root, NULL, 0, topo, &late, &err), -EINVAL);
	tmigr_topology_free(told);
	tmigr_topology_free(topo);
}

/* The kernel's own maximum is ten; names may be anything. */
static void states(void **state)
{
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;
	char name[16];

	sysfs_tree_cpus(m, "0-1\n");
	for (unsigned int k = 0; k < 12; k++) {
		snprintf(name, sizeof(name), "C%u", k);
		sysfs_tree_state(m, 0, k, name, k, 10 * k, k % 2);
	}
	sysfs_tree_state(m, 1, 0, "ACPI FFH\tM\xc3\xa9", UINT32_MAX, 0, 0);
	sysfs_tree_state(m, 1, 1, "", 5, 6, 0);
	sysfs_tree_cpu_file(m, "cpu1/cpuidle/state1/latency", "five\n");
	sysfs_tree_cpu_file(m, "cpu1/cpuidle/state1/residency", "18446744073709551615\n");
	sysfs_tree_cpu_file(m, "cpu1/cpuidle/state2/name",
			    "a-name-that-is-much-longer-than-the-kernel-has\n");
	topo = read_machine(m);
	assert_int_equal(topo->cpus[0].n_states, TMIGR_STATES);
	for (unsigned int k = 0; k < TMIGR_STATES; k++) {
		snprintf(name, sizeof(name), "C%u", k);
		check_state(&topo->cpus[0], k, name, k, 10 * k, k % 2);
	}
	assert_int_equal(topo->cpus[1].n_states, 3);
	check_state(&topo->cpus[1], 0, "ACPI FFH?M??", UINT32_MAX, 0, false);
	check_state(&topo->cpus[1], 1, "state1", 0, 0, false);
	check_state(&topo->cpus[1], 2, "a-name-that-is-much-longer-than", 0, 0, false);
	round_trip(topo);
	tmigr_topology_free(topo);
}

static void no_machine(void **state)
{
	struct sysfs_tree *m = *state;
	struct sysfs_tree nowhere = {"/nonexistent"};
	char *long_root = malloc(8000);
	struct tmigr_topology *topo;

	refuse_with(&nowhere, NULL, 0, -ENODATA, "/nonexistent/sys/devices/system/cpu/present");
	refuse_with(m, NULL, 0, -ENODATA, "present");
	sysfs_tree_cpus(m, "\n");
	refuse_with(m, NULL, 0, -ENODATA, "present");
	assert_non_null(long_root);
	memset(long_root, 'x', 7999);
	long_root[7999] = '\0';
	assert_int_equal(tmigr_topology_read(long_root, NULL, 0, &topo, NULL), -ENAMETOOLONG);
	free(long_root);
}

/* What decides an answer is not guessed. */
static void garbage(void **state)
{
	static const struct {
		const char *path, *text, *says;
	} cases[] = {
		{"present", "0-\n", "cpu/present"},
		{"online", "yes\n", "cpu/online"},
		{"possible", "0-70000\n", "cpu/possible"},
		{"isolated", "-1\n", "cpu/isolated"},
		{"nohz_full", "0;1\n", "cpu/nohz_full"},
		{"cpu5/cpu_capacity", "", "cpu5/cpu_capacity"},
		{"cpu5/cpu_capacity", "-5\n", "cpu5/cpu_capacity"},
		{"cpu5/cpu_capacity", "12x\n", "cpu5/cpu_capacity"},
		{"cpu5/cpu_capacity", "99999999999999999999\n", "cpu5/cpu_capacity"},
		{"cpu5/cpu_capacity", "4294967296\n", "cpu5/cpu_capacity"},
		{"../node/node3/cpulist", "zero\n", "node3/cpulist"},
	};
	struct sysfs_tree *m = *state;
	struct tmigr_topology *topo;

	for (size_t i = 0; i < COUNT(cases); i++) {
		sysfs_tree_4_4(m);
		sysfs_tree_cpu_file(m, cases[i].path, cases[i].text);
		refuse_with(m, NULL, 0, -EINVAL, cases[i].says);
		/* put right again by sysfs_tree_4_4() in the next round */
	}
	sysfs_tree_4_4(m);
	/* Descriptions may be odd; the machine is still read. */
	sysfs_tree_cpu_file(m, "cpu0/topology/cluster_id", "?\n");
	sysfs_tree_cpu_file(m, "cpu1/topology/cluster_id", "-1\n");
	sysfs_tree_cpu_file(m, "cpuidle/current_driver", "\n");
	sysfs_tree_file(m, "/proc/sys/kernel/timer_migration", "2\n");
	topo = read_machine(m);
	assert_int_equal(topo->cpus[0].cluster, -1);
	assert_int_equal(topo->cpus[1].cluster, -1);
	assert_int_equal(topo->cpus[2].cluster, 0);
	assert_string_equal(topo->driver, "none");
	assert_int_equal(topo->timer_migration, -1);
	tmigr_topology_free(topo);
}

static void this_machine(void **state)
{
	struct tmigr_topology *topo = NULL;
	struct tmigr_err err = {""};
	size_t online = 0;

	(void)state;
	if (tmigr_topology_read(NULL, NULL, 0, &topo, &err) != 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < topo->n_cpus; i++)
		online += topo->cpus[i].online;
	assert_int_equal(online, sysconf(_SC_NPROCESSORS_ONLN));
	round_trip(topo);
	tmigr_topology_free(topo);
	tmigr_topology_free(NULL);
}

#define MACHINE_TEST(f) cmocka_unit_test_setup_teardown(f, sysfs_tree_setup, sysfs_tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE_TEST(little_big),
		MACHINE_TEST(five_classes),
		MACHINE_TEST(three_classes),
		MACHINE_TEST(bare),
		MACHINE_TEST(symmetric),
		MACHINE_TEST(sparse),
		MACHINE_TEST(many),
		MACHINE_TEST(states),
		MACHINE_TEST(offline_capacity),
		MACHINE_TEST(comes_online),
		MACHINE_TEST(no_machine),
		MACHINE_TEST(garbage),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
