// SPDX-License-Identifier: GPL-2.0-or-later
/* What idle costs, and who ended it: the sentence and the tables. */
#include "report_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const json_t *latency_of(const json_t *report)
{
	return json_object_get(report, "latency");
}

/* ---- the sentence ---- */

/* Classes without one of their names at the end: "big CPUs", but on a machine of one
 * class "CPUs". */
static void put_class(const json_t *report, const char *name, const char *one, FILE *out)
{
	if (json_array_size(json_object_get(report, "classes")) < 2) {
		fprintf(out, "%sCPUs", one);
		return;
	}
	tmigr_fmt_puts(out, name);
	fputs(" CPUs", out);
}

static void put_remote(const json_t *report, const char *class_name, const json_t *state,
		       const json_t *remote, FILE *out)
{
	char buf[TMIGR_FMT_MAX];
	__u64 n = tmigr_rep_u64(remote, "count");

	put_class(report, class_name, "", out);
	fprintf(out, " were woken %llu time%s from ", (unsigned long long)n, n == 1 ? "" : "s");
	tmigr_fmt_puts(out, tmigr_rep_str(state, "name"));
	fputs(" to run timers of ", out);
	put_class(report, tmigr_rep_str(remote, "target_class"), "other ", out);
	fprintf(out, ", which cost them %s of it",
		tmigr_fmt_dur(buf, tmigr_rep_u64(remote, "awake_ns")));
}

/* Highest class first: what it costs the big ones is the question. */
static bool put_remotes(const json_t *report, FILE *out)
{
	const json_t *classes = json_object_get(latency_of(report), "classes"), *state, *remote;
	bool any = false;
	size_t k, r;

	for (size_t c = json_array_size(classes); c-- > 0;) {
		const json_t *cl = json_array_get(classes, c);

		json_array_foreach (json_object_get(cl, "states"), k, state) {
			json_array_foreach (json_object_get(state, "remote"), r, remote) {
				if (any)
					fputs("; ", out);
				put_remote(report, tmigr_rep_str(cl, "class"), state, remote, out);
				any = true;
			}
		}
	}
	return any;
}

