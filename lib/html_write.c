// SPDX-License-Identifier: GPL-2.0-or-later
/* Text, tables and bars of the page. */
#include "html_priv.h"

#include <errno.h>

/* Length of the well-formed UTF-8 character at @s, and which one; 0: it is none. */
static size_t decode(const unsigned char *s, unsigned int *ret)
{
	static const unsigned int least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = *s < 0x80	 ? 1
		     : *s < 0xc2 ? 0
		     : *s < 0xe0 ? 2
		     : *s < 0xf0 ? 3
		     : *s < 0xf5 ? 4
				 : 0;
	unsigned int c = len == 1 ? *s : *s & (0x7f >> len);

	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (!len || c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return len;
}

/* Characters that a page may not hold, or that make other text look different. */
static bool is_bad(unsigned int c)
{
	return (c >= 0x80 && c <= 0x9f) || (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef) ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x2028 ||
	       c == 0x2029;
}

void tmigr_html_text(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		unsigned int c = 0xfffd;
		size_t len = decode(s, &c);

		if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
			fprintf(out, "&#%u;", c);
		else if (c < 0x20 || c == 0x7f) /* U+2400 and on: their pictures */
			fprintf(out, "&#x%x;", c == 0x7f ? 0x2421 : 0x2400 + c);
		else if (!len || is_bad(c))
			fputs("&#xfffd;", out);
		else
			fwrite(s, len, 1, out);
		s += len ? len : 1;
	}
}

void tmigr_html_heading(struct tmigr_html *h, const char *id, const char *text)
{
	fprintf(h->out, "<h%d id=\"%s%s\">", h->level, h->id, id);
	tmigr_html_text(h->out, text);
	fprintf(h->out, "</h%d>\n", h->level);
}

/* ---- tables ---- */

static void put_head(FILE *out, const struct tmigr_table *t, size_t n, const char *bar_head)
{
	fputs("<thead><tr>", out);
	for (size_t i = 0; i < n; i++) {
		bool right;
		const char *head = tmigr_table_head(t, i, &right);

		/* A column of names speaks for itself; an empty head tells nothing. */
		if (!*head)
			fputs("<td></td>", out);
		else
			fprintf(out, "<th scope=\"col\"%s>", right ? " class=\"n\"" : "");
		if (*head) {
			tmigr_html_text(out, head);
			fputs("</th>", out);
		}
	}
	if (bar_head) {
		fputs("<th scope=\"col\">", out);
		tmigr_html_text(out, bar_head);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n", out);
}

static void put_cell(FILE *out, const struct tmigr_table *t, size_t row, size_t column, bool is_key)
{
	struct tmigr_table_cell_view c = tmigr_table_at(t, row, column);
	bool right;

	tmigr_table_head(t, column, &right);
	fprintf(out, "<%s%s", is_key ? "th scope=\"row\"" : "td", right ? " class=\"n\"" : "");
	if (c.exact)
		fprintf(out, " data-v=\"%llu\"", (unsigned long long)c.value);
	putc('>', out);
	tmigr_html_text(out, c.text);
	fputs(is_key ? "</th>" : "</td>", out);
}

int tmigr_html_table(FILE *out, struct tmigr_table *t, const char *caption, const char *bar_head,
		     tmigr_html_bar bar, void *arg)
{
	struct tmigr_table_shape s;
	int ret = tmigr_table_shape(t, &s);

	if (ret < 0) {
		tmigr_table_free(t);
		return ret;
	}
	/* The box scrolls, by keyboard too, so that the page need not. */
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", out);
	tmigr_html_text(out, caption);
	fputs("\"><table><caption><span>", out);
	tmigr_html_text(out, caption);
	fputs("</span></caption>\n", out);
	put_head(out, t, s.n_columns, bar ? bar_head : NULL);
	fputs("<tbody>\n", out);
	for (size_t row = 0; row < s.n_rows; row++) {
		fputs("<tr>", out);
		for (size_t i = 0; i < s.n_columns; i++)
			put_cell(out, t, row, i, i < s.n_keys);
		if (bar) {
			fputs("<td class=\"bar\">", out);
			bar(arg, row, out);
			fputs("</td>", out);
		}
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	tmigr_table_free(t);
	return 0;
}

/* ---- bars ---- */

void tmigr_html_stack(FILE *out, const struct tmigr_html_part *parts, size_t n, __u64 whole,
		      const char *css)
{
	char pct[TMIGR_FMT_MAX];
	unsigned __int128 at = 0;

	fprintf(out,
		"<svg class=\"%s\" role=\"img\" viewBox=\"0 0 10000 10\" "
		"preserveAspectRatio=\"none\"><title>",
		css);
	for (size_t i = 0, shown = 0; i < n; i++) {
		if (!parts[i].value)
			continue;
		fputs(shown++ ? ", " : "", out);
		tmigr_html_text(out, parts[i].name);
		fprintf(out, " %s %%", tmigr_fmt_pct(pct, parts[i].value, whole));
	}
	fputs("</title>", out);
	for (size_t i = 0; i < n && whole; i++) {
		unsigned int from = (unsigned int)(at * 10000 / whole), to;

		at += parts[i].value;
		to = (unsigned int)(at * 10000 / whole);
		if (parts[i].value)
			fprintf(out, "<rect class=\"%s\" x=\"%u\" width=\"%u\" height=\"10\"/>",
				parts[i].css, from, to > from ? to - from : 1);
	}
	fputs("</svg>", out);
}

void tmigr_html_legend(FILE *out, const struct tmigr_html_part *parts, size_t n, __u64 whole)
{
	char pct[TMIGR_FMT_MAX];

	fputs("<ul class=\"legend\">", out);
	for (size_t i = 0; i < n; i++) {
		if (!parts[i].value && whole)
			continue;
		fprintf(out, "<li><i class=\"sw %s\"></i>", parts[i].css);
		tmigr_html_text(out, parts[i].name);
		if (whole)
			fprintf(out, " <b data-v=\"%llu\">%s&nbsp;%%</b>",
				(unsigned long long)parts[i].value,
				tmigr_fmt_pct(pct, parts[i].value, whole));
		fputs("</li>", out);
	}
	fputs("</ul>\n", out);
}
