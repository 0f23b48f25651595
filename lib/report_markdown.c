// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables as GitHub-flavoured markdown. */
#include <errno.h>
#include <string.h>

#include "report_fmt.h"

/* What would end a cell, or start markup, is escaped. */
static void put_cell(const char *text, FILE *out)
{
	for (const char *p = text; *p; p++) {
		if (strchr("|\\`*_<[", *p))
			putc('\\', out);
		putc((unsigned char)*p < 0x20 || *p == 0x7f ? '?' : *p, out);
	}
}

int tmigr_table_markdown(struct tmigr_table *t, FILE *out)
{
	struct tmigr_table_shape s = {0};
	int ret = tmigr_table_shape(t, &s);
	bool right;

	for (size_t i = 0; i < s.n_columns; i++) {
		fputs("| ", out);
		put_cell(tmigr_table_head(t, i, &right), out);
		fputs(i + 1 < s.n_columns ? " " : " |\n", out);
	}
	for (size_t i = 0; i < s.n_columns; i++) {
		tmigr_table_head(t, i, &right);
		fprintf(out, "|%s%s", right ? "---:" : "---", i + 1 < s.n_columns ? "" : "|\n");
	}
	for (size_t row = 0; row < s.n_rows; row++) {
		for (size_t i = 0; i < s.n_columns; i++) {
			fputs("| ", out);
			put_cell(tmigr_table_at(t, row, i).text, out);
			fputs(i + 1 < s.n_columns ? " " : " |\n", out);
		}
	}
	tmigr_table_free(t);
	return ret;
}
