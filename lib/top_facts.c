// SPDX-License-Identifier: GPL-2.0-or-later
/* The sample that is shown, as arrays. */
#include "top_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_text.h"

static const json_t *get(const json_t *obj, const char *key)
{
	return json_object_get(obj, key);
}

static void clean(char buf[TOP_NAME], const char *text, bool utf8)
{
	top_clean(buf, TOP_NAME, text, utf8);
}

static struct top_cpu *find_cpu(struct top_facts *f, __u64 cpu)
{
	size_t lo = 0, hi = f->n_cpus;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->cpus[mid].cpu == cpu)
			return &f->cpus[mid];
		if (f->cpus[mid].cpu < cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* ---- groups ---- */

/* Index of the group called @name in the list that the groups come from, or -1:
 * their own copies of the names are cleaned. */
static int group_index(const json_t *groups, const char *name)
{
	int i = -1;

	if (*name)
		tmigr_rep_find(groups, "name", name, &i);
	return i;
}

/* Names a level's parent; those that would make a ring are none. */
static int parent_of(const struct top_facts *f, const json_t *groups, const json_t *g)
{
	int parent = group_index(groups, tmigr_rep_str(g, "parent"));

	if (parent < 0 || f->groups[parent].level <= tmigr_rep_u64(g, "level"))
		return -1;
	return parent;
}

static void count_nodes(struct top_facts *f)
{
	size_t i, k;

	for (i = 0; i < f->n_groups; i++) {
		for (k = 0; k < i && f->groups[k].node != f->groups[i].node;)
			k++;
		f->n_nodes += k == i && f->groups[i].node >= 0;
	}
}

static int read_groups(struct top_facts *f, const json_t *groups, bool utf8)
{
	const json_t *g;
	size_t i;

	f->n_groups = json_array_size(groups);
	f->groups = calloc(f->n_groups + 1, sizeof(*f->groups));
	if (!f->groups)
		return -ENOMEM;
	json_array_foreach (groups, i, g) {
		const json_t *node = get(g, "node");

		clean(f->groups[i].name, tmigr_rep_str(g, "name"), utf8);
		f->groups[i].level = (unsigned int)tmigr_rep_u64(g, "level");
		f->groups[i].node = json_is_integer(node) ? (int)json_integer_value(node) : -1;
	}
	count_nodes(f);
	json_array_foreach (groups, i, g) {
		const json_t *up;

		f->groups[i].parent = parent_of(f, groups, g);
		if (f->groups[i].parent < 0)
			continue;
		up = json_array_get(groups, (size_t)f->groups[i].parent);
		f->groups[i].migrator =
			!strcmp(tmigr_rep_str(up, "migrator_group"), tmigr_rep_str(g, "name"));
	}
	return 0;
}

static void read_places(struct top_facts *f, const json_t *groups, const json_t *cpus)
{
	const json_t *c;
	size_t i;

	json_array_foreach (cpus, i, c) {
		struct top_cpu *cpu = find_cpu(f, tmigr_rep_u64(c, "cpu"));

		if (cpu)
			cpu->group = group_index(groups, tmigr_rep_str(c, "group"));
	}
}

/* ---- CPUs ---- */

/* "WFI", or "WFI/C1" where CPUs call their state of this index differently. */
static void name_state(struct top_facts *f, unsigned int k, const char *text, bool utf8)
{
	char name[TOP_NAME], *all = f->names[k], *at;
	size_t len;

	clean(name, text, utf8);
	len = strlen(name);
	for (at = strstr(all, name); at; at = strstr(at + 1, name))
		if ((at == all || at[-1] == '/') && (!at[len] || at[len] == '/'))
			return;
	if (strlen(all) + len + 2 < sizeof(f->names[k])) {
		if (*all)
			strcat(all, "/");
		strcat(all, name);
	}
}

static void read_times(struct top_facts *f, struct top_cpu *cpu, const json_t *c, bool utf8)
{
	const json_t *s;
	size_t i;

	cpu->time_ns[TMIGR_SLOT_RUNNING] = tmigr_rep_u64(c, "running_ns");
	cpu->time_ns[TMIGR_SLOT_OFFLINE] = tmigr_rep_u64(c, "offline_ns");
	cpu->time_ns[TMIGR_SLOT_UNKNOWN] = tmigr_rep_u64(c, "unknown_ns");
	f->offline |= cpu->time_ns[TMIGR_SLOT_OFFLINE] > 0;
	f->unknown |= cpu->time_ns[TMIGR_SLOT_UNKNOWN] > 0;
	json_array_foreach (get(c, "states"), i, s) {
		__u64 k = tmigr_rep_u64(s, "index");

		if (k >= TMIGR_STATES)
			continue;
		cpu->time_ns[TMIGR_SLOT_STATE0 + k] += tmigr_rep_u64(s, "time_ns");
		if (k + 1 > f->n_states)
			f->n_states = (unsigned int)k + 1;
		name_state(f, (unsigned int)k, tmigr_rep_str(s, "name"), utf8);
	}
}

static int read_cpus(struct top_facts *f, const json_t *report, bool utf8)
{
	const json_t *cpus = get(report, "cpus"), *c;
	size_t i;

	f->n_cpus = json_array_size(cpus);
	f->cpus = calloc(f->n_cpus + 1, sizeof(*f->cpus));
	if (!f->cpus)
		return -ENOMEM;
	json_array_foreach (cpus, i, c) {
		struct top_cpu *cpu = &f->cpus[i];
		int class = tmigr_rep_class_index(report, tmigr_rep_str(c, "class"));

		cpu->cpu = (unsigned int)tmigr_rep_u64(c, "cpu");
		cpu->class_idx = class < 0 ? 0 : (unsigned int)class;
		clean(cpu->class, tmigr_rep_str(c, "class"), utf8);
		strcpy(cpu->state, "?");
		cpu->slot = -1;
		cpu->group = -1;
		read_times(f, cpu, c, utf8);
	}
	return 0;
}

static void read_holders(struct top_facts *f, const json_t *report)
{
	const json_t *root, *h, *r;
	struct top_cpu *cpu;
	size_t i, k;

	json_array_foreach (get(report, "roots"), i, root)
		json_array_foreach (get(root, "holders"), k, h) {
			cpu = find_cpu(f, tmigr_rep_u64(h, "cpu"));
			if (!cpu)
				continue;
			cpu->held_ns += tmigr_rep_u64(h, "held_ns");
			cpu->holdings += tmigr_rep_u64(h, "holdings");
		}
	json_array_foreach (get(report, "remote"), i, r) {
		cpu = find_cpu(f, tmigr_rep_u64(r, "executor"));
		if (cpu)
			cpu->remote += tmigr_rep_u64(r, "count");
	}
}

/* What it is in now, as a slot; -1 not known. */
static int present_slot(const json_t *c)
{
	const char *name = tmigr_rep_str(c, "state_name");
	const json_t *state = get(c, "state");

	if (json_is_integer(state)) {
		__u64 k = tmigr_rep_u64(c, "state");

		return k < TMIGR_STATES ? (int)(TMIGR_SLOT_STATE0 + k) : -1;
	}
	if (!strcmp(name, "running"))
		return TMIGR_SLOT_RUNNING;
	return !strcmp(name, "offline") ? TMIGR_SLOT_OFFLINE : -1;
}

static void read_present(struct top_facts *f, const json_t *tree, bool utf8)
{
	const json_t *c;
	size_t i;

	json_array_foreach (get(tree, "cpus"), i, c) {
		struct top_cpu *cpu = find_cpu(f, tmigr_rep_u64(c, "cpu"));

		if (!cpu)
			continue;
		cpu->slot = present_slot(c);
		if (strcmp(tmigr_rep_str(c, "state_name"), "unknown"))
			clean(cpu->state, tmigr_rep_str(c, "state_name"), utf8);
		cpu->global = json_is_true(get(c, "global_migrator"));
		cpu->migrator = json_is_true(get(c, "migrator"));
		cpu->duty = json_is_integer(get(get(c, "wakeup_duty"), "at_ns"));
	}
}

int top_facts_read(const struct tmigr_top *top, bool utf8, struct top_facts *ret)
{
	/* The newer one of the two that know the hierarchy. */
	const json_t *from = top->tree ? top->tree : get(top->report, "hierarchy");
	struct top_facts f = {.window_ns = tmigr_rep_u64(top->report, "window_ns")};

	f.n_classes = json_array_size(get(top->report, "classes"));
	if (read_cpus(&f, top->report, utf8) || read_groups(&f, get(from, "groups"), utf8)) {
		top_facts_free(&f);
		return -ENOMEM;
	}
	read_places(&f, get(from, "groups"), get(from, "cpus"));
	read_holders(&f, top->report);
	read_present(&f, top->tree, utf8);
	*ret = f;
	return 0;
}

void top_facts_free(struct top_facts *f)
{
	free(f->cpus);
	free(f->groups);
	*f = (struct top_facts){0};
}
