// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report object (docs/report-schema.md) from the model's figures and the
 * maps' totals.  Key order is fixed; all times are integer nanoseconds.
 */
#include "report_parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void tmigr_put(json_t *obj, const char *key, json_t *value, bool *bad)
{
	/* set_new drops @value when it fails, and takes NULL for a failure. */
	if (json_object_set_new(obj, key, value) < 0)
		*bad = true;
}

json_t *tmigr_json_u64(__u64 v)
{
	return json_integer((json_int_t)(v > INT64_MAX ? INT64_MAX : v));
}

const char *tmigr_state_name(const struct tmigr_topo_cpu *cpu, unsigned int k, char buf[32])
{
	if (k < cpu->n_states)
		return cpu->states[k].name;
	if (!cpu->n_states && k < 2)
		return k ? "default idle" : "poll";
	snprintf(buf, 32, "state%u", k);
	return buf;
}

json_t *tmigr_json_capacity(unsigned int capacity)
{
	return capacity ? tmigr_json_u64(capacity) : json_null();
}

json_t *tmigr_json_cpulist(const unsigned int *cpus, size_t n)
{
	char *text = tmigr_cpulist_format(cpus, n);
	json_t *json = text ? json_string(text) : NULL;

	free(text);
	return json;
}

json_t *tmigr_whole(json_t *obj, bool bad)
{
	if (!bad)
		return obj;
	json_decref(obj);
	return NULL;
}

/* ---- classes and CPUs ---- */

static json_t *class_cpus(const struct tmigr_topology *topo, size_t class_idx)
{
	unsigned int *cpus = calloc(topo->n_cpus + 1, sizeof(*cpus));
	json_t *list;
	size_t n = 0;

	if (!cpus)
		return NULL;
	for (size_t i = 0; i < topo->n_cpus; i++)
		if (topo->cpus[i].class_idx == class_idx)
			cpus[n++] = topo->cpus[i].cpu;
	list = tmigr_json_cpulist(cpus, n);
	free(cpus);
	return list;
}

static json_t *build_classes(const struct tmigr_topology *topo)
{
	json_t *classes = json_array();
	bool bad = !classes;

	for (size_t i = 0; i < topo->n_classes && !bad; i++) {
		json_t *c = json_object();

		tmigr_put(c, "name", json_string(topo->classes[i].name), &bad);
		tmigr_put(c, "capacity", tmigr_json_capacity(topo->classes[i].capacity), &bad);
		tmigr_put(c, "cpus", class_cpus(topo, i), &bad);
		bad |= json_array_append_new(classes, c) < 0;
	}
	return tmigr_whole(classes, bad);
}

/* One CPU's residency, from the maps or from the timeline. */
struct residency {
	const __u64 *time_ns, *entries, *above, *below;
	const __u64 (*hist)[TMIGR_HIST_BUCKETS];
};

/* The maps' figures of topology index @i, when there are any. */
static const struct tmigr_totals_cpu *totals_cpu(const struct tmigr_report_source *in, size_t i)
{
	const struct tmigr_window_totals *t = in->totals;

	if (!t || i >= t->n_cpus || t->cpus[i].cpu != in->topo->cpus[i].cpu)
		return NULL;
	return &t->cpus[i];
}

static struct residency residency_of(const struct tmigr_report_source *in, size_t i)
{
	const struct tmigr_totals_cpu *t = totals_cpu(in, i);
	const struct tmigr_cpu_figures *f = &in->res->cpus[i];

	if (t)
		return (struct residency){t->time_ns, t->entries, t->above, t->below, t->hist};
	return (struct residency){f->time_ns, f->entries, f->above, f->below, f->hist};
}

json_t *tmigr_json_hist(const __u64 hist[TMIGR_HIST_BUCKETS])
{
	json_t *array = json_array();
	bool bad = !array;
	size_t n = TMIGR_HIST_BUCKETS;

	while (n && !hist[n - 1])
		n--;
	for (size_t k = 0; k < n && !bad; k++)
		bad |= json_array_append_new(array, tmigr_json_u64(hist[k])) < 0;
	return tmigr_whole(array, bad);
}

