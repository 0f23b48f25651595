// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which runs belong together.  Runs are one label's when they have the same label
 * and lie in the same folder: two folders of the same label are two series (of
 * two days, of two boards), and putting them together would hide that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runset_priv.h"

/* Cuts off the last component: "a/b" to "a", "b" to ".", "/b" to "/". */
static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		strcpy(path, ".");
	else
		slash[slash == path] = '\0';
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "cd results/unaware; tmigr compare run-1": the name is in no path. */
static int name_of_dot(struct tmigr_run *run)
{
	char *real;

	if (strcmp(run->name, ".") && strcmp(run->name, ".."))
		return 0;
	real = realpath(run->holder, NULL);
	if (!real)
		return 0;
	free(run->name);
	run->name = strdup(last_of(real));
	free(real);
	return run->name ? 0 : -ENOMEM;
}

/* Folders are compared by what they are, not by how they were written. */
static int find_real_holder(struct tmigr_run *run)
{
	run->real_holder = realpath(run->holder, NULL);
	if (!run->real_holder)
		run->real_holder = strdup(run->holder);
	return run->real_holder ? 0 : -ENOMEM;
}

/*
 * Without a label in the report: the label directory of results/unaware/run-1,
 * else the last component; of a recording, its run directory's, else its own name
 * without ".tmr".
 */
static int name_by_path(struct tmigr_run *run, char *dir)
{
	const char *last = last_of(dir);

	if (tmigr_runset_number(last)) {
		run->holder = strdup(dir);
		if (!run->holder)
			return -ENOMEM;
		cut_last(run->holder);
		if (!run->run)
			run->run = tmigr_runset_number(last);
		run->in_label_dir = true;
		run->name = strdup(last_of(run->holder));
	} else {
		run->holder = strdup(dir);
		run->name = strdup(last);
	}
	return run->name && run->holder ? name_of_dot(run) : -ENOMEM;
}

int tmigr_runset_name(struct tmigr_run *run)
{
	const char *label = json_string_value(json_object_get(run->report, "label"));
	json_int_t number = json_integer_value(json_object_get(run->report, "run"));
	char *dir = malloc(strlen(run->path) + sizeof(".")), *name;
	size_t len;
	int ret;

	if (!dir)
		return -ENOMEM;
	strcpy(dir, run->path);
	len = strlen(dir);
	if (!strcmp(last_of(dir), "events.tmr") && strchr(dir, '/'))
		cut_last(dir);
	else if (len > 4 && !strcmp(dir + len - 4, ".tmr") && dir[len - 5] != '/')
		dir[len - 4] = '\0';
	ret = name_by_path(run, dir);
	free(dir);
	if (ret == 0 && number > 0 && !run->run)
		run->run = (unsigned long)number;
	if (ret < 0)
		return ret;
	if (!label || !*label)
		return find_real_holder(run);
	name = strdup(label);
	if (!name)
		return -ENOMEM;
	free(run->name);
	run->name = name;
	run->labelled = true;
	/* Single run directories with a label of the user's, side by side. */
	if (!run->in_label_dir)
		cut_last(run->holder);
	return find_real_holder(run);
}

static bool same_holder(const struct tmigr_run *a, const struct tmigr_run *b)
{
	return !strcmp(a->real_holder, b->real_holder);
}

/* A run that cannot be read is of the label that its siblings have. */
static int adopt(struct tmigr_runset *set, struct tmigr_run *run)
{
	if (run->report || !run->in_label_dir)
		return 0;
	for (size_t i = 0; i < set->n_runs; i++) {
		const struct tmigr_run *other = &set->runs[i];
		char *name;

		if (!other->labelled || !other->in_label_dir || !same_holder(other, run))
			continue;
		name = strdup(other->name);
		if (!name)
			return -ENOMEM;
		free(run->name);
		run->name = name;
		return 0;
	}
	return 0;
}

static size_t find_label(const struct tmigr_runset *set, const struct tmigr_run *run)
{
	for (size_t i = 0; i < set->n_labels; i++) {
		const struct tmigr_run *other = &set->runs[set->labels[i].first];

		if (!strcmp(other->name, run->name) && same_holder(other, run))
			return i;
	}
	return set->n_labels;
}

