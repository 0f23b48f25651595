// SPDX-License-Identifier: GPL-2.0-or-later
/* Bytes as text and back: the vectors of RFC 4648, all lengths, and what is none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tmigr/base64.h"

static void vectors(void **state)
{
	static const char *const texts[][2] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char text[TMIGR_BASE64_SIZE(6)], back[9];
		size_t n = 99;

		tmigr_base64_encode(texts[i][0], strlen(texts[i][0]), text);
		assert_string_equal(text, texts[i][1]);
		assert_int_equal(tmigr_base64_decode(text, strlen(text), back, &n), 0);
		assert_int_equal(n, strlen(texts[i][0]));
		assert_memory_equal(back, texts[i][0], n);
	}
}

static void all_bytes(void **state)
{
	unsigned char data[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 256);
	for (size_t n = 0; n <= sizeof(data); n++) {
		/* Exactly as large as is said: for ASan. */
		char *text = malloc(TMIGR_BASE64_SIZE(n));
		unsigned char *back;
		size_t got;

		tmigr_base64_encode(data, n, text);
		assert_int_equal(strlen(text) + 1, TMIGR_BASE64_SIZE(n));
		back = malloc(strlen(text) / 4 * 3 + !n);
		assert_int_equal(tmigr_base64_decode(text, strlen(text), back, &got), 0);
		assert_int_equal(got, n);
		assert_memory_equal(back, data, n);
		free(text);
		free(back);
	}
}

static void none(void **state)
{
	static const char *const texts[] = {"Z",
					    "Zg",
					    "Zg=",
					    "====",
					    "Z===",
					    "Zg=v",
					    "Z=g=",
					    "Zm 9",
					    "Zm9-",
					    "Zm9v\n",
					    "\xff\xff\xff\xff"};
	char back[8];
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(tmigr_base64_decode(texts[i], strlen(texts[i]), back, &n),
				 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
		cmocka_unit_test(all_bytes),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
