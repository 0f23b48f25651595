// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr tree: the hierarchy as it is now, or as a trace tells it. */
#include "tmigr/tree.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "daemon.h"
#include "output.h"
#include "tmigr.h"
#include "tmigr/engine.h"
#include "tree_snapshot.h"

static const char help[] =
	"Usage: tmigr tree [OPTION...] [FILE]\n"
	"\n"
	"Shows the timer-migration hierarchy as it is now, or as FILE tells it (trace.dat, or "
	"text\n"
	"of ftrace, such as a boot trace; '-': standard input): groups with their node and "
	"migrator,\n"
	"CPUs with class, capacity, whether they are active or idle in the hierarchy, their idle\n"
	"state, and when the next timer is due. Asks the daemon where one answers (its group "
	"may);\n"
	"else needs root, or CAP_BPF and CAP_PERFMON.\n"
	"\n"
	"      --watch SECONDS      show it again every SECONDS, until Ctrl-C\n"
	"      --json               JSON (with --watch: one line each time)\n"
	"      --dot                a graph for dot(1)\n"
	"      --boot               beside it as it was made, by the connect events in the global\n"
	"                           ftrace buffer, which is read and left as it is; differences\n"
	"                           are told, and places of CPUs taken from there that are not\n"
	"                           known yet. Needs a kernel booted with "
	"trace_event=...\n" CLASS_HELP
	"      --cpus SNAPSHOT      with FILE: a copy of its machine's sysfs, as for 'tmigr "
	"import'\n" SOURCE_HELP DAEMON_SOCKET_HELP DAEMON_NEVER_HELP
	"  -h, --help               print this\n"
	"\n"
	"Exit status: 0 fine, 1 error (also: this kernel has no hierarchy), 2 wrong usage.\n";

enum { OPT_WATCH = 256, OPT_JSON, OPT_DOT, OPT_CLASS, OPT_BOOT, OPT_CPUS, OPT_SOURCE };

static const struct option options[] = {
	{"watch", required_argument, NULL, OPT_WATCH},
	{"json", no_argument, NULL, OPT_JSON},
	{"dot", no_argument, NULL, OPT_DOT},
	{"class", required_argument, NULL, OPT_CLASS},
	{"boot", no_argument, NULL, OPT_BOOT},
	{"cpus", required_argument, NULL, OPT_CPUS},
	{"source", required_argument, NULL, OPT_SOURCE},
	DAEMON_SOCKET_OPTION,
	DAEMON_NEVER_OPTION,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct tree_opts {
	bool json, dot, boot;
	const char *cpus, *file;
	enum tmigr_source source;
	__u64 watch_ns; /* 0: once */
	struct arg_list classes;
	struct daemon_opts daemon;
};

static int check_file_options(const struct tree_opts *o)
{
	if (o->cpus && !o->file)
		return tool_usage("tree", "--cpus is about the machine of a FILE");
	if (o->file && (o->boot || o->watch_ns || o->source != TMIGR_SOURCE_AUTO ||
			o->daemon.socket || o->daemon.never))
		return tool_usage("tree", "a FILE is shown as it is: no option for a live machine");
	if (o->boot && o->watch_ns)
		return tool_usage("tree", "--boot compares one moment: not with --watch");
	return 0;
}

/* -1 to go on, else the exit code. */
static int parse_one(struct tree_opts *o, int c, char **argv)
{
	int ret;

	switch (c) {
	case OPT_WATCH:
		if (arg_seconds(optarg, &o->watch_ns))
			return tool_usage("tree",
					  "--watch: '%s' is not a time above 0 in seconds, "
					  "such as 2 or 0.25",
					  optarg);
		return -1;
	case OPT_JSON:
		o->json = true;
		return -1;
	case OPT_DOT:
		o->dot = true;
		return -1;
	case OPT_CLASS:
		return arg_list_add(&o->classes, optarg) ? tool_error("tree", "out of memory") : -1;
	case OPT_BOOT:
		o->boot = true;
		return -1;
	case OPT_CPUS:
		o->cpus = optarg;
		return -1;
	case OPT_SOURCE:
		ret = arg_source("tree", optarg, &o->source);
		return ret ? ret : -1;
	case 'h':
		return tool_help("tree", help);
	default:
		return tool_bad_option("tree", c, argv);
	}
}

/* Likewise. */
static int parse(struct tree_opts *o, int argc, char **argv)
{
	int c, ret;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (!daemon_option(&o->daemon, "tree", c, &ret))
			ret = parse_one(o, c, argv);
		else if (!ret)
			continue;
		if (ret >= 0)
			return ret;
	}
	if (optind < argc)
		o->file = argv[optind++];
	if (optind < argc)
		return tool_usage("tree", "takes one file, but got '%s' too", argv[optind]);
	ret = check_file_options(o);
	if (ret)
		return ret;
	if (o->source != TMIGR_SOURCE_AUTO && o->daemon.socket)
		return tool_usage("tree",
				  "--source is for the tool's own engine: not with --socket");
	if (o->json && o->dot)
		return tool_usage("tree", "either --json or --dot");
	if (o->dot && o->watch_ns)
		return tool_usage("tree", "--dot shows one moment: not with --watch");
	ret = daemon_check_options(&o->daemon, "tree");
	return ret ? ret : -1;
}

/* What is shown beside a hierarchy; NULL members are left out. */
struct extra {
	json_t *boot;
	const char *partial;
};

