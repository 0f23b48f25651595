// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A moment from its JSON (docs/tree-schema.md): what a daemon sends.  It may be
 * anything, so whatever the views take for granted is checked.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/engine.h"
#include "tree_common.h"

/* Groups hold 8 children: 16 levels are more CPUs than there can be. */
#define LEVEL_MAX 16

/* Where members are missing or wrong, the first is told. */
struct parse {
	const struct tmigr_topology *topo;
	struct tmigr_moment *m;
	const char *fault; /* name of the first bad member; NULL none */
};

static long long get_int(struct parse *p, const json_t *obj, const char *key, long long min,
			 long long max)
{
	const json_t *v = json_object_get(obj, key);

	if (json_is_integer(v) && json_integer_value(v) >= min && json_integer_value(v) <= max)
		return json_integer_value(v);
	if (!p->fault)
		p->fault = key;
	return min;
}

/* @none where it is null. */
static long long get_int_or(struct parse *p, const json_t *obj, const char *key, long long max,
			    long long none)
{
	return json_is_null(json_object_get(obj, key)) ? none : get_int(p, obj, key, 0, max);
}

static const char *get_text(struct parse *p, const json_t *obj, const char *key)
{
	const char *text = json_string_value(json_object_get(obj, key));

	if (!text && !p->fault)
		p->fault = key;
	return text ? text : "";
}

/* Index of the group that the member names; -1 where it is null. */
static int get_group(struct parse *p, const json_t *obj, const char *key)
{
	const char *name;

	if (json_is_null(json_object_get(obj, key)))
		return -1;
	name = get_text(p, obj, key);
	for (size_t i = 0; i < p->m->h->n_groups; i++)
		if (!strcmp(p->m->h->groups[i].name, name))
			return (int)i;
	if (!p->fault)
		p->fault = key;
	return -1;
}

/* 0: not known. */
static __u64 get_expiry(struct parse *p, const json_t *obj, const char *key)
{
	const json_t *expiry = json_object_get(obj, key);
	const json_t *known = json_object_get(expiry, "known");

	if (!json_is_boolean(known) && !p->fault)
		p->fault = key;
	if (!json_is_true(known))
		return 0;
	return (__u64)get_int_or(p, expiry, "at_ns", (long long)TMIGR_KTIME_MAX,
				 (long long)TMIGR_KTIME_MAX);
}

static void parse_word(struct parse *p, const json_t *obj, struct tmigr_group_view *g)
{
	const json_t *word = json_object_get(obj, "word");

	g->known = !json_is_null(word);
	if (!g->known)
		return;
	g->word = (__u32)get_int(p, word, "active", 0, 0xff) |
		  (__u32)get_int(p, word, "migrator", 0, 0xff) << 8 |
		  (__u32)get_int(p, word, "seq", 0, 0xffff) << 16;
}

static void parse_group(struct parse *p, const json_t *obj, size_t i)
{
	struct tmigr_group_view *g = &p->m->h->groups[i];

	snprintf(g->name, sizeof(g->name), "%s", get_text(p, obj, "name"));
	g->level = (unsigned int)get_int(p, obj, "level", 0, LEVEL_MAX);
	g->mask = (__u8)get_int(p, obj, "mask", 0, 0xff);
	g->node = (int)get_int_or(p, obj, "node", INT32_MAX, -1);
	g->n_cpus = (size_t)get_int(p, obj, "cpus", 0, TMIGR_CPU_MAX + 1);
	p->m->group_expiry_ns[i] = get_expiry(p, obj, "next_expiry");
	parse_word(p, obj, g);
}

/* When all have their names.  A parent is of a higher level: no circles. */
static void parse_parent(struct parse *p, const json_t *obj, size_t i)
{
	struct tmigr_group_view *g = &p->m->h->groups[i];

	g->parent = get_group(p, obj, "parent");
	if (g->parent >= 0 && p->m->h->groups[g->parent].level <= g->level && !p->fault)
		p->fault = "parent";
}

static unsigned int slot_of(struct parse *p, const json_t *obj)
{
	const char *name = get_text(p, obj, "state_name");
	long long state = get_int_or(p, obj, "state", TMIGR_STATES - 1, -1);

	if (state >= 0)
		return TMIGR_SLOT_STATE0 + (unsigned int)state;
	if (!strcmp(name, "running"))
		return TMIGR_SLOT_RUNNING;
	return !strcmp(name, "offline") ? TMIGR_SLOT_OFFLINE : TMIGR_SLOT_UNKNOWN;
}

