// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Is this JSON a report?  The shape as a table of fields, so that what is
 * checked can be read beside docs/report-schema.md.
 */
#include <errno.h>
#include <string.h>

#include "report_fmt.h"
#include "tmigr/report.h"

enum kind { UINT, STRING, BOOL, SHARE, REAL, OBJECT, ARRAY, TEXTS };

enum { NULLABLE = 1, OPTIONAL = 2 };

struct shape {
	const char *key; /* NULL: end of the table */
	enum kind kind;
	unsigned int flags;
	const struct shape *members; /* OBJECT; ARRAY of objects; ARRAY of UINT when NULL */
};

static const struct shape class_shape[] = {
	{"name", STRING, 0, NULL},
	{"capacity", UINT, NULLABLE, NULL},
	{"cpus", STRING, 0, NULL},
	{0},
};

static const struct shape state_shape[] = {
	{"index", UINT, 0, NULL},   {"name", STRING, 0, NULL},
	{"time_ns", UINT, 0, NULL}, {"entries", UINT, 0, NULL},
	{"above", UINT, 0, NULL},   {"below", UINT, 0, NULL},
	{"hist", ARRAY, 0, NULL},   {0},
};

static const struct shape dist_shape[] = {
	{"n", UINT, 0, NULL},
	{"sum_ns", UINT, 0, NULL},
	{"p50_ns", UINT, NULLABLE, NULL},
	{"p99_ns", UINT, NULLABLE, NULL},
	{"max_ns", UINT, NULLABLE, NULL},
	{"hist", ARRAY, 0, NULL},
	{0},
};

#define WAKEUP_ROW                                                                                 \
	{"count", UINT, 0, NULL}, {"slept_ns", UINT, 0, NULL}, {"awake_ns", UINT, 0, NULL},        \
		{"expected", UINT, 0, NULL}, {"short", UINT, 0, NULL},                             \
		{"short_slept_ns", UINT, 0, NULL}, {"short_expected_ns", UINT, 0, NULL}, {0},

static const struct shape wakeup_shape[] = {{"cause", STRING, 0, NULL}, WAKEUP_ROW};

static const struct shape remote_wakeup_shape[] = {
	{"target", UINT, OPTIONAL, NULL}, {"target_class", STRING, 0, NULL}, WAKEUP_ROW};

static const struct shape irq_shape[] = {
	{"irq", UINT, 0, NULL}, {"name", STRING, 0, NULL}, WAKEUP_ROW};

static const struct shape latency_state_shape[] = {
	{"index", UINT, NULLABLE | OPTIONAL, NULL},
	{"name", STRING, 0, NULL},
	{"exit_latency_ns", UINT, NULLABLE, NULL},
	{"entries", UINT, 0, NULL},
	{"open_start", UINT, 0, NULL},
	{"open_end", UINT, 0, NULL},
	{"above", UINT, 0, NULL},
	{"below", UINT, 0, NULL},
	{"rejected", UINT, 0, NULL},
	{"entry", OBJECT, 0, dist_shape},
	{"tmigr", OBJECT, 0, dist_shape},
	{"wake", OBJECT, 0, dist_shape},
	{"remote_wakes", UINT, 0, NULL},
	{"wakeups", ARRAY, 0, wakeup_shape},
	{"remote", ARRAY, 0, remote_wakeup_shape},
	{"irqs", ARRAY, 0, irq_shape},
	{"detail_lost", UINT, 0, NULL},
	{0},
};

static const struct shape latency_class_shape[] = {
	{"class", STRING, 0, NULL},
	{"states", ARRAY, 0, latency_state_shape},
	{0},
};

static const struct shape latency_cpu_shape[] = {
	{"cpu", UINT, 0, NULL},
	{"class", STRING, 0, NULL},
	{"states", ARRAY, 0, latency_state_shape},
	{0},
};

