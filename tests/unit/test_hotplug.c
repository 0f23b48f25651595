// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations from the events of hotplug steps: what is known from how they were made up,
 * and a count of every single nanosecond.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tmigr/hotplug_ops.h"

#define ONLINE	 20 /* states of a made-up kernel */
#define TEARDOWN 12
#define BRINGUP	 8
#define MAX_EVS	 4096
#define CPUS	 6

struct maker {
	struct tmigr_traced evs[MAX_EVS];
	size_t n;
	__u64 t_ns;
	unsigned int seed;
};

static unsigned int rnd(struct maker *m, unsigned int n)
{
	m->seed = m->seed * 1103515245u + 12345;
	return (m->seed >> 16) % n;
}

static void put(struct maker *m, unsigned int cpu, unsigned int on, int pid, int type, int step,
		int result, int state)
{
	m->t_ns += 1 + rnd(m, 9);
	assert_true(m->n < MAX_EVS);
	m->evs[m->n++] = (struct tmigr_traced){.t_ns = m->t_ns,
					       .cpu = on,
					       .type = (__u8)type,
					       .pid = pid,
					       .subject = cpu,
					       .value = (__u64)step,
					       .node = result,
					       .capacity = (__u32)state};
}

static void enter(struct maker *m, unsigned int cpu, unsigned int on, int step, int target)
{
	put(m, cpu, on, on == cpu ? 900 + (int)cpu : 7, TMIGR_TRACED_STEP_ENTER, step, target, 0);
}

static void leave(struct maker *m, unsigned int cpu, unsigned int on, int step, int ret, int state)
{
	put(m, cpu, on, on == cpu ? 900 + (int)cpu : 7, TMIGR_TRACED_STEP_EXIT, step, ret, state);
}

/* Steps from @from to @to on CPU @on; some have no callback, some several instances. */
static void run(struct maker *m, unsigned int cpu, unsigned int on, int from, int to, int target)
{
	int by = from <= to ? 1 : -1;

	for (int s = from; s != to + by; s += by) {
		if (s != from && rnd(m, 3) == 0)
			continue;
		for (unsigned int k = 1 + rnd(m, 2); k; k--) {
			enter(m, cpu, on, s, target);
			leave(m, cpu, on, s, 0, by > 0 ? s : s - 1);
		}
	}
}

static void up(struct maker *m, unsigned int cpu)
{
	run(m, cpu, 0, 1, BRINGUP - 1, ONLINE);
	enter(m, cpu, 0, BRINGUP, ONLINE);
	run(m, cpu, cpu, BRINGUP + 1, ONLINE - 1, ONLINE);
	leave(m, cpu, 0, BRINGUP, 0, ONLINE);
}

static void down(struct maker *m, unsigned int cpu)
{
	/* Asked for on the CPU itself, which drives the task away. */
	put(m, cpu, cpu, 7, TMIGR_TRACED_STEP_ENTER, ONLINE, TEARDOWN, 0);
	run(m, cpu, cpu, ONLINE - 1, TEARDOWN + 1, TEARDOWN);
	leave(m, cpu, 0, ONLINE, 0, TEARDOWN);
	enter(m, cpu, 0, TEARDOWN, 0);
	run(m, cpu, cpu, TEARDOWN - 1, BRINGUP + 1, BRINGUP + 1);
	leave(m, cpu, 0, TEARDOWN, 0, BRINGUP);
	run(m, cpu, 0, BRINGUP, 1, 0);
}

/* A driver's step, on a CPU that is online. */
static void callback(struct maker *m, unsigned int cpu)
{
	enter(m, cpu, cpu, 15, ONLINE);
	leave(m, cpu, cpu, 15, 0, ONLINE);
}

/* Fails at @step of its own and goes back. */
static void fail_up(struct maker *m, unsigned int cpu, int step)
{
	run(m, cpu, 0, 1, BRINGUP - 1, ONLINE);
	enter(m, cpu, 0, BRINGUP, ONLINE);
	run(m, cpu, cpu, BRINGUP + 1, step - 1, ONLINE);
	enter(m, cpu, cpu, step, ONLINE);
	leave(m, cpu, cpu, step, -16, step);
	run(m, cpu, cpu, step - 1, TEARDOWN + 1, TEARDOWN);
	leave(m, cpu, 0, BRINGUP, -16, BRINGUP);
	run(m, cpu, 0, BRINGUP - 1, 1, 0);
}

