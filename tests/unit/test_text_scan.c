// SPDX-License-Identifier: GPL-2.0-or-later
/* Eight bytes at a time say what one byte after the other says, wherever the text ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../lib/text_scan.h"

#define RUNS	200000
#define LONGEST 40

static unsigned int random_state = 1;

static unsigned int dice(unsigned int n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

/* Texts of the kind that is looked for, with something else here and there; in memory of
 * their own size, so that a sanitizer sees what is read behind them. */
static char *make(const char *often, size_t *ret_n)
{
	size_t n = dice(LONGEST), len = strlen(often);
	char *text = malloc(n ? n : 1);

	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		text[i] = dice(12) ? often[dice((unsigned int)len)] : (char)dice(256);
	*ret_n = n;
	return text;
}

static unsigned int value_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned int)(c - 'A') + 10;
	return 99;
}

static size_t by_bytes(const char *text, size_t n, unsigned int base, __u64 *ret)
{
	size_t i = 0;

	*ret = 0;
	for (; i < n && value_of(text[i]) < base; i++)
		*ret = *ret * base + value_of(text[i]);
	return i;
}

static void numbers(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RUNS; i++) {
		size_t n;
		char *text = make(i & 1 ? "0123456789" : "0123456789abcdefABCDEF", &n);
		__u64 v, want;

		size_t len = by_bytes(text, n, 10, &want);
		assert_ptr_equal(scan_decimal(text, text + n, &v), text + len);
		assert_true(v == want);
		len = by_bytes(text, n, 16, &want);
		assert_ptr_equal(scan_hex(text, text + n, &v), text + len);
		assert_true(v == want);
		free(text);
	}
}

static void words(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RUNS; i++) {
		size_t n, blanks = 0, word = 0;
		char *text = make(i & 1 ? "     " : "abc\n\xa0~!;<", &n);

		while (blanks < n && text[blanks] == ' ')
			blanks++;
		while (word < n && text[word] != '=' && text[word] != ' ')
			word++;
		assert_ptr_equal(scan_blanks(text, text + n), text + blanks);
		assert_ptr_equal(scan_either(text, text + n, '=', ' '), text + word);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
