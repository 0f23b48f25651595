// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The head of a line.
 *
 *   trace, trace-cmd   "%16s-%-7d [%03d] d..1.  123.456789: name: fields"
 *   trace-cmd -l       "%8.8s-%-5d %3dd..1.  123.456789: name: fields"
 *   perf script        "%16s %7d [%03d] 123.456789: system:name: fields"
 *
 * Where trace-cmd prints several buffers or files, "%*s: " with their name is before each.
 *
 * A task's name may hold anything, also what looks like the rest of a head.  But it
 * has at most 15 bytes and is padded to 16, so what ends it is in a fixed column;
 * in a line whose blanks somebody took away it is the last that can be one, within
 * 16 bytes.  Whatever follows is the event's text, which may hold anything too.
 */
#include "text_line.h"
#include "text_scan.h"

#include <string.h>

#define COMM 16

static bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* A decimal number; saturates.  NULL when there is none. */
static inline const char *number(const char *p, const char *end, __u64 *ret)
{
	const char *start = p;

	p = scan_decimal(p, end, ret);
	if (p - start > 19)
		*ret = ~0ULL;
	return p > start ? p : NULL;
}

/* "-123", " 123", " 123/456", "  -1": the task's number. */
static const char *task(const char *p, const char *end, __s32 *ret)
{
	__u64 n;
	bool minus;

	if (p >= end || (*p != '-' && *p != ' '))
		return NULL;
	p = scan_blanks(p + 1, end);
	minus = p < end && *p == '-';
	p = number(p + minus, end, &n);
	if (p && p < end && *p == '/')
		p = number(scan_blanks(p + 1, end), end, &n);
	if (!p || n > 0x7fffffff)
		return NULL;
	*ret = minus ? -(__s32)n : (__s32)n;
	return p;
}

/* "  123.456789:" */
static const char *stamp(const char *p, const char *end, struct text_head *h)
{
	__u64 sec, frac;
	const char *point;

	p = number(p, end, &sec);
	if (!p || p >= end)
		return NULL;
	h->no_unit = *p == ':';
	if (h->no_unit)
		return p + 1;
	if (*p != '.')
		return NULL;
	h->far = sec > 0xffffffffULL;
	if (h->far)
		sec = 0;
	point = p + 1;
	p = number(point, end, &frac);
	if (!p || p >= end || *p != ':' || (p - point != 6 && p - point != 9))
		return NULL;
	h->nsec = p - point == 9;
	h->t_ns = sec * 1000000000ULL + (h->nsec ? frac : frac * 1000);
	return p + 1;
}

/* "system:name:", up to a colon that a blank or the end follows. */
static bool name(const char *p, const char *end, struct text_head *h)
{
	p = scan_blanks(p, end);
	if (p < end && *p == '(') { /* "(+12)": trace-cmd report --ts-diff */
		p = memchr(p, ')', (size_t)(end - p));
		if (!p)
			return false;
		p = scan_blanks(p + 1, end);
	} else if (p < end && is_digit(*p)) { /* perf's period */
		p = scan_blanks(scan_either(p, end, ' ', ' '), end);
	}
	h->name = p;
	for (; (p = scan_either(p, end, ':', ' ')) < end && *p == ':'; p++) {
		if (p + 1 < end && p[1] != ' ') {
			h->name = p + 1;
			continue;
		}
		h->n_name = (size_t)(p - h->name);
		h->rest = (struct text_line){p + 1, end};
		return h->n_name;
	}
	/* "name fields" without a colon: perf's own records, function traces. */
	h->n_name = (size_t)(p - h->name);
	h->rest = (struct text_line){p, end};
	return h->n_name;
}

/* "[003] ", or "  3" with the flags behind it. */
static const char *cpu(const char *p, const char *end, struct text_head *h)
{
	bool bracket = p < end && *p == '[';

	p = number(p + bracket, end, &h->cpu);
	if (!p || p >= end)
		return NULL;
	if (bracket)
		return *p == ']' ? scan_blanks(p + 1, end) : NULL;
	return *p == ' ' || *p == ':' ? NULL : p;
}

