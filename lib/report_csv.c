// SPDX-License-Identifier: GPL-2.0-or-later
/* CSV views: the rows.  Columns: csv_columns.c. */
#include "csv_rows.h"

#include <errno.h>

#include "report_fmt.h"
#include "tmigr/report.h"

/* ---- runs ---- */

static void put_runs(struct csv *t, const json_t *report)
{
	csv_begin_row(t);
	csv_maybe(t, json_object_get(report, "start_time"));
	csv_key(t, report, "window_ns");
	csv_u64(t, json_array_size(json_object_get(report, "cpus")));
	csv_maybe(t, json_object_get(json_object_get(report, "kernel"), "release"));
	csv_maybe(t, json_object_get(json_object_get(report, "machine"), "model"));
	csv_maybe(t, json_object_get(report, "residency_source"));
	csv_maybe(t, json_object_get(json_object_get(report, "answer"), "big_share"));
	csv_maybe(t, json_object_get(json_object_get(report, "lost"), "records"));
	csv_maybe(t, json_object_get(report, "exit_status"));
	csv_maybe(t, json_object_get(report, "failed"));
	csv_maybe(t, json_object_get(report, "partial"));
	csv_end_row(t);
}

/* ---- residency ---- */

static void put_cpu(struct csv *t, const json_t *cpu)
{
	csv_begin_row(t);
	csv_key(t, cpu, "cpu");
	csv_text(t, tmigr_rep_str(cpu, "class"));
	csv_maybe(t, json_object_get(cpu, "capacity"));
}

/* A time that is no idle state: @state is "-1" or "". */
static void put_plain(struct csv *t, const json_t *cpu, const char *state, const char *name,
		      __u64 ns)
{
	put_cpu(t, cpu);
	csv_text(t, state);
	csv_text(t, name);
	csv_u64(t, ns);
	csv_empty(t, 3);
}

/* A time that is no part of running. */
static void put_other(struct csv *t, const json_t *cpu, const char *name, __u64 ns)
{
	put_plain(t, cpu, "", name, ns);
	csv_empty(t, 2);
	csv_end_row(t);
}

static void put_running(struct csv *t, const json_t *cpu)
{
	const json_t *parts = json_object_get(cpu, "running_tmigr");

	put_plain(t, cpu, "-1", "running", tmigr_rep_u64(cpu, "running_ns"));
	if (json_is_object(parts)) {
		csv_key(t, parts, "idle_ns");
		csv_key(t, parts, "unknown_ns");
	} else {
		csv_empty(t, 2);
	}
	csv_end_row(t);
}

static void put_state(struct csv *t, const json_t *cpu, const json_t *s)
{
	put_cpu(t, cpu);
	csv_key(t, s, "index");
	csv_text(t, tmigr_rep_str(s, "name"));
	csv_key(t, s, "time_ns");
	csv_key(t, s, "entries");
	csv_key(t, s, "above");
	csv_key(t, s, "below");
	csv_empty(t, 2);
	csv_end_row(t);
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
	csv_begin_row(t);
	csv_text(t, tmigr_rep_str(root, "group"));
	csv_key(t, h, "cpu");
	csv_text(t, tmigr_rep_str(h, "class"));
	csv_text(t, regimes[TMIGR_HELD]);
	csv_key(t, h, "held_ns");
	csv_key(t, h, "holdings");
	csv_key(t, h, "longest_ns");
	csv_key(t, h, "avoidable_ns");
	csv_key(t, h, "avoidable_unknown_ns");
	csv_end_row(t);
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
			csv_begin_row(t);
			csv_text(t, tmigr_rep_str(root, "group"));
			csv_empty(t, 2);
			csv_text(t, regimes[k]);
			csv_key(t, root, key);
			csv_empty(t, 4);
			csv_end_row(t);
		}
	}
}

/* ---- migrator-states ---- */

