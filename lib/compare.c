// SPDX-License-Identifier: GPL-2.0-or-later
/* The comparison as an object: docs/compare-schema.md. */
#include "tmigr/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_priv.h"
#include "compare_view.h"
#include "report_fmt.h"
#include "report_parts.h"
#include "stats.h"

const char *tmigr_compare_statistics(void)
{
	return tmigr_stats_library();
}

/* One quantity's figures of one label. */
struct cell {
	struct tmigr_sample sample;
	struct tmigr_welch welch; /* not of the baseline */
	double p_holm;		  /* NAN: not tested */
};

struct comparison {
	const struct tmigr_runset *set;
	struct tmigr_compare_table t;
	size_t baseline;
	size_t n_shown;	    /* quantities that are in some run, and not 0 in all */
	size_t *shown;	    /* places in t.q */
	struct cell *cells; /* [n_shown * n_labels] */
	size_t n_tests, n_seen, n_survive;
};

/* ---- figures ---- */

static int fill_table(struct comparison *c, bool cpus)
{
	struct tmigr_compare_table *t = &c->t;
	const struct tmigr_runset *set = c->set;

	t->set = set;
	t->n_runs = set->n_runs;
	t->index = json_object();
	t->notes = json_array();
	t->failed = !t->index || !t->notes;
	t->one_root = true;
	for (size_t i = 0; i < set->n_runs; i++)
		t->one_root = t->one_root &&
			      json_array_size(json_object_get(set->runs[i].report, "roots")) < 2;
	for (size_t i = 0; i < set->n_runs; i++) {
		if (!set->runs[i].report)
			continue;
		tmigr_compare_metrics(t, i);
		tmigr_compare_residency(t, i, cpus);
		tmigr_compare_migrator(t, i, cpus);
		tmigr_compare_remote(t, i);
		tmigr_compare_latency(t, i);
	}
	tmigr_compare_hotplug(t, cpus);
	tmigr_compare_unknown(t);
	if (t->failed)
		return -ENOMEM;
	tmigr_compare_sort(t);
	return 0;
}

static bool is_shown(const struct tmigr_quantity *q, size_t n_runs)
{
	for (size_t i = 0; i < n_runs; i++)
		if (!isnan(q->values[i]) && q->values[i] != 0)
			return true;
	return q->group == GROUP_METRIC;
}

/* The label's values that count. */
static int label_sample(const struct comparison *c, const struct tmigr_quantity *q, size_t label,
			struct tmigr_sample *ret)
{
	const struct tmigr_run_label *l = &c->set->labels[label];
	double *v = malloc((l->n + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++)
		v[i] = tmigr_run_counts(&c->set->runs[l->first + i]) ? q->values[l->first + i]
								     : NAN;
	*ret = tmigr_stats_sample(v, l->n);
	free(v);
	return 0;
}

static int correct(struct comparison *c)
{
	size_t n = c->n_shown * c->set->n_labels, k = 0;
	double *p = malloc((n + 1) * sizeof(*p));
	int ret = p ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < n; i++)
		if (!isnan(c->cells[i].welch.p))
			p[k++] = c->cells[i].welch.p;
	c->n_tests = k;
	if (ret == 0)
		ret = tmigr_stats_holm(p, k);
	for (size_t i = 0, at = 0; ret == 0 && i < n; i++) {
		struct cell *cell = &c->cells[i];

		cell->p_holm = isnan(cell->welch.p) ? NAN : p[at++];
		c->n_seen += cell->welch.p < TMIGR_STATS_ALPHA;
		c->n_survive += cell->p_holm < TMIGR_STATS_ALPHA;
	}
	free(p);
	return ret;
}

static int compute(struct comparison *c)
{
	static const struct tmigr_welch none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	size_t n_labels = c->set->n_labels;

	c->shown = calloc(c->t.n + 1, sizeof(*c->shown));
	c->cells = calloc(c->t.n * n_labels + 1, sizeof(*c->cells));
	if (!c->shown || !c->cells)
		return -ENOMEM;
	for (size_t i = 0; i < c->t.n; i++) {
		struct cell *cells = &c->cells[c->n_shown * n_labels];

		if (!is_shown(&c->t.q[i], c->t.n_runs))
			continue;
		c->shown[c->n_shown++] = i;
		for (size_t k = 0; k < n_labels; k++)
			if (label_sample(c, &c->t.q[i], k, &cells[k].sample) < 0)
				return -ENOMEM;
		for (size_t k = 0; k < n_labels; k++)
			cells[k].welch = k == c->baseline
						 ? none
						 : tmigr_stats_welch(&cells[c->baseline].sample,
								     &cells[k].sample);
	}
	return correct(c);
}

/* ---- the object ---- */

/* Text from outside that may not be UTF-8. */
static json_t *json_text(const char *text)
{
	json_t *v = text ? json_string(text) : json_null();
	char *copy;

	if (v || !text)
		return v;
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	v = json_string(copy);
	free(copy);
	return v;
}

