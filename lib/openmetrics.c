// SPDX-License-Identifier: GPL-2.0-or-later
#include "tmigr/openmetrics.h"

#include <stdlib.h>
#include <string.h>

#include "report_fmt.h"

/* What is being written: all samples of a family stand together, so every family
 * goes through all runs. */
struct om {
	FILE *f;
	const struct tmigr_om_run *run; /* whose samples */
	bool labelled;			/* the sample has a label */
};

static json_int_t num(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

void tmigr_om_family(FILE *f, const char *name, const char *type, const char *unit,
		     const char *help)
{
	fprintf(f, "# TYPE %s %s\n", name, type);
	if (*unit)
		fprintf(f, "# UNIT %s %s\n", name, unit);
	fprintf(f, "# HELP %s %s\n", name, help);
}

/* ---- one sample ---- */

/* A label with what must be escaped in its value. */
static void label(struct om *m, const char *name, const char *value)
{
	fprintf(m->f, "%c%s=\"", m->labelled ? ',' : '{', name);
	m->labelled = true;
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			fputc('\\', m->f);
		if (*value == '\n')
			fputs("\\n", m->f);
		else
			fputc(*value, m->f);
	}
	fputc('"', m->f);
}

static void label_number(struct om *m, const char *name, unsigned long long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", value);
	label(m, name, text);
}

static void begin(struct om *m, const char *name)
{
	fputs(name, m->f);
	m->labelled = false;
	if (!m->run->label)
		return;
	label(m, "label", m->run->label);
	label_number(m, "run", m->run->run);
}

/* Nanoseconds as seconds, all digits; microjoules as joules. */
static void put_fraction(FILE *f, json_int_t value, json_int_t unit, int digits)
{
	fprintf(f, " %lld.%0*lld\n", (long long)(value / unit), digits, (long long)(value % unit));
}

static void end_seconds(struct om *m, json_int_t ns)
{
	if (m->labelled)
		fputc('}', m->f);
	put_fraction(m->f, ns, 1000000000, 9);
}

static void end_number(struct om *m, json_int_t value)
{
	if (m->labelled)
		fputc('}', m->f);
	fprintf(m->f, " %lld\n", (long long)value);
}

static void cpu_labels(struct om *m, const json_t *cpu)
{
	label_number(m, "cpu", (unsigned long long)num(cpu, "cpu"));
	label(m, "class", tmigr_rep_str(cpu, "class"));
}

/* ---- residency ---- */

static void state_time(struct om *m, const json_t *cpu, const char *state, json_int_t ns)
{
	begin(m, "tmigr_cpu_state_seconds_total");
	cpu_labels(m, cpu);
	label(m, "state", state);
	end_seconds(m, ns);
}

static void residency(struct om *m)
{
	const json_t *cpu, *state;
	size_t i, k;

	json_array_foreach (json_object_get(m->run->report, "cpus"), i, cpu) {
		state_time(m, cpu, "running", num(cpu, "running_ns"));
		json_array_foreach (json_object_get(cpu, "states"), k, state)
			state_time(m, cpu, tmigr_rep_str(state, "name"), num(state, "time_ns"));
		state_time(m, cpu, "offline", num(cpu, "offline_ns"));
		state_time(m, cpu, "unknown", num(cpu, "unknown_ns"));
	}
}

static void entries(struct om *m)
{
	const json_t *cpu, *state;
	size_t i, k;

	json_array_foreach (json_object_get(m->run->report, "cpus"), i, cpu)
		json_array_foreach (json_object_get(cpu, "states"), k, state) {
			begin(m, "tmigr_cpu_idle_entries_total");
			cpu_labels(m, cpu);
			label(m, "state", tmigr_rep_str(state, "name"));
			end_number(m, num(state, "entries"));
		}
}

/* ---- migrator ---- */

static void roots(struct om *m)
{
	static const char *const regimes[] = {"held", "handover", "duty", "free", "unknown"};
	const json_t *root;
	char key[32];
	size_t i, k;

	json_array_foreach (json_object_get(m->run->report, "roots"), i, root)
		for (k = 0; k < sizeof(regimes) / sizeof(regimes[0]); k++) {
			snprintf(key, sizeof(key), "%s_ns", regimes[k]);
			begin(m, "tmigr_root_seconds_total");
			label(m, "root", tmigr_rep_str(root, "group"));
			label(m, "regime", regimes[k]);
			end_seconds(m, num(root, key));
		}
}

