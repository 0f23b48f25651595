// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sequencer on made-up machines: records of the simulated kernel are turned into
 * what ftrace would have given (no seq, stamps late), and the order that comes back
 * is held against the seq numbers that were taken away.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lib/sim.h"
#include "tmigr/traced.h"

#define MAX 400000

struct out {
	struct tmigr_rec recs[MAX];
	size_t n;
	unsigned int begins;
};

static int on_records(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct out *o = arg;

	assert_true(o->begins == 1 && o->n + n <= MAX);
	memcpy(o->recs + o->n, recs, n * sizeof(*recs));
	o->n += n;
	return 0;
}

static int on_begin(void *arg, __u64 start_ns, const unsigned int *cpus, size_t n)
{
	struct out *o = arg;

	(void)start_ns;
	assert_true(n > 0);
	for (size_t i = 1; i < n; i++)
		assert_true(cpus[i] > cpus[i - 1]);
	o->begins++;
	return 0;
}

static bool is_update(const struct tmigr_rec *r)
{
	return r->type == TMIGR_REC_GROUP_ACTIVE || r->type == TMIGR_REC_GROUP_INACTIVE;
}

/* What a kernel's event has besides, and the simulation's record leaves out. */
static void set_place(const struct sim *sim, struct tmigr_traced *ev)
{
	for (size_t i = 0; i < sim->n_recs; i++) {
		const struct tmigr_rec *r = &sim->recs[i];

		if (r->type != TMIGR_REC_NODE_GROUP || r->a != ev->group)
			continue;
		ev->parent = r->b;
		ev->level = r->level;
		if (r->b)
			return;
	}
}

/* What ftrace has of a record; false: nothing. */
static bool traced(const struct sim *sim, const struct tmigr_rec *r, struct tmigr_traced *ret)
{
	*ret = (struct tmigr_traced){.t_ns = r->t_ns, .cpu = r->cpu, .pid = 1};
	switch (r->type) {
	case TMIGR_REC_IDLE_ENTER:
	case TMIGR_REC_IDLE_EXIT:
		ret->type = TMIGR_TRACED_CPU_IDLE;
		ret->value = r->type == TMIGR_REC_IDLE_EXIT ? TMIGR_TRACED_IDLE_EXIT : r->a;
		return true;
	case TMIGR_REC_GROUP_ACTIVE:
	case TMIGR_REC_GROUP_INACTIVE:
		ret->type = r->type == TMIGR_REC_GROUP_ACTIVE ? TMIGR_TRACED_GROUP_ACTIVE
							      : TMIGR_TRACED_GROUP_INACTIVE;
		ret->group = r->a;
		set_place(sim, ret);
		ret->has = TMIGR_HAS_PARENT;
		ret->mask = r->mask;
		ret->active = tmigr_word_active((__u32)r->b);
		ret->migrator = tmigr_word_migrator((__u32)r->b);
		return true;
	case TMIGR_REC_CPU_ACTIVE:
	case TMIGR_REC_CPU_IDLE:
		ret->type = r->type == TMIGR_REC_CPU_ACTIVE ? TMIGR_TRACED_CPU_ACTIVE
							    : TMIGR_TRACED_CPU_INACTIVE;
		ret->value = r->a;
		ret->subject = (__u32)r->b;
		return true;
	}
	return false;
}

static void feed(const struct sim *sim, struct tmigr_sequencer *s, size_t batch)
{
	struct tmigr_traced ev;
	size_t n = 0;

	for (size_t i = 0; i < sim->n_recs; i++) {
		if (!traced(sim, &sim->recs[i], &ev))
			continue;
		assert_int_equal(tmigr_sequencer_feed(s, &ev, 1), 0);
		if (++n % batch == 0)
			assert_int_equal(tmigr_sequencer_advance(s, ev.t_ns), 0);
	}
	assert_int_equal(tmigr_sequencer_finish(s), 0);
}

static struct tmigr_sequencer *run(const struct sim *sim, struct out *o, size_t batch,
				   size_t prologue)
{
	const struct tmigr_sequencer_cfg cfg = {.records = on_records,
						.begin = on_begin,
						.arg = o,
						.prologue_events = prologue,
						.prologue_ns = ~0ULL};
	struct tmigr_sequencer *s;

	o->n = o->begins = 0;
	assert_int_equal(tmigr_sequencer_new(&cfg, &s), 0);
	feed(sim, s, batch);
	return s;
}

