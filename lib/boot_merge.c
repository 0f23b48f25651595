// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hierarchy as it was made beside the one that is.  Groups have no names that
 * both know (a trace's pointers may be hashed): two are the same when a CPU known
 * to both is below them, at the same number of steps.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tmigr/tree.h"

struct merge {
	struct tmigr_hierarchy *live;
	const struct tmigr_hierarchy *boot;
	int *same; /* by boot group: the live one; -1 none */
	json_t *notes;
	bool bad;
};

__attribute__((format(printf, 2, 3))) static void note(struct merge *m, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (json_array_append_new(m->notes, json_string(line)) < 0)
		m->bad = true;
}

/* ---- groups ---- */

static void pair_path(struct merge *m, size_t cpu)
{
	int b = m->boot->cpus[cpu].group, l = m->live->cpus[cpu].group;

	while (b >= 0 && l >= 0) {
		const struct tmigr_group_view *bg = &m->boot->groups[b], *lg = &m->live->groups[l];

		if (m->same[b] >= 0 && m->same[b] != l) {
			note(m,
			     "CPU %u: below %s of the boot trace, but not below %s, as others are",
			     m->live->cpus[cpu].cpu, bg->name, m->live->groups[m->same[b]].name);
			return;
		}
		m->same[b] = l;
		b = bg->parent;
		l = lg->parent;
	}
}

static bool knows_parent(const struct tmigr_hierarchy *h, int parent)
{
	return parent >= 0 && (size_t)parent < h->n_groups;
}

/* What both know of one group. */
static void compare_group(struct merge *m, size_t b)
{
	const struct tmigr_group_view *bg = &m->boot->groups[b];
	const struct tmigr_group_view *lg;

	if (m->same[b] < 0) {
		note(m, "%s: only in the boot trace", bg->name);
		return;
	}
	lg = &m->live->groups[m->same[b]];
	if (bg->level != lg->level)
		note(m, "%s: level %u in the boot trace, %u now", lg->name, bg->level, lg->level);
	if (bg->node != lg->node)
		note(m, "%s: node %d in the boot trace, %d now", lg->name, bg->node, lg->node);
	if (knows_parent(m->boot, bg->parent) && knows_parent(m->live, lg->parent) &&
	    bg->mask != lg->mask)
		note(m, "%s: mask %#x in the boot trace, %#x now", lg->name, bg->mask, lg->mask);
	/* The other way round it is a level that was added later. */
	if (knows_parent(m->boot, bg->parent) && !knows_parent(m->live, lg->parent))
		note(m, "%s: below %s in the boot trace, a root now", lg->name,
		     m->boot->groups[bg->parent].name);
}

/* ---- CPUs ---- */

static void add_place(struct merge *m, size_t cpu)
{
	const struct tmigr_cpu_view *b = &m->boot->cpus[cpu];
	struct tmigr_cpu_view *l = &m->live->cpus[cpu];
	int group = b->group >= 0 ? m->same[b->group] : -1;

	if (group < 0) {
		note(m, "CPU %u: its place is only in the boot trace (%s)", l->cpu,
		     b->group >= 0 ? m->boot->groups[b->group].name : "?");
		return;
	}
	l->group = group;
	l->mask = b->mask;
	l->learnt = true;
	for (int g = group; g >= 0; g = m->live->groups[g].parent)
		m->live->groups[g].n_cpus++;
	note(m, "CPU %u: its place is the boot trace's", l->cpu);
}

static void compare_cpu(struct merge *m, size_t cpu)
{
	const struct tmigr_cpu_view *b = &m->boot->cpus[cpu], *l = &m->live->cpus[cpu];

	if (!b->learnt && l->learnt)
		note(m, "CPU %u: not in the boot trace", l->cpu);
	else if (b->learnt && !l->learnt)
		add_place(m, cpu);
	else if (b->learnt && b->mask != l->mask && b->mask && l->mask)
		note(m, "CPU %u: mask %#x in the boot trace, %#x now", l->cpu, b->mask, l->mask);
}

int tmigr_boot_merge(struct tmigr_hierarchy *live, const struct tmigr_hierarchy *boot,
		     json_t **ret_notes)
{
	struct merge m = {.live = live,
			  .boot = boot,
			  .same = malloc((boot->n_groups + 1) * sizeof(*m.same)),
			  .notes = json_array()};
	size_t n = live->n_cpus < boot->n_cpus ? live->n_cpus : boot->n_cpus;

	for (size_t b = 0; m.same && b < boot->n_groups; b++)
		m.same[b] = -1;
	m.bad = !m.same || !m.notes;
	for (size_t i = 0; i < n && !m.bad; i++)
		if (boot->cpus[i].learnt && live->cpus[i].learnt)
			pair_path(&m, i);
	for (size_t i = 0; i < n && !m.bad; i++)
		compare_cpu(&m, i);
	for (size_t b = 0; b < boot->n_groups && !m.bad; b++)
		compare_group(&m, b);
	free(m.same);
	if (m.bad) {
		json_decref(m.notes);
		return -ENOMEM;
	}
	*ret_notes = m.notes;
	return 0;
}
