// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr report: a report again, from a run directory or a recording. */
#include "tmigr/report.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "fail_if.h"
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
	"      --json               print the report as JSON\n" FAIL_IF_HELP
	"      --html PAGE          write a page to the file PAGE ('-': standard output) instead:\n"
	"                           answer, timeline, hierarchy, tables; nothing else is needed "
	"to\n"
	"                           read it. Of several runs too (DIR may be one of 'run -n'),\n"
	"                           with labels compared\n"
	"  -h, --help               print this\n"
	"\n"
	"A recording that stops early (crash, disk full) gives the report of what it holds, and a\n"
	"line on standard error.\n"
	"\n" FAIL_IF_FIGURES "\n"
	"Exit status: 0 fine, 1 error, or a recording that stops early; 2 wrong usage; 3 an\n"
	"expression of --fail-if is true.\n";

enum { OPT_HTML = 256 };

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"html", required_argument, NULL, OPT_HTML},
	{"fail-if", required_argument, NULL, 'f'},
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

static int print(const char *path, bool json, const struct arg_list *fail_if)
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
	/* What of a part can be told is told, but it is not the run's. */
	if (!ret || partial) {
		int test = fail_if_test("report", "", fail_if, report);

		ret = test ? test : ret;
	}
	json_decref(report);
	return ret;
}

struct wanted {
	bool json;
	const char *html;
	struct arg_list fail_if;
};

/* -1 to go on, else the exit code. */
static int parse(int argc, char **argv, struct wanted *w)
{
	int c, ret;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("report", help);
		if (c == 'j') {
			w->json = true;
			continue;
		}
		if (c == OPT_HTML) {
			w->html = optarg;
			continue;
		}
		if (c != 'f')
			return tool_bad_option("report", c, argv);
		ret = fail_if_check("report", optarg);
		if (ret)
			return ret;
		if (arg_list_add(&w->fail_if, optarg))
			return tool_error("report", "out of memory");
	}
	if (optind == argc)
		return tool_usage("report", "which run? Give its DIR or events.tmr");
	if (w->html && (w->json || w->fail_if.n))
		return tool_usage("report", "--html does not go with --json and --fail-if");
	if (!w->html && optind + 1 < argc)
		return tool_usage("report", "one run at a time, not also '%s'", argv[optind + 1]);
	return -1;
}

int verb_report(int argc, char **argv)
{
	struct wanted w = {0};
	int ret = parse(argc, argv, &w);

	if (ret < 0 && w.html)
		ret = report_html(w.html, argv + optind, (size_t)(argc - optind));
	else if (ret < 0)
		ret = print(argv[optind], w.json, &w.fail_if);
	arg_list_free(&w.fail_if);
	return ret;
}
