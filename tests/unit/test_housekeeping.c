// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the tool runs: the choice on made-up machines, the pin on this one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../lib/housekeeping_choose.h"
#include "tmigr/housekeeping.h"

/* ---- the choice ---- */

/* Two LITTLE and two big CPUs; sparse above CPU_SETSIZE. */
static const struct tmigr_topo_cpu cpus_template[] = {
	{.cpu = 0, .online = true, .class_idx = 1},
	{.cpu = 1, .online = true, .class_idx = 0},
	{.cpu = 11, .online = true, .class_idx = 0},
	{.cpu = 3000, .online = true, .class_idx = 1},
};

static const char stat_text[] = "cpu  100 0 0 4000 0 0 0 0 0 0\n"
				"cpu0 5 1 2 500 1 0 0 0 0 0\n"
				"cpu1 5 1 2 900 2 0 0 0 0 0\n"
				"cpu11 5 1 2 800 3 0 0 0 0 0\n"
				"cpu3000 5 1 2 400 4 0 0 0 0 0\n"
				"intr 5\n";

struct choice {
	struct tmigr_topo_cpu cpus[4];
	struct tmigr_topology topo;
	cpu_set_t *mask;
	size_t bytes;
};

static int setup(void **state)
{
	struct choice *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	memcpy(c->cpus, cpus_template, sizeof(c->cpus));
	c->topo.n_cpus = 4;
	c->topo.cpus = c->cpus;
	c->topo.n_possible = 3001;
	c->bytes = CPU_ALLOC_SIZE(3001);
	c->mask = CPU_ALLOC(3001);
	assert_non_null(c->mask);
	memset(c->mask, 0xff, c->bytes);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct choice *c = *state;

	CPU_FREE(c->mask);
	free(c);
	return 0;
}

static int chosen(const struct choice *c)
{
	return housekeeping_choose(&c->topo, c->mask, c->bytes, stat_text);
}

static void lowest_class_then_busiest(void **state)
{
	struct choice *c = *state;

	assert_int_equal(chosen(c), 11);
	c->cpus[2].online = false;
	assert_int_equal(chosen(c), 1);
	c->cpus[1].online = false;
	assert_int_equal(chosen(c), 3000);
	c->cpus[3].online = false;
	assert_int_equal(chosen(c), 0);
	c->cpus[0].online = false;
	assert_int_equal(chosen(c), -1);
}

static void mask_counts(void **state)
{
	struct choice *c = *state;

	CPU_CLR_S(11, c->bytes, c->mask);
	assert_int_equal(chosen(c), 1);
	CPU_ZERO_S(c->bytes, c->mask);
	assert_int_equal(chosen(c), -1);
	CPU_SET_S(3000, c->bytes, c->mask);
	assert_int_equal(chosen(c), 3000);
	/* a mask shorter than the machine */
	assert_int_equal(housekeeping_choose(&c->topo, c->mask, 8, stat_text), -1);
}

/* Isolated CPUs only when there is nothing else. */
static void shielded_last(void **state)
{
	struct choice *c = *state;

	c->cpus[1].isolated = true;
	c->cpus[2].nohz_full = true;
	assert_int_equal(chosen(c), 3000);
	c->cpus[0].isolated = true;
	c->cpus[3].isolated = true;
	assert_int_equal(chosen(c), 11);
}

/* Without figures the first of the lowest class. */
static void odd_stat(void **state)
{
	static const char *const texts[] = {"", "cpu1 1 2 3\n", "\ncpu1 x\ncpu11 1 2 3\n"};
	struct choice *c = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(housekeeping_choose(&c->topo, c->mask, c->bytes, texts[i]), 1);
	assert_int_equal(
		housekeeping_choose(&c->topo, c->mask, c->bytes, "x\ncpu11 1 1 1 99 99 1\n"), 11);
}

/* ---- the pin ---- */

static int this_machine(void **state)
{
	struct tmigr_topology *topo = NULL;

	if (tmigr_topology_read(NULL, NULL, 0, &topo, NULL) != 0)
		return -1;
	*state = topo;
	return 0;
}

static int free_machine(void **state)
{
	tmigr_topology_free(*state);
	return 0;
}

static void check_pinned(int cpu)
{
	cpu_set_t now;

	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_int_equal(CPU_COUNT(&now), 1);
	assert_true(CPU_ISSET(cpu, &now));
	assert_int_equal(sched_getcpu(), cpu);
	assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), TMIGR_HOUSEKEEPING_SLACK_NS);
}

