// SPDX-License-Identifier: GPL-2.0-or-later
/* CSV views: the rows.  Columns: csv_columns.c. */
#include "report_fmt.h"

#include <errno.h>
#include <string.h>

#include "tmigr/csv.h"
#include "tmigr/report.h"

/* A table that is being written. */
struct csv {
	FILE *out;
	const struct tmigr_csv_run *run; /* NULL: a table of one run */
	bool begun;			 /* the row has a cell */
};

/* ---- cells ---- */

static void next_cell(struct csv *t)
{
	if (t->begun)
		putc(',', t->out);
	t->begun = true;
}

static void put_text(struct csv *t, const char *s)
{
	next_cell(t);
	tmigr_fmt_csv(t->out, s);
}

static void put_u64(struct csv *t, __u64 v)
{
	next_cell(t);
	fprintf(t->out, "%llu", (unsigned long long)v);
}

static void put_key(struct csv *t, const json_t *obj, const char *key)
{
	put_u64(t, tmigr_rep_u64(obj, key));
}

static void put_empty(struct csv *t, int n)
{
	while (n--)
		next_cell(t);
}

/* What may be absent: an empty cell then. */
static void put_maybe(struct csv *t, const json_t *v)
{
	if (json_is_integer(v)) {
		next_cell(t);
		fprintf(t->out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	} else if (json_is_real(v)) {
		next_cell(t);
		/* All of a value that was printed in decimal. */
		fprintf(t->out, "%.15g", json_real_value(v));
	} else {
		put_text(t, json_is_string(v) ? json_string_value(v) : "");
	}
}

static void begin_row(struct csv *t)
{
	if (!t->run)
		return;
	put_text(t, t->run->label);
	put_u64(t, t->run->run);
}

static void end_row(struct csv *t)
{
	putc('\n', t->out);
	t->begun = false;
}

/* ---- runs ---- */

static void put_runs(struct csv *t, const json_t *report)
{
	begin_row(t);
	put_maybe(t, json_object_get(report, "start_time"));
	put_key(t, report, "window_ns");
	put_u64(t, json_array_size(json_object_get(report, "cpus")));
	put_maybe(t, json_object_get(json_object_get(report, "kernel"), "release"));
	put_maybe(t, json_object_get(json_object_get(report, "machine"), "model"));
	put_maybe(t, json_object_get(report, "residency_source"));
	put_maybe(t, json_object_get(json_object_get(report, "answer"), "big_share"));
	put_maybe(t, json_object_get(json_object_get(report, "lost"), "records"));
	put_maybe(t, json_object_get(report, "exit_status"));
	put_maybe(t, json_object_get(report, "failed"));
	put_maybe(t, json_object_get(report, "partial"));
	end_row(t);
}

/* ---- residency ---- */

static void put_cpu(struct csv *t, const json_t *cpu)
{
	begin_row(t);
	put_key(t, cpu, "cpu");
	put_text(t, tmigr_rep_str(cpu, "class"));
	put_key(t, cpu, "capacity");
}

/* A time that is no idle state: @state is "-1" or "". */
static void put_plain(struct csv *t, const json_t *cpu, const char *state, const char *name,
		      __u64 ns)
{
	put_cpu(t, cpu);
	put_text(t, state);
	put_text(t, name);
	put_u64(t, ns);
	put_empty(t, 3);
}

/* A time that is no part of running. */
static void put_other(struct csv *t, const json_t *cpu, const char *name, __u64 ns)
{
	put_plain(t, cpu, "", name, ns);
	put_empty(t, 2);
	end_row(t);
}

static void put_running(struct csv *t, const json_t *cpu)
{
	const json_t *parts = json_object_get(cpu, "running_tmigr");

	put_plain(t, cpu, "-1", "running", tmigr_rep_u64(cpu, "running_ns"));
	if (json_is_object(parts)) {
		put_key(t, parts, "idle_ns");
		put_key(t, parts, "unknown_ns");
	} else {
		put_empty(t, 2);
	}
	end_row(t);
}

static void put_state(struct csv *t, const json_t *cpu, const json_t *s)
{
	put_cpu(t, cpu);
	put_key(t, s, "index");
	put_text(t, tmigr_rep_str(s, "name"));
	put_key(t, s, "time_ns");
	put_key(t, s, "entries");
	put_key(t, s, "above");
	put_key(t, s, "below");
	put_empty(t, 2);
	end_row(t);
}

static void put_residency(struct csv *t, const json_t *report)
{
	const json_t *cpu, *s;
	size_t i, k;

	json_array_foreach (json_object_get(report, "cpus"), i, cpu) {
		__u64 offline = tmigr_rep_u64(cpu, "offline_ns");
		__u64 unknown = tmigr_rep_u64(cpu, "unknown_ns");

		put_running(t, cpu);
		json_array_foreach (json_object_get(cpu, "states"), k, s)
			put_state(t, cpu, s);
		if (offline)
			put_other(t, cpu, "offline", offline);
		if (unknown)
			put_other(t, cpu, "unknown", unknown);
	}
}

/* ---- migrator ---- */

static const char *const regimes[TMIGR_REGIMES] = {
	[TMIGR_HELD] = "held", [TMIGR_HANDOVER] = "handover", [TMIGR_DUTY] = "duty",
	[TMIGR_FREE] = "free", [TMIGR_UNKNOWN] = "unknown",
};

static void put_holder(struct csv *t, const json_t *root, const json_t *h)
{
	begin_row(t);
	put_text(t, tmigr_rep_str(root, "group"));
	put_key(t, h, "cpu");
	put_text(t, tmigr_rep_str(h, "class"));
	put_text(t, regimes[TMIGR_HELD]);
	put_key(t, h, "held_ns");
	put_key(t, h, "holdings");
	put_key(t, h, "longest_ns");
	put_key(t, h, "avoidable_ns");
	put_key(t, h, "avoidable_unknown_ns");
	end_row(t);
}

static void put_migrator(struct csv *t, const json_t *report)
{
	const json_t *root, *h;
	char key[32];
	size_t i, k;

	json_array_foreach (json_object_get(report, "roots"), i, root) {
		json_array_foreach (json_object_get(root, "holders"), k, h)
			put_holder(t, root, h);
		for (k = TMIGR_HELD + 1; k < TMIGR_REGIMES; k++) {
			snprintf(key, sizeof(key), "%s_ns", regimes[k]);
			begin_row(t);
			put_text(t, tmigr_rep_str(root, "group"));
			put_empty(t, 2);
			put_text(t, regimes[k]);
			put_key(t, root, key);
			put_empty(t, 4);
			end_row(t);
		}
	}
}

/* ---- migrator-states ---- */

static void put_holder_state(struct csv *t, const json_t *root, const json_t *h, const char *index,
			     const char *name, __u64 ns)
{
	begin_row(t);
	put_text(t, tmigr_rep_str(root, "group"));
	put_key(t, h, "cpu");
	put_text(t, tmigr_rep_str(h, "class"));
	put_text(t, index);
	put_text(t, name);
	put_u64(t, ns);
	end_row(t);
}

static void put_holder_states(struct csv *t, const json_t *root, const json_t *h)
{
	__u64 unknown = tmigr_rep_u64(h, "unknown_state_ns");
	const json_t *s;
	char index[24];
	size_t i;

	put_holder_state(t, root, h, "-1", "running", tmigr_rep_u64(h, "running_ns"));
	json_array_foreach (json_object_get(h, "idle_ns"), i, s) {
		snprintf(index, sizeof(index), "%llu",
			 (unsigned long long)tmigr_rep_u64(s, "index"));
		put_holder_state(t, root, h, index, tmigr_rep_str(s, "name"),
				 tmigr_rep_u64(s, "time_ns"));
	}
	if (unknown)
		put_holder_state(t, root, h, "", "unknown", unknown);
}

static void put_migrator_states(struct csv *t, const json_t *report)
{
	const json_t *root, *h;
	size_t i, k;

	json_array_foreach (json_object_get(report, "roots"), i, root)
		json_array_foreach (json_object_get(root, "holders"), k, h)
			put_holder_states(t, root, h);
}

/* ---- remote ---- */

static void put_remote(struct csv *t, const json_t *report)
{
	const json_t *p;
	size_t i;

	json_array_foreach (json_object_get(report, "remote"), i, p) {
		begin_row(t);
		put_key(t, p, "executor");
		put_text(t, tmigr_rep_class(report, tmigr_rep_u64(p, "executor")));
		put_key(t, p, "target");
		put_text(t, tmigr_rep_class(report, tmigr_rep_u64(p, "target")));
		put_key(t, p, "count");
		put_key(t, p, "woke_executor");
		end_row(t);
	}
}

/* ---- metrics, energy ---- */

static void put_metrics(struct csv *t, const json_t *report)
{
	const json_t *m;
	size_t i;

	json_array_foreach (json_object_get(report, "metrics"), i, m) {
		begin_row(t);
		put_maybe(t, json_object_get(m, "name"));
		put_maybe(t, json_object_get(m, "value"));
		put_maybe(t, json_object_get(m, "unit"));
		put_maybe(t, json_object_get(m, "better"));
		end_row(t);
	}
}

static void put_energy(struct csv *t, const json_t *report)
{
	const json_t *e;
	size_t i;

	json_array_foreach (json_object_get(report, "energy"), i, e) {
		begin_row(t);
		put_maybe(t, json_object_get(e, "domain"));
		put_maybe(t, json_object_get(e, "energy_uj"));
		end_row(t);
	}
}

/* ---- hotplug ---- */

static void put_operation(struct csv *t, const json_t *report, const json_t *op, size_t number)
{
	begin_row(t);
	put_u64(t, number);
	put_key(t, op, "cpu");
	put_text(t, tmigr_rep_class(report, tmigr_rep_u64(op, "cpu")));
	put_text(t, json_is_true(json_object_get(op, "up")) ? "up" : "down");
	put_key(t, op, "start_ns");
	put_key(t, op, "total_ns");
	put_u64(t, tmigr_rep_is_whole(op));
}

static void put_step(struct csv *t, const json_t *s)
{
	put_key(t, s, "step");
	put_text(t, tmigr_rep_str(s, "name"));
	put_u64(t, json_is_true(json_object_get(s, "own")));
	put_u64(t, json_is_true(json_object_get(s, "back")));
	put_key(t, s, "calls");
	put_key(t, s, "time_ns");
}

static void put_hotplug(struct csv *t, const json_t *report)
{
	const json_t *hotplug = json_object_get(report, "hotplug"), *op, *s;
	size_t i, k;

	json_array_foreach (json_object_get(hotplug, "operations"), i, op) {
		json_array_foreach (json_object_get(op, "steps"), k, s) {
			put_operation(t, report, op, i + 1);
			put_step(t, s);
			end_row(t);
		}
		put_operation(t, report, op, i + 1);
		put_empty(t, 5);
		put_key(t, op, "between_ns");
		end_row(t);
	}
}

/* ---- latency ---- */

static void begin_state(struct csv *t, const json_t *cpu, const json_t *state)
{
	begin_row(t);
	put_key(t, cpu, "cpu");
	put_text(t, tmigr_rep_str(cpu, "class"));
	put_maybe(t, json_object_get(state, "index"));
	put_text(t, tmigr_rep_str(state, "name"));
}

static void put_dist(struct csv *t, const json_t *dist)
{
	put_key(t, dist, "n");
	put_key(t, dist, "sum_ns");
	put_maybe(t, json_object_get(dist, "p50_ns"));
	put_maybe(t, json_object_get(dist, "p99_ns"));
	put_maybe(t, json_object_get(dist, "max_ns"));
}

static void put_latency_state(struct csv *t, const json_t *cpu, const json_t *state)
{
	static const char *const counts[] = {"entries", "open_start", "open_end",
					     "above",	"below",      "rejected"};

	begin_state(t, cpu, state);
	put_maybe(t, json_object_get(state, "exit_latency_ns"));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		put_key(t, state, counts[i]);
	put_dist(t, json_object_get(state, "entry"));
	put_dist(t, json_object_get(state, "tmigr"));
	put_dist(t, json_object_get(state, "wake"));
	put_key(t, state, "remote_wakes");
	end_row(t);
}

/* @row: the figures, less those that the rows of @parts have told of. */
static void put_wakeup_figures(struct csv *t, const json_t *row, const json_t *parts)
{
	static const char *const keys[] = {
		"count", "slept_ns",	   "awake_ns",	       "expected",
		"short", "short_slept_ns", "short_expected_ns"};
	const json_t *part;
	size_t i;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		__u64 v = tmigr_rep_u64(row, keys[k]);

		json_array_foreach (parts, i, part)
			v -= tmigr_rep_u64(part, keys[k]);
		put_u64(t, v);
	}
	end_row(t);
}