char *tmigr_text_wakeups(const json_t *report)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!latency_of(report))
		return strdup("");
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (json_is_false(json_object_get(report, "timer_migration_hierarchy")))
		fputs("whose timers woke a CPU is not told where there is no hierarchy", out);
	else if (!put_remotes(report, out))
		fputs("no CPU was woken to run timers of another alone", out);
	putc('.', out);
	if (!json_is_true(json_object_get(latency_of(report), "causes_known")))
		fputs(" This kernel does not trace all that can end an idle interval: without a "
		      "handler that it tells of, the cause is unknown.",
		      out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- tables ---- */

static void put_us(struct tmigr_table *t, const json_t *ns)
{
	char buf[TMIGR_FMT_MAX] = "-";

	if (json_is_integer(ns))
		snprintf(buf, sizeof(buf), "%.1f", (double)json_integer_value(ns) / 1e3);
	tmigr_table_cell(t, buf);
}

static void put_dist(struct tmigr_table *t, const json_t *dist)
{
	put_us(t, json_object_get(dist, "p50_ns"));
	put_us(t, json_object_get(dist, "p99_ns"));
	put_us(t, json_object_get(dist, "max_ns"));
}

static void cost_row(struct tmigr_table *t, const char *class_name, const json_t *state)
{
	tmigr_table_cell(t, class_name);
	tmigr_table_cell(t, tmigr_rep_str(state, "name"));
	tmigr_table_count(t, tmigr_rep_u64(state, "entries"));
	put_dist(t, json_object_get(state, "entry"));
	put_us(t, json_object_get(json_object_get(state, "tmigr"), "p50_ns"));
	put_dist(t, json_object_get(state, "wake"));
	put_us(t, json_object_get(state, "exit_latency_ns"));
	tmigr_table_count(t, tmigr_rep_u64(state, "rejected"));
}

struct tmigr_table *tmigr_table_latency(const json_t *report)
{
	static const char *const heads[] = {"entries",	"entry p50", "p99", "max",     "tmigr",
					    "wake p50", "p99",	     "max", "claimed", "rejected"};
	const json_t *classes = json_object_get(latency_of(report), "classes"), *cl, *state;
	struct tmigr_table *t = tmigr_table_new(2);
	size_t i, k;

	tmigr_table_column(t, false, "class");
	tmigr_table_column(t, false, "state");
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		tmigr_table_column(t, true, heads[i]);
	json_array_foreach (classes, i, cl)
		json_array_foreach (json_object_get(cl, "states"), k, state)
			cost_row(t, tmigr_rep_str(cl, "class"), state);
	return t;
}

static void put_ms(struct tmigr_table *t, __u64 ns, __u64 n)
{
	char buf[TMIGR_FMT_MAX] = "-";

	if (n)
		snprintf(buf, sizeof(buf), "%.3f", (double)ns / (double)n / 1e6);
	tmigr_table_cell(t, buf);
}

/* "0.005 / 3.956": one column, since neither says anything without the other. */
static void put_short(struct tmigr_table *t, const json_t *row, __u64 n)
{
	double slept = (double)tmigr_rep_u64(row, "short_slept_ns");
	double expected = (double)tmigr_rep_u64(row, "short_expected_ns");
	char buf[64] = "-";

	if (n)
		snprintf(buf, sizeof(buf), "%.3f / %.3f", slept / (double)n / 1e6,
			 expected / (double)n / 1e6);
	tmigr_table_cell(t, buf);
}

static void wakeup_row(struct tmigr_table *t, const char *class_name, const char *state,
		       const char *cause, const json_t *row, __u64 all)
{
	__u64 n = tmigr_rep_u64(row, "count"), cut = tmigr_rep_u64(row, "short");
	char buf[TMIGR_FMT_MAX];

	tmigr_table_cell(t, class_name);
	tmigr_table_cell(t, state);
	tmigr_table_cell(t, cause);
	tmigr_table_count(t, n);
	tmigr_table_cell(t, tmigr_fmt_pct(buf, n, all));
	put_ms(t, tmigr_rep_u64(row, "slept_ns"), n);
	put_ms(t, tmigr_rep_u64(row, "awake_ns"), n);
	tmigr_table_count(t, cut);
	put_short(t, row, cut);
}

/* Below the row of a cause: by interrupt, by whose timers. */
static void detail_rows(struct tmigr_table *t, const char *class_name, const json_t *state,
			const char *cause, __u64 all)
{
	bool irq = strcmp(cause, "device-irq") == 0;
	const json_t *list = json_object_get(state, irq ? "irqs" : "remote"), *d;
	char buf[64];
	size_t i;

	json_array_foreach (list, i, d) {
		if (irq)
			snprintf(buf, sizeof(buf), "- irq %llu %s",
				 (unsigned long long)tmigr_rep_u64(d, "irq"),
				 tmigr_rep_str(d, "name"));
		else
			snprintf(buf, sizeof(buf), "- for %.40s", tmigr_rep_str(d, "target_class"));
		wakeup_row(t, class_name, tmigr_rep_str(state, "name"), buf, d, all);
	}
}

static void state_rows(struct tmigr_table *t, const char *class_name, const json_t *state)
{
	const json_t *row;
	__u64 all = 0;
	size_t i;

	json_array_foreach (json_object_get(state, "wakeups"), i, row)
		all += tmigr_rep_u64(row, "count");
	json_array_foreach (json_object_get(state, "wakeups"), i, row) {
		const char *cause = tmigr_rep_str(row, "cause");

		wakeup_row(t, class_name, tmigr_rep_str(state, "name"), cause, row, all);
		if (strcmp(cause, "device-irq") == 0 || strcmp(cause, "remote-duty") == 0)
			detail_rows(t, class_name, state, cause, all);
	}
}

struct tmigr_table *tmigr_table_wakeups(const json_t *report)
{
	static const char *const heads[] = {"wake-ups", "%",	 "slept ms",
					    "awake ms", "short", "after / of ms"};
	const json_t *classes = json_object_get(latency_of(report), "classes"), *cl, *state;
	struct tmigr_table *t = tmigr_table_new(3);
	size_t i, k;

	tmigr_table_column(t, false, "class");
	tmigr_table_column(t, false, "state");
	tmigr_table_column(t, false, "ended by");
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		tmigr_table_column(t, true, heads[i]);
	json_array_foreach (classes, i, cl)
		json_array_foreach (json_object_get(cl, "states"), k, state)
			state_rows(t, tmigr_rep_str(cl, "class"), state);
	return t;
}

/* Per CPU: how often each cause. */
struct tmigr_table *tmigr_table_wakeups_cpus(const json_t *report)
{
	const json_t *cpus = json_object_get(latency_of(report), "cpus"), *cpu, *state, *row;
	struct tmigr_names causes = {0};
	struct tmigr_table *t = tmigr_table_new(2);
	size_t i, k, c;

	json_array_foreach (cpus, i, cpu)
		json_array_foreach (json_object_get(cpu, "states"), k, state)
			json_array_foreach (json_object_get(state, "wakeups"), c, row)
				tmigr_names_index(&causes, tmigr_rep_str(row, "cause"));
	tmigr_table_column(t, true, "cpu");
	tmigr_table_column(t, false, "state");
	tmigr_table_column(t, true, "entries");
	for (c = 0; c < causes.n; c++)
		tmigr_table_column(t, true, causes.names[c]);
	json_array_foreach (cpus, i, cpu) {
		json_array_foreach (json_object_get(cpu, "states"), k, state) {
			tmigr_table_number(t, tmigr_rep_u64(cpu, "cpu"));
			tmigr_table_cell(t, tmigr_rep_str(state, "name"));
			tmigr_table_count(t, tmigr_rep_u64(state, "entries"));
			for (c = 0; c < causes.n; c++)
				tmigr_table_count(
					t, tmigr_rep_u64(
						   tmigr_rep_find(json_object_get(state, "wakeups"),
								  "cause", causes.names[c], NULL),
						   "count"));
		}
	}
	if (causes.failed) {
		tmigr_table_free(t);
		t = NULL;
	}
	free(causes.names);
	return t;
}

static bool was_idle(const json_t *report)
{
	const json_t *classes = json_object_get(latency_of(report), "classes"), *cl;
	size_t i;

	json_array_foreach (classes, i, cl)
		if (json_array_size(json_object_get(cl, "states")))
			return true;
	return false;
}

int tmigr_text_latency(const json_t *report, FILE *out)
{
	int ret;

	if (!latency_of(report))
		return 0;
	if (!was_idle(report)) {
		fputs("\nCost of idle: no CPU went idle\n", out);
		return 0;
	}
	fputs("\nCost of idle by class, us: to enter (of that timer migration); from a timer's "
	      "expiry to the\nwake-up, beside the exit latency that the state claims\n",
	      out);
	ret = tmigr_table_print(tmigr_table_latency(report), out);
	if (ret == 0) {
		fputs("\nWho ended idle, by class; means; short: before the next timer was due, "
		      "after .. of .. ms\n",
		      out);
		ret = tmigr_table_print(tmigr_table_wakeups(report), out);
	}
	if (ret == 0) {
		fputs("\nWho ended idle, per CPU\n", out);
		ret = tmigr_table_print(tmigr_table_wakeups_cpus(report), out);
	}
	return ret;
}
