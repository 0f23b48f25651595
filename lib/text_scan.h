/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Eight bytes of text at a time: blanks, numbers, what a word ends with.  Nothing behind
 * @end is read.  Private to the library.
 *
 * Where a byte makes a sum carry, bytes behind it are judged wrongly; but it is always
 * the first of its kind that is looked for.
 */
#ifndef TMIGR_LIB_TEXT_SCAN_H
#define TMIGR_LIB_TEXT_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <linux/types.h>

#define SCAN_ALL(byte) ((byte)*0x0101010101010101ULL)
#define SCAN_HIGH      SCAN_ALL(0x80)

/* The first of the bytes in the lowest. */
static inline __u64 scan_load(const char *p)
{
	__u64 x;

	memcpy(&x, p, sizeof(x));
	return le64toh(x);
}

/* How many bytes come before the first with its high bit in @marks; 8: none has. */
static inline unsigned int scan_first(__u64 marks)
{
	return marks ? (unsigned int)__builtin_ctzll(marks) / 8 : 8;
}

/* High bits where a byte of @x is 0. */
static inline __u64 scan_zeros(__u64 x)
{
	return (x - SCAN_ALL(1)) & ~x & SCAN_HIGH;
}

/* The first byte that is no blank, or @end. */
static inline const char *scan_blanks(const char *p, const char *end)
{
	for (; end - p >= 8; p += 8) {
		__u64 x = scan_load(p) ^ SCAN_ALL(' ');

		if (x)
			return p + __builtin_ctzll(x) / 8;
	}
	while (p < end && *p == ' ')
		p++;
	return p;
}

/* The first @a or @b, or @end. */
static inline const char *scan_either(const char *p, const char *end, char a, char b)
{
	for (; end - p >= 8; p += 8) {
		__u64 x = scan_load(p);
		__u64 marks = scan_zeros(x ^ SCAN_ALL((unsigned char)a)) |
			      scan_zeros(x ^ SCAN_ALL((unsigned char)b));

		if (marks)
			return p + scan_first(marks);
	}
	while (p < end && *p != a && *p != b)
		p++;
	return p;
}

/* Of eight digits, their values in the bytes: the number. */
static inline __u64 scan_eight(__u64 x)
{
	x = x * 10 + (x >> 8);
	return ((x & 0x000000ff000000ffULL) * (100 + (1000000ULL << 32)) +
		(x >> 16 & 0x000000ff000000ffULL) * (1 + (10000ULL << 32))) >>
	       32;
}

/*
 * Decimal digits: where they end; @ret: their value, modulo 2^64 (so of 19 of them, or
 * fewer, exact).
 */
static inline const char *scan_decimal(const char *p, const char *end, __u64 *ret)
{
	static const __u32 power[] = {1,      10,      100,	 1000,	   10000,
				      100000, 1000000, 10000000, 100000000};
	__u64 v = 0;

	if (end - p >= 2 && (unsigned char)(p[0] - '0') < 10 && (unsigned char)(p[1] - '0') >= 10) {
		*ret = (unsigned char)(p[0] - '0'); /* so are most of them */
		return p + 1;
	}
	for (; end - p >= 8; p += 8) {
		__u64 x = scan_load(p) ^ SCAN_ALL('0');
		unsigned int n = scan_first(((x + SCAN_ALL(0x76)) | x) & SCAN_HIGH);

		if (n)
			v = v * power[n] + scan_eight(x << (64 - 8 * n));
		if (n < 8) {
			*ret = v;
			return p + n;
		}
	}
	for (; p < end && (unsigned char)(*p - '0') < 10; p++)
		v = v * 10 + (unsigned char)(*p - '0');
	*ret = v;
	return p;
}

/* Of one hexadecimal digit, its value; of another byte, 16. */
static inline unsigned int scan_hex_digit(char c)
{
	unsigned char d = (unsigned char)(c - '0'), letter = (unsigned char)((c | 0x20) - 'a');

	return d < 10 ? d : letter < 6 ? letter + 10u : 16;
}

/* The same of hexadecimal digits (16 of them, or fewer, are exact). */
static inline const char *scan_hex(const char *p, const char *end, __u64 *ret)
{
	__u64 v = 0;

	if (end - p >= 2 && p[1] == ' ' && scan_hex_digit(p[0]) < 16) {
		*ret = scan_hex_digit(p[0]);
		return p + 1;
	}
	for (; end - p >= 8; p += 8) {
		__u64 x = scan_load(p), digit = x ^ SCAN_ALL('0');
		__u64 letter = (x | SCAN_ALL(0x20)) ^ SCAN_ALL(0x60); /* 1 to 6 */
		unsigned int n = scan_first(
			((digit + SCAN_ALL(0x76)) | digit) &
			((letter + SCAN_ALL(0x79)) | letter | ~(letter + SCAN_ALL(0x7f))) &
			SCAN_HIGH);

		if (n) {
			x = (x & SCAN_ALL(0x0f)) + 9 * (x >> 6 & SCAN_ALL(1));
			x <<= 64 - 8 * n;
			x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ffULL;
			x = (x << 8 | x >> 16) & 0x0000ffff0000ffffULL;
			x = (x << 16 | x >> 32) & 0xffffffffULL;
			v = v << (4 * n) | x;
		}
		if (n < 8) {
			*ret = v;
			return p + n;
		}
	}
	for (; p < end && scan_hex_digit(*p) < 16; p++)
		v = v << 4 | scan_hex_digit(*p);
	*ret = v;
	return p;
}

#endif