static const struct shape latency_shape[] = {
	{"causes_known", BOOL, 0, NULL},       {"bpf_ns", UINT, NULLABLE, NULL},
	{"bpf_runs", UINT, NULLABLE, NULL},    {"classes", ARRAY, 0, latency_class_shape},
	{"cpus", ARRAY, 0, latency_cpu_shape}, {0},
};

static const struct shape running_shape[] = {
	{"active_ns", UINT, 0, NULL},
	{"idle_ns", UINT, 0, NULL},
	{"outside_ns", UINT, 0, NULL},
	{"unknown_ns", UINT, 0, NULL},
	{0},
};

static const struct shape cpu_shape[] = {
	{"cpu", UINT, 0, NULL},
	{"class", STRING, 0, NULL},
	{"capacity", UINT, NULLABLE, NULL},
	{"online", BOOL, 0, NULL},
	{"nohz_full", BOOL, OPTIONAL, NULL},
	{"running_ns", UINT, 0, NULL},
	{"running_tmigr", OBJECT, NULLABLE | OPTIONAL, running_shape},
	{"offline_ns", UINT, 0, NULL},
	{"unknown_ns", UINT, 0, NULL},
	{"states", ARRAY, 0, state_shape},
	{0},
};

static const struct shape holder_state_shape[] = {
	{"index", UINT, 0, NULL},
	{"name", STRING, 0, NULL},
	{"time_ns", UINT, 0, NULL},
	{0},
};

static const struct shape holder_shape[] = {
	{"cpu", UINT, 0, NULL},
	{"class", STRING, 0, NULL},
	{"held_ns", UINT, 0, NULL},
	{"holdings", UINT, 0, NULL},
	{"longest_ns", UINT, 0, NULL},
	{"running_ns", UINT, 0, NULL},
	{"unknown_state_ns", UINT, 0, NULL},
	{"idle_ns", ARRAY, 0, holder_state_shape},
	{"avoidable_ns", UINT, 0, NULL},
	{"avoidable_unknown_ns", UINT, 0, NULL},
	{0},
};

static const struct shape root_class_shape[] = {
	{"name", STRING, 0, NULL},
	{"n_cpus", UINT, 0, NULL},
	{"held_ns", UINT, 0, NULL},
	{"avoidable_ns", UINT, 0, NULL},
	{"avoidable_unknown_ns", UINT, 0, NULL},
	{0},
};

static const struct shape root_shape[] = {
	{"group", STRING, 0, NULL},	     {"cpus", STRING, 0, NULL},
	{"held_ns", UINT, 0, NULL},	     {"handover_ns", UINT, 0, NULL},
	{"duty_ns", UINT, 0, NULL},	     {"free_ns", UINT, 0, NULL},
	{"unknown_ns", UINT, 0, NULL},	     {"classes", ARRAY, 0, root_class_shape},
	{"holders", ARRAY, 0, holder_shape}, {0},
};

static const struct shape woke_shape[] = {
	{"index", UINT, NULLABLE, NULL},
	{"name", STRING, 0, NULL},
	{"count", UINT, 0, NULL},
	{0},
};

static const struct shape remote_shape[] = {
	{"executor", UINT, 0, NULL},	{"target", UINT, 0, NULL},
	{"count", UINT, 0, NULL},	{"woke_executor", UINT, NULLABLE, NULL},
	{"woke", ARRAY, 0, woke_shape}, {0},
};

static const struct shape group_shape[] = {
	{"name", STRING, 0, NULL},
	{"level", UINT, 0, NULL},
	{"parent", STRING, NULLABLE, NULL},
	{"root", STRING, NULLABLE, NULL},
	{"mask", UINT, 0, NULL},
	{"node", UINT, NULLABLE, NULL},
	{"cpus", STRING, 0, NULL},
	{0},
};

static const struct shape place_shape[] = {
	{"cpu", UINT, 0, NULL},
	{"group", STRING, NULLABLE, NULL},
	{"mask", UINT, NULLABLE, NULL},
	{0},
};

