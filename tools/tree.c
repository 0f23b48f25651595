// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr tree: the hierarchy as it is now. */
#include "tmigr/tree.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "daemon.h"
#include "tmigr.h"
#include "tree_snapshot.h"

static const char help[] =
	"Usage: tmigr tree [OPTION...]\n"
	"\n"
	"Shows the timer-migration hierarchy as it is now: groups with their node and migrator,\n"
	"CPUs with class, capacity, whether they are active or idle in the hierarchy, their idle\n"
	"state, and when the next timer is due. Asks the daemon where one answers (its group "
	"may);\n"
	"else needs root, or CAP_BPF and CAP_PERFMON.\n"
	"\n"
	"      --watch SECONDS      show it again every SECONDS, until Ctrl-C\n"
	"      --json               JSON (with --watch: one line each time)\n"
	"      --dot                a graph for dot(1)\n"
	"      --class NAME=CPUS    name a class of CPUs, e.g. --class LITTLE=0-3; may be "
	"repeated\n" DAEMON_SOCKET_HELP DAEMON_NEVER_HELP "  -h, --help               print this\n"
	"\n"
	"Exit status: 0 fine, 1 error (also: this kernel has no hierarchy), 2 wrong usage.\n";

enum { OPT_WATCH = 256, OPT_JSON, OPT_DOT, OPT_CLASS };

static const struct option options[] = {
	{"watch", required_argument, NULL, OPT_WATCH},
	{"json", no_argument, NULL, OPT_JSON},
	{"dot", no_argument, NULL, OPT_DOT},
	{"class", required_argument, NULL, OPT_CLASS},
	DAEMON_SOCKET_OPTION,
	DAEMON_NEVER_OPTION,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct tree_opts {
	bool json, dot;
	__u64 watch_ns; /* 0: once */
	struct arg_list classes;
	struct daemon_opts daemon;
};

/* -1 to go on, else the exit code. */
static int parse(struct tree_opts *o, int argc, char **argv)
{
	int c, ret;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (daemon_option(&o->daemon, "tree", c, &ret)) {
			if (ret)
				return ret;
			continue;
		}
		switch (c) {
		case OPT_WATCH:
			if (arg_seconds(optarg, &o->watch_ns))
				return tool_usage("tree",
						  "--watch: '%s' is not a time above 0 in seconds, "
						  "such as 2 or 0.25",
						  optarg);
			break;
		case OPT_JSON:
			o->json = true;
			break;
		case OPT_DOT:
			o->dot = true;
			break;
		case OPT_CLASS:
			if (arg_list_add(&o->classes, optarg))
				return tool_error("tree", "out of memory");
			break;
		case 'h':
			return tool_help("tree", help);
		default:
			return tool_bad_option("tree", c, argv);
		}
	}
	if (optind < argc)
		return tool_usage("tree", "takes no argument, but got '%s'", argv[optind]);
	if (o->json && o->dot)
		return tool_usage("tree", "either --json or --dot");
	if (o->dot && o->watch_ns)
		return tool_usage("tree", "--dot shows one moment: not with --watch");
	ret = daemon_check_options(&o->daemon, "tree");
	return ret ? ret : -1;
}

static int print_json(const struct tmigr_tree *t, bool line)
{
	json_t *json = tmigr_tree_json(t);
	int ret;

	if (!json)
		return -ENOMEM;
	ret = json_dumpf(json, stdout, line ? JSON_COMPACT : JSON_INDENT(2)) ||
	      putchar('\n') == EOF;
	json_decref(json);
	return ret ? -EIO : 0;
}

static int print_text(const struct tmigr_tree *t, bool watch)
{
	char clock[32] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (watch) {
		/* A terminal shows the newest only; elsewhere they follow. */
		if (isatty(STDOUT_FILENO))
			fputs("\033[H\033[2J", stdout);
		if (localtime_r(&now, &tm))
			strftime(clock, sizeof(clock), "%H:%M:%S  ", &tm);
		fputs(clock, stdout);
	}
	return tmigr_tree_text(t, tool_utf8(), stdout);
}

/* One snapshot, printed.  0, or the exit code with the error told. */
static int show(const struct tree_opts *o, struct tree_source *source)
{
	struct tmigr_err err = {""};
	struct tree_moment *m;
	int ret;

	if (tree_source_take(source, &m, &err) < 0)
		return tool_error("tree", "%s", err.text);
	if (o->json)
		ret = print_json(tree_moment_view(m), o->watch_ns);
	else if (o->dot)
		ret = tmigr_tree_dot(tree_moment_view(m), stdout);
	else
		ret = print_text(tree_moment_view(m), o->watch_ns);
	tree_moment_free(m);
	if (ret == -ENOMEM)
		return tool_error("tree", "out of memory");
	return tool_flush("tree");
}

static void sleep_ns(__u64 ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000ULL),
			     .tv_nsec = (long)(ns % 1000000000ULL)};

	nanosleep(&t, NULL);
}

static int run(const struct tree_opts *o)
{
	struct tmigr_err err = {""};
	struct tree_source *source;
	int ret;

	ret = tree_source_open(&o->daemon, o->classes.items, o->classes.n, &source, &err);
	if (ret == -EINVAL && o->classes.n)
		return tool_usage("tree", "%s", err.text);
	if (ret < 0)
		return tool_error("tree", "%s", err.text);
	ret = show(o, source);
	while (!ret && o->watch_ns) {
		sleep_ns(o->watch_ns);
		if (!o->json && !isatty(STDOUT_FILENO))
			putchar('\n');
		ret = show(o, source);
	}
	tree_source_close(source);
	return ret;
}

int verb_tree(int argc, char **argv)
{
	struct tree_opts opts = {0};
	int ret;

	ret = parse(&opts, argc, argv);
	if (ret < 0)
		ret = run(&opts);
	arg_list_free(&opts.classes);
	return ret;
}
