// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr report: a report again, from a run directory or a recording. */
#include "tmigr/report.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "print.h"
#include "report_html.h"
#include "tmigr.h"
#include "tmigr/replay.h"
#include "tmigr/rundir.h"

static const char help[] =
	"Usage: tmigr report [OPTION...] DIR|FILE\n"
	"       tmigr report --html PAGE DIR|FILE...\n"
	"\n"
	"Prints the report of a run again, the same bytes as 'tmigr run' printed: from the run\n"
	"directory DIR, or from a recording FILE (events.tmr; '-' reads standard input). Needs no\n"
	"privileges, and no kernel with timer migration.\n"
	"\n"
	"      --json               print the report as JSON\n"
	"      --html PAGE          write a page to the file PAGE ('-': standard output) instead:\n"
	"                           answer, timeline, hierarchy, tables; nothing else is needed to\n"
	"                           read it. Of several runs: run directories, directories of runs,\n"
	"                           recordings\n"
	"  -h, --help               print this\n"
	"\n"
	"A recording that stops early (crash, disk full) gives the report of what it holds, and a\n"
	"line on standard error.\n"
	"\n"
	"Exit status: 0 fine, 1 error, or a recording that stops early; 2 wrong usage.\n";

enum { OPT_HTML = 256 };

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"html", required_argument, NULL, OPT_HTML},
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
	const char *html = NULL;
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("report", help);
		if (c == 'j')
			json = true;
		else if (c == OPT_HTML)
			html = optarg;
		else
			return tool_bad_option("report", c, argv);
	}
	if (optind == argc)
		return tool_usage("report", "which run? Give its DIR or events.tmr");
	if (html && json)
		return tool_usage("report", "--json or --html, not both");
	if (html)
		return report_html(html, argv + optind, (size_t)(argc - optind));
	if (optind + 1 < argc)
		return tool_usage("report", "one run at a time, not also '%s'", argv[optind + 1]);
	return print(argv[optind], json);
}
