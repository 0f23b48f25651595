// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What was measured of latency over a window: memory and the lossless JSON form.
 *
 *   {"causes_known", "bpf_ns", "bpf_runs" (null: not measured),
 *    "cpus": [[{"slot", "entries", "rejected", "remote_wakes", "detail_lost",
 *     "open_start", "open_end", "dists": [[sum, max, [hist..]] by kind],
 *     "causes": [[row] by cause]}]],
 *    "details": [{"cpu", "slot", "cause", "arg", "name", "row": [row]}]}
 *
 * A row is the members of struct tmigr_lat_row in their order.  Slots where nothing
 * happened are left out, and zeros at the end of a histogram.
 */
#include "tmigr/totals.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/topology.h"

#define ROW_N (sizeof(struct tmigr_lat_row) / sizeof(__u64))

const char *tmigr_wake_cause_name(unsigned int cause)
{
	static const char *const names[] = {
		[TMIGR_WAKE_UNKNOWN] = "unknown",    [TMIGR_WAKE_TIMER] = "own-timer",
		[TMIGR_WAKE_REMOTE] = "remote-duty", [TMIGR_WAKE_RESCHED] = "reschedule-ipi",
		[TMIGR_WAKE_CALL] = "call-ipi",	     [TMIGR_WAKE_POLLED] = "polled",
		[TMIGR_WAKE_IRQ] = "device-irq",     [TMIGR_WAKE_OTHER] = "other",
	};

	return cause < TMIGR_WAKE_CAUSES ? names[cause] : "unknown";
}

struct tmigr_latency *tmigr_latency_new(size_t n_cpus, size_t n_details)
{
	struct tmigr_latency *lat = calloc(1, sizeof(*lat));

	if (!lat)
		return NULL;
	lat->n_cpus = n_cpus;
	lat->n_details = n_details;
	lat->cpus = calloc(n_cpus + 1, sizeof(*lat->cpus));
	lat->details = calloc(n_details + 1, sizeof(*lat->details));
	if (lat->cpus && lat->details)
		return lat;
	tmigr_latency_free(lat);
	return NULL;
}

void tmigr_latency_free(struct tmigr_latency *lat)
{
	if (!lat)
		return;
	free(lat->cpus);
	free(lat->details);
	free(lat);
}

void tmigr_lat_row_add(struct tmigr_lat_row *to, const struct tmigr_lat_row *row)
{
	__u64 *t = (__u64 *)to;
	const __u64 *r = (const __u64 *)row;

	for (size_t i = 0; i < ROW_N; i++)
		t[i] += r[i];
}

/* ---- to JSON ---- */

static json_t *u64(__u64 v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static json_t *u64s_to_json(const __u64 *v, size_t n)
{
	json_t *array = json_array();
	int bad = !array;

	for (size_t i = 0; i < n && !bad; i++)
		bad = json_array_append_new(array, u64(v[i]));
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *dist_to_json(const struct tmigr_lat_dist *dist, __u64 max_ns)
{
	size_t n = TMIGR_HIST_BUCKETS;

	while (n && !dist->hist[n - 1])
		n--;
	return json_pack("[o, o, o]", u64(dist->sum_ns), u64(max_ns), u64s_to_json(dist->hist, n));
}

static json_t *slot_to_json(const struct tmigr_latency_slot *slot, int s)
{
	const struct tmigr_lat_sums *sums = &slot->sums;
	json_t *dists = json_array(), *causes = json_array();
	int bad = !dists || !causes;

	for (int k = 0; k < TMIGR_LAT_KINDS && !bad; k++)
		bad = json_array_append_new(dists, dist_to_json(&sums->dist[k], slot->max_ns[k]));
	for (int c = 0; c < TMIGR_WAKE_CAUSES && !bad; c++)
		bad = json_array_append_new(causes,
					    u64s_to_json((const __u64 *)&sums->causes[c], ROW_N));
	if (bad) {
		json_decref(dists);
		json_decref(causes);
		return NULL;
	}
	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o}", "slot", s, "entries",
			 u64(sums->entries), "rejected", u64(sums->rejected), "remote_wakes",
			 u64(sums->remote_wakes), "detail_lost", u64(sums->detail_lost),
			 "open_start", slot->open_start, "open_end", slot->open_end, "dists", dists,
			 "causes", causes);
}

