// SPDX-License-Identifier: GPL-2.0-or-later
/* Idle-state residency by class (class x state name) and per CPU. */
#include "report_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- by class ---- */

void tmigr_residency_free(struct tmigr_residency *r)
{
	free(r->states.names);
	free(r->sums);
	free(r->classes);
}

/* How often a CPU was in the state: each entry, and what was open when the window began; that
 * shows in stays that ended, and in time. */
static __u64 stays(const json_t *state)
{
	__u64 entries = tmigr_rep_u64(state, "entries"), ended = 0;
	const json_t *n;
	size_t i;

	json_array_foreach (json_object_get(state, "hist"), i, n)
		ended += (__u64)json_integer_value(n);
	if (entries < ended)
		entries = ended;
	return entries ? entries : tmigr_rep_u64(state, "time_ns") > 0;
}

static void add_states(struct tmigr_residency *r, int class_idx, const json_t *cpu)
{
	const json_t *s;
	size_t i;

	json_array_foreach (json_object_get(cpu, "states"), i, s) {
		size_t k = tmigr_names_index(&r->states, tmigr_rep_str(s, "name"));
		struct tmigr_state_sum *sum = &r->sums[(size_t)class_idx * r->states.n + k];

		sum->time_ns += tmigr_rep_u64(s, "time_ns");
		sum->entries += tmigr_rep_u64(s, "entries");
		sum->stays += stays(s);
		sum->above += tmigr_rep_u64(s, "above");
		sum->below += tmigr_rep_u64(s, "below");
		sum->seen = true;
	}
}

int tmigr_residency_sum(const json_t *report, struct tmigr_residency *r)
{
	const json_t *cpus = json_object_get(report, "cpus"), *cpu, *s;
	size_t i, k;

	json_array_foreach (cpus, i, cpu)
		json_array_foreach (json_object_get(cpu, "states"), k, s)
			tmigr_names_index(&r->states, tmigr_rep_str(s, "name"));
	r->n_classes = json_array_size(json_object_get(report, "classes"));
	r->sums = calloc(r->n_classes * r->states.n + 1, sizeof(*r->sums));
	r->classes = calloc(r->n_classes + 1, sizeof(*r->classes));
	if (r->states.failed || !r->sums || !r->classes)
		return -ENOMEM;
	json_array_foreach (cpus, i, cpu) {
		int c = tmigr_rep_class_index(report, tmigr_rep_str(cpu, "class"));

		if (c < 0)
			continue;
		r->classes[c].n_cpus++;
		r->classes[c].running_ns += tmigr_rep_u64(cpu, "running_ns");
		r->classes[c].offline_ns += tmigr_rep_u64(cpu, "offline_ns");
		r->classes[c].unknown_ns += tmigr_rep_u64(cpu, "unknown_ns");
		add_states(r, c, cpu);
	}
	return 0;
}

static void time_cells(struct tmigr_table *t, const char *class_name, const char *state, __u64 ns,
		       __u64 window, __u64 n_cpus)
{
	char buf[TMIGR_FMT_MAX];

	tmigr_table_cell(t, class_name);
	tmigr_table_cell(t, state);
	tmigr_table_sec(t, ns, window);
	tmigr_table_cell(t, tmigr_fmt_pct(buf, ns, window * n_cpus));
}

static void plain_row(struct tmigr_table *t, const char *class_name, const char *state, __u64 ns,
		      __u64 window, __u64 n_cpus)
{
	time_cells(t, class_name, state, ns, window, n_cpus);
	for (int i = 0; i < 4; i++)
		tmigr_table_cell(t, "");
}

static void state_row(struct tmigr_table *t, const char *class_name, const char *state,
		      const struct tmigr_state_sum *s, __u64 window, __u64 n_cpus)
{
	char buf[TMIGR_FMT_MAX];

	time_cells(t, class_name, state, s->time_ns, window, n_cpus);
	tmigr_table_count(t, s->entries);
	if (s->stays)
		snprintf(buf, sizeof(buf), "%.3f", (double)s->time_ns / (double)s->stays / 1e6);
	tmigr_table_cell(t, s->stays ? buf : "-");
	tmigr_table_count(t, s->above);
	tmigr_table_count(t, s->below);
}

static void class_rows(const json_t *report, const struct tmigr_residency *r, size_t c,
		       struct tmigr_table *t)
{
	const json_t *cl = json_array_get(json_object_get(report, "classes"), c);
	const char *name = tmigr_rep_str(cl, "name");
	const struct tmigr_class_time *ct = &r->classes[c];
	__u64 window = tmigr_rep_u64(report, "window_ns");

	plain_row(t, name, "running", ct->running_ns, window, ct->n_cpus);
	for (size_t k = 0; k < r->states.n; k++) {
		const struct tmigr_state_sum *s = &r->sums[c * r->states.n + k];

		if (s->seen)
			state_row(t, name, r->states.names[k], s, window, ct->n_cpus);
	}
	if (ct->offline_ns)
		plain_row(t, name, "offline", ct->offline_ns, window, ct->n_cpus);
	if (ct->unknown_ns)
		plain_row(t, name, "unknown", ct->unknown_ns, window, ct->n_cpus);
}