static void parse_cpu(struct parse *p, const json_t *obj, size_t i)
{
	struct tmigr_cpu_view *c = &p->m->h->cpus[i];
	const char *tmigr = get_text(p, obj, "tmigr");
	bool idle = !strcmp(tmigr, "idle"), active = !strcmp(tmigr, "active");

	c->cpu = (unsigned int)get_int(p, obj, "cpu", 0, TMIGR_CPU_MAX);
	if (c->cpu != p->topo->cpus[i].cpu && !p->fault)
		p->fault = "cpu";
	c->group = get_group(p, obj, "group");
	c->mask = (__u8)get_int(p, obj, "mask", 0, 0xff);
	c->learnt = json_is_true(json_object_get(obj, "seen"));
	c->available = c->learnt && (idle || active || !strcmp(tmigr, "unknown"));
	c->slot = slot_of(p, obj);
	c->wakeup_ns = get_expiry(p, obj, "wakeup_duty");
	c->wakeup_known = c->wakeup_ns;
	c->active = active ? 1 : idle || c->wakeup_known ? 0 : -1;
	p->m->cpu_expiry_ns[i] = get_expiry(p, obj, "next_expiry");
}

static void parse_root(struct parse *p, const json_t *obj, size_t i)
{
	struct tmigr_root_view *r = &p->m->h->roots[i];
	const char *regime = get_text(p, obj, "regime");
	int group = get_group(p, obj, "group");

	if (group < 0 && !p->fault)
		p->fault = "group";
	r->group = group < 0 ? 0 : (unsigned int)group;
	r->cpu = (int)get_int_or(p, obj, "cpu", TMIGR_CPU_MAX, -1);
	r->regime = TMIGR_UNKNOWN;
	for (int k = 0; k < TMIGR_REGIMES; k++)
		if (!strcmp(regime, tree_regime_name((enum tmigr_regime)k)))
			r->regime = (enum tmigr_regime)k;
}

static size_t count(struct parse *p, const json_t *list, const char *key)
{
	if (!json_is_array(list) && !p->fault)
		p->fault = key;
	return json_array_size(list);
}

static int reserve(struct tmigr_moment *m)
{
	struct tmigr_hierarchy *h = m->h;

	h->groups = calloc(h->n_groups + 1, sizeof(*h->groups));
	h->cpus = calloc(h->n_cpus + 1, sizeof(*h->cpus));
	h->roots = calloc(h->n_roots + 1, sizeof(*h->roots));
	m->group_expiry_ns = calloc(h->n_groups + 1, sizeof(__u64));
	m->cpu_expiry_ns = calloc(h->n_cpus + 1, sizeof(__u64));
	return h->groups && h->cpus && h->roots && m->group_expiry_ns && m->cpu_expiry_ns ? 0
											  : -ENOMEM;
}

static int parse(struct parse *p, const json_t *tree)
{
	const json_t *groups = json_object_get(tree, "groups");
	const json_t *cpus = json_object_get(tree, "cpus");
	const json_t *roots = json_object_get(tree, "roots");
	struct tmigr_hierarchy *h = p->m->h;

	p->m->now_ns = (__u64)get_int(p, tree, "time_ns", 0, INT64_MAX);
	h->n_groups = count(p, groups, "groups");
	h->n_cpus = count(p, cpus, "cpus");
	h->n_roots = count(p, roots, "roots");
	if (h->n_cpus != p->topo->n_cpus && !p->fault)
		p->fault = "cpus";
	if (p->fault)
		return -EINVAL;
	if (reserve(p->m) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_groups; i++)
		parse_group(p, json_array_get(groups, i), i);
	for (size_t i = 0; i < h->n_groups; i++)
		parse_parent(p, json_array_get(groups, i), i);
	for (size_t i = 0; i < h->n_cpus; i++)
		parse_cpu(p, json_array_get(cpus, i), i);
	for (size_t i = 0; i < h->n_roots; i++)
		parse_root(p, json_array_get(roots, i), i);
	return p->fault ? -EINVAL : 0;
}

int tmigr_tree_parse(const json_t *tree, const struct tmigr_topology *topo,
		     struct tmigr_moment **ret, struct tmigr_err *err)
{
	struct parse p = {.topo = topo, .m = calloc(1, sizeof(*p.m))};
	int r = -ENOMEM;

	if (p.m)
		p.m->h = calloc(1, sizeof(*p.m->h));
	if (p.m && p.m->h)
		r = parse(&p, tree);
	if (r == 0) {
		*ret = p.m;
		return 0;
	}
	tmigr_moment_free(p.m);
	if (r == -ENOMEM)
		return tmigr_fail(err, r, "out of memory");
	return tmigr_fail(err, r, "not a tree of this machine: \"%s\" is missing or wrong",
			  p.fault);
}