static const struct shape hierarchy_shape[] = {
	{"groups", ARRAY, 0, group_shape},
	{"cpus", ARRAY, 0, place_shape},
	{"unlearnt", STRING, 0, NULL},
	{0},
};

static const struct shape answer_shape[] = {
	{"big_holds", BOOL, NULLABLE, NULL},
	{"big_share", SHARE, NULLABLE, NULL},
	{"text", STRING, 0, NULL},
	{0},
};

static const struct shape lost_cpu_shape[] = {
	{"cpu", UINT, 0, NULL},
	{"records", UINT, 0, NULL},
	{0},
};

static const struct shape lost_shape[] = {
	{"records", UINT, 0, NULL},	    {"group_updates", UINT, 0, NULL},
	{"late_updates", UINT, 0, NULL},    {"remote_expiries", UINT, 0, NULL},
	{"cpus", ARRAY, 0, lost_cpu_shape}, {0},
};

static const struct shape observer_shape[] = {
	{"bpf_ns", UINT, NULLABLE, NULL},	    {"bpf_runs", UINT, NULLABLE, NULL},
	{"cpu_ns", UINT, NULLABLE, NULL},	    {"wakeups", UINT, NULLABLE, NULL},
	{"housekeeping_cpu", UINT, NULLABLE, NULL}, {"records", UINT, 0, NULL},
	{"drains", UINT, NULLABLE, NULL},	    {0},
};

static const struct shape metric_shape[] = {
	{"name", STRING, 0, NULL},
	{"value", REAL, 0, NULL},
	{"unit", STRING, 0, NULL},
	{"better", STRING, NULLABLE, NULL},
	{0},
};

static const struct shape energy_shape[] = {
	{"domain", STRING, 0, NULL},
	{"energy_uj", UINT, 0, NULL},
	{0},
};

static const struct shape changed_shape[] = {
	{"offline", STRING, OPTIONAL, NULL},
	{"timer_migration", UINT, OPTIONAL, NULL},
	{0},
};

static const struct shape hotplug_sum_shape[] = {
	{"count", UINT, 0, NULL},
	{"any_ns", UINT, 0, NULL},
	{0},
};

static const struct shape hotplug_step_shape[] = {
	{"step", UINT, 0, NULL},
	{"name", STRING, 0, NULL},
	{"time_ns", UINT, 0, NULL},
	{"calls", UINT, 0, NULL},
	{"own", BOOL, 0, NULL},
	{"back", BOOL, OPTIONAL, NULL},
	{"timer_migration", BOOL, OPTIONAL, NULL},
	{0},
};

static const struct shape hotplug_failed_shape[] = {
	{"step", UINT, 0, NULL},
	{"name", STRING, 0, NULL},
	{"errno", UINT, 0, NULL},
	{0},
};

static const struct shape hotplug_op_shape[] = {
	{"cpu", UINT, 0, NULL},
	{"up", BOOL, 0, NULL},
	{"start_ns", UINT, 0, NULL},
	{"total_ns", UINT, 0, NULL},
	{"asking_ns", UINT, 0, NULL},
	{"own_ns", UINT, 0, NULL},
	{"between_ns", UINT, 0, NULL},
	{"timer_migration_ns", UINT, 0, NULL},
	{"cut", TEXTS, 0, NULL},
	{"failed", OBJECT, NULLABLE, hotplug_failed_shape},
	{"steps", ARRAY, 0, hotplug_step_shape},
	{0},
};

static const struct shape hotplug_shape[] = {
	{"bring_ups", OBJECT, 0, hotplug_sum_shape},
	{"take_downs", OBJECT, 0, hotplug_sum_shape},
	{"lost", UINT, 0, NULL},
	{"callbacks", UINT, 0, NULL},
	{"operations", ARRAY, 0, hotplug_op_shape},
	{0},
};

