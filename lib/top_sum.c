// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sums of all samples.  They are kept in the shape of a report, so that the
 * answer so far is told by the same function that tells a run's.
 */
#include "top_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_parts.h"
#include "tmigr/report.h"
#include "tmigr/topology.h"

static const char *const root_sums[] = {"held_ns", "handover_ns", "duty_ns",
					"free_ns", "unknown_ns",  NULL};
static const char *const class_sums[] = {"held_ns", "avoidable_ns", "avoidable_unknown_ns", NULL};
static const char *const holder_sums[] = {"held_ns", NULL};
static const char *const lost_sums[] = {"records", "group_updates", "remote_expiries", NULL};

static void add(json_t *obj, const char *key, __u64 more, bool *bad)
{
	tmigr_put(obj, key, tmigr_json_u64(tmigr_rep_u64(obj, key) + more), bad);
}

static void add_all(json_t *obj, const json_t *more, const char *const *keys, bool *bad)
{
	for (; *keys; keys++)
		add(obj, *keys, tmigr_rep_u64(more, *keys), bad);
}

/*
 * Adds the elements of @old to those of @list that have the same @key; what
 * @list has not is appended.  Quick where both are in one order.
 */
static void add_list(json_t *list, const json_t *old, const char *key, const char *const *sums,
		     bool *bad)
{
	size_t i, k, at = 0, n = json_array_size(list);
	const json_t *o;

	json_array_foreach (old, i, o) {
		json_t *copy;

		for (k = 0; k < n; k++)
			if (json_equal(json_object_get(json_array_get(list, (at + k) % n), key),
				       json_object_get(o, key)))
				break;
		if (k < n) {
			at = (at + k) % n;
			add_all(json_array_get(list, at), o, sums, bad);
			continue;
		}
		copy = json_deep_copy(o);
		if (!copy || json_array_append_new(list, copy))
			*bad = true;
	}
}

/* The list of a root's CPUs holds the lowest one of another's. */
static bool holds_lowest(const json_t *root, const json_t *other)
{
	unsigned int *a = NULL, *b = NULL;
	size_t n_a = 0, n_b = 0, i;
	bool found = false;

	if (tmigr_cpulist_parse(tmigr_rep_str(root, "cpus"), &a, &n_a, NULL) == 0 &&
	    tmigr_cpulist_parse(tmigr_rep_str(other, "cpus"), &b, &n_b, NULL) == 0 && n_b)
		for (i = 0; i < n_a && !found; i++)
			found = a[i] == b[0];
	free(a);
	free(b);
	return found;
}

static json_t *root_plus(const json_t *root, const json_t *old, __u64 before_ns)
{
	json_t *r = json_deep_copy(root);
	bool bad = !r;

	if (bad)
		return NULL;
	if (!old) {
		add(r, "unknown_ns", before_ns, &bad);
		return tmigr_whole(r, bad);
	}
	add_all(r, old, root_sums, &bad);
	add_list(json_object_get(r, "classes"), json_object_get(old, "classes"), "name", class_sums,
		 &bad);
	add_list(json_object_get(r, "holders"), json_object_get(old, "holders"), "cpu", holder_sums,
		 &bad);
	return tmigr_whole(r, bad);
}

/*
 * A hierarchy that gets a new top level is known by its lowest CPU; of two that
 * were joined the first one's figures go on.
 */
static const json_t *take_old(const json_t *olds, const json_t *root, bool *taken)
{
	const json_t *old, *found = NULL;
	size_t i;

	json_array_foreach (olds, i, old) {
		if (taken[i] || !holds_lowest(root, old))
			continue;
		taken[i] = true;
		if (!found)
			found = old;
	}
	return found;
}

static json_t *roots_plus(const json_t *sum, const json_t *report)
{
	const json_t *olds = json_object_get(sum, "roots"), *root;
	__u64 before_ns = tmigr_rep_u64(sum, "window_ns");
	bool *taken = calloc(json_array_size(olds) + 1, sizeof(*taken));
	json_t *list = json_array();
	bool bad = !taken || !list;
	size_t i;

	json_array_foreach (json_object_get(report, "roots"), i, root) {
		if (bad)
			break;
		bad = json_array_append_new(
			list, root_plus(root, take_old(olds, root, taken), before_ns));
	}
	/* It was there, and this sample does not know of it. */
	json_array_foreach (olds, i, root) {
		json_t *copy;

		if (bad || taken[i])
			continue;
		copy = json_deep_copy(root);
		bad = !copy;
		if (copy)
			add(copy, "unknown_ns", tmigr_rep_u64(report, "window_ns"), &bad);
		bad |= json_array_append_new(list, copy) != 0;
	}
	free(taken);
	return tmigr_whole(list, bad);
}

