// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values far from their siblings, and what else was different in that run: how
 * busy each class was, in which states it idled, who had the migrator, which CPUs
 * were offline, what was lost.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_priv.h"
#include "report_fmt.h"
#include "report_parts.h"
#include "stats.h"

/* Chance, over all runs of a quantity, below which a value is flagged; and how far
 * off it must be, as a share of its siblings' mean, for anybody to care. */
#define FLAG_CHANCE   0.01
#define FLAG_DISTANCE 0.02

/* ---- facts of a run ---- */

struct facts {
	json_t *list; /* [{what, kind, unit, value}] */
	bool bad;
};

static void put_fact(struct facts *f, const char *kind, const char *unit, double v, const char *fmt,
		     ...) __attribute__((format(printf, 5, 6)));

static void put_fact(struct facts *f, const char *kind, const char *unit, double v, const char *fmt,
		     ...)
{
	json_t *o = json_object();
	va_list ap;

	va_start(ap, fmt);
	tmigr_put(o, "what", json_vsprintf(fmt, ap), &f->bad);
	va_end(ap);
	tmigr_put(o, "kind", json_string(kind), &f->bad);
	tmigr_put(o, "unit", json_string(unit), &f->bad);
	tmigr_put(o, "value", tmigr_json_real(v), &f->bad);
	f->bad |= json_array_append_new(f->list, o) < 0;
}

/* Time of class @c in @state (NULL: in the member @key) in percent of its CPUs'. */
static double class_share(const json_t *report, const char *c, const char *key, const char *state)
{
	double time = 0, all = 0;
	const json_t *cpu, *s;
	size_t i, k;

	json_array_foreach (json_object_get(report, "cpus"), i, cpu) {
		if (strcmp(tmigr_rep_str(cpu, "class"), c))
			continue;
		all += (double)tmigr_rep_u64(report, "window_ns");
		if (key)
			time += (double)tmigr_rep_u64(cpu, key);
		json_array_foreach (json_object_get(cpu, "states"), k, s)
			if (state && !strcmp(tmigr_rep_str(s, "name"), state))
				time += (double)tmigr_rep_u64(s, "time_ns");
	}
	return all > 0 ? 100 * time / all : NAN;
}

/* States of a class, as its first CPU has them. */
static void idle_mix(struct facts *f, const json_t *report, const char *c)
{
	const json_t *cpu, *s;
	size_t i, k;

	json_array_foreach (json_object_get(report, "cpus"), i, cpu) {
		if (strcmp(tmigr_rep_str(cpu, "class"), c))
			continue;
		json_array_foreach (json_object_get(cpu, "states"), k, s)
			put_fact(f, "idle states", "%",
				 class_share(report, c, NULL, tmigr_rep_str(s, "name")), "%s %s", c,
				 tmigr_rep_str(s, "name"));
		return;
	}
}

static void migrator(struct facts *f, const struct tmigr_compare_table *t, size_t run)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->q[i].group == GROUP_MIGRATOR && !isnan(t->q[i].values[run]))
			put_fact(f, "migrator", "%", t->q[i].values[run], "%.*s %s",
				 (int)strcspn(t->q[i].section, ","), t->q[i].section, t->q[i].name);
}

static json_t *run_facts(const struct tmigr_compare_table *t, size_t run)
{
	const json_t *report = t->set->runs[run].report, *c, *cpu;
	const json_t *lost = json_object_get(report, "lost");
	struct facts f = {json_array(), false};
	double offline = 0;
	size_t i;

	json_array_foreach (json_object_get(report, "classes"), i, c)
		put_fact(&f, "busy time", "%",
			 class_share(report, tmigr_rep_str(c, "name"), "running_ns", NULL),
			 "%s busy", tmigr_rep_str(c, "name"));
	json_array_foreach (json_object_get(report, "classes"), i, c)
		idle_mix(&f, report, tmigr_rep_str(c, "name"));
	migrator(&f, t, run);
	json_array_foreach (json_object_get(report, "cpus"), i, cpu)
		offline += json_is_false(json_object_get(cpu, "online")) ||
			   tmigr_rep_u64(cpu, "offline_ns") > 0;
	put_fact(&f, "CPUs offline", "", offline, "CPUs offline");
	put_fact(&f, "lost records", "",
		 (double)(tmigr_rep_u64(lost, "records") + tmigr_rep_u64(lost, "group_updates") +
			  tmigr_rep_u64(lost, "remote_expiries")),
		 "lost records");
	return tmigr_whole(f.list, f.bad);
}

