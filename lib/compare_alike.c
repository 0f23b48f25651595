// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What makes runs unlike each other, besides what was measured: each fact of a run
 * as a text, and the facts whose texts differ.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_priv.h"
#include "report_fmt.h"
#include "report_parts.h"

/* Windows this far apart are not the same: seconds and counts scale with them. */
#define WINDOW_TOLERANCE 0.01

/* ---- facts ---- */

/* The text of a member that is a string, a number, or an object or array of them. */
static void put_plain(FILE *out, const json_t *v)
{
	const json_t *e;
	const char *key;
	bool first = true;
	size_t i;

	if (json_is_string(v))
		fputs(json_string_value(v), out);
	else if (json_is_integer(v))
		fprintf(out, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		fprintf(out, "%g", json_real_value(v));
	else if (json_is_boolean(v))
		fputs(json_is_true(v) ? "yes" : "no", out);
	json_array_foreach (v, i, e) {
		fputs(i ? " " : "", out);
		put_plain(out, e);
	}
	json_object_foreach ((json_t *)v, key, e) {
		fprintf(out, "%s%s ", first ? "" : ", ", key);
		put_plain(out, e);
		first = false;
	}
}

static void fact_kernel(const json_t *report, FILE *out)
{
	const json_t *k = json_object_get(report, "kernel");

	put_plain(out, json_is_object(k) ? json_object_get(k, "release") : k);
	if (*tmigr_rep_str(k, "version"))
		fprintf(out, " (%s)", tmigr_rep_str(k, "version"));
}

static void fact_machine(const json_t *report, FILE *out)
{
	const json_t *m = json_object_get(report, "machine");
	const char *model = tmigr_rep_str(m, "model"), *host = tmigr_rep_str(m, "host");

	if (!json_is_object(m))
		put_plain(out, m);
	else
		fprintf(out, "%s%s%s", model, *model && *host ? ", " : "", host);
}

static void put_cpulist(const json_t *report, bool offline, FILE *out)
{
	const json_t *cpus = json_object_get(report, "cpus"), *cpu;
	unsigned int *list = calloc(json_array_size(cpus) + 1, sizeof(*list));
	size_t i, n = 0;
	json_t *text;

	if (!list)
		return;
	json_array_foreach (cpus, i, cpu)
		if (!offline || json_is_false(json_object_get(cpu, "online")))
			list[n++] = (unsigned int)tmigr_rep_u64(cpu, "cpu");
	text = tmigr_json_cpulist(list, n);
	if (n && text)
		fprintf(out, "%s%s", offline ? ", offline at the start: " : "",
			json_string_value(text));
	json_decref(text);
	free(list);
}

static void fact_cpus(const json_t *report, FILE *out)
{
	put_cpulist(report, false, out);
	put_cpulist(report, true, out);
}

static void fact_classes(const json_t *report, FILE *out)
{
	const json_t *c;
	size_t i;

	json_array_foreach (json_object_get(report, "classes"), i, c) {
		const json_t *capacity = json_object_get(c, "capacity");

		fprintf(out, "%s%s %s", i ? ", " : "", tmigr_rep_str(c, "name"),
			tmigr_rep_str(c, "cpus"));
		if (json_is_integer(capacity))
			fprintf(out, " (%lld)", (long long)json_integer_value(capacity));
	}
}

/* Of the first CPU of each class. */
static void fact_states(const json_t *report, FILE *out)
{
	const json_t *c, *cpu, *s;
	size_t i, k, n;

	json_array_foreach (json_object_get(report, "classes"), i, c) {
		fprintf(out, "%s%s", i ? "; " : "", tmigr_rep_str(c, "name"));
		json_array_foreach (json_object_get(report, "cpus"), k, cpu) {
			if (strcmp(tmigr_rep_str(cpu, "class"), tmigr_rep_str(c, "name")))
				continue;
			json_array_foreach (json_object_get(cpu, "states"), n, s)
				fprintf(out, "%s%s", n ? ", " : " ", tmigr_rep_str(s, "name"));
			break;
		}
	}
}

static void fact_roots(const json_t *report, FILE *out)
{
	const json_t *roots = json_object_get(report, "roots"), *r;
	size_t i;

	if (!json_array_size(roots))
		fputs("none", out);
	json_array_foreach (roots, i, r)
		fprintf(out, "%s%s over %s", i ? ", " : "", tmigr_rep_str(r, "group"),
			tmigr_rep_str(r, "cpus"));
}

static const struct fact {
	const char *what;
	void (*put)(const json_t *report, FILE *out); /* NULL: the member @key */
	const char *key;
	const char *absent; /* what it means that the member is not there; NULL: not known */
} facts[] = {
	{"machine", fact_machine, NULL, NULL},
	{"kernel", fact_kernel, NULL, NULL},
	{"CPUs", fact_cpus, NULL, NULL},
	{"classes", fact_classes, NULL, NULL},
	{"idle states", fact_states, NULL, NULL},
	{"cpuidle driver", NULL, "cpuidle_driver", NULL},
	{"cpuidle governor", NULL, "cpuidle_governor", NULL},
	{"timer_migration", NULL, "timer_migration", NULL},
	{"hierarchies", fact_roots, NULL, NULL},
	{"command", NULL, "command", NULL},
	{"changed for the run", NULL, "changed", "nothing"},
	{"warm-up, ns", NULL, "warmup_ns", "none"},
	{"settling, ns", NULL, "settle_ns", "none"},
	{"residency from", NULL, "residency_source", NULL},
	{"tool", NULL, "tool", NULL},
};

/* Owned by the caller; NULL: no memory. */
static char *fact_text(const struct fact *f, const json_t *report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (f->put)
		f->put(report, out);
	else
		put_plain(out, json_object_get(report, f->key));
	if (fclose(out) == 0 && text && *text)
		return text;
	free(text);
	return strdup(f->absent ? f->absent : "not known");
}

/* ---- what differs ---- */

/* "run-1, run-3" of those of label @l whose text is @text. */
static void put_runs(const struct tmigr_runset *set, const struct tmigr_run_label *l,
		     char *const *texts, const char *text, FILE *out)
{
	const char *sep = "";

	for (size_t i = l->first; i < l->first + l->n; i++) {
		if (!texts[i] || strcmp(texts[i], text))
			continue;
		fprintf(out, "%srun-%lu", sep, set->runs[i].run);
		sep = ", ";
	}
}

/* The first run of the label that has the text of run @i. */
static size_t first_with(const struct tmigr_run_label *l, char *const *texts, size_t i)
{
	size_t k = l->first;

	while (!texts[k] || strcmp(texts[k], texts[i]))
		k++;
	return k;
}

/* "unaware: 7.3.4; split: 7.3.4 (run-1), 7.3.5 (run-2)"; *@mixed: within a label. */
static void put_fact(const struct tmigr_runset *set, char *const *texts, FILE *out, bool *mixed)
{
	const char *sep = "";

	for (size_t k = 0; k < set->n_labels; k++) {
		const struct tmigr_run_label *l = &set->labels[k];
		size_t n = 0;

		for (size_t i = l->first; i < l->first + l->n; i++)
			n += texts[i] && first_with(l, texts, i) == i;
		for (size_t i = l->first, done = 0; i < l->first + l->n; i++) {
			if (!texts[i] || first_with(l, texts, i) != i)
				continue;
			if (!done++)
				fprintf(out, "%s%s: ", sep, l->name);
			fprintf(out, "%s%s", done > 1 ? ", " : "", texts[i]);
			if (n > 1) {
				fputs(" (", out);
				put_runs(set, l, texts, texts[i], out);
				fputs(")", out);
				*mixed = true;
			}
			sep = "; ";
		}
	}
}

static bool all_equal(char *const *texts, size_t n)
{
	const char *first = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!texts[i])
			continue;
		if (first && strcmp(first, texts[i]))
			return false;
		first = texts[i];
	}
	return true;
}

