// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report's member "latency": what idle costs and who ended it, of each CPU, and of
 * each class by the state's name.
 */
#include "report_fmt.h"
#include "report_parts.h"

#include <stdlib.h>
#include <string.h>

/* States of CPUs that one object of the report is about: of one CPU, or those of a
 * class with one name. */
struct group {
	const struct tmigr_report_source *in;
	size_t class_idx;
	int cpu_idx; /* -1: all of the class */
	int slot;    /* of that CPU */
	const char *name;
};

static bool is_state(unsigned int slot)
{
	return slot >= TMIGR_SLOT_STATE0 && slot < TMIGR_SLOT_STATE0 + TMIGR_STATES;
}

static const char *slot_name(const struct tmigr_report_source *in, size_t i, unsigned int slot,
			     char buf[32])
{
	if (!is_state(slot))
		return "unknown";
	return tmigr_state_name(&in->topo->cpus[i], slot - TMIGR_SLOT_STATE0, buf);
}

static bool belongs(const struct group *g, size_t i, unsigned int slot)
{
	char buf[32];

	if (g->cpu_idx >= 0)
		return (size_t)g->cpu_idx == i && (unsigned int)g->slot == slot;
	return g->in->topo->cpus[i].class_idx == g->class_idx &&
	       strcmp(slot_name(g->in, i, slot, buf), g->name) == 0;
}

static bool was_used(const struct tmigr_latency_slot *s)
{
	return s->sums.entries || s->open_start || s->open_end;
}

/* ---- sums ---- */

struct sum {
	struct tmigr_lat_sums sums;
	__u64 max_ns[TMIGR_LAT_KINDS];
	__u64 above, below, open_start, open_end, claimed_us;
	bool claimed;
};

static void add_claim(const struct tmigr_topo_cpu *cpu, unsigned int slot, struct sum *sum)
{
	unsigned int k = slot - TMIGR_SLOT_STATE0;

	if (!is_state(slot) || k >= cpu->n_states)
		return;
	sum->claimed = true;
	if (cpu->states[k].latency_us > sum->claimed_us)
		sum->claimed_us = cpu->states[k].latency_us;
}

static void add_slot(const struct tmigr_report_source *in, size_t i, unsigned int slot,
		     struct sum *sum)
{
	const struct tmigr_latency_slot *s = &in->totals->latency->cpus[i][slot];
	const __u64 *from = (const __u64 *)&s->sums;
	__u64 *to = (__u64 *)&sum->sums;

	for (size_t k = 0; k < sizeof(s->sums) / sizeof(__u64); k++)
		to[k] += from[k];
	for (int k = 0; k < TMIGR_LAT_KINDS; k++)
		if (s->max_ns[k] > sum->max_ns[k])
			sum->max_ns[k] = s->max_ns[k];
	sum->open_start += s->open_start;
	sum->open_end += s->open_end;
	sum->above += in->totals->cpus[i].above[slot];
	sum->below += in->totals->cpus[i].below[slot];
	add_claim(&in->topo->cpus[i], slot, sum);
}

static void sum_group(const struct group *g, struct sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (size_t i = 0; i < g->in->topo->n_cpus; i++)
		for (unsigned int slot = 0; slot < TMIGR_SLOTS; slot++)
			if (belongs(g, i, slot))
				add_slot(g->in, i, slot, sum);
}

/* ---- distributions ---- */

/* Within a bucket of the histogram durations are taken as spread evenly. */
static __u64 quantile(const struct tmigr_lat_dist *dist, __u64 n, __u64 max_ns, double q)
{
	double rank = q * (double)n, before = 0, ns;

	for (int k = 0; k < TMIGR_HIST_BUCKETS; k++) {
		double in_bucket = (double)dist->hist[k], low = k ? (double)(1ULL << k) : 0;

		if (!dist->hist[k] || before + in_bucket < rank) {
			before += in_bucket;
			continue;
		}
		ns = low + ((double)(2ULL << k) - low) * (rank - before) / in_bucket;
		return ns > (double)max_ns ? max_ns : (__u64)ns;
	}
	return max_ns;
}

static json_t *build_dist(const struct tmigr_lat_dist *dist, __u64 max_ns)
{
	json_t *obj = json_object();
	bool bad = !obj;
	__u64 n = 0;

	for (int k = 0; k < TMIGR_HIST_BUCKETS; k++)
		n += dist->hist[k];
	tmigr_put(obj, "n", tmigr_json_u64(n), &bad);
	tmigr_put(obj, "sum_ns", tmigr_json_u64(dist->sum_ns), &bad);
	tmigr_put(obj, "p50_ns", n ? tmigr_json_u64(quantile(dist, n, max_ns, 0.5)) : json_null(),
		  &bad);
	tmigr_put(obj, "p99_ns", n ? tmigr_json_u64(quantile(dist, n, max_ns, 0.99)) : json_null(),
		  &bad);
	tmigr_put(obj, "max_ns", n ? tmigr_json_u64(max_ns) : json_null(), &bad);
	tmigr_put(obj, "hist", tmigr_json_hist(dist->hist), &bad);
	return tmigr_whole(obj, bad);
}

