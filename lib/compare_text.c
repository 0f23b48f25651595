// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A comparison as text for an e-mail, and as markdown: what is unlike, the
 * differences with their intervals, every run, values far from their siblings.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compare_view.h"
#include "tmigr/compare.h"

/* A label that is longer than this would widen its column. */
#define MAX_HEAD 8

/* NULL: no memory. */
__attribute__((format(printf, 1, 0))) static char *formatted(const char *fmt, va_list ap)
{
	char *text;

	return vasprintf(&text, fmt, ap) < 0 ? NULL : text;
}

void tmigr_view_title(const struct tmigr_compare_view *v, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	if (!text)
		return;
	if (v->markdown) {
		fputs("\n### ", v->out);
		tmigr_fmt_puts(v->out, text);
		fputs("\n\n", v->out);
	} else {
		size_t first = strcspn(text, " ");
		char *rest = text + first + (text[first] == ' ');

		putc('\n', v->out);
		text[first] = '\0';
		tmigr_fmt_wrapped_to(v->out, text, rest, 2, TMIGR_COMPARE_WIDTH);
	}
	free(text);
}

void tmigr_view_item(const struct tmigr_compare_view *v, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	if (!text)
		return;
	if (v->markdown) {
		fputs("- ", v->out);
		tmigr_fmt_puts(v->out, text);
		putc('\n', v->out);
	} else {
		tmigr_fmt_wrapped_to(v->out, " ", text, 4, TMIGR_COMPARE_WIDTH);
	}
	free(text);
}

int tmigr_view_table(const struct tmigr_compare_view *v, struct tmigr_table *t)
{
	tmigr_table_max_width(t, v->width);
	return v->markdown ? tmigr_table_markdown(t, v->out) : tmigr_table_print(t, v->out);
}

/* ---- differences ---- */

/* Where the baseline's mean is not told from 0, in units instead of percent. */
static void interval_cell(struct tmigr_table *t, const json_t *cell)
{
	const json_t *low = json_object_get(cell, "percent_low");
	const json_t *high = json_object_get(cell, "percent_high");
	char a[TMIGR_FMT_MAX], b[TMIGR_FMT_MAX], text[2 * TMIGR_FMT_MAX + 8];

	if (json_is_number(low) && json_is_number(high)) {
		snprintf(text, sizeof(text), "%s..%s", tmigr_fmt_signed(a, json_number_value(low)),
			 tmigr_fmt_signed(b, json_number_value(high)));
		tmigr_table_cell(t, text);
		return;
	}
	low = json_object_get(cell, "difference_low");
	high = json_object_get(cell, "difference_high");
	if (!json_is_number(low) || !json_is_number(high)) {
		tmigr_table_cell(t, "-");
		return;
	}
	snprintf(text, sizeof(text), "(%s..%s)", tmigr_fmt_signed_units(a, json_number_value(low)),
		 tmigr_fmt_signed_units(b, json_number_value(high)));
	tmigr_table_cell(t, text);
}

static void percent_cell(struct tmigr_table *t, const json_t *cell)
{
	const json_t *p = json_object_get(cell, "percent"),
		     *d = json_object_get(cell, "difference");
	char buf[TMIGR_FMT_MAX];

	if (json_is_number(p))
		tmigr_table_cell(t, tmigr_fmt_signed(buf, json_number_value(p)));
	else
		tmigr_table_cell(t, json_is_number(d) ? "from 0" : "-");
}

static void difference_row(const struct tmigr_compare_view *v, struct tmigr_table *t,
			   const json_t *q, const json_t *base, const json_t *cell, bool means)
{
	struct tmigr_decimals d = tmigr_compare_decimals(q);
	char buf[TMIGR_FMT_MAX], word[64], *name;

	if (asprintf(&name, "%s%s", v->markdown ? "" : "  ", tmigr_rep_str(q, "name")) < 0)
		name = NULL;
	tmigr_table_cell(t, name ? name : "");
	free(name);
	if (means) {
		tmigr_table_cell(t, tmigr_fmt_real(buf, json_object_get(base, "mean"), d.mean));
		tmigr_table_cell(t, tmigr_fmt_real(buf, json_object_get(cell, "mean"), d.mean));
	}
	percent_cell(t, cell);
	interval_cell(t, cell);
	snprintf(word, sizeof(word), "%s%s", tmigr_rep_str(cell, "verdict"),
		 json_is_true(json_object_get(cell, "survives")) ? " *" : "");
	tmigr_table_cell(t, word);
}

