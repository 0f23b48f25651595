// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr top: the CPUs live, or one frame as text. */
#include "top.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tmigr.h"

#define TEXT_WIDTH 100

static const char help[] =
	"Usage: tmigr top [OPTION...]\n"
	"\n"
	"Shows live who holds the global migrator and what the CPUs' time goes to: a line a CPU\n"
	"with its class, present idle state, a bar of the last window by idle state, holdings and\n"
	"remote expiries; above them the answer so far, losses, and what the tool itself costs.\n"
	"Works through the daemon where one answers; else needs root, or CAP_BPF and CAP_PERFMON.\n"
	"\n"
	"  -d, --delay SECONDS      length of a window, 1 or more (default 1)\n"
	"      --sort WHAT          cpu, class, residency (the least idle first), holding\n"
	"      --group WHAT         none, class, hierarchy\n"
	"      --once               one window, then the frame as text; no terminal "
	"needed\n" CLASS_HELP
	"                           (by an engine of its own: the daemon has its own "
	"classes)\n" SOURCE_HELP DAEMON_SOCKET_HELP DAEMON_NEVER_HELP
	"  -h, --help               print this\n"
	"\n"
	"Keys: q quit, p pause, s sort, g group, h help, arrows and page keys scroll.\n"
	"Environment: NO_COLOR (not empty): no colours.\n"
	"\n"
	"Exit status: 0 fine, 1 error, 2 wrong usage.\n";

enum { OPT_SORT = 256, OPT_GROUP, OPT_ONCE, OPT_CLASS, OPT_SAMPLE, OPT_SOURCE };

static const struct option options[] = {
	{"delay", required_argument, NULL, 'd'},
	{"sort", required_argument, NULL, OPT_SORT},
	{"group", required_argument, NULL, OPT_GROUP},
	{"once", no_argument, NULL, OPT_ONCE},
	{"class", required_argument, NULL, OPT_CLASS},
	{"source", required_argument, NULL, OPT_SOURCE},
	DAEMON_SOCKET_OPTION,
	DAEMON_NEVER_OPTION,
	{"sample", required_argument, NULL, OPT_SAMPLE}, /* tests */
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct top_cmdline {
	struct top_source_opts source;
	struct tmigr_top_opts view;
	struct arg_list classes;
	struct daemon_opts daemon;
	bool once;
};

static int parse_sort(struct tmigr_top_opts *view, const char *name)
{
	for (int i = 0; i < TMIGR_TOP_SORTS; i++)
		if (!strcmp(name, tmigr_top_sort_name((enum tmigr_top_sort)i))) {
			view->sort = (enum tmigr_top_sort)i;
			return -1;
		}
	return tool_usage("top", "--sort: '%s' is none of cpu, class, residency, holding", name);
}

static int parse_group(struct tmigr_top_opts *view, const char *name)
{
	for (int i = 0; i < TMIGR_TOP_GROUPS; i++)
		if (!strcmp(name, tmigr_top_group_name((enum tmigr_top_group)i))) {
			view->group = (enum tmigr_top_group)i;
			return -1;
		}
	return tool_usage("top", "--group: '%s' is none of none, class, hierarchy", name);
}

static int parse_delay(struct top_source_opts *source, const char *text)
{
	if (!arg_seconds(text, &source->period_ns) && source->period_ns >= 1000000000ULL)
		return -1;
	return tool_usage("top", "--delay: '%s' is no number of seconds from 1 on", text);
}

/* -1 to go on, else the exit code. */
static int parse_one(struct top_cmdline *o, int c, char **argv)
{
	int ret;

	switch (c) {
	case 'd':
		return parse_delay(&o->source, optarg);
	case OPT_SORT:
		return parse_sort(&o->view, optarg);
	case OPT_GROUP:
		return parse_group(&o->view, optarg);
	case OPT_ONCE:
		o->once = true;
		return -1;
	case OPT_CLASS:
		return arg_list_add(&o->classes, optarg) ? tool_error("top", "out of memory") : -1;
	case OPT_SOURCE:
		ret = arg_source("top", optarg, &o->source.source);
		return ret ? ret : -1;
	case OPT_SAMPLE:
		o->source.file = optarg;
		return -1;
	case 'h':
		return tool_help("top", help);
	default:
		return tool_bad_option("top", c, argv);
	}
}

static int parse(struct top_cmdline *o, int argc, char **argv)
{
	int c, ret;

	while ((c = getopt_long(argc, argv, ":hd:", options, NULL)) != -1) {
		if (!daemon_option(&o->daemon, "top", c, &ret))
			ret = parse_one(o, c, argv);
		else if (!ret)
			continue;
		if (ret >= 0)
			return ret;
	}
	if (optind < argc)
		return tool_usage("top", "takes no argument, but got '%s'", argv[optind]);
	if (o->daemon.socket && o->source.source != TMIGR_SOURCE_AUTO)
		return tool_usage("top",
				  "--source is for the tool's own engine: not with --socket");
	if (o->daemon.socket && o->classes.n)
		return tool_usage("top", "a daemon has its own classes: --class not with --socket");
	ret = daemon_check_options(&o->daemon, "top");
	return ret ? ret : -1;
}

/* Of the terminal, or what $COLUMNS says. */
static size_t text_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long n;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	if (columns && !arg_number(columns, TMIGR_TOP_MIN_WIDTH, 1000, &n))
		return n;
	return TEXT_WIDTH;
}

