// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr report: a report again, from a run directory, a recording, or a trace. */
#include "tmigr/report.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "args.h"
#include "fail_if.h"
#include "output.h"
#include "print.h"
#include "report_html.h"
#include "tmigr.h"
#include "tmigr/import.h"
#include "tmigr/rundir.h"
#include "version.h"

static const char help[] =
	"Usage: tmigr report [OPTION...] DIR|FILE\n"
	"       tmigr report --html PAGE DIR|FILE...\n"
	"\n"
	"Prints the report of a run again, the same bytes as 'tmigr run' printed: from the run\n"
	"directory DIR, or from a recording FILE (events.tmr); or of a trace FILE that another "
	"tool\n"
	"made (see 'tmigr import --help'). '-' reads standard input. Needs no privileges, and no\n"
	"kernel with timer migration.\n"
	"\n"
	"      --json               print the report as JSON\n" FAIL_IF_HELP
	"      --html PAGE          write a page to the file PAGE ('-': standard output) instead:\n"
	"                           answer, timeline, hierarchy, tables; nothing else is needed "
	"to\n"
	"                           read it. Of several runs too (DIR may be one of 'run -n'),\n"
	"                           with labels compared\n"
	"      --class NAME=CPUS    of a trace: the CPUs of a class; may be given several times\n"
	"      --cpus COPY          of a trace: a copy of the machine's /sys/devices/system/cpu\n"
	"  -h, --help               print this\n"
	"\n"
	"A recording that stops early (crash, disk full), or a trace of which a part is not\n"
	"understood, gives the report of the rest, and a line on standard error.\n"
	"\n" FAIL_IF_FIGURES "\n"
	"Exit status: 0 fine, 1 error, or a report of a part; 2 wrong usage; 3 an expression of\n"
	"--fail-if is true.\n";

enum { OPT_HTML = 256 };

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"html", required_argument, NULL, OPT_HTML},
	{"fail-if", required_argument, NULL, 'f'},
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

struct wanted {
	bool json;
	const char *html;
	struct arg_list fail_if, classes;
	struct tmigr_import_opts import;
};

static int print(const char *path, const struct wanted *w)
{
	struct tmigr_err err = {""};
	const char *partial;
	json_t *report;
	int ret;

	if (is_dir(path) && (w->import.n_classes || w->import.cpus))
		return tool_usage("report", "--class and --cpus are for traces, not for '%s'",
				  path);
	if (w->import.cpus)
		output_interrupts();
	ret = is_dir(path) ? tmigr_rundir_report(path, &report, &err)
			   : tmigr_import(path, &w->import, &report, NULL, &err);
	if (ret < 0)
		return tool_error("report", "%s", *err.text ? err.text : strerror(-ret));
	ret = tool_print_report("report", report, w->json);
	partial = json_string_value(json_object_get(report, "partial"));
	if (!ret && partial)
		ret = tool_error("report", "%s: a part of the run only: %s", path, partial);
	/* What of a part can be told is told, but it is not the run's. */
	if (!ret || partial) {
		int test = fail_if_test("report", "", &w->fail_if, report);

		ret = test ? test : ret;
	}
	json_decref(report);
	return ret;
}

/* 0, or the exit code with the error told. */
static int parse_option(struct wanted *w, int c, char **argv)
{
	int ret;

	switch (c) {
	case 'j':
		w->json = true;
		return 0;
	case OPT_HTML:
		w->html = optarg;
		return 0;
	case 'C':
		w->import.cpus = optarg;
		return 0;
	case 'c':
		return arg_list_add(&w->classes, optarg) ? tool_error("report", "out of memory")
							 : 0;
	case 'f':
		ret = fail_if_check("report", optarg);
		if (!ret && arg_list_add(&w->fail_if, optarg))
			ret = tool_error("report", "out of memory");
		return ret;
	default:
		return tool_bad_option("report", c, argv);
	}
}

/* -1 to go on, else the exit code. */
static int parse(int argc, char **argv, struct wanted *w)
{
	int c, ret;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("report", help);
		ret = parse_option(w, c, argv);
		if (ret)
			return ret;
	}
	if (optind == argc)
		return tool_usage("report", "which run? Give its DIR, events.tmr, or a trace");
	w->import.classes = w->classes.items;
	w->import.n_classes = w->classes.n;
	if (w->html && (w->json || w->fail_if.n || w->classes.n || w->import.cpus))
		return tool_usage("report", "--html does not go with --json, --fail-if, --class "
					    "and --cpus");
	if (!w->html && optind + 1 < argc)
		return tool_usage("report", "one run at a time, not also '%s'", argv[optind + 1]);
	return -1;
}

int verb_report(int argc, char **argv)
{
	struct wanted w = {.import = {.tool = "tmigr " TMIGR_VERSION}};
	int ret = parse(argc, argv, &w);

	if (ret < 0 && w.html)
		ret = report_html(w.html, argv + optind, (size_t)(argc - optind));
	else if (ret < 0)
		ret = print(argv[optind], &w);
	arg_list_free(&w.fail_if);
	arg_list_free(&w.classes);
	return ret;
}