static json_t *run_object(const struct tmigr_run *r)
{
	const json_t *start = json_object_get(r->report, "start_time");
	json_t *o = json_object();
	bool bad = false;

	tmigr_put(o, "run", json_integer((json_int_t)r->run), &bad);
	tmigr_put(o, "path", json_text(r->path), &bad);
	tmigr_put(o, "counts", json_boolean(tmigr_run_counts(r)), &bad);
	tmigr_put(o, "left_out", json_text(r->left_out), &bad);
	tmigr_put(o, "problem", json_text(r->problem), &bad);
	tmigr_put(o, "window_ns",
		  r->report ? tmigr_json_u64(tmigr_rep_u64(r->report, "window_ns")) : json_null(),
		  &bad);
	if (json_is_string(start))
		tmigr_put(o, "start_time", json_incref((json_t *)start), &bad);
	return tmigr_whole(o, bad);
}

static json_t *labels_array(const struct comparison *c)
{
	json_t *labels = json_array();
	bool bad = !labels;

	for (size_t k = 0; k < c->set->n_labels; k++) {
		const struct tmigr_run_label *l = &c->set->labels[k];
		json_t *o = json_object(), *runs = json_array();

		for (size_t i = l->first; i < l->first + l->n; i++)
			bad |= json_array_append_new(runs, run_object(&c->set->runs[i])) < 0;
		tmigr_put(o, "name", json_string(l->name), &bad);
		tmigr_put(o, "baseline", json_boolean(k == c->baseline), &bad);
		tmigr_put(o, "n_counted", json_integer((json_int_t)l->n_counted), &bad);
		tmigr_put(o, "runs", runs, &bad);
		bad |= json_array_append_new(labels, o) < 0;
	}
	return tmigr_whole(labels, bad);
}

static const char *verdict(const struct tmigr_quantity *q, const struct cell *base,
			   const struct cell *cell)
{
	const struct tmigr_welch *w = &cell->welch;
	bool more = w->diff > 0;

	if (base->sample.n < 2 || cell->sample.n < 2)
		return "too few runs";
	if (!tmigr_stats_library())
		return "not tested";
	if (isnan(w->p))
		return w->diff == 0 ? "no difference seen" : "no spread";
	if (!(w->p < TMIGR_STATS_ALPHA))
		return "no difference seen";
	if (!q->better)
		return more ? "more" : "less";
	return more == !strcmp(q->better, "higher") ? "better" : "worse";
}

static json_t *cell_object(const struct comparison *c, const struct tmigr_quantity *q,
			   const struct cell *cells, size_t k)
{
	const struct tmigr_run_label *l = &c->set->labels[k];
	const struct cell *cell = &cells[k];
	const struct tmigr_welch *w = &cell->welch;
	json_t *o = json_object(), *values = json_array();
	bool bad = false, base = k == c->baseline;

	for (size_t i = l->first; i < l->first + l->n; i++)
		bad |= json_array_append_new(values, tmigr_json_real(q->values[i])) < 0;
	tmigr_put(o, "label", json_string(l->name), &bad);
	tmigr_put(o, "values", values, &bad);
	tmigr_put(o, "n", json_integer((json_int_t)cell->sample.n), &bad);
	tmigr_put(o, "mean", tmigr_json_real(cell->sample.mean), &bad);
	tmigr_put(o, "sd", tmigr_json_real(sqrt(cell->sample.var)), &bad);
	tmigr_put(o, "difference", tmigr_json_real(w->diff), &bad);
	tmigr_put(o, "difference_low", tmigr_json_real(w->diff_low), &bad);
	tmigr_put(o, "difference_high", tmigr_json_real(w->diff_high), &bad);
	tmigr_put(o, "percent", tmigr_json_real(w->percent), &bad);
	tmigr_put(o, "percent_low", tmigr_json_real(w->percent_low), &bad);
	tmigr_put(o, "percent_high", tmigr_json_real(w->percent_high), &bad);
	tmigr_put(o, "t", tmigr_json_real(w->t), &bad);
	tmigr_put(o, "df", tmigr_json_real(w->df), &bad);
	tmigr_put(o, "p", tmigr_json_real(w->p), &bad);
	tmigr_put(o, "p_holm", tmigr_json_real(cell->p_holm), &bad);
	tmigr_put(o, "survives",
		  isnan(cell->p_holm) ? json_null()
				      : json_boolean(cell->p_holm < TMIGR_STATS_ALPHA),
		  &bad);
	tmigr_put(o, "verdict",
		  base ? json_null() : json_string(verdict(q, &cells[c->baseline], cell)), &bad);
	return tmigr_whole(o, bad);
}

