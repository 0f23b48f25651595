// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts "roots" and "hierarchy" of the report. */
#include "report_parts.h"

#include <stdlib.h>

/* Index of the root above group @g, or -1.  A path is at most as long as there
 * are groups: a circle, which the kernel cannot make, ends too. */
static int root_above(const struct tmigr_hierarchy *h, int g)
{
	for (size_t steps = 0; g >= 0 && (size_t)g < h->n_groups && steps <= h->n_groups; steps++) {
		if (h->groups[g].parent < 0)
			return g;
		g = h->groups[g].parent;
	}
	return -1;
}

/* Whether CPU (topology index @i) is below group @g. */
static bool below(const struct tmigr_hierarchy *h, size_t i, int g)
{
	int at = i < h->n_cpus ? h->cpus[i].group : -1;

	for (size_t steps = 0; at >= 0 && (size_t)at < h->n_groups && steps <= h->n_groups;
	     steps++) {
		if (at == g)
			return true;
		at = h->groups[at].parent;
	}
	return false;
}

static json_t *cpus_below(const struct tmigr_report_source *in, int g)
{
	unsigned int *cpus = calloc(in->topo->n_cpus + 1, sizeof(*cpus));
	json_t *list;
	size_t n = 0;

	if (!cpus)
		return NULL;
	for (size_t i = 0; i < in->topo->n_cpus; i++)
		if (below(in->h, i, g))
			cpus[n++] = in->topo->cpus[i].cpu;
	list = tmigr_json_cpulist(cpus, n);
	free(cpus);
	return list;
}

/* ---- holders ---- */

static json_t *holder_states(const struct tmigr_topo_cpu *cpu, const struct tmigr_holder *hold)
{
	json_t *states = json_array();
	bool bad = !states;
	char buf[32];

	for (unsigned int k = 0; k < TMIGR_STATES && !bad; k++) {
		__u64 ns = hold->slot_ns[TMIGR_SLOT_STATE0 + k];
		json_t *s;

		if (k >= cpu->n_states && !ns)
			continue;
		s = json_object();
		tmigr_put(s, "index", json_integer(k), &bad);
		tmigr_put(s, "name", json_string(tmigr_state_name(cpu, k, buf)), &bad);
		tmigr_put(s, "time_ns", tmigr_json_u64(ns), &bad);
		bad |= json_array_append_new(states, s) < 0;
	}
	return tmigr_whole(states, bad);
}

static json_t *build_holder(const struct tmigr_topology *topo, const struct tmigr_holder *hold)
{
	static const struct tmigr_topo_cpu nobody;
	int i = tmigr_topology_index(topo, hold->cpu);
	const struct tmigr_topo_cpu *cpu = i >= 0 ? &topo->cpus[i] : &nobody;
	/* A CPU that is going down can be the migrator for a moment. */
	__u64 unknown = hold->slot_ns[TMIGR_SLOT_UNKNOWN] + hold->slot_ns[TMIGR_SLOT_OFFLINE];
	const char *class_name = i >= 0 ? topo->classes[cpu->class_idx].name : "?";
	json_t *o = json_object();
	bool bad = !o;

	tmigr_put(o, "cpu", tmigr_json_u64(hold->cpu), &bad);
	tmigr_put(o, "class", json_string(class_name), &bad);
	tmigr_put(o, "held_ns", tmigr_json_u64(hold->held_ns), &bad);
	tmigr_put(o, "holdings", tmigr_json_u64(hold->holdings), &bad);
	tmigr_put(o, "longest_ns", tmigr_json_u64(hold->longest_ns), &bad);
	tmigr_put(o, "running_ns", tmigr_json_u64(hold->slot_ns[TMIGR_SLOT_RUNNING]), &bad);
	tmigr_put(o, "unknown_state_ns", tmigr_json_u64(unknown), &bad);
	tmigr_put(o, "idle_ns", holder_states(cpu, hold), &bad);
	tmigr_put(o, "avoidable_ns", tmigr_json_u64(hold->avoidable_ns), &bad);
	tmigr_put(o, "avoidable_unknown_ns", tmigr_json_u64(hold->avoidable_unknown_ns), &bad);
	return tmigr_whole(o, bad);
}

