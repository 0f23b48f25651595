// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs side by side as a table: what `tmigr run -n` prints at its end. */
#include "tmigr/runset.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report_text.h"
#include "tmigr/figures.h"

/* A benchmark of many threads prints more than a table is for. */
#define METRICS_MAX 40

struct row {
	char *name, *unit;
	double *values; /* one a run */
	bool *known;
};

struct rows {
	const struct tmigr_runset *set;
	struct row *rows;
	size_t n;
	size_t run;  /* whose figures are being taken */
	size_t next; /* where its next figure is, mostly: the order is the same */
};

static void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->rows[i].name);
		free(r->rows[i].unit);
		free(r->rows[i].values);
		free(r->rows[i].known);
	}
	free(r->rows);
}

static struct row *add_row(struct rows *r, const struct tmigr_figure *f)
{
	struct row *rows = reallocarray(r->rows, r->n + 1, sizeof(*rows)), *row;

	if (!rows)
		return NULL;
	r->rows = rows;
	row = &rows[r->n++];
	*row = (struct row){
		.name = strdup(f->name),
		.unit = strdup(strcmp(f->unit, "share") ? f->unit : "%"),
		.values = calloc(r->set->n_runs, sizeof(*row->values)),
		.known = calloc(r->set->n_runs, sizeof(*row->known)),
	};
	return row->name && row->unit && row->values && row->known ? row : NULL;
}

static struct row *find_row(struct rows *r, const char *name)
{
	for (size_t k = 0; k < r->n; k++) {
		size_t i = (r->next + k) % r->n;

		if (strcmp(r->rows[i].name, name))
			continue;
		r->next = i + 1;
		return &r->rows[i];
	}
	return NULL;
}

/* Figures that a run is looked at for, in this order. */
static const char *const prefixes[] = {"held.",	  "avoidable_share", "residency.",
				       "metric.", "energy.",	     "lost_records"};

#define N_PREFIXES (sizeof(prefixes) / sizeof(prefixes[0]))

static size_t prefix_of(const char *name)
{
	size_t i = 0;

	while (i < N_PREFIXES && strncmp(name, prefixes[i], strlen(prefixes[i])) != 0)
		i++;
	return i;
}

static int take(void *arg, const struct tmigr_figure *f)
{
	struct rows *r = arg;
	struct row *row;

	if (prefix_of(f->name) == N_PREFIXES)
		return 0;
	row = find_row(r, f->name);
	if (!row)
		row = add_row(r, f);
	if (!row)
		return -ENOMEM;
	row->known[r->run] = f->known;
	row->values[r->run] = strcmp(f->unit, "share") ? f->value : 100 * f->value;
	return 0;
}

/* Time offline, time unknown, records lost: only where there was any. */
static bool worth_showing(const struct row *row, size_t n_runs)
{
	bool always = !strstr(row->name, ".offline") && !strstr(row->name, ".unknown") &&
		      strcmp(row->name, "lost_records") != 0;

	for (size_t i = 0; i < n_runs; i++)
		if (row->known[i] && (always || row->values[i] != 0))
			return true;
	return false;
}

static void put_cell(struct tmigr_table *t, const struct row *row, bool known, double value)
{
	char buf[TMIGR_FMT_MAX];

	if (!known)
		snprintf(buf, sizeof(buf), "-");
	else if (!strcmp(row->unit, "%"))
		snprintf(buf, sizeof(buf), "%.2f", value);
	else
		tmigr_fmt_metric(buf, sizeof(buf), value);
	tmigr_table_cell(t, buf);
}

static void put_row(struct tmigr_table *t, const struct tmigr_runset *set, const struct row *row)
{
	double sum = 0;
	size_t n = 0;

	tmigr_table_cell(t, row->name);
	tmigr_table_cell(t, row->unit);
	for (size_t i = 0; i < set->n_runs; i++) {
		put_cell(t, row, row->known[i], row->values[i]);
		if (!row->known[i] || !tmigr_run_counts(&set->runs[i]))
			continue;
		sum += row->values[i];
		n++;
	}
	put_cell(t, row, n > 0, n ? sum / (double)n : 0);
}

/* Without a cpuidle driver a state is in the report only when it was entered: of a
 * class that the run has, a state that is not there took no time. */
static void fill_residency(const struct rows *r, struct row *row, size_t run)
{
	const json_t *report = r->set->runs[run].report, *c;
	const char *rest;
	size_t i;

	if (row->known[run] || strncmp(row->name, "residency.", 10) != 0)
		return;
	json_array_foreach (json_object_get(report, "classes"), i, c) {
		const char *class = tmigr_rep_str(c, "name");

		rest = row->name + 10;
		if (!strncmp(rest, class, strlen(class)) && rest[strlen(class)] == '.')
			row->known[run] = true;
	}
}

static void put_rows(struct tmigr_table *t, const struct rows *r, size_t prefix, size_t max,
		     size_t *ret_more)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (prefix_of(r->rows[i].name) != prefix ||
		    !worth_showing(&r->rows[i], r->set->n_runs))
			continue;
		for (size_t run = 0; run < r->set->n_runs; run++)
			fill_residency(r, &r->rows[i], run);
		if (n++ < max)
			put_row(t, r->set, &r->rows[i]);
	}
	*ret_more = n > max ? n - max : 0;
}

static int put_table(const struct rows *r, FILE *out)
{
	const struct tmigr_runset *set = r->set;
	struct tmigr_table *t = tmigr_table_new(2);
	size_t more = 0, left;
	char head[32];
	int ret;

	tmigr_table_column(t, false, "figure");
	tmigr_table_column(t, false, "unit");
	for (size_t i = 0; i < set->n_runs; i++) {
		snprintf(head, sizeof(head), "run %lu%s", set->runs[i].run,
			 tmigr_run_counts(&set->runs[i]) ? "" : " (!)");
		tmigr_table_column(t, true, head);
	}
	tmigr_table_column(t, true, "mean");
	for (size_t i = 0; i < N_PREFIXES; i++) {
		put_rows(t, r, i, strcmp(prefixes[i], "metric.") ? SIZE_MAX : METRICS_MAX, &left);
		more += left;
	}
	ret = tmigr_table_print(t, out);
	if (more)
		fprintf(out, "  and %zu more metrics, in metrics.csv of each run\n", more);
	return ret;
}

/* Why runs do not count. */
static void put_left_out(const struct tmigr_runset *set, FILE *out)
{
	char *text = NULL;

	for (size_t i = 0; i < set->n_runs; i++) {
		const struct tmigr_run *run = &set->runs[i];

		if (tmigr_run_counts(run) ||
		    asprintf(&text, "run %lu is left out of the means: %s.", run->run,
			     run->problem ? run->problem : run->left_out) < 0)
			continue;
		tmigr_fmt_wrapped(out, "Note:", text, 2);
		free(text);
	}
}

int tmigr_runset_text(const struct tmigr_runset *set, FILE *out)
{
	struct rows r = {.set = set};
	int ret = 0;

	for (r.run = 0; r.run < set->n_runs && !ret; r.run++) {
		r.next = 0;
		if (set->runs[r.run].report)
			ret = tmigr_figures(set->runs[r.run].report, take, &r);
	}
	if (!ret && r.n)
		ret = put_table(&r, out);
	rows_free(&r);
	if (ret)
		return ret;
	put_left_out(set, out);
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
