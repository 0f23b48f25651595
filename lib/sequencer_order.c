// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of a group's updates.
 *
 * An update was made after the stamp of its CPU's event before it, and before its
 * own: an interval.  Where no later stamp's interval reaches back to an update, it
 * comes first.  Where some do, the words decide: an update changes its own child's
 * bit and nothing else, and the migrator by rules, so that most orders are
 * impossible; of those that are left the one that turns the stamps' order round
 * the least.
 *
 * A cluster is a run of updates that no later one reaches into; what is searched
 * is a cluster, and what follows it, since the word at its end is confirmed by the
 * next.
 */
#include <stdlib.h>
#include <string.h>

#include "sequencer_priv.h"

__u64 seq_step_cost(const struct word *w, const struct tmigr_traced *u)
{
	bool has = u->active & u->mask;

	if (!w->known)
		return 0;
	if ((w->active ^ u->active) & ~u->mask)
		return SEQ_BREAK;
	if (u->type == TMIGR_TRACED_GROUP_ACTIVE) {
		__u8 want = w->migrator == TMIGR_NO_MIGRATOR ? u->mask : w->migrator;

		if (!has || (u->level == 0 && w->active & u->mask))
			return SEQ_BREAK;
		return u->migrator == want ? 0 : SEQ_ODD;
	}
	/* A CPU's own deactivation clears its bit, always. */
	if (u->level == 0 && (has || !(w->active & u->mask)))
		return SEQ_BREAK;
	if (w->migrator != u->mask || has)
		return u->migrator == w->migrator ? 0 : SEQ_ODD;
	if (!u->active)
		return u->migrator == TMIGR_NO_MIGRATOR ? 0 : SEQ_ODD;
	/* Which of the active children takes over is the kernel's policy. */
	return u->migrator != TMIGR_NO_MIGRATOR && u->migrator & u->active ? 0 : SEQ_ODD;
}

/* Marks what the new last one in the queue may come before. */
static void mark_overtaken(struct tmigr_sequencer *s, struct group *g, const struct held *h)
{
	for (size_t i = g->tail - 1; i-- > g->head;) {
		struct held *x = seq_held(s, g->queue[i]);

		if (x->ev.t_ns < h->lo_ns || x->ev.t_ns + TMIGR_SEQUENCER_HOLD_NS < h->ev.t_ns)
			break;
		if (!seq_is_update(&x->ev))
			break; /* nothing is known about the word over a loss */
		if (x->ev.cpu != h->ev.cpu)
			x->overtaken = true;
	}
}

void seq_enqueue(struct tmigr_sequencer *s, struct group *g, __u64 number)
{
	struct held *h = seq_held(s, number);

	if (g->tail == g->cap && g->head) {
		memmove(g->queue, g->queue + g->head, (g->tail - g->head) * sizeof(*g->queue));
		g->tail -= g->head;
		g->head = 0;
	}
	s->err = tmigr_grow(&g->queue, &g->cap, g->tail + 1, sizeof(*g->queue));
	if (s->err)
		return;
	g->queue[g->tail++] = number;
	if (seq_is_update(&h->ev)) {
		h->queued = true;
		mark_overtaken(s, g, h);
	}
}

/* The update comes next. */
static void take(struct tmigr_sequencer *s, struct group *g, struct held *h)
{
	__u64 cost = seq_step_cost(&g->word, &h->ev);

	if (!g->started) {
		g->started = true;
		seq_first_word(g, &h->ev);
	}
	h->gap = (!g->word.known && g->good_ns) || cost >= SEQ_BREAK;
	if (cost >= SEQ_BREAK)
		s->stats.breaks++;
	else if (cost)
		s->stats.odd++;
	g->seq += 1 + h->gap;
	h->seq = g->seq;
	h->queued = false;
	g->word = seq_word(&h->ev);
	g->good_ns = h->ev.t_ns;
}

static void take_loss(struct group *g)
{
	g->started = true;
	g->word.known = false;
}

/* How many from the front no later one reaches into, at most @max. */
static unsigned int cluster(struct tmigr_sequencer *s, const struct group *g, size_t from,
			    unsigned int max)
{
	unsigned int n = 0;

	while (n < max && from + n < g->tail) {
		struct held *h = seq_held(s, g->queue[from + n]);

		if (!seq_is_update(&h->ev))
			break;
		n++;
		if (!h->overtaken)
			break;
	}
	return n;
}

/* The front as its stamps have it, and the next one after it: does that fit? */
static bool fits(struct tmigr_sequencer *s, const struct group *g, unsigned int n)
{
	struct word w = g->word;

	for (size_t i = g->head; i < g->tail && i <= g->head + n; i++) {
		const struct held *h = seq_held(s, g->queue[i]);

		if (!seq_is_update(&h->ev))
			break;
		if (seq_step_cost(&w, &h->ev))
			return i == g->head + n && h->overtaken;
		w = seq_word(&h->ev);
	}
	return true;
}

/* Decides the first @n of the queue, looking at those after them. */
static void decide_cluster(struct tmigr_sequencer *s, struct group *g, unsigned int n)
{
	struct held *ups[SEQ_WINDOW];
	unsigned char order[SEQ_WINDOW];
	__u64 numbers[SEQ_WINDOW];
	unsigned int all = n;

	while (all < n + 4) {
		unsigned int more = cluster(s, g, g->head + all, SEQ_WINDOW - all);

		if (!more || all + more >= SEQ_WINDOW)
			break;
		all += more;
	}
	for (unsigned int i = 0; i < all; i++) {
		numbers[i] = g->queue[g->head + i];
		ups[i] = seq_held(s, numbers[i]);
	}
	seq_search(&g->word, ups, all, order);
	/* A cluster too long to see its end: its beginning only. */
	if (n == SEQ_WINDOW)
		n = SEQ_WINDOW / 2;
	for (unsigned int i = 0; i < n; i++) {
		s->stats.moved += order[i] != i;
		take(s, g, ups[order[i]]);
		ups[order[i]] = NULL;
	}
	/* Those that were passed over stay, in their order. */
	for (unsigned int i = 0, k = n; i < all; i++)
		if (ups[i])
			g->queue[g->head + k++] = numbers[i];
	g->head += n;
}

void seq_decide(struct tmigr_sequencer *s, struct group *g, __u64 limit_ns)
{
	while (g->head < g->tail) {
		struct held *h = seq_held(s, g->queue[g->head]);
		unsigned int n;

		if (h->ev.t_ns > limit_ns)
			break;
		if (!seq_is_update(&h->ev)) {
			take_loss(g);
			g->head++;
			continue;
		}
		if (!h->overtaken) {
			take(s, g, h);
			g->head++;
			continue;
		}
		n = cluster(s, g, g->head, SEQ_WINDOW);
		if (!fits(s, g, n)) {
			decide_cluster(s, g, n);
			continue;
		}
		while (n--)
			take(s, g, seq_held(s, g->queue[g->head++]));
	}
	if (g->head == g->tail)
		g->head = g->tail = 0;
}
