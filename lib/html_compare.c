// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels compared, a view of the "tmigr-compare" object: every run's value as a dot,
 * and each difference to the baseline with its interval.
 */
#include "html_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_view.h"

/* Across of the small pictures; they stretch with their cell. */
#define WIDE 1000

struct compare {
	FILE *out;
	const json_t *json;
	double span; /* of the section's intervals: the axis goes from -span to +span percent */
};

static const struct {
	const char *group, *title;
} titles[] = {
	{"metric", "Metrics of the command"},
	{"energy", "Energy"},
	{"residency", "Idle-state residency by class"},
	{"migrator", "Who held the global migrator"},
	{"avoidable", "Avoidable holdings"},
	{"remote", "Remote expiries"},
	{"woke", "CPUs woken by remote expiries"},
	{"entries", "Entries of idle states"},
	{"above", "Idle states that were too deep"},
	{"below", "Idle states that were too shallow"},
};

static const char *title_of(const char *group)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (!strcmp(titles[i].group, group))
			return titles[i].title;
	return group;
}

static bool is_real(const json_t *v)
{
	return json_is_number(v) && isfinite(json_number_value(v));
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* ---- cells ---- */

/* @decimals behind the point; @sign shows that of what is not negative too. */
static void real_cell(FILE *out, const json_t *v, int decimals, bool sign)
{
	double d = json_number_value(v);

	if (!is_real(v)) {
		fputs("<td class=\"n\">-</td>", out);
		return;
	}
	fprintf(out, "<td class=\"n\" data-v=\"%.17g\">", d);
	if (decimals < 0)
		fprintf(out, "%.4g", d);
	else
		fprintf(out, sign ? "%+.*f" : "%.*f", decimals, d);
	fputs("</td>", out);
}

/* Some five significant digits. */
static void value_cell(FILE *out, const json_t *v)
{
	double a = fabs(json_number_value(v));

	real_cell(out, v, a >= 10000 ? 0 : a >= 1000 ? 1 : a >= 100 ? 2 : a >= 1 ? 3 : -1, false);
}

/* The range of all runs' values of a quantity. */
static void find_range(const json_t *quantity, double *low, double *high)
{
	const json_t *label, *v;
	size_t i, k;

	*low = INFINITY;
	*high = -INFINITY;
	json_array_foreach (json_object_get(quantity, "labels"), i, label)
		json_array_foreach (json_object_get(label, "values"), k, v)
			if (is_real(v)) {
				*low = smaller(*low, json_number_value(v));
				*high = larger(*high, json_number_value(v));
			}
}

static double place(double v, double low, double high)
{
	return high > low ? 30 + (v - low) / (high - low) * (WIDE - 60) : WIDE / 2.0;
}

static void put_dots(FILE *out, const json_t *label, double low, double high)
{
	const json_t *mean = json_object_get(label, "mean"), *v;
	size_t i, n = 0;

	fprintf(out,
		"<td class=\"bar\"><svg class=\"dots\" role=\"img\" viewBox=\"0 0 %d 20\" "
		"preserveAspectRatio=\"none\"><title>",
		WIDE);
	json_array_foreach (json_object_get(label, "values"), i, v)
		if (is_real(v))
			fprintf(out, "%s%.6g", n++ ? ", " : "Runs: ", json_number_value(v));
	fputs("</title><path class=\"grid\" d=\"M0 10H1000\"/>", out);
	if (is_real(mean))
		fprintf(out, "<path class=\"mean\" d=\"M%.1f 3V17\"/>",
			place(json_number_value(mean), low, high));
	json_array_foreach (json_object_get(label, "values"), i, v)
		if (is_real(v))
			fprintf(out, "<path class=\"dot\" d=\"M%.1f 10h0\"/>",
				place(json_number_value(v), low, high));
	fputs("</svg></td>", out);
}

/* Where @percent is on the axis; beyond its ends, at the end. */
static double axis(const struct compare *c, double percent)
{
	double x = WIDE / 2.0 * (1 + percent / c->span);

	return x < 0 ? 0 : x > WIDE ? WIDE : x;
}

static void put_interval(const struct compare *c, const json_t *label)
{
	const json_t *at = json_object_get(label, "percent");
	const json_t *low = json_object_get(label, "percent_low");
	const json_t *high = json_object_get(label, "percent_high");

	if (!is_real(at)) {
		fputs("<td class=\"bar\"></td>", c->out);
		return;
	}
	fprintf(c->out,
		"<td class=\"bar ci\"><svg class=\"dots\" role=\"img\" viewBox=\"0 0 %d 20\" "
		"preserveAspectRatio=\"none\"><title>%+.2f %%",
		WIDE, json_number_value(at));
	if (is_real(low) && is_real(high))
		fprintf(c->out, ", interval from %+.2f to %+.2f %%", json_number_value(low),
			json_number_value(high));
	fputs("</title><path class=\"grid\" d=\"M0 10H1000\"/><path class=\"zero\" d=\"M500 "
	      "0V20\"/>",
	      c->out);
	if (is_real(low) && is_real(high))
		fprintf(c->out, "<path class=\"ci\" d=\"M%.1f 10H%.1fM%.1f 5V15M%.1f 5V15\"/>",
			axis(c, json_number_value(low)), axis(c, json_number_value(high)),
			axis(c, json_number_value(low)), axis(c, json_number_value(high)));
	fprintf(c->out, "<path class=\"dot\" d=\"M%.1f 10h0\"/></svg></td>",
		axis(c, json_number_value(at)));
}

/* The interval below a difference: in units, in parentheses, where the baseline is not told
 * from 0, as in the text. */
static void put_bounds(FILE *out, const json_t *label, const char *unit)
{
	const json_t *low = json_object_get(label, "percent_low");
	const json_t *high = json_object_get(label, "percent_high");
	char a[TMIGR_FMT_MAX], b[TMIGR_FMT_MAX];

	if (is_real(low) && is_real(high)) {
		fprintf(out, "<br><span class=\"dim\">%+.2f to %+.2f</span>",
			json_number_value(low), json_number_value(high));
		return;
	}
	low = json_object_get(label, "difference_low");
	high = json_object_get(label, "difference_high");
	if (!is_real(low) || !is_real(high))
		return;
	fprintf(out, "<br><span class=\"dim\" data-from=\"%.17g\" data-to=\"%.17g\">(%s to %s",
		json_number_value(low), json_number_value(high),
		tmigr_fmt_signed_units(a, json_number_value(low)),
		tmigr_fmt_signed_units(b, json_number_value(high)));
	if (*unit) {
		putc(' ', out);
		tmigr_html_text(out, unit);
	}
	fputs(")</span>", out);
}

static void put_percent(FILE *out, const json_t *label, const char *unit)
{
	const json_t *at = json_object_get(label, "percent");
	const json_t *low = json_object_get(label, "percent_low");
	const json_t *high = json_object_get(label, "percent_high");

	fputs("<td class=\"n\"", out);
	if (is_real(at))
		fprintf(out, " data-v=\"%.17g\"", json_number_value(at));
	if (is_real(low) && is_real(high))
		fprintf(out, " data-low=\"%.17g\" data-high=\"%.17g\"", json_number_value(low),
			json_number_value(high));
	if (is_real(at))
		fprintf(out, "><b>%+.2f</b>", json_number_value(at));
	else
		fputs(is_real(json_object_get(label, "difference")) ? ">from 0" : ">-", out);
	put_bounds(out, label, unit);
	fputs("</td>", out);
}

/* ---- rows ---- */

static void put_label_row(const struct compare *c, const json_t *quantity, const json_t *label,
			  double low, double high)
{
	bool baseline = !strcmp(tmigr_rep_str(label, "label"), tmigr_rep_str(c->json, "baseline"));

	fputs("<tr data-key=\"", c->out);
	tmigr_html_text(c->out, tmigr_rep_str(quantity, "key"));
	fputs("\"><th scope=\"row\">", c->out);
	tmigr_html_text(c->out, tmigr_rep_str(label, "label"));
	fputs("</th>", c->out);
	value_cell(c->out, json_object_get(label, "mean"));
	if (baseline) {
		fputs("<td class=\"n dim\">baseline</td><td></td><td></td>", c->out);
	} else {
		put_percent(c->out, label, tmigr_rep_str(quantity, "unit"));
		put_interval(c, label);
		fprintf(c->out, "<td class=\"seen%s\">",
			json_is_true(json_object_get(label, "survives")) ? " sure" : "");
		tmigr_html_text(c->out, tmigr_rep_str(label, "verdict"));
		fputs("</td>", c->out);
	}
	put_dots(c->out, label, low, high);
	value_cell(c->out, json_object_get(label, "sd"));
	fprintf(c->out, "<td class=\"n\">%llu</td></tr>\n",
		(unsigned long long)tmigr_rep_u64(label, "n"));
}

static void put_quantity(const struct compare *c, const json_t *quantity)
{
	const json_t *label;
	double low, high;
	size_t i;

	find_range(quantity, &low, &high);
	fputs("<tbody><tr><th scope=\"rowgroup\" colspan=\"8\"><span>", c->out);
	tmigr_html_text(c->out, tmigr_rep_str(quantity, "name"));
	if (json_is_string(json_object_get(quantity, "better"))) {
		fputs(" <span class=\"dim\">(", c->out);
		tmigr_html_text(c->out, tmigr_rep_str(quantity, "better"));
		fputs(" is better)</span>", c->out);
	}
	fputs("</span></th></tr>\n", c->out);
	json_array_foreach (json_object_get(quantity, "labels"), i, label)
		put_label_row(c, quantity, label, low, high);
	fputs("</tbody>\n", c->out);
}

/* ---- sections ---- */

/*
 * The axis of a section shows most of it: to the largest bound, but no further than
 * 200 %, where an interval says no more than that it is wide.
 */
static double find_span(const json_t *quantities, const char *section)
{
	static const double steps[] = {0.5, 1, 2, 5, 10, 20, 50, 100, 200};
	const json_t *q, *label;
	double most = 0;
	size_t i, k;

	json_array_foreach (quantities, i, q) {
		if (strcmp(tmigr_rep_str(q, "section"), section))
			continue;
		json_array_foreach (json_object_get(q, "labels"), k, label) {
			const char *keys[] = {"percent", "percent_low", "percent_high"};

			for (int j = 0; j < 3; j++)
				if (is_real(json_object_get(label, keys[j])))
					most = larger(most, fabs(json_number_value(json_object_get(
								    label, keys[j]))));
		}
	}
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (most <= steps[i])
			return steps[i];
	return 200;
}

/* The section's own heading stands behind: it has the unit, and which hierarchy. */
static void put_section(struct compare *c, const json_t *quantities, const json_t *first)
{
	const char *section = tmigr_rep_str(first, "section");
	const char *title = title_of(tmigr_rep_str(first, "group"));
	const json_t *q;
	size_t i;

	c->span = find_span(quantities, section);
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", c->out);
	tmigr_html_text(c->out, section);
	fputs("\"><table class=\"cmp\"><caption><span>", c->out);
	tmigr_html_text(c->out, title);
	fputs(" <span class=\"dim\">(", c->out);
	tmigr_html_text(c->out, section);
	fputs(")</span></span></caption>\n<thead><tr><th scope=\"col\">label</th><th scope=\"col\" "
	      "class=\"n\">mean</th><th scope=\"col\" class=\"n\">difference %<br><span "
	      "class=\"dim\">(95&nbsp;% interval)</span></th>",
	      c->out);
	fprintf(c->out,
		"<th scope=\"col\"><span "
		"class=\"ends\"><span>&minus;%g&nbsp;%%</span><span>0</span>"
		"<span>+%g&nbsp;%%</span></span></th><th scope=\"col\">seen</th><th "
		"scope=\"col\">each run</th><th scope=\"col\" class=\"n\">sd</th><th scope=\"col\" "
		"class=\"n\">runs</th></tr></thead>\n",
		c->span, c->span);
	json_array_foreach (quantities, i, q)
		if (!strcmp(tmigr_rep_str(q, "section"), section))
			put_quantity(c, q);
	fputs("</table></div>\n", c->out);
}

static void put_note(FILE *out, const char *what, const char *text)
{
	fprintf(out, "<p class=\"note\"><b>%s</b> ", what);
	tmigr_html_text(out, text);
	fputs("</p>\n", out);
}

/* Names are unique within a section only. */
static void put_full_name(const struct compare *c, const json_t *value)
{
	const json_t *q = tmigr_rep_find(json_object_get(c->json, "quantities"), "key",
					 tmigr_rep_str(value, "key"), NULL);

	if (q) {
		tmigr_html_text(c->out, tmigr_rep_str(q, "section"));
		fputs(": ", c->out);
	}
	tmigr_html_text(c->out, tmigr_rep_str(value, "name"));
}

/* A value far from its siblings, with what differed in that run. */
static void put_flag(const struct compare *c, const json_t *flag)
{
	FILE *out = c->out;
	const json_t *values = json_object_get(flag, "values"), *facts, *v;
	size_t i, n = 0;

	fputs("<p class=\"note\"><b>Far from its siblings:</b> ", out);
	tmigr_html_text(out, tmigr_rep_str(flag, "label"));
	fprintf(out, ", run %llu (", (unsigned long long)tmigr_rep_u64(flag, "run"));
	json_array_foreach (values, i, v) {
		fputs(i ? "; " : "", out);
		put_full_name(c, v);
		fprintf(out, " %.6g", json_number_value(json_object_get(v, "value")));
	}
	fputs(").", out);
	facts = json_object_get(flag, "facts");
	json_array_foreach (facts, i, v) {
		if (!json_is_true(json_object_get(v, "differs")))
			continue;
		fputs(n++ ? "; " : " What differed there: ", out);
		tmigr_html_text(out, tmigr_rep_str(v, "what"));
		fprintf(out, " %.4g", json_number_value(json_object_get(v, "value")));
		tmigr_html_text(out, tmigr_rep_str(v, "unit"));
		fprintf(out, " (siblings %.4g to %.4g)",
			json_number_value(json_object_get(v, "siblings_low")),
			json_number_value(json_object_get(v, "siblings_high")));
	}
	fputs(n ? ".</p>\n" : "</p>\n", out);
}

static void put_notes(const struct compare *c)
{
	const json_t *v;
	size_t i;

	json_array_foreach (json_object_get(c->json, "notes"), i, v)
		put_note(c->out, "Note:",
			 json_is_string(v) ? json_string_value(v) : tmigr_rep_str(v, "text"));
	json_array_foreach (json_object_get(c->json, "unlike"), i, v) {
		fputs("<p class=\"note\"><b>Runs differ in their ", c->out);
		tmigr_html_text(c->out, tmigr_rep_str(v, "what"));
		fputs(":</b> ", c->out);
		tmigr_html_text(c->out, tmigr_rep_str(v, "text"));
		fputs("</p>\n", c->out);
	}
	json_array_foreach (json_object_get(c->json, "flags"), i, v)
		put_flag(c, v);
}

static void put_summary(const struct compare *c)
{
	const json_t *tests = json_object_get(c->json, "tests");

	fputs("<p>Differences are to <b>", c->out);
	tmigr_html_text(c->out, tmigr_rep_str(c->json, "baseline"));
	fputs("</b>. ", c->out);
	if (json_is_string(json_object_get(tests, "statistics")))
		fprintf(c->out,
			"%llu differences were tested (Welch); %llu stand out taken one by one, "
			"and "
			"<b>%llu</b> still do when all are taken together (Holm).",
			(unsigned long long)tmigr_rep_u64(tests, "tested"),
			(unsigned long long)tmigr_rep_u64(tests, "seen"),
			(unsigned long long)tmigr_rep_u64(tests, "survive"));
	else
		fputs("This build has no statistics: there are no intervals and no tests.", c->out);
	fputs(" A dot is a run, the tick their mean; a bar is the 95&nbsp;% interval of the "
	      "difference. A bar that ends at the axis may go on beyond it. An interval in "
	      "parentheses is in units: there the baseline is not told from 0, so nothing bounds "
	      "the ratio.</p>\n",
	      c->out);
}

int tmigr_html_compare(struct tmigr_html *h)
{
	struct compare c = {.out = h->out, .json = h->in->compare};
	const json_t *quantities = json_object_get(c.json, "quantities"), *q;
	const char *section = "";
	size_t i;

	h->level = 2;
	h->id[0] = '\0';
	fputs("<section>\n", h->out);
	tmigr_html_heading(h, "compare", "Comparison");
	put_summary(&c);
	put_notes(&c);
	/* They come section by section. */
	json_array_foreach (quantities, i, q) {
		if (!strcmp(section, tmigr_rep_str(q, "section")))
			continue;
		section = tmigr_rep_str(q, "section");
		put_section(&c, quantities, q);
	}
	fputs("</section>\n", h->out);
	return 0;
}