/* ---- what differed ---- */

static double fact_value(const json_t *facts, const char *what)
{
	const json_t *value = json_object_get(tmigr_rep_find(facts, "what", what, NULL), "value");

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Outside of what the siblings span, by more than a reader would shrug at. */
static bool differs(double v, double low, double high, double mean, const char *unit)
{
	double slack = fmax(0.1 * fabs(mean), *unit ? 1 : 0);

	return v > high + slack || v < low - slack;
}

/* The fact of run @run beside its siblings'. */
static json_t *beside(json_t *const *all, const struct tmigr_compare_table *t, size_t run,
		      const json_t *fact)
{
	const struct tmigr_run_label *l = &t->set->labels[t->set->runs[run].label];
	const char *what = tmigr_rep_str(fact, "what"), *unit = tmigr_rep_str(fact, "unit");
	double v = json_number_value(json_object_get(fact, "value"));
	double low = INFINITY, high = -INFINITY, sum = 0, n = 0;
	json_t *o = json_object();
	bool bad = false;

	for (size_t i = l->first; i < l->first + l->n; i++) {
		double x = i == run || !all[i] ? NAN : fact_value(all[i], what);

		if (isnan(x))
			continue;
		low = fmin(low, x);
		high = fmax(high, x);
		sum += x;
		n++;
	}
	tmigr_put(o, "what", json_string(what), &bad);
	tmigr_put(o, "kind", json_string(tmigr_rep_str(fact, "kind")), &bad);
	tmigr_put(o, "unit", json_string(unit), &bad);
	tmigr_put(o, "value", tmigr_json_real(v), &bad);
	tmigr_put(o, "siblings_mean", tmigr_json_real(sum / n), &bad);
	tmigr_put(o, "siblings_low", tmigr_json_real(low), &bad);
	tmigr_put(o, "siblings_high", tmigr_json_real(high), &bad);
	tmigr_put(o, "differs", json_boolean(n > 0 && differs(v, low, high, sum / n, unit)), &bad);
	return tmigr_whole(o, bad);
}

static json_t *all_beside(json_t *const *all, const struct tmigr_compare_table *t, size_t run)
{
	json_t *list = json_array();
	bool bad = !list;
	const json_t *f;
	size_t i;

	json_array_foreach (all[run], i, f)
		bad |= json_array_append_new(list, beside(all, t, run, f)) < 0;
	return tmigr_whole(list, bad);
}

/* ---- flagged values ---- */

/* Values of a quantity with those that do not count taken out. */
static size_t counted(const struct tmigr_compare_table *t, const struct tmigr_quantity *q,
		      double *v)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_runs; i++) {
		v[i] = tmigr_run_counts(&t->set->runs[i]) ? q->values[i] : NAN;
		n += !isnan(v[i]);
	}
	return n;
}

static json_t *flagged_value(const struct tmigr_compare_table *t, const struct tmigr_quantity *q,
			     const double *v, size_t run, double chance)
{
	const struct tmigr_run_label *l = &t->set->labels[t->set->runs[run].label];
	json_t *o = json_object(), *siblings = json_array();
	bool bad = false;

	for (size_t i = l->first; i < l->first + l->n; i++)
		if (i != run && !isnan(v[i]))
			bad |= json_array_append_new(siblings, tmigr_json_real(v[i])) < 0;
	tmigr_put(o, "key", json_string(q->key), &bad);
	tmigr_put(o, "name", json_string(q->name), &bad);
	tmigr_put(o, "value", tmigr_json_real(v[run]), &bad);
	tmigr_put(o, "siblings", siblings, &bad);
	tmigr_put(o, "chance", tmigr_json_real(chance), &bad);
	return tmigr_whole(o, bad);
}