static __u64 counted(const json_t *rows)
{
	const json_t *row;
	__u64 n = 0;
	size_t i;

	json_array_foreach (rows, i, row)
		n += tmigr_rep_u64(row, "count");
	return n;
}

/* A cause: by interrupt or by target where it has them; what found no room there in a
 * row of its own. */
static void put_cause(struct csv *t, const json_t *cpu, const json_t *state, const json_t *row)
{
	const char *cause = tmigr_rep_str(row, "cause");
	const json_t *parts = NULL, *part;
	size_t i;

	if (strcmp(cause, "device-irq") == 0)
		parts = json_object_get(state, "irqs");
	else if (strcmp(cause, "remote-duty") == 0)
		parts = json_object_get(state, "remote");
	json_array_foreach (parts, i, part) {
		begin_state(t, cpu, state);
		put_text(t, cause);
		put_maybe(t, json_object_get(part, "irq"));
		put_maybe(t, json_object_get(part, "name"));
		put_maybe(t, json_object_get(part, "target"));
		put_maybe(t, json_object_get(part, "target_class"));
		put_wakeup_figures(t, part, NULL);
	}
	if (counted(parts) >= tmigr_rep_u64(row, "count"))
		return;
	begin_state(t, cpu, state);
	put_text(t, cause);
	put_empty(t, 4);
	put_wakeup_figures(t, row, parts);
}

