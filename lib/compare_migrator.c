// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What one report gives to a comparison: who had the global migrator, and remote
 * expiries between classes.
 *
 * Labels may differ in their hierarchies: one root over all CPUs here, a root per
 * class there.  What stays comparable is the view of a class's CPUs: who had the
 * migrator of the hierarchy that they are in.  Where they are in several, each
 * counts by the number of these CPUs below it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_priv.h"
#include "report_fmt.h"

static const struct {
	const char *key, *name;
} regimes[] = {{"duty_ns", "nobody: duty"},
	       {"free_ns", "nobody: free"},
	       {"handover_ns", "hand-over"},
	       {"unknown_ns", "unknown"}};

static void add_share(struct tmigr_compare_table *t, size_t run, const char *of, const char *who,
		      double share)
{
	struct tmigr_quantity_id id = {GROUP_MIGRATOR, of, who, who, "%", NULL, -1, NULL};
	char *section = NULL;

	if (!t->one_root && asprintf(&section, "%s's migrator, %%", of) < 0) {
		t->failed = true;
		return;
	}
	id.section = section;
	tmigr_compare_add(t, &id, run, 100 * share);
	free(section);
}

static const json_t *root_class(const json_t *root, const char *name)
{
	return tmigr_rep_find(json_object_get(root, "classes"), "name", name, NULL);
}

/* The share of its window that @root was somebody's, for class @of. */
static void root_shares(struct tmigr_compare_table *t, size_t run, const json_t *root,
			const char *of, double weight)
{
	const json_t *report = t->set->runs[run].report, *c;
	double window = (double)tmigr_rep_u64(report, "window_ns");
	char who[96];
	size_t i;

	if (!(window > 0))
		return;
	json_array_foreach (json_object_get(report, "classes"), i, c) {
		const char *name = tmigr_rep_str(c, "name");
		double held = (double)tmigr_rep_u64(root_class(root, name), "held_ns");

		snprintf(who, sizeof(who), "held by %s", name);
		add_share(t, run, of, who, weight * held / window);
	}
	for (i = 0; i < sizeof(regimes) / sizeof(regimes[0]); i++)
		add_share(t, run, of, regimes[i].name,
			  weight * (double)tmigr_rep_u64(root, regimes[i].key) / window);
}

static void add_avoidable(struct tmigr_compare_table *t, size_t run, const json_t *root)
{
	const json_t *c;
	size_t i;

	json_array_foreach (json_object_get(root, "classes"), i, c) {
		const char *name = tmigr_rep_str(c, "name");
		const struct tmigr_quantity_id id = {GROUP_AVOIDABLE, name, NULL, name, "s",
						     "lower",	      -1,   NULL};

		tmigr_compare_add(t, &id, run, (double)tmigr_rep_u64(c, "avoidable_ns") / 1e9);
	}
}

static void add_holders(struct tmigr_compare_table *t, size_t run)
{
	const json_t *report = t->set->runs[run].report, *cpu, *root, *h;
	struct tmigr_quantity_id id = {GROUP_CPU_HELD, NULL, NULL, NULL, "s", NULL, -1, NULL};
	char number[24], name[32];
	size_t i, k;

	id.a = number;
	id.name = name;
	json_array_foreach (json_object_get(report, "cpus"), i, cpu) {
		id.cpu = (long)tmigr_rep_u64(cpu, "cpu");
		snprintf(number, sizeof(number), "%ld", id.cpu);
		snprintf(name, sizeof(name), "cpu%ld", id.cpu);
		tmigr_compare_add(t, &id, run, 0);
	}
	json_array_foreach (json_object_get(report, "roots"), i, root) {
		json_array_foreach (json_object_get(root, "holders"), k, h) {
			id.cpu = (long)tmigr_rep_u64(h, "cpu");
			snprintf(number, sizeof(number), "%ld", id.cpu);
			snprintf(name, sizeof(name), "cpu%ld", id.cpu);
			tmigr_compare_add(t, &id, run, (double)tmigr_rep_u64(h, "held_ns") / 1e9);
		}
	}
}

void tmigr_compare_migrator(struct tmigr_compare_table *t, size_t run, bool cpus)
{
	const json_t *report = t->set->runs[run].report, *c, *root;
	const json_t *roots = json_object_get(report, "roots");
	size_t i, k;

	if (!json_array_size(roots))
		return; /* a kernel without: not 0, but nothing to compare */
	if (t->one_root)
		root_shares(t, run, json_array_get(roots, 0), "all", 1);
	json_array_foreach (json_object_get(report, "classes"), i, c) {
		const char *of = tmigr_rep_str(c, "name");
		double n = 0;

		if (t->one_root)
			break;

		json_array_foreach (roots, k, root)
			n += (double)tmigr_rep_u64(root_class(root, of), "n_cpus");
		json_array_foreach (roots, k, root) {
			double here = (double)tmigr_rep_u64(root_class(root, of), "n_cpus");

			if (here > 0)
				root_shares(t, run, root, of, here / n);
		}
	}
	json_array_foreach (roots, k, root)
		add_avoidable(t, run, root);
	if (cpus)
		add_holders(t, run);
}

/* ---- remote expiry ---- */

static void add_remote(struct tmigr_compare_table *t, size_t run, enum tmigr_group group,
		       const char *executor, const char *target, double v)
{
	struct tmigr_quantity_id id = {group, executor, target, NULL, "", NULL, -1, NULL};
	char *name;

	if (asprintf(&name, "%s for %s", executor, target) < 0) {
		t->failed = true;
		return;
	}
	id.name = name;
	tmigr_compare_add(t, &id, run, v);
	free(name);
}

/* Every pair of classes, so that "none" is a 0; a CPU's own timers apart, as in
 * the report. */
void tmigr_compare_remote(struct tmigr_compare_table *t, size_t run)
{
	const json_t *report = t->set->runs[run].report, *a, *b, *p;
	const json_t *classes = json_object_get(report, "classes");
	size_t i, k;

	if (json_is_false(json_object_get(report, "timer_migration_hierarchy")))
		return;
	json_array_foreach (classes, i, a) {
		json_array_foreach (classes, k, b) {
			const char *x = tmigr_rep_str(a, "name"), *y = tmigr_rep_str(b, "name");

			add_remote(t, run, GROUP_REMOTE, x, y, 0);
			add_remote(t, run, GROUP_WOKE, x, y, 0);
		}
		add_remote(t, run, GROUP_REMOTE, tmigr_rep_str(a, "name"), "itself", 0);
		add_remote(t, run, GROUP_WOKE, tmigr_rep_str(a, "name"), "itself", 0);
	}
	json_array_foreach (json_object_get(report, "remote"), i, p) {
		__u64 executor = tmigr_rep_u64(p, "executor"), target = tmigr_rep_u64(p, "target");
		const char *x = tmigr_rep_class(report, executor);
		const char *y = executor == target ? "itself" : tmigr_rep_class(report, target);

		add_remote(t, run, GROUP_REMOTE, x, y, (double)tmigr_rep_u64(p, "count"));
		add_remote(t, run, GROUP_WOKE, x, y,
			   json_is_null(json_object_get(p, "woke_executor"))
				   ? NAN
				   : (double)tmigr_rep_u64(p, "woke_executor"));
	}
}
