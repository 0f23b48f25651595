// SPDX-License-Identifier: GPL-2.0-or-later
/* The hierarchy as JSON: docs/tree-schema.md. */
#include "report_parts.h"
#include "tree_common.h"

#define TREE_SCHEMA_VERSION 1

/* {"known", "at_ns", "in_ns"}: at_ns null when nothing is pending. */
static json_t *expiry_json(const struct tmigr_tree *t, __u64 at_ns)
{
	if (!at_ns || at_ns >= TMIGR_KTIME_MAX)
		return json_pack("{sb sn sn}", "known", at_ns ? 1 : 0, "at_ns", "in_ns");
	return json_pack("{sb sI sI}", "known", 1, "at_ns", (json_int_t)at_ns, "in_ns",
			 (json_int_t)at_ns - (json_int_t)t->now_ns);
}

static json_t *group_name(const struct tmigr_tree *t, int group)
{
	return group < 0 ? json_null() : json_string(t->h->groups[group].name);
}

static json_t *cpu_number(const struct tmigr_tree *t, int index)
{
	return index < 0 ? json_null() : json_integer(t->h->cpus[index].cpu);
}

static json_t *word_json(const struct tmigr_group_view *g)
{
	if (!g->known)
		return json_null();
	return json_pack("{si si si}", "active", tmigr_word_active(g->word), "migrator",
			 tmigr_word_migrator(g->word), "seq", tmigr_word_seq(g->word));
}

static json_t *group_json(const struct tmigr_tree *t, size_t i)
{
	const struct tmigr_group_view *g = &t->h->groups[i];
	struct tree_migrator m = tree_migrator(t, i);

	return json_pack("{ss so si si so si so sb so so so}", "name", g->name, "parent",
			 group_name(t, g->parent), "level", (int)g->level, "mask", g->mask, "node",
			 g->node < 0 ? json_null() : json_integer(g->node), "cpus", (int)g->n_cpus,
			 "word", word_json(g), "migrator_known", m.known, "migrator_cpu",
			 cpu_number(t, m.cpu), "migrator_group", group_name(t, m.group),
			 "next_expiry", expiry_json(t, tree_group_expiry(t, i)));
}

/* Index of the cpuidle state; null while it is in none, or that is not known. */
static json_t *state_index(const struct tmigr_cpu_view *c)
{
	if (c->slot < TMIGR_SLOT_STATE0 || c->slot >= TMIGR_SLOT_UNKNOWN)
		return json_null();
	return json_integer(c->slot - TMIGR_SLOT_STATE0);
}

static json_t *cpu_json(const struct tmigr_tree *t, size_t i)
{
	const struct tmigr_topo_cpu *topo = &t->topo->cpus[i];
	const struct tmigr_cpu_view *c = &t->h->cpus[i];
	enum tree_place place = tree_place(t, i);
	bool global = tree_is_global(t, i);
	bool migrator = c->group >= 0 && tree_migrator(t, (size_t)c->group).cpu == (int)i;
	bool duty = c->wakeup_known && c->active == 0;
	char state[64];

	tree_state_name(t, i, state, sizeof(state));
	return json_pack("{si ss so sb sb sb so si ss ss so sb sb so so}", "cpu", (int)topo->cpu,
			 "class", t->topo->classes[topo->class_idx].name, "capacity",
			 tmigr_json_capacity(topo->capacity), "online", topo->online, "isolated",
			 topo->isolated, "seen", place == TREE_IN || place == TREE_LEFT, "group",
			 group_name(t, c->group), "mask", c->mask, "tmigr", tree_tmigr_name(t, i),
			 "state_name", state, "state", state_index(c), "migrator", migrator,
			 "global_migrator", global, "next_expiry",
			 expiry_json(t, tree_cpu_expiry(t, i)), "wakeup_duty",
			 expiry_json(t, duty ? c->wakeup_ns : 0));
}

static json_t *root_json(const struct tmigr_tree *t, size_t i)
{
	const struct tmigr_root_view *r = &t->h->roots[i];
	bool held = r->regime == TMIGR_HELD && r->cpu >= 0;

	return json_pack("{ss ss so}", "group", t->h->groups[r->group].name, "regime",
			 tree_regime_name(r->regime), "cpu",
			 held ? json_integer(r->cpu) : json_null());
}

static json_t *list_json(const struct tmigr_tree *t, size_t n,
			 json_t *(*item)(const struct tmigr_tree *, size_t))
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; list && i < n; i++)
		if (json_array_append_new(list, item(t, i))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

json_t *tmigr_tree_json(const struct tmigr_tree *t)
{
	size_t seen, of;

	tree_seen(t, &seen, &of);
	return json_pack("{ss si sI si si so so so}", "schema", "tmigr-tree", "version",
			 TREE_SCHEMA_VERSION, "time_ns", (json_int_t)t->now_ns, "cpus_seen",
			 (int)seen, "cpus_expected", (int)of, "roots",
			 list_json(t, t->h->n_roots, root_json), "groups",
			 list_json(t, t->h->n_groups, group_json), "cpus",
			 list_json(t, t->h->n_cpus, cpu_json));
}