/* ---- causes ---- */

static void put_row(json_t *obj, const struct tmigr_lat_row *row, bool *bad)
{
	tmigr_put(obj, "count", tmigr_json_u64(row->count), bad);
	tmigr_put(obj, "slept_ns", tmigr_json_u64(row->slept_ns), bad);
	tmigr_put(obj, "awake_ns", tmigr_json_u64(row->awake_ns), bad);
	tmigr_put(obj, "expected", tmigr_json_u64(row->expected_n), bad);
	tmigr_put(obj, "short", tmigr_json_u64(row->short_n), bad);
	tmigr_put(obj, "short_slept_ns", tmigr_json_u64(row->short_slept_ns), bad);
	tmigr_put(obj, "short_expected_ns", tmigr_json_u64(row->short_expected_ns), bad);
}

static json_t *build_causes(const struct tmigr_lat_sums *sums)
{
	json_t *array = json_array();
	bool bad = !array;

	for (unsigned int c = 0; c < TMIGR_WAKE_CAUSES && !bad; c++) {
		json_t *obj;

		if (!sums->causes[c].count)
			continue;
		obj = json_object();
		tmigr_put(obj, "cause", json_string(tmigr_wake_cause_name(c)), &bad);
		put_row(obj, &sums->causes[c], &bad);
		bad |= json_array_append_new(array, obj) < 0;
	}
	return tmigr_whole(array, bad);
}

/* The class of a CPU whose timers ran; it may have left the topology's list. */
static const char *target_class(const struct tmigr_report_source *in, unsigned int cpu)
{
	int i = tmigr_topology_index(in->topo, cpu);

	return i < 0 ? "?" : in->topo->classes[in->topo->cpus[i].class_idx].name;
}

/* What details of a group are put together by: @a counts to @b's row. */
static bool alike(const struct group *g, const struct tmigr_latency_detail *a,
		  const struct tmigr_latency_detail *b)
{
	if (a->cause == TMIGR_WAKE_REMOTE && g->cpu_idx < 0)
		return strcmp(target_class(g->in, a->arg), target_class(g->in, b->arg)) == 0;
	return a->arg == b->arg && strcmp(a->name, b->name) == 0;
}

/* The details of one cause in @g, put together; *@ret is the caller's. */
static int merge_details(const struct group *g, unsigned int cause,
			 struct tmigr_latency_detail **ret, size_t *ret_n)
{
	const struct tmigr_latency *lat = g->in->totals->latency;
	size_t n = 0, k;

	*ret = calloc(lat->n_details + 1, sizeof(**ret));
	if (!*ret)
		return -1;
	for (size_t i = 0; i < lat->n_details; i++) {
		const struct tmigr_latency_detail *d = &lat->details[i];
		int cpu = tmigr_topology_index(g->in->topo, d->cpu);

		if (d->cause != cause || cpu < 0 || !belongs(g, (size_t)cpu, d->slot))
			continue;
		for (k = 0; k < n && !alike(g, &(*ret)[k], d); k++)
			;
		if (k < n)
			tmigr_lat_row_add(&(*ret)[k].row, &d->row);
		else
			(*ret)[n++] = *d;
	}
	*ret_n = n;
	return 0;
}

static json_t *build_details(const struct group *g, unsigned int cause)
{
	struct tmigr_latency_detail *d;
	json_t *array = json_array();
	bool bad = !array;
	size_t n;

	if (merge_details(g, cause, &d, &n))
		return tmigr_whole(array, true);
	for (size_t i = 0; i < n && !bad; i++) {
		json_t *obj = json_object();

		if (cause == TMIGR_WAKE_IRQ) {
			tmigr_put(obj, "irq", tmigr_json_u64(d[i].arg), &bad);
			/* The kernel's text may be any bytes. */
			tmigr_put(obj, "name", tmigr_json_text(d[i].name), &bad);
		} else {
			if (g->cpu_idx >= 0)
				tmigr_put(obj, "target", tmigr_json_u64(d[i].arg), &bad);
			tmigr_put(obj, "target_class", json_string(target_class(g->in, d[i].arg)),
				  &bad);
		}
		put_row(obj, &d[i].row, &bad);
		bad |= json_array_append_new(array, obj) < 0;
	}
	free(d);
	return tmigr_whole(array, bad);
}

/* ---- a state ---- */