static void fail_down(struct maker *m, unsigned int cpu, int step)
{
	enter(m, cpu, 0, ONLINE, TEARDOWN);
	run(m, cpu, cpu, ONLINE - 1, step + 1, TEARDOWN);
	enter(m, cpu, cpu, step, TEARDOWN);
	leave(m, cpu, cpu, step, -11, step - 1);
	run(m, cpu, cpu, step + 1, ONLINE - 1, ONLINE);
	leave(m, cpu, 0, ONLINE, -11, ONLINE);
}

static struct tmigr_hotplug_result result_of(const struct maker *m, __u64 start, __u64 end)
{
	struct tmigr_hotplug_result r;
	struct tmigr_hotplug *h;

	assert_int_equal(tmigr_hotplug_new(&h), 0);
	assert_int_equal(tmigr_hotplug_feed(h, m->evs, m->n), 0);
	assert_int_equal(tmigr_hotplug_result(h, start, end, &r), 0);
	tmigr_hotplug_free(h);
	return r;
}

static __u64 sum(const struct tmigr_hotplug_op *op)
{
	__u64 ns = op->between_ns;

	for (size_t i = 0; i < op->n_steps; i++)
		ns += op->steps[i].ns;
	return ns;
}

/* The innermost open step of @cpu at @t, by all events up to it; 0: none. */
static int open_at(const struct maker *m, unsigned int cpu, __u64 t)
{
	int stack[64];
	size_t n = 0;

	for (size_t i = 0; i < m->n && m->evs[i].t_ns <= t; i++) {
		if (m->evs[i].subject != cpu)
			continue;
		if (m->evs[i].type == TMIGR_TRACED_STEP_ENTER)
			stack[n++] = (int)m->evs[i].value;
		else
			n--;
	}
	return n ? stack[n - 1] : 0;
}

/* Every ns of the operation, counted; by step. */
static void check_op(const struct maker *m, const struct tmigr_hotplug_op *op)
{
	__u64 counted[ONLINE + 1] = {0}, told[ONLINE + 1] = {0};

	for (__u64 t = op->start_ns; t < op->end_ns; t++)
		counted[open_at(m, op->cpu, t)]++;
	told[0] = op->between_ns;
	for (size_t i = 0; i < op->n_steps; i++)
		told[op->steps[i].step] += op->steps[i].ns;
	for (int s = 0; s <= ONLINE; s++)
		assert_int_equal(told[s], counted[s]);
	assert_int_equal(sum(op), op->end_ns - op->start_ns);
}

static void check_all(const struct maker *m, const struct tmigr_hotplug_result *r)
{
	for (size_t i = 0; i < r->n_ops; i++)
		check_op(m, &r->ops[i]);
}

static void test_one(void **state)
{
	struct maker m = {.seed = 1, .t_ns = 1000};
	struct tmigr_hotplug_result r;
	__u64 between;

	(void)state;
	down(&m, 3);
	between = m.t_ns;
	m.t_ns += 500;
	up(&m, 3);
	r = result_of(&m, 0, 1u << 20);
	assert_int_equal(r.n_ops, 2);
	assert_false(r.ops[0].up);
	assert_true(r.ops[1].up);
	assert_int_equal(r.ops[0].start_ns, m.evs[0].t_ns);
	assert_int_equal(r.ops[0].end_ns, between);
	assert_int_equal(r.ops[1].end_ns, m.t_ns);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(r.ops[i].cut, 0);
		assert_int_equal(r.ops[i].failed_step, -1);
		for (size_t k = 0; k < r.ops[i].n_steps; k++) {
			const struct tmigr_hotplug_step *s = &r.ops[i].steps[k];

			assert_false(s->back);
			assert_int_equal(s->own, s->step > BRINGUP && s->step != TEARDOWN &&
							 s->step != ONLINE);
		}
	}
	check_all(&m, &r);
	tmigr_hotplug_result_free(&r);
}

/* N cycles are N of each, whatever drivers do between them. */
static void test_cycles(void **state)
{
	(void)state;
	for (unsigned int n = 1; n < 8; n++) {
		struct maker m = {.seed = n};
		struct tmigr_hotplug_result r;
		size_t ups = 0;

		for (unsigned int i = 0; i < n; i++) {
			callback(&m, 2);
			down(&m, 2);
			m.t_ns += 100;
			up(&m, 2);
			callback(&m, 2);
		}
		r = result_of(&m, 0, 1u << 20);
		assert_int_equal(r.n_ops, 2 * n);
		for (size_t i = 0; i < r.n_ops; i++)
			ups += r.ops[i].up;
		assert_int_equal(ups, n);
		assert_int_equal(r.callbacks, 2 * n);
		check_all(&m, &r);
		tmigr_hotplug_result_free(&r);
	}
}

