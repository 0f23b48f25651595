// SPDX-License-Identifier: GPL-2.0-or-later
/* A window's figures are those of its end less those of its start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/engine_priv.h"
#include "../lib/machine.h"

#define CPUS  2
#define START 510000ULL
#define END   600000ULL

struct fake {
	struct tmigr_live live;
	struct tmigr_engine engine;
	struct tmigr_edge start, end;
	struct tmigr_edge_cpu at_start[CPUS], at_end[CPUS];
	unsigned char quiet[CPUS];
};

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	memset(f->quiet, TMIGR_SLOT_UNKNOWN, sizeof(f->quiet));
	f->live = (struct tmigr_live){
		.topo = machine_new(CPUS, 1, 1, NULL), .quiet = f->quiet, .stats_fd = -1};
	f->engine.live = &f->live;
	f->engine.topo = f->live.topo;
	f->start = (struct tmigr_edge){.refs = 1, .t_ns = START, .cpus = f->at_start};
	f->end = (struct tmigr_edge){.refs = 1, .t_ns = END, .cpus = f->at_end};
	for (int i = 0; i < CPUS; i++) {
		f->at_start[i].first_ns = f->at_end[i].first_ns = 1;
		f->at_start[i].first_type = f->at_end[i].first_type = TMIGR_REC_IDLE_EXIT;
		f->at_end[i].totals.slots[TMIGR_SLOT_RUNNING].time_ns = END - START;
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fake *f = *state;

	machine_free((struct tmigr_topology *)f->live.topo);
	free(f);
	return 0;
}

/* Expiries that found no room in the hash are told; all other figures stand. */
static void test_remote_lost(void **state)
{
	struct fake *f = *state;
	struct tmigr_totals_remote before = {.executor = 0, .target = 1, .count = 4},
				   after = {.executor = 0, .target = 1, .count = 11};
	struct tmigr_totals_cpu cpus[CPUS] = {{0}};
	struct tmigr_window_totals totals = {.n_cpus = CPUS, .cpus = cpus}, *t = &totals;

	f->at_start[0].totals.remote_lost = 100;
	f->at_end[0].totals.remote_lost = 103;
	f->at_start[1].totals.remote_lost = 7;
	f->at_end[1].totals.remote_lost = 9;
	f->start.remote = (struct tmigr_pairs){.pairs = &before, .n = 1};
	f->end.remote = (struct tmigr_pairs){.pairs = &after, .n = 1};
	assert_int_equal(tmigr_bpf_totals(&f->engine, &f->start, &f->end, t), 0);
	assert_int_equal(t->remote_lost, 5);
	assert_int_equal(t->n_remote, 1);
	assert_int_equal(t->remote[0].count, 7);
	for (int i = 0; i < CPUS; i++)
		assert_int_equal(t->cpus[i].time_ns[TMIGR_SLOT_RUNNING], END - START);
	free(t->remote);
}

/* What was lost before the window began is none of its losses. */
static void test_lost_before(void **state)
{
	struct fake *f = *state;
	struct tmigr_totals_cpu cpus[CPUS] = {{0}};
	struct tmigr_window_totals totals = {.n_cpus = CPUS, .cpus = cpus}, *t = &totals;

	f->at_start[0].totals.remote_lost = f->at_end[0].totals.remote_lost = 100;
	assert_int_equal(tmigr_bpf_totals(&f->engine, &f->start, &f->end, t), 0);
	assert_int_equal(t->remote_lost, 0);
	free(t->remote);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_remote_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_before, setup, teardown),
	};

	return cmocka_run_group_tests_name("engine totals", tests, NULL, NULL);
}
