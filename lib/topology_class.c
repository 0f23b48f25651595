// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Capacity classes: CPUs of equal cpu_capacity are one class.  The lowest is
 * "LITTLE", the highest "big", one between is "mid", more are "mid1" and so on
 * from low to high; a single one is "all".  The user's overrides then move CPUs;
 * to a class of the same name if there is one, else to a new one.  Where firmware
 * gives no capacities all are equal: the names LITTLE and big tell the order then.
 */
#include "topology_class.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sysfs.h"

/* Classes while they are made: in the order of their making, some empty. */
struct draft {
	struct tmigr_class *classes;
	unsigned int *first_cpu; /* lowest CPU of each: the order among equals */
	size_t n;
	bool *moved; /* per CPU index: named by an override */
};

static int compare_uint(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

static void name_class(char *name, size_t size, size_t i, size_t n)
{
	if (n == 1)
		snprintf(name, size, "all");
	else if (i == 0)
		snprintf(name, size, "LITTLE");
	else if (i == n - 1)
		snprintf(name, size, "big");
	else if (n == 3)
		snprintf(name, size, "mid");
	else
		snprintf(name, size, "mid%zu", i);
}

/* One class for each distinct capacity, ascending; CPUs get its index. */
static int classes_by_capacity(struct tmigr_topology *topo, struct draft *d)
{
	unsigned int *caps = calloc(topo->n_cpus, sizeof(*caps));
	size_t n = 0;

	if (!caps)
		return -ENOMEM;
	for (size_t i = 0; i < topo->n_cpus; i++)
		caps[i] = topo->cpus[i].capacity;
	qsort(caps, topo->n_cpus, sizeof(*caps), compare_uint);
	for (size_t i = 0; i < topo->n_cpus; i++)
		if (!n || caps[n - 1] != caps[i])
			caps[n++] = caps[i];
	for (size_t i = 0; i < n; i++)
		name_class(d->classes[i].name, sizeof(d->classes[i].name), i, n);
	for (size_t i = 0; i < topo->n_cpus; i++) {
		unsigned int *found =
			bsearch(&topo->cpus[i].capacity, caps, n, sizeof(*caps), compare_uint);

		topo->cpus[i].class_idx = (unsigned int)(found - caps);
	}
	d->n = n;
	free(caps);
	return 0;
}

/* On a machine with one class, what the user's classes leave is no longer all of it. */
static void rename_rest(const struct tmigr_topology *topo, struct draft *d)
{
	static const char rest[] = "others";
	bool left = false;

	for (size_t i = 0; i < topo->n_cpus; i++) {
		if (topo->cpus[i].class_idx == 0 && d->moved[i])
			return; /* the user calls it so */
		left |= topo->cpus[i].class_idx == 0;
	}
	for (size_t i = 1; i < d->n; i++)
		if (!strcmp(d->classes[i].name, rest))
			return;
	if (left && d->n > 1)
		memcpy(d->classes[0].name, rest, sizeof(rest));
}

/* A name that every view can print unquoted. */
static bool valid_name(const char *name, size_t len)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_.+-";

	return len > 0 && len < sizeof(((struct tmigr_class *)0)->name) &&
	       strspn(name, chars) >= len;
}

/* Index of the class named by the first @len bytes of @name, made if new. */
static size_t class_named(struct draft *d, const char *name, size_t len)
{
	struct tmigr_class *c = d->classes;
	size_t i;

	for (i = 0; i < d->n; i++)
		if (strlen(c[i].name) == len && memcmp(c[i].name, name, len) == 0)
			return i;
	memcpy(c[i].name, name, len);
	c[i].name[len] = '\0';
	d->n++;
	return i;
}

static int move_cpus(struct tmigr_topology *topo, struct draft *d, const char *override,
		     const struct cpulist *list, struct tmigr_err *err)
{
	size_t name_len = strcspn(override, "=");
	size_t class_idx = class_named(d, override, name_len);

	for (size_t i = 0; i < list->n; i++) {
		int idx = tmigr_topology_index(topo, list->cpus[i]);

		if (idx < 0)
			return tmigr_fail(err, -EINVAL, "class '%.100s': there is no CPU %u",
					  override, list->cpus[i]);
		if (d->moved[idx])
			return tmigr_fail(err, -EINVAL,
					  "class '%.100s': CPU %u is in another --class already",
					  override, list->cpus[i]);
		d->moved[idx] = true;
		topo->cpus[idx].class_idx = (unsigned int)class_idx;
		topo->cpus[idx].class_guessed = false;
	}
	return 0;
}

/* "NAME=CPULIST" */
static int apply_override(struct tmigr_topology *topo, struct draft *d, const char *override,
			  struct tmigr_err *err)
{
	size_t name_len = strcspn(override, "=");
	struct cpulist list;
	struct tmigr_err why;
	int r;

