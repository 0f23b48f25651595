// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time order and seq order.
 *
 * Records wait until no earlier one, and none within TMIGR_LOOKAHEAD_NS after
 * them, can come any more.  They are released by time; at one time, what tells
 * the hierarchy's shape first and the snapshots of idle states last (they date
 * back what they say, which an event at the same time may have made), then by
 * CPU, then as they arrived (which one CPU's records do in the order they were
 * made).  So neither the interleaving of CPUs nor the size of batches changes
 * anything.
 *
 * A group's updates are taken in the order of their seq.  A record's stamp is
 * taken after the update it tells of, so an update took place before every
 * stamp of a later one: when a record shows that updates before it have not
 * come yet, they are looked for among the records of the next
 * TMIGR_LOOKAHEAD_NS and take effect at once.  Those not found are lost (law
 * 3).  So the effective time of an update is the least stamp of itself and
 * of all later ones inside the look-ahead.
 *
 * The first update or snapshot of a group that is known takes the older ones
 * inside the look-ahead with it in the same way.
 */
#include <stdlib.h>
#include <string.h>

#include "model_internal.h"

#define NEAR 32

/* Order at one time. */
static int rank(const struct tmigr_rec *r)
{
	switch (r->type) {
	case TMIGR_REC_NODE_GROUP:
	case TMIGR_REC_NODE_CPU:
		return 0;
	case TMIGR_REC_SNAP_IDLE:
		return 2;
	default:
		return 1;
	}
}

static bool is_update(const struct tmigr_rec *r)
{
	return r->type == TMIGR_REC_GROUP_ACTIVE || r->type == TMIGR_REC_GROUP_INACTIVE;
}

static int compare(const void *pa, const void *pb)
{
	const struct tmigr_held *a = pa, *b = pb;

	if (a->rec.t_ns != b->rec.t_ns)
		return a->rec.t_ns < b->rec.t_ns ? -1 : 1;
	if (rank(&a->rec) != rank(&b->rec))
		return rank(&a->rec) - rank(&b->rec);
	if (a->rec.cpu != b->rec.cpu)
		return a->rec.cpu < b->rec.cpu ? -1 : 1;
	return a->arrival < b->arrival ? -1 : a->arrival > b->arrival;
}

/* Records of several CPUs are often a little out of order: the last one goes to its
 * place if that is near; false: it is not. */
static bool settle(struct tmigr_held *held, size_t last)
{
	struct tmigr_held h = held[last];
	size_t to = last;

	while (to && compare(&held[to - 1], &h) > 0) {
		if (last - to == NEAR)
			return false;
		to--;
	}
	memmove(held + to + 1, held + to, (last - to) * sizeof(h));
	held[to] = h;
	return true;
}

int tmigr_order_add(struct tmigr_model *m, const struct tmigr_rec *recs, size_t n)
{
	int err = tmigr_grow(&m->held, &m->cap_held, m->n_held + n, sizeof(*m->held));

	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		struct tmigr_held *h = &m->held[m->n_held++];

		*h = (struct tmigr_held){.rec = recs[i], .arrival = m->arrivals++};
		if (m->sorted && m->n_held > 1 && compare(h - 1, h) > 0)
			m->sorted = settle(m->held, m->n_held - 1);
	}
	return 0;
}

/* Dispatches what is older than @limit_ns (TMIGR_NEVER: everything). */
void tmigr_order_release(struct tmigr_model *m, __u64 limit_ns)
{
	size_t i;

	if (!m->sorted && m->n_held)
		qsort(m->held, m->n_held, sizeof(*m->held), compare);
	m->sorted = true;
	for (i = 0; i < m->n_held && !m->err; i++) {
		if (limit_ns != TMIGR_NEVER && m->held[i].rec.t_ns >= limit_ns)
			break;
		tmigr_model_dispatch(m, i);
	}
	if (i)
		memmove(m->held, m->held + i, (m->n_held - i) * sizeof(*m->held));
	m->n_held -= i;
}

static int distance(__u16 seq, __u16 from)
{
	return (__s16)(__u16)(seq - from);
}

/*
 * The next state of a group in seq order.  @seen: it comes from an update's
 * record; from a snapshot, that update's own record is missing too.  Rules of
 * loss: see model_root.c.
 */
