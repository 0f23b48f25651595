// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Groups, what is linked to what, and which root stands above it.
 *
 * The kernel sets a link once and never changes it, so the first word about a
 * link holds.  What is linked where changes seldom: everything that follows
 * from it (roots of groups and CPUs, counters of the roots) is then made anew.
 *
 * Roots: a group without parent becomes one when a NODE_GROUP says that it has
 * none.  When it gets a parent, its account goes on under the new top; of two
 * roots that come together the younger one ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "model_internal.h"

int tmigr_hier_group(struct tmigr_model *m, __u64 key)
{
	int idx = tmigr_map_get(&m->group_map, key);
	struct tmigr_group *g;

	if (idx >= 0 || !key)
		return idx;
	m->err = tmigr_grow(&m->groups, &m->cap_groups, m->n_groups + 1, sizeof(*m->groups));
	if (!m->err)
		m->err = tmigr_map_put(&m->group_map, key, m->n_groups);
	if (m->err)
		return -1;
	g = &m->groups[m->n_groups];
	*g = (struct tmigr_group){.key = key, .parent = -1, .root = -1, .node = -1};
	for (int i = 0; i < TMIGR_CHILDREN; i++)
		g->child_cpu[i] = g->child_group[i] = -1;
	return m->n_groups++;
}

/* Bit number of a one-hot mask, or -1. */
static int mask_bit(__u8 mask)
{
	if (!mask || mask & (mask - 1))
		return -1;
	return __builtin_ctz(mask);
}

static int top_of(const struct tmigr_model *m, int group)
{
	while (m->groups[group].parent >= 0)
		group = m->groups[group].parent;
	return group;
}

bool tmigr_hier_is_below(const struct tmigr_model *m, int group, int above)
{
	while (group >= 0 && group != above)
		group = m->groups[group].parent;
	return group >= 0;
}

/* ---- links ---- */

/* Moves a CPU to the root that stands above it now. */
static void place_cpu(struct tmigr_model *m, int cpu)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];
	int root = c->group < 0 ? -1 : m->groups[c->group].root;

	if (root != c->root && c->duty == TMIGR_DUTY_PENDING)
		tmigr_root_duty(m, cpu, TMIGR_DUTY_UNKNOWN, TMIGR_KTIME_MAX, TMIGR_DUTY_UNKNOWN);
	tmigr_root_count_cpu(m, cpu, -1);
	c->root = root;
	tmigr_root_count_cpu(m, cpu, 1);
}

/* After a link was set: roots of all groups and CPUs. */
static void rebuild(struct tmigr_model *m)
{
	for (size_t i = 0; i < m->n_cpus; i++)
		tmigr_root_count_cpu(m, i, -1);
	for (size_t i = 0; i < m->n_groups; i++)
		m->groups[i].root = -1;
	for (size_t i = 0; i < m->n_roots; i++)
		if (!m->roots[i].dead)
			m->groups[m->roots[i].top].root = i;
	for (size_t i = 0; i < m->n_groups; i++) {
		struct tmigr_group *g = &m->groups[i];

		g->root = m->groups[top_of(m, i)].root;
		for (int bit = 0; bit < TMIGR_CHILDREN; bit++)
			if (g->root >= 0 && g->child_cpu[bit] == -2)
				m->roots[g->root].foreign = true;
	}
	for (size_t i = 0; i < m->n_cpus; i++)
		tmigr_root_count_cpu(m, i, 1);
	for (size_t i = 0; i < m->n_cpus; i++)
		place_cpu(m, i);
	tmigr_root_update_all(m);
	tmigr_group_look_all(m);
}

/* Roots whose top is @top now: the oldest goes on, the others end. */
static void merge_roots(struct tmigr_model *m, int top)
{
	int first = -1;

	for (size_t i = 0; i < m->n_roots; i++) {
		struct tmigr_root *r = &m->roots[i];

		if (r->dead || top_of(m, r->top) != top)
			continue;
		if (first >= 0) {
			r->dead = true;
			m->roots[first].foreign |= r->foreign;
			continue;
		}
		r->top = top;
		r->shape_ns = m->now_ns;
		first = i;
	}
}

static void set_parent(struct tmigr_model *m, int group, int parent, __u8 mask)
{
	struct tmigr_group *g = &m->groups[group], *p = &m->groups[parent];
	int bit = mask_bit(mask);

	if (g->parent == parent && !g->mask && bit >= 0 && p->child_group[bit] == -1) {
		g->mask = mask; /* the link was known, and not its place */
		p->child_group[bit] = group;
		if (g->root >= 0)
			m->roots[g->root].shape_ns = m->now_ns;
		tmigr_root_update_all(m);
	}
	if (g->parent >= 0 || tmigr_hier_is_below(m, parent, group))
		return;
	g->parent = parent;
	g->mask = mask;
	if (bit >= 0 && p->child_group[bit] == -1)
		p->child_group[bit] = group;
	if (!p->learnt && p->level <= g->level)
		p->level = g->level + 1;
	merge_roots(m, top_of(m, parent));
	rebuild(m);
}

