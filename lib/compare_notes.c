// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands above and below the tables of a comparison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_view.h"
#include "tmigr/compare.h"

/* More quantities that are 0 everywhere than this are only counted. */
#define MAX_ZERO 4

/* ---- above ---- */

static void labels_line(const struct tmigr_compare_view *v)
{
	const json_t *labels = json_object_get(v->c, "labels"), *l;
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	json_array_foreach (labels, i, l) {
		size_t n = json_array_size(json_object_get(l, "runs"));
		__u64 counted = tmigr_rep_u64(l, "n_counted");

		fprintf(out, "%s%s (%zu run%s", i ? ", " : "", tmigr_rep_str(l, "name"), n,
			n == 1 ? "" : "s");
		if (counted < n)
			fprintf(out, ", %llu of them count%s", (unsigned long long)counted,
				counted == 1 ? "s" : "");
		fputs(json_is_true(json_object_get(l, "baseline")) && json_array_size(labels) > 1
			      ? "; the baseline)"
			      : ")",
		      out);
	}
	fclose(out);
	if (v->markdown) {
		fputs("Comparison of ", v->out);
		tmigr_fmt_puts(v->out, text ? text : "");
		putc('\n', v->out);
	} else {
		tmigr_fmt_wrapped_to(v->out, "Comparison of", text ? text : "", 2,
				     TMIGR_COMPARE_WIDTH);
	}
	free(text);
}

static void unlike(const struct tmigr_compare_view *v)
{
	const json_t *u;
	size_t i;

	if (!json_array_size(json_object_get(v->c, "unlike")))
		return;
	tmigr_view_title(v, "The runs are not alike in:");
	json_array_foreach (json_object_get(v->c, "unlike"), i, u)
		tmigr_view_item(v, "%s: %s%s", tmigr_rep_str(u, "what"), tmigr_rep_str(u, "text"),
				strcmp(tmigr_rep_str(u, "what"), "window")
					? ""
					: " (seconds and counts grow with it)");
}

/* Runs that are shown, but not in the means; and those that are not even shown. */
static void left_out(const struct tmigr_compare_view *v)
{
	const json_t *l, *r;
	bool titled = false;
	size_t i, k;

	json_array_foreach (json_object_get(v->c, "labels"), i, l) {
		json_array_foreach (json_object_get(l, "runs"), k, r) {
			const char *why = tmigr_rep_str(r, "left_out");
			const char *problem = tmigr_rep_str(r, "problem");

			if (json_is_true(json_object_get(r, "counts")))
				continue;
			if (!titled)
				tmigr_view_title(v, "Left out of the means:");
			titled = true;
			if (*problem)
				tmigr_view_item(v, "run-%llu of %s: %s",
						(unsigned long long)tmigr_rep_u64(r, "run"),
						tmigr_rep_str(l, "name"), problem);
			else
				tmigr_view_item(v, "run-%llu of %s (in parentheses): %s",
						(unsigned long long)tmigr_rep_u64(r, "run"),
						tmigr_rep_str(l, "name"), why);
		}
	}
}

void tmigr_view_head(const struct tmigr_compare_view *v)
{
	labels_line(v);
	unlike(v);
	left_out(v);
}

/* ---- values far from their siblings ---- */

static const json_t *quantity_of(const json_t *compare, const char *key)
{
	return tmigr_rep_find(json_object_get(compare, "quantities"), "key", key, NULL);
}

/* "LITTLE cpu-sleep 41.2 s (siblings 70.1, 69.8)" */
static void put_value(const struct tmigr_compare_view *v, const json_t *value, FILE *out)
{
	const json_t *q = quantity_of(v->c, tmigr_rep_str(value, "key")), *s;
	struct tmigr_decimals d = tmigr_compare_decimals(q);
	const json_t *siblings = json_object_get(value, "siblings");
	char buf[TMIGR_FMT_MAX];
	size_t i;

	if (strcmp(tmigr_rep_str(q, "group"), "metric"))
		fprintf(out, "%s: ", tmigr_rep_str(q, "section"));
	fprintf(out, "%s %s (siblings ", tmigr_rep_str(q, "name"),
		tmigr_fmt_real(buf, json_object_get(value, "value"), d.value));
	json_array_foreach (siblings, i, s) {
		if (i == 4 && json_array_size(siblings) > 5)
			break;
		fprintf(out, "%s%s", i ? ", " : "", tmigr_fmt_real(buf, s, d.value));
	}
	fputs(i < json_array_size(siblings) ? ", ...)" : ")", out);
}

