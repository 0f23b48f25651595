// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr report: a report again, from a run directory, a recording, or a trace. */
#include "tmigr/report.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "args.h"
#include "print.h"
#include "tmigr.h"
#include "tmigr/import.h"
#include "tmigr/rundir.h"
#include "version.h"

static const char help[] =
	"Usage: tmigr report [OPTION...] DIR|FILE\n"
	"\n"
	"Prints the report of a run again, the same bytes as 'tmigr run' printed: from the run\n"
	"directory DIR, or from a recording FILE (events.tmr); or of a trace FILE that another "
	"tool\n"
	"made (see 'tmigr import --help'). '-' reads standard input. Needs no privileges, and no\n"
	"kernel with timer migration.\n"
	"\n"
	"      --json               print the report as JSON\n"
	"      --class NAME=CPUS    of a trace: the CPUs of a class; may be given several times\n"
	"      --cpus COPY          of a trace: a copy of the machine's /sys/devices/system/cpu\n"
	"  -h, --help               print this\n"
	"\n"
	"A recording that stops early (crash, disk full), or a trace of which a part is not\n"
	"understood, gives the report of the rest, and a line on standard error.\n"
	"\n"
	"Exit status: 0 fine, 1 error, or a report of a part; 2 wrong usage.\n";

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"class", required_argument, NULL, 'c'},
	{"cpus", required_argument, NULL, 'C'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static bool is_dir(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode);
}

int tool_print_report(const char *verb, const json_t *report, bool json)
{
	int ret = json ? tmigr_report_json(report, stdout) : tmigr_report_text(report, stdout);

	if (ret == -ENOMEM)
		return tool_error(verb, "out of memory");
	return tool_flush(verb);
}

static int print(const char *path, const struct tmigr_import_opts *opts, bool json)
{
	struct tmigr_err err = {""};
	const char *partial;
	json_t *report;
	int ret;

	if (is_dir(path) && (opts->n_classes || opts->cpus))
		return tool_usage("report", "--class and --cpus are for traces, not for '%s'",
				  path);
	ret = is_dir(path) ? tmigr_rundir_report(path, &report, &err)
			   : tmigr_import(path, opts, &report, NULL, &err);
	if (ret < 0)
		return tool_error("report", "%s", *err.text ? err.text : strerror(-ret));
	ret = tool_print_report("report", report, json);
	partial = json_string_value(json_object_get(report, "partial"));
	if (!ret && partial)
		ret = tool_error("report", "%s: a part of the run only: %s", path, partial);
	json_decref(report);
	return ret;
}

static int parse(int argc, char **argv, struct arg_list *classes, struct tmigr_import_opts *opts,
		 bool *json)
{
	int c;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			return tool_help("report", help) ? TMIGR_EXIT_ERROR : -1;
		case 'j':
			*json = true;
			break;
		case 'c':
			if (arg_list_add(classes, optarg) < 0)
				return tool_error("report", "out of memory");
			break;
		case 'C':
			opts->cpus = optarg;
			break;
		default:
			return tool_bad_option("report", c, argv);
		}
	}
	if (optind == argc)
		return tool_usage("report", "which run? Give its DIR, events.tmr, or a trace");
	if (optind + 1 < argc)
		return tool_usage("report", "one run at a time, not also '%s'", argv[optind + 1]);
	opts->classes = classes->items;
	opts->n_classes = classes->n;
	return 0;
}

int verb_report(int argc, char **argv)
{
	struct tmigr_import_opts opts = {.tool = "tmigr " TMIGR_VERSION};
	struct arg_list classes = {0};
	bool json = false;
	int ret = parse(argc, argv, &classes, &opts, &json);

	if (ret == 0)
		ret = print(argv[optind], &opts, json);
	arg_list_free(&classes);
	return ret < 0 ? TMIGR_EXIT_OK : ret;
}