void tmigr_hier_node_group(struct tmigr_model *m, const struct tmigr_rec *rec)
{
	int group = tmigr_hier_group(m, rec->a), parent = -1;
	struct tmigr_group *g;

	if (group < 0)
		return;
	if (rec->b)
		parent = tmigr_hier_group(m, rec->b);
	if (m->err)
		return;
	g = &m->groups[group];
	if (!g->learnt) {
		g->learnt = true;
		g->level = rec->level;
		g->mask = rec->mask;
		g->node = (__s32)rec->cpu;
		if (g->root >= 0)
			m->roots[g->root].shape_ns = m->now_ns;
		if (g->root >= 0)
			tmigr_root_update(m, g->root);
	}
	if (parent >= 0) {
		set_parent(m, group, parent, rec->mask);
	} else if (g->parent < 0 && g->root < 0) {
		if (tmigr_root_new(m, group) >= 0)
			rebuild(m);
	}
}

void tmigr_hier_node_cpu(struct tmigr_model *m, const struct tmigr_rec *rec)
{
	int group = tmigr_hier_group(m, rec->a), cpu = tmigr_model_cpu(m, rec->b);
	int bit = mask_bit(rec->mask);
	struct tmigr_group *g;

	if (group < 0)
		return;
	g = &m->groups[group];
	if (cpu < 0) {
		if (bit < 0 || g->child_cpu[bit] != -1)
			return;
		g->child_cpu[bit] = -2;
		if (g->root >= 0)
			m->roots[g->root].foreign = true;
	} else {
		if (m->cpus[cpu].group >= 0 && (m->cpus[cpu].group != group || m->cpus[cpu].mask))
			return;
		/* A second time: its group was known, and not its place there. */
		tmigr_root_count_cpu(m, cpu, -1);
		if (bit >= 0 && g->child_cpu[bit] == -1) {
			g->child_cpu[bit] = cpu;
			m->cpus[cpu].mask = rec->mask;
		}
		tmigr_root_count_cpu(m, cpu, 1);
		m->cpus[cpu].group = group;
		place_cpu(m, cpu);
	}
	if (g->root >= 0)
		m->roots[g->root].shape_ns = m->now_ns;
	tmigr_root_update_all(m);
	tmigr_group_look(m, group);
}

/* ---- words ---- */

void tmigr_hier_set_word(struct tmigr_model *m, int group, __u32 word)
{
	struct tmigr_group *g = &m->groups[group];
	__u8 changed = tmigr_word_active(word) ^ tmigr_word_active(g->word);

	if (!g->known)
		changed = 0xff;
	for (int i = 0; i < TMIGR_CHILDREN; i++)
		if (changed >> i & 1 && g->child_cpu[i] >= 0)
			tmigr_root_count_cpu(m, g->child_cpu[i], -1);
	g->known = true;
	g->word = word;
	for (int i = 0; i < TMIGR_CHILDREN; i++)
		if (changed >> i & 1 && g->child_cpu[i] >= 0)
			tmigr_root_count_cpu(m, g->child_cpu[i], 1);
}

/* ---- views ---- */

/* Lowest topology CPU of each group and how many; by adding each CPU to the
 * groups on its way up. */
static void count_below(const struct tmigr_model *m, unsigned int *lowest, size_t *n)
{
	for (size_t i = 0; i < m->n_groups; i++) {
		lowest[i] = -1;
		n[i] = 0;
	}
	for (size_t i = 0; i < m->n_cpus; i++)
		for (int g = m->cpus[i].group; g >= 0; g = m->groups[g].parent) {
			n[g]++;
			if (m->cpus[i].cpu < lowest[g])
				lowest[g] = m->cpus[i].cpu;
		}
}

unsigned int tmigr_hier_lowest_cpu(const struct tmigr_model *m, int group)
{
	for (size_t i = 0; i < m->n_cpus; i++)
		if (m->cpus[i].group >= 0 && tmigr_hier_is_below(m, m->cpus[i].group, group))
			return m->cpus[i].cpu;
	return -1;
}