static json_t *build_states(const struct tmigr_topo_cpu *cpu, const struct residency *r)
{
	json_t *states = json_array();
	bool bad = !states;
	char buf[32];

	for (unsigned int k = 0; k < TMIGR_STATES && !bad; k++) {
		unsigned int slot = TMIGR_SLOT_STATE0 + k;
		json_t *s;

		if (k >= cpu->n_states && !r->time_ns[slot] && !r->entries[slot])
			continue;
		s = json_object();
		tmigr_put(s, "index", json_integer(k), &bad);
		tmigr_put(s, "name", json_string(tmigr_state_name(cpu, k, buf)), &bad);
		tmigr_put(s, "time_ns", tmigr_json_u64(r->time_ns[slot]), &bad);
		tmigr_put(s, "entries", tmigr_json_u64(r->entries[slot]), &bad);
		tmigr_put(s, "above", tmigr_json_u64(r->above[slot]), &bad);
		tmigr_put(s, "below", tmigr_json_u64(r->below[slot]), &bad);
		tmigr_put(s, "hist", tmigr_json_hist(r->hist[slot]), &bad);
		bad |= json_array_append_new(states, s) < 0;
	}
	return tmigr_whole(states, bad);
}

/* What is not measured at all: the hierarchy, on a kernel without it or by --no-timeline. */
static bool has_parts(const struct tmigr_report_source *in)
{
	return !json_is_false(json_object_get(in->info, "timeline")) &&
	       !json_is_false(json_object_get(in->info, "timer_migration_hierarchy"));
}

/*
 * What the CPU was to timer migration while it ran; it adds up to @running_ns.  That is
 * the maps' where there are any: time that the timeline does not know is not known.
 */
static json_t *build_parts(const struct tmigr_report_source *in, size_t i, __u64 running_ns)
{
	static const char *const keys[TMIGR_PARTS] = {"active_ns", "idle_ns", "outside_ns",
						      "unknown_ns"};
	const __u64 *ns = in->res->cpus[i].running_ns;
	__u64 told = ns[TMIGR_PART_ACTIVE] + ns[TMIGR_PART_IDLE] + ns[TMIGR_PART_OUTSIDE];
	json_t *parts;
	bool bad;

	if (!has_parts(in))
		return json_null();
	parts = json_object();
	bad = !parts;
	for (int k = 0; k < TMIGR_PART_UNKNOWN; k++)
		tmigr_put(parts, keys[k], tmigr_json_u64(told <= running_ns ? ns[k] : 0), &bad);
	tmigr_put(parts, keys[TMIGR_PART_UNKNOWN],
		  tmigr_json_u64(told <= running_ns ? running_ns - told : running_ns), &bad);
	return tmigr_whole(parts, bad);
}

static json_t *build_cpu(const struct tmigr_report_source *in, size_t i)
{
	const struct tmigr_topo_cpu *cpu = &in->topo->cpus[i];
	struct residency r = residency_of(in, i);
	json_t *c = json_object();
	bool bad = !c;

	tmigr_put(c, "cpu", tmigr_json_u64(cpu->cpu), &bad);
	tmigr_put(c, "class", json_string(in->topo->classes[cpu->class_idx].name), &bad);
	tmigr_put(c, "capacity", tmigr_json_capacity(cpu->capacity), &bad);
	if (cpu->class_guessed)
		tmigr_put(c, "class_guessed", json_true(), &bad);
	if (cpu->nohz_full)
		tmigr_put(c, "nohz_full", json_true(), &bad);
	tmigr_put(c, "online", json_boolean(cpu->online), &bad);
	tmigr_put(c, "running_ns", tmigr_json_u64(r.time_ns[TMIGR_SLOT_RUNNING]), &bad);
	tmigr_put(c, "running_tmigr", build_parts(in, i, r.time_ns[TMIGR_SLOT_RUNNING]), &bad);
	tmigr_put(c, "offline_ns", tmigr_json_u64(r.time_ns[TMIGR_SLOT_OFFLINE]), &bad);
	tmigr_put(c, "unknown_ns", tmigr_json_u64(r.time_ns[TMIGR_SLOT_UNKNOWN]), &bad);
	tmigr_put(c, "states", build_states(cpu, &r), &bad);
	return tmigr_whole(c, bad);
}

static json_t *build_cpus(const struct tmigr_report_source *in)
{
	json_t *cpus = json_array();
	bool bad = !cpus;

	for (size_t i = 0; i < in->topo->n_cpus && !bad; i++)
		bad |= json_array_append_new(cpus, build_cpu(in, i)) < 0;
	return tmigr_whole(cpus, bad);
}