/* Labels in the order in which they come; first: any run of it, for now. */
static int make_labels(struct tmigr_runset *set)
{
	set->labels = calloc(set->n_runs + 1, sizeof(*set->labels));
	if (!set->labels)
		return -ENOMEM;
	for (size_t i = 0; i < set->n_runs; i++) {
		struct tmigr_run *run = &set->runs[i];

		if (adopt(set, run) < 0)
			return -ENOMEM;
		run->label = find_label(set, run);
		if (run->label == set->n_labels)
			set->labels[set->n_labels++].first = i;
	}
	return 0;
}

static int by_label(const void *a, const void *b)
{
	const struct tmigr_run *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* A label's runs by number; numbered anew where two have the same, or none. */
static void number_runs(struct tmigr_runset *set, const struct tmigr_run_label *l)
{
	struct tmigr_run *runs = &set->runs[l->first];
	bool clear = true;

	for (size_t i = 0; i < l->n; i++)
		clear = clear && runs[i].run && (!i || runs[i].run > runs[i - 1].run);
	for (size_t i = 0; !clear && i < l->n; i++)
		runs[i].run = i + 1;
}

static void sort_runs(struct tmigr_runset *set)
{
	for (size_t i = 0; i < set->n_runs; i++)
		set->runs[i].order = i;
	qsort(set->runs, set->n_runs, sizeof(*set->runs), by_label);
	for (size_t i = set->n_runs; i--;)
		set->labels[set->runs[i].label].first = i;
	for (size_t i = 0; i < set->n_runs; i++) {
		struct tmigr_run_label *l = &set->labels[set->runs[i].label];

		l->n++;
		l->n_counted += tmigr_run_counts(&set->runs[i]);
	}
	for (size_t i = 0; i < set->n_labels; i++)
		number_runs(set, &set->labels[i]);
}

/* What tells a label from another of the same name: "old/unaware", or, where the
 * folder is called differently, "results/x (unaware)". */
static char *name_with_path(const struct tmigr_runset *set, const struct tmigr_run_label *l)
{
	const struct tmigr_run *run = &set->runs[l->first];
	const char *path = run->in_label_dir || l->n > 1 ? run->holder : run->path;
	char *name;

	if (!strcmp(last_of(path), run->name))
		return strdup(path);
	return asprintf(&name, "%s (%s)", path, run->name) < 0 ? NULL : name;
}

static bool is_shared(const struct tmigr_runset *set, size_t k)
{
	const char *name = set->runs[set->labels[k].first].name;
	size_t n = 0;

	for (size_t i = 0; i < set->n_labels; i++)
		n += !strcmp(set->runs[set->labels[i].first].name, name);
	return n > 1;
}

/* A folder's name may be any bytes; a label goes into JSON. */
static void make_utf8(char *name)
{
	json_t *text = json_string(name);

	for (char *p = name; !text && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	json_decref(text);
}

static int name_label(struct tmigr_runset *set, size_t k)
{
	const char *own = set->runs[set->labels[k].first].name;
	bool shared = is_shared(set, k);
	char *name = shared ? name_with_path(set, &set->labels[k]) : strdup(own), *other;

	if (!name)
		return -ENOMEM;
	make_utf8(name);
	/* Somebody's label may look like the path of another. */
	for (size_t i = 0; i < k; i++) {
		if (strcmp(set->labels[i].name, name))
			continue;
		if (asprintf(&other, "%s #%zu", name, k + 1) < 0)
			other = NULL;
		free(name);
		name = other;
		if (!name)
			return -ENOMEM;
		i = (size_t)-1;
	}
	set->labels[k].name = name;
	if (shared)
		return tmigr_runset_note(
			set, "label '%s' is there more than once, in different folders: one is %s",
			own, name);
	if (strchr(own, '/'))
		return tmigr_runset_note(set, "label '%s' is taken as a name, not as a path", own);
	return 0;
}

int tmigr_runset_labels(struct tmigr_runset *set)
{
	int ret = make_labels(set);

	if (ret < 0)
		return ret;
	sort_runs(set);
	for (size_t k = 0; k < set->n_labels && ret == 0; k++)
		ret = name_label(set, k);
	return ret;
}
