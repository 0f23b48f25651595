// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Totals of a window: memory and the lossless JSON form.
 *
 *   {"cpus": [{"cpu", "lost", "records", "slots": [{"slot", "time_ns", "entries",
 *    "above", "below", "hist": [..]}]}],
 *    "remote": [{"executor", "target", "count", "woke": [[slot, n], ..]}],
 *    "remote_lost",
 *    "timeline": true where the records were counted, else left out,
 *    "latency": totals_latency.c, where it was asked for,
 *    "observer": {..}}
 *
 * Slots where everything is 0 are left out, and zeros at the end of "hist".
 */
#include "tmigr/totals.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "tmigr/topology.h"

void tmigr_window_totals_free(struct tmigr_window_totals *totals)
{
	if (!totals)
		return;
	free(totals->cpus);
	free(totals->remote);
	tmigr_latency_free(totals->latency);
	free(totals);
}

/* ---- to JSON ---- */

/* jansson's integers are signed: no figure here comes near the limit, but a
 * damaged one must not turn negative. */
static json_t *u64(__u64 v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static json_t *hist_to_json(const __u64 *hist)
{
	json_t *array = json_array();
	int n = TMIGR_HIST_BUCKETS;
	int bad = 0;

	while (n > 0 && !hist[n - 1])
		n--;
	for (int k = 0; k < n; k++)
		bad |= json_array_append_new(array, u64(hist[k]));
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

static bool slot_empty(const struct tmigr_totals_cpu *c, int s)
{
	__u64 any = c->time_ns[s] | c->entries[s] | c->above[s] | c->below[s];

	for (int k = 0; k < TMIGR_HIST_BUCKETS; k++)
		any |= c->hist[s][k];
	return !any;
}

static json_t *cpu_to_json(const struct tmigr_totals_cpu *c)
{
	json_t *slots = json_array();
	int bad = !slots;

	for (int s = 0; s < TMIGR_SLOTS && !bad; s++) {
		if (slot_empty(c, s))
			continue;
		bad = json_array_append_new(
			slots, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "slot", s, "time_ns",
					 u64(c->time_ns[s]), "entries", u64(c->entries[s]), "above",
					 u64(c->above[s]), "below", u64(c->below[s]), "hist",
					 hist_to_json(c->hist[s])));
	}
	if (bad) {
		json_decref(slots);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "cpu", u64(c->cpu), "lost", u64(c->lost),
			 "records", u64(c->records), "slots", slots);
}

static json_t *remote_to_json(const struct tmigr_totals_remote *r)
{
	json_t *woke = json_array();
	int bad = !woke;

	for (int s = 0; s < TMIGR_SLOTS && !bad; s++)
		if (r->woke[s])
			bad = json_array_append_new(woke, json_pack("[i, o]", s, u64(r->woke[s])));
	if (bad) {
		json_decref(woke);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "executor", u64(r->executor), "target",
			 u64(r->target), "count", u64(r->count), "woke", woke);
}

static json_t *observer_to_json(const struct tmigr_observer *o)
{
	return json_pack("{s:b, s:o, s:o, s:o, s:o, s:i, s:o, s:o}", "bpf_known", o->bpf_known,
			 "bpf_ns", u64(o->bpf_ns), "bpf_runs", u64(o->bpf_runs), "cpu_ns",
			 u64(o->cpu_ns), "wakeups", u64(o->wakeups), "housekeeping_cpu",
			 o->housekeeping_cpu, "records", u64(o->records), "drains", u64(o->drains));
}

json_t *tmigr_window_totals_to_json(const struct tmigr_window_totals *totals)
{
	json_t *cpus = json_array(), *remote = json_array(), *latency = NULL;
	int bad = !cpus || !remote;

	for (size_t i = 0; i < totals->n_cpus && !bad; i++)
		bad = json_array_append_new(cpus, cpu_to_json(&totals->cpus[i]));
	for (size_t i = 0; i < totals->n_remote && !bad; i++)
		bad = json_array_append_new(remote, remote_to_json(&totals->remote[i]));
	if (bad) {
		json_decref(cpus);
		json_decref(remote);
		return NULL;
	}
	if (totals->latency) {
		latency = tmigr_latency_to_json(totals->latency);
		if (!latency) {
			json_decref(cpus);
			json_decref(remote);
			return NULL;
		}
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o*, s:o*}", "cpus", cpus, "remote", remote,
			 "remote_lost", u64(totals->remote_lost), "observer",
			 observer_to_json(&totals->observer), "timeline",
			 totals->timeline ? json_true() : NULL, "latency", latency);
}

/* ---- from JSON ---- */

static int get_u64(const json_t *json, __u64 *ret)
{
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return -EINVAL;
	*ret = (__u64)json_integer_value(json);
	return 0;
}

static int member_u64(const json_t *object, const char *name, __u64 *ret)
{
	return get_u64(json_object_get(object, name), ret);
}

static int member_cpu(const json_t *object, const char *name, unsigned int *ret)
{
	__u64 v;

	if (member_u64(object, name, &v) || v > TMIGR_CPU_MAX)
		return -EINVAL;
	*ret = (unsigned int)v;
	return 0;
}

