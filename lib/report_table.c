// SPDX-License-Identifier: GPL-2.0-or-later
/* Aligned tables that fit TMIGR_TEXT_WIDTH columns. */
#include "report_fmt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2
#define GAP    2

struct column {
	char *head;
	size_t width;
	bool right;
};

struct cell {
	char *text;
	bool exact;
	__u64 value;
};

struct tmigr_table {
	size_t n_keys, max_width;
	size_t n_columns;
	struct column *columns;
	size_t n_cells, cells_size;
	struct cell *cells;
	bool failed;
};

struct tmigr_table *tmigr_table_new(size_t n_keys)
{
	struct tmigr_table *t = calloc(1, sizeof(*t));

	if (t) {
		t->n_keys = n_keys;
		t->max_width = TMIGR_TEXT_WIDTH;
	}
	return t;
}

void tmigr_table_max_width(struct tmigr_table *t, size_t width)
{
	if (t)
		t->max_width = width;
}

size_t tmigr_table_width(const struct tmigr_table *t)
{
	size_t width = INDENT;

	for (size_t i = 0; t && i < t->n_columns; i++)
		width += t->columns[i].width + (i ? GAP : 0);
	return width;
}

/* Characters, not bytes: continuation bytes of UTF-8 take no column. */
static size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void tmigr_table_column(struct tmigr_table *t, bool right, const char *head)
{
	struct column *c = t ? reallocarray(t->columns, t->n_columns + 1, sizeof(*c)) : NULL;
	char *copy = strdup(head);

	if (c)
		t->columns = c;
	if (!c || !copy) {
		free(copy);
		if (t)
			t->failed = true;
		return;
	}
	c[t->n_columns++] =
		(struct column){.head = copy, .width = text_width(copy), .right = right};
}

static void add_cell(struct tmigr_table *t, const char *text, bool exact, __u64 value)
{
	char *copy = strdup(text);
	struct column *c;

	if (!t || !copy || t->failed || !t->n_columns)
		goto fail;
	if (t->n_cells == t->cells_size) {
		size_t size = t->cells_size ? t->cells_size * 2 : 64;
		struct cell *cells = reallocarray(t->cells, size, sizeof(*cells));

		if (!cells)
			goto fail;
		t->cells = cells;
		t->cells_size = size;
	}
	c = &t->columns[t->n_cells % t->n_columns];
	if (text_width(copy) > c->width)
		c->width = text_width(copy);
	t->cells[t->n_cells++] = (struct cell){copy, exact, value};
	return;
fail:
	free(copy);
	if (t)
		t->failed = true;
}

void tmigr_table_cell(struct tmigr_table *t, const char *text)
{
	add_cell(t, text, false, 0);
}

void tmigr_table_sec(struct tmigr_table *t, __u64 ns, __u64 window_ns)
{
	char buf[TMIGR_FMT_MAX];

	add_cell(t, tmigr_fmt_sec(buf, ns, window_ns), true, ns);
}

void tmigr_table_count(struct tmigr_table *t, __u64 n)
{
	char buf[TMIGR_FMT_MAX];

	add_cell(t, tmigr_fmt_count(buf, n), true, n);
}

void tmigr_table_number(struct tmigr_table *t, __u64 n)
{
	char buf[TMIGR_FMT_MAX];

	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)n);
	add_cell(t, buf, true, n);
}

void tmigr_table_free(struct tmigr_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_columns; i++)
		free(t->columns[i].head);
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i].text);
	free(t->columns);
	free(t->cells);
	free(t);
}

static void put_spaces(FILE *out, size_t n)
{
	while (n--)
		putc(' ', out);
}

/* One line: the key columns, then columns [from, to).  Blanks at its end are
 * left out, so that lines stay short. */
static void put_line(const struct tmigr_table *t, size_t from, size_t to, const struct cell *cells,
		     FILE *out)
{
	size_t owed = INDENT;

	for (size_t i = 0; i < to; i++) {
		const struct column *c = &t->columns[i];
		const char *text = cells ? cells[i].text : c->head;
		size_t pad = c->width - text_width(text);

		if (i >= t->n_keys && i < from)
			continue;
		if (c->right)
			owed += pad;
		if (*text) {
			put_spaces(out, owed);
			tmigr_fmt_puts(out, text);
			owed = 0;
		}
		owed += GAP + (c->right ? 0 : pad);
	}
	putc('\n', out);
}

/* First column after @from that no longer fits beside the keys. */
static size_t fit(const struct tmigr_table *t, size_t from)
{
	size_t width = INDENT, i;

	for (i = 0; i < t->n_keys && i < t->n_columns; i++)
		width += t->columns[i].width + GAP;
	for (i = from; i < t->n_columns; i++) {
		width += t->columns[i].width;
		if (width > t->max_width && i > from)
			break;
		width += GAP;
	}
	return i;
}

int tmigr_table_print(struct tmigr_table *t, FILE *out)
{
	struct tmigr_table_shape shape;
	int ret = tmigr_table_shape(t, &shape);

	for (size_t from = t->n_keys, to; ret == 0 && from < t->n_columns; from = to) {
		to = fit(t, from);
		if (from > t->n_keys)
			putc('\n', out);
		put_line(t, from, to, NULL, out);
		for (size_t row = 0; row < shape.n_rows; row++)
			put_line(t, from, to, t->cells + row * t->n_columns, out);
	}
	tmigr_table_free(t);
	return ret;
}

int tmigr_table_shape(const struct tmigr_table *t, struct tmigr_table_shape *ret)
{
	if (!t || t->failed || t->n_columns < t->n_keys || !t->n_columns)
		return -ENOMEM;
	*ret = (struct tmigr_table_shape){t->n_keys, t->n_columns, t->n_cells / t->n_columns};
	return 0;
}

const char *tmigr_table_head(const struct tmigr_table *t, size_t column, bool *ret_right)
{
	*ret_right = t->columns[column].right;
	return t->columns[column].head;
}

struct tmigr_table_cell_view tmigr_table_at(const struct tmigr_table *t, size_t row, size_t column)
{
	const struct cell *c = &t->cells[row * t->n_columns + column];

	return (struct tmigr_table_cell_view){c->text, c->exact, c->value};
}
