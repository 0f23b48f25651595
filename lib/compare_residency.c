// SPDX-License-Identifier: GPL-2.0-or-later
/* What one report gives to a comparison: idle states by class and per CPU, the
 * benchmark's own results, energy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_priv.h"
#include "report_fmt.h"

/* ---- idle states ---- */

static void add_class(struct tmigr_compare_table *t, size_t run, enum tmigr_group group,
		      const char *class_name, const char *state, double v)
{
	struct tmigr_quantity_id id = {
		group, class_name, state, NULL, group == GROUP_RESIDENCY ? "s" : "",
		NULL,  -1,	   NULL};
	char *name;

	if (asprintf(&name, "%s %s", class_name, state) < 0) {
		t->failed = true;
		return;
	}
	id.name = name;
	tmigr_compare_add(t, &id, run, v);
	free(name);
}

static void add_cpu(struct tmigr_compare_table *t, size_t run, const json_t *cpu, const char *state,
		    double v)
{
	long n = (long)tmigr_rep_u64(cpu, "cpu");
	char number[24], *name;
	struct tmigr_quantity_id id = {
		GROUP_CPU_RESIDENCY, state, number, NULL, "s", NULL, n, NULL};

	snprintf(number, sizeof(number), "%ld", n);
	if (asprintf(&name, "cpu%ld %s", n, state) < 0) {
		t->failed = true;
		return;
	}
	id.name = name;
	tmigr_compare_add(t, &id, run, v);
	free(name);
}

/* A time that is no idle state. */
static void plain_time(struct tmigr_compare_table *t, size_t run, const json_t *cpu,
		       const char *key, const char *name, bool cpus)
{
	double v = (double)tmigr_rep_u64(cpu, key) / 1e9;

	add_class(t, run, GROUP_RESIDENCY, tmigr_rep_str(cpu, "class"), name, v);
	if (cpus)
		add_cpu(t, run, cpu, name, v);
}

static void cpu_residency(struct tmigr_compare_table *t, size_t run, const json_t *cpu, bool cpus)
{
	const char *class_name = tmigr_rep_str(cpu, "class");
	const json_t *s;
	size_t i;

	plain_time(t, run, cpu, "running_ns", "running", cpus);
	json_array_foreach (json_object_get(cpu, "states"), i, s) {
		const char *state = tmigr_rep_str(s, "name");
		double v = (double)tmigr_rep_u64(s, "time_ns") / 1e9;

		add_class(t, run, GROUP_RESIDENCY, class_name, state, v);
		if (cpus)
			add_cpu(t, run, cpu, state, v);
		add_class(t, run, GROUP_ENTRIES, class_name, state,
			  (double)tmigr_rep_u64(s, "entries"));
		add_class(t, run, GROUP_ABOVE, class_name, state,
			  (double)tmigr_rep_u64(s, "above"));
		add_class(t, run, GROUP_BELOW, class_name, state,
			  (double)tmigr_rep_u64(s, "below"));
	}
	plain_time(t, run, cpu, "offline_ns", "offline", cpus);
}

void tmigr_compare_residency(struct tmigr_compare_table *t, size_t run, bool cpus)
{
	const json_t *cpu;
	size_t i;

	json_array_foreach (json_object_get(t->set->runs[run].report, "cpus"), i, cpu)
		cpu_residency(t, run, cpu, cpus);
}

/* ---- time of which nothing is known ---- */

/* Adds the run's CPU time and the unknown part of it to @sums: class -> [both]. */
static void add_unknown(json_t *sums, const json_t *report)
{
	__u64 window = tmigr_rep_u64(report, "window_ns");
	const json_t *cpu;
	size_t i;

	json_array_foreach (json_object_get(report, "cpus"), i, cpu) {
		const char *class_name = tmigr_rep_str(cpu, "class");
		json_t *sum = json_object_get(sums, class_name);
		__u64 all = (__u64)json_integer_value(json_array_get(sum, 0)) + window;
		__u64 unknown = (__u64)json_integer_value(json_array_get(sum, 1)) +
				tmigr_rep_u64(cpu, "unknown_ns");

		json_object_set_new(sums, class_name,
				    json_pack("[I, I]", (json_int_t)all, (json_int_t)unknown));
	}
}