static void test_failed(void **state)
{
	struct maker m = {.seed = 5};
	struct tmigr_hotplug_result r;
	bool back = false;

	(void)state;
	fail_up(&m, 1, 16);
	m.t_ns += 50;
	fail_up(&m, 1, 14);
	m.t_ns += 50;
	up(&m, 1);
	m.t_ns += 50;
	fail_down(&m, 1, 17);
	m.t_ns += 50;
	down(&m, 1);
	r = result_of(&m, 0, 1u << 20);
	assert_int_equal(r.n_ops, 5);
	assert_int_equal(r.ops[0].failed_step, 16);
	assert_int_equal(r.ops[0].error, -16);
	assert_int_equal(r.ops[1].failed_step, 14);
	assert_int_equal(r.ops[2].failed_step, -1);
	assert_int_equal(r.ops[3].failed_step, 17);
	assert_int_equal(r.ops[3].error, -11);
	assert_false(r.ops[3].up);
	assert_int_equal(r.ops[4].failed_step, -1);
	for (size_t k = 0; k < r.ops[0].n_steps; k++)
		back |= r.ops[0].steps[k].back;
	assert_true(back);
	check_all(&m, &r);
	tmigr_hotplug_result_free(&r);
}

/* Several CPUs at a time, and the boot's two parts with a wait between them. */
static void test_parallel(void **state)
{
	struct maker all = {0}, one[CPUS];
	struct tmigr_hotplug_result r;
	size_t at[CPUS] = {0};

	(void)state;
	for (unsigned int c = 1; c < CPUS; c++) {
		one[c] = (struct maker){.seed = c, .t_ns = 100 + 7 * c};
		run(&one[c], c, 0, 1, BRINGUP - 2, BRINGUP - 2);
		one[c].t_ns += 300;
		enter(&one[c], c, 0, BRINGUP, ONLINE);
		run(&one[c], c, c, BRINGUP + 1, ONLINE - 1, ONLINE);
		leave(&one[c], c, 0, BRINGUP, 0, ONLINE);
	}
	for (;;) { /* merged by time */
		unsigned int next = 0;

		for (unsigned int c = 1; c < CPUS; c++)
			if (at[c] < one[c].n &&
			    (!next || one[c].evs[at[c]].t_ns < one[next].evs[at[next]].t_ns))
				next = c;
		if (!next)
			break;
		all.evs[all.n++] = one[next].evs[at[next]++];
	}
	r = result_of(&all, 0, 1u << 20);
	assert_int_equal(r.n_ops, CPUS - 1);
	for (size_t i = 0; i < r.n_ops; i++) {
		assert_int_equal(r.ops[i].cut, 0);
		assert_true(r.ops[i].between_ns > 300);
	}
	check_all(&all, &r);
	tmigr_hotplug_result_free(&r);
}

/* Every window: what is cut is said, what is in it is counted, nothing else. */
static void test_windows(void **state)
{
	struct maker m = {.seed = 9, .t_ns = 200};
	__u64 first, last;

	(void)state;
	down(&m, 4);
	first = m.evs[0].t_ns;
	last = m.t_ns;
	for (__u64 start = first - 20; start < last + 20; start += 13) {
		for (__u64 end = start + 1; end < last + 40; end += 17) {
			struct tmigr_hotplug_result r = result_of(&m, start, end);
			bool in = start < last && end > first;
			unsigned int cut = (start > first ? TMIGR_HOTPLUG_CUT_START : 0) |
					   (end < last ? TMIGR_HOTPLUG_CUT_END : 0);

			assert_int_equal(r.n_ops, in);
			if (in) {
				assert_int_equal(r.ops[0].cut, cut);
				assert_int_equal(r.ops[0].start_ns, start > first ? start : first);
				assert_int_equal(r.ops[0].end_ns, end < last ? end : last);
			}
			check_all(&m, &r);
			tmigr_hotplug_result_free(&r);
		}
	}
}

/* Tracing that begins, or ends, in the middle. */
static void test_torn(void **state)
{
	struct maker m = {.seed = 3, .t_ns = 50}, part = {0};
	struct tmigr_hotplug_result r;

	(void)state;
	up(&m, 2);
	for (size_t from = 1; from < m.n; from++) {
		part.n = m.n - from;
		memcpy(part.evs, m.evs + from, part.n * sizeof(*m.evs));
		r = result_of(&part, 0, 1u << 20);
		assert_int_equal(r.n_ops, 1);
		assert_true(r.ops[0].up);
		assert_int_equal(sum(&r.ops[0]), r.ops[0].end_ns - r.ops[0].start_ns);
		/* What begins with a whole step of the asking CPU looks whole. */
		if (part.evs[0].type == TMIGR_TRACED_STEP_EXIT || part.evs[0].cpu == 2)
			assert_true(r.ops[0].cut & TMIGR_HOTPLUG_CUT_START);
		tmigr_hotplug_result_free(&r);
	}
	for (size_t n = 1; n < m.n; n++) {
		memcpy(part.evs, m.evs, n * sizeof(*m.evs));
		part.n = n;
		r = result_of(&part, 0, m.t_ns + 1000);
		assert_int_equal(r.n_ops, 1);
		assert_int_equal(r.ops[0].cut, TMIGR_HOTPLUG_CUT_END);
		assert_int_equal(r.ops[0].end_ns, m.t_ns + 1000);
		check_all(&part, &r);
		tmigr_hotplug_result_free(&r);
	}
}