static bool restored(const cpu_set_t *mask, int slack)
{
	cpu_set_t now;

	return sched_getaffinity(0, sizeof(now), &now) == 0 && CPU_EQUAL(&now, mask) &&
	       prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == slack;
}

static void pin_and_undo(void **state)
{
	struct tmigr_housekeeping h = {0};
	struct tmigr_err err = {""};
	cpu_set_t before;
	pid_t child;
	int slack, cpu, status;

	assert_int_equal(prctl(PR_SET_TIMERSLACK, 71000, 0, 0, 0), 0);
	slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	tmigr_housekeeping_undo(&h); /* nothing pinned */
	assert_true(restored(&before, slack));

	cpu = tmigr_housekeeping_pin(*state, -1, &h, &err);
	if (cpu < 0)
		fail_msg("%s", err.text);
	assert_true(CPU_ISSET(cpu, &before));
	check_pinned(cpu);

	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		tmigr_housekeeping_undo(&h);
		_exit(restored(&before, slack) ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	check_pinned(cpu);

	tmigr_housekeeping_undo(&h);
	assert_true(restored(&before, slack));
	tmigr_housekeeping_release(&h);
	assert_null(h.mask);
	tmigr_housekeeping_release(&h);
}

/* In as many bytes as a machine of any size wants; the kernel's may be larger. */
static void mask_of_any_size(void **state)
{
	const unsigned int sizes[] = {1, CPU_SETSIZE, 5000, 65536};
	cpu_set_t now;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cpu_set_t *mask = NULL;
		size_t bytes = 0;

		assert_int_equal(housekeeping_mask(sizes[i], &mask, &bytes), 0);
		assert_true(bytes >= CPU_ALLOC_SIZE(sizes[i]) && bytes >= sizeof(now));
		assert_memory_equal(mask, &now, sizeof(now));
		assert_int_equal(CPU_COUNT_S(bytes, mask), CPU_COUNT(&now));
		CPU_FREE(mask);
	}
}

/* Every CPU of the present mask can be asked for. */
static void wanted(void **state)
{
	const struct tmigr_topology *topo = *state;
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (size_t i = 0; i < topo->n_cpus; i++) {
		struct tmigr_housekeeping h;
		int cpu = (int)topo->cpus[i].cpu;

		if (!topo->cpus[i].online || !CPU_ISSET(cpu, &before))
			continue;
		assert_int_equal(tmigr_housekeeping_pin(topo, cpu, &h, NULL), cpu);
		check_pinned(cpu);
		tmigr_housekeeping_undo(&h);
		tmigr_housekeeping_release(&h);
	}
}

static void refused(void **state)
{
	struct tmigr_topology *topo = *state;
	struct tmigr_housekeeping h = {.mask_bytes = 4711};
	struct tmigr_err err = {""};
	int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	cpu_set_t before;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(tmigr_housekeeping_pin(topo, 65000, &h, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no CPU 65000"));
	topo->cpus[0].online = false;
	assert_int_equal(tmigr_housekeeping_pin(topo, (int)topo->cpus[0].cpu, &h, &err), -EINVAL);
	assert_non_null(strstr(err.text, "offline"));
	for (size_t i = 0; i < topo->n_cpus; i++)
		topo->cpus[i].online = false;
	assert_int_equal(tmigr_housekeeping_pin(topo, -1, &h, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no online CPU"));
	/* the kernel's own refusal: a topology that claims too much */
	topo->cpus[topo->n_cpus - 1].cpu = 64000;
	topo->cpus[topo->n_cpus - 1].online = true;
	topo->n_possible = 64001;
	assert_int_equal(tmigr_housekeeping_pin(topo, 64000, &h, &err), -EINVAL);
	assert_non_null(strstr(err.text, "moving to CPU 64000"));
	assert_int_equal(h.mask_bytes, 4711);
	assert_null(h.mask);
	assert_true(restored(&before, slack));
}

#define CHOICE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define PIN_TEST(f)    cmocka_unit_test_setup_teardown(f, this_machine, free_machine)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHOICE_TEST(lowest_class_then_busiest),
		CHOICE_TEST(mask_counts),
		CHOICE_TEST(shielded_last),
		CHOICE_TEST(odd_stat),
		PIN_TEST(pin_and_undo),
		cmocka_unit_test(mask_of_any_size),
		PIN_TEST(wanted),
		PIN_TEST(refused),
	};

	return cmocka_run_group_tests_name("housekeeping", tests, NULL, NULL);
}
