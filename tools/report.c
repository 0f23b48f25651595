// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr report: a report again, from a run directory or a recording. */
#include "tmigr/report.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "print.h"
#include "tmigr.h"
#include "tmigr/replay.h"
#include "tmigr/rundir.h"

static const char help[] =
	"Usage: tmigr report [OPTION...] DIR|FILE\n"
	"\n"
	"Prints the report of a run again, the same bytes as 'tmigr run' printed: from the run\n"
	"directory DIR, or from a recording FILE (events.tmr; '-' reads standard input). Needs no\n"
	"privileges, and no kernel with timer migration.\n"
	"\n"
	"      --json               print the report as JSON\n"
	"  -h, --help               print this\n"
	"\n"
	"A recording that stops early (crash, disk full) gives the report of what it holds, and a\n"
	"line on standard error.\n"
	"\n"
	"Exit status: 0 fine, 1 error, or a recording that stops early; 2 wrong usage.\n";

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
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

static int print(const char *path, bool json)
{
	struct tmigr_err err = {""};
	const char *partial;
	json_t *report;
	int ret;

	ret = is_dir(path) ? tmigr_rundir_report(path, &report, &err)
			   : tmigr_replay(path, &report, NULL, &err);
	if (ret < 0)
		return tool_error("report", "%s", *err.text ? err.text : strerror(-ret));
	ret = tool_print_report("report", report, json);
	partial = json_string_value(json_object_get(report, "partial"));
	if (!ret && partial)
		ret = tool_error("report", "%s: a part of the run only: %s", path, partial);
	json_decref(report);
	return ret;
}

int verb_report(int argc, char **argv)
{
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("report", help);
		if (c != 'j')
			return tool_bad_option("report", c, argv);
		json = true;
	}
	if (optind == argc)
		return tool_usage("report", "which run? Give its DIR or events.tmr");
	if (optind + 1 < argc)
		return tool_usage("report", "one run at a time, not also '%s'", argv[optind + 1]);
	return print(argv[optind], json);
}
