/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes as text (RFC 4648, with padding): how a recording travels in JSON. */
#ifndef TMIGR_BASE64_H
#define TMIGR_BASE64_H

#include <stddef.h>

/* Text of @n bytes, its NUL included. */
#define TMIGR_BASE64_SIZE(n) (((n) + 2) / 3 * 4 + 1)

/* @text: room for TMIGR_BASE64_SIZE(@n). */
void tmigr_base64_encode(const void *data, size_t n, char *text);
/* @data: room for 3/4 of @size, which is the text's length. -EINVAL: not base64. */
int tmigr_base64_decode(const char *text, size_t size, void *data, size_t *ret_n);

#endif
