// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of a report by name (docs/report-schema.md lists them). */
#include "tmigr/figures.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report_fmt.h"
#include "report_parts.h"
#include "report_text.h"

struct walk {
	const json_t *report;
	int (*fn)(void *arg, const struct tmigr_figure *figure);
	void *arg;
	double window_ns;
	size_t n_classes;
};

__attribute__((format(printf, 5, 6))) static int
give(const struct walk *w, const char *unit, bool known, double value, const char *fmt, ...)
{
	struct tmigr_figure f = {.unit = unit, .known = known, .value = known ? value : 0};
	char *name = NULL;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	if (vasprintf(&name, fmt, ap) < 0)
		name = NULL;
	va_end(ap);
	if (!name)
		return -ENOMEM;
	f.name = name;
	ret = w->fn(w->arg, &f);
	free(name);
	return ret;
}

static const char *class_name(const struct walk *w, size_t i)
{
	return tmigr_rep_str(json_array_get(json_object_get(w->report, "classes"), i), "name");
}

/* ---- the migrator ---- */

static int give_answer(const struct walk *w)
{
	const json_t *share = json_object_get(json_object_get(w->report, "answer"), "big_share");
	struct tmigr_spanning s = tmigr_report_spanning(w->report);
	bool known = json_is_number(share);
	int ret = give(w, "share", known, json_number_value(share), "big_share");

	if (ret)
		return ret;
	/* Where each class has its own hierarchy, nothing is avoidable. */
	return give(w, "share", known,
		    s.window_ns ? (double)s.avoidable_ns / (double)s.window_ns : 0,
		    "avoidable_share");
}

/* Part of all hierarchies' time. */
static int give_regime(const struct walk *w, const char *key, const char *name)
{
	const json_t *roots = json_object_get(w->report, "roots"), *root;
	double all_ns = w->window_ns * (double)json_array_size(roots), ns = 0;
	size_t i;

	json_array_foreach (roots, i, root)
		ns += (double)tmigr_rep_u64(root, key);
	return give(w, "share", all_ns > 0, all_ns > 0 ? ns / all_ns : 0, "%s", name);
}

static int give_held(const struct walk *w, size_t class_idx)
{
	const json_t *roots = json_object_get(w->report, "roots"), *root, *c;
	const char *name = class_name(w, class_idx);
	bool known = json_array_size(roots) && w->window_ns > 0;
	double ns = 0;
	size_t i, k;

	json_array_foreach (roots, i, root)
		json_array_foreach (json_object_get(root, "classes"), k, c)
			if (!strcmp(tmigr_rep_str(c, "name"), name))
				ns += (double)tmigr_rep_u64(c, "held_ns");
	return give(w, "share", known, known ? ns / w->window_ns : 0, "held.%s", name);
}

static int give_migrator(const struct walk *w)
{
	int ret = give_answer(w);

	if (!ret)
		ret = give_regime(w, "unknown_ns", "unknown_share");
	if (!ret)
		ret = give_regime(w, "handover_ns", "handover_share");
	if (!ret)
		ret = give_regime(w, "duty_ns", "duty_share");
	if (!ret)
		ret = give_regime(w, "free_ns", "free_share");
	for (size_t i = 0; i < w->n_classes && !ret; i++)
		ret = give_held(w, i);
	return ret;
}

/* ---- residency ---- */

static bool of_class(const json_t *cpu, const char *class)
{
	return !strcmp(tmigr_rep_str(cpu, "class"), class);
}

/* @key of the class's CPUs, summed; *@ret_n: how many they are. */
static double sum_cpus(const struct walk *w, const char *class, const char *key, size_t *ret_n)
{
	const json_t *cpu;
	double sum = 0;
	size_t i;

	*ret_n = 0;
	json_array_foreach (json_object_get(w->report, "cpus"), i, cpu) {
		if (!of_class(cpu, class))
			continue;
		sum += (double)tmigr_rep_u64(cpu, key);
		++*ret_n;
	}
	return sum;
}

static double sum_state(const struct walk *w, const char *class, const char *state, const char *key)
{
	const json_t *cpu, *s;
	double sum = 0;
	size_t i, k;

	json_array_foreach (json_object_get(w->report, "cpus"), i, cpu)
		if (of_class(cpu, class))
			json_array_foreach (json_object_get(cpu, "states"), k, s)
				if (!strcmp(tmigr_rep_str(s, "name"), state))
					sum += (double)tmigr_rep_u64(s, key);
	return sum;
}

static int give_plain(const struct walk *w, const char *class, const char *key, const char *name)
{
	size_t n;
	double sum = sum_cpus(w, class, key, &n), all_ns = w->window_ns * (double)n;

	return give(w, "share", all_ns > 0, all_ns > 0 ? sum / all_ns : 0, "residency.%s.%s", class,
		    name);
}

/* Names of a class's idle states, in the order of their first CPU. */
static int class_states(const struct walk *w, const char *class, struct tmigr_names *ret)
{
	const json_t *cpu, *s;
	size_t i, k;

	json_array_foreach (json_object_get(w->report, "cpus"), i, cpu)
		if (of_class(cpu, class))
			json_array_foreach (json_object_get(cpu, "states"), k, s)
				tmigr_names_index(ret, tmigr_rep_str(s, "name"));
	return ret->failed ? -ENOMEM : 0;
}

