// SPDX-License-Identifier: GPL-2.0-or-later
#include "sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tmigr/topology.h"

/* A list of 65536 CPUs needs less than 400 KB: anything longer is no sysfs. */
#define TEXT_MAX (1u << 20)

void cpulist_free(struct cpulist *list)
{
	free(list->cpus);
	*list = (struct cpulist){0};
}

static int compare_cpu(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

bool cpulist_has(const struct cpulist *list, unsigned int cpu)
{
	return list->n && bsearch(&cpu, list->cpus, list->n, sizeof(cpu), compare_cpu);
}

/* Reads to the end of @fd; the text is NUL terminated and owned by the caller. */
static int read_all(int fd, char **ret)
{
	size_t len = 0, size = 256;
	char *text = malloc(size);

	while (text) {
		ssize_t n = read(fd, text + len, size - len - 1);
		char *bigger;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int e = errno;

			free(text);
			return -e;
		}
		if (n == 0) {
			text[len] = '\0';
			*ret = text;
			return 0;
		}
		len += (size_t)n;
		if (size - len > 1)
			continue;
		if (size >= TEXT_MAX) {
			free(text);
			return -EFBIG;
		}
		size *= 2;
		bigger = realloc(text, size);
		if (!bigger)
			free(text);
		text = bigger;
	}
	return -ENOMEM;
}

int sysfs_text(const char *root, const char *path, char **ret)
{
	char full[PATH_MAX];
	char *text = NULL;
	size_t len;
	int fd, r;

	if (snprintf(full, sizeof(full), "%s%s", root ? root : "", path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = read_all(fd, &text);
	close(fd);
	if (r < 0 || !text)
		return r;
	len = strlen(text);
	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
	*ret = text;
	return 0;
}

int sysfs_name(const char *root, const char *path, char *buf, size_t size)
{
	char *text;
	int r = sysfs_text(root, path, &text);
	size_t i;

	if (r < 0)
		return r;
	for (i = 0; i < size - 1 && text[i]; i++) {
		buf[i] = text[i];
		if (buf[i] < ' ' || buf[i] > '~')
			buf[i] = '?';
	}
	buf[i] = '\0';
	free(text);
	return 0;
}

int sysfs_number(const char *root, const char *path, long long min, long long max, long long *ret)
{
	char *text, *end;
	long long n;
	int r = sysfs_text(root, path, &text);

	if (r < 0)
		return r;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno || end == text || *end || n < min || n > max || strchr(" \t\n+", text[0]))
		r = -EINVAL;
	else
		*ret = n;
	free(text);
	return r;
}

/* A kernel with CONFIG_NO_HZ_FULL that was booted without a list prints a null
 * pointer as its list: "(null)", on 6.12 with two blanks before it. */
static bool is_null(const char *text)
{
	return !strcmp(text + strspn(text, " "), "(null)");
}

int sysfs_cpulist(const char *root, const char *path, struct cpulist *ret, struct tmigr_err *err)
{
	struct cpulist list = {0};
	struct tmigr_err why;
	char *text;
	int r = sysfs_text(root, path, &text);

	if (r < 0)
		return r;
	r = tmigr_cpulist_parse(is_null(text) ? "" : text, &list.cpus, &list.n, &why);
	free(text);
	if (r < 0)
		return tmigr_fail(err, r, "%s%s: %.300s", root ? root : "", path, why.text);
	*ret = list;
	return 0;
}
