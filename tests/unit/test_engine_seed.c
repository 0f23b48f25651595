// SPDX-License-Identifier: GPL-2.0-or-later
/* What a window is told that begins long after the programs were attached: its model
 * must be in the state that the figures at the edge give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/engine_priv.h"
#include "../lib/machine.h"

#define CPUS	 2
#define ATTACHED 1000ULL
#define HAVE	 500000ULL /* records before it are gone */
#define START	 510000ULL
#define END	 600000ULL
#define STATE2	 (TMIGR_SLOT_STATE0 + 2)

struct fake {
	struct tmigr_topology *topo;
	struct tmigr_live live;
	struct tmigr_engine engine;
	struct tmigr_edge edge;
	struct tmigr_edge_cpu cpus[CPUS];
	unsigned char quiet[CPUS];
	struct tmigr_rec_vec recs;
	struct tmigr_model *model;
	const struct tmigr_result *result;
};

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->topo = machine_new(CPUS, 1, 1, NULL);
	f->live = (struct tmigr_live){
		.topo = f->topo, .quiet = f->quiet, .attached_ns = ATTACHED, .watermark_ns = HAVE};
	memset(f->quiet, TMIGR_SLOT_UNKNOWN, sizeof(f->quiet));
	f->edge = (struct tmigr_edge){.refs = 1, .t_ns = START, .cpus = f->cpus};
	f->engine = (struct tmigr_engine){.source = &tmigr_bpf_source,
					  .topo = f->topo,
					  .live = &f->live,
					  .edge = &f->edge,
					  .collect_ns = HAVE,
					  .have_ns = HAVE};
	for (int i = 0; i < CPUS; i++) {
		f->cpus[i].totals.slot = TMIGR_SLOT_UNKNOWN;
		f->cpus[i].totals.woke_slot = TMIGR_SLOT_UNKNOWN;
		f->cpus[i].since_ns = ATTACHED;
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fake *f = *state;

	tmigr_rec_vec_free(&f->recs);
	tmigr_rec_vec_free(&f->engine.since);
	tmigr_model_free(f->model);
	machine_free(f->topo);
	free(f);
	return 0;
}

/* CPU 0 has been in @slot since then, by an event. */
static void is_in(struct fake *f, unsigned int slot, unsigned int woke, __u64 since_ns)
{
	f->cpus[0].first_ns = ATTACHED + 1;
	f->cpus[0].first_type = TMIGR_REC_IDLE_EXIT;
	f->cpus[0].since_ns = since_ns;
	f->cpus[0].totals.slot = slot;
	f->cpus[0].totals.woke_slot = woke;
}

static void came(struct fake *f, struct tmigr_rec rec)
{
	assert_int_equal(tmigr_rec_vec_add(&f->engine.since, rec), 0);
}

static const struct tmigr_cpu_figures *finish(struct fake *f)
{
	const struct tmigr_model_cfg cfg = {.topo = f->topo, .start_ns = START};

	assert_int_equal(tmigr_bpf_seed(&f->engine, &f->recs), 0);
	assert_int_equal(tmigr_model_new(&cfg, &f->model), 0);
	assert_int_equal(tmigr_model_feed(f->model, f->recs.recs, f->recs.n), 0);
	assert_int_equal(tmigr_model_finish(f->model, END), 0);
	f->result = tmigr_model_result(f->model);
	return &f->result->cpus[0];
}

static struct tmigr_rec expiry(__u64 t)
{
	struct tmigr_rec rec = rec_about(t, 0, TMIGR_REC_HANDLE_REMOTE_CPU, 1, 0);

	rec.flags = TMIGR_RF_IDLE_TASK;
	return rec;
}

static void test_asleep(void **state)
{
	struct fake *f = *state;
	const struct tmigr_cpu_figures *c;

	is_in(f, STATE2, STATE2, 2000);
	came(f, rec_idle(550000, 0, -1));
	came(f, expiry(550001));
	c = finish(f);
	assert_int_equal(c->time_ns[STATE2], 550000 - START);
	assert_int_equal(c->time_ns[TMIGR_SLOT_RUNNING], END - 550000);
	assert_int_equal(c->entries[STATE2], 0);
	/* The whole interval, which began at 2000: 548000 ns. */
	assert_int_equal(c->hist[STATE2][19], 1);
	assert_int_equal(f->result->n_remote, 1);
	assert_int_equal(f->result->remote[0].woke[STATE2], 1);
}

/* The last event is among the records: not twice. */
static void test_asleep_by_a_record(void **state)
{
	struct fake *f = *state;
	size_t enters = 0;

	is_in(f, STATE2, STATE2, HAVE + 5);
	came(f, rec_idle(HAVE + 5, 0, 2));
	assert_int_equal(finish(f)->time_ns[STATE2], END - START);
	for (size_t i = 0; i < f->recs.n; i++)
		enters += f->recs.recs[i].type == TMIGR_REC_IDLE_ENTER;
	assert_int_equal(enters, 1);
}

/* Awake, and what it was woken from is still to be booked. */
static void test_awake(void **state)
{
	struct fake *f = *state;

	is_in(f, TMIGR_SLOT_RUNNING, STATE2, 3000);
	came(f, expiry(550000));
	came(f, expiry(550001));
	assert_int_equal(finish(f)->time_ns[TMIGR_SLOT_RUNNING], END - START);
	assert_int_equal(f->result->remote[0].count, 2);
	assert_int_equal(f->result->remote[0].woke[STATE2], 1);
}

