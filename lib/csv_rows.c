// SPDX-License-Identifier: GPL-2.0-or-later
#include "csv_rows.h"

#include "report_fmt.h"

static void next_cell(struct csv *t)
{
	if (t->begun)
		putc(',', t->out);
	t->begun = true;
}

void csv_text(struct csv *t, const char *s)
{
	next_cell(t);
	tmigr_fmt_csv(t->out, s);
}

void csv_u64(struct csv *t, __u64 v)
{
	next_cell(t);
	fprintf(t->out, "%llu", (unsigned long long)v);
}

void csv_key(struct csv *t, const json_t *obj, const char *key)
{
	csv_u64(t, tmigr_rep_u64(obj, key));
}

void csv_empty(struct csv *t, int n)
{
	while (n--)
		next_cell(t);
}

void csv_maybe(struct csv *t, const json_t *v)
{
	if (json_is_integer(v)) {
		next_cell(t);
		fprintf(t->out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	} else if (json_is_real(v)) {
		next_cell(t);
		/* All of a value that was printed in decimal. */
		fprintf(t->out, "%.15g", json_real_value(v));
	} else {
		csv_text(t, json_is_string(v) ? json_string_value(v) : "");
	}
}

void csv_begin_row(struct csv *t)
{
	if (!t->run)
		return;
	csv_text(t, t->run->label);
	csv_u64(t, t->run->run);
}

void csv_end_row(struct csv *t)
{
	putc('\n', t->out);
	t->begun = false;
}