static int slot_from_json(const json_t *json, struct tmigr_totals_cpu *c)
{
	const json_t *hist = json_object_get(json, "hist");
	__u64 s;

	if (member_u64(json, "slot", &s) || s >= TMIGR_SLOTS || !json_is_array(hist) ||
	    json_array_size(hist) > TMIGR_HIST_BUCKETS)
		return -EINVAL;
	for (size_t k = 0; k < json_array_size(hist); k++)
		if (get_u64(json_array_get(hist, k), &c->hist[s][k]))
			return -EINVAL;
	if (member_u64(json, "time_ns", &c->time_ns[s]) ||
	    member_u64(json, "entries", &c->entries[s]) ||
	    member_u64(json, "above", &c->above[s]) || member_u64(json, "below", &c->below[s]))
		return -EINVAL;
	return 0;
}

static int cpu_from_json(const json_t *json, struct tmigr_totals_cpu *c)
{
	const json_t *slots = json_object_get(json, "slots");

	if (member_cpu(json, "cpu", &c->cpu) || member_u64(json, "lost", &c->lost) ||
	    member_u64(json, "records", &c->records) || !json_is_array(slots))
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(slots); i++)
		if (slot_from_json(json_array_get(slots, i), c))
			return -EINVAL;
	return 0;
}

static int remote_from_json(const json_t *json, struct tmigr_totals_remote *r)
{
	const json_t *woke = json_object_get(json, "woke");

	if (member_cpu(json, "executor", &r->executor) || member_cpu(json, "target", &r->target) ||
	    member_u64(json, "count", &r->count) || !json_is_array(woke))
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(woke); i++) {
		const json_t *pair = json_array_get(woke, i);
		__u64 s;

		if (get_u64(json_array_get(pair, 0), &s) || s >= TMIGR_SLOTS ||
		    get_u64(json_array_get(pair, 1), &r->woke[s]))
			return -EINVAL;
	}
	return 0;
}

static int observer_from_json(const json_t *json, struct tmigr_observer *o)
{
	const json_t *cpu = json_object_get(json, "housekeeping_cpu");
	const json_t *known = json_object_get(json, "bpf_known");

	if (!json_is_boolean(known) || !json_is_integer(cpu) || json_integer_value(cpu) < -1 ||
	    json_integer_value(cpu) > TMIGR_CPU_MAX)
		return -EINVAL;
	o->bpf_known = json_is_true(known);
	o->housekeeping_cpu = (int)json_integer_value(cpu);
	if (member_u64(json, "bpf_ns", &o->bpf_ns) || member_u64(json, "bpf_runs", &o->bpf_runs) ||
	    member_u64(json, "cpu_ns", &o->cpu_ns) || member_u64(json, "wakeups", &o->wakeups) ||
	    member_u64(json, "records", &o->records) || member_u64(json, "drains", &o->drains))
		return -EINVAL;
	return 0;
}

static int parse(const json_t *json, struct tmigr_window_totals *totals, struct tmigr_err *err)
{
	const json_t *cpus = json_object_get(json, "cpus");
	const json_t *remote = json_object_get(json, "remote");
	const json_t *lost = json_object_get(json, "remote_lost");
	const json_t *latency = json_object_get(json, "latency");

	for (size_t i = 0; i < totals->n_cpus; i++)
		if (cpu_from_json(json_array_get(cpus, i), &totals->cpus[i]))
			return tmigr_fail(err, -EINVAL, "totals: entry %zu of \"cpus\" is damaged",
					  i);
	for (size_t i = 0; i < totals->n_remote; i++)
		if (remote_from_json(json_array_get(remote, i), &totals->remote[i]))
			return tmigr_fail(err, -EINVAL,
					  "totals: entry %zu of \"remote\" is damaged", i);
	/* Recordings without it are older: then such a window had no totals at all
	 * where there was a loss. */
	if (lost && get_u64(lost, &totals->remote_lost))
		return tmigr_fail(err, -EINVAL, "totals: \"remote_lost\" is damaged");
	totals->timeline = json_is_true(json_object_get(json, "timeline"));
	if (observer_from_json(json_object_get(json, "observer"), &totals->observer))
		return tmigr_fail(err, -EINVAL, "totals: \"observer\" is missing or damaged");
	return latency ? tmigr_latency_from_json(latency, &totals->latency, err) : 0;
}

int tmigr_window_totals_from_json(const json_t *json, struct tmigr_window_totals **ret,
				  struct tmigr_err *err)
{
	const json_t *cpus = json_object_get(json, "cpus");
	const json_t *remote = json_object_get(json, "remote");
	struct tmigr_window_totals *totals;
	int r;

	if (!json_is_array(cpus) || !json_is_array(remote))
		return tmigr_fail(err, -EINVAL, "totals: \"cpus\" or \"remote\" is missing");
	totals = calloc(1, sizeof(*totals));
	if (!totals)
		return tmigr_fail(err, -ENOMEM, "totals: no memory");
	totals->n_cpus = json_array_size(cpus);
	totals->n_remote = json_array_size(remote);
	totals->cpus = calloc(totals->n_cpus + 1, sizeof(*totals->cpus));
	totals->remote = calloc(totals->n_remote + 1, sizeof(*totals->remote));
	if (!totals->cpus || !totals->remote)
		r = tmigr_fail(err, -ENOMEM, "totals: no memory");
	else
		r = parse(json, totals, err);
	if (r) {
		tmigr_window_totals_free(totals);
		return r;
	}
	*ret = totals;
	return 0;
}