static json_t *quantities_array(const struct comparison *c)
{
	json_t *array = json_array();
	bool bad = !array;

	for (size_t i = 0; i < c->n_shown; i++) {
		const struct tmigr_quantity *q = &c->t.q[c->shown[i]];
		json_t *o = json_object(), *cells = json_array();

		for (size_t k = 0; k < c->set->n_labels; k++)
			bad |= json_array_append_new(
				       cells,
				       cell_object(c, q, &c->cells[i * c->set->n_labels], k)) < 0;
		tmigr_put(o, "key", json_string(q->key), &bad);
		tmigr_put(o, "group", json_string(tmigr_group_name(q->group)), &bad);
		tmigr_put(o, "section", json_string(q->section), &bad);
		tmigr_put(o, "name", json_string(q->name), &bad);
		tmigr_put(o, "unit", json_string(q->unit), &bad);
		tmigr_put(o, "better", q->better ? json_string(q->better) : json_null(), &bad);
		if (q->cpu >= 0)
			tmigr_put(o, "cpu", json_integer(q->cpu), &bad);
		tmigr_put(o, "labels", cells, &bad);
		bad |= json_array_append_new(array, o) < 0;
	}
	bad = bad || !tmigr_compare_put_decimals(array);
	return tmigr_whole(array, bad);
}

/* What is 0 in every run is named, not shown. */
static json_t *zero_array(const struct comparison *c)
{
	json_t *array = json_array();
	bool bad = !array;

	for (size_t i = 0, at = 0; i < c->t.n; i++) {
		if (at < c->n_shown && c->shown[at] == i)
			at++;
		else
			bad |= json_array_append_new(array, json_string(c->t.q[i].key)) < 0;
	}
	return tmigr_whole(array, bad);
}

static json_t *notes_array(const struct comparison *c)
{
	json_t *array = json_array();
	bool bad = !array;

	for (size_t i = 0; i < c->set->n_notes; i++)
		bad |= json_array_append_new(array, json_text(c->set->notes[i])) < 0;
	bad |= json_array_extend(array, c->t.notes) < 0;
	return tmigr_whole(array, bad);
}

static json_t *tests_object(const struct comparison *c)
{
	const char *library = tmigr_stats_library();
	json_t *o = json_object();
	bool bad = false;

	tmigr_put(o, "statistics", library ? json_string(library) : json_null(), &bad);
	tmigr_put(o, "alpha", json_real(TMIGR_STATS_ALPHA), &bad);
	tmigr_put(o, "quantities", json_integer((json_int_t)c->n_shown), &bad);
	tmigr_put(o, "tested", json_integer((json_int_t)c->n_tests), &bad);
	tmigr_put(o, "seen", json_integer((json_int_t)c->n_seen), &bad);
	tmigr_put(o, "survive", json_integer((json_int_t)c->n_survive), &bad);
	return tmigr_whole(o, bad);
}

static json_t *build(const struct comparison *c)
{
	json_t *o = json_object();
	bool bad = false;

	tmigr_put(o, "schema", json_string("tmigr-compare"), &bad);
	tmigr_put(o, "version", json_integer(TMIGR_COMPARE_SCHEMA_VERSION), &bad);
	tmigr_put(o, "baseline", json_string(c->set->labels[c->baseline].name), &bad);
	tmigr_put(o, "tests", tests_object(c), &bad);
	tmigr_put(o, "labels", labels_array(c), &bad);
	tmigr_put(o, "unlike", tmigr_compare_unlike(c->set), &bad);
	tmigr_put(o, "quantities", quantities_array(c), &bad);
	tmigr_put(o, "zero", zero_array(c), &bad);
	tmigr_put(o, "flags", tmigr_compare_flags(&c->t), &bad);
	tmigr_put(o, "notes", notes_array(c), &bad);
	return tmigr_whole(o, bad);
}

/* ---- the baseline ---- */

static int no_baseline(const struct tmigr_runset *set, const char *name, struct tmigr_err *err)
{
	char list[TMIGR_ERR_MAX] = "";
	size_t n = 0;

	for (size_t k = 0; k < set->n_labels && n < sizeof(list); k++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", k ? ", " : "",
				      set->labels[k].name);
	return tmigr_fail(err, -ENOENT, "no label '%s' for a baseline, only: %s", name, list);
}

static int find_baseline(struct comparison *c, const char *name, struct tmigr_err *err)
{
	const struct tmigr_runset *set = c->set;
	ssize_t k = name ? tmigr_runset_label(set, name) : -1;
	bool any = false;

	for (size_t i = 0; i < set->n_runs; i++)
		any |= set->runs[i].report != NULL;
	if (!any)
		return tmigr_fail(err, -ENODATA, "none of the runs can be read");
	if (name && k < 0)
		return no_baseline(set, name, err);
	for (size_t i = 0; k < 0 && i < set->n_labels; i++)
		if (set->labels[i].n_counted)
			k = (ssize_t)i;
	c->baseline = k < 0 ? 0 : (size_t)k;
	return 0;
}

int tmigr_compare(const struct tmigr_runset *set, const struct tmigr_compare_opts *opts,
		  json_t **ret, struct tmigr_err *err)
{
	struct comparison c = {.set = set};
	json_t *o = NULL;
	int r = find_baseline(&c, opts->baseline, err);

	if (r < 0)
		return r;
	r = fill_table(&c, opts->cpus);
	if (r == 0)
		r = compute(&c);
	if (r == 0)
		o = build(&c);
	tmigr_compare_table_free(&c.t);
	free(c.shown);
	free(c.cells);
	if (!o)
		return tmigr_fail(err, -ENOMEM, "no memory for the comparison");
	*ret = o;
	return 0;
}