	if (!override[name_len])
		return tmigr_fail(err, -EINVAL, "class '%.100s' is not of the form NAME=CPULIST",
				  override);
	if (!valid_name(override, name_len))
		return tmigr_fail(err, -EINVAL,
				  "class '%.100s': a name is 1 to 31 letters, digits, '_', '.', "
				  "'+' or '-'",
				  override);
	r = tmigr_cpulist_parse(override + name_len + 1, &list.cpus, &list.n, &why);
	if (r < 0)
		return tmigr_fail(err, r, "class '%.40s': %.300s", override, why.text);
	if (list.n)
		r = move_cpus(topo, d, override, &list, err);
	else
		r = tmigr_fail(err, -EINVAL, "class '%.100s' has no CPU", override);
	cpulist_free(&list);
	return r;
}

/* Number, first CPU and highest capacity of every class. */
static void count_members(const struct tmigr_topology *topo, struct draft *d)
{
	for (size_t i = 0; i < d->n; i++)
		d->first_cpu[i] = UINT_MAX;
	for (size_t i = 0; i < topo->n_cpus; i++) {
		const struct tmigr_topo_cpu *cpu = &topo->cpus[i];
		struct tmigr_class *c = &d->classes[cpu->class_idx];

		if (d->first_cpu[cpu->class_idx] > cpu->cpu)
			d->first_cpu[cpu->class_idx] = cpu->cpu;
		if (c->capacity < cpu->capacity)
			c->capacity = cpu->capacity;
		c->n_cpus++;
	}
}

unsigned int tmigr_class_rank(unsigned int capacity, const char *name, bool same)
{
	if (!same)
		return capacity;
	if (!strcasecmp(name, "LITTLE"))
		return 0;
	return strcasecmp(name, "big") ? 1 : 2;
}

/* All classes that have CPUs have one capacity. */
static bool same_capacity(const struct tmigr_topology *topo, const struct draft *d)
{
	for (size_t i = 1; i < topo->n_cpus; i++)
		if (d->classes[topo->cpus[i].class_idx].capacity !=
		    d->classes[topo->cpus[0].class_idx].capacity)
			return false;
	return true;
}

static bool comes_before(const struct draft *d, size_t a, size_t b, bool same)
{
	const struct tmigr_class *x = &d->classes[a], *y = &d->classes[b];
	unsigned int rank_x = tmigr_class_rank(x->capacity, x->name, same);
	unsigned int rank_y = tmigr_class_rank(y->capacity, y->name, same);

	return rank_x != rank_y ? rank_x < rank_y : d->first_cpu[a] < d->first_cpu[b];
}

/* Moves the classes that have CPUs to @topo, sorted; CPUs follow. */
static int settle(struct tmigr_topology *topo, const struct draft *d)
{
	struct tmigr_class *sorted = calloc(d->n, sizeof(*sorted));
	unsigned int *new_idx = calloc(d->n, sizeof(*new_idx));
	bool same = same_capacity(topo, d);
	size_t n = 0;

	if (!sorted || !new_idx) {
		free(sorted);
		free(new_idx);
		return -ENOMEM;
	}
	for (size_t i = 0; i < d->n; i++) {
		if (!d->classes[i].n_cpus)
			continue;
		n++;
		for (size_t j = 0; j < d->n; j++)
			if (d->classes[j].n_cpus && comes_before(d, j, i, same))
				new_idx[i]++;
		sorted[new_idx[i]] = d->classes[i];
	}
	for (size_t i = 0; i < topo->n_cpus; i++)
		topo->cpus[i].class_idx = new_idx[topo->cpus[i].class_idx];
	free(new_idx);
	topo->classes = sorted;
	topo->n_classes = n;
	return 0;
}

int topology_make_classes(struct tmigr_topology *topo, const char *const *overrides,
			  size_t n_overrides, struct tmigr_err *err)
{
	size_t max = topo->n_cpus + n_overrides;
	struct draft d = {
		.classes = calloc(max, sizeof(*d.classes)),
		.first_cpu = calloc(max, sizeof(*d.first_cpu)),
		.moved = calloc(topo->n_cpus, sizeof(*d.moved)),
	};
	bool one = false;
	int r = -ENOMEM;

	if (d.classes && d.first_cpu && d.moved)
		r = classes_by_capacity(topo, &d);
	one = d.n == 1;
	for (size_t i = 0; r == 0 && i < n_overrides; i++)
		r = apply_override(topo, &d, overrides[i], err);
	if (r == 0) {
		if (one)
			rename_rest(topo, &d);
		count_members(topo, &d);
		r = settle(topo, &d);
	}
	if (r == -ENOMEM)
		tmigr_fail(err, r, "no memory for the capacity classes");
	free(d.classes);
	free(d.first_cpu);
	free(d.moved);
	return r;
}
