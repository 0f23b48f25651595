// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr export: runs in the formats that other programs read. */
#include "export.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon.h"
#include "output.h"
#include "print.h"
#include "tmigr.h"
#include "tmigr/csv.h"
#include "tmigr/openmetrics.h"
#include "tmigr/perfetto.h"
#include "tmigr/report.h"
#include "tmigr/varlink.h"

static const char help[] =
	"Usage: tmigr export --format FORMAT [OPTION...] DIR|FILE...\n"
	"\n"
	"Writes runs in a format that other programs read. DIR is a run directory, or one that\n"
	"holds run-1, run-2, ...; FILE is a recording (events.tmr).\n"
	"\n"
	"  -f, --format csv         tidy tables. With -o DIR all of them, and csv-metadata.json,\n"
	"                           which says what each column means; else the one of --table\n"
	"      --format json        the report (docs/report-schema.md, docs/report.schema.json);\n"
	"                           an array of them where several runs are given\n"
	"      --format perfetto    a trace for ui.perfetto.dev, of one run with a recording\n"
	"      --format openmetrics counters; without DIR or FILE those of the running tmigrd\n"
	"  -o, --output PATH        write PATH (csv without --table: a directory) instead of\n"
	"                           standard output; a file is replaced when the new one is whole\n"
	"  -t, --table NAME         csv: residency (if nothing is said), runs, migrator,\n"
	"                           migrator-states, migrator-segments, remote, metrics, "
	"energy,\n"
	"                           hotplug, latency, wakeups\n" DAEMON_SOCKET_HELP
	"  -h, --help               print this\n"
	"\n"
	"A run that cannot be read, and a recording that stops early, is named on standard error.\n"
	"\n"
	"Exit status: 0 fine, 1 error, or not all of what was asked for; 2 wrong usage.\n";

static const struct option options[] = {
	{"format", required_argument, NULL, 'f'}, {"output", required_argument, NULL, 'o'},
	{"table", required_argument, NULL, 't'},  {"socket", required_argument, NULL, OPT_SOCKET},
	{"help", no_argument, NULL, 'h'},	  {NULL, 0, NULL, 0},
};

const char *export_label(const struct tmigr_runset *set, const struct tmigr_run *run)
{
	return set->labels[run->label].name;
}

size_t export_count(const struct tmigr_runset *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_runs; i++)
		n += set->runs[i].report != NULL;
	return n;
}

/* ---- json ---- */

/* A report that says which run it is. */
static json_t *with_label(const struct tmigr_runset *set, const struct tmigr_run *run)
{
	json_t *copy = json_copy(run->report);

	if (json_object_set_new(copy, "label", json_string(export_label(set, run))) < 0 ||
	    json_object_set_new(copy, "run", json_integer((json_int_t)run->run)) < 0) {
		json_decref(copy);
		return NULL;
	}
	return copy;
}

static int write_array(const struct tmigr_runset *set, FILE *out)
{
	const char *before = "[\n";

	for (size_t i = 0; i < set->n_runs; i++) {
		json_t *report;
		int ret;

		if (!set->runs[i].report)
			continue;
		report = with_label(set, &set->runs[i]);
		if (!report)
			return -ENOMEM;
		fputs(before, out);
		before = ",\n";
		ret = tmigr_report_json(report, out);
		json_decref(report);
		if (ret < 0)
			return ret;
	}
	fputs("]\n", out);
	return 0;
}

int export_json(const struct export_opts *opts, const struct tmigr_runset *set)
{
	struct output out;
	int ret = output_open(&out, "export", opts->output);

	if (ret)
		return ret;
	/* Also of several where one can be read: the shape must not depend on that. */
	if (set->n_runs == 1)
		ret = tmigr_report_json(set->runs[0].report, out.file);
	else
		ret = write_array(set, out.file);
	return output_finish(&out, ret);
}

/* ---- openmetrics ---- */

int export_openmetrics(const struct export_opts *opts, const struct tmigr_runset *set)
{
	struct tmigr_om_run *runs = calloc(set->n_runs + 1, sizeof(*runs));
	struct output out;
	size_t n = 0;
	int ret;

	if (!runs)
		return tool_error("export", "out of memory");
	for (size_t i = 0; i < set->n_runs; i++) {
		const struct tmigr_run *run = &set->runs[i];

		if (run->report)
			runs[n++] = (struct tmigr_om_run){run->report, export_label(set, run),
							  run->run};
	}
	ret = output_open(&out, "export", opts->output);
	if (!ret) {
		tmigr_om_reports(out.file, runs, n);
		tmigr_om_end(out.file);
		ret = output_finish(&out, 0);
	}
	free(runs);
	return ret;
}

int export_daemon(const struct export_opts *opts)
{
	struct output out;
	json_t *reply;
	int ret = tool_ask_metrics("export", &opts->daemon, &reply);

	if (ret)
		return ret;
	ret = output_open(&out, "export", opts->output);
	if (!ret) {
		fputs(json_string_value(json_object_get(reply, "text")), out.file);
		ret = output_finish(&out, 0);
	}
	json_decref(reply);
	return ret;
}

/* ---- perfetto ---- */

