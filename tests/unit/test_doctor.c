// SPDX-License-Identifier: GPL-2.0-or-later
/* What doctor makes of kernels that are not here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/doctor_facts.h"

/* A board on which everything works. */
struct board {
	struct doctor_facts f;
	struct tmigr_topology topo;
	struct tmigr_topo_cpu cpus[8];
	struct tmigr_class classes[2];
	struct tmigr_check checks[DOCTOR_CHECKS];
};

static void make_topology(struct board *b)
{
	b->topo.n_cpus = 8;
	b->topo.cpus = b->cpus;
	b->topo.n_classes = 2;
	b->topo.classes = b->classes;
	b->topo.timer_migration = 1;
	strcpy(b->topo.driver, "psci_idle");
	strcpy(b->topo.governor, "menu");
	b->classes[0] = (struct tmigr_class){"LITTLE", 442, 4};
	b->classes[1] = (struct tmigr_class){"big", 1024, 4};
	for (unsigned int i = 0; i < 8; i++) {
		b->cpus[i].cpu = i;
		b->cpus[i].online = true;
		b->cpus[i].n_states = 2;
		b->cpus[i].class_idx = i / 4;
	}
}

static int setup(void **state)
{
	struct board *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	make_topology(b);
	strcpy(b->f.release, "7.3.4");
	strcpy(b->f.machine, "aarch64");
	b->f.features.btf = true;
	b->f.features.tmigr = true;
	b->f.features.tp_arg[TMIGR_TP_CPU_ONLINE] = -1;
	b->f.features.tp_arg[TMIGR_TP_CPU_OFFLINE] = -1;
	b->f.features.ksym_tmigr_cpu = true;
	b->f.features.ksym_runqueues = true;
	b->f.kallsyms_readable = true;
	strcpy(b->f.tracefs, "/sys/kernel/tracing");
	b->f.tracefs_readable = true;
	b->f.ftrace_instances = b->f.ftrace_idle = b->f.ftrace_tmigr = true;
	b->f.caps = 1ULL << DOCTOR_CAP_SYS_ADMIN;
	b->f.unprivileged_bpf_disabled = 2;
	strcpy(b->f.lockdown, "integrity");
	b->f.topology = &b->topo;
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static int judge(struct board *b)
{
	memset(b->checks, 0xee, sizeof(b->checks));
	return doctor_judge(&b->f, b->checks);
}

static const struct tmigr_check *find(const struct board *b, const char *name)
{
	for (size_t i = 0; i < DOCTOR_CHECKS; i++)
		if (strcmp(b->checks[i].name, name) == 0)
			return &b->checks[i];
	fail_msg("no check '%s'", name);
	return NULL;
}

/* Judges; the check has that state and says these words, and all others are as
 * on the good board but those in @also ("a b"), which fail or are notes too. */
static void expect(struct board *b, const char *name, enum tmigr_check_state state,
		   const char *text, const char *remedy, const char *also)
{
	int fails = judge(b), counted = 0;
	const struct tmigr_check *c = find(b, name);

	assert_int_equal(c->state, state);
	if (!strstr(c->text, text) || !strstr(c->remedy, remedy))
		fail_msg("%s: '%s' / '%s'", name, c->text, c->remedy);
	if (state == TMIGR_CHECK_FAIL)
		assert_string_not_equal(c->remedy, "");
	for (size_t i = 0; i < DOCTOR_CHECKS; i++) {
		const struct tmigr_check *o = &b->checks[i];

		counted += o->state == TMIGR_CHECK_FAIL;
		if (o != c && o->state != TMIGR_CHECK_OK && !strstr(also, o->name))
			fail_msg("%s: '%s' / '%s'", o->name, o->text, o->remedy);
	}
	assert_int_equal(fails, counted);
}

#define OK   TMIGR_CHECK_OK
#define NOTE TMIGR_CHECK_NOTE
#define FAIL TMIGR_CHECK_FAIL

static void good_board(void **state)
{
	struct board *b = *state;

	assert_int_equal(judge(b), 0);
	for (size_t i = 0; i < DOCTOR_CHECKS; i++) {
		const struct tmigr_check *c = &b->checks[i];

		assert_int_equal(c->state, OK);
		assert_string_not_equal(c->text, "");
		assert_string_equal(c->remedy, "");
		assert_null(strchr(c->text, '\n'));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(c->name, b->checks[j].name);
	}
	expect(b, "kernel", OK, "Linux 7.3.4 on aarch64", "", "");
	expect(b, "capacity", OK, "2 classes: 4 LITTLE of 442, 4 big of 1024", "", "");
	expect(b, "cpuidle-driver", OK, "driver psci_idle, governor menu, up to 2 states", "", "");
	expect(b, "lockdown", OK, "integrity", "", "");
	expect(b, "libraries", OK, "libbpf", "", "");
	/* What it would lose is told before it has to be used; whole. */
	expect(b, "ftrace", OK, "--source ftrace. Lost with it: states before", "", "");
	expect(b, "ftrace", OK, "the cost of tracing", "", "");
}

static void tracepoints(void **state)
{
	struct board *b = *state;
	int *arg = b->f.features.tp_arg;

	arg[TMIGR_TP_HANDLE_REMOTE_CPU] = -1;
	arg[TMIGR_TP_CPU_AVAILABLE] = -1;
	expect(b, "tmigr-tracepoints", NOTE, "tmigr_handle_remote_cpu, tmigr_cpu_available", "",
	       "");
	arg[TMIGR_TP_CPU_ONLINE] = 0;
	arg[TMIGR_TP_HANDLE_REMOTE_CPU] = 0;
	expect(b, "tmigr-tracepoints", OK, "", "", "");
	b->f.features.tmigr = false;
	expect(b, "tmigr-tracepoints", FAIL, "residency alone works", "6.9", "");
	b->f.features.tmigr = true;
	arg[TMIGR_TP_CPU_IDLE_MISS] = -1;
	expect(b, "cpu-idle", NOTE, "cpu_idle_miss", "", "");
	arg[TMIGR_TP_CPU_IDLE] = -1;
	expect(b, "cpu-idle", FAIL, "no power:cpu_idle", "CONFIG_TRACEPOINTS", "");
}

static void btf(void **state)
{
	struct board *b = *state;

	b->f.features.btf = false;
	b->f.features.tmigr = false;
	/* ftrace measures then, and knows the events. */
	expect(b, "btf", NOTE, "see ftrace", "CONFIG_DEBUG_INFO_BTF", "kallsyms ftrace");
	expect(b, "ftrace", NOTE, "Lost with it: states before a CPU's first event", "",
	       "btf kallsyms");
	expect(b, "ftrace", NOTE, "the cost of tracing", "", "btf kallsyms");
	assert_int_equal(judge(b), 0);
	b->f.ftrace_tmigr = false;
	expect(b, "tmigr-tracepoints", FAIL, "residency alone works", "6.9", "btf kallsyms ftrace");
	b->f.ftrace_instances = false;
	expect(b, "btf", FAIL, "no readable", "CONFIG_DEBUG_INFO_BTF",
	       "tmigr-tracepoints cpu-idle kallsyms ftrace");
	assert_int_equal(find(b, "tmigr-tracepoints")->state, NOTE);
	expect(b, "ftrace", NOTE, "may make no instance", "run as root",
	       "btf tmigr-tracepoints cpu-idle kallsyms");
	b->f.features_ret = -EINVAL;
	memset(b->f.features_err.text, 'x', TMIGR_ERR_MAX - 1);
	expect(b, "btf", FAIL, "xxx", "CONFIG_DEBUG_INFO_BTF",
	       "tmigr-tracepoints cpu-idle kallsyms ftrace");
}

static void kallsyms(void **state)
{
	struct board *b = *state;

	b->f.features.ksym_runqueues = false;
	b->f.features.tmigr = false;
	expect(b, "kallsyms", OK, "not needed", "", "tmigr-tracepoints");
	b->f.features.tmigr = true;
	expect(b, "kallsyms", NOTE, "after one event of any CPU", "CONFIG_KALLSYMS_ALL", "");
	b->f.kallsyms_hidden = true;
	expect(b, "kallsyms", NOTE, "hidden", "kptr_restrict", "");
	b->f.kallsyms_readable = false;
	expect(b, "kallsyms", NOTE, "not readable", "", "");
}

static void tracefs(void **state)
{
	struct board *b = *state;

	b->f.tracefs_readable = false;
	expect(b, "tracefs", NOTE, "not readable", "", "ftrace");
	b->f.tracefs[0] = '\0';
	expect(b, "tracefs", NOTE, "not mounted", "mount -t tracefs nodev /sys/kernel/tracing",
	       "ftrace");
	expect(b, "ftrace", NOTE, "not mounted", "mount -t tracefs nodev /sys/kernel/tracing",
	       "tracefs");
}

static void privileges(void **state)
{
	struct board *b = *state;

	b->f.caps = 0;
	expect(b, "privileges", FAIL, "lacks CAP_BPF, CAP_PERFMON", "run as root", "");
	b->f.bpf_load = -EPERM;
	expect(b, "bpf-load", FAIL, "Operation not permitted", "unprivileged_bpf_disabled is set",
	       "privileges");
	b->f.unprivileged_bpf_disabled = 0;
	expect(b, "bpf-load", FAIL, "", "see privileges", "privileges");
	b->f.bpf_load = 0;
	b->f.caps = 1ULL << DOCTOR_CAP_BPF;
	expect(b, "privileges", FAIL, "lacks CAP_PERFMON", "", "");
	assert_null(strstr(find(b, "privileges")->text, "CAP_BPF"));
	b->f.caps = 1ULL << DOCTOR_CAP_PERFMON;
	expect(b, "privileges", FAIL, "lacks CAP_BPF", "", "");
	b->f.caps = 1ULL << DOCTOR_CAP_PERFMON | 1ULL << DOCTOR_CAP_BPF;
	expect(b, "privileges", OK, "CAP_BPF and CAP_PERFMON", "", "");
	b->f.bpf_load = -EPERM;
	expect(b, "bpf-load", FAIL, "", "container", "");
	b->f.bpf_load = -ENOSYS;
	expect(b, "bpf-load", NOTE, "see ftrace", "CONFIG_BPF_SYSCALL", "ftrace");
	b->f.bpf_load = -EINVAL;
	expect(b, "bpf-load", NOTE, "see ftrace", "CONFIG_BPF_EVENTS", "ftrace");
	b->f.ftrace_idle = false;
	expect(b, "bpf-load", FAIL, "", "CONFIG_BPF_EVENTS", "ftrace");
	b->f.bpf_load = -ENOSYS;
	expect(b, "bpf-load", FAIL, "", "CONFIG_BPF_SYSCALL", "ftrace");
}

static void lockdown(void **state)
{
	struct board *b = *state;

	strcpy(b->f.lockdown, "confidentiality");
	expect(b, "lockdown", FAIL, "confidentiality", "lockdown=integrity", "ftrace");
	strcpy(b->f.lockdown, "none");
	expect(b, "lockdown", OK, "none", "", "");
	b->f.lockdown[0] = '\0';
	expect(b, "lockdown", OK, "not built in", "", "");
}

static void machine(void **state)
{
	struct board *b = *state;

	b->cpus[2].isolated = true;
	b->cpus[3].isolated = true;
	b->cpus[7].nohz_full = true;
	expect(b, "isolated", NOTE, "CPU 2-3,7;", "", "");
	b->cpus[2].isolated = b->cpus[3].isolated = b->cpus[7].nohz_full = false;
	b->topo.timer_migration = 0;
	expect(b, "timer-migration", NOTE, "is 0", "sysctl kernel.timer_migration=1", "");
	b->topo.timer_migration = -1;
	expect(b, "timer-migration", NOTE, "no sysctl", "", "");
	b->topo.timer_migration = 1;
	b->topo.n_classes = 1;
	expect(b, "capacity", NOTE, "8 CPUs of equal capacity", "--class", "");
	b->topo.n_classes = 2;
	for (size_t i = 0; i < 8; i++)
		b->cpus[i].n_states = 0;
	strcpy(b->topo.driver, "none");
	expect(b, "cpuidle-driver", NOTE, "driver none", "", "");
	b->cpus[5].n_states = 4;
	expect(b, "cpuidle-driver", OK, "up to 4 states", "", "");
	b->f.topology = NULL;
	strcpy(b->f.topology_err.text, "no list of CPUs there");
	expect(b, "capacity", FAIL, "no list of CPUs there", "mount sysfs",
	       "cpuidle-driver timer-migration isolated");
}

/* The real one: whatever this machine can do, the answer is consistent. */
static void here(void **state)
{
	struct tmigr_check *checks = NULL;
	size_t n = 0;
	int fails = tmigr_doctor(&checks, &n), counted = 0;

	(void)state;
	assert_int_equal(n, DOCTOR_CHECKS);
	for (size_t i = 0; i < n; i++) {
		counted += checks[i].state == FAIL;
		assert_string_not_equal(checks[i].text, "");
	}
	assert_int_equal(fails, counted);
	free(checks);
}

#define BOARD_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOARD_TEST(good_board), BOARD_TEST(tracepoints), BOARD_TEST(btf),
		BOARD_TEST(kallsyms),	BOARD_TEST(tracefs),	 BOARD_TEST(privileges),
		BOARD_TEST(lockdown),	BOARD_TEST(machine),	 cmocka_unit_test(here),
	};

	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
