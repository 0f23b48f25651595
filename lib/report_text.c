// SPDX-License-Identifier: GPL-2.0-or-later
/* The report as text: head, answer block, notes, tables, the tool's own cost. */
#include "report_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/report.h"

size_t tmigr_names_index(struct tmigr_names *l, const char *name)
{
	const char **names;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->names[i], name))
			return i;
	names = reallocarray(l->names, l->n + 1, sizeof(*names));
	if (!names) {
		l->failed = true;
		return 0;
	}
	l->names = names;
	names[l->n] = name;
	return l->n++;
}

int tmigr_rep_class_index(const json_t *report, const char *name)
{
	int i;

	tmigr_rep_find(json_object_get(report, "classes"), "name", name, &i);
	return i;
}

/* ---- head ---- */

/* A string, or the member @key of an object. */
static const char *string_or(const json_t *value, const char *key)
{
	const char *s = json_string_value(value);

	return s ? s : tmigr_rep_str(value, key);
}

static void put_machine(const json_t *report, FILE *out)
{
	const json_t *classes = json_object_get(report, "classes"), *c;
	const json_t *cpus = json_object_get(report, "cpus"), *cpu;
	size_t i, k, n = json_array_size(cpus);

	fprintf(out, "%zu CPU%s", n, n == 1 ? "" : "s");
	if (json_array_size(classes) < 2)
		return;
	json_array_foreach (classes, i, c) {
		const char *name = tmigr_rep_str(c, "name");

		n = 0;
		json_array_foreach (cpus, k, cpu)
			n += !strcmp(tmigr_rep_str(cpu, "class"), name);
		fprintf(out, "%s%zu %s", i ? ", " : " (", n, name);
	}
	putc(')', out);
}

/* What @put writes, as a string. */
static char *as_text(const json_t *report, void (*put)(const json_t *report, FILE *out))
{
	char *text = NULL;
	size_t size = 0;
	FILE *mem = open_memstream(&text, &size);

	if (!mem)
		return NULL;
	put(report, mem);
	if (fclose(mem) == 0)
		return text;
	free(text);
	return NULL;
}

char *tmigr_text_machine(const json_t *report)
{
	return as_text(report, put_machine);
}

static void put_command(const json_t *report, FILE *out)
{
	const json_t *command = json_object_get(report, "command"), *word;
	const json_t *status = json_object_get(report, "exit_status");
	size_t i;

	if (!json_array_size(command))
		return;
	json_array_foreach (command, i, word)
		fprintf(out, "%s%s", i ? " " : "",
			json_is_string(word) ? json_string_value(word) : "?");
	if (json_is_integer(status))
		fprintf(out, " (exit status %lld)", (long long)json_integer_value(status));
}

char *tmigr_text_command(const json_t *report)
{
	return as_text(report, put_command);
}

/* The tool's own engine needs no word. */
static bool is_daemons(const json_t *report)
{
	const char *engine = tmigr_rep_str(report, "engine");

	return *engine && strcmp(engine, "own") != 0;
}

/* A trace that another tool made. */
static const json_t *import_of(const json_t *report)
{
	const json_t *import = json_object_get(report, "import");

	return json_is_object(import) ? import : NULL;
}

static void put_trace(const json_t *report, FILE *out)
{
	const json_t *import = import_of(report);
	__u64 skipped = tmigr_rep_u64(import, "skipped");
	char *text = NULL, events[64] = "", others[64] = "";

	if (!import)
		return;
	if (skipped)
		snprintf(others, sizeof(others), ", %llu others skipped",
			 (unsigned long long)skipped);
	/* (A recording that stops early does not know how many they were.) */
	if (json_is_integer(json_object_get(import, "events")))
		snprintf(events, sizeof(events), ", %llu events",
			 (unsigned long long)tmigr_rep_u64(import, "events"));
	if (asprintf(&text, "%s, %s%s%s", tmigr_rep_str(import, "file"),
		     tmigr_rep_str(import, "format"), events, others) < 0)
		return;
	tmigr_fmt_wrapped(out, "Trace:", text, 2);
	free(text);
}