static void put_holder_state(struct csv *t, const json_t *root, const json_t *h, const char *index,
			     const char *name, __u64 ns)
{
	csv_begin_row(t);
	csv_text(t, tmigr_rep_str(root, "group"));
	csv_key(t, h, "cpu");
	csv_text(t, tmigr_rep_str(h, "class"));
	csv_text(t, index);
	csv_text(t, name);
	csv_u64(t, ns);
	csv_end_row(t);
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
		csv_begin_row(t);
		csv_key(t, p, "executor");
		csv_text(t, tmigr_rep_class(report, tmigr_rep_u64(p, "executor")));
		csv_key(t, p, "target");
		csv_text(t, tmigr_rep_class(report, tmigr_rep_u64(p, "target")));
		csv_key(t, p, "count");
		csv_maybe(t, json_object_get(p, "woke_executor"));
		csv_end_row(t);
	}
}

/* ---- metrics, energy ---- */

static void put_metrics(struct csv *t, const json_t *report)
{
	const json_t *m;
	size_t i;

	json_array_foreach (json_object_get(report, "metrics"), i, m) {
		csv_begin_row(t);
		csv_maybe(t, json_object_get(m, "name"));
		csv_maybe(t, json_object_get(m, "value"));
		csv_maybe(t, json_object_get(m, "unit"));
		csv_maybe(t, json_object_get(m, "better"));
		csv_end_row(t);
	}
}

static void put_energy(struct csv *t, const json_t *report)
{
	const json_t *e;
	size_t i;

	json_array_foreach (json_object_get(report, "energy"), i, e) {
		csv_begin_row(t);
		csv_maybe(t, json_object_get(e, "domain"));
		csv_maybe(t, json_object_get(e, "energy_uj"));
		csv_end_row(t);
	}
}

/* ---- hotplug ---- */

static void put_operation(struct csv *t, const json_t *report, const json_t *op, size_t number)
{
	csv_begin_row(t);
	csv_u64(t, number);
	csv_key(t, op, "cpu");
	csv_text(t, tmigr_rep_class(report, tmigr_rep_u64(op, "cpu")));
	csv_text(t, json_is_true(json_object_get(op, "up")) ? "up" : "down");
	csv_key(t, op, "start_ns");
	csv_key(t, op, "total_ns");
	csv_u64(t, tmigr_rep_is_whole(op));
}

static void put_step(struct csv *t, const json_t *s)
{
	csv_key(t, s, "step");
	csv_text(t, tmigr_rep_str(s, "name"));
	csv_u64(t, json_is_true(json_object_get(s, "own")));
	csv_u64(t, json_is_true(json_object_get(s, "back")));
	csv_key(t, s, "calls");
	csv_key(t, s, "time_ns");
}

static void put_hotplug(struct csv *t, const json_t *report)
{
	const json_t *hotplug = json_object_get(report, "hotplug"), *op, *s;
	size_t i, k;

	json_array_foreach (json_object_get(hotplug, "operations"), i, op) {
		json_array_foreach (json_object_get(op, "steps"), k, s) {
			put_operation(t, report, op, i + 1);
			put_step(t, s);
			csv_end_row(t);
		}
		put_operation(t, report, op, i + 1);
		csv_empty(t, 5);
		csv_key(t, op, "between_ns");
		csv_end_row(t);
	}
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
		[TMIGR_CSV_LATENCY] = csv_put_latency,
		[TMIGR_CSV_WAKEUPS] = csv_put_wakeups,
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

	csv_begin_row(&t);
	csv_text(&t, tmigr_rep_str(root, "group"));
	csv_text(&t, regimes[seg->regime]);
	if (seg->cpu >= 0) {
		csv_u64(&t, (__u64)seg->cpu);
		csv_text(&t, tmigr_rep_class(report, (__u64)seg->cpu));
	} else {
		csv_empty(&t, 2);
	}
	csv_u64(&t, seg->start_ns - start);
	csv_u64(&t, seg->end_ns - start);
	csv_end_row(&t);
	return ferror(out) ? -EIO : 0;
}

void tmigr_csv_begin(const struct tmigr_csv_run *run, FILE *out)
{
	struct csv t = {out, run, false};

	csv_begin_row(&t);
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
