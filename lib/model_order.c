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
#define FAR  1024

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
	return (__s32)(a->arrival - b->arrival) < 0 ? -1 : a->arrival != b->arrival;
}

/* Records of several CPUs are often a little out of order: the last one goes to its
 * place, not before @first, if that is near; false: it is not. */
static bool settle(struct tmigr_held *held, size_t first, size_t last)
{
	struct tmigr_held h = held[last];
	size_t to = last;

	while (to > first && compare(&held[to - 1], &h) > 0) {
		if (last - to == NEAR)
			return false;
		to--;
	}
	memmove(held + to + 1, held + to, (last - to) * sizeof(h));
	held[to] = h;
	return true;
}

/* What was released makes room once it is the greater part: each record moves once or so. */
static void close_up(struct tmigr_model *m)
{
	size_t left = m->n_held - m->first_held;

	if (!m->first_held || m->first_held < left)
		return;
	memmove(m->held, m->held + m->first_held, left * sizeof(*m->held));
	m->first_held = 0;
	m->n_held = left;
}

int tmigr_order_add(struct tmigr_model *m, const struct tmigr_rec *recs, size_t n)
{
	int err;

	close_up(m);
	err = tmigr_grow(&m->held, &m->cap_held, m->n_held + n, sizeof(*m->held));
	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		struct tmigr_held *h = &m->held[m->n_held++];

		*h = (struct tmigr_held){.rec = recs[i], .arrival = m->arrivals++};
		if (m->sorted && m->n_held - m->first_held > 1 && compare(h - 1, h) > 0)
			m->sorted = settle(m->held, m->first_held, m->n_held - 1);
	}
	return 0;
}

/* Dispatches what is older than @limit_ns (TMIGR_NEVER: everything). */
void tmigr_order_release(struct tmigr_model *m, __u64 limit_ns)
{
	if (!m->sorted && m->n_held)
		qsort(m->held + m->first_held, m->n_held - m->first_held, sizeof(*m->held),
		      compare);
	m->sorted = true;
	m->chained = false;
	for (; m->first_held < m->n_held && !m->err; m->first_held++) {
		if (limit_ns != TMIGR_NEVER && m->held[m->first_held].rec.t_ns >= limit_ns)
			break;
		tmigr_model_dispatch(m, m->first_held);
	}
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
			from = from > g->good_ns ? from : g->good_ns;
			if (m->now_ns >= m->cfg.start_ns && from < m->end_ns)
				m->result.lost_updates += lost;
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

/* Of each record that tells of a group, the next update of that group: m->next. */
static void chain(struct tmigr_model *m)
{
	struct tmigr_map first = {0};

	m->err = tmigr_grow(&m->next, &m->cap_next, m->n_held, sizeof(*m->next));
	for (size_t i = m->n_held; !m->err && i-- > m->first_held;) {
		const struct tmigr_rec *rec = &m->held[i].rec;

		if (!is_update(rec) && rec->type != TMIGR_REC_SNAP_GROUP)
			continue;
		m->next[i] = tmigr_map_get(&first, rec->a);
		if (is_update(rec))
			m->err = tmigr_map_set(&first, rec->a, (__u32)i);
	}
	tmigr_map_free(&first);
	m->chained = true;
}

/*
 * The next update of its group after record @i, up to @until; n_held: none.  Mostly it is
 * near; where many records were @looked at, all chains are made, once for all groups.
 */
static size_t next_update(struct tmigr_model *m, size_t i, __u64 until, size_t *looked)
{
	size_t far = m->cfg.far ? m->cfg.far : FAR;
	__u64 key = m->held[i].rec.a;
	int next;

	for (size_t k = i + 1; *looked < far; k++, ++*looked) {
		if (k == m->n_held || m->held[k].rec.t_ns > until)
			return m->n_held;
		if (is_update(&m->held[k].rec) && m->held[k].rec.a == key)
			return k;
	}
	if (!m->chained)
		chain(m);
	next = m->err ? -1 : m->next[i];
	return next >= 0 && m->held[next].rec.t_ns <= until ? (size_t)next : m->n_held;
}

/*
 * Takes the updates of @group between its last one and @seq (@with: that one
 * too) that the look-ahead after record @idx holds.
 */
static void pull(struct tmigr_model *m, size_t idx, int group, __u16 seq, bool with)
{
	const struct tmigr_group *g = &m->groups[group];
	__u64 until = m->held[idx].rec.t_ns + TMIGR_LOOKAHEAD_NS;
	bool known = g->known;
	__u16 last = tmigr_word_seq(g->word);
	size_t looked = 0, n = 0, want = known ? (size_t)(distance(seq, last) - !with) : (size_t)-1;

	if (until < TMIGR_LOOKAHEAD_NS)
		until = TMIGR_NEVER;
	for (size_t i = idx; n < want;) {
		const struct tmigr_held *h;
		int before;

		i = next_update(m, i, until, &looked);
		if (i == m->n_held)
			break;
		h = &m->held[i];
		if (h->used)
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