static int wait_sample(struct top_source *source, struct top_sample *ret, struct tmigr_err *err)
{
	struct pollfd p = {.fd = top_source_fd(source), .events = POLLIN};
	int r;

	while ((r = top_source_next(source, ret, err)) == 0)
		poll(&p, 1, -1);
	return r < 0 ? r : 0;
}

static int print_frame(const struct top_screen *s)
{
	struct tmigr_top_frame *frame;
	int ret;

	if (tmigr_top_frame(s->top, &s->view, &frame) < 0)
		return tool_error("top", "out of memory");
	ret = tmigr_top_text(frame, stdout);
	tmigr_top_frame_free(frame);
	if (ret)
		clearerr(stdout);
	return ret ? tool_error("top", "cannot write to standard output: %s", strerror(errno))
		   : tool_flush("top");
}

static int once(struct top_screen *s)
{
	struct top_sample sample = {0};
	struct tmigr_err err = {""};
	int r;

	r = wait_sample(s->source, &sample, &err);
	if (!r)
		r = tmigr_top_add(s->top, sample.report, sample.tree, &err);
	json_decref(sample.report);
	json_decref(sample.tree);
	if (r)
		return tool_error("top", "%s", err.text);
	s->view.width = text_width();
	return print_frame(s);
}

/* Why there is nothing to draw on; NULL: there is. */
static const char *no_screen(void)
{
	if (!top_screen_version())
		return "this build has no ncurses: only --once";
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return "needs a terminal; without one: --once";
	return NULL;
}

static int run(const struct top_cmdline *o)
{
	struct top_screen s = {.view = o->view};
	const char *why = o->once ? NULL : no_screen();
	struct tmigr_err err = {""};
	int ret;

	if (why)
		return tool_error("top", "%s", why);
	s.view.utf8 = tool_utf8();
	ret = top_source_open(&o->source, &s.source, &err);
	if (ret == -EINVAL && o->classes.n)
		return tool_usage("top", "%s", err.text);
	if (ret < 0)
		return tool_error("top", "%s", err.text);
	s.view.source = top_source_name(s.source);
	if (tmigr_top_new(&s.top) < 0)
		ret = tool_error("top", "out of memory");
	else
		ret = o->once ? once(&s) : top_screen_run(&s);
	tmigr_top_free(s.top);
	top_source_close(s.source);
	return ret;
}

int verb_top(int argc, char **argv)
{
	struct top_cmdline o = {.source.period_ns = 1000000000ULL};
	int ret;

	o.source.classes = &o.classes;
	o.source.daemon = &o.daemon;
	ret = parse(&o, argc, argv);
	if (ret < 0)
		ret = run(&o);
	arg_list_free(&o.classes);
	return ret;
}

#ifndef TMIGR_NCURSES
const char *top_screen_version(void)
{
	return NULL;
}

int top_screen_run(struct top_screen *s)
{
	(void)s;
	return TMIGR_EXIT_ERROR;
}
#endif