struct place {
	unsigned int level, lowest;
	int group; /* index in the model */
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	if (x->lowest != y->lowest)
		return x->lowest < y->lowest ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

/* A group that nothing is linked to and that no NODE_GROUP told of is no part
 * of the hierarchy that can be shown. */
static bool is_shown(const struct tmigr_group *g)
{
	if (g->learnt || g->parent >= 0)
		return true;
	for (int i = 0; i < TMIGR_CHILDREN; i++)
		if (g->child_group[i] >= 0 || g->child_cpu[i] >= 0)
			return true;
	return false;
}

static int view_cpu_active(const struct tmigr_model *m, const struct tmigr_mcpu *c)
{
	const struct tmigr_group *g = c->group >= 0 ? &m->groups[c->group] : NULL;

	if (!g || !g->known || !c->mask)
		return -1;
	return (tmigr_word_active(g->word) & c->mask) ? 1 : 0;
}

static void view_cpus(const struct tmigr_model *m, struct tmigr_hierarchy *h, const int *view_of)
{
	for (size_t i = 0; i < m->n_cpus; i++) {
		const struct tmigr_mcpu *c = &m->cpus[i];

		h->cpus[i] = (struct tmigr_cpu_view){
			.cpu = c->cpu,
			.group = c->group >= 0 ? view_of[c->group] : -1,
			.mask = c->mask,
			.learnt = c->group >= 0,
			.available = c->available,
			.active = view_cpu_active(m, c),
			.slot = c->slot,
			.wakeup_ns = c->wakeup_ns,
			.wakeup_known = c->duty == TMIGR_DUTY_SET || c->duty == TMIGR_DUTY_NONE,
		};
	}
}

static void view_groups(const struct tmigr_model *m, struct tmigr_hierarchy *h,
			const struct place *places, const int *view_of, const size_t *n_below)
{
	unsigned int n = 0;

	for (size_t i = 0; i < h->n_groups; i++) {
		const struct tmigr_group *g = &m->groups[places[i].group];
		struct tmigr_group_view *v = &h->groups[i];

		if (i && places[i].level != places[i - 1].level)
			n = 0;
		*v = (struct tmigr_group_view){
			.number = places[i].group,
			.parent = g->parent >= 0 ? view_of[g->parent] : -1,
			.level = g->level,
			.mask = g->mask,
			.node = g->node,
			.known = g->known,
			.word = g->word,
			.n_cpus = n_below[places[i].group],
		};
		snprintf(v->name, sizeof(v->name), "GRP%u:%u", g->level, n++);
	}
}

static void view_roots(const struct tmigr_model *m, struct tmigr_hierarchy *h, const int *view_of)
{
	for (size_t i = 0; i < m->n_roots; i++) {
		struct tmigr_root_view *v = &h->roots[h->n_roots];

		if (m->roots[i].dead)
			continue;
		v->group = view_of[m->roots[i].top];
		v->regime = tmigr_root_present(m, i, &v->cpu);
		h->n_roots++;
	}
}

static int fill_view(const struct tmigr_model *m, struct tmigr_hierarchy *h)
{
	size_t n = m->n_groups, shown = 0;
	struct place *places = calloc(n + 1, sizeof(*places));
	unsigned int *lowest = calloc(n + 1, sizeof(*lowest));
	size_t *n_below = calloc(n + 1, sizeof(*n_below));
	int *view_of = calloc(n + 1, sizeof(*view_of)), err = -ENOMEM;

	h->groups = calloc(n + 1, sizeof(*h->groups));
	h->cpus = calloc(m->n_cpus + 1, sizeof(*h->cpus));
	h->roots = calloc(m->n_roots + 1, sizeof(*h->roots));
	if (!places || !lowest || !n_below || !view_of || !h->groups || !h->cpus || !h->roots)
		goto out;
	count_below(m, lowest, n_below);
	for (size_t i = 0; i < n; i++) {
		view_of[i] = -1;
		if (is_shown(&m->groups[i]))
			places[shown++] = (struct place){m->groups[i].level, lowest[i], i};
	}
	qsort(places, shown, sizeof(*places), compare_places);
	for (size_t i = 0; i < shown; i++)
		view_of[places[i].group] = i;
	h->n_groups = shown;
	h->n_cpus = m->n_cpus;
	view_groups(m, h, places, view_of, n_below);
	view_cpus(m, h, view_of);
	view_roots(m, h, view_of);
	err = 0;
out:
	free(places);
	free(lowest);
	free(n_below);
	free(view_of);
	return err;
}

int tmigr_model_hierarchy(const struct tmigr_model *m, struct tmigr_hierarchy **ret)
{
	struct tmigr_hierarchy *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	err = fill_view(m, h);
	if (err) {
		tmigr_hierarchy_free(h);
		return err;
	}
	*ret = h;
	return 0;
}

void tmigr_hierarchy_free(struct tmigr_hierarchy *h)
{
	if (!h)
		return;
	free(h->groups);
	free(h->cpus);
	free(h->roots);
	free(h);
}
