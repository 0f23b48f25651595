// SPDX-License-Identifier: GPL-2.0-or-later
/* By brute force: who held the migrator, at each moment at which anything changes. */
#include "brute_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct verdict {
	enum tmigr_regime regime;
	int cpu; /* index */
	unsigned int slot;
	bool avoidable, unsure;
};

static bool blurred(const struct bstream *b, int root, int group, __u64 x)
{
	for (size_t i = 0; i < b->n_blurs; i++)
		if (b->blurs[i].root == root && b->blurs[i].group == group &&
		    b->blurs[i].from <= x && x < b->blurs[i].to)
			return true;
	return false;
}

static bool all_blurred(const struct bstream *b, int root, __u64 x)
{
	for (size_t i = 0; i < b->n_blurs; i++)
		if (b->blurs[i].root == root && b->blurs[i].from <= x && x < b->blurs[i].to &&
		    x < b->blurs[i].shape)
			return true;
	return false;
}

/* @cpu -1: of any CPU that is, or may be, below @root */
static bool records_missing(const struct bstream *b, int cpu, int root, __u64 x)
{
	for (size_t i = 0; i < b->n_gaps; i++) {
		const struct gap *g = &b->gaps[i];

		if (g->from <= x && x < g->to &&
		    (cpu < 0 ? g->root < 0 || g->root == root : g->cpu == cpu))
			return true;
	}
	return false;
}

static enum tmigr_regime nobody(const struct bstream *b, const struct bstate *s, int root, __u64 x)
{
	bool unknown = false;

	if (records_missing(b, -1, root, x))
		return TMIGR_UNKNOWN;
	for (size_t i = 0; i < b->topo->n_cpus; i++) {
		const struct bcpu *c = &s->cpus[i];
		int r = brute_root_of(s, c->group);

		if (r == root && c->duty == SET)
			return TMIGR_DUTY;
		if (r == root && c->duty == UNSET)
			unknown = true;
		if (r < 0 && c->play && c->duty != NONE)
			unknown = true;
	}
	return unknown ? TMIGR_UNKNOWN : TMIGR_FREE;
}

/* Class @a is below class @b: by capacity; where all classes have the same one, a class
 * called LITTLE is below all that are not, and one called big above. */
static bool below(const struct tmigr_topology *topo, unsigned int a, unsigned int b)
{
	const struct tmigr_class *x = &topo->classes[a], *y = &topo->classes[b];
	bool differ = false;

	for (size_t i = 0; i < topo->n_classes; i++)
		for (size_t k = 0; k < i; k++)
			differ |= topo->classes[i].capacity != topo->classes[k].capacity;
	if (differ)
		return x->capacity < y->capacity;
	if (!strcasecmp(x->name, "LITTLE"))
		return strcasecmp(y->name, "LITTLE") != 0;
	return !strcasecmp(y->name, "big") && strcasecmp(x->name, "big") != 0;
}

static void judge_holder(const struct bstream *b, const struct bstate *s, int root, __u64 x,
			 struct verdict *v)
{
	const struct tmigr_topology *topo = b->topo;
	unsigned int class_idx = topo->cpus[v->cpu].class_idx;

	v->regime = TMIGR_HELD;
	v->slot = records_missing(b, v->cpu, root, x) ? (unsigned int)TMIGR_SLOT_UNKNOWN
						      : s->cpus[v->cpu].slot;
	for (size_t i = 0; i < topo->n_cpus; i++) {
		const struct bcpu *c = &s->cpus[i];
		int r = brute_root_of(s, c->group);

		bool guess = topo->cpus[i].class_guessed || topo->cpus[v->cpu].class_guessed;

		if ((int)i == v->cpu)
			continue;
		if (!guess && !below(topo, topo->cpus[i].class_idx, class_idx))
			continue;
		if (r < 0 && c->play)
			v->unsure = true;
		if (r != root)
			continue;
		if (!s->groups[c->group].known || blurred(b, root, c->group, x))
			v->unsure = true;
		else if (tmigr_word_active(s->groups[c->group].word) & c->mask) {
			v->avoidable |= !guess;
			v->unsure |= guess;
		}
	}
}

static struct verdict judge(const struct bstream *b, const struct bstate *s, int root, __u64 x)
{
	struct verdict v = {.regime = TMIGR_UNKNOWN, .cpu = -1};
	int group;

	if (root < 0 || s->roots[root].dead || !s->groups[s->roots[root].top].learnt ||
	    all_blurred(b, root, x))
		return v;
	for (group = s->roots[root].top; group >= 0;) {
		const struct bgroup *g = &s->groups[group];
		__u8 migrator = tmigr_word_migrator(g->word);

		if (!g->known || blurred(b, root, group, x))
			return v;
		if (migrator == TMIGR_NO_MIGRATOR) {
			v.regime = group == s->roots[root].top ? nobody(b, s, root, x)
							       : TMIGR_HANDOVER;
			return v;
		}
		v.cpu = g->child_cpu[__builtin_ctz(migrator)];
		if (v.cpu >= 0) {
			judge_holder(b, s, root, x, &v);
			return v;
		}
		group = g->child_group[__builtin_ctz(migrator)];
	}
	return v;
}

