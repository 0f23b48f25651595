// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bring-ups and take-downs, run by run: in all, a CPU's mean, and the steps that it went
 * to.  Steps go by their names, since kernels number them differently; those that take
 * less than a hundredth over all runs are one quantity, and timer migration's have their
 * own in any case.
 */
#include <string.h>

#include "compare_priv.h"
#include "report_fmt.h"
#include "tmigr/hotplug_ops.h"

#define SMALL 0.01

struct way {
	bool up;
	const char *sum; /* in the report */
	enum tmigr_group group, step_group, cpu_group;
};

static const struct way ways[] = {
	{true, "bring_ups", GROUP_BRINGUP, GROUP_BRINGUP_STEP, GROUP_CPU_BRINGUP},
	{false, "take_downs", GROUP_TAKEDOWN, GROUP_TAKEDOWN_STEP, GROUP_CPU_TAKEDOWN},
};

static const json_t *hotplug_of(const struct tmigr_compare_table *t, size_t run)
{
	return json_object_get(t->set->runs[run].report, "hotplug");
}

static bool counts(const json_t *op, bool up)
{
	return json_is_true(json_object_get(op, "up")) == up && tmigr_rep_is_whole(op);
}

static void add(struct tmigr_compare_table *t, size_t run, enum tmigr_group group, const char *name,
		long cpu, double ns)
{
	const struct tmigr_quantity_id id = {group, name, NULL, name, "ms", "lower", cpu, NULL};

	tmigr_compare_add(t, &id, run, ns / 1e6);
}

/* ---- steps: {name: ns} ---- */

static void add_named(json_t *sums, const char *name, double ns, bool *failed)
{
	double before = json_number_value(json_object_get(sums, name));

	*failed |= json_object_set_new(sums, name, json_real(before + ns)) < 0;
}

/* Adds those of a report, a CPU's mean; the number of operations. */
static size_t sum_steps(const json_t *hotplug, bool up, json_t *sums, bool *failed)
{
	const json_t *op, *s;
	size_t i, k, n = 0;

	json_array_foreach (json_object_get(hotplug, "operations"), i, op) {
		if (!counts(op, up))
			continue;
		n++;
		json_array_foreach (json_object_get(op, "steps"), k, s)
			add_named(sums, tmigr_rep_str(s, "name"),
				  (double)tmigr_rep_u64(s, "time_ns"), failed);
	}
	return n;
}

/* The names of steps that are worth a quantity; new reference or NULL. */
static json_t *large_steps(struct tmigr_compare_table *t, bool up)
{
	json_t *sums = json_object(), *v;
	const char *name;
	double all = 0;
	void *tmp;

	for (size_t i = 0; i < t->n_runs && sums; i++)
		sum_steps(hotplug_of(t, i), up, sums, &t->failed);
	json_object_foreach (sums, name, v)
		all += json_number_value(v);
	json_object_foreach_safe(sums, tmp, name, v)
	{
		if (json_number_value(v) < SMALL * all && !tmigr_step_is_tmigr(name))
			json_object_del(sums, name);
	}
	t->failed |= !sums;
	return sums;
}

static void put_steps(struct tmigr_compare_table *t, size_t run, const struct way *w,
		      const json_t *large)
{
	json_t *sums = json_object(), *v;
	size_t n = sum_steps(hotplug_of(t, run), w->up, sums, &t->failed);
	const char *name;

	/* In their own order, whatever this run has. */
	json_object_foreach ((json_t *)large, name, v)
		if (n)
			add(t, run, w->step_group, name, -1,
			    json_number_value(json_object_get(sums, name)) / (double)n);
	json_object_foreach (sums, name, v)
		if (n && !json_object_get(large, name))
			add(t, run, w->step_group, "other steps", -1,
			    json_number_value(v) / (double)n);
	json_decref(sums);
}

/* ---- operations ---- */

static void put_parts(struct tmigr_compare_table *t, size_t run, const struct way *w)
{
	static const struct {
		const char *key, *name;
	} parts[] = {{"total_ns", "a CPU's mean"},
		     {"asking_ns", "... in steps of the asking CPU"},
		     {"own_ns", "... in steps of the CPU itself"},
		     {"between_ns", "... between steps"},
		     {"timer_migration_ns", "... in timer migration's steps"}};
	const json_t *hotplug = hotplug_of(t, run), *op;
	const json_t *sum = json_object_get(hotplug, w->sum);
	double n = (double)tmigr_rep_u64(sum, "count");
	size_t i;

	if (n == 0)
		return;
	add(t, run, w->group, "any CPU", -1, (double)tmigr_rep_u64(sum, "any_ns"));
	json_array_foreach (json_object_get(hotplug, "operations"), i, op)
		for (size_t k = 0; counts(op, w->up) && k < sizeof(parts) / sizeof(parts[0]); k++)
			add(t, run, w->group, parts[k].name, -1,
			    (double)tmigr_rep_u64(op, parts[k].key) / n);
}

static void put_cpus(struct tmigr_compare_table *t, size_t run, const struct way *w)
{
	const json_t *ops = json_object_get(hotplug_of(t, run), "operations"), *op, *other;
	size_t i, k;

	json_array_foreach (ops, i, op) {
		__u64 cpu = tmigr_rep_u64(op, "cpu");
		char name[32];
		double n = 0;

		if (!counts(op, w->up))
			continue;
		json_array_foreach (ops, k, other)
			n += counts(other, w->up) && tmigr_rep_u64(other, "cpu") == cpu;
		snprintf(name, sizeof(name), "cpu%llu", (unsigned long long)cpu);
		add(t, run, w->cpu_group, name, (long)cpu,
		    (double)tmigr_rep_u64(op, "total_ns") / n);
	}
}

void tmigr_compare_hotplug(struct tmigr_compare_table *t, bool cpus)
{
	for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
		const struct way *w = &ways[k];
		json_t *large = large_steps(t, w->up);

		for (size_t i = 0; i < t->n_runs; i++) {
			put_parts(t, i, w);
			put_steps(t, i, w, large);
			if (cpus)
				put_cpus(t, i, w);
		}
		json_decref(large);
	}
}
