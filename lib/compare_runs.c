// SPDX-License-Identifier: GPL-2.0-or-later
/* Every run's value: by quantity, and per CPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare_view.h"
#include "tmigr/compare.h"

/* Is the value one of the flagged? */
static bool is_flagged(const json_t *compare, const char *label, __u64 run, const char *key)
{
	const json_t *f;
	size_t i;

	json_array_foreach (json_object_get(compare, "flags"), i, f) {
		if (strcmp(tmigr_rep_str(f, "label"), label) || tmigr_rep_u64(f, "run") != run)
			continue;
		if (tmigr_rep_find(json_object_get(f, "values"), "key", key, NULL))
			return true;
	}
	return false;
}

/* "(5.1)": does not count; "!5.1": far from its siblings. */
static void value_cell(const struct tmigr_compare_view *v, struct tmigr_table *t, const json_t *q,
		       const json_t *label, size_t i, const json_t *value, int decimals)
{
	const json_t *run = json_array_get(json_object_get(label, "runs"), i);
	char buf[TMIGR_FMT_MAX], text[TMIGR_FMT_MAX + 4];

	tmigr_fmt_real(buf, value, decimals);
	if (!json_is_number(value))
		snprintf(text, sizeof(text), "-");
	else if (!json_is_true(json_object_get(run, "counts")))
		snprintf(text, sizeof(text), "(%s)", buf);
	else if (is_flagged(v->c, tmigr_rep_str(label, "name"), tmigr_rep_u64(run, "run"),
			    tmigr_rep_str(q, "key")))
		snprintf(text, sizeof(text), "!%s", buf);
	else
		snprintf(text, sizeof(text), "%s", buf);
	tmigr_table_cell(t, text);
}

/* ---- by quantity ---- */

/* Run numbers that any label has, ascending. */
struct numbers {
	size_t n;
	__u64 *list;
};

static int by_size(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return (x > y) - (x < y);
}

static int find_numbers(const json_t *labels, struct numbers *ret)
{
	const json_t *l, *r;
	size_t i, k, n = 0;

	json_array_foreach (labels, i, l)
		n += json_array_size(json_object_get(l, "runs"));
	ret->n = 0;
	ret->list = calloc(n + 1, sizeof(*ret->list));
	if (!ret->list)
		return -ENOMEM;
	n = 0;
	json_array_foreach (labels, i, l)
		json_array_foreach (json_object_get(l, "runs"), k, r)
			ret->list[n++] = tmigr_rep_u64(r, "run");
	qsort(ret->list, n, sizeof(*ret->list), by_size);
	for (i = 0; i < n; i++)
		if (!ret->n || ret->list[ret->n - 1] != ret->list[i])
			ret->list[ret->n++] = ret->list[i];
	return 0;
}

static void label_row(const struct tmigr_compare_view *v, struct tmigr_table *t, const json_t *q,
		      size_t k, const struct numbers *numbers)
{
	const json_t *label = json_array_get(json_object_get(v->c, "labels"), k);
	const json_t *cell = json_array_get(json_object_get(q, "labels"), k);
	const json_t *runs = json_object_get(label, "runs"),
		     *values = json_object_get(cell, "values");
	struct tmigr_decimals d = tmigr_compare_decimals(q);
	char buf[TMIGR_FMT_MAX];
	size_t i = 0;

	tmigr_table_cell(t, k ? "" : tmigr_rep_str(q, "name"));
	tmigr_table_cell(t, tmigr_rep_str(label, "name"));
	for (size_t n = 0; n < numbers->n; n++) {
		if (tmigr_rep_u64(json_array_get(runs, i), "run") != numbers->list[n]) {
			tmigr_table_cell(t, "");
			continue;
		}
		value_cell(v, t, q, label, i, json_array_get(values, i), d.value);
		i++;
	}
	tmigr_table_cell(t, tmigr_fmt_real(buf, json_object_get(cell, "mean"), d.mean));
	tmigr_table_cell(t, tmigr_fmt_sd(buf, json_object_get(cell, "sd"), d.mean));
}

static struct tmigr_table *runs_table(const struct numbers *numbers)
{
	struct tmigr_table *t = tmigr_table_new(2);
	char head[32];

	tmigr_table_column(t, false, "");
	tmigr_table_column(t, false, "");
	for (size_t i = 0; i < numbers->n; i++) {
		snprintf(head, sizeof(head), "run-%llu", (unsigned long long)numbers->list[i]);
		tmigr_table_column(t, true, head);
	}
	tmigr_table_column(t, true, "mean");
	tmigr_table_column(t, true, "sd");
	return t;
}