void tmigr_text_head(const json_t *report, const char *title, FILE *out)
{
	const char *kernel = string_or(json_object_get(report, "kernel"), "release");
	const json_t *where = json_object_get(report, "machine");
	const char *machine = string_or(where, "model");
	char dur[TMIGR_FMT_MAX], *text = tmigr_text_machine(report);

	fprintf(out, "%s, %s on ", title, tmigr_fmt_dur(dur, tmigr_rep_u64(report, "window_ns")));
	tmigr_fmt_puts(out, text ? text : "");
	free(text);
	if (*kernel) {
		fputs(", Linux ", out);
		tmigr_fmt_puts(out, kernel);
	}
	putc('\n', out);
	if (!*machine)
		machine = tmigr_rep_str(where, "host");
	if (*machine)
		tmigr_fmt_wrapped(out, "Machine:", machine, 2);
	text = tmigr_text_command(report);
	if (text && *text)
		tmigr_fmt_wrapped(out, "Command:", text, 2);
	free(text);
	tmigr_text_run(report, out);
	put_trace(report, out);
	if (is_daemons(report))
		tmigr_fmt_wrapped(out, "Measured by:", tmigr_rep_str(report, "engine"), 2);
}

/* ---- notes: what a reader must know before trusting a figure ---- */

struct notes {
	tmigr_put_text put;
	void *arg;
};

__attribute__((format(printf, 2, 3))) static void put_note(const struct notes *to, const char *fmt,
							   ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	to->put(to->arg, text);
	free(text);
}

/* CPUs whose class is a guess, as a list: owned by the caller, NULL: none. */
static char *guessed_cpus(const json_t *report)
{
	const json_t *cpus = json_object_get(report, "cpus"), *c;
	unsigned int *list = calloc(json_array_size(cpus) + 1, sizeof(*list));
	char *text = NULL;
	size_t i, n = 0;

	if (!list)
		return NULL;
	json_array_foreach (cpus, i, c)
		if (json_is_true(json_object_get(c, "class_guessed")))
			list[n++] = (unsigned int)tmigr_rep_u64(c, "cpu");
	if (n)
		text = tmigr_cpulist_format(list, n);
	free(list);
	return text;
}

/* "6-7", owned by the caller; NULL: no CPU was busy with its tick off. */
static char *tick_off_cpus(const json_t *report, __u64 *ret_ns)
{
	const json_t *cpus = json_object_get(report, "cpus"), *c;
	unsigned int *list = calloc(json_array_size(cpus) + 1, sizeof(*list));
	__u64 window = tmigr_rep_u64(report, "window_ns");
	char *text = NULL;
	size_t i, n = 0;

	*ret_ns = 0;
	if (!list)
		return NULL;
	json_array_foreach (cpus, i, c) {
		if (!tmigr_rep_tick_off(c, window))
			continue;
		list[n++] = (unsigned int)tmigr_rep_u64(c, "cpu");
		*ret_ns += tmigr_rep_u64(json_object_get(c, "running_tmigr"), "idle_ns");
	}
	if (n)
		text = tmigr_cpulist_format(list, n);
	free(list);
	return text;
}

static void put_tick_off(const json_t *report, const struct notes *out)
{
	char buf[TMIGR_FMT_MAX];
	__u64 ns;
	char *cpus = tick_off_cpus(report, &ns);

	if (cpus)
		put_note(out,
			 "CPUs %s were idle to timer migration while they ran, for %s in all: "
			 "busy with the tick off (nohz_full), not asleep.",
			 cpus, tmigr_fmt_dur(buf, ns));
	free(cpus);
}

/* In the window, as far as its two ends tell. */
static void put_sysctl(const json_t *report, const struct notes *out)
{
	const json_t *start = json_object_get(report, "timer_migration");
	const json_t *end = json_object_get(report, "timer_migration_end");
	long long was = json_integer_value(start), is = json_integer_value(end);

	if (json_is_null(start) &&
	    !json_is_false(json_object_get(report, "timer_migration_hierarchy")))
		put_note(out, "what kernel.timer_migration was is not known.");
	else if (json_is_integer(start) && json_is_integer(end) && was != is)
		put_note(out,
			 "kernel.timer_migration was %lld at the start of the window and %lld at "
			 "its end: the figures are of both.",
			 was, is);
	else if (json_is_integer(start) && !was)
		put_note(out, "timer migration is switched off (kernel.timer_migration = 0).");
}

static void put_metric_notes(const json_t *report, const struct notes *out)
{
	const json_t *notes = json_object_get(report, "metric_notes"), *n;
	size_t i;

	json_array_foreach (notes, i, n) {
		if (i == 20) {
			put_note(out, "%zu of the like in all.", json_array_size(notes));
			return;
		}
		put_note(out, "%s.", json_is_string(n) ? json_string_value(n) : "?");
	}
}

