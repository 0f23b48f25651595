// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr report --html: one run or several as a page. */
#include "report_html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "tmigr.h"
#include "tmigr/compare.h"
#include "tmigr/html.h"

/* Lanes x columns of all pictures together: bounds the page's size. */
#define CELLS 131072

/* The timelines of a set; by run, NULL where there is none. */
struct timelines {
	struct tmigr_timeline **list;
	char **notes;
	size_t n;
};

static void timelines_free(struct timelines *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->list)
			tmigr_timeline_free(t->list[i]);
		if (t->notes)
			free(t->notes[i]);
	}
	free(t->list);
	free(t->notes);
}

/* The file that tells @run's timeline, owned by the caller; NULL: none. */
static char *source_of(const char *path)
{
	static const char *const names[] = {"events.tmr", "migrator-segments.csv"};
	struct stat st;
	char *file = NULL;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return strdup(path);
	for (size_t i = 0; i < 2; i++) {
		if (asprintf(&file, "%s/%s", path, names[i]) < 0)
			return NULL;
		if (access(file, R_OK) == 0)
			return file;
		free(file);
	}
	return NULL;
}

static void read_timeline(const struct tmigr_run *run, const struct tmigr_timeline_size *size,
			  struct tmigr_timeline **ret, char **ret_note)
{
	struct tmigr_err err = {""};
	char *path = source_of(run->path);

	if (!path)
		*ret_note = strdup("the run has neither events.tmr nor migrator-segments.csv");
	else if (tmigr_timeline_read(path, run->report, size, ret, &err) < 0)
		*ret_note = strdup(err.text);
	free(path);
}

static int read_timelines(const struct tmigr_runset *set, struct timelines *t)
{
	struct tmigr_timeline_size size = {.cells = CELLS};

	t->n = set->n_runs;
	t->list = calloc(t->n + 1, sizeof(*t->list));
	t->notes = calloc(t->n + 1, sizeof(*t->notes));
	if (!t->list || !t->notes)
		return -ENOMEM;
	size.cells = CELLS / t->n;
	for (size_t i = 0; i < t->n; i++)
		if (set->runs[i].report)
			read_timeline(&set->runs[i], &size, &t->list[i], &t->notes[i]);
	return 0;
}

static int write_page(const char *file, const struct tmigr_html_input *in)
{
	struct output out;
	int ret = output_open(&out, "report", file);

	return ret ? ret : output_finish(&out, tmigr_html_write(in, out.file));
}

/* What the page says, a script must hear too: what could not be read, or is a part. */
static int complain(const struct tmigr_runset *set)
{
	int ret = TMIGR_EXIT_OK;

	for (size_t i = 0; i < set->n_runs; i++) {
		const struct tmigr_run *run = &set->runs[i];
		const char *partial = json_string_value(json_object_get(run->report, "partial"));

		if (!run->report)
			ret = tool_error("report", "%s", run->problem);
		else if (partial)
			ret = tool_error("report", "%s: a part of the run only: %s", run->path,
					 partial);
	}
	return ret;
}

static bool any_report(const struct tmigr_runset *set)
{
	for (size_t i = 0; i < set->n_runs; i++)
		if (set->runs[i].report)
			return true;
	return false;
}

/* Several labels beside each other; NULL: there is nothing to compare. */
static json_t *compare_labels(const struct tmigr_runset *set)
{
	const struct tmigr_compare_opts opts = {0};
	struct tmigr_err err = {""};
	json_t *json = NULL;

	if (set->n_labels < 2 || tmigr_compare(set, &opts, &json, &err) < 0)
		return NULL;
	return json;
}

int report_html(const char *file, char *const *paths, size_t n)
{
	struct tmigr_err err = {""};
	struct tmigr_runset *set = NULL;
	struct timelines t = {0};
	json_t *compare = NULL;
	int ret, exit_code;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(paths[i], "-"))
			return tool_usage("report", "--html reads a recording twice: give a file, "
						    "not standard input");
	output_signals();
	if (tmigr_runset_load((const char *const *)paths, n, &set, &err) < 0)
		return tool_error("report", "%s", err.text);
	exit_code = complain(set);
	if (any_report(set)) {
		ret = read_timelines(set, &t);
		compare = compare_labels(set);
		ret = ret < 0 ? tool_error("report", "out of memory")
			      : write_page(file, &(struct tmigr_html_input){set, t.list, t.notes,
									    compare});
		exit_code = ret ? ret : exit_code;
	}
	json_decref(compare);
	timelines_free(&t);
	tmigr_runset_free(set);
	return exit_code;
}