static json_t *build_holders(const struct tmigr_topology *topo, const struct tmigr_root_figures *r)
{
	json_t *holders = json_array();
	bool bad = !holders;

	for (size_t i = 0; i < r->n_holders && !bad; i++)
		bad |= json_array_append_new(holders, build_holder(topo, &r->holders[i])) < 0;
	return tmigr_whole(holders, bad);
}

/* ---- per class ---- */

struct class_sum {
	size_t n_cpus; /* of the root */
	__u64 held_ns, avoidable_ns, avoidable_unknown_ns;
};

static void sum_classes(const struct tmigr_report_source *in, const struct tmigr_root_figures *r,
			struct class_sum *sums)
{
	for (size_t i = 0; i < in->topo->n_cpus; i++)
		if (below(in->h, i, (int)r->group))
			sums[in->topo->cpus[i].class_idx].n_cpus++;
	for (size_t k = 0; k < r->n_holders; k++) {
		const struct tmigr_holder *hold = &r->holders[k];
		int i = tmigr_topology_index(in->topo, hold->cpu);
		struct class_sum *s;

		if (i < 0)
			continue;
		s = &sums[in->topo->cpus[i].class_idx];
		s->held_ns += hold->held_ns;
		s->avoidable_ns += hold->avoidable_ns;
		s->avoidable_unknown_ns += hold->avoidable_unknown_ns;
	}
}

/* Classes with a CPU below the root, or a holder. */
static json_t *build_root_classes(const struct tmigr_report_source *in,
				  const struct tmigr_root_figures *r)
{
	struct class_sum *sums = calloc(in->topo->n_classes + 1, sizeof(*sums));
	json_t *array = json_array();
	bool bad = !array || !sums;

	if (!bad)
		sum_classes(in, r, sums);
	for (size_t i = 0; i < in->topo->n_classes && !bad; i++) {
		const struct class_sum *s = &sums[i];
		json_t *c;

		if (!s->n_cpus && !s->held_ns)
			continue;
		c = json_object();
		tmigr_put(c, "name", json_string(in->topo->classes[i].name), &bad);
		tmigr_put(c, "n_cpus", tmigr_json_u64(s->n_cpus), &bad);
		tmigr_put(c, "held_ns", tmigr_json_u64(s->held_ns), &bad);
		tmigr_put(c, "avoidable_ns", tmigr_json_u64(s->avoidable_ns), &bad);
		tmigr_put(c, "avoidable_unknown_ns", tmigr_json_u64(s->avoidable_unknown_ns), &bad);
		bad |= json_array_append_new(array, c) < 0;
	}
	free(sums);
	return tmigr_whole(array, bad);
}

static json_t *build_root(const struct tmigr_report_source *in, const struct tmigr_root_figures *r)
{
	const char *name = r->group < in->h->n_groups ? in->h->groups[r->group].name : "?";
	json_t *o = json_object();
	bool bad = !o;

	tmigr_put(o, "group", json_string(name), &bad);
	tmigr_put(o, "cpus", cpus_below(in, (int)r->group), &bad);
	tmigr_put(o, "held_ns", tmigr_json_u64(r->regime_ns[TMIGR_HELD]), &bad);
	tmigr_put(o, "handover_ns", tmigr_json_u64(r->regime_ns[TMIGR_HANDOVER]), &bad);
	tmigr_put(o, "duty_ns", tmigr_json_u64(r->regime_ns[TMIGR_DUTY]), &bad);
	tmigr_put(o, "free_ns", tmigr_json_u64(r->regime_ns[TMIGR_FREE]), &bad);
	tmigr_put(o, "unknown_ns", tmigr_json_u64(r->regime_ns[TMIGR_UNKNOWN]), &bad);
	tmigr_put(o, "classes", build_root_classes(in, r), &bad);
	tmigr_put(o, "holders", build_holders(in->topo, r), &bad);
	return tmigr_whole(o, bad);
}

