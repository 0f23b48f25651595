// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merge of the CPUs' ring buffers and logs by time.  A record younger than the watermark
 * stays where it is until the next drain, so the merge needs no memory.
 */
#include "live_priv.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A handler's record is in its log or ring this long after its time at the latest. */
#define SETTLE_NS (50 * TMIGR_NS_PER_MS)
#define BATCH	  512
/* The reader is told every so many records that nothing older will come, so that what it
 * keeps for that does not grow with what the CPUs do between two drains. */
#define STEP 65536

struct merge {
	struct tmigr_live *live;
	__u64 until_ns; /* records before this */
	tmigr_sink sink;
	tmigr_advance advance; /* or NULL */
	void *arg;
	size_t step;	/* that many, and ... */
	size_t in_step; /* ... how many since the last one ended */
	struct {	/* binary heap, the oldest on top; ties: the lower source */
		__u64 t_ns;
		size_t source;
	} * heap;
	size_t n;
	struct tmigr_rec batch[BATCH];
	size_t n_batch;
};

/* The sources: a ring of each CPU, then a log of each. */
static size_t n_sources(const struct tmigr_live *live)
{
	return 2 * live->topo->n_cpus;
}

static const struct tmigr_rec *peek(struct merge *m, size_t source)
{
	size_t n = m->live->topo->n_cpus;

	return source < n ? tmigr_ring_peek(&m->live->rings[source])
			  : tmigr_log_peek(&m->live->logs[source - n]);
}

static void pop(struct merge *m, size_t source)
{
	size_t n = m->live->topo->n_cpus;

	if (source < n)
		tmigr_ring_pop(&m->live->rings[source]);
	else
		tmigr_log_pop(&m->live->logs[source - n]);
}

static bool before(const struct merge *m, size_t i, size_t k)
{
	if (m->heap[i].t_ns != m->heap[k].t_ns)
		return m->heap[i].t_ns < m->heap[k].t_ns;
	return m->heap[i].source < m->heap[k].source;
}

