// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree_common.h"

#include <stdio.h>

#include "report_parts.h"

struct tree_migrator tree_migrator(const struct tmigr_tree *t, size_t group)
{
	const struct tmigr_group_view *g = &t->h->groups[group];
	struct tree_migrator m = {.known = g->known, .none = true, .cpu = -1, .group = -1};
	__u8 mask = tmigr_word_migrator(g->word);
	size_t i;

	if (!g->known || mask == TMIGR_NO_MIGRATOR)
		return m;
	for (i = 0; !g->level && i < t->h->n_cpus; i++)
		if (t->h->cpus[i].group == (int)group && t->h->cpus[i].mask == mask)
			m.cpu = (int)i;
	for (i = 0; g->level && i < t->h->n_groups; i++)
		if (t->h->groups[i].parent == (int)group && t->h->groups[i].mask == mask)
			m.group = (int)i;
	m.none = m.cpu < 0 && m.group < 0;
	/* A child that nobody has shown yet: the word is known, its owner not. */
	if (m.none)
		m.known = false;
	return m;
}

enum tree_place tree_place(const struct tmigr_tree *t, size_t cpu)
{
	const struct tmigr_cpu_view *c = &t->h->cpus[cpu];
	const struct tmigr_topo_cpu *topo = &t->topo->cpus[cpu];

	if (c->learnt && c->group >= 0)
		return c->available ? TREE_IN : TREE_LEFT;
	if (!topo->online)
		return TREE_OFFLINE;
	return topo->isolated ? TREE_ISOLATED : TREE_UNSEEN;
}

void tree_seen(const struct tmigr_tree *t, size_t *ret_seen, size_t *ret_of)
{
	size_t i, n[TREE_PLACES] = {0};

	for (i = 0; i < t->h->n_cpus; i++)
		n[tree_place(t, i)]++;
	*ret_seen = n[TREE_IN] + n[TREE_LEFT];
	*ret_of = *ret_seen + n[TREE_UNSEEN];
}

void tree_state_name(const struct tmigr_tree *t, size_t cpu, char *text, size_t size)
{
	const struct tmigr_topo_cpu *topo = &t->topo->cpus[cpu];
	unsigned int slot = t->h->cpus[cpu].slot, state = slot - TMIGR_SLOT_STATE0;
	char buf[32];

	if (slot == TMIGR_SLOT_RUNNING)
		snprintf(text, size, "running");
	else if (slot == TMIGR_SLOT_OFFLINE || !topo->online)
		snprintf(text, size, "offline");
	else if (slot >= TMIGR_SLOT_UNKNOWN)
		snprintf(text, size, "unknown");
	else
		snprintf(text, size, "%s", tmigr_state_name(topo, state, buf));
}

const char *tree_tmigr_name(const struct tmigr_tree *t, size_t cpu)
{
	const struct tmigr_topo_cpu *topo = &t->topo->cpus[cpu];
	int active = t->h->cpus[cpu].active;

	switch (tree_place(t, cpu)) {
	case TREE_IN:
		return active < 0 ? "unknown" : active ? "active" : "idle";
	case TREE_LEFT:
		return !topo->online ? "offline" : topo->isolated ? "isolated" : "left";
	case TREE_OFFLINE:
		return "offline";
	case TREE_ISOLATED:
		return "isolated";
	default:
		return "unknown";
	}
}

const char *tree_regime_name(enum tmigr_regime regime)
{
	static const char *const names[TMIGR_REGIMES] = {
		[TMIGR_HELD] = "held", [TMIGR_HANDOVER] = "handover", [TMIGR_DUTY] = "duty",
		[TMIGR_FREE] = "free", [TMIGR_UNKNOWN] = "unknown",
	};

	return names[regime];
}

const struct tmigr_root_view *tree_root(const struct tmigr_tree *t, size_t group)
{
	size_t i;

	for (i = 0; i < t->h->n_roots; i++)
		if (t->h->roots[i].group == group)
			return &t->h->roots[i];
	return NULL;
}

bool tree_is_global(const struct tmigr_tree *t, size_t cpu)
{
	size_t i;

	for (i = 0; i < t->h->n_roots; i++)
		if (t->h->roots[i].regime == TMIGR_HELD &&
		    t->h->roots[i].cpu == (int)t->h->cpus[cpu].cpu)
			return true;
	return false;
}

__u64 tree_cpu_expiry(const struct tmigr_tree *t, size_t cpu)
{
	if (!t->cpu_expiry_ns || tree_place(t, cpu) != TREE_IN || t->h->cpus[cpu].active)
		return 0;
	return t->cpu_expiry_ns[cpu];
}

__u64 tree_group_expiry(const struct tmigr_tree *t, size_t group)
{
	return t->group_expiry_ns ? t->group_expiry_ns[group] : 0;
}

void tree_in(const struct tmigr_tree *t, __u64 at_ns, char *text, size_t size)
{
	double ns;

	if (!at_ns) {
		snprintf(text, size, "?");
		return;
	}
	if (at_ns >= TMIGR_KTIME_MAX) {
		snprintf(text, size, "none");
		return;
	}
	if (at_ns <= t->now_ns) {
		snprintf(text, size, "due");
		return;
	}
	ns = (double)(at_ns - t->now_ns);
	if (ns < 1e6)
		snprintf(text, size, "%.0f us", ns / 1e3);
	else if (ns < 1e9)
		snprintf(text, size, "%.1f ms", ns / 1e6);
	else if (ns < 600e9)
		snprintf(text, size, "%.2f s", ns / 1e9);
	else
		snprintf(text, size, "%.0f min", ns / 60e9);
}