static struct tmigr_holder *holder_of(struct tmigr_root_figures *f, unsigned int cpu)
{
	size_t at = 0;

	while (at < f->n_holders && f->holders[at].cpu < cpu)
		at++;
	if (at < f->n_holders && f->holders[at].cpu == cpu)
		return &f->holders[at];
	f->holders = realloc(f->holders, (f->n_holders + 1) * sizeof(*f->holders));
	memmove(f->holders + at + 1, f->holders + at, (f->n_holders - at) * sizeof(*f->holders));
	f->n_holders++;
	f->holders[at] = (struct tmigr_holder){.cpu = cpu};
	return &f->holders[at];
}

static void add_verdict(struct bstream *b, unsigned int order, const struct verdict *v, __u64 from,
			__u64 to)
{
	struct tmigr_root_figures *f = &b->out->result.roots[order];
	int cpu = v->regime == TMIGR_HELD ? (int)b->topo->cpus[v->cpu].cpu : -1;
	struct tmigr_segment *s = NULL;
	struct tmigr_holder *h;

	f->regime_ns[v->regime] += to - from;
	if (cpu >= 0) {
		h = holder_of(f, cpu);
		h->held_ns += to - from;
		h->slot_ns[v->slot] += to - from;
		if (v->avoidable)
			h->avoidable_ns += to - from;
		else if (v->unsure)
			h->avoidable_unknown_ns += to - from;
	}
	for (size_t i = b->out->n_segs; i-- > 0 && !s;)
		if (b->out->segs[i].root == order)
			s = &b->out->segs[i];
	if (s && s->regime == v->regime && s->cpu == cpu) {
		s->end_ns = to;
		return;
	}
	b->out->segs = brute_more(b->out->segs, b->out->n_segs, sizeof(*s));
	b->out->segs[b->out->n_segs++] = (struct tmigr_segment){order, v->regime, cpu, from, to};
}

void brute_count_holdings(struct brute *out)
{
	for (size_t i = 0; i < out->n_segs; i++) {
		const struct tmigr_segment *s = &out->segs[i];
		struct tmigr_holder *h;

		if (s->regime != TMIGR_HELD)
			continue;
		h = holder_of(&out->result.roots[s->root], s->cpu);
		h->holdings++;
		if (s->end_ns - s->start_ns > h->longest_ns)
			h->longest_ns = s->end_ns - s->start_ns;
	}
}

static int compare_u64(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

/* All moments at which anything changes, and the window's ends. */
static size_t moments(const struct bstream *b, __u64 **ret)
{
	__u64 *t = calloc(b->n_changes + 3 * b->n_blurs + 2 * b->n_gaps + 2, sizeof(*t));
	size_t n = 0;

	t[n++] = b->start;
	t[n++] = b->end;
	for (size_t i = 0; i < b->n_changes; i++)
		t[n++] = b->changes[i].t;
	for (size_t i = 0; i < b->n_blurs; i++) {
		t[n++] = b->blurs[i].from;
		t[n++] = b->blurs[i].to;
		t[n++] = b->blurs[i].shape;
	}
	for (size_t i = 0; i < b->n_gaps; i++) {
		t[n++] = b->gaps[i].from;
		t[n++] = b->gaps[i].to;
	}
	qsort(t, n, sizeof(*t), compare_u64);
	*ret = t;
	return n;
}

void brute_sort_changes(struct bstream *b)
{
	/* two runs, each by time: insertion keeps what is equal in order */
	for (size_t i = 1; i < b->n_changes; i++) {
		struct change c = b->changes[i];
		size_t at = i;

		while (at > 0 && b->changes[at - 1].t > c.t) {
			b->changes[at] = b->changes[at - 1];
			at--;
		}
		b->changes[at] = c;
	}
}

void brute_judge_roots(struct bstream *b)
{
	struct bstate s;
	__u64 *t;
	size_t n = moments(b, &t), at = 0;

	brute_state_init(&s, b->topo, b->state.n_groups);
	memcpy(s.groups, b->state.groups, b->state.n_groups * sizeof(*s.groups));
	s.n_groups = b->state.n_groups;
	for (size_t i = 0; i < s.n_groups; i++) {
		s.groups[i].parent = -1;
		s.groups[i].learnt = s.groups[i].known = false;
		for (int k = 0; k < 8; k++)
			s.groups[i].child_cpu[k] = s.groups[i].child_group[k] = -1;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		for (; at < b->n_changes && b->changes[at].t <= t[i]; at++)
			brute_apply(&s, b->topo, &b->changes[at]);
		if (t[i] == t[i + 1] || t[i] < b->start || t[i] >= b->end)
			continue;
		for (size_t k = 0; k < b->state.n_roots; k++) {
			int root = k < s.n_roots ? (int)k : -1;
			struct verdict v;

			if (b->state.roots[k].order < 0)
				continue;
			v = judge(b, &s, root, t[i]);
			add_verdict(b, b->state.roots[k].order, &v, t[i], t[i + 1]);
		}
	}
	free(t);
	brute_state_free(&s);
}
