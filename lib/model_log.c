// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A root's timeline: pieces that may still be rewritten, and what is final.
 *
 * Final pieces are clipped to the window, added up, and joined to segments.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_internal.h"

void tmigr_log_push(struct tmigr_model *m, struct tmigr_root *r, struct tmigr_piece p)
{
	int err = tmigr_grow(&r->log, &r->cap_log, r->n_log + 1, sizeof(*r->log));

	if (err) {
		m->err = err;
		return;
	}
	r->log[r->n_log++] = p;
}

size_t tmigr_log_find(const struct tmigr_root *r, __u64 t_ns)
{
	size_t lo = 0, hi = r->n_log;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->log[mid].start_ns < t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void tmigr_log_cut(struct tmigr_model *m, struct tmigr_root *r, __u64 t_ns)
{
	size_t at = tmigr_log_find(r, t_ns);
	size_t n = r->n_log;

	if (!at || (at < n && r->log[at].start_ns == t_ns))
		return;
	tmigr_log_push(m, r, r->log[n - 1]);
	if (m->err)
		return;
	memmove(r->log + at + 1, r->log + at, (n - at) * sizeof(*r->log));
	r->log[at] = r->log[at - 1];
	r->log[at].start_ns = t_ns;
}

/* ---- figures ---- */

static struct tmigr_holder *holder(struct tmigr_model *m, struct tmigr_root *r, int cpu)
{
	int idx = r->holder_of_cpu[cpu];

	if (idx < 0) {
		m->err = tmigr_grow(&r->holders, &r->cap_holders, r->n_holders + 1,
				    sizeof(*r->holders));
		if (m->err)
			return NULL;
		idx = r->n_holders++;
		r->holder_of_cpu[cpu] = idx;
		r->holders[idx] = (struct tmigr_holder){.cpu = m->cpus[cpu].cpu};
	}
	return &r->holders[idx];
}

static void end_segment(struct tmigr_model *m, struct tmigr_root *r)
{
	const struct tmigr_segment *s = &r->open;
	struct tmigr_holder *h;

	if (!r->has_open)
		return;
	r->has_open = false;
	if (s->regime == TMIGR_HELD) {
		h = &r->holders[r->holder_of_cpu[tmigr_model_cpu(m, s->cpu)]];
		h->holdings++;
		if (s->end_ns - s->start_ns > h->longest_ns)
			h->longest_ns = s->end_ns - s->start_ns;
	}
	if (m->cfg.segment)
		m->cfg.segment(m->cfg.arg, s);
}

static void add_piece(struct tmigr_model *m, struct tmigr_root *r, const struct tmigr_piece *p,
		      __u64 from, __u64 to)
{
	int cpu = p->regime == TMIGR_HELD ? (int)m->cpus[p->cpu].cpu : -1;
	struct tmigr_holder *h;

	r->regime_ns[p->regime] += to - from;
	if (p->regime == TMIGR_HELD) {
		h = holder(m, r, p->cpu);
		if (!h)
			return;
		h->held_ns += to - from;
		h->slot_ns[p->slot] += to - from;
		if (p->n_active)
			h->avoidable_ns += to - from;
		else if (p->n_unknown)
			h->avoidable_unknown_ns += to - from;
	}
	if (r->has_open && r->open.regime == p->regime && r->open.cpu == cpu) {
		r->open.end_ns = to;
		return;
	}
	end_segment(m, r);
	r->has_open = true;
	r->open = (struct tmigr_segment){r->order, p->regime, cpu, from, to};
}

/* Everything before @until_ns is final, but for undecided pieces. */
void tmigr_log_flush(struct tmigr_model *m, struct tmigr_root *r, __u64 until_ns)
{
	size_t i;

	if (r->order < 0 && until_ns > m->cfg.start_ns)
		return; /* ended before it had a place in the result */
	for (i = 0; i < r->n_log && !m->err; i++) {
		struct tmigr_piece *p = &r->log[i];
		__u64 end = i + 1 < r->n_log ? r->log[i + 1].start_ns : TMIGR_NEVER;
		__u64 from = p->start_ns > m->cfg.start_ns ? p->start_ns : m->cfg.start_ns;
		__u64 to = end < until_ns ? end : until_ns;

		if (p->regime == TMIGR_UNDECIDED || p->start_ns >= until_ns)
			break;
		if (to > from)
			add_piece(m, r, p, from, to);
		if (end > until_ns || i + 1 == r->n_log) {
			p->start_ns = until_ns;
			break;
		}
	}
	if (i)
		memmove(r->log, r->log + i, (r->n_log - i) * sizeof(*r->log));
	r->n_log -= i;
}

void tmigr_log_close(struct tmigr_model *m, struct tmigr_root *r)
{
	end_segment(m, r);
}

/*
 * Roots get their number when time inside the window is first flushed, in the
 * order of their lowest CPU; those that appear later follow.  A root that ended before that
 * has no place in the result.
 */
void tmigr_log_number_roots(struct tmigr_model *m)
{
	for (;;) {
		unsigned int best_cpu = 0;
		int best = -1;

		for (size_t i = 0; i < m->n_roots; i++) {
			const struct tmigr_root *r = &m->roots[i];
			unsigned int cpu;

			if (r->dead || r->order >= 0)
				continue;
			cpu = tmigr_hier_lowest_cpu(m, r->top);
			if (best < 0 || cpu < best_cpu) {
				best = i;
				best_cpu = cpu;
			}
		}
		if (best < 0)
			return;
		m->roots[best].order = m->n_orders++;
	}
}

static int compare_holders(const void *a, const void *b)
{
	const struct tmigr_holder *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/*
 * Index of each root's top in the view of the hierarchy, which lists the living
 * roots in the model's order; a root that ended has the one it went into.
 */
static void name_groups(struct tmigr_model *m, const struct tmigr_hierarchy *h)
{
	size_t at = 0;

	for (size_t i = 0; i < m->n_roots; i++) {
		const struct tmigr_root *top = &m->roots[i];

		if (top->dead)
			continue;
		for (size_t k = 0; k < m->n_roots; k++) {
			const struct tmigr_root *r = &m->roots[k];

			if (r->order >= 0 && tmigr_hier_is_below(m, r->top, top->top))
				m->result.roots[r->order].group = h->roots[at].group;
		}
		at++;
	}
}

int tmigr_log_result(struct tmigr_model *m)
{
	struct tmigr_hierarchy *h;
	int err;

	m->result.roots = calloc(m->n_orders + 1, sizeof(*m->result.roots));
	if (!m->result.roots)
		return -ENOMEM;
	m->result.n_roots = m->n_orders;
	for (size_t i = 0; i < m->n_roots; i++) {
		struct tmigr_root *r = &m->roots[i];
		struct tmigr_root_figures *f;

		if (r->order < 0)
			continue;
		f = &m->result.roots[r->order];
		if (r->n_holders)
			qsort(r->holders, r->n_holders, sizeof(*r->holders), compare_holders);
		memcpy(f->regime_ns, r->regime_ns, sizeof(f->regime_ns));
		f->n_holders = r->n_holders;
		f->holders = r->holders;
		r->holders = NULL;
	}
	err = tmigr_model_hierarchy(m, &h);
	if (err)
		return err;
	name_groups(m, h);
	tmigr_hierarchy_free(h);
	return 0;
}