static json_t *build_state(const struct group *g)
{
	static const char *const kinds[] = {[TMIGR_LAT_ENTRY] = "entry",
					    [TMIGR_LAT_TMIGR] = "tmigr",
					    [TMIGR_LAT_WAKE] = "wake"};
	json_t *obj = json_object();
	bool bad = !obj;
	struct sum sum;

	sum_group(g, &sum);
	if (g->cpu_idx >= 0)
		tmigr_put(obj, "index",
			  is_state((unsigned)g->slot) ? json_integer(g->slot - TMIGR_SLOT_STATE0)
						      : json_null(),
			  &bad);
	tmigr_put(obj, "name", json_string(g->name), &bad);
	tmigr_put(obj, "exit_latency_ns",
		  sum.claimed ? tmigr_json_u64(sum.claimed_us * 1000) : json_null(), &bad);
	tmigr_put(obj, "entries", tmigr_json_u64(sum.sums.entries), &bad);
	tmigr_put(obj, "open_start", tmigr_json_u64(sum.open_start), &bad);
	tmigr_put(obj, "open_end", tmigr_json_u64(sum.open_end), &bad);
	tmigr_put(obj, "above", tmigr_json_u64(sum.above), &bad);
	tmigr_put(obj, "below", tmigr_json_u64(sum.below), &bad);
	tmigr_put(obj, "rejected", tmigr_json_u64(sum.sums.rejected), &bad);
	for (int k = 0; k < TMIGR_LAT_KINDS; k++)
		tmigr_put(obj, kinds[k], build_dist(&sum.sums.dist[k], sum.max_ns[k]), &bad);
	tmigr_put(obj, "remote_wakes", tmigr_json_u64(sum.sums.remote_wakes), &bad);
	tmigr_put(obj, "wakeups", build_causes(&sum.sums), &bad);
	tmigr_put(obj, "remote", build_details(g, TMIGR_WAKE_REMOTE), &bad);
	tmigr_put(obj, "irqs", build_details(g, TMIGR_WAKE_IRQ), &bad);
	tmigr_put(obj, "detail_lost", tmigr_json_u64(sum.sums.detail_lost), &bad);
	return tmigr_whole(obj, bad);
}

static json_t *build_cpu(const struct tmigr_report_source *in, size_t i)
{
	const struct tmigr_topo_cpu *cpu = &in->topo->cpus[i];
	json_t *obj = json_object(), *states = json_array();
	bool bad = !obj || !states;
	char buf[32];

	for (unsigned int slot = 0; slot < TMIGR_SLOTS && !bad; slot++) {
		struct group g = {.in = in, .cpu_idx = (int)i, .slot = (int)slot};

		if (!was_used(&in->totals->latency->cpus[i][slot]))
			continue;
		g.name = slot_name(in, i, slot, buf);
		bad |= json_array_append_new(states, build_state(&g)) < 0;
	}
	tmigr_put(obj, "cpu", tmigr_json_u64(cpu->cpu), &bad);
	tmigr_put(obj, "class", json_string(in->topo->classes[cpu->class_idx].name), &bad);
	tmigr_put(obj, "states", states, &bad);
	return tmigr_whole(obj, bad);
}

static json_t *class_states(const struct tmigr_report_source *in, size_t class_idx)
{
	json_t *states = json_array();
	bool bad = !states;
	char buf[32];

	for (unsigned int slot = 0; slot < TMIGR_SLOTS; slot++) {
		for (size_t i = 0; i < in->topo->n_cpus && !bad; i++) {
			struct group g = {.in = in, .class_idx = class_idx, .cpu_idx = -1};

			if (in->topo->cpus[i].class_idx != class_idx ||
			    !was_used(&in->totals->latency->cpus[i][slot]))
				continue;
			g.name = slot_name(in, i, slot, buf);
			if (!tmigr_rep_find(states, "name", g.name, NULL))
				bad |= json_array_append_new(states, build_state(&g)) < 0;
		}
	}
	return tmigr_whole(states, bad);
}

json_t *tmigr_report_latency(const struct tmigr_report_source *in)
{
	const struct tmigr_latency *lat = in->totals->latency;
	json_t *obj = json_object(), *cpus = json_array(), *classes = json_array();
	bool bad = !obj || !cpus || !classes;

	for (size_t i = 0; i < in->topo->n_classes && !bad; i++) {
		json_t *c = json_object();

		tmigr_put(c, "class", json_string(in->topo->classes[i].name), &bad);
		tmigr_put(c, "states", class_states(in, i), &bad);
		bad |= json_array_append_new(classes, c) < 0;
	}
	for (size_t i = 0; i < in->topo->n_cpus && i < lat->n_cpus && !bad; i++)
		bad |= json_array_append_new(cpus, build_cpu(in, i)) < 0;
	tmigr_put(obj, "causes_known", json_boolean(lat->causes_known), &bad);
	tmigr_put(obj, "bpf_ns", lat->bpf_known ? tmigr_json_u64(lat->bpf_ns) : json_null(), &bad);
	tmigr_put(obj, "bpf_runs", lat->bpf_known ? tmigr_json_u64(lat->bpf_runs) : json_null(),
		  &bad);
	tmigr_put(obj, "classes", classes, &bad);
	tmigr_put(obj, "cpus", cpus, &bad);
	return tmigr_whole(obj, bad);
}
