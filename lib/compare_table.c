// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of a comparison: quantities x runs. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_priv.h"

static const struct {
	const char *name, *section;
} groups[N_GROUPS] = {
	[GROUP_METRIC] = {"metric", "metrics"},
	[GROUP_ENERGY] = {"energy", "energy, J"},
	[GROUP_BRINGUP] = {"bring-up", "bring-up, ms"},
	[GROUP_BRINGUP_STEP] = {"bring-up-step", "steps of a bring-up, ms"},
	[GROUP_TAKEDOWN] = {"take-down", "take-down, ms"},
	[GROUP_TAKEDOWN_STEP] = {"take-down-step", "steps of a take-down, ms"},
	[GROUP_RESIDENCY] = {"residency", "residency, s"},
	[GROUP_MIGRATOR] = {"migrator", "migrator, % of time"},
	[GROUP_AVOIDABLE] = {"avoidable", "avoidable, s"},
	[GROUP_REMOTE] = {"remote", "remote expiries"},
	[GROUP_WOKE] = {"woke", "expiries that woke"},
	[GROUP_ENTRIES] = {"entries", "idle entries"},
	[GROUP_ABOVE] = {"above", "above (too deep)"},
	[GROUP_BELOW] = {"below", "below (too shallow)"},
	[GROUP_ENTRY_COST] = {"entry-cost", "idle entry cost, us"},
	[GROUP_WAKE_LATENCY] = {"wake-latency", "wake latency, us"},
	[GROUP_WAKEUPS] = {"wakeups", "wake-ups by cause"},
	[GROUP_CPU_RESIDENCY] = {"cpu-residency", "residency per CPU, s"},
	[GROUP_CPU_HELD] = {"cpu-held", "held per CPU, s"},
	[GROUP_CPU_BRINGUP] = {"cpu-bring-up", "bring-up per CPU, ms"},
	[GROUP_CPU_TAKEDOWN] = {"cpu-take-down", "take-down per CPU, ms"},
};

const char *tmigr_group_name(enum tmigr_group g)
{
	return groups[g].name;
}

const char *tmigr_group_section(enum tmigr_group g)
{
	return groups[g].section;
}

json_t *tmigr_json_real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

void tmigr_compare_note(struct tmigr_compare_table *t, const char *fmt, ...)
{
	va_list ap;
	json_t *text;

	va_start(ap, fmt);
	text = json_vsprintf(fmt, ap);
	va_end(ap);
	/* Text that is not UTF-8 cannot be in JSON; labels come from there. */
	if (text && json_array_append_new(t->notes, text) < 0)
		t->failed = true;
}

static struct tmigr_quantity *new_quantity(struct tmigr_compare_table *t,
					   const struct tmigr_quantity_id *id, const char *key)
{
	struct tmigr_quantity *q;

	if (t->n == t->size) {
		size_t size = t->size ? 2 * t->size : 64;

		q = reallocarray(t->q, size, sizeof(*q));
		if (!q)
			return NULL;
		t->q = q;
		t->size = size;
	}
	q = &t->q[t->n];
	*q = (struct tmigr_quantity){
		.group = id->group,
		.section = strdup(id->section ? id->section : groups[id->group].section),
		.key = strdup(key),
		.name = strdup(id->name),
		.unit = strdup(id->unit),
		.better = id->better,
		.cpu = id->group >= GROUP_CPU_RESIDENCY ? id->cpu : -1,
		.order = t->n,
		.values = malloc(t->n_runs * sizeof(double)),
	};
	t->n++; /* so that it is freed */
	if (!q->section || !q->key || !q->name || !q->unit || !q->values ||
	    json_object_set_new(t->index, key, json_integer((json_int_t)q->order)) < 0)
		return NULL;
	for (size_t i = 0; i < t->n_runs; i++)
		q->values[i] = NAN;
	return q;
}

double *tmigr_compare_value(struct tmigr_compare_table *t, const struct tmigr_quantity_id *id,
			    size_t run)
{
	static double nowhere;
	struct tmigr_quantity *q;
	const json_t *at;
	char *key;

	if (t->failed)
		return &nowhere;
	if (asprintf(&key, "%s/%s%s%s", groups[id->group].name, id->a, id->b ? "/" : "",
		     id->b ? id->b : "") < 0) {
		t->failed = true;
		return &nowhere;
	}
	at = json_object_get(t->index, key);
	q = at ? &t->q[json_integer_value(at)] : new_quantity(t, id, key);
	free(key);
	if (q)
		return &q->values[run];
	t->failed = true;
	return &nowhere;
}

void tmigr_compare_add(struct tmigr_compare_table *t, const struct tmigr_quantity_id *id,
		       size_t run, double v)
{
	double *value = tmigr_compare_value(t, id, run);

	*value = isnan(*value) ? v : *value + v;
}

static int by_group(const void *a, const void *b)
{
	const struct tmigr_quantity *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

void tmigr_compare_sort(struct tmigr_compare_table *t)
{
	if (t->n)
		qsort(t->q, t->n, sizeof(*t->q), by_group);
}

void tmigr_compare_table_free(struct tmigr_compare_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->q[i].section);
		free(t->q[i].key);
		free(t->q[i].name);
		free(t->q[i].unit);
		free(t->q[i].values);
	}
	free(t->q);
	json_decref(t->index);
	json_decref(t->notes);
}
