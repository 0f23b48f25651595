// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tar file of /sys/devices/system/cpu.  GNU tar believes the 4096 bytes that sysfs
 * says each file has, and fills up with zeros: what counts ends at the first.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import_priv.h"

#define BLOCK	  512
#define FILE_MAX  (1u << 20) /* bytes of one file; anything longer is no sysfs */
#define FILES_MAX 4000000u   /* members: 65536 CPUs with 60 files each */

/* "sys/devices/system/cpu/..." from wherever in a member's name it begins; NULL:
 * something else. */
static const char *wanted(const char *name)
{
	static const char *const parts[] = {"sys/devices/system/cpu/", "sys/devices/system/node/",
					    "proc/sys/kernel/timer_migration"};

	if (strstr(name, "../"))
		return NULL;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *p = strstr(name, parts[i]);

		if (p && (p == name || p[-1] == '/'))
			return p;
	}
	return NULL;
}

static int write_file(const char *folder, const char *name, const char *data, size_t size)
{
	char path[PATH_MAX], *slash;
	FILE *f;
	int r;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	for (slash = strchr(path + strlen(folder) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "we");
	if (!f)
		return -errno;
	fwrite(data, 1, strnlen(data, size), f);
	r = ferror(f) ? -EIO : 0;
	return fclose(f) ? -EIO : r;
}

/* Name and size of a member; false: not a head of one. */
static bool read_head(const char *h, char name[260], size_t *ret_size)
{
	unsigned long sum = 0, want;
	char number[13] = "", *end;

	for (int i = 0; i < BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : (unsigned char)h[i];
	memcpy(number, h + 148, 8);
	want = strtoul(number, &end, 8);
	if (end == number || want != sum)
		return false;
	memcpy(number, h + 124, 12);
	*ret_size = strtoul(number, &end, 8);
	if (!memcmp(h + 257, "ustar", 5) && h[345] && h[262] == '\0')
		snprintf(name, 260, "%.155s/%.100s", h + 345, h);
	else
		snprintf(name, 260, "%.100s", h);
	return true;
}

static bool is_end(const char *block)
{
	for (int i = 0; i < BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

/* It has less than it should. */
static int cut_off(FILE *f, const char *path, struct tmigr_err *err)
{
	if (ferror(f))
		return tmigr_fail(err, -EIO, "%s: cannot read: %s", path, strerror(errno));
	return tmigr_fail(err, -EINVAL,
			  "%s: a tar file that is cut off: it ends without the mark that ends "
			  "one; a folder made by cp -r does as well",
			  path);
}

/* The next head: 1, 0 at the end, <0.  The end are two blocks of zeros, of which the second
 * may be missing; where there is no end, members are missing too. */
static int next_head(FILE *f, const char *path, bool first, char name[260], char head[BLOCK],
		     size_t *ret_size, struct tmigr_err *err)
{
	size_t n = fread(head, 1, BLOCK, f);

	if (n == BLOCK && is_end(head))
		return 0;
	if (n < BLOCK && (!first || ferror(f)))
		return cut_off(f, path, err);
	if (n < BLOCK || !read_head(head, name, ret_size) || *ret_size > FILE_MAX)
		return tmigr_fail(err, -EINVAL, "%s: not a folder, and not a tar file of sysfs",
				  path);
	return 1;
}

/* One member; 1, 0 at the end, <0. */
static int member(FILE *f, const char *path, const char *folder, bool first, size_t *found,
		  struct tmigr_err *err)
{
	char head[BLOCK], name[260], *data;
	size_t size = 0, padded;
	int r = next_head(f, path, first, name, head, &size, err);

	if (r <= 0)
		return r;
	r = 0;
	padded = (size + BLOCK - 1) / BLOCK * BLOCK;
	data = malloc(padded + 1);
	if (!data)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	if (fread(data, 1, padded, f) != padded)
		r = cut_off(f, path, err);
	if (r == 0 && (head[156] == '0' || !head[156]) && wanted(name)) {
		r = write_file(folder, wanted(name), data, size);
		if (r < 0)
			r = tmigr_fail(err, r, "%s: cannot be unpacked into %s: %s", path, folder,
				       strerror(-r));
		++*found;
	}
	free(data);
	return r < 0 ? r : 1;
}

int import_untar(const char *path, char folder[64], struct tmigr_err *err)
{
	FILE *f = fopen(path, "re");
	size_t found = 0, n = 0;
	int r;

	folder[0] = '\0';
	if (!f)
		return tmigr_fail(err, -errno, "%s: %s", path, strerror(errno));
	r = import_make_folder(folder, err);
	for (r = r < 0 ? r : 1; r > 0 && n < FILES_MAX; n++)
		r = member(f, path, folder, !n, &found, err);
	fclose(f);
	if (r > 0)
		r = tmigr_fail(err, -E2BIG, "%s: more than %u files are no sysfs", path, FILES_MAX);
	if (r == 0 && !found)
		r = tmigr_fail(err, -EINVAL, "%s: no tar file of /sys/devices/system/cpu", path);
	return r;
}
