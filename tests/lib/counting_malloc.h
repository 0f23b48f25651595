/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts how often the program that includes it asks for memory, whoever in it does.
 * Once a program, and not with a sanitizer, whose malloc it is then.
 */
#ifndef TESTS_COUNTING_MALLOC_H
#define TESTS_COUNTING_MALLOC_H

#include <stddef.h>

/* glibc's own, which the counting ones below stand before. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static size_t asked; /* for memory */

void *malloc(size_t size)
{
	asked++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	asked++;
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	asked++;
	return __libc_realloc(p, size);
}

#endif