static void holders(struct om *m, const char *name, const char *key, bool seconds)
{
	const json_t *root, *h;
	size_t i, k;

	json_array_foreach (json_object_get(m->run->report, "roots"), i, root)
		json_array_foreach (json_object_get(root, "holders"), k, h) {
			begin(m, name);
			cpu_labels(m, h);
			label(m, "root", tmigr_rep_str(root, "group"));
			if (seconds)
				end_seconds(m, num(h, key));
			else
				end_number(m, num(h, key));
		}
}

static void held(struct om *m)
{
	holders(m, "tmigr_migrator_held_seconds_total", "held_ns", true);
}

static void avoidable(struct om *m)
{
	holders(m, "tmigr_migrator_avoidable_seconds_total", "avoidable_ns", true);
}

static void holdings(struct om *m)
{
	holders(m, "tmigr_migrator_holdings_total", "holdings", false);
}

/* ---- remote expiries, by class: by CPU they would be a square ---- */

static size_t class_index(const json_t *classes, const char *name)
{
	size_t n = json_array_size(classes), i = 0;

	while (i < n && strcmp(tmigr_rep_str(json_array_get(classes, i), "name"), name))
		i++;
	return i;
}

static void remote(struct om *m)
{
	const json_t *report = m->run->report, *classes = json_object_get(report, "classes"), *r;
	size_t n = json_array_size(classes), i;
	json_int_t *counts = calloc((n + 1) * (n + 1), sizeof(*counts));

	json_array_foreach (json_object_get(report, "remote"), i, r) {
		size_t e =
			class_index(classes, tmigr_rep_class(report, tmigr_rep_u64(r, "executor")));
		size_t t =
			class_index(classes, tmigr_rep_class(report, tmigr_rep_u64(r, "target")));

		if (counts)
			counts[e * (n + 1) + t] += num(r, "count");
	}
	for (i = 0; counts && i < n * n; i++) {
		begin(m, "tmigr_remote_expiries_total");
		label(m, "executor_class", tmigr_rep_str(json_array_get(classes, i / n), "name"));
		label(m, "target_class", tmigr_rep_str(json_array_get(classes, i % n), "name"));
		end_number(m, counts[i / n * (n + 1) + i % n]);
	}
	free(counts);
}

/* ---- latency ---- */

/* @fn: samples of one state of one CPU. */
static void latency_states(struct om *m,
			   void (*fn)(struct om *m, const json_t *cpu, const json_t *state))
{
	const json_t *latency = json_object_get(m->run->report, "latency"), *cpu, *state;
	size_t i, k;

	json_array_foreach (json_object_get(latency, "cpus"), i, cpu)
		json_array_foreach (json_object_get(cpu, "states"), k, state)
			fn(m, cpu, state);
}

static void begin_state(struct om *m, const char *name, const json_t *cpu, const json_t *state)
{
	begin(m, name);
	cpu_labels(m, cpu);
	label(m, "state", tmigr_rep_str(state, "name"));
}

/* A sample of each cause: @key of the rows, by @end. */
static void causes(struct om *m, const json_t *cpu, const json_t *state, const char *name,
		   const char *key, void (*end)(struct om *m, json_int_t v))
{
	const json_t *row;
	size_t i;

	json_array_foreach (json_object_get(state, "wakeups"), i, row) {
		begin_state(m, name, cpu, state);
		label(m, "cause", tmigr_rep_str(row, "cause"));
		end(m, num(row, key));
	}
}

static void state_wakeups(struct om *m, const json_t *cpu, const json_t *state)
{
	causes(m, cpu, state, "tmigr_wakeups_total", "count", end_number);
}

static void wakeups(struct om *m)
{
	latency_states(m, state_wakeups);
}

static void state_awake(struct om *m, const json_t *cpu, const json_t *state)
{
	causes(m, cpu, state, "tmigr_wakeup_awake_seconds_total", "awake_ns", end_seconds);
}

static void awake(struct om *m)
{
	latency_states(m, state_awake);
}

/* A sample of each part of what idle costs. */
static void parts(struct om *m, const json_t *cpu, const json_t *state, const char *name,
		  const char *key, void (*end)(struct om *m, json_int_t v))
{
	static const char *const kinds[] = {"entry", "tmigr", "wake"};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		begin_state(m, name, cpu, state);
		label(m, "part", kinds[k]);
		end(m, num(json_object_get(state, kinds[k]), key));
	}
}