typedef void (*put_state_rows)(struct csv *t, const json_t *cpu, const json_t *state);

static void put_causes(struct csv *t, const json_t *cpu, const json_t *state)
{
	const json_t *row;
	size_t i;

	json_array_foreach (json_object_get(state, "wakeups"), i, row)
		put_cause(t, cpu, state, row);
}

static void put_latency_states(struct csv *t, const json_t *report, put_state_rows put)
{
	const json_t *cpus = json_object_get(json_object_get(report, "latency"), "cpus");
	const json_t *cpu, *state;
	size_t i, k;

	json_array_foreach (cpus, i, cpu)
		json_array_foreach (json_object_get(cpu, "states"), k, state)
			put(t, cpu, state);
}

static void put_latency(struct csv *t, const json_t *report)
{
	put_latency_states(t, report, put_latency_state);
}

static void put_wakeups(struct csv *t, const json_t *report)
{
	put_latency_states(t, report, put_causes);
}

/* ---- all ---- */

static int flushed(FILE *out)
{
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

int tmigr_csv_rows(enum tmigr_csv which, const json_t *report, const struct tmigr_csv_run *run,
		   FILE *out)
{
	static void (*const rows[TMIGR_CSV_TABLES])(struct csv *, const json_t *) = {
		[TMIGR_CSV_RUNS] = put_runs,
		[TMIGR_CSV_RESIDENCY] = put_residency,
		[TMIGR_CSV_MIGRATOR] = put_migrator,
		[TMIGR_CSV_MIGRATOR_STATES] = put_migrator_states,
		[TMIGR_CSV_REMOTE] = put_remote,
		[TMIGR_CSV_METRICS] = put_metrics,
		[TMIGR_CSV_ENERGY] = put_energy,
		[TMIGR_CSV_HOTPLUG] = put_hotplug,
		[TMIGR_CSV_LATENCY] = put_latency,
		[TMIGR_CSV_WAKEUPS] = put_wakeups,
	};
	struct csv t = {out, run, false};

	if (rows[which])
		rows[which](&t, report);
	return flushed(out);
}

int tmigr_csv_segment(const json_t *report, const struct tmigr_segment *seg,
		      const struct tmigr_csv_run *run, FILE *out)
{
	const json_t *root = json_array_get(json_object_get(report, "roots"), seg->root);
	__u64 start = tmigr_rep_u64(report, "start_ns");
	struct csv t = {out, run, false};

	begin_row(&t);
	put_text(&t, tmigr_rep_str(root, "group"));
	put_text(&t, regimes[seg->regime]);
	if (seg->cpu >= 0) {
		put_u64(&t, (__u64)seg->cpu);
		put_text(&t, tmigr_rep_class(report, (__u64)seg->cpu));
	} else {
		put_empty(&t, 2);
	}
	put_u64(&t, seg->start_ns - start);
	put_u64(&t, seg->end_ns - start);
	end_row(&t);
	return ferror(out) ? -EIO : 0;
}

void tmigr_csv_begin(const struct tmigr_csv_run *run, FILE *out)
{
	struct csv t = {out, run, false};

	begin_row(&t);
	if (t.begun)
		putc(',', out);
}

/* ---- a run directory's files ---- */

static int whole(enum tmigr_csv which, const json_t *report, FILE *out)
{
	tmigr_csv_head(which, false, out);
	return tmigr_csv_rows(which, report, NULL, out);
}

int tmigr_report_csv_residency(const json_t *report, FILE *out)
{
	return whole(TMIGR_CSV_RESIDENCY, report, out);
}

int tmigr_report_csv_migrator(const json_t *report, FILE *out)
{
	return whole(TMIGR_CSV_MIGRATOR, report, out);
}

int tmigr_report_csv_migrator_states(const json_t *report, FILE *out)
{
	return whole(TMIGR_CSV_MIGRATOR_STATES, report, out);
}

int tmigr_report_csv_remote(const json_t *report, FILE *out)
{
	return whole(TMIGR_CSV_REMOTE, report, out);
}

int tmigr_report_csv_metrics(const json_t *report, FILE *out)
{
	return whole(TMIGR_CSV_METRICS, report, out);
}

int tmigr_report_csv_energy(const json_t *report, FILE *out)
{
	return whole(TMIGR_CSV_ENERGY, report, out);
}

int tmigr_report_csv_hotplug(const json_t *report, FILE *out)
{
	return whole(TMIGR_CSV_HOTPLUG, report, out);
}

int tmigr_report_csv_latency(const json_t *report, FILE *out)
{
	return whole(TMIGR_CSV_LATENCY, report, out);
}

int tmigr_report_csv_wakeups(const json_t *report, FILE *out)
{
	return whole(TMIGR_CSV_WAKEUPS, report, out);
}

int tmigr_report_csv_segments_head(FILE *out)
{
	return tmigr_csv_head(TMIGR_CSV_SEGMENTS, false, out);
}

int tmigr_report_csv_segment(const json_t *report, const struct tmigr_segment *seg, FILE *out)
{
	return tmigr_csv_segment(report, seg, NULL, out);
}