static int give_states(const struct walk *w, const char *class, const struct tmigr_names *states)
{
	size_t n;
	double all_ns;
	int ret = 0;

	sum_cpus(w, class, "cpu", &n);
	all_ns = w->window_ns * (double)n;
	for (size_t i = 0; i < states->n && !ret; i++)
		ret = give(w, "share", all_ns > 0,
			   all_ns > 0 ? sum_state(w, class, states->names[i], "time_ns") / all_ns
				      : 0,
			   "residency.%s.%s", class, states->names[i]);
	for (size_t i = 0; i < states->n && !ret; i++)
		ret = give(w, "", true, sum_state(w, class, states->names[i], "entries"),
			   "entries.%s.%s", class, states->names[i]);
	return ret;
}

static int give_residency(const struct walk *w)
{
	int ret = 0;

	for (size_t i = 0; i < w->n_classes && !ret; i++) {
		const char *class = class_name(w, i);
		struct tmigr_names states = {0};

		ret = give_plain(w, class, "running_ns", "running");
		if (!ret)
			ret = class_states(w, class, &states);
		if (!ret)
			ret = give_states(w, class, &states);
		free(states.names);
		if (!ret)
			ret = give_plain(w, class, "offline_ns", "offline");
		if (!ret)
			ret = give_plain(w, class, "unknown_ns", "unknown");
	}
	return ret;
}

/* ---- remote expiry ---- */

static double remote_sum(const struct walk *w, const char *target, const char *executor)
{
	const json_t *p;
	double sum = 0;
	size_t i;

	json_array_foreach (json_object_get(w->report, "remote"), i, p)
		if (!strcmp(tmigr_rep_class(w->report, tmigr_rep_u64(p, "target")), target) &&
		    !strcmp(tmigr_rep_class(w->report, tmigr_rep_u64(p, "executor")), executor))
			sum += (double)tmigr_rep_u64(p, "count");
	return sum;
}

static int give_remote(const struct walk *w)
{
	size_t last = w->n_classes - 1;
	bool several = w->n_classes > 1;
	int ret = give(w, "", several,
		       several ? remote_sum(w, class_name(w, 0), class_name(w, last)) : 0,
		       "remote_little_on_big");

	for (size_t i = 0; i < w->n_classes && !ret; i++)
		for (size_t k = 0; k < w->n_classes && !ret; k++)
			ret = give(w, "", true, remote_sum(w, class_name(w, i), class_name(w, k)),
				   "remote.%s_on_%s", class_name(w, i), class_name(w, k));
	return ret;
}

/* ---- the rest ---- */

static int give_run(const struct walk *w)
{
	const json_t *lost = json_object_get(w->report, "lost");
	const json_t *status = json_object_get(w->report, "exit_status");
	int ret = give(w, "", true, (double)tmigr_rep_u64(lost, "records"), "lost_records");

	if (!ret)
		ret = give(w, "", true, (double)tmigr_rep_u64(lost, "group_updates"),
			   "lost_updates");
	if (!ret)
		ret = give(w, "s", true, w->window_ns / 1e9, "window_s");
	if (!ret)
		ret = give(w, "", json_is_integer(status), json_number_value(status),
			   "exit_status");
	return ret;
}

static int give_printed(const struct walk *w)
{
	const json_t *m;
	int ret;
	size_t i;

	json_array_foreach (json_object_get(w->report, "metrics"), i, m) {
		const json_t *value = json_object_get(m, "value");

		ret = give(w, tmigr_rep_str(m, "unit"), json_is_number(value),
			   json_number_value(value), "metric.%s", tmigr_rep_str(m, "name"));
		if (ret)
			return ret;
	}
	json_array_foreach (json_object_get(w->report, "energy"), i, m) {
		ret = give(w, "J", true, (double)tmigr_rep_u64(m, "energy_uj") / 1e6, "energy.%s",
			   tmigr_rep_str(m, "domain"));
		if (ret)
			return ret;
	}
	return 0;
}

int tmigr_figures(const json_t *report, int (*fn)(void *arg, const struct tmigr_figure *figure),
		  void *arg)
{
	const struct walk w = {
		.report = report,
		.fn = fn,
		.arg = arg,
		.window_ns = (double)tmigr_rep_u64(report, "window_ns"),
		.n_classes = json_array_size(json_object_get(report, "classes")),
	};
	int ret = give_migrator(&w);

	if (!ret)
		ret = give_residency(&w);
	if (!ret)
		ret = give_remote(&w);
	if (!ret)
		ret = give_run(&w);
	return ret ? ret : give_printed(&w);
}

/* ---- one by name ---- */

struct wanted {
	const char *name;
	double *ret;
};

enum { FOUND = 1, NOT_KNOWN };

static int compare(void *arg, const struct tmigr_figure *f)
{
	const struct wanted *want = arg;

	if (strcmp(f->name, want->name) != 0)
		return 0;
	if (!f->known)
		return NOT_KNOWN;
	*want->ret = f->value;
	return FOUND;
}

int tmigr_figure_value(const json_t *report, const char *name, double *ret)
{
	struct wanted want = {name, ret};
	int r = tmigr_figures(report, compare, &want);

	if (r == FOUND)
		return 0;
	if (r == NOT_KNOWN)
		return -ENODATA;
	return r < 0 ? r : -ENOENT;
}