static bool is_nothing(const struct tmigr_latency_slot *slot)
{
	static const struct tmigr_latency_slot none;

	return !slot->open_start && !slot->open_end &&
	       !memcmp(&slot->sums, &none.sums, sizeof(none.sums)) &&
	       !memcmp(slot->max_ns, none.max_ns, sizeof(none.max_ns));
}

static json_t *cpu_to_json(const struct tmigr_latency_slot slots[TMIGR_SLOTS])
{
	json_t *array = json_array();
	int bad = !array;

	for (int s = 0; s < TMIGR_SLOTS && !bad; s++)
		if (!is_nothing(&slots[s]))
			bad = json_array_append_new(array, slot_to_json(&slots[s], s));
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *detail_to_json(const struct tmigr_latency_detail *d)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:s, s:o}", "cpu", u64(d->cpu), "slot", u64(d->slot),
			 "cause", u64(d->cause), "arg", u64(d->arg), "name", d->name, "row",
			 u64s_to_json((const __u64 *)&d->row, ROW_N));
}

json_t *tmigr_latency_to_json(const struct tmigr_latency *lat)
{
	json_t *cpus = json_array(), *details = json_array();
	int bad = !cpus || !details;

	for (size_t i = 0; i < lat->n_cpus && !bad; i++)
		bad = json_array_append_new(cpus, cpu_to_json(lat->cpus[i]));
	for (size_t i = 0; i < lat->n_details && !bad; i++)
		bad = json_array_append_new(details, detail_to_json(&lat->details[i]));
	if (bad) {
		json_decref(cpus);
		json_decref(details);
		return NULL;
	}
	return json_pack("{s:b, s:o, s:o, s:o, s:o}", "causes_known", lat->causes_known, "bpf_ns",
			 lat->bpf_known ? u64(lat->bpf_ns) : json_null(), "bpf_runs",
			 lat->bpf_known ? u64(lat->bpf_runs) : json_null(), "cpus", cpus, "details",
			 details);
}

/* ---- from JSON ---- */

static int get_u64(const json_t *json, __u64 *ret)
{
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return -EINVAL;
	*ret = (__u64)json_integer_value(json);
	return 0;
}

static int get_below(const json_t *object, const char *name, __u64 bound, unsigned int *ret)
{
	__u64 v;

	if (get_u64(json_object_get(object, name), &v) || v >= bound)
		return -EINVAL;
	*ret = (unsigned int)v;
	return 0;
}

static int get_u64s(const json_t *array, __u64 *v, size_t n, bool whole)
{
	size_t size = json_array_size(array);

	if (!json_is_array(array) || size > n || (whole && size != n))
		return -EINVAL;
	for (size_t i = 0; i < size; i++)
		if (get_u64(json_array_get(array, i), &v[i]))
			return -EINVAL;
	return 0;
}

/* What the report relies on. */
static bool adds_up(const struct tmigr_latency_slot *slot)
{
	__u64 sum = slot->open_end;

	for (int c = 0; c < TMIGR_WAKE_CAUSES; c++)
		sum += slot->sums.causes[c].count;
	return sum == slot->sums.entries + slot->open_start;
}

