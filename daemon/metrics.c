// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_int_t num(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const char *str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void family(FILE *f, const char *name, const char *type, const char *unit, const char *help)
{
	fprintf(f, "# TYPE %s %s\n", name, type);
	if (*unit)
		fprintf(f, "# UNIT %s %s\n", name, unit);
	fprintf(f, "# HELP %s %s\n", name, help);
}

/* A label's value with what must be escaped. */
static void label(FILE *f, const char *sep, const char *name, const char *value)
{
	fprintf(f, "%s%s=\"", sep, name);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			fputc('\\', f);
		if (*value == '\n')
			fputs("\\n", f);
		else
			fputc(*value, f);
	}
	fputc('"', f);
}

/* Nanoseconds as seconds, all digits. */
static void seconds(FILE *f, json_int_t ns)
{
	fprintf(f, " %lld.%09lld\n", (long long)(ns / 1000000000), (long long)(ns % 1000000000));
}

static void cpu_labels(FILE *f, const json_t *cpu)
{
	fprintf(f, "{cpu=\"%lld\"", (long long)num(cpu, "cpu"));
	label(f, ",", "class", str(cpu, "class"));
}

/* ---- residency ---- */

static void state_time(FILE *f, const json_t *cpu, const char *state, json_int_t ns)
{
	fputs("tmigr_cpu_state_seconds_total", f);
	cpu_labels(f, cpu);
	label(f, ",", "state", state);
	fputc('}', f);
	seconds(f, ns);
}

static void residency(FILE *f, const json_t *report)
{
	json_t *cpu, *state;
	size_t i, k;

	family(f, "tmigr_cpu_state_seconds", "counter", "seconds",
	       "Time of each CPU running, in each idle state, offline, or in a state not known.");
	json_array_foreach (json_object_get(report, "cpus"), i, cpu) {
		state_time(f, cpu, "running", num(cpu, "running_ns"));
		json_array_foreach (json_object_get(cpu, "states"), k, state)
			state_time(f, cpu, str(state, "name"), num(state, "time_ns"));
		state_time(f, cpu, "offline", num(cpu, "offline_ns"));
		state_time(f, cpu, "unknown", num(cpu, "unknown_ns"));
	}
	family(f, "tmigr_cpu_idle_entries", "counter", "", "Times that an idle state was entered.");
	json_array_foreach (json_object_get(report, "cpus"), i, cpu)
		json_array_foreach (json_object_get(cpu, "states"), k, state) {
			fputs("tmigr_cpu_idle_entries_total", f);
			cpu_labels(f, cpu);
			label(f, ",", "state", str(state, "name"));
			fprintf(f, "} %lld\n", (long long)num(state, "entries"));
		}
}

/* ---- migrator ---- */

static void regime(FILE *f, const json_t *root, const char *name, const char *key)
{
	fputs("tmigr_root_seconds_total", f);
	label(f, "{", "root", str(root, "group"));
	label(f, ",", "regime", name);
	fputc('}', f);
	seconds(f, num(root, key));
}

static void holder(FILE *f, const json_t *root, const json_t *h)
{
	cpu_labels(f, h);
	label(f, ",", "root", str(root, "group"));
	fputc('}', f);
}

static void migrator(FILE *f, const json_t *report)
{
	json_t *root, *h;
	size_t i, k;

	family(f, "tmigr_root_seconds", "counter", "seconds",
	       "Time of the global migrator of each hierarchy by regime.");
	json_array_foreach (json_object_get(report, "roots"), i, root) {
		regime(f, root, "held", "held_ns");
		regime(f, root, "handover", "handover_ns");
		regime(f, root, "duty", "duty_ns");
		regime(f, root, "free", "free_ns");
		regime(f, root, "unknown", "unknown_ns");
	}
	family(f, "tmigr_migrator_held_seconds", "counter", "seconds",
	       "Time that a CPU held the global migrator.");
	json_array_foreach (json_object_get(report, "roots"), i, root)
		json_array_foreach (json_object_get(root, "holders"), k, h) {
			fputs("tmigr_migrator_held_seconds_total", f);
			holder(f, root, h);
			seconds(f, num(h, "held_ns"));
		}
	family(f, "tmigr_migrator_holdings", "counter", "",
	       "Uninterrupted holdings of the global migrator.");
	json_array_foreach (json_object_get(report, "roots"), i, root)
		json_array_foreach (json_object_get(root, "holders"), k, h) {
			fputs("tmigr_migrator_holdings_total", f);
			holder(f, root, h);
			fprintf(f, " %lld\n", (long long)num(h, "holdings"));
		}
}

