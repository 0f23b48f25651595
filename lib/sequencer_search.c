// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The best order of a few updates of one group: a shortest path over the sets of
 * those already taken (and which of them was the last, which is the word).
 *
 * Cost of a step: how much the update's stamp is later than those it passes over,
 * and far more where the word does not follow the one before.  So of all orders
 * with the fewest words that can't follow, the one nearest to the stamps.
 */
#include <stdlib.h>
#include <string.h>

#include "sequencer_priv.h"

#define MAX_NODES 4096
#define MAX_SLOTS (4 * MAX_NODES)

struct node {
	__u64 cost;
	__u32 taken; /* bits */
	short parent;
	signed char last; /* -1: none */
	bool done;
};

struct search {
	const struct word *start;
	struct held *const *ups;
	unsigned int n;
	bool any_time; /* intervals don't count */
	struct node nodes[MAX_NODES];
	unsigned int n_nodes;
	unsigned short heap[MAX_NODES];
	unsigned int n_heap;
	short slots[MAX_SLOTS]; /* hash of (taken, last) -> node, -1 free */
};

static bool before(const struct search *s, unsigned int a, unsigned int b)
{
	const struct node *x = &s->nodes[a], *y = &s->nodes[b];

	if (x->cost != y->cost)
		return x->cost < y->cost;
	return __builtin_popcount(x->taken) > __builtin_popcount(y->taken);
}

static void heap_push(struct search *s, unsigned short node)
{
	unsigned int i = s->n_heap++;

	for (; i && before(s, node, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = node;
}

static unsigned short heap_pop(struct search *s)
{
	unsigned short top = s->heap[0], last = s->heap[--s->n_heap];
	unsigned int i = 0;

	for (;;) {
		unsigned int k = 2 * i + 1;

		if (k >= s->n_heap)
			break;
		if (k + 1 < s->n_heap && before(s, s->heap[k + 1], s->heap[k]))
			k++;
		if (!before(s, s->heap[k], last))
			break;
		s->heap[i] = s->heap[k];
		i = k;
	}
	s->heap[i] = last;
	return top;
}

/* A better way to (@taken, @last)?  Then it is a node; false: no room. */
static bool reach(struct search *s, __u32 taken, int last, __u64 cost, int parent)
{
	unsigned int at = (taken * 2654435761u ^ (unsigned int)last * 40503u) % MAX_SLOTS;
	struct node *node;

	for (; s->slots[at] >= 0; at = (at + 1) % MAX_SLOTS) {
		node = &s->nodes[s->slots[at]];
		if (node->taken != taken || node->last != last)
			continue;
		if (node->cost <= cost)
			return true;
		node->done = true; /* its better self goes on */
		break;
	}
	if (s->n_nodes == MAX_NODES || s->n_heap == MAX_NODES)
		return false;
	s->slots[at] = (short)s->n_nodes;
	s->nodes[s->n_nodes] = (struct node){cost, taken, (short)parent, (signed char)last, false};
	heap_push(s, (unsigned short)s->n_nodes++);
	return true;
}

/* By how much @v's stamp is later than those of the ones it passes over. */
static __u64 inversions(const struct search *s, __u32 taken, unsigned int v)
{
	__u64 sum = 0;

	for (unsigned int i = 0; i < v; i++)
		if (!(taken >> i & 1))
			sum += s->ups[v]->ev.t_ns - s->ups[i]->ev.t_ns + 1;
	return sum;
}

/* All that can come next: each CPU's first. */
static bool expand(struct search *s, unsigned int at)
{
	const struct node node = s->nodes[at];
	struct word w = node.last < 0 ? *s->start : seq_word(&s->ups[(int)node.last]->ev);
	unsigned int first = (unsigned int)__builtin_ctz(~node.taken);
	__u32 cpus[SEQ_WINDOW];
	unsigned int n_cpus = 0;

	for (unsigned int i = first; i < s->n; i++) {
		const struct held *u = s->ups[i];
		bool again = false;

		if (node.taken >> i & 1)
			continue;
		for (unsigned int k = 0; k < n_cpus; k++)
			again |= cpus[k] == u->ev.cpu;
		if (again)
			continue;
		cpus[n_cpus++] = u->ev.cpu;
		if (!s->any_time && s->ups[first]->ev.t_ns < u->lo_ns)
			continue;
		if (!reach(s, node.taken | 1u << i, (int)i,
			   node.cost + seq_step_cost(&w, &u->ev) + inversions(s, node.taken, i),
			   (int)at))
			return false;
	}
	return true;
}

/* The node where all are taken, or the one that got furthest. */
static unsigned int run(struct search *s)
{
	__u32 all = s->n == 32 ? ~0u : (1u << s->n) - 1;
	unsigned int furthest = 0;

	memset(s->slots, 0xff, sizeof(s->slots));
	s->n_nodes = s->n_heap = 0;
	reach(s, 0, -1, 0, -1);
	while (s->n_heap) {
		unsigned int at = heap_pop(s);
		const struct node *node = &s->nodes[at];

		if (node->done)
			continue;
		if (node->cost < SEQ_BREAK &&
		    __builtin_popcount(node->taken) > __builtin_popcount(s->nodes[furthest].taken))
			furthest = at;
		if (node->taken == all)
			return at;
		if (!expand(s, at))
			break;
	}
	return furthest;
}

/* The way to a node; what is not on it follows by its stamps.  Its cost. */
static __u64 path(const struct search *s, unsigned int at, unsigned char *order)
{
	const struct node *node = &s->nodes[at];
	unsigned int n = (unsigned int)__builtin_popcount(node->taken), k = n;
	__u64 cost = n == s->n ? node->cost : (__u64)-1;

	for (unsigned int i = 0; i < s->n; i++)
		if (!(node->taken >> i & 1))
			order[k++] = (unsigned char)i;
	for (int i = (int)at; n; i = s->nodes[i].parent)
		order[--n] = (unsigned char)s->nodes[i].last;
	return cost;
}

void seq_search(const struct word *w, struct held *const *ups, unsigned int n, unsigned char *order)
{
	struct search *s = malloc(sizeof(*s));
	unsigned char other[SEQ_WINDOW];
	__u64 cost;

	for (unsigned int i = 0; i < n; i++)
		order[i] = (unsigned char)i;
	if (!s)
		return; /* the stamps' order is an answer */
	s->start = w;
	s->ups = ups;
	s->n = n;
	s->any_time = false;
	cost = path(s, run(s), order);
	if (cost >= SEQ_BREAK) {
		/* Clocks of CPUs may be apart. */
		s->any_time = true;
		if (path(s, run(s), other) < cost)
			memcpy(order, other, n);
	}
	free(s);
}