/* The recording of a run directory; a recording is its own. */
static int find_recording(const char *path, char **ret)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		*ret = strdup(path);
		return *ret ? 0 : tool_error("export", "out of memory");
	}
	if (asprintf(ret, "%s/events.tmr", path) < 0)
		return tool_error("export", "out of memory");
	if (access(*ret, F_OK) == 0)
		return 0;
	free(*ret);
	return tool_error("export",
			  "%s: holds no events.tmr, which a Perfetto trace is made from: run it "
			  "with --record",
			  path);
}

static int write_perfetto(const struct export_opts *opts, const char *recording)
{
	struct tmigr_err err = {""};
	json_t *report = NULL;
	const char *partial;
	struct output out;
	int ret = output_open(&out, "export", opts->output);

	if (ret)
		return ret;
	ret = tmigr_perfetto_write(recording, out.file, &report, &err);
	if (ret < 0 && *err.text)
		ret = tool_error("export", "%s", err.text);
	ret = output_finish(&out, ret);
	partial = json_string_value(json_object_get(report, "partial"));
	if (!ret && partial)
		ret = tool_error("export", "%s: a part of the run only: %s", recording, partial);
	json_decref(report);
	return ret;
}

int export_perfetto(const struct export_opts *opts)
{
	char *recording;
	int ret;

	if (opts->n_paths != 1)
		return tool_usage("export", "a Perfetto trace is of one run, not also '%s'",
				  opts->paths[1]);
	if (!opts->output && isatty(STDOUT_FILENO))
		return tool_usage("export", "a Perfetto trace is no text for a terminal: give -o");
	ret = find_recording(opts->paths[0], &recording);
	if (ret)
		return ret;
	ret = write_perfetto(opts, recording);
	free(recording);
	return ret;
}

/* ---- all ---- */

static const struct format {
	const char *name;
	int (*write)(const struct export_opts *opts, const struct tmigr_runset *set);
} formats[] = {
	{"csv", export_csv},
	{"json", export_json},
	{"openmetrics", export_openmetrics},
	{"perfetto", NULL},
};

static const struct format *find_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	tool_usage("export", "unknown format '%s': csv, json, perfetto or openmetrics", name);
	return NULL;
}

/* What was not read, or only in part: told once the rest is written. */
static int tell_gaps(const struct tmigr_runset *set, int ret)
{
	for (size_t i = 0; i < set->n_notes; i++)
		fprintf(stderr, "tmigr export: %s\n", set->notes[i]);
	for (size_t i = 0; i < set->n_runs; i++) {
		const struct tmigr_run *run = &set->runs[i];
		const char *partial = json_string_value(json_object_get(run->report, "partial"));

		if (run->problem)
			ret = tool_error("export", "%s", run->problem);
		else if (partial)
			ret = tool_error("export", "%s: a part of the run only: %s", run->path,
					 partial);
	}
	return ret;
}

static int export_runs(const struct format *format, const struct export_opts *opts)
{
	struct tmigr_err err = {""};
	struct tmigr_runset *set;
	int ret = tmigr_runset_load((const char *const *)opts->paths, opts->n_paths, &set, &err);

	if (ret < 0)
		return tool_error("export", "%s", err.text);
	ret = export_count(set) ? format->write(opts, set) : TMIGR_EXIT_ERROR;
	/* After an error of writing the rest is of no use to anybody. */
	if (!ret || !export_count(set))
		ret = tell_gaps(set, ret);
	tmigr_runset_free(set);
	return ret;
}

static int export_format(const struct format *format, const struct export_opts *opts)
{
	bool openmetrics = !strcmp(format->name, "openmetrics");

	if (opts->table && strcmp(format->name, "csv"))
		return tool_usage("export", "--table is of csv, not of %s", format->name);
	if (opts->table && export_table(opts->table) < 0)
		return TMIGR_EXIT_USAGE;
	if (!opts->n_paths && !openmetrics)
		return tool_usage("export", "which run? Give its DIR or events.tmr");
	for (size_t i = 0; i < opts->n_paths; i++)
		if (!strcmp(opts->paths[i], "-"))
			return tool_usage("export", "runs are read from files, not from standard "
						    "input");
	output_signals();
	if (!opts->n_paths)
		return export_daemon(opts);
	return format->write ? export_runs(format, opts) : export_perfetto(opts);
}

int verb_export(int argc, char **argv)
{
	struct export_opts opts = {0};
	const struct format *format = NULL;
	int c, ret;

	while ((c = getopt_long(argc, argv, ":hf:o:t:", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("export", help);
		else if (c == 'f')
			format = find_format(optarg);
		else if (c == 'o')
			opts.output = optarg;
		else if (c == 't')
			opts.table = optarg;
		else if (!daemon_option(&opts.daemon, "export", c, &ret))
			return tool_bad_option("export", c, argv);
		else if (ret)
			return ret;
		if (c == 'f' && !format)
			return TMIGR_EXIT_USAGE;
	}
	opts.paths = argv + optind;
	opts.n_paths = (size_t)(argc - optind);
	if (!format)
		return tool_usage("export", "which format? --format csv, json, perfetto or "
					    "openmetrics");
	return export_format(format, &opts);
}