void tmigr_text_notes(const json_t *report, tmigr_put_text put, void *arg)
{
	const struct notes to = {put, arg}, *out = &to;
	const json_t *partial = json_object_get(report, "partial");
	const char *unlearnt = tmigr_rep_str(json_object_get(report, "hierarchy"), "unlearnt");
	const char *failed = tmigr_rep_str(report, "failed");
	const char *why = tmigr_rep_str(report, "source_why");
	char *guessed = guessed_cpus(report);
	const json_t *text;
	size_t i;

	if (json_is_string(partial))
		put_note(out, "this report is of a part of the %s only (%s).",
			 import_of(report) ? "trace" : "run", json_string_value(partial));
	if (json_is_true(json_object_get(report, "interrupted")))
		put_note(out, "the run was interrupted.");
	else if (*failed)
		put_note(out, "this run failed (%s).", failed);
	json_array_foreach (json_object_get(import_of(report), "notes"), i, text)
		put_note(out, "%s", json_is_string(text) ? json_string_value(text) : "?");
	if (!strcmp(tmigr_rep_str(report, "source"), "ftrace"))
		put_note(out,
			 "measured by ftrace%s%s%s: what a CPU was in before its first event is "
			 "unknown, and residency is computed from the events.",
			 *why ? " (" : "", why, *why ? ")" : "");
	else if (!import_of(report) &&
		 !strcmp(tmigr_rep_str(report, "residency_source"), "timeline"))
		put_note(out, "residency is computed from the recorded events, not from the exact "
			      "counters of the live run.");
	if (json_is_false(json_object_get(report, "timeline")))
		put_note(out, "only idle states and remote expiries were measured (--no-timeline): "
			      "there is neither a hierarchy nor a migrator in this report.");
	put_sysctl(report, out);
	put_tick_off(report, out);
	if (*unlearnt && json_array_size(json_object_get(report, "roots")))
		put_note(out,
			 "the place of CPUs %s in the hierarchy never showed; what depends on it "
			 "is unknown.",
			 unlearnt);
	if (guessed)
		put_note(out,
			 "the class of CPUs %s is a guess: they were offline at the start and at "
			 "the end, and their capacity cannot be read then.",
			 guessed);
	free(guessed);
	put_metric_notes(report, out);
}

static void note_line(void *out, const char *text)
{
	tmigr_fmt_wrapped(out, "Note:", text, 2);
}

/* Named instants; the first ones where there are many. */
static void put_marks(const json_t *report, FILE *out)
{
	const json_t *marks = json_object_get(report, "marks"), *m;
	__u64 start_ns = tmigr_rep_u64(report, "start_ns");
	char *text = NULL;
	size_t i;

	json_array_foreach (marks, i, m) {
		__u64 t_ns = tmigr_rep_u64(m, "time_ns");

		if (i == 20) {
			fprintf(out, "Marks: %zu in all\n", json_array_size(marks));
			return;
		}
		if (asprintf(&text, "at %.6f s: %s",
			     t_ns > start_ns ? (double)(t_ns - start_ns) / 1e9 : 0.0,
			     tmigr_rep_str(m, "text")) < 0)
			return;
		tmigr_fmt_wrapped(out, "Mark:", text, 2);
		free(text);
	}
}

static void put_lost(const json_t *report, FILE *out)
{
	const json_t *lost = json_object_get(report, "lost"), *cpus, *c;
	__u64 records = tmigr_rep_u64(lost, "records");
	__u64 updates = tmigr_rep_u64(lost, "group_updates");
	__u64 expiries = tmigr_rep_u64(lost, "remote_expiries");
	size_t i;

	if (!records && !updates && !expiries) {
		fputs("nothing.", out);
		return;
	}
	fprintf(out, "%llu records", (unsigned long long)records);
	cpus = json_object_get(lost, "cpus");
	json_array_foreach (cpus, i, c) {
		/* Where a machine is wide, the first ones tell the story. */
		if (i == 8) {
			fprintf(out, ", ... %zu CPUs in all", json_array_size(cpus));
			break;
		}
		fprintf(out, "%sCPU %llu: %llu", i ? ", " : " (",
			(unsigned long long)tmigr_rep_u64(c, "cpu"),
			(unsigned long long)tmigr_rep_u64(c, "records"));
	}
	fprintf(out, "%s, %llu updates of groups; the time that this blurs is counted as unknown.",
		json_array_size(cpus) ? ")" : "", (unsigned long long)updates);
	if (expiries)
		fprintf(out, " %llu remote expiries not counted.", (unsigned long long)expiries);
}

char *tmigr_text_lost(const json_t *report)
{
	return as_text(report, put_lost);
}

/* ---- the tool's own cost ---- */

