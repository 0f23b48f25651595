// SPDX-License-Identifier: GPL-2.0-or-later
/* CSV views: what idle cost, and who ended it. */
#include <string.h>

#include "csv_rows.h"
#include "report_fmt.h"

static void begin_state(struct csv *t, const json_t *cpu, const json_t *state)
{
	csv_begin_row(t);
	csv_key(t, cpu, "cpu");
	csv_text(t, tmigr_rep_str(cpu, "class"));
	csv_maybe(t, json_object_get(state, "index"));
	csv_text(t, tmigr_rep_str(state, "name"));
}

static void put_dist(struct csv *t, const json_t *dist)
{
	csv_key(t, dist, "n");
	csv_key(t, dist, "sum_ns");
	csv_maybe(t, json_object_get(dist, "p50_ns"));
	csv_maybe(t, json_object_get(dist, "p99_ns"));
	csv_maybe(t, json_object_get(dist, "max_ns"));
}

static void put_latency_state(struct csv *t, const json_t *cpu, const json_t *state)
{
	static const char *const counts[] = {"entries", "open_start", "open_end",
					     "above",	"below",      "rejected"};

	begin_state(t, cpu, state);
	csv_maybe(t, json_object_get(state, "exit_latency_ns"));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		csv_key(t, state, counts[i]);
	put_dist(t, json_object_get(state, "entry"));
	put_dist(t, json_object_get(state, "tmigr"));
	put_dist(t, json_object_get(state, "wake"));
	csv_key(t, state, "remote_wakes");
	csv_end_row(t);
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
		csv_u64(t, v);
	}
	csv_end_row(t);
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
		csv_text(t, cause);
		csv_maybe(t, json_object_get(part, "irq"));
		csv_maybe(t, json_object_get(part, "name"));
		csv_maybe(t, json_object_get(part, "target"));
		csv_maybe(t, json_object_get(part, "target_class"));
		put_wakeup_figures(t, part, NULL);
	}
	if (counted(parts) >= tmigr_rep_u64(row, "count"))
		return;
	begin_state(t, cpu, state);
	csv_text(t, cause);
	csv_empty(t, 4);
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

void csv_put_latency(struct csv *t, const json_t *report)
{
	put_latency_states(t, report, put_latency_state);
}

void csv_put_wakeups(struct csv *t, const json_t *report)
{
	put_latency_states(t, report, put_causes);
}