static json_t *unlike_entry(const struct tmigr_runset *set, const char *what, char *const *texts)
{
	json_t *o = json_object(), *values = json_array();
	char *text = NULL;
	bool bad = false, mixed = false;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out)
		put_fact(set, texts, out, &mixed);
	if (!out || fclose(out) || !text)
		bad = true;
	for (size_t i = 0; i < set->n_runs && !bad; i++) {
		const struct tmigr_run *r = &set->runs[i];

		if (texts[i])
			bad |= json_array_append_new(values,
						     json_pack("{s:s, s:i, s:s}", "label",
							       set->labels[r->label].name, "run",
							       (int)r->run, "value", texts[i])) < 0;
	}
	tmigr_put(o, "what", json_string(what), &bad);
	tmigr_put(o, "within_label", json_boolean(mixed), &bad);
	tmigr_put(o, "text", bad ? NULL : json_string(text), &bad);
	tmigr_put(o, "values", values, &bad);
	free(text);
	return tmigr_whole(o, bad);
}

static int add_fact(json_t *unlike, const struct tmigr_runset *set, const struct fact *f,
		    char **texts)
{
	int ret = 0;

	for (size_t i = 0; i < set->n_runs && ret == 0; i++) {
		if (!set->runs[i].report)
			continue;
		texts[i] = fact_text(f, set->runs[i].report);
		ret = texts[i] ? 0 : -1;
	}
	if (ret == 0 && !all_equal(texts, set->n_runs))
		ret = json_array_append_new(unlike, unlike_entry(set, f->what, texts));
	for (size_t i = 0; i < set->n_runs; i++) {
		free(texts[i]);
		texts[i] = NULL;
	}
	return ret;
}