static int section_table(const struct tmigr_compare_view *v, const char *section,
			 const struct numbers *numbers)
{
	size_t n_labels = json_array_size(json_object_get(v->c, "labels")), i;
	struct tmigr_table *t = runs_table(numbers);
	const json_t *q;

	json_array_foreach (json_object_get(v->c, "quantities"), i, q) {
		if (strcmp(tmigr_rep_str(q, "section"), section))
			continue;
		for (size_t k = 0; k < n_labels; k++)
			label_row(v, t, q, k, numbers);
	}
	tmigr_view_title(v, "Every run: %s", section);
	return tmigr_view_table(v, t);
}

int tmigr_view_runs(const struct tmigr_compare_view *v)
{
	struct numbers numbers;
	const char *section = "";
	const json_t *q;
	size_t i;
	int ret = find_numbers(json_object_get(v->c, "labels"), &numbers);

	json_array_foreach (json_object_get(v->c, "quantities"), i, q) {
		if (ret < 0 || tmigr_compare_is_per_cpu(q) ||
		    !strcmp(section, tmigr_rep_str(q, "section")))
			continue;
		section = tmigr_rep_str(q, "section");
		ret = section_table(v, section, &numbers);
	}
	free(numbers.list);
	return ret;
}

/* ---- per CPU: a row for each run, a column for each CPU ---- */

/* "cpu-sleep" of "cpu-residency/cpu-sleep/4", with its length. */
static const char *state_of(const json_t *q, size_t *len)
{
	const char *key = tmigr_rep_str(q, "key"), *slash = strrchr(key, '/');
	const char *state = strchr(key, '/');

	if (!state || state == slash) { /* cpu-held/4 */
		*len = state ? (size_t)(state - key) : strlen(key);
		return key;
	}
	state++;
	*len = (size_t)(slash - state);
	return state;
}

static bool same_state(const json_t *a, const json_t *b)
{
	size_t x, y;
	const char *p = state_of(a, &x), *q = state_of(b, &y);

	return tmigr_compare_is_per_cpu(a) && tmigr_compare_is_per_cpu(b) &&
	       !strcmp(tmigr_rep_str(a, "group"), tmigr_rep_str(b, "group")) && x == y &&
	       !memcmp(p, q, x);
}

/* Row @run of a label; its mean where @run is past the last. */
static void cpu_row(const struct tmigr_compare_view *v, struct tmigr_table *t, const json_t *of,
		    size_t k, size_t run)
{
	const json_t *label = json_array_get(json_object_get(v->c, "labels"), k), *q;
	const json_t *r = json_array_get(json_object_get(label, "runs"), run);
	char buf[TMIGR_FMT_MAX];
	size_t i;

	snprintf(buf, sizeof(buf), "run-%llu", (unsigned long long)tmigr_rep_u64(r, "run"));
	tmigr_table_cell(t, run ? "" : tmigr_rep_str(label, "name"));
	tmigr_table_cell(t, r ? buf : "mean");
	json_array_foreach (json_object_get(v->c, "quantities"), i, q) {
		const json_t *cell = json_array_get(json_object_get(q, "labels"), k);
		struct tmigr_decimals d;

		if (!same_state(q, of))
			continue;
		d = tmigr_compare_decimals(q);
		if (r)
			value_cell(v, t, q, label, run,
				   json_array_get(json_object_get(cell, "values"), run), d.value);
		else
			tmigr_table_cell(
				t, tmigr_fmt_real(buf, json_object_get(cell, "mean"), d.mean));
	}
}

static int cpu_table(const struct tmigr_compare_view *v, const json_t *of)
{
	const json_t *labels = json_object_get(v->c, "labels"), *l, *q;
	struct tmigr_table *t = tmigr_table_new(2);
	const char *state;
	char head[32];
	size_t i, run, len;

	tmigr_table_column(t, false, "");
	tmigr_table_column(t, false, "");
	json_array_foreach (json_object_get(v->c, "quantities"), i, q) {
		if (!same_state(q, of))
			continue;
		snprintf(head, sizeof(head), "cpu%llu",
			 (unsigned long long)tmigr_rep_u64(q, "cpu"));
		tmigr_table_column(t, true, head);
	}
	json_array_foreach (labels, i, l)
		for (run = 0; run <= json_array_size(json_object_get(l, "runs")); run++)
			cpu_row(v, t, of, i, run);
	state = state_of(of, &len);
	if (!strcmp(tmigr_rep_str(of, "group"), "cpu-held"))
		tmigr_view_title(v, "Every run: the migrator held per CPU, s");
	else
		tmigr_view_title(v, "Every run: %.*s per CPU, s", (int)len, state);
	return tmigr_view_table(v, t);
}

int tmigr_view_cpus(const struct tmigr_compare_view *v)
{
	const json_t *all = json_object_get(v->c, "quantities"), *q;
	size_t i, k;
	int ret = 0;

	json_array_foreach (all, i, q) {
		if (ret < 0 || !tmigr_compare_is_per_cpu(q))
			continue;
		for (k = 0; k < i && !same_state(json_array_get(all, k), q); k++)
			;
		if (k == i)
			ret = cpu_table(v, q);
	}
	return ret;
}
