// SPDX-License-Identifier: GPL-2.0-or-later
#include "tmigr/base64.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void tmigr_base64_encode(const void *data, size_t n, char *text)
{
	const unsigned char *in = data;

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		unsigned int v = (unsigned int)in[i] << 16;

		if (left > 1)
			v |= (unsigned int)in[i + 1] << 8;
		if (left > 2)
			v |= in[i + 2];
		*text++ = digits[v >> 18];
		*text++ = digits[v >> 12 & 63];
		*text++ = left > 1 ? digits[v >> 6 & 63] : '=';
		*text++ = left > 2 ? digits[v & 63] : '=';
	}
	*text = '\0';
}

static int value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

/* The last group's padding. */
static size_t padding(const char *text, size_t size)
{
	if (!size || text[size - 1] != '=')
		return 0;
	return text[size - 2] == '=' ? 2 : 1;
}

int tmigr_base64_decode(const char *text, size_t size, void *data, size_t *ret_n)
{
	size_t pad = size % 4 ? 0 : padding(text, size), n = 0;
	unsigned char *out = data;
	unsigned int v = 0;

	if (size % 4)
		return -EINVAL;
	for (size_t i = 0; i < size; i++) {
		bool last = i + pad >= size;
		int d = last ? 0 : value(text[i]);

		if (d < 0)
			return -EINVAL;
		v = v << 6 | (unsigned int)d;
		if (i % 4 != 3)
			continue;
		for (int k = 16; k >= 0; k -= 8)
			out[n++] = (unsigned char)(v >> k);
		v = 0;
	}
	*ret_n = n - pad;
	return 0;
}