/* ... or was booked already. */
static void test_awake_and_booked(void **state)
{
	struct fake *f = *state;

	is_in(f, TMIGR_SLOT_RUNNING, TMIGR_SLOTS, 3000);
	came(f, expiry(550000));
	assert_int_equal(finish(f)->time_ns[TMIGR_SLOT_RUNNING], END - START);
	assert_int_equal(f->result->n_remote, 1);
	assert_int_equal(f->result->remote[0].count, 1);
	for (int s = 0; s < TMIGR_SLOTS; s++)
		assert_int_equal(f->result->remote[0].woke[s], 0);
}

/* ... or its state is known from a snapshot before its first event only. */
static void test_awake_from_a_quiet_state(void **state)
{
	struct fake *f = *state;

	f->quiet[0] = STATE2;
	is_in(f, TMIGR_SLOT_RUNNING, TMIGR_SLOT_UNKNOWN, 3000);
	came(f, expiry(550000));
	finish(f);
	assert_int_equal(f->result->remote[0].woke[STATE2], 1);
}

static void test_quiet(void **state)
{
	struct fake *f = *state;

	f->quiet[0] = STATE2;
	f->quiet[1] = TMIGR_QUIET_UNSURE;
	assert_int_equal(finish(f)->time_ns[STATE2], END - START);
	assert_int_equal(f->result->cpus[1].time_ns[TMIGR_SLOT_UNKNOWN], END - START);
}

/* The first event comes inside the window: it tells what was before. */
static void test_quiet_until_inside(void **state)
{
	struct fake *f = *state;
	const struct tmigr_cpu_figures *c;

	f->cpus[0].first_ns = 550000;
	f->cpus[0].first_type = TMIGR_REC_IDLE_ENTER;
	came(f, rec_idle(550000, 0, 2));
	c = finish(f);
	assert_int_equal(c->time_ns[TMIGR_SLOT_RUNNING], 550000 - START);
	assert_int_equal(c->time_ns[STATE2], END - 550000);
}

static void lost(struct fake *f)
{
	came(f,
	     (struct tmigr_rec){
		     .t_ns = START - 1, .cpu = 0, .type = TMIGR_REC_LOST, .a = 3, .b = HAVE + 2});
}

static void test_went_offline(void **state)
{
	struct fake *f = *state;

	is_in(f, TMIGR_SLOT_OFFLINE, TMIGR_SLOTS, 3000);
	lost(f);
	assert_int_equal(finish(f)->time_ns[TMIGR_SLOT_OFFLINE], END - START);
}

/* Offline when the topology was read. */
static void test_came_online(void **state)
{
	struct fake *f = *state;

	f->topo->cpus[0].online = false;
	is_in(f, STATE2, STATE2, 3000);
	assert_int_equal(finish(f)->time_ns[STATE2], END - START);
}

/* A loss that blurs what it was in, of which the edge knows better. */
static void test_lost_before(void **state)
{
	struct fake *f = *state;

	is_in(f, STATE2, STATE2, 3000);
	came(f,
	     (struct tmigr_rec){
		     .t_ns = START - 1, .cpu = 0, .type = TMIGR_REC_LOST, .a = 3, .b = HAVE + 2});
	assert_int_equal(finish(f)->time_ns[STATE2], END - START);
	assert_int_equal(f->result->lost_records, 0);
}

static size_t count_lost(const struct fake *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->engine.since.n; i++)
		n += f->engine.since.recs[i].type == TMIGR_REC_LOST;
	return n;
}

/* What comes at an edge is kept from the snapshot on; a loss only if it was not over
 * by then. */
static void test_what_is_kept(void **state)
{
	struct tmigr_rec old = rec_idle(HAVE - 1, 0, 1), young = rec_idle(HAVE, 0, -1);
	struct tmigr_rec loss = {
		.t_ns = HAVE + 3, .cpu = 0, .type = TMIGR_REC_LOST, .a = 2, .b = HAVE - 9};
	__u64 told[CPUS] = {7, 0}, snap_lost[CPUS] = {7, 0};
	struct fake *f = *state;

	f->live.told = told;
	f->engine.snap_lost = snap_lost;
	assert_int_equal(tmigr_engine_sink(&f->engine, &young, 1), 0);
	assert_int_equal(f->engine.since.n, 0); /* nobody asked */
	f->engine.collect = true;
	assert_int_equal(tmigr_engine_sink(&f->engine, &old, 1), 0);
	assert_int_equal(f->engine.since.n, 0);
	assert_int_equal(tmigr_engine_sink(&f->engine, &young, 1), 0);
	assert_int_equal(f->engine.since.n, 1);
	assert_int_equal(tmigr_engine_sink(&f->engine, &loss, 1), 0);
	assert_int_equal(count_lost(f), 0);
	told[0] = 8;
	assert_int_equal(tmigr_engine_sink(&f->engine, &loss, 1), 0);
	assert_int_equal(count_lost(f), 1);
	/* Without a snapshot to begin with, everything. */
	f->engine.collect_ns = 0;
	told[0] = 7;
	assert_int_equal(tmigr_engine_sink(&f->engine, &loss, 1), 0);
	assert_int_equal(tmigr_engine_sink(&f->engine, &old, 1), 0);
	assert_int_equal(count_lost(f), 2);
	assert_int_equal(f->engine.since.n, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asleep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asleep_by_a_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_awake, setup, teardown),
		cmocka_unit_test_setup_teardown(test_awake_and_booked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_awake_from_a_quiet_state, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quiet, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quiet_until_inside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_went_offline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_came_online, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_kept, setup, teardown),
	};

	return cmocka_run_group_tests_name("engine_seed", tests, NULL, NULL);
}