/* The part of it that --latency adds. */
static void put_latency_cost(const json_t *report, FILE *out)
{
	const json_t *latency = json_object_get(report, "latency");
	char buf[TMIGR_FMT_MAX];

	if (json_is_integer(json_object_get(latency, "bpf_ns")))
		fprintf(out, "of that, %llu times for %s by those for latency alone; ",
			(unsigned long long)tmigr_rep_u64(latency, "bpf_runs"),
			tmigr_fmt_dur(buf, tmigr_rep_u64(latency, "bpf_ns")));
}

static void put_bpf_cost(const json_t *report, const json_t *obs, FILE *mem)
{
	__u64 ns = tmigr_rep_u64(obs, "bpf_ns"), runs = tmigr_rep_u64(obs, "bpf_runs");
	__u64 n_cpus = json_array_size(json_object_get(report, "cpus"));
	__u64 window = tmigr_rep_u64(report, "window_ns");
	char buf[TMIGR_FMT_MAX];

	if (!strcmp(tmigr_rep_str(report, "source"), "ftrace")) {
		fputs("time of the kernel's own tracing not measured; ", mem);
		return;
	}
	if (!json_is_integer(json_object_get(obs, "bpf_ns"))) {
		fputs("time of the BPF programs not measured; ", mem);
		return;
	}
	if (!runs) {
		fputs("no BPF program ran; ", mem);
		return;
	}
	fprintf(mem, "BPF programs ran %llu time%s for %s in all (%.0f ns each",
		(unsigned long long)runs, runs == 1 ? "" : "s", tmigr_fmt_dur(buf, ns),
		(double)ns / (double)runs);
	if (window && n_cpus)
		fprintf(mem, ", %.4f %% of all CPUs' time",
			100.0 * (double)ns / ((double)window * (double)n_cpus));
	fputs("); ", mem);
	put_latency_cost(report, mem);
}

static void put_observer(const json_t *report, FILE *out)
{
	const json_t *obs = json_object_get(report, "observer");
	const json_t *cpu = json_object_get(obs, "housekeeping_cpu");
	char buf[TMIGR_FMT_MAX];

	put_bpf_cost(report, obs, out);
	if (json_is_integer(json_object_get(obs, "cpu_ns")))
		fprintf(out, "%s itself took %s of CPU time in %llu wake-ups",
			is_daemons(report) ? "the daemon" : "tmigr",
			tmigr_fmt_dur(buf, tmigr_rep_u64(obs, "cpu_ns")),
			(unsigned long long)tmigr_rep_u64(obs, "wakeups"));
	else
		fputs("what tmigr itself took is not known", out);
	if (json_is_integer(cpu))
		fprintf(out, " on CPU %lld", (long long)json_integer_value(cpu));
	fprintf(out, "; %llu records.", (unsigned long long)tmigr_rep_u64(obs, "records"));
}

char *tmigr_text_observer(const json_t *report)
{
	return as_text(report, put_observer);
}

static void wrapped(FILE *out, const char *first, char *text)
{
	if (text)
		tmigr_fmt_wrapped(out, first, text, 2);
	free(text);
}

int tmigr_report_text(const json_t *report, FILE *out)
{
	const json_t *root;
	size_t i;
	int ret = 0;

	tmigr_text_head(report, "Timer migration and idle states", out);
	json_array_foreach (json_object_get(report, "roots"), i, root)
		if (ret == 0)
			ret = tmigr_text_root(report, root, out);
	putc('\n', out);
	tmigr_text_remote_line(report, out);
	tmigr_fmt_wrapped(out, "Answer:", tmigr_rep_str(json_object_get(report, "answer"), "text"),
			  2);
	if (json_object_get(report, "latency"))
		wrapped(out, "Wake-ups:", tmigr_text_wakeups(report));
	tmigr_text_notes(report, note_line, out);
	put_marks(report, out);
	if (ret == 0)
		ret = tmigr_text_holdings(report, out);
	if (ret == 0)
		ret = tmigr_text_metrics(report, out);
	if (ret == 0)
		ret = tmigr_text_residency(report, out);
	if (ret == 0)
		ret = tmigr_text_latency(report, out);
	if (ret == 0)
		ret = tmigr_text_remote(report, out);
	if (ret == 0)
		ret = tmigr_text_hotplug(report, out);
	putc('\n', out);
	tmigr_text_energy(report, out);
	wrapped(out, "Lost:", tmigr_text_lost(report));
	if (!import_of(report))
		wrapped(out, "Observer:", tmigr_text_observer(report));
	if (ret < 0)
		return ret;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
