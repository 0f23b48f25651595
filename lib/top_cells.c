// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of cells under construction, and as text. */
#include "top_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Every code point that gets here is one column wide (top_clean). */
size_t top_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Bytes of the first @columns columns. */
static size_t bytes_of(const char *text, size_t columns)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && !columns--)
			break;
	return i;
}

/* Decodes one code point of valid UTF-8; returns its bytes. */
static size_t decode(const char *text, unsigned int *ret)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t i, n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	unsigned int c = n == 1 ? *p : *p & (0xffu >> (n + 1));

	for (i = 1; i < n && (p[i] & 0xc0) == 0x80; i++)
		c = c << 6 | (p[i] & 0x3f);
	*ret = c;
	return i;
}

/* Letters of one column: Latin, Greek, Cyrillic and the like; wide and combining
 * ones would break the columns. */
static bool is_plain(unsigned int c, bool utf8)
{
	if (c < 0x80)
		return c >= 0x20 && c != 0x7f;
	return utf8 && c >= 0xa1 && c < 0x590 && c != 0xad && !(c >= 0x300 && c < 0x370) &&
	       !(c >= 0x483 && c < 0x48a);
}

void top_clean(char *buf, size_t size, const char *text, bool utf8)
{
	size_t n = 0;

	while (*text && n + 1 < size) {
		unsigned int c;
		size_t len = decode(text, &c);

		if (!is_plain(c, utf8)) {
			buf[n++] = '?';
		} else {
			if (n + len >= size)
				break;
			memcpy(buf + n, text, len);
			n += len;
		}
		text += len;
	}
	buf[n] = '\0';
}

void top_row(struct top_page *p)
{
	if (p->n == p->room) {
		size_t room = p->room ? p->room * 2 : 32;
		struct tmigr_top_row *rows = reallocarray(p->rows, room, sizeof(*rows));

		if (!rows) {
			p->failed = true;
			return;
		}
		p->rows = rows;
		p->room = room;
	}
	p->rows[p->n++] = (struct tmigr_top_row){0};
}

/* Takes @text over. */
static void add_cell(struct top_page *p, enum tmigr_top_attr attr, char *text)
{
	struct tmigr_top_row *row = p->n ? &p->rows[p->n - 1] : NULL;
	struct tmigr_top_cell *cells;

	if (!text || !row || p->failed) {
		p->failed = true;
		free(text);
		return;
	}
	cells = reallocarray(row->cells, row->n + 1, sizeof(*cells));
	if (!cells) {
		p->failed = true;
		free(text);
		return;
	}
	row->cells = cells;
	cells[row->n++] = (struct tmigr_top_cell){attr, text};
}

void top_cell(struct top_page *p, enum tmigr_top_attr attr, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	add_cell(p, attr, text);
}

void top_field(struct top_page *p, enum tmigr_top_attr attr, size_t width, bool right,
	       const char *text)
{
	size_t bytes = bytes_of(text, width), columns = top_columns(text);
	int pad = columns < width ? (int)(width - columns) : 0;

	top_cell(p, attr, "%*s%.*s%*s", right ? pad : 0, "", (int)bytes, text, right ? 0 : pad, "");
}

static size_t columns_of(const struct tmigr_top_row *row)
{
	size_t i, n = 0;

	for (i = 0; i < row->n; i++)
		n += top_columns(row->cells[i].text);
	return n;
}

size_t top_row_columns(const struct top_page *p)
{
	return p->n ? columns_of(&p->rows[p->n - 1]) : 0;
}

void top_fill(struct top_page *p, enum tmigr_top_attr attr, size_t width)
{
	size_t n = top_row_columns(p);

	if (n < width)
		top_cell(p, attr, "%*s", (int)(width - n), "");
}

static void free_row(struct tmigr_top_row *row)
{
	while (row->n)
		free(row->cells[--row->n].text);
	free(row->cells);
	*row = (struct tmigr_top_row){0};
}

static void clip_row(struct tmigr_top_row *row, size_t width)
{
	size_t i;

	for (i = 0; i < row->n; i++) {
		size_t columns = top_columns(row->cells[i].text);

		if (columns > width)
			row->cells[i].text[bytes_of(row->cells[i].text, width)] = '\0';
		width -= columns < width ? columns : width;
	}
}

void top_clip(struct top_page *p, size_t width)
{
	for (size_t i = 0; i < p->n; i++)
		clip_row(&p->rows[i], width);
}

void top_page_free(struct top_page *p)
{
	for (size_t i = 0; i < p->n; i++)
		free_row(&p->rows[i]);
	free(p->rows);
	*p = (struct top_page){0};
}

void top_take(struct top_page *p, struct top_page *src, size_t from, size_t n)
{
	p->failed |= src->failed;
	for (; n && from < src->n && !p->failed; n--, from++) {
		top_row(p);
		if (p->failed)
			return;
		p->rows[p->n - 1] = src->rows[from];
		src->rows[from] = (struct tmigr_top_row){0};
	}
}

/* "CPU 4" and "15.9 %" stay together. */
static bool may_break(const char *text, size_t at)
{
	return text[at] == ' ' && text[at + 1] != '%' &&
	       !(at >= 3 && !strncmp(text + at - 3, "CPU", 3));
}

/* Bytes of @text that fit into @width columns, up to a blank if there is one. */
static size_t line_of(const char *text, size_t width)
{
	size_t n = bytes_of(text, width), cut;

	if (!text[n])
		return n;
	for (cut = n; cut && !may_break(text, cut);)
		cut--;
	return cut ? cut : n;
}

void top_wrapped(struct top_page *p, enum tmigr_top_attr attr, const char *first, const char *text,
		 size_t width, size_t indent, size_t max)
{
	size_t col = top_columns(first), lines = 0;

	while (*text && lines < max) {
		size_t room = width > col ? width - col : 1, n = line_of(text, room);
		bool cut = lines + 1 == max && text[n];

		if (cut)
			n = room > 3 ? line_of(text, room - 3) : 0;
		top_row(p);
		if (lines)
			top_cell(p, TMIGR_TOP_PLAIN, "%*s", (int)indent, "");
		else
			top_cell(p, TMIGR_TOP_BOLD, "%s", first);
		top_cell(p, attr, "%.*s%s", (int)n, text, cut ? "..." : "");
		text += n;
		text += strspn(text, " ");
		col = indent;
		lines++;
	}
}

void tmigr_top_frame_free(struct tmigr_top_frame *frame)
{
	if (!frame)
		return;
	for (size_t i = 0; i < frame->n; i++)
		free_row(&frame->rows[i]);
	free(frame->rows);
	free(frame);
}

/* Blanks are written only when something follows them on the line. */
static void put_row(const struct tmigr_top_row *row, FILE *out)
{
	size_t i, blanks = 0;

	for (i = 0; i < row->n; i++)
		for (const char *c = row->cells[i].text; *c; c++) {
			if (*c == ' ') {
				blanks++;
				continue;
			}
			fprintf(out, "%*s%c", (int)blanks, "", *c);
			blanks = 0;
		}
	putc('\n', out);
}

int tmigr_top_text(const struct tmigr_top_frame *frame, FILE *out)
{
	for (size_t i = 0; i < frame->n; i++)
		put_row(&frame->rows[i], out);
	return ferror(out) ? -EIO : 0;
}