json_t *tmigr_top_sum_add(const json_t *sum, const json_t *report)
{
	const json_t *has = json_object_get(report, "timer_migration_hierarchy");
	const json_t *unlearnt = json_object_get(json_object_get(report, "hierarchy"), "unlearnt");
	json_t *s = json_object(), *lost = json_object();
	bool bad = !s || !lost;

	tmigr_put(s, "samples", tmigr_json_u64(tmigr_rep_u64(sum, "samples") + 1), &bad);
	tmigr_put(s, "window_ns",
		  tmigr_json_u64(tmigr_rep_u64(sum, "window_ns") +
				 tmigr_rep_u64(report, "window_ns")),
		  &bad);
	tmigr_put(s, "classes", json_deep_copy(json_object_get(report, "classes")), &bad);
	tmigr_put(s, "hierarchy", json_pack("{sO}", "unlearnt", unlearnt), &bad);
	if (has)
		tmigr_put(s, "timer_migration_hierarchy", json_boolean(json_is_true(has)), &bad);
	tmigr_put(s, "roots", roots_plus(sum, report), &bad);
	if (lost) {
		add_all(lost, json_object_get(report, "lost"), lost_sums, &bad);
		add_all(lost, json_object_get(sum, "lost"), lost_sums, &bad);
	}
	tmigr_put(s, "lost", lost, &bad);
	if (!bad)
		tmigr_put(s, "answer", tmigr_report_answer(s), &bad);
	return tmigr_whole(s, bad);
}

/* ---- what is shown ---- */

int tmigr_top_new(struct tmigr_top **ret)
{
	struct tmigr_top *top = calloc(1, sizeof(*top));

	if (!top)
		return -ENOMEM;
	*ret = top;
	return 0;
}

void tmigr_top_free(struct tmigr_top *top)
{
	if (!top)
		return;
	json_decref(top->report);
	json_decref(top->tree);
	json_decref(top->sum);
	json_decref(top->next_report);
	json_decref(top->next_tree);
	json_decref(top->next_sum);
	free(top);
}

static int check_tree(const json_t *tree, struct tmigr_err *err)
{
	if (!tree)
		return 0;
	if (strcmp(tmigr_rep_str(tree, "schema"), "tmigr-tree"))
		return tmigr_fail(err, -EINVAL,
				  "not a tree of tmigr (no \"schema\": \"tmigr-tree\")");
	if (tmigr_rep_u64(tree, "version") != 1)
		return tmigr_fail(err, -EINVAL,
				  "a tree of another schema version, this tool reads version 1");
	if (!json_is_array(json_object_get(tree, "groups")) ||
	    !json_is_array(json_object_get(tree, "cpus")))
		return tmigr_fail(err, -EINVAL, "not a usable tree: no groups or no cpus");
	return 0;
}

/* *@slot takes over the reference @value. */
static void replace(json_t **slot, json_t *value)
{
	json_decref(*slot);
	*slot = value;
}

int tmigr_top_add(struct tmigr_top *top, json_t *report, json_t *tree, struct tmigr_err *err)
{
	json_t *sum;
	int ret;

	ret = tmigr_report_check(report, err);
	if (!ret)
		ret = check_tree(tree, err);
	if (ret)
		return ret;
	sum = tmigr_top_sum_add(top->next_sum ? top->next_sum : top->sum, report);
	if (!sum)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	if (top->hold && top->report) {
		replace(&top->next_report, json_incref(report));
		replace(&top->next_tree, json_incref(tree));
		replace(&top->next_sum, sum);
	} else {
		replace(&top->report, json_incref(report));
		replace(&top->tree, json_incref(tree));
		replace(&top->sum, sum);
	}
	return 0;
}

void tmigr_top_hold(struct tmigr_top *top, bool on)
{
	top->hold = on;
	if (on || !top->next_sum)
		return;
	replace(&top->report, top->next_report);
	replace(&top->tree, top->next_tree);
	replace(&top->sum, top->next_sum);
	top->next_report = top->next_tree = top->next_sum = NULL;
}