/* "88.0 % of A53's, 1.0 % of A72's"; false: all is known. */
static bool put_unknown(json_t *sums, FILE *out)
{
	const char *class_name;
	json_t *sum;
	bool any = false;

	json_object_foreach (sums, class_name, sum) {
		__u64 all = (__u64)json_integer_value(json_array_get(sum, 0));
		__u64 unknown = (__u64)json_integer_value(json_array_get(sum, 1));
		char buf[TMIGR_FMT_MAX];

		if (!unknown)
			continue;
		fprintf(out, "%s%s %% of %s's", any ? ", " : "", tmigr_fmt_pct(buf, unknown, all),
			class_name);
		any = true;
	}
	return any;
}

/* It is the tool's, not the machine's: nothing that a difference could be seen in. */
void tmigr_compare_unknown(struct tmigr_compare_table *t)
{
	for (size_t k = 0; k < t->set->n_labels; k++) {
		const struct tmigr_run_label *l = &t->set->labels[k];
		json_t *sums = json_object();
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		bool any = false;

		for (size_t i = l->first; i < l->first + l->n; i++)
			add_unknown(sums, t->set->runs[i].report);
		if (out) {
			any = put_unknown(sums, out);
			fclose(out);
		}
		if (any)
			tmigr_compare_note(t, "%s: %s CPU time is unknown (lost or not collected).",
					   l->name, text);
		t->failed |= !sums || !out;
		json_decref(sums);
		free(text);
	}
}

/* ---- metrics and energy: members that only some runs have, and that no check of
 * a report's shape covers ---- */

static const char *direction(const json_t *metric)
{
	const char *better = tmigr_rep_str(metric, "better");

	if (!strcmp(better, "higher"))
		return "higher";
	return strcmp(better, "lower") ? NULL : "lower";
}

static void add_metric(struct tmigr_compare_table *t, size_t run, const json_t *metric)
{
	const char *name = tmigr_rep_str(metric, "name"), *unit = tmigr_rep_str(metric, "unit");
	const json_t *value = json_object_get(metric, "value");
	struct tmigr_quantity_id id = {
		GROUP_METRIC, name, *unit ? unit : NULL, NULL, unit, direction(metric), -1, NULL};
	const struct tmigr_run *r = &t->set->runs[run];
	double *place;
	char *shown;

	if (!*name)
		return;
	if (asprintf(&shown, "%s%s%s", name, *unit ? ", " : "", unit) < 0) {
		t->failed = true;
		return;
	}
	id.name = shown;
	place = tmigr_compare_value(t, &id, run);
	free(shown);
	if (!json_is_number(value))
		return;
	if (isnan(*place))
		*place = json_number_value(value);
	else
		tmigr_compare_note(t, "%s: metric '%s' is there more than once: the first is taken",
				   r->path, name);
}

static void add_energy(struct tmigr_compare_table *t, size_t run, const json_t *energy)
{
	const char *domain = tmigr_rep_str(energy, "domain");
	const struct tmigr_quantity_id id = {GROUP_ENERGY, domain,  NULL, domain,
					     "J",	   "lower", -1,	  NULL};
	const json_t *uj = json_object_get(energy, "energy_uj");

	if (*domain && json_is_number(uj))
		tmigr_compare_add(t, &id, run, json_number_value(uj) / 1e6);
}

void tmigr_compare_metrics(struct tmigr_compare_table *t, size_t run)
{
	const json_t *report = t->set->runs[run].report, *m;
	size_t i;

	json_array_foreach (json_object_get(report, "metrics"), i, m)
		add_metric(t, run, m);
	json_array_foreach (json_object_get(report, "energy"), i, m)
		add_energy(t, run, m);
}