static int print_json(const struct tmigr_tree *t, bool line, const struct extra *x)
{
	json_t *json = tmigr_tree_json(t);
	int ret;

	if (!json || (x && x->boot && json_object_set(json, "boot", x->boot)) ||
	    (x && x->partial && json_object_set_new(json, "partial", json_string(x->partial)))) {
		json_decref(json);
		return -ENOMEM;
	}
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
		ret = print_json(tree_moment_view(m), o->watch_ns, NULL);
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

/* Lines of text, or of comment in a graph. */
static void print_extra(const struct tree_opts *o, const struct extra *x)
{
	const json_t *notes = json_object_get(x->boot, "differences"), *n;
	const char *lead = o->dot ? "// " : "";
	const char *live = json_string_value(json_object_get(x->boot, "live_error"));
	size_t i;

	if (!o->dot && (x->boot || x->partial))
		putchar('\n');
	if (x->boot)
		printf("%s%s: %lld connect events; ", lead, o->file ? o->file : "Boot trace",
		       (long long)json_integer_value(json_object_get(x->boot, "connects")));
	if (live)
		printf("the live hierarchy cannot be read: %s\n", live);
	else if (x->boot && notes)
		printf("%s\n", json_array_size(notes) ? "beside what is now:" : "the same as now");
	else if (x->boot)
		puts("states are those at its end, as far as it tells them");
	json_array_foreach (notes, i, n)
		printf("%s  %s\n", lead, json_string_value(n));
	if (x->partial)
		printf("%sPartial: %s\n", lead, x->partial);
}

static int print_view(const struct tree_opts *o, const struct tmigr_tree *t, const struct extra *x)
{
	int ret;

	if (o->json) {
		ret = print_json(t, false, x);
	} else {
		ret = o->dot ? tmigr_tree_dot(t, stdout) : print_text(t, false);
		print_extra(o, x);
	}
	if (ret == -ENOMEM)
		return tool_error("tree", "out of memory");
	return tool_flush("tree");
}

static json_t *boot_json(const struct tmigr_boot *boot, json_t *notes, const char *live_error)
{
	return json_pack("{sI sI so* ss*}", "connects", (json_int_t)boot->connects, "events",
			 (json_int_t)boot->events, "differences", notes, "live_error", live_error);
}

static int show_boot(const struct tree_opts *o, const struct tmigr_boot *boot,
		     const struct tmigr_topology *topo, const char *live_error)
{
	struct extra x = {.boot = boot_json(boot, NULL, live_error),
			  .partial = *boot->partial ? boot->partial : NULL};
	const struct tmigr_tree view = {.topo = topo,
					.h = boot->moment->h,
					.now_ns = boot->moment->now_ns,
					.cpu_expiry_ns = boot->moment->cpu_expiry_ns,
					.group_expiry_ns = boot->moment->group_expiry_ns};
	int ret = x.boot ? print_view(o, &view, &x) : tool_error("tree", "out of memory");

	json_decref(x.boot);
	return ret;
}

static int run_file(const struct tree_opts *o)
{
	const struct tmigr_boot_opts opts = {
		.classes = o->classes.items, .n_classes = o->classes.n, .cpus = o->cpus};
	struct tmigr_err err = {""};
	struct tmigr_boot *boot;
	int ret;

	output_interrupts();
	if (tmigr_boot_read(o->file, &opts, &boot, &err) < 0)
		return tool_error("tree", "%s", err.text);
	ret = show_boot(o, boot, boot->topo, NULL);
	tmigr_boot_free(boot);
	return ret;
}

static int show_both(const struct tree_opts *o, struct tree_moment *m,
		     const struct tmigr_boot *boot)
{
	struct extra x = {.partial = *boot->partial ? boot->partial : NULL};
	json_t *notes;
	int ret;

	if (tmigr_boot_merge(tree_moment_hierarchy(m), boot->moment->h, &notes) < 0)
		return tool_error("tree", "out of memory");
	x.boot = boot_json(boot, notes, NULL);
	ret = x.boot ? print_view(o, tree_moment_view(m), &x) : tool_error("tree", "out of memory");
	json_decref(x.boot);
	return ret;
}

/* Where nothing live can be read, the boot trace is still worth showing. */
static int run_boot(const struct tree_opts *o)
{
	struct tmigr_err err = {""}, live = {""};
	struct tmigr_topology *topo = NULL;
	struct tree_source *source = NULL;
	struct tree_moment *m = NULL;
	struct tmigr_boot *boot = NULL;
	struct tmigr_boot_opts opts;
	int ret;

	ret = tmigr_topology_read(NULL, o->classes.items, o->classes.n, &topo, &err);
	if (ret < 0)
		return ret == -EINVAL ? tool_usage("tree", "%s", err.text)
				      : tool_error("tree", "%s", err.text);
	opts = (struct tmigr_boot_opts){.topo = topo};
	ret = tmigr_boot_read(NULL, &opts, &boot, &err);
	if (ret < 0) {
		tmigr_topology_free(topo);
		return tool_error("tree", "%s", err.text);
	}
	ret = tree_source_open(&o->daemon, &o->classes, o->source, &source, &live);
	if (ret >= 0)
		ret = tree_source_take(source, &m, &live);
	ret = ret < 0 ? show_boot(o, boot, topo, live.text) : show_both(o, m, boot);
	tree_moment_free(m);
	tree_source_close(source);
	tmigr_boot_free(boot);
	tmigr_topology_free(topo);
	return ret;
}

static int run(const struct tree_opts *o)
{
	struct tmigr_err err = {""};
	struct tree_source *source;
	int ret;

	if (o->file)
		return run_file(o);
	if (o->boot)
		return run_boot(o);
	ret = tree_source_open(&o->daemon, &o->classes, o->source, &source, &err);
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