static void swap(struct merge *m, size_t i, size_t k)
{
	__u64 t_ns = m->heap[i].t_ns;
	size_t source = m->heap[i].source;

	m->heap[i] = m->heap[k];
	m->heap[k].t_ns = t_ns;
	m->heap[k].source = source;
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
	const struct tmigr_rec *rec = peek(m, m->heap[0].source);

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

/*
 * What was told at an edge ahead of its LOST record is taken out of it.  False:
 * nothing remains.
 */
static bool adjust_lost(struct tmigr_live *live, struct tmigr_rec *rec)
{
	int i = tmigr_topology_index(live->topo, rec->cpu);
	__u64 early;

	if (i < 0)
		return true;
	early = live->early[i] < rec->a ? live->early[i] : rec->a;
	live->early[i] -= early;
	rec->a -= early;
	if (early && rec->b < live->early_ns[i])
		rec->b = live->early_ns[i];
	live->told[i] += rec->a;
	return rec->a;
}

static int emit_lost(struct merge *m, struct tmigr_rec rec)
{
	int ret;

	if (!adjust_lost(m->live, &rec))
		return 0;
	ret = emit(m, &rec);
	return ret ? ret : flush(m);
}

static void fill_heap(struct merge *m)
{
	m->n = 0;
	for (size_t source = 0; source < n_sources(m->live); source++) {
		const struct tmigr_rec *rec = peek(m, source);

		if (!rec || rec->t_ns >= m->until_ns)
			continue;
		m->heap[m->n].t_ns = rec->t_ns;
		m->heap[m->n].source = source;
		m->n++;
	}
	for (size_t i = m->n / 2; i-- > 0;)
		sift_down(m, i);
}

/* When the first record was lost of those that nothing tells of yet, by a copy of
 * the CPU's value; at the earliest. */
static __u64 untold_since(const struct tmigr_live *live, size_t i, const struct tmigr_cpu_value *v)
{
	__u64 b = tmigr_log_find_lost(&live->logs[i]);

	if (b == UINT64_MAX && v->lost_since_n)
		b = v->lost_since_ns;
	if (b == UINT64_MAX)
		b = 0;
	if (live->early[i] && b < live->early_ns[i])
		b = live->early_ns[i];
	return b;
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
		b = untold_since(live, i, v);
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
		return flush(m);
	m->live->clean_ns = t_ns;
	ret = emit(m, &rec);
	return ret ? ret : flush(m);
}

/* Nothing older than the next record will come, nor, as nothing before it is missing, a
 * CLEAN for an earlier time. */
static int end_step(struct merge *m)
{
	__u64 t_ns = m->heap[0].t_ns;
	int ret;

	m->in_step = 0;
	if (!m->advance || clean_until(m->live, t_ns) < t_ns)
		return 0;
	ret = emit_clean(m, t_ns);
	if (ret)
		return ret;
	m->live->watermark_ns = t_ns;
	return m->advance(m->arg, t_ns);
}

/* Moves everything before m->until_ns to the sink. */
static int merge_until(struct merge *m, __u64 until_ns)
{
	int ret = 0;

	m->until_ns = until_ns;
	fill_heap(m);
	while (m->n && !ret) {
		size_t source = m->heap[0].source;
		struct tmigr_rec rec = *peek(m, source);

		pop(m, source);
		ret = rec.type == TMIGR_REC_LOST ? emit_lost(m, rec) : emit(m, &rec);
		refresh_top(m);
		if (!ret && ++m->in_step >= m->step && m->n)
			ret = end_step(m);
	}
	if (!ret && until_ns > m->live->watermark_ns)
		m->live->watermark_ns = until_ns;
	return ret ? ret : flush(m);
}

static void note_lost(struct tmigr_live *live)
{
	live->lost = 0;
	for (size_t i = 0; i < live->topo->n_cpus; i++)
		live->lost += live->values[live->possible_idx[i]].cur.lost;
}

static int drain(struct merge *m)
{
	struct tmigr_live *live = m->live;
	__u64 until_ns = tmigr_now_ns() - SETTLE_NS;
	int ret = tmigr_live_read_values(live, live->values);

	if (ret)
		return ret;
	note_lost(live);
	live->drains++;
	if (until_ns < live->watermark_ns)
		until_ns = live->watermark_ns;
	ret = merge_until(m, until_ns);
	return ret ? ret : emit_clean(m, clean_until(live, until_ns));
}

/* Tells at the end of an interval what was lost in it. */
static int tell_lost(struct merge *m, __u64 edge_ns, const struct tmigr_edge_cpu *cpus)
{
	struct tmigr_live *live = m->live;
	int ret = 0;

	for (size_t i = 0; i < live->topo->n_cpus && !ret; i++) {
		__u64 lost = cpus[i].totals.lost;
		struct tmigr_rec rec = {.t_ns = edge_ns - 1,
					.cpu = live->topo->cpus[i].cpu,
					.type = TMIGR_REC_LOST};

		if (lost <= live->told[i])
			continue;
		rec.a = lost - live->told[i];
		rec.b = untold_since(live, i, &live->values2[live->possible_idx[i]]);
		if (rec.b < live->clean_ns)
			rec.b = live->clean_ns;
		if (rec.b > rec.t_ns)
			rec.b = rec.t_ns;
		live->told[i] = lost;
		live->early[i] += rec.a;
		live->early_ns[i] = edge_ns;
		ret = emit(m, &rec);
		if (!ret)
			ret = flush(m);
	}
	return ret;
}

static int drain_edge(struct merge *m, __u64 edge_ns, const struct tmigr_edge_cpu *cpus,
		      __u64 complete_ns)
{
	int ret = merge_until(m, edge_ns);

	note_lost(m->live);
	if (!ret)
		ret = tell_lost(m, edge_ns, cpus);
	if (!ret)
		ret = emit_clean(m, edge_ns);
	return ret ? ret : merge_until(m, complete_ns);
}

static struct merge *merge_new(struct tmigr_live *live, tmigr_sink sink, void *arg)
{
	struct merge *m = calloc(1, sizeof(*m));

	if (m)
		m->heap = calloc(n_sources(live), sizeof(*m->heap));
	if (!m || !m->heap) {
		free(m);
		return NULL;
	}
	m->live = live;
	m->step = live->opts.step ? live->opts.step : STEP;
	m->sink = sink;
	m->arg = arg;
	return m;
}

static void merge_free(struct merge *m)
{
	free(m->heap);
	free(m);
}

static int no_memory(struct tmigr_err *err)
{
	return tmigr_fail(err, -ENOMEM, "no memory to drain the buffers");
}

static int drain_failed(int ret, struct tmigr_err *err)
{
	return ret ? tmigr_fail(err, ret, "cannot read the records: %s", strerror(-ret)) : 0;
}

int tmigr_live_drain(struct tmigr_live *live, tmigr_sink sink, tmigr_advance advance, void *arg,
		     __u64 *ret_watermark_ns, struct tmigr_err *err)
{
	struct merge *m;
	int ret;

	if (live->opts.no_timeline) {
		*ret_watermark_ns = tmigr_now_ns();
		return 0;
	}
	m = merge_new(live, sink, arg);
	if (!m)
		return no_memory(err);
	m->advance = advance;
	ret = drain(m);
	if (!ret)
		*ret_watermark_ns = live->watermark_ns;
	merge_free(m);
	return drain_failed(ret, err);
}

int tmigr_live_drain_edge(struct tmigr_live *live, __u64 edge_ns, const struct tmigr_edge_cpu *cpus,
			  __u64 complete_ns, tmigr_sink sink, void *arg, struct tmigr_err *err)
{
	struct merge *m;
	int ret;

	if (live->opts.no_timeline)
		return 0;
	m = merge_new(live, sink, arg);
	if (!m)
		return no_memory(err);
	ret = drain_edge(m, edge_ns, cpus, complete_ns);
	merge_free(m);
	return drain_failed(ret, err);
}
