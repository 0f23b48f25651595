// SPDX-License-Identifier: GPL-2.0-or-later
/* A comparison as CSV: tidy, RFC 4180 quoting, lines end in LF.  A cell that does
 * not apply is empty. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report_fmt.h"
#include "tmigr/compare.h"

static int flushed(FILE *out)
{
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

/* The shortest text that reads back as the same double. */
static void put_real(FILE *out, const json_t *v)
{
	double x = json_number_value(v);
	char buf[40];

	putc(',', out);
	if (!json_is_number(v) || !isfinite(x))
		return;
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, x);
		if (strtod(buf, NULL) == x)
			break;
	}
	fputs(buf, out);
}

static void put_text(FILE *out, const char *text)
{
	putc(',', out);
	tmigr_fmt_csv(out, text);
}

static void put_quantity(FILE *out, const json_t *q)
{
	tmigr_fmt_csv(out, tmigr_rep_str(q, "key"));
	put_text(out, tmigr_rep_str(q, "group"));
	put_text(out, tmigr_rep_str(q, "name"));
	put_text(out, tmigr_rep_str(q, "unit"));
	put_text(out, tmigr_rep_str(q, "better"));
}

static void put_cell(FILE *out, const json_t *cell)
{
	static const char *const reals[] = {
		"mean",
		"sd",
		"difference",
		"difference_low",
		"difference_high",
		"percent",
		"percent_low",
		"percent_high",
		"t",
		"df",
		"p",
		"p_holm",
	};
	const json_t *survives = json_object_get(cell, "survives");

	put_text(out, tmigr_rep_str(cell, "label"));
	fprintf(out, ",%llu", (unsigned long long)tmigr_rep_u64(cell, "n"));
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		put_real(out, json_object_get(cell, reals[i]));
	put_text(out, json_is_boolean(survives) ? json_is_true(survives) ? "yes" : "no" : "");
	put_text(out, tmigr_rep_str(cell, "verdict"));
	putc('\n', out);
}

int tmigr_compare_csv(const json_t *compare, FILE *out)
{
	const json_t *q, *cell;
	size_t i, k;

	fputs("key,group,name,unit,better,label,n,mean,sd,difference,difference_low,"
	      "difference_high,percent,percent_low,percent_high,t,df,p,p_holm,survives,verdict\n",
	      out);
	json_array_foreach (json_object_get(compare, "quantities"), i, q) {
		json_array_foreach (json_object_get(q, "labels"), k, cell) {
			put_quantity(out, q);
			put_cell(out, cell);
		}
	}
	return flushed(out);
}

static void put_values(FILE *out, const json_t *compare, const json_t *q, size_t k)
{
	const json_t *label = json_array_get(json_object_get(compare, "labels"), k), *v;
	const json_t *cell = json_array_get(json_object_get(q, "labels"), k);
	size_t i;

	json_array_foreach (json_object_get(cell, "values"), i, v) {
		const json_t *run = json_array_get(json_object_get(label, "runs"), i);

		put_quantity(out, q);
		put_text(out, tmigr_rep_str(label, "name"));
		fprintf(out, ",%llu", (unsigned long long)tmigr_rep_u64(run, "run"));
		put_text(out, json_is_true(json_object_get(run, "counts")) ? "yes" : "no");
		put_real(out, v);
		putc('\n', out);
	}
}

int tmigr_compare_csv_runs(const json_t *compare, FILE *out)
{
	const json_t *q;
	size_t i;

	fputs("key,group,name,unit,better,label,run,counts,value\n", out);
	json_array_foreach (json_object_get(compare, "quantities"), i, q)
		for (size_t k = 0; k < json_array_size(json_object_get(compare, "labels")); k++)
			put_values(out, compare, q, k);
	return flushed(out);
}