static void test_lost(void **state)
{
	struct maker m = {.seed = 4, .t_ns = 50};
	struct tmigr_hotplug_result r;

	(void)state;
	down(&m, 2);
	m.evs[m.n] = (struct tmigr_traced){
		.t_ns = m.t_ns - 1, .cpu = 1, .type = TMIGR_TRACED_LOST, .value = 3};
	m.n++;
	m.t_ns += 100;
	up(&m, 2);
	r = result_of(&m, 0, 1u << 20);
	assert_int_equal(r.n_ops, 2);
	assert_int_equal(r.lost, 3);
	assert_int_equal(r.ops[0].cut, TMIGR_HOTPLUG_CUT_LOST);
	assert_int_equal(r.ops[1].cut, 0);
	tmigr_hotplug_result_free(&r);
}

static void test_random(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed < 200; seed++) {
		struct maker m = {.seed = seed};
		struct tmigr_hotplug_result r;
		size_t whole = 0, failed = 0;
		bool away[CPUS] = {false};

		for (int i = 0; i < 12; i++) {
			unsigned int cpu = 1 + rnd(&m, CPUS - 1), what = rnd(&m, 5);

			m.t_ns += rnd(&m, 100);
			if (what == 0 && !away[cpu]) {
				callback(&m, cpu);
			} else if (what == 1) {
				(away[cpu] ? fail_up : fail_down)(&m, cpu, 14 + (int)rnd(&m, 4));
				failed++;
			} else {
				(away[cpu] ? up : down)(&m, cpu);
				away[cpu] = !away[cpu];
				whole++;
			}
		}
		r = result_of(&m, 0, 1u << 20);
		assert_int_equal(r.n_ops, whole + failed);
		for (size_t i = 0; i < r.n_ops; i++)
			failed -= r.ops[i].failed_step >= 0;
		assert_int_equal(failed, 0);
		check_all(&m, &r);
		tmigr_hotplug_result_free(&r);
	}
}

/* The report's member adds up too, and knows timer migration by its steps' names. */
static void test_json(void **state)
{
	struct maker m = {.seed = 6, .t_ns = 10};
	struct tmigr_step_names names = {0};
	struct tmigr_hotplug_result r;
	json_t *json, *op, *s;
	size_t i, k;

	(void)state;
	assert_int_equal(tmigr_step_names_set(&names, 13, "tmigr:online", 12), 0);
	assert_int_equal(tmigr_step_names_set(&names, ONLINE, "online", 6), 0);
	assert_int_equal(tmigr_step_names_set(&names, 1u << 30, "no", 2), -EINVAL);
	down(&m, 2);
	m.t_ns += 100;
	up(&m, 2);
	r = result_of(&m, 0, 1u << 20);
	json = tmigr_hotplug_json(&r, &names, 0);
	assert_non_null(json);
	json_array_foreach (json_object_get(json, "operations"), i, op) {
		json_int_t ns = json_integer_value(json_object_get(op, "between_ns")), tmigr = 0;

		json_array_foreach (json_object_get(op, "steps"), k, s) {
			json_int_t t = json_integer_value(json_object_get(s, "time_ns"));
			const char *name = json_string_value(json_object_get(s, "name"));

			ns += t;
			tmigr += strcmp(name, "tmigr:online") ? 0 : t;
			if (json_integer_value(json_object_get(s, "step")) == ONLINE)
				assert_string_equal(name, "cpuhp_kick_ap_work");
		}
		assert_int_equal(ns, json_integer_value(json_object_get(op, "total_ns")));
		assert_int_equal(tmigr,
				 json_integer_value(json_object_get(op, "timer_migration_ns")));
	}
	assert_int_equal(i, 2);
	json_decref(json);
	tmigr_step_names_free(&names);
	tmigr_hotplug_result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),	cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_failed),	cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_windows), cmocka_unit_test(test_torn),
		cmocka_unit_test(test_lost),	cmocka_unit_test(test_random),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