/* ---- the window's length ---- */

struct range {
	double low, high;
};

static void widen(struct range *r, double v)
{
	r->low = fmin(r->low, v);
	r->high = fmax(r->high, v);
}

static json_t *window_text(const struct tmigr_runset *set, struct range *ret_all, bool *mixed)
{
	json_t *text = json_string("");

	for (size_t k = 0; k < set->n_labels; k++) {
		const struct tmigr_run_label *l = &set->labels[k];
		struct range r = {INFINITY, -INFINITY};
		char part[96];

		for (size_t i = l->first; i < l->first + l->n; i++)
			if (tmigr_run_counts(&set->runs[i]))
				widen(&r, (double)tmigr_rep_u64(set->runs[i].report, "window_ns"));
		if (r.low > r.high)
			continue;
		widen(ret_all, r.low);
		widen(ret_all, r.high);
		if (r.high - r.low > WINDOW_TOLERANCE * r.high) {
			snprintf(part, sizeof(part), "%.3f to %.3f s", r.low / 1e9, r.high / 1e9);
			*mixed = true;
		} else {
			snprintf(part, sizeof(part), "%.3f s", r.high / 1e9);
		}
		{
			const char *so_far = json_string_value(text);
			json_t *more = json_sprintf("%s%s%s: %s", so_far ? so_far : "",
						    so_far && *so_far ? "; " : "", l->name, part);

			json_decref(text);
			text = more;
		}
	}
	return text;
}

static int add_window(json_t *unlike, const struct tmigr_runset *set)
{
	struct range all = {INFINITY, -INFINITY};
	bool bad = false, mixed = false;
	json_t *text = window_text(set, &all, &mixed), *o, *values;

	if (text && !(all.high - all.low > WINDOW_TOLERANCE * all.high)) {
		json_decref(text);
		return 0;
	}
	o = json_object();
	values = json_array();
	for (size_t i = 0; i < set->n_runs; i++) {
		const struct tmigr_run *r = &set->runs[i];
		char ns[24];

		if (!r->report)
			continue;
		snprintf(ns, sizeof(ns), "%llu",
			 (unsigned long long)tmigr_rep_u64(r->report, "window_ns"));
		bad |= json_array_append_new(values, json_pack("{s:s, s:i, s:s}", "label",
							       set->labels[r->label].name, "run",
							       (int)r->run, "value", ns)) < 0;
	}
	tmigr_put(o, "what", json_string("window"), &bad);
	tmigr_put(o, "within_label", json_boolean(mixed), &bad);
	tmigr_put(o, "text", text, &bad);
	tmigr_put(o, "values", values, &bad);
	return json_array_append_new(unlike, tmigr_whole(o, bad));
}

json_t *tmigr_compare_unlike(const struct tmigr_runset *set)
{
	json_t *unlike = json_array();
	char **texts = calloc(set->n_runs + 1, sizeof(*texts));
	int ret = unlike && texts ? add_window(unlike, set) : -1;

	for (size_t i = 0; ret == 0 && i < sizeof(facts) / sizeof(facts[0]); i++)
		ret = add_fact(unlike, set, &facts[i], texts);
	free(texts);
	if (ret == 0)
		return unlike;
	json_decref(unlike);
	return NULL;
}