static int slot_from_json(const json_t *json, struct tmigr_latency_slot slots[TMIGR_SLOTS])
{
	const json_t *dists = json_object_get(json, "dists");
	const json_t *causes = json_object_get(json, "causes");
	struct tmigr_latency_slot *slot;
	unsigned int s;

	if (get_below(json, "slot", TMIGR_SLOTS, &s))
		return -EINVAL;
	slot = &slots[s];
	if (get_u64(json_object_get(json, "entries"), &slot->sums.entries) ||
	    get_u64(json_object_get(json, "rejected"), &slot->sums.rejected) ||
	    get_u64(json_object_get(json, "remote_wakes"), &slot->sums.remote_wakes) ||
	    get_u64(json_object_get(json, "detail_lost"), &slot->sums.detail_lost))
		return -EINVAL;
	slot->open_start = json_is_true(json_object_get(json, "open_start"));
	slot->open_end = json_is_true(json_object_get(json, "open_end"));
	for (size_t k = 0; k < TMIGR_LAT_KINDS; k++) {
		const json_t *dist = json_array_get(dists, k);

		if (get_u64(json_array_get(dist, 0), &slot->sums.dist[k].sum_ns) ||
		    get_u64(json_array_get(dist, 1), &slot->max_ns[k]) ||
		    get_u64s(json_array_get(dist, 2), slot->sums.dist[k].hist, TMIGR_HIST_BUCKETS,
			     false))
			return -EINVAL;
	}
	for (size_t c = 0; c < TMIGR_WAKE_CAUSES; c++)
		if (get_u64s(json_array_get(causes, c), (__u64 *)&slot->sums.causes[c], ROW_N,
			     true))
			return -EINVAL;
	return adds_up(slot) ? 0 : -EINVAL;
}

static int cpu_from_json(const json_t *json, struct tmigr_latency_slot slots[TMIGR_SLOTS])
{
	if (!json_is_array(json))
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(json); i++)
		if (slot_from_json(json_array_get(json, i), slots))
			return -EINVAL;
	return 0;
}

static int detail_from_json(const json_t *json, struct tmigr_latency_detail *d)
{
	const char *name = json_string_value(json_object_get(json, "name"));

	if (!name || strlen(name) >= sizeof(d->name) ||
	    get_below(json, "cpu", TMIGR_CPU_MAX + 1ULL, &d->cpu) ||
	    get_below(json, "slot", TMIGR_SLOTS, &d->slot) ||
	    get_below(json, "cause", TMIGR_WAKE_CAUSES, &d->cause) ||
	    get_below(json, "arg", 1ULL << 32, &d->arg) ||
	    get_u64s(json_object_get(json, "row"), (__u64 *)&d->row, ROW_N, true))
		return -EINVAL;
	memcpy(d->name, name, strlen(name));
	return 0;
}

static int parse(const json_t *json, struct tmigr_latency *lat, struct tmigr_err *err)
{
	const json_t *cpus = json_object_get(json, "cpus");
	const json_t *details = json_object_get(json, "details");
	const json_t *ns = json_object_get(json, "bpf_ns");

	lat->causes_known = json_is_true(json_object_get(json, "causes_known"));
	lat->bpf_known = !json_is_null(ns);
	if (lat->bpf_known && (get_u64(ns, &lat->bpf_ns) ||
			       get_u64(json_object_get(json, "bpf_runs"), &lat->bpf_runs)))
		return tmigr_fail(err, -EINVAL, "totals: the cost of latency is damaged");
	for (size_t i = 0; i < lat->n_cpus; i++)
		if (cpu_from_json(json_array_get(cpus, i), lat->cpus[i]))
			return tmigr_fail(err, -EINVAL,
					  "totals: entry %zu of the latency's \"cpus\" is damaged",
					  i);
	for (size_t i = 0; i < lat->n_details; i++)
		if (detail_from_json(json_array_get(details, i), &lat->details[i]))
			return tmigr_fail(
				err, -EINVAL,
				"totals: entry %zu of the latency's \"details\" is damaged", i);
	return 0;
}

int tmigr_latency_from_json(const json_t *json, struct tmigr_latency **ret, struct tmigr_err *err)
{
	const json_t *cpus = json_object_get(json, "cpus");
	const json_t *details = json_object_get(json, "details");
	struct tmigr_latency *lat;
	int r;

	if (!json_is_array(cpus) || !json_is_array(details))
		return tmigr_fail(err, -EINVAL,
				  "totals: the latency's \"cpus\" or \"details\" is missing");
	lat = tmigr_latency_new(json_array_size(cpus), json_array_size(details));
	if (!lat)
		return tmigr_fail(err, -ENOMEM, "totals: no memory");
	r = parse(json, lat, err);
	if (r) {
		tmigr_latency_free(lat);
		return r;
	}
	*ret = lat;
	return 0;
}