json_t *tmigr_report_roots(const struct tmigr_report_source *in)
{
	const struct tmigr_result *res = in->res;
	json_t *roots = json_array();
	bool bad = !roots;

	for (size_t i = 0; i < res->n_roots && !bad; i++)
		bad |= json_array_append_new(roots, build_root(in, &res->roots[i])) < 0;
	return tmigr_whole(roots, bad);
}

/* ---- hierarchy ---- */

static json_t *build_group(const struct tmigr_report_source *in, size_t g)
{
	const struct tmigr_group_view *v = &in->h->groups[g];
	bool has_parent = v->parent >= 0 && (size_t)v->parent < in->h->n_groups;
	int root = root_above(in->h, (int)g);
	json_t *o = json_object();
	bool bad = !o;

	tmigr_put(o, "name", json_string(v->name), &bad);
	tmigr_put(o, "level", tmigr_json_u64(v->level), &bad);
	tmigr_put(o, "parent",
		  has_parent ? json_string(in->h->groups[v->parent].name) : json_null(), &bad);
	tmigr_put(o, "root", root >= 0 ? json_string(in->h->groups[root].name) : json_null(), &bad);
	tmigr_put(o, "mask", tmigr_json_u64(v->mask), &bad);
	tmigr_put(o, "node", v->node >= 0 ? json_integer(v->node) : json_null(), &bad);
	tmigr_put(o, "cpus", cpus_below(in, (int)g), &bad);
	return tmigr_whole(o, bad);
}

static json_t *build_groups(const struct tmigr_report_source *in)
{
	json_t *groups = json_array();
	bool bad = !groups;

	for (size_t g = 0; g < in->h->n_groups && !bad; g++)
		bad |= json_array_append_new(groups, build_group(in, g)) < 0;
	return tmigr_whole(groups, bad);
}

static json_t *build_places(const struct tmigr_hierarchy *h)
{
	json_t *cpus = json_array();
	bool bad = !cpus;

	for (size_t i = 0; i < h->n_cpus && !bad; i++) {
		const struct tmigr_cpu_view *v = &h->cpus[i];
		bool placed = v->group >= 0 && (size_t)v->group < h->n_groups;
		json_t *o = json_object();

		tmigr_put(o, "cpu", tmigr_json_u64(v->cpu), &bad);
		tmigr_put(o, "group", placed ? json_string(h->groups[v->group].name) : json_null(),
			  &bad);
		tmigr_put(o, "mask", placed ? json_integer(v->mask) : json_null(), &bad);
		bad |= json_array_append_new(cpus, o) < 0;
	}
	return tmigr_whole(cpus, bad);
}

/* CPUs that should be in the hierarchy, whose place never showed. */
static json_t *build_unlearnt(const struct tmigr_report_source *in)
{
	unsigned int *cpus = calloc(in->topo->n_cpus + 1, sizeof(*cpus));
	json_t *list;
	size_t n = 0;

	if (!cpus)
		return NULL;
	for (size_t i = 0; i < in->topo->n_cpus && i < in->h->n_cpus; i++) {
		const struct tmigr_topo_cpu *c = &in->topo->cpus[i];

		if (c->online && !c->isolated && !in->h->cpus[i].learnt)
			cpus[n++] = c->cpu;
	}
	list = tmigr_json_cpulist(cpus, n);
	free(cpus);
	return list;
}

json_t *tmigr_report_hierarchy(const struct tmigr_report_source *in)
{
	json_t *o = json_object();
	bool bad = !o;

	tmigr_put(o, "groups", build_groups(in), &bad);
	tmigr_put(o, "cpus", build_places(in->h), &bad);
	tmigr_put(o, "unlearnt", build_unlearnt(in), &bad);
	return tmigr_whole(o, bad);
}