/* ---- remote expiry ---- */

/* States of the executor that remote expiries ended, those that occurred. */
static json_t *build_woke(const struct tmigr_report_source *in, unsigned int executor,
			  const __u64 woke[TMIGR_SLOTS])
{
	int i = tmigr_topology_index(in->topo, executor);
	json_t *array = json_array();
	bool bad = !array;
	char buf[32];

	for (unsigned int slot = 0; slot < TMIGR_SLOTS && !bad; slot++) {
		unsigned int k = slot - TMIGR_SLOT_STATE0;
		bool state = slot >= TMIGR_SLOT_STATE0 && k < TMIGR_STATES && i >= 0;
		const char *name = "unknown";
		json_t *w;

		if (!woke[slot])
			continue;
		if (state)
			name = tmigr_state_name(&in->topo->cpus[i], k, buf);
		w = json_object();
		tmigr_put(w, "index", state ? json_integer(k) : json_null(), &bad);
		tmigr_put(w, "name", json_string(name), &bad);
		tmigr_put(w, "count", tmigr_json_u64(woke[slot]), &bad);
		bad |= json_array_append_new(array, w) < 0;
	}
	return tmigr_whole(array, bad);
}

static json_t *build_pair(const struct tmigr_report_source *in, unsigned int executor,
			  unsigned int target, __u64 count, const __u64 woke[TMIGR_SLOTS],
			  bool unknown)
{
	static const __u64 none[TMIGR_SLOTS];
	json_t *p = json_object();
	bool bad = !p;
	__u64 sum = 0;

	for (unsigned int slot = 0; slot < TMIGR_SLOTS; slot++)
		sum += woke[slot];
	tmigr_put(p, "executor", tmigr_json_u64(executor), &bad);
	tmigr_put(p, "target", tmigr_json_u64(target), &bad);
	tmigr_put(p, "count", tmigr_json_u64(count), &bad);
	tmigr_put(p, "woke_executor", unknown ? json_null() : tmigr_json_u64(sum), &bad);
	tmigr_put(p, "woke", build_woke(in, executor, unknown ? none : woke), &bad);
	return tmigr_whole(p, bad);
}

static json_t *build_remote(const struct tmigr_report_source *in)
{
	const struct tmigr_result *res = in->res;
	size_t n = in->totals ? in->totals->n_remote : res->n_remote;
	json_t *array = json_array();
	bool bad = !array;

	for (size_t i = 0; i < n && !bad; i++) {
		json_t *p;

		if (in->totals) {
			const struct tmigr_totals_remote *t = &in->totals->remote[i];

			p = build_pair(in, t->executor, t->target, t->count, t->woke, false);
		} else {
			const struct tmigr_remote *t = &res->remote[i];

			p = build_pair(in, t->executor, t->target, t->count, t->woke,
				       t->woke_unknown);
		}
		bad |= json_array_append_new(array, p) < 0;
	}
	return tmigr_whole(array, bad);
}

/* ---- loss and cost ---- */

static json_t *build_lost(const struct tmigr_report_source *in)
{
	const struct tmigr_result *res = in->res;
	json_t *lost = json_object(), *cpus = json_array();
	__u64 sum = 0;
	bool bad = !lost || !cpus;

	for (size_t i = 0; i < in->topo->n_cpus && !bad; i++) {
		const struct tmigr_totals_cpu *t = totals_cpu(in, i);

		if (!t || !t->lost)
			continue;
		sum += t->lost;
		bad |= json_array_append_new(cpus,
					     json_pack("{s:I, s:I}", "cpu", (json_int_t)t->cpu,
						       "records", (json_int_t)t->lost)) < 0;
	}
	/* The maps know all; the timeline only what LOST records told. */
	tmigr_put(lost, "records", tmigr_json_u64(in->totals ? sum : res->lost_records), &bad);
	tmigr_put(lost, "group_updates", tmigr_json_u64(res->lost_updates), &bad);
	tmigr_put(lost, "late_updates", tmigr_json_u64(res->late_updates), &bad);
	/* Without maps the expiries are counted from the records. */
	tmigr_put(lost, "remote_expiries", tmigr_json_u64(in->totals ? in->totals->remote_lost : 0),
		  &bad);
	tmigr_put(lost, "cpus", cpus, &bad);
	return tmigr_whole(lost, bad);
}