/* Spread of all labels but @but. */
static struct tmigr_spread spread_but(const struct tmigr_runset *set, const double *v, size_t but)
{
	struct tmigr_spread sum = {0, 0};

	for (size_t k = 0; k < set->n_labels; k++) {
		const struct tmigr_run_label *l = &set->labels[k];
		struct tmigr_sample s;
		struct tmigr_spread one;

		if (k == but)
			continue;
		s = tmigr_stats_sample(v + l->first, l->n);
		one = tmigr_stats_spread(&s);
		sum.squares += one.squares;
		sum.df += one.df;
	}
	return sum;
}

/* Percentages: a point at least. */
static bool is_off(const double *v, size_t n, size_t i, const char *unit)
{
	double sum = 0, count = 0, mean;

	for (size_t k = 0; k < n; k++) {
		if (k == i || isnan(v[k]))
			continue;
		sum += v[k];
		count++;
	}
	mean = sum / count;
	return fabs(v[i] - mean) >= FLAG_DISTANCE * fabs(mean) &&
	       (strcmp(unit, "%") || fabs(v[i] - mean) >= 1);
}

/* Adds the flagged values of @q to found[run]. */
static void flag_quantity(const struct tmigr_compare_table *t, const struct tmigr_quantity *q,
			  double *v, json_t **found, bool *bad)
{
	size_t n_all = counted(t, q, v);

	for (size_t k = 0; k < t->set->n_labels; k++) {
		const struct tmigr_run_label *l = &t->set->labels[k];
		struct tmigr_spread others = spread_but(t->set, v, k);

		for (size_t i = 0; i < l->n; i++) {
			double chance = tmigr_stats_far(v + l->first, l->n, i, &others, n_all);
			size_t run = l->first + i;

			if (!(chance < FLAG_CHANCE) || !is_off(v + l->first, l->n, i, q->unit))
				continue;
			if (!found[run])
				found[run] = json_array();
			*bad |= json_array_append_new(found[run],
						      flagged_value(t, q, v, run, chance)) < 0;
		}
	}
}

static json_t *flag_object(const struct tmigr_compare_table *t, size_t run, json_t *values,
			   json_t **facts)
{
	const struct tmigr_run *r = &t->set->runs[run];
	json_t *o = json_object();
	bool bad = false;

	tmigr_put(o, "label", json_string(t->set->labels[r->label].name), &bad);
	tmigr_put(o, "run", json_integer((json_int_t)r->run), &bad);
	tmigr_put(o, "values", json_incref(values), &bad);
	tmigr_put(o, "facts", all_beside(facts, t, run), &bad);
	return tmigr_whole(o, bad);
}

json_t *tmigr_compare_flags(const struct tmigr_compare_table *t)
{
	double *v = calloc(t->n_runs + 1, sizeof(*v));
	json_t **found = calloc(t->n_runs + 1, sizeof(*found));
	json_t **facts = calloc(t->n_runs + 1, sizeof(*facts));
	json_t *flags = json_array();
	bool bad = !v || !found || !facts || !flags;

	for (size_t i = 0; !bad && i < t->n; i++)
		flag_quantity(t, &t->q[i], v, found, &bad);
	for (size_t i = 0; !bad && i < t->n_runs; i++)
		if (tmigr_run_counts(&t->set->runs[i])) {
			facts[i] = run_facts(t, i);
			bad |= !facts[i];
		}
	for (size_t i = 0; !bad && i < t->n_runs; i++)
		if (found[i])
			bad |= json_array_append_new(flags, flag_object(t, i, found[i], facts)) < 0;
	for (size_t i = 0; found && facts && i < t->n_runs; i++) {
		json_decref(found[i]);
		json_decref(facts[i]);
	}
	free(v);
	free(found);
	free(facts);
	return tmigr_whole(flags, bad);
}