static void put_range(const json_t *fact, FILE *out)
{
	const char *unit = tmigr_rep_str(fact, "unit");
	int d = *unit ? 1 : 0;
	char value[TMIGR_FMT_MAX], low[TMIGR_FMT_MAX], high[TMIGR_FMT_MAX];

	tmigr_fmt_real(value, json_object_get(fact, "value"), d);
	tmigr_fmt_real(low, json_object_get(fact, "siblings_low"), d);
	tmigr_fmt_real(high, json_object_get(fact, "siblings_high"), d);
	fprintf(out, "%s %s%s%s (siblings %s%s%s)", tmigr_rep_str(fact, "what"), value,
		*unit ? " " : "", unit, low, strcmp(low, high) ? " to " : "",
		strcmp(low, high) ? high : "");
}

/* Does a fact of the same kind differ? */
static bool kind_differs(const json_t *facts, const char *kind)
{
	const json_t *f;
	size_t i;

	json_array_foreach (facts, i, f)
		if (json_is_true(json_object_get(f, "differs")) &&
		    !strcmp(tmigr_rep_str(f, "kind"), kind))
			return true;
	return false;
}

static void put_facts(const json_t *facts, FILE *out)
{
	const char *kind = "";
	const json_t *f;
	size_t i, n = 0, alike = 0;

	json_array_foreach (facts, i, f) {
		if (!json_is_true(json_object_get(f, "differs")))
			continue;
		fputs(n++ ? ", " : "In that run: ", out);
		put_range(f, out);
	}
	json_array_foreach (facts, i, f) {
		if (!strcmp(kind, tmigr_rep_str(f, "kind")))
			continue;
		kind = tmigr_rep_str(f, "kind");
		if (kind_differs(facts, kind))
			continue;
		fprintf(out, "%s%s",
			alike ? ", "
			: n   ? "; like its siblings: "
			      : "Like its siblings: ",
			kind);
		alike++;
	}
	putc('.', out);
}

void tmigr_view_flags(const struct tmigr_compare_view *v)
{
	const json_t *f, *value;
	size_t i, k;

	if (!json_array_size(json_object_get(v->c, "flags")))
		return;
	tmigr_view_title(v, "Far from their siblings (!), kept in all figures:");
	json_array_foreach (json_object_get(v->c, "flags"), i, f) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		if (!out)
			return;
		json_array_foreach (json_object_get(f, "values"), k, value) {
			fputs(k ? "; " : "", out);
			put_value(v, value, out);
		}
		fputs(". ", out);
		put_facts(json_object_get(f, "facts"), out);
		fclose(out);
		tmigr_view_item(v, "run-%llu of %s: %s",
				(unsigned long long)tmigr_rep_u64(f, "run"),
				tmigr_rep_str(f, "label"), text ? text : "");
		free(text);
	}
}

/* ---- below ---- */

static void tests(const struct tmigr_compare_view *v)
{
	const json_t *t = json_object_get(v->c, "tests");
	__u64 tested = tmigr_rep_u64(t, "tested"), seen = tmigr_rep_u64(t, "seen");

	if (!*tmigr_rep_str(t, "statistics")) {
		tmigr_view_item(v, "This program was built without GSL: no intervals, no tests, "
				   "nothing flagged.");
		return;
	}
	tmigr_view_item(
		v, "Interval: what Welch's t test does not rule out at 5 %%; 0 is outside where "
		   "a difference is seen. In parentheses, in units: the baseline is not told "
		   "from 0.");
	tmigr_view_item(
		v,
		"%llu quantities compared, %llu differences tested: %llu seen (%.1f would be "
		"by chance alone), %llu of them also after Holm's correction for all %llu "
		"(*).",
		(unsigned long long)tmigr_rep_u64(t, "quantities"), (unsigned long long)tested,
		(unsigned long long)seen, 0.05 * (double)tested,
		(unsigned long long)tmigr_rep_u64(t, "survive"), (unsigned long long)tested);
}

static void zero(const struct tmigr_compare_view *v)
{
	const json_t *list = json_object_get(v->c, "zero"), *key;
	size_t n_all = json_array_size(list), size, i, n = 0;
	char *text = NULL;
	FILE *out;

	if (n_all > MAX_ZERO)
		tmigr_view_item(v, "%zu more quantities were 0 in every run (--json names them).",
				n_all);
	if (!n_all || n_all > MAX_ZERO)
		return;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	json_array_foreach (list, i, key)
		fprintf(out, "%s%s", n++ ? ", " : "", json_string_value(key));
	fclose(out);
	tmigr_view_item(v, "0 in every run: %s.", text ? text : "");
	free(text);
}

void tmigr_view_foot(const struct tmigr_compare_view *v)
{
	const json_t *note;
	size_t i;

	tmigr_view_title(v, "Notes");
	if (json_array_size(json_object_get(v->c, "labels")) > 1)
		tests(v);
	zero(v);
	json_array_foreach (json_object_get(v->c, "notes"), i, note)
		tmigr_view_item(v, "%s", json_string_value(note));
}
