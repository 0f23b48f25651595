/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where latency.bpf.h's figures go: sums, distributions and peaks of a CPU in each slot,
 * as of now and as of the last edge, and what ended its intervals.  Only their own CPU
 * writes them; between lat_begin() and lat_end() the sequence count is odd for readers.
 */
#ifndef TMIGR_LATENCY_FIGURES_BPF_H
#define TMIGR_LATENCY_FIGURES_BPF_H

#include "value.bpf.h"
#include "tmigr/latency.h"

/* The last edge whose figures have been read, as of the announcement of another. */
volatile __u64 tmigr_edge_read_ns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TMIGR_SLOTS);
	__type(key, __u32);
	__type(value, struct tmigr_lat_value);
} lat_figures SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024); /* set at load */
	__type(key, struct tmigr_lat_key);
	__type(value, struct tmigr_lat_detail);
} lat_details SEC(".maps");

/* An edge may be announced and never read, as when another has to take its place. The
 * peaks that were put aside for it belong to the next one too. */
static __always_inline void lat_keep_peaks(struct tmigr_lat_value *v)
{
	if (v->edge_ns <= tmigr_edge_read_ns)
		return;
	for (int k = 0; k < TMIGR_LAT_KINDS; k++)
		if (v->edge.peaks[k].ns > v->cur.peaks[k].ns)
			v->cur.peaks[k] = v->edge.peaks[k];
}

static __always_inline struct tmigr_lat_value *lat_begin(__u32 slot, __u64 t)
{
	struct tmigr_lat_value *v = bpf_map_lookup_elem(&lat_figures, &slot);
	__u64 edge;

	if (!v)
		return NULL;
	v->seq++;
	barrier();
	edge = tmigr_edge_ns;
	if (v->edge_ns == edge || t < edge)
		return v;
	lat_keep_peaks(v);
	bpf_probe_read_kernel(&v->edge, sizeof(v->edge), &v->cur);
	for (int k = 0; k < TMIGR_LAT_KINDS; k++)
		v->cur.peaks[k].ns = 0;
	__sync_lock_test_and_set(&v->edge_ns, edge);
	return v;
}

static __always_inline void lat_end(struct tmigr_lat_value *v)
{
	barrier();
	v->seq++;
}

static __always_inline void lat_add(struct tmigr_lat_value *v, enum tmigr_lat_kind kind, __u64 t,
				    __u64 ns)
{
	struct tmigr_lat_dist *dist = &v->cur.sums.dist[kind];
	struct tmigr_lat_peak *peak = &v->cur.peaks[kind];

	dist->hist[log2_bucket(ns)]++;
	dist->sum_ns += ns;
	if (ns < peak->ns && peak->t_ns >= tmigr_edge_read_ns)
		return;
	peak->ns = ns;
	peak->t_ns = t;
}

static __always_inline void lat_add_row(struct tmigr_lat_row *to, const struct tmigr_lat_row *row)
{
	to->count += row->count;
	to->slept_ns += row->slept_ns;
	to->expected_n += row->expected_n;
	to->short_n += row->short_n;
	to->short_slept_ns += row->short_slept_ns;
	to->short_expected_ns += row->short_expected_ns;
	to->awake_ns += row->awake_ns;
}

/* Only this CPU writes keys with it. */
static __always_inline void lat_detail(struct tmigr_lat_value *v, const struct tmigr_lat_state *st,
				       __u32 cause, const struct tmigr_lat_row *row)
{
	struct tmigr_lat_key key = {
		.edge_ns = v->edge_ns,
		.cpu = bpf_get_smp_processor_id(),
		.slot = st->slot,
		.cause = cause,
		.arg = cause == TMIGR_WAKE_IRQ ? st->irq : st->target,
	};
	struct tmigr_lat_detail *d, fresh = {};

	d = bpf_map_lookup_elem(&lat_details, &key);
	if (d) {
		lat_add_row(&d->row, row);
		return;
	}
	fresh.row = *row;
	if (cause == TMIGR_WAKE_IRQ)
		__builtin_memcpy(fresh.name, st->name, sizeof(fresh.name));
	if (bpf_map_update_elem(&lat_details, &key, &fresh, BPF_NOEXIST))
		v->cur.sums.detail_lost++;
}

#endif