/* The head from the end of the task's name on. */
static bool head_from(const char *p, const char *end, struct text_head *h)
{
	p = task(p, end, &h->pid);
	if (!p)
		return false;
	p = scan_blanks(p, end);
	if (p < end && *p == '(') { /* option record-tgid */
		p = memchr(p, ')', (size_t)(end - p));
		if (!p)
			return false;
		p = scan_blanks(p + 1, end);
	}
	p = cpu(p, end, h);
	if (!p)
		return false;
	if (p < end && !is_digit(*p)) { /* flags */
		p = scan_blanks(scan_either(p, end, ' ', ' '), end);
	}
	p = stamp(p, end, h);
	return p && name(p, end, h);
}

bool text_buffer(struct text_line *line, struct text_line *ret)
{
	const char *from = scan_blanks(line->at, line->end);
	const char *p = scan_either(from, line->end, ' ', ' ');

	if (p - from < 2 || p[-1] != ':' || p == line->end)
		return false;
	*ret = (struct text_line){from, p - 1};
	line->at = p + 1;
	return true;
}

static bool plain_head(struct text_line line, struct text_head *ret)
{
	const char *from, *p;

	*ret = (struct text_head){.pid = 0};
	if (line.end - line.at > COMM && head_from(line.at + COMM, line.end, ret))
		return true;
	from = scan_blanks(line.at, line.end);
	p = from + COMM < line.end ? from + COMM : line.end;
	for (; p >= from; p--)
		if (p < line.end && head_from(p, line.end, ret))
			return true;
	return false;
}

bool text_head(struct text_line line, struct text_head *ret)
{
	struct text_line buffer;

	if (plain_head(line, ret))
		return true;
	if (!text_buffer(&line, &buffer) || !plain_head(line, ret))
		return false;
	ret->buffer = buffer;
	return true;
}

static bool starts_with(struct text_line line, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(line.end - line.at) >= n && !memcmp(line.at, text, n);
}

bool text_lost(struct text_line line, __u64 *ret_cpu, __u64 *ret_n)
{
	struct text_line l = line;

	*ret_n = 1;
	if (starts_with(l, "##### CPU ")) {
		l.at = number(l.at + 10, l.end, ret_cpu);
		return l.at && starts_with(l, " buffer started");
	}
	if (!starts_with(l, "CPU:"))
		return false;
	l.at = number(l.at + 4, l.end, ret_cpu);
	if (!l.at || !starts_with(l, " ["))
		return false;
	l.at += 2;
	if (starts_with(l, "LOST "))
		l.at += 5;
	if (l.at < l.end && is_digit(*l.at))
		l.at = scan_blanks(number(l.at, l.end, ret_n), l.end);
	return starts_with(l, "EVENTS");
}

__u64 text_number_after(struct text_line line, const char *key)
{
	size_t n = strlen(key);
	const char *p = memmem(line.at, (size_t)(line.end - line.at), key, n);
	__u64 v = 0;

	if (p)
		number(scan_blanks(p + n, line.end), line.end, &v);
	return v;
}

bool text_int_after(struct text_line line, const char *key, int *ret)
{
	size_t n = strlen(key);
	const char *p = memmem(line.at, (size_t)(line.end - line.at), key, n);
	bool minus;
	__u64 v;

	if (!p)
		return false;
	p = scan_blanks(p + n, line.end);
	minus = p < line.end && *p == '-';
	if (!number(p + minus, line.end, &v) || v > 0x7fffffff)
		return false;
	*ret = minus ? -(int)v : (int)v;
	return true;
}

const char *text_in_parens(struct text_line line, size_t *ret_n)
{
	const char *open = memchr(line.at, '(', (size_t)(line.end - line.at));
	const char *close = open ? memchr(open, ')', (size_t)(line.end - open)) : NULL;

	*ret_n = close ? (size_t)(close - open - 1) : 0;
	return close ? open + 1 : NULL;
}

bool text_is(const struct text_head *h, const char *name)
{
	return h->n_name == strlen(name) && !memcmp(h->name, name, h->n_name);
}
