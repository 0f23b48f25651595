// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as text, and safe access to a report object. */
#include "report_fmt.h"

#include <stdlib.h>
#include <string.h>

#define NSEC_PER_SEC 1000000000ull

static int digits_for(__u64 ns)
{
	if (ns >= 1000 * NSEC_PER_SEC)
		return 1;
	return ns >= 100 * NSEC_PER_SEC ? 2 : 3;
}

const char *tmigr_fmt_dur(char buf[TMIGR_FMT_MAX], __u64 ns)
{
	if (ns >= NSEC_PER_SEC)
		snprintf(buf, TMIGR_FMT_MAX, "%.*f s", digits_for(ns), (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(buf, TMIGR_FMT_MAX, "%.1f ms", (double)ns / 1e6);
	else if (ns >= 1000)
		snprintf(buf, TMIGR_FMT_MAX, "%.1f us", (double)ns / 1e3);
	else if (ns)
		snprintf(buf, TMIGR_FMT_MAX, "%llu ns", (unsigned long long)ns);
	else
		snprintf(buf, TMIGR_FMT_MAX, "0");
	return buf;
}

const char *tmigr_fmt_pct(char buf[TMIGR_FMT_MAX], __u64 part, __u64 whole)
{
	double pct = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!part || !whole)
		snprintf(buf, TMIGR_FMT_MAX, "-");
	else if (pct < 0.05)
		snprintf(buf, TMIGR_FMT_MAX, "<0.1");
	else if (pct >= 99.95 && part < whole)
		snprintf(buf, TMIGR_FMT_MAX, ">99.9");
	else
		snprintf(buf, TMIGR_FMT_MAX, "%.1f", pct);
	return buf;
}

const char *tmigr_fmt_sec(char buf[TMIGR_FMT_MAX], __u64 ns, __u64 window_ns)
{
	if (ns)
		snprintf(buf, TMIGR_FMT_MAX, "%.*f", digits_for(window_ns), (double)ns / 1e9);
	else
		snprintf(buf, TMIGR_FMT_MAX, "-");
	return buf;
}

const char *tmigr_fmt_count(char buf[TMIGR_FMT_MAX], __u64 n)
{
	if (n)
		snprintf(buf, TMIGR_FMT_MAX, "%llu", (unsigned long long)n);
	else
		snprintf(buf, TMIGR_FMT_MAX, "-");
	return buf;
}

void tmigr_fmt_puts(FILE *out, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		/* C1 controls come as C2 80..9F in UTF-8. */
		if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f) {
			putc('?', out);
			p++;
		} else {
			putc(*p < 0x20 || *p == 0x7f ? '?' : *p, out);
		}
	}
}

void tmigr_fmt_csv(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

/* Length up to the next place where a line may break: "CPU 4" and "5.9 %" stay
 * together. */
static size_t unbroken(const char *text)
{
	size_t len = strcspn(text, " ");

	while (text[len] == ' ' && text[len + 1] &&
	       (text[len + 1] == '%' || (len >= 3 && !strncmp(text + len - 3, "CPU", 3))))
		len += 1 + strcspn(text + len + 1, " ");
	return len;
}

void tmigr_fmt_wrapped(FILE *out, const char *first, const char *text, size_t indent)
{
	tmigr_fmt_wrapped_to(out, first, text, indent, TMIGR_TEXT_WIDTH);
}

void tmigr_fmt_wrapped_to(FILE *out, const char *first, const char *text, size_t indent,
			  size_t width)
{
	size_t col = strlen(first);

	tmigr_fmt_puts(out, first);
	while (*text) {
		size_t len = unbroken(text);
		char *word = strndup(text, len);

		if (col + 1 + len > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			col = indent;
		} else {
			putc(' ', out);
			col++;
		}
		if (word)
			tmigr_fmt_puts(out, word);
		free(word);
		col += len;
		text += len;
		text += strspn(text, " ");
	}
	putc('\n', out);
}

__u64 tmigr_rep_u64(const json_t *obj, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(obj, key));

	return v > 0 ? (__u64)v : 0;
}

const char *tmigr_rep_str(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}

bool tmigr_rep_is_whole(const json_t *op)
{
	return !json_array_size(json_object_get(op, "cut")) &&
	       json_is_null(json_object_get(op, "failed"));
}

bool tmigr_rep_tick_off(const json_t *cpu, __u64 window_ns)
{
	__u64 idle = tmigr_rep_u64(json_object_get(cpu, "running_tmigr"), "idle_ns");

	return idle > 0 && idle >= window_ns / 20;
}

const json_t *tmigr_rep_find(const json_t *array, const char *key, const char *value, int *ret_i)
{
	const json_t *e;
	size_t i;

	if (ret_i)
		*ret_i = -1;
	json_array_foreach (array, i, e) {
		if (strcmp(tmigr_rep_str(e, key), value))
			continue;
		if (ret_i)
			*ret_i = (int)i;
		return e;
	}
	return NULL;
}

const json_t *tmigr_rep_cpu(const json_t *report, __u64 cpu)
{
	const json_t *cpus = json_object_get(report, "cpus");
	size_t lo = 0, hi = json_array_size(cpus);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const json_t *c = json_array_get(cpus, mid);
		__u64 n = tmigr_rep_u64(c, "cpu");

		if (n == cpu)
			return c;
		if (n < cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const char *tmigr_rep_class(const json_t *report, __u64 cpu)
{
	const char *name = tmigr_rep_str(tmigr_rep_cpu(report, cpu), "class");

	return *name ? name : "?";
}