/* ---- remote expiries, by class: by CPU they would be a square ---- */

static const char *class_of(const json_t *report, json_int_t cpu)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(report, "cpus"), i, c)
		if (num(c, "cpu") == cpu)
			return str(c, "class");
	return "";
}

static json_int_t remote_count(const json_t *report, const char *executor, const char *target)
{
	json_int_t n = 0;
	json_t *r;
	size_t i;

	json_array_foreach (json_object_get(report, "remote"), i, r)
		if (!strcmp(class_of(report, num(r, "executor")), executor) &&
		    !strcmp(class_of(report, num(r, "target")), target))
			n += num(r, "count");
	return n;
}

static void remote(FILE *f, const json_t *report)
{
	json_t *classes = json_object_get(report, "classes"), *e, *t;
	size_t i, k;

	family(f, "tmigr_remote_expiries", "counter", "",
	       "Times that a CPU of one class ran the timers of one of another.");
	json_array_foreach (classes, i, e)
		json_array_foreach (classes, k, t) {
			fputs("tmigr_remote_expiries_total", f);
			label(f, "{", "executor_class", str(e, "name"));
			label(f, ",", "target_class", str(t, "name"));
			fprintf(f, "} %lld\n",
				(long long)remote_count(report, str(e, "name"), str(t, "name")));
		}
}

/* ---- the daemon ---- */

static void plain(FILE *f, const char *name, const char *type, const char *help, json_int_t value)
{
	family(f, name, type, "", help);
	fprintf(f, "%s%s %lld\n", name, strcmp(type, "counter") ? "" : "_total", (long long)value);
}

static void daemon_itself(FILE *f, const json_t *report, const json_t *status)
{
	const json_t *observer = json_object_get(status, "observer");
	const json_t *ns = json_object_get(observer, "bpf_ns");

	family(f, "tmigr_window_seconds", "counter", "seconds", "Time since the daemon started.");
	fputs("tmigr_window_seconds_total", f);
	seconds(f, num(report, "window_ns"));
	plain(f, "tmigr_lost_records", "counter", "Records that found no room.",
	      num(status, "lost_records"));
	plain(f, "tmigr_records", "counter", "Records written.", num(observer, "records"));
	if (json_is_integer(ns)) {
		family(f, "tmigr_bpf_seconds", "counter", "seconds", "Time of the BPF programs.");
		fputs("tmigr_bpf_seconds_total", f);
		seconds(f, json_integer_value(ns));
	}
	family(f, "tmigr_daemon_cpu_seconds", "counter", "seconds", "CPU time of the daemon.");
	fputs("tmigr_daemon_cpu_seconds_total", f);
	seconds(f, num(observer, "cpu_ns"));
	plain(f, "tmigr_daemon_wakeups", "counter", "Voluntary switches of the daemon.",
	      num(observer, "wakeups"));
	plain(f, "tmigr_daemon_clients", "gauge", "Connections.", num(status, "clients"));
	plain(f, "tmigr_daemon_resident_bytes", "gauge", "Resident memory.",
	      num(status, "resident_bytes"));
}

char *metrics_text(const json_t *report, const json_t *status)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int failed;

	if (!f)
		return NULL;
	residency(f, report);
	migrator(f, report);
	remote(f, report);
	daemon_itself(f, report, status);
	fputs("# EOF\n", f);
	failed = ferror(f);
	if (fclose(f) || failed) {
		free(text);
		return NULL;
	}
	return text;
}