/* Pairs of updates of one group whose order came out other than it was. */
static size_t count_wrong(const struct sim *sim, const struct out *o, size_t *ret_n)
{
	size_t wrong = 0, k = 0;

	*ret_n = 0;
	for (size_t i = 0; i < sim->n_recs; i++) {
		const struct tmigr_rec *want = &sim->recs[i];
		size_t j = i + 1;

		if (!is_update(want))
			continue;
		++*ret_n;
		while (!is_update(&o->recs[k]))
			k++;
		assert_true(o->recs[k].t_ns == want->t_ns && o->recs[k].a == want->a);
		/* the next one of the group, by its stamp */
		while (j < sim->n_recs && !(is_update(&sim->recs[j]) && sim->recs[j].a == want->a))
			j++;
		if (j < sim->n_recs) {
			size_t m = k + 1;
			bool true_order, got_order;

			while (!(is_update(&o->recs[m]) && o->recs[m].a == want->a))
				m++;
			true_order = (__s16)((sim->recs[j].b >> 16) - (want->b >> 16)) > 0;
			got_order = (__s16)((o->recs[m].b >> 16) - (o->recs[k].b >> 16)) > 0;
			wrong += true_order != got_order;
		}
		k++;
	}
	return wrong;
}

static struct sim_cfg machine(__u64 seed)
{
	struct sim_cfg cfg = sim_random(seed);

	cfg.n_lost = cfg.n_holes = cfg.n_late = 0;
	cfg.hotplug = false;
	cfg.snapshot = true;
	cfg.late_snapshot = cfg.more_snapshots = false;
	cfg.steps *= 10;
	if (cfg.max_delay_ns > TMIGR_SEQUENCER_HOLD_NS / 2)
		cfg.max_delay_ns = TMIGR_SEQUENCER_HOLD_NS / 2;
	return cfg;
}

/* Not all orders can be known: two CPUs that wake up and sleep again may do so one after
 * the other in either order.  So a share, the same in every run. */
static void order_comes_back(void **state)
{
	struct out *o = malloc(sizeof(*o));
	size_t wrong = 0, n = 0;
	__u64 breaks = 0, moved = 0;

	(void)state;
	assert_non_null(o);
	for (__u64 seed = 1; seed <= 60; seed++) {
		struct sim_cfg cfg = machine(seed);
		struct tmigr_sequencer *s;
		struct sim sim;
		size_t here;

		sim_run(&cfg, &sim);
		s = run(&sim, o, 1 + seed % 50, 1u << 18);
		wrong += count_wrong(&sim, o, &here);
		n += here;
		breaks += tmigr_sequencer_stats(s)->breaks;
		moved += tmigr_sequencer_stats(s)->moved;
		tmigr_sequencer_free(s);
		sim_free(&sim);
	}
	fprintf(stderr, "# %zu updates, %llu moved, %zu neighbours in another order, %llu breaks\n",
		n, moved, wrong, breaks);
	assert_true(n > 10000 && moved > 100);
	assert_int_equal(breaks, 0);
	assert_true(wrong * 1000 < n);
	free(o);
}

/* The batches don't matter, nor does the prologue to anything but what it dates back. */
static void batches_do_not_matter(void **state)
{
	struct out *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	struct sim_cfg cfg = machine(7);
	struct sim sim;

	(void)state;
	sim_run(&cfg, &sim);
	tmigr_sequencer_free(run(&sim, a, 1, 1u << 18));
	tmigr_sequencer_free(run(&sim, b, 1000, 1u << 18));
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->recs, b->recs, a->n * sizeof(*a->recs));
	tmigr_sequencer_free(run(&sim, b, 3, 0));
	assert_true(b->n > 0);
	sim_free(&sim);
	free(a);
	free(b);
}

static void bad_events_are_refused(void **state)
{
	static struct out o;
	const struct tmigr_sequencer_cfg cfg = {
		.records = on_records, .begin = on_begin, .arg = &o};
	const struct tmigr_traced bad[] = {
		{.t_ns = 5, .type = TMIGR_TRACED_TYPES},
		{.t_ns = 5, .type = TMIGR_TRACED_GROUP_ACTIVE},
		{.t_ns = 5, .type = TMIGR_TRACED_CPU_IDLE, .cpu = TMIGR_TRACED_CPU_MAX + 1},
		{.t_ns = 5, .type = TMIGR_TRACED_CPU_ACTIVE, .subject = TMIGR_TRACED_CPU_MAX + 1},
		{.t_ns = 3, .type = TMIGR_TRACED_CPU_IDLE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct tmigr_traced good = {.t_ns = 4, .type = TMIGR_TRACED_CPU_IDLE};
		struct tmigr_sequencer *s;

		assert_int_equal(tmigr_sequencer_new(&cfg, &s), 0);
		assert_int_equal(tmigr_sequencer_feed(s, &good, 1), 0);
		assert_int_equal(tmigr_sequencer_feed(s, &bad[i], 1), -EINVAL);
		assert_int_equal(tmigr_sequencer_finish(s), -EINVAL);
		tmigr_sequencer_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_comes_back),
		cmocka_unit_test(batches_do_not_matter),
		cmocka_unit_test(bad_events_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