/* Sum and number: a mean over any window is their quotient. */
static void state_cost(struct om *m, const json_t *cpu, const json_t *state)
{
	parts(m, cpu, state, "tmigr_idle_cost_seconds_total", "sum_ns", end_seconds);
}

static void cost(struct om *m)
{
	latency_states(m, state_cost);
}

static void state_cost_n(struct om *m, const json_t *cpu, const json_t *state)
{
	parts(m, cpu, state, "tmigr_idle_cost_intervals_total", "n", end_number);
}

static void cost_n(struct om *m)
{
	latency_states(m, state_cost_n);
}

/* ---- the run ---- */

static void window(struct om *m)
{
	begin(m, "tmigr_window_seconds_total");
	end_seconds(m, num(m->run->report, "window_ns"));
}

static void lost(struct om *m)
{
	begin(m, "tmigr_lost_records_total");
	end_number(m, num(json_object_get(m->run->report, "lost"), "records"));
}

static void energy(struct om *m)
{
	const json_t *e;
	size_t i;

	json_array_foreach (json_object_get(m->run->report, "energy"), i, e) {
		begin(m, "tmigr_energy_joules_total");
		label(m, "domain", tmigr_rep_str(e, "domain"));
		fputc('}', m->f);
		put_fraction(m->f, num(e, "energy_uj"), 1000000, 6);
	}
}

/* ---- all ---- */

static const struct {
	const char *name, *unit, *help;
	void (*samples)(struct om *m);
	const char *needs; /* no family without it in a report */
} families[] = {
	{"tmigr_cpu_state_seconds", "seconds",
	 "Time of each CPU running, in each idle state, offline, or in a state not known.",
	 residency, NULL},
	{"tmigr_cpu_idle_entries", "", "Times that an idle state was entered.", entries, NULL},
	{"tmigr_root_seconds", "seconds",
	 "Time of the global migrator of each hierarchy by regime.", roots, NULL},
	{"tmigr_migrator_held_seconds", "seconds", "Time that a CPU held the global migrator.",
	 held, NULL},
	{"tmigr_migrator_avoidable_seconds", "seconds",
	 "Part of it in which a CPU of a lower class under the same root was awake.", avoidable,
	 NULL},
	{"tmigr_migrator_holdings", "", "Uninterrupted holdings of the global migrator.", holdings,
	 NULL},
	{"tmigr_remote_expiries", "",
	 "Times that a CPU of one class ran the timers of one of another.", remote, NULL},
	{"tmigr_window_seconds", "seconds", "Time that was measured.", window, NULL},
	{"tmigr_lost_records", "", "Records that found no room.", lost, NULL},
	{"tmigr_energy_joules", "joules", "Energy of a part of the machine.", energy, "energy"},
	{"tmigr_wakeups", "", "Idle intervals by what ended them.", wakeups, "latency"},
	{"tmigr_wakeup_awake_seconds", "seconds",
	 "Time from the wake-up to the switch to a task, or the next entry.", awake, "latency"},
	{"tmigr_idle_cost_seconds", "seconds",
	 "Time to enter idle (entry), timer migration's part of it (tmigr), and from a timer's "
	 "expiry to the wake-up (wake).",
	 cost, "latency"},
	{"tmigr_idle_cost_intervals", "", "Intervals in tmigr_idle_cost_seconds.", cost_n,
	 "latency"},
};

void tmigr_om_reports(FILE *f, const struct tmigr_om_run *runs, size_t n)
{
	struct om m = {.f = f};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		bool wanted = !families[i].needs;

		for (size_t k = 0; k < n && !wanted; k++)
			wanted = json_object_get(runs[k].report, families[i].needs);
		if (!wanted)
			continue;
		tmigr_om_family(f, families[i].name, "counter", families[i].unit, families[i].help);
		for (size_t k = 0; k < n; k++) {
			m.run = &runs[k];
			families[i].samples(&m);
		}
	}
}

void tmigr_om_end(FILE *f)
{
	fputs("# EOF\n", f);
}

void tmigr_om_number(FILE *f, const char *name, const char *type, const char *help,
		     json_int_t value)
{
	tmigr_om_family(f, name, type, "", help);
	fprintf(f, "%s%s %lld\n", name, strcmp(type, "counter") ? "" : "_total", (long long)value);
}

void tmigr_om_seconds(FILE *f, const char *name, const char *help, json_int_t ns)
{
	tmigr_om_family(f, name, "counter", "seconds", help);
	fprintf(f, "%s_total", name);
	put_fraction(f, ns, 1000000000, 9);
}