static const struct shape report_shape[] = {
	{"label", STRING, OPTIONAL, NULL},
	{"run", UINT, OPTIONAL, NULL},
	{"failed", STRING, OPTIONAL, NULL},
	{"warmup_ns", UINT, OPTIONAL, NULL},
	{"settle_ns", UINT, OPTIONAL, NULL},
	{"changed", OBJECT, OPTIONAL, changed_shape},
	{"metrics", ARRAY, OPTIONAL, metric_shape},
	{"metric_notes", TEXTS, OPTIONAL, NULL},
	{"energy", ARRAY, OPTIONAL, energy_shape},
	{"hotplug", OBJECT, OPTIONAL, hotplug_shape},
	{"start_ns", UINT, 0, NULL},
	{"window_ns", UINT, 0, NULL},
	{"residency_source", STRING, 0, NULL},
	{"cpuidle_driver", STRING, 0, NULL},
	{"cpuidle_governor", STRING, 0, NULL},
	{"timer_migration", UINT, NULLABLE, NULL},
	{"timer_migration_end", UINT, NULLABLE | OPTIONAL, NULL},
	{"answer", OBJECT, 0, answer_shape},
	{"classes", ARRAY, 0, class_shape},
	{"roots", ARRAY, 0, root_shape},
	{"remote", ARRAY, 0, remote_shape},
	{"cpus", ARRAY, 0, cpu_shape},
	{"latency", OBJECT, OPTIONAL, latency_shape},
	{"hierarchy", OBJECT, 0, hierarchy_shape},
	{"lost", OBJECT, 0, lost_shape},
	{"observer", OBJECT, 0, observer_shape},
	{0},
};

/* Where a fault is: "roots[0].holders[2].held_ns". */
struct place {
	const struct place *up;
	const char *key;
	size_t index; /* of an array's element, when key is NULL */
};

static void place_text(const struct place *p, char *buf, size_t size)
{
	size_t n;

	if (!p) {
		buf[0] = '\0';
		return;
	}
	place_text(p->up, buf, size);
	n = strlen(buf);
	if (p->key)
		snprintf(buf + n, size - n, "%s%s", n ? "." : "", p->key);
	else
		snprintf(buf + n, size - n, "[%zu]", p->index);
}

static int fault(const struct place *p, const char *what, struct tmigr_err *err)
{
	char where[160];

	place_text(p, where, sizeof(where));
	return tmigr_fail(err, -EINVAL, "not a usable report: %s %s", where, what);
}

static int check_members(const json_t *obj, const struct shape *s, const struct place *at,
			 struct tmigr_err *err);

static int check_array(const json_t *v, const struct shape *members, const struct place *at,
		       struct tmigr_err *err)
{
	const json_t *e;
	size_t i;

