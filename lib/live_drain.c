// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merge of the CPUs' ring buffers by time.  A record younger than the watermark
 * stays in its ring until the next drain, so the merge needs no memory.
 */
#include "live_priv.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A handler's record is in the ring this long after its time at the latest. */
#define SETTLE_NS (50 * TMIGR_NS_PER_MS)
#define BATCH	  512

/* Source 0 is the engine's own records, source 1 + i the ring of CPU i. */
struct merge {
	struct tmigr_live *live;
	__u64 until_ns; /* records before this */
	tmigr_sink sink;
	void *arg;
	struct { /* binary heap, the oldest on top; ties: lower source */
		__u64 t_ns;
		size_t src;
	} * heap;
	size_t n;
	struct tmigr_rec batch[BATCH];
	size_t n_batch;
};

static const struct tmigr_rec *peek(struct merge *m, size_t src)
{
	struct tmigr_live *live = m->live;

	if (src)
		return tmigr_ring_peek(&live->rings[src - 1]);
	if (live->pending_done < live->pending.n)
		return &live->pending.recs[live->pending_done];
	return NULL;
}

static void pop(struct merge *m, size_t src)
{
	if (src)
		tmigr_ring_pop(&m->live->rings[src - 1]);
	else
		m->live->pending_done++;
}

static bool before(const struct merge *m, size_t i, size_t k)
{
	if (m->heap[i].t_ns != m->heap[k].t_ns)
		return m->heap[i].t_ns < m->heap[k].t_ns;
	return m->heap[i].src < m->heap[k].src;
}

static void swap(struct merge *m, size_t i, size_t k)
{
	__u64 t_ns = m->heap[i].t_ns;
	size_t src = m->heap[i].src;

	m->heap[i] = m->heap[k];
	m->heap[k].t_ns = t_ns;
	m->heap[k].src = src;
}

static void sift_down(struct merge *m, size_t i)
{
	for (;;) {
		size_t first = i, left = 2 * i + 1, right = left + 1;

		if (left < m->n && before(m, left, first))
			first = left;
		if (right < m->n && before(m, right, first))
			first = right;
		if (first == i)
			return;
		swap(m, i, first);
		i = first;
	}
}

/* The top's source has moved on: its next record, or out of the heap. */
static void refresh_top(struct merge *m)
{
	const struct tmigr_rec *rec = peek(m, m->heap[0].src);

	if (rec && rec->t_ns < m->until_ns)
		m->heap[0].t_ns = rec->t_ns;
	else
		m->heap[0] = m->heap[--m->n];
	sift_down(m, 0);
}

static int flush(struct merge *m)
{
	int ret = m->n_batch ? m->sink(m->arg, m->batch, m->n_batch) : 0;

	m->n_batch = 0;
	return ret < 0 ? ret : 0;
}

static int emit(struct merge *m, const struct tmigr_rec *rec)
{
	m->batch[m->n_batch++] = *rec;
	return m->n_batch == BATCH ? flush(m) : 0;
}

static void note_lost(struct tmigr_live *live, struct tmigr_rec *rec)
{
	int i = tmigr_topology_index(live->topo, rec->cpu);

	if (i >= 0)
		live->told[i] += rec->a;
	/* What was lost inside the window is told inside it. */
	if (live->stopped && rec->b < live->end_ns && rec->t_ns >= live->end_ns)
		rec->t_ns = live->end_ns - 1;
}

static void fill_heap(struct merge *m)
{
	m->n = 0;
	for (size_t src = 0; src <= m->live->topo->n_cpus; src++) {
		const struct tmigr_rec *rec = peek(m, src);

		if (!rec || rec->t_ns >= m->until_ns)
			continue;
		m->heap[m->n].t_ns = rec->t_ns;
		m->heap[m->n].src = src;
		m->n++;
	}
	for (size_t i = m->n / 2; i-- > 0;)
		sift_down(m, i);
}

/* Moves everything before m->until_ns to the sink. */
static int merge_until(struct merge *m)
{
	int ret = 0;

	fill_heap(m);
	while (m->n && !ret) {
		struct tmigr_rec rec = *peek(m, m->heap[0].src);

		pop(m, m->heap[0].src);
		if (rec.type == TMIGR_REC_LOST)
			note_lost(m->live, &rec);
		ret = emit(m, &rec);
		refresh_top(m);
	}
	return ret ? ret : flush(m);
}

/*
 * The time before which nothing is missing that the stream up to @until_ns does
 * not tell of.  live->values was read before the merge: where a CPU's losses
 * at that time are all told, it vouches for @until_ns, else for the time before
 * the first loss not told of.
 */
static __u64 clean_until(const struct tmigr_live *live, __u64 until_ns)
{
	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		const struct tmigr_cpu_value *v = &live->values[live->possible_idx[i]];
		__u64 b;

		if (v->cur.lost <= live->told[i])
			continue;
		b = tmigr_ring_find_lost(&live->rings[i]);
		if (b == UINT64_MAX && v->lost_since_n)
			b = v->lost_since_ns;
		if (b == UINT64_MAX)
			b = 0;
		if (b < until_ns)
			until_ns = b;
	}
	return until_ns;
}

static int emit_clean(struct merge *m, __u64 t_ns)
{
	struct tmigr_rec rec = {.t_ns = t_ns, .type = TMIGR_REC_CLEAN};
	int ret;

	if (t_ns <= m->live->clean_ns)
		return 0;
	m->live->clean_ns = t_ns;
	ret = emit(m, &rec);
	return ret ? ret : flush(m);
}

static int drain(struct merge *m, __u64 *ret_watermark_ns)
{
	struct tmigr_live *live = m->live;
	__u64 now = tmigr_now_ns(), clean;
	int ret = tmigr_live_read_values(live, live->values);

	if (ret)
		return ret;
	live->drains++;
	m->until_ns = live->stopped ? UINT64_MAX : now - SETTLE_NS;
	ret = merge_until(m);
	if (ret)
		return ret;
	clean = clean_until(live, live->stopped ? live->end_ns : m->until_ns);
	ret = emit_clean(m, clean);
	if (!ret)
		*ret_watermark_ns = live->stopped ? now : m->until_ns;
	return ret;
}

int tmigr_live_drain(struct tmigr_live *live, tmigr_sink sink, void *arg, __u64 *ret_watermark_ns,
		     struct tmigr_err *err)
{
	struct merge *m;
	__u64 watermark;
	int ret;

	if (!live->started)
		return tmigr_fail(err, -EINVAL, "the engine was not started");
	ret = tmigr_live_read_base(live, err);
	if (ret || live->opts.no_timeline) {
		if (!ret && ret_watermark_ns)
			*ret_watermark_ns = tmigr_now_ns();
		return ret;
	}
	m = calloc(1, sizeof(*m));
	if (m)
		m->heap = calloc(live->topo->n_cpus + 1, sizeof(*m->heap));
	if (!m || !m->heap) {
		free(m);
		return tmigr_fail(err, -ENOMEM, "no memory to drain the ring buffers");
	}
	m->live = live;
	m->sink = sink;
	m->arg = arg;
	ret = drain(m, &watermark);
	if (!ret && ret_watermark_ns)
		*ret_watermark_ns = watermark;
	free(m->heap);
	free(m);
	return ret;
}
