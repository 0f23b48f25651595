// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CSV: one table to standard output or a file, or all of them into a directory, with
 * their description beside them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export.h"
#include "output.h"
#include "tmigr.h"
#include "tmigr/csv.h"
#include "tmigr/csv_segments.h"

int export_table(const char *name)
{
	char list[256] = "";

	for (int i = 0; i < TMIGR_CSV_TABLES; i++) {
		const char *known = tmigr_csv_table(i)->name;

		if (!strcmp(known, name))
			return i;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 known);
	}
	tool_usage("export", "unknown table '%s': %s", name, list);
	return -1;
}

/* Rows of one run; 0, a negative errno of writing, or the exit code with the error
 * told. */
static int write_rows(enum tmigr_csv which, const struct tmigr_runset *set,
		      const struct tmigr_run *run, FILE *out)
{
	const struct tmigr_csv_run id = {export_label(set, run), run->run};
	struct tmigr_err err = {""};
	int ret;

	if (which != TMIGR_CSV_SEGMENTS)
		return tmigr_csv_rows(which, run->report, &id, out);
	ret = tmigr_csv_segments(run, &id, out, &err);
	return ret < 0 && *err.text ? tool_error("export", "%s", err.text) : ret;
}

/* The same. */
static int write_table(enum tmigr_csv which, const struct tmigr_runset *set, FILE *out)
{
	int ret = tmigr_csv_head(which, true, out);

	for (size_t i = 0; i < set->n_runs && !ret; i++)
		if (set->runs[i].report)
			ret = write_rows(which, set, &set->runs[i], out);
	return ret;
}

static int write_description(unsigned int which, const char *url, FILE *out)
{
	json_t *description = tmigr_csv_describe(which, true, url);
	int ret = -ENOMEM;

	errno = 0;
	if (description)
		ret = json_dumpf(description, out, JSON_INDENT(1)) < 0 ? -(errno ? errno : EIO) : 0;
	putc('\n', out);
	json_decref(description);
	return ret;
}

/* ---- several files, all or none ---- */

static void drop_files(struct output *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		output_discard(&files[i]);
}

/* Opens; takes over @path, which may be NULL (no memory). */
static int open_file(struct output *f, char *path)
{
	int ret;

	*f = (struct output){0};
	if (!path)
		return tool_error("export", "out of memory");
	ret = output_open(f, "export", path);
	free(path);
	return ret;
}

/* What was written is whole, under its temporary name. */
static int close_file(struct output *f, int ret)
{
	return ret ? output_finish(f, ret) : output_close(f);
}

static int rename_files(struct output *files, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = output_finish(&files[i], 0);
	return ret;
}

static char *path_in(const char *dir, const char *name, const char *ending)
{
	char *path;

	return asprintf(&path, "%s%s%s%s", dir ? dir : "", dir ? "/" : "", name, ending) < 0 ? NULL
											     : path;
}

/* ---- into a directory ---- */

/* Is there any row of what only some runs have? */
static bool has_rows(enum tmigr_csv which, const struct tmigr_runset *set)
{
	const char *member = tmigr_csv_table(which)->member;

	for (size_t i = 0; member && i < set->n_runs; i++) {
		const json_t *has = json_object_get(set->runs[i].report, member);

		if (json_array_size(has) || json_object_size(has))
			return true;
	}
	return !member;
}

static int write_dir(const char *dir, const struct tmigr_runset *set)
{
	struct output files[TMIGR_CSV_TABLES + 1];
	unsigned int which = 0;
	size_t n = 0;
	int ret = 0;

	for (int i = 0; i < TMIGR_CSV_TABLES && !ret; i++) {
		if (!has_rows(i, set))
			continue;
		ret = open_file(&files[n++], path_in(dir, tmigr_csv_table(i)->name, ".csv"));
		if (!ret)
			ret = close_file(&files[n - 1], write_table(i, set, files[n - 1].file));
		which |= 1u << i;
	}
	if (!ret)
		ret = open_file(&files[n++], path_in(dir, "csv-metadata", ".json"));
	if (!ret)
		ret = close_file(&files[n - 1], write_description(which, NULL, files[n - 1].file));
	if (!ret)
		ret = rename_files(files, n);
	drop_files(files, n);
	return ret;
}

static int export_dir(const char *dir, const struct tmigr_runset *set)
{
	bool made = mkdir(dir, 0777) == 0;
	struct stat st;
	int ret;

	if (!made && errno != EEXIST)
		return tool_error("export", "cannot make %s: %s", dir, strerror(errno));
	if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return tool_error("export",
				  "%s: is no directory: all tables go into one (--table NAME: one "
				  "table into a file)",
				  dir);
	ret = write_dir(dir, set);
	if (ret && made)
		rmdir(dir);
	return ret;
}

/* ---- one table ---- */

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* FILE, and FILE-metadata.json, where CSV on the Web looks for it. */
static int export_file(const char *path, enum tmigr_csv which, const struct tmigr_runset *set)
{
	struct output files[2];
	size_t n = 1;
	bool replaces = false;
	int ret = open_file(&files[0], strdup(path));

	if (!ret) {
		replaces = tmigr_outfile_replaces(files[0].to);
		ret = close_file(&files[0], write_table(which, set, files[0].file));
	}
	/* A device has nothing beside it. */
	if (!ret && replaces) {
		ret = open_file(&files[n++], path_in(NULL, path, "-metadata.json"));
		if (!ret)
			ret = close_file(&files[1], write_description(1u << which, last_of(path),
								      files[1].file));
	}
	if (!ret)
		ret = rename_files(files, n);
	drop_files(files, n);
	return ret;
}

int export_csv(const struct export_opts *opts, const struct tmigr_runset *set)
{
	int which = opts->table ? export_table(opts->table) : TMIGR_CSV_RESIDENCY;
	struct output out;
	int ret;

	if (opts->output && !opts->table)
		return export_dir(opts->output, set);
	if (opts->output)
		return export_file(opts->output, which, set);
	ret = output_open(&out, "export", NULL);
	return ret ? ret : output_finish(&out, write_table(which, set, out.file));
}