static void accept(struct tmigr_model *m, int group, const struct tmigr_rec *rec, bool seen)
{
	struct tmigr_group *g = &m->groups[group];

	if (g->known) {
		int lost = distance(tmigr_word_seq(rec->b), tmigr_word_seq(g->word)) - seen;
		if (lost > 0) {
			__u64 from = m->clean_ns;

			if (g->suspect && g->suspect_ns < from)
				from = g->suspect_ns;
			if (m->now_ns >= m->cfg.start_ns && g->good_ns < m->end_ns)
				m->result.lost_updates += lost;
			from = from > g->good_ns ? from : g->good_ns;
			tmigr_root_blur(m, group, from);
			tmigr_group_blur(m, group, from);
		}
	}
	g->suspect = false;
	g->good_ns = m->now_ns;
	if (m->tail) {
		g->word = rec->b;
		return;
	}
	tmigr_hier_set_word(m, group, rec->b);
	tmigr_group_look(m, group);
	if (seen && rec->type == TMIGR_REC_GROUP_INACTIVE &&
	    tmigr_word_migrator(rec->b) == TMIGR_NO_MIGRATOR)
		tmigr_root_none(m, group, rec->cpu);
	if (g->root >= 0)
		tmigr_root_update(m, g->root);
}

/* Keeps m->pulled sorted by seq; one record a seq, the first. */
static size_t pull_one(struct tmigr_model *m, size_t n, size_t idx, __u16 base)
{
	int d = distance(tmigr_word_seq(m->held[idx].rec.b), base);
	size_t at = n;

	m->err = tmigr_grow(&m->pulled, &m->cap_pulled, n + 1, sizeof(*m->pulled));
	if (m->err)
		return n;
	while (at > 0) {
		int other = distance(tmigr_word_seq(m->held[m->pulled[at - 1]].rec.b), base);

		if (other == d)
			return n;
		if (other < d)
			break;
		at--;
	}
	memmove(m->pulled + at + 1, m->pulled + at, (n - at) * sizeof(*m->pulled));
	m->pulled[at] = idx;
	return n + 1;
}

/*
 * Takes the updates of @group between its last one and @seq (@with: that one
 * too) that the look-ahead after record @idx holds.
 */
static void pull(struct tmigr_model *m, size_t idx, int group, __u16 seq, bool with)
{
	const struct tmigr_group *g = &m->groups[group];
	__u64 key = g->key, until = m->held[idx].rec.t_ns + TMIGR_LOOKAHEAD_NS;
	bool known = g->known;
	__u16 last = tmigr_word_seq(g->word);
	size_t n = 0, want = known ? (size_t)(distance(seq, last) - !with) : (size_t)-1;

	if (until < TMIGR_LOOKAHEAD_NS)
		until = TMIGR_NEVER;
	for (size_t i = idx + 1; i < m->n_held && n < want && !m->err; i++) {
		const struct tmigr_held *h = &m->held[i];
		int before;

		if (h->rec.t_ns > until)
			break;
		if (h->used || !is_update(&h->rec) || h->rec.a != key)
			continue;
		before = distance(seq, tmigr_word_seq(h->rec.b));
		if (before < !with)
			continue;
		if (known && distance(tmigr_word_seq(h->rec.b), last) <= 0)
			continue;
		n = pull_one(m, n, i, seq);
	}
	for (size_t i = 0; i < n && !m->err; i++) {
		struct tmigr_held *h = &m->held[m->pulled[i]];

		h->used = true;
		accept(m, group, &h->rec, true);
	}
}

/* GROUP_ACTIVE, GROUP_INACTIVE, SNAP_GROUP */
void tmigr_order_group(struct tmigr_model *m, size_t idx)
{
	const struct tmigr_rec *rec = &m->held[idx].rec;
	bool update = is_update(rec);
	__u16 seq = tmigr_word_seq(rec->b);
	struct tmigr_group *g;
	int group, d;

	group = tmigr_hier_group(m, rec->a);
	if (group < 0)
		return;
	g = &m->groups[group];
	if (!g->known && update && !g->learnt && g->parent < 0)
		g->level = rec->level;
	d = distance(seq, tmigr_word_seq(g->word));
	if (g->known && d < (update ? 1 : 0)) {
		if (update && m->now_ns >= m->cfg.start_ns && !m->tail)
			m->result.late_updates++;
		return;
	}
	if (!g->known || d > (update ? 1 : 0))
		pull(m, idx, group, seq, !update);
	if (m->err)
		return;
	d = distance(seq, tmigr_word_seq(g->word));
	if (g->known && d == 0) {
		/* the snapshot confirms */
		g->suspect = false;
		g->good_ns = m->now_ns;
		return;
	}
	accept(m, group, rec, update);
}