static json_t *known(bool is_known, __u64 v)
{
	return is_known ? tmigr_json_u64(v) : json_null();
}

static json_t *build_observer(const struct tmigr_report_source *in)
{
	static const struct tmigr_observer none = {.housekeeping_cpu = -1};
	const struct tmigr_observer *o = in->totals ? &in->totals->observer : &none;
	bool any = in->totals, pinned = o->housekeeping_cpu >= 0;
	json_t *obs = json_object();
	bool bad = !obs;

	tmigr_put(obs, "bpf_ns", known(o->bpf_known, o->bpf_ns), &bad);
	tmigr_put(obs, "bpf_runs", known(o->bpf_known, o->bpf_runs), &bad);
	tmigr_put(obs, "cpu_ns", known(any, o->cpu_ns), &bad);
	tmigr_put(obs, "wakeups", known(any, o->wakeups), &bad);
	tmigr_put(obs, "housekeeping_cpu", known(pinned, (__u64)o->housekeeping_cpu), &bad);
	tmigr_put(obs, "records", tmigr_json_u64(any ? o->records : in->res->records), &bad);
	tmigr_put(obs, "drains", known(any, o->drains), &bad);
	return tmigr_whole(obs, bad);
}

/* ---- the whole ---- */

static void put_figures(json_t *report, const struct tmigr_report_source *in, bool *bad)
{
	const struct tmigr_topology *topo = in->topo;
	const struct tmigr_result *res = in->res;
	bool sysctl = topo->timer_migration >= 0;

	tmigr_put(report, "start_ns", tmigr_json_u64(res->start_ns), bad);
	tmigr_put(report, "window_ns", tmigr_json_u64(res->end_ns - res->start_ns), bad);
	tmigr_put(report, "residency_source",
		  json_string(in->totals && !in->totals->timeline ? "maps" : "timeline"), bad);
	tmigr_put(report, "cpuidle_driver", json_string(topo->driver), bad);
	tmigr_put(report, "cpuidle_governor", json_string(topo->governor), bad);
	tmigr_put(report, "timer_migration", known(sysctl, (__u64)topo->timer_migration), bad);
	/* Its place is near the top; its value comes last. */
	tmigr_put(report, "answer", json_null(), bad);
	tmigr_put(report, "classes", build_classes(topo), bad);
	tmigr_put(report, "roots", tmigr_report_roots(in), bad);
	tmigr_put(report, "remote", build_remote(in), bad);
	tmigr_put(report, "cpus", build_cpus(in), bad);
	if (in->totals && in->totals->latency)
		tmigr_put(report, "latency", tmigr_report_latency(in), bad);
	tmigr_put(report, "hierarchy", tmigr_report_hierarchy(in), bad);
	tmigr_put(report, "lost", build_lost(in), bad);
	tmigr_put(report, "observer", build_observer(in), bad);
	if (!*bad)
		tmigr_put(report, "answer", tmigr_report_answer(report), bad);
}

json_t *tmigr_report_from(const struct tmigr_report_source *in)
{
	json_t *report = json_object(), *value;
	bool bad = !report;
	const char *key;
	void *tmp;

	tmigr_put(report, "schema", json_string("tmigr-report"), &bad);
	tmigr_put(report, "version", json_integer(TMIGR_REPORT_SCHEMA_VERSION), &bad);
	/* Whoever makes @info cannot overwrite a figure: they are set later. */
	json_object_foreach_safe((json_t *)in->info, tmp, key, value)
	{
		if (!json_object_get(report, key))
			tmigr_put(report, key, json_deep_copy(value), &bad);
	}
	put_figures(report, in, &bad);
	return tmigr_whole(report, bad);
}

json_t *tmigr_report_build(const struct tmigr_report_input *in)
{
	struct tmigr_hierarchy *h = NULL;
	struct tmigr_report_source source = {
		.topo = in->topo,
		.res = tmigr_model_result(in->model),
		.totals = in->totals,
		.info = in->info,
	};
	json_t *report;

	if (tmigr_model_hierarchy(in->model, &h) < 0)
		return NULL;
	source.h = h;
	report = tmigr_report_from(&source);
	tmigr_hierarchy_free(h);
	return report;
}
