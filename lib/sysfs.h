/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small text files of sysfs and procfs below a root directory.  Private to the
 * library.
 */
#ifndef TMIGR_LIB_SYSFS_H
#define TMIGR_LIB_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

#include "tmigr/err.h"

/* A sorted list of CPU numbers without duplicates. */
struct cpulist {
	unsigned int *cpus;
	size_t n;
};

void cpulist_free(struct cpulist *list);
bool cpulist_has(const struct cpulist *list, unsigned int cpu);

/*
 * The whole of <root>/<path>, without white space at its end; owned by the
 * caller (free).  A negative errno of open(2) or read(2), as -ENOENT.
 */
int sysfs_text(const char *root, const char *path, char **ret);

/* The same into @buf, made printable: bytes outside ASCII become '?', what does
 * not fit is cut. */
int sysfs_name(const char *root, const char *path, char *buf, size_t size);

/* A decimal number in [min, max] and nothing else: -EINVAL otherwise. */
int sysfs_number(const char *root, const char *path, long long min, long long max, long long *ret);

/*
 * A CPU list.  "(null)", which nohz_full says on some kernels, is an empty one.
 * -EINVAL (with @err naming the file) when it is something else.
 */
int sysfs_cpulist(const char *root, const char *path, struct cpulist *ret, struct tmigr_err *err);

#endif