static const char *head_of(const char *label, const char *instead)
{
	return strlen(label) <= MAX_HEAD ? label : instead;
}

/* @means: with the means' columns. */
static struct tmigr_table *difference_table(const struct tmigr_compare_view *v, size_t base,
					    size_t label, bool means)
{
	struct tmigr_table *t = tmigr_table_new(1);
	const char *section = "";
	const json_t *q;
	size_t i;

	tmigr_table_column(t, false, "");
	if (means) {
		tmigr_table_column(t, true, head_of(tmigr_rep_str(v->c, "baseline"), "baseline"));
		tmigr_table_column(
			t, true,
			head_of(tmigr_rep_str(
					json_array_get(json_object_get(v->c, "labels"), label),
					"name"),
				"mean"));
	}
	tmigr_table_column(t, true, "diff %");
	tmigr_table_column(t, true, "95 % interval");
	tmigr_table_column(t, false, "");
	json_array_foreach (json_object_get(v->c, "quantities"), i, q) {
		const json_t *cells = json_object_get(q, "labels");

		if (strcmp(section, tmigr_rep_str(q, "section"))) {
			section = tmigr_rep_str(q, "section");
			tmigr_table_cell(t, section);
			for (int k = 0; k < (means ? 5 : 3); k++)
				tmigr_table_cell(t, "");
		}
		difference_row(v, t, q, json_array_get(cells, base), json_array_get(cells, label),
			       means);
	}
	return t;
}

/* Do the means fit beside the differences, for every label? */
static bool means_fit(const struct tmigr_compare_view *v, size_t base)
{
	bool fit = true;

	for (size_t k = 0; k < json_array_size(json_object_get(v->c, "labels")) && fit; k++) {
		struct tmigr_table *t = k == base ? NULL : difference_table(v, base, k, true);

		fit = tmigr_table_width(t) <= TMIGR_COMPARE_WIDTH;
		tmigr_table_free(t);
	}
	return fit || v->markdown;
}

/* Where names or figures are too long for the width, lines are longer: a word on
 * another line than its figure would be of no use. */
static int differences(const struct tmigr_compare_view *v, size_t base, size_t label, bool means)
{
	const json_t *l = json_array_get(json_object_get(v->c, "labels"), label);
	struct tmigr_compare_view wide = *v;

	wide.width = SIZE_MAX;
	tmigr_view_title(v, "%s against %s: difference of the means in %%",
			 tmigr_rep_str(l, "name"), tmigr_rep_str(v->c, "baseline"));
	return tmigr_view_table(&wide, difference_table(v, base, label, means));
}

/* ---- the whole ---- */

static int print(const struct tmigr_compare_view *v)
{
	const json_t *labels = json_object_get(v->c, "labels"), *l;
	size_t i, base = 0;
	bool means;
	int ret = 0;

	json_array_foreach (labels, i, l)
		if (json_is_true(json_object_get(l, "baseline")))
			base = i;
	tmigr_view_head(v);
	means = means_fit(v, base);
	json_array_foreach (labels, i, l)
		if (i != base && ret == 0)
			ret = differences(v, base, i, means);
	if (ret == 0)
		ret = tmigr_view_runs(v);
	if (ret == 0)
		ret = tmigr_view_cpus(v);
	if (ret < 0)
		return ret;
	tmigr_view_flags(v);
	tmigr_view_foot(v);
	if (fflush(v->out) != 0 || ferror(v->out))
		return errno ? -errno : -EIO;
	return 0;
}

int tmigr_compare_text(const json_t *compare, FILE *out)
{
	struct tmigr_compare_view v = {compare, out, TMIGR_COMPARE_WIDTH, false};

	return print(&v);
}

int tmigr_compare_markdown(const json_t *compare, FILE *out)
{
	struct tmigr_compare_view v = {compare, out, TMIGR_COMPARE_WIDTH, true};

	return print(&v);
}

int tmigr_compare_json(const json_t *compare, FILE *out)
{
	/* As many digits as a double has: others compute with these. */
	return tmigr_json_lines(compare, out, 17);
}
