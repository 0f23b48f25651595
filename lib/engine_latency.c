// SPDX-License-Identifier: GPL-2.0-or-later
/* Latency of a window: the maps' figures at its end less those at its start. */
#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUMS_N (sizeof(struct tmigr_lat_sums) / sizeof(__u64))

/* ---- edges ---- */

void tmigr_lat_edge_free(struct tmigr_lat_edge *edge)
{
	if (!edge)
		return;
	free(edge->cpus);
	free(edge->details);
	free(edge);
}

/* The largest since each open window's start, for at an edge they are counted anew. */
static void note_peaks(const struct tmigr_engine *engine, const struct tmigr_lat_edge *edge)
{
	for (struct tmigr_window *w = engine->windows; w; w = w->next) {
		for (size_t i = 0; w->peaks && i < engine->topo->n_cpus * TMIGR_SLOTS; i++) {
			const struct tmigr_lat_figures *f =
				&edge->cpus[i / TMIGR_SLOTS][i % TMIGR_SLOTS];

			for (int k = 0; k < TMIGR_LAT_KINDS; k++)
				if (f->peaks[k].t_ns >= w->start->t_ns &&
				    f->peaks[k].ns > w->peaks[i].ns[k])
					w->peaks[i].ns[k] = f->peaks[k].ns;
		}
	}
}

int tmigr_lat_edge_read(struct tmigr_engine *engine, __u64 edge_ns, struct tmigr_lat_edge **ret,
			struct tmigr_err *err)
{
	struct tmigr_lat_edge *edge;
	int r;

	if (!engine->live->latency)
		return 0;
	edge = calloc(1, sizeof(*edge));
	if (edge)
		edge->cpus = calloc(engine->topo->n_cpus, sizeof(*edge->cpus));
	if (!edge || !edge->cpus) {
		tmigr_lat_edge_free(edge);
		return tmigr_fail(err, -ENOMEM, "no memory for the figures");
	}
	r = tmigr_live_latency_read(engine->live, edge_ns, edge->cpus, err);
	if (!r) {
		r = tmigr_live_latency_details(engine->live, edge_ns, &edge->details,
					       &edge->n_details);
		if (r)
			tmigr_fail(err, r, "cannot read the details of latency: %s", strerror(-r));
	}
	if (r) {
		tmigr_lat_edge_free(edge);
		return r;
	}
	note_peaks(engine, edge);
	*ret = edge;
	return 0;
}

/* ---- a window ---- */

int tmigr_lat_window_open(const struct tmigr_engine *engine, struct tmigr_window *w)
{
	if (!w->start->latency)
		return 0;
	w->peaks = calloc(engine->topo->n_cpus * TMIGR_SLOTS, sizeof(*w->peaks));
	return w->peaks ? 0 : -ENOMEM;
}

int tmigr_lat_window_copy(const struct tmigr_engine *engine, const struct tmigr_window *w,
			  struct tmigr_window *copy)
{
	int ret = tmigr_lat_window_open(engine, copy);

	if (!ret && copy->peaks)
		memcpy(copy->peaks, w->peaks,
		       engine->topo->n_cpus * TMIGR_SLOTS * sizeof(*copy->peaks));
	return ret;
}

/* An interval has begun that no cause was counted for yet. */
static bool is_open(const struct tmigr_lat_sums *sums)
{
	__u64 n = 0;

	for (int c = 0; c < TMIGR_WAKE_CAUSES; c++)
		n += sums->causes[c].count;
	return sums->entries > n;
}

static void slot_window(const struct tmigr_lat_sums *a, const struct tmigr_lat_sums *b,
			const struct tmigr_window_peak *peak, struct tmigr_latency_slot *ret)
{
	const __u64 *from = (const __u64 *)a, *to = (const __u64 *)b;
	__u64 *sums = (__u64 *)&ret->sums;

	for (size_t i = 0; i < SUMS_N; i++)
		sums[i] = to[i] - from[i];
	memcpy(ret->max_ns, peak->ns, sizeof(ret->max_ns));
	ret->open_start = is_open(a);
	ret->open_end = is_open(b);
}

static bool same_key(const struct tmigr_latency_detail *a, const struct tmigr_latency_detail *b)
{
	return a->cpu == b->cpu && a->slot == b->slot && a->cause == b->cause && a->arg == b->arg;
}

/* The list only grows, so each of the start is among those of the end, in the same
 * order. */
static size_t details_window(const struct tmigr_lat_edge *a, const struct tmigr_lat_edge *b,
			     struct tmigr_latency_detail *ret)
{
	size_t n = 0;

	for (size_t i = 0, k = 0; i < b->n_details; i++) {
		struct tmigr_latency_detail d = b->details[i];

		if (k < a->n_details && same_key(&a->details[k], &d)) {
			__u64 *to = (__u64 *)&d.row;
			const __u64 *from = (const __u64 *)&a->details[k++].row;

			for (size_t m = 0; m < sizeof(d.row) / sizeof(__u64); m++)
				to[m] -= from[m];
		}
		if (d.row.count)
			ret[n++] = d;
	}
	return n;
}

int tmigr_lat_window(const struct tmigr_engine *engine, const struct tmigr_window *w,
		     struct tmigr_latency **ret)
{
	const struct tmigr_lat_edge *a = w->start->latency, *b = w->end->latency;
	struct tmigr_latency *lat;

	if (!a || !b || !w->peaks)
		return 0;
	lat = tmigr_latency_new(engine->topo->n_cpus, b->n_details);
	if (!lat)
		return -ENOMEM;
	lat->causes_known = tmigr_live_latency_causes(engine->live);
	lat->bpf_known = w->end->cost.bpf_known;
	lat->bpf_ns = w->end->cost.latency_ns - w->start->cost.latency_ns;
	lat->bpf_runs = w->end->cost.latency_runs - w->start->cost.latency_runs;
	for (size_t i = 0; i < lat->n_cpus; i++)
		for (size_t s = 0; s < TMIGR_SLOTS; s++)
			slot_window(&a->cpus[i][s].sums, &b->cpus[i][s].sums,
				    &w->peaks[i * TMIGR_SLOTS + s], &lat->cpus[i][s]);
	lat->n_details = details_window(a, b, lat->details);
	*ret = lat;
	return 0;
}