void tmigr_text_residency_title(const json_t *report, FILE *out)
{
	const char *driver = tmigr_rep_str(report, "cpuidle_driver");
	const char *governor = tmigr_rep_str(report, "cpuidle_governor");

	fputs("Idle-state residency by class", out);
	if (*driver) {
		fputs(", driver ", out);
		tmigr_fmt_puts(out, driver);
	}
	if (*governor) {
		fputs(", governor ", out);
		tmigr_fmt_puts(out, governor);
	}
	fputs("; % of the class's CPU time", out);
}

struct tmigr_table *tmigr_table_classes(const json_t *report, const struct tmigr_residency *r)
{
	struct tmigr_table *t = tmigr_table_new(2);

	tmigr_table_column(t, false, "class");
	tmigr_table_column(t, false, "state");
	tmigr_table_column(t, true, "seconds");
	tmigr_table_column(t, true, "%");
	tmigr_table_column(t, true, "entries");
	tmigr_table_column(t, true, "avg ms");
	tmigr_table_column(t, true, "above (too deep)");
	tmigr_table_column(t, true, "below (too shallow)");
	for (size_t c = 0; c < r->n_classes; c++)
		class_rows(report, r, c, t);
	return t;
}

/* ---- per CPU ---- */

static void cpu_state_cells(struct tmigr_table *t, const struct tmigr_names *states,
			    const json_t *cpu, __u64 window)
{
	const json_t *s;
	size_t i;

	for (size_t k = 0; k < states->n; k++) {
		bool has = false;
		__u64 ns = 0;

		json_array_foreach (json_object_get(cpu, "states"), i, s) {
			if (strcmp(tmigr_rep_str(s, "name"), states->names[k]))
				continue;
			ns += tmigr_rep_u64(s, "time_ns");
			has = true;
		}
		if (has)
			tmigr_table_sec(t, ns, window);
		else
			tmigr_table_cell(t, "");
	}
}

/* A column of its own only where it says something: busy CPUs with their tick off. */
static bool any_tick_off(const json_t *report)
{
	__u64 window = tmigr_rep_u64(report, "window_ns");
	const json_t *cpu;
	bool any = false;
	size_t i;

	json_array_foreach (json_object_get(report, "cpus"), i, cpu)
		any |= tmigr_rep_tick_off(cpu, window);
	return any;
}

struct tmigr_table *tmigr_table_cpus(const json_t *report, const struct tmigr_residency *r)
{
	const json_t *cpus = json_object_get(report, "cpus"), *cpu;
	__u64 window = tmigr_rep_u64(report, "window_ns");
	struct tmigr_table *t = tmigr_table_new(1);
	bool offline = false, unknown = false, tick_off = any_tick_off(report);
	size_t i;

	for (i = 0; i < r->n_classes; i++) {
		offline |= r->classes[i].offline_ns > 0;
		unknown |= r->classes[i].unknown_ns > 0;
	}
	tmigr_table_column(t, true, "cpu");
	if (r->n_classes > 1)
		tmigr_table_column(t, false, "class");
	tmigr_table_column(t, true, "running");
	if (tick_off)
		tmigr_table_column(t, true, "of it tmigr-idle");
	for (i = 0; i < r->states.n; i++)
		tmigr_table_column(t, true, r->states.names[i]);
	if (offline)
		tmigr_table_column(t, true, "offline");
	if (unknown)
		tmigr_table_column(t, true, "unknown");
	json_array_foreach (cpus, i, cpu) {
		tmigr_table_number(t, tmigr_rep_u64(cpu, "cpu"));
		if (r->n_classes > 1)
			tmigr_table_cell(t, tmigr_rep_str(cpu, "class"));
		tmigr_table_sec(t, tmigr_rep_u64(cpu, "running_ns"), window);
		if (tick_off)
			tmigr_table_sec(
				t, tmigr_rep_u64(json_object_get(cpu, "running_tmigr"), "idle_ns"),
				window);
		cpu_state_cells(t, &r->states, cpu, window);
		if (offline)
			tmigr_table_sec(t, tmigr_rep_u64(cpu, "offline_ns"), window);
		if (unknown)
			tmigr_table_sec(t, tmigr_rep_u64(cpu, "unknown_ns"), window);
	}
	return t;
}

int tmigr_text_residency(const json_t *report, FILE *out)
{
	struct tmigr_residency r = {0};
	int ret = tmigr_residency_sum(report, &r);

	if (ret == 0) {
		putc('\n', out);
		tmigr_text_residency_title(report, out);
		putc('\n', out);
		ret = tmigr_table_print(tmigr_table_classes(report, &r), out);
	}
	if (ret == 0) {
		fputs("\nResidency per CPU, seconds\n", out);
		ret = tmigr_table_print(tmigr_table_cpus(report, &r), out);
	}
	tmigr_residency_free(&r);
	return ret;
}