	if (!json_is_array(v))
		return fault(at, "is not an array", err);
	json_array_foreach (v, i, e) {
		struct place here = {at, NULL, i};
		int ret = 0;

		if (members)
			ret = check_members(e, members, &here, err);
		else if (!json_is_integer(e) || json_integer_value(e) < 0)
			ret = fault(&here, "is not a count", err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int check_texts(const json_t *v, const struct place *at, struct tmigr_err *err)
{
	const json_t *e;
	size_t i;

	if (!json_is_array(v))
		return fault(at, "is not an array", err);
	json_array_foreach (v, i, e) {
		struct place here = {at, NULL, i};

		if (!json_is_string(e))
			return fault(&here, "is not a string", err);
	}
	return 0;
}

static int check_value(const json_t *v, const struct shape *s, const struct place *at,
		       struct tmigr_err *err)
{
	if (json_is_null(v) && s->flags & NULLABLE)
		return 0;
	switch (s->kind) {
	case UINT:
		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return fault(at, "is not a whole number from 0", err);
		return 0;
	case STRING:
		return json_is_string(v) ? 0 : fault(at, "is not a string", err);
	case BOOL:
		return json_is_boolean(v) ? 0 : fault(at, "is neither true nor false", err);
	case SHARE:
		if (!json_is_number(v) || !(json_number_value(v) >= 0 && json_number_value(v) <= 1))
			return fault(at, "is not a share from 0 to 1", err);
		return 0;
	case REAL:
		return json_is_number(v) ? 0 : fault(at, "is not a number", err);
	case TEXTS:
		return check_texts(v, at, err);
	case OBJECT:
		return check_members(v, s->members, at, err);
	default:
		return check_array(v, s->members, at, err);
	}
}

static int check_members(const json_t *obj, const struct shape *s, const struct place *at,
			 struct tmigr_err *err)
{
	if (!json_is_object(obj))
		return fault(at, "is not an object", err);
	for (; s->key; s++) {
		const json_t *v = json_object_get(obj, s->key);
		struct place here = {at, s->key, 0};
		int ret;

		if (!v && s->flags & OPTIONAL)
			continue;
		if (!v)
			return fault(&here, "is missing", err);
		ret = check_value(v, s, &here, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* CPU numbers of an array ascend: the views search them and make lists. */
static int check_order(const json_t *array, const char *key, struct tmigr_err *err)
{
	json_int_t last = -1;
	const json_t *cpu;
	size_t i;

	json_array_foreach (array, i, cpu) {
		struct place all = {NULL, key, 0}, here = {&all, NULL, i};
		json_int_t n = json_integer_value(json_object_get(cpu, "cpu"));

		if (n <= last || n > TMIGR_CPU_MAX)
			return fault(&here, "is out of order, or has no possible CPU number", err);
		last = n;
	}
	return 0;
}

/* A CPU's class is one that is listed. */
static int check_classes(const json_t *report, struct tmigr_err *err)
{
	const json_t *cpus = json_object_get(report, "cpus"), *cpu, *c;
	const json_t *classes = json_object_get(report, "classes");
	json_int_t last = -1;
	size_t i, k;

	json_array_foreach (cpus, i, cpu) {
		struct place array = {NULL, "cpus", 0}, here = {&array, NULL, i};
		json_int_t n = json_integer_value(json_object_get(cpu, "cpu"));
		bool found = false;

		if (n <= last || n > TMIGR_CPU_MAX)
			return fault(&here, "is out of order, or has no possible CPU number", err);
		last = n;
		json_array_foreach (classes, k, c)
			found |= !strcmp(tmigr_rep_str(c, "name"), tmigr_rep_str(cpu, "class"));
		if (!found)
			return fault(&here, "is of a class that is not listed", err);
	}
	return 0;
}

int tmigr_report_check(const json_t *report, struct tmigr_err *err)
{
	const json_t *version = json_object_get(report, "version");
	int ret;

	if (!json_is_object(report) || strcmp(tmigr_rep_str(report, "schema"), "tmigr-report"))
		return tmigr_fail(err, -EINVAL,
				  "not a report of tmigr (no \"schema\": "
				  "\"tmigr-report\")");
	if (!json_is_integer(version))
		return tmigr_fail(err, -EINVAL, "not a usable report: version is missing");
	if (json_integer_value(version) != TMIGR_REPORT_SCHEMA_VERSION)
		return tmigr_fail(
			err, -EINVAL, "report of schema version %lld, this tool reads version %d",
			(long long)json_integer_value(version), TMIGR_REPORT_SCHEMA_VERSION);
	ret = check_members(report, report_shape, NULL, err);
	if (ret == 0)
		ret = check_order(json_object_get(report, "cpus"), "cpus", err);
	if (ret == 0)
		ret = check_order(json_object_get(json_object_get(report, "hierarchy"), "cpus"),
				  "hierarchy.cpus", err);
	return ret < 0 ? ret : check_classes(report, err);
}
