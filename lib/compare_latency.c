// SPDX-License-Identifier: GPL-2.0-or-later
/* What one report gives to a comparison where latency was measured: by class and state
 * entry cost and wake latency, by class and cause the wake-ups. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_priv.h"
#include "report_fmt.h"

static void add(struct tmigr_compare_table *t, size_t run, enum tmigr_group group,
		const char *class_name, const char *what, const char *unit, double v)
{
	bool cost = group != GROUP_WAKEUPS;
	struct tmigr_quantity_id id = {group, class_name, what, NULL, unit, cost ? "lower" : NULL,
				       -1,    NULL};
	char *name;

	if (asprintf(&name, "%s %s", class_name, what) < 0) {
		t->failed = true;
		return;
	}
	id.name = name;
	tmigr_compare_add(t, &id, run, v);
	free(name);
}

/* Nothing where there was no such interval: that is no latency of 0. */
static void add_dist(struct tmigr_compare_table *t, size_t run, enum tmigr_group group,
		     const char *class_name, const json_t *state, const char *kind)
{
	static const char *const quantiles[] = {"p50", "p99"};
	const json_t *dist = json_object_get(state, kind);

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		const json_t *v;
		char key[16], *what;

		snprintf(key, sizeof(key), "%s_ns", quantiles[i]);
		v = json_object_get(dist, key);
		if (!json_is_integer(v))
			continue;
		if (asprintf(&what, "%s %s", tmigr_rep_str(state, "name"), quantiles[i]) < 0) {
			t->failed = true;
			return;
		}
		add(t, run, group, class_name, what, "us", json_number_value(v) / 1e3);
		free(what);
	}
}

static void add_class(struct tmigr_compare_table *t, size_t run, const json_t *c)
{
	const char *name = tmigr_rep_str(c, "class");
	const json_t *state, *row;
	size_t i, k;

	/* So that none of it is a 0. */
	add(t, run, GROUP_WAKEUPS, name, "own-timer", "", 0);
	add(t, run, GROUP_WAKEUPS, name, "remote-duty", "", 0);
	json_array_foreach (json_object_get(c, "states"), i, state) {
		add_dist(t, run, GROUP_ENTRY_COST, name, state, "entry");
		add_dist(t, run, GROUP_WAKE_LATENCY, name, state, "wake");
		json_array_foreach (json_object_get(state, "wakeups"), k, row)
			add(t, run, GROUP_WAKEUPS, name, tmigr_rep_str(row, "cause"), "",
			    (double)tmigr_rep_u64(row, "count"));
	}
}

void tmigr_compare_latency(struct tmigr_compare_table *t, size_t run)
{
	const json_t *latency = json_object_get(t->set->runs[run].report, "latency"), *c;
	size_t i;

	json_array_foreach (json_object_get(latency, "classes"), i, c)
		add_class(t, run, c);
}
