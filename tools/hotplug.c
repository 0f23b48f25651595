// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr hotplug: what takes the time as CPUs come up and go down. */
#include "hotplug.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "print.h"
#include "tmigr.h"
#include "version.h"

static const char help[] =
	"Usage: tmigr hotplug [OPTION...] [-- COMMAND [ARGUMENT...]]\n"
	"       tmigr hotplug --cycle CPUS [-n N] [OPTION...]\n"
	"       tmigr hotplug [--cpus SNAPSHOT] [--class NAME=CPUS] [--json] --boot|FILE\n"
	"\n"
	"Traces CPUs that come online and go offline while COMMAND runs (else for the time of -d,\n"
	"or until Ctrl-C), and prints how long each bring-up and take-down took, and which steps\n"
	"of the kernel's took it; those of timer migration are marked. Needs root.\n"
	"\n"
	"  -d, --duration SECONDS   end the window SECONDS (decimals allowed) after its start\n"
	"  -o, --output DIR         also write a run directory, as 'tmigr run' does\n"
	"      --force              replace the files of an earlier run in DIR\n"
	"  -n, --runs N             N windows one after the other, in DIR/run-1 ... DIR/run-N\n"
	"  -l, --label LABEL        what is measured (a kernel, a setting), for 'tmigr compare'\n"
	"      --continue           with -n: go on where an earlier one was interrupted\n"
	"      --settle SECONDS     wait so long before each run\n" CLASS_HELP
	"      --source NAME        how idle states and migrators are traced beside: bpf, ftrace,\n"
	"                           auto\n"
	"      --json               print the whole report as JSON, in which it is the member\n"
	"                           \"hotplug\"\n"
	"  -h, --help               print this\n"
	"\n"
	"      --cycle CPUS         take CPUS (e.g. 4-7) offline and online again, -n times: each\n"
	"                           by itself, in the order of their numbers. Asks first. All\n"
	"                           come back, also after an error, an interrupt, or kill -9. "
	"With\n"
	"                           -o every cycle is a run, for 'tmigr compare'\n"
	"      --together           all of CPUS are away at once, then come back one by one\n"
	"      --yes                do not ask\n"
	"      --force              also take the last CPU of a class offline\n"
	"\n"
	"      --boot               of the boot, by the events in the global ftrace buffer, which "
	"is\n"
	"                           read and left as it is. Needs a kernel booted with\n"
	"                           trace_event=cpuhp:cpuhp_enter,cpuhp:cpuhp_multi_enter,"
	"cpuhp:cpuhp_exit\n"
	"  FILE                     of a trace with these events: trace.dat, or text of ftrace\n"
	"                           ('-': standard input)\n"
	"      --cpus SNAPSHOT      with FILE: a copy of its machine's sysfs, as for 'tmigr "
	"import':\n"
	"                           classes, and the names of the steps\n"
	"\n"
	"A time is that of a step itself, without steps within it: those of all steps and the\n"
	"time between them add up to the whole. Steps are done by the CPU that asked for it, or\n"
	"by the CPU itself, while the other waits.\n"
	"\n"
	"Exit status: as of 'tmigr run'.\n";

enum {
	OPT_FORCE = 256,
	OPT_CONTINUE,
	OPT_SETTLE,
	OPT_CLASS,
	OPT_SOURCE,
	OPT_JSON,
	OPT_CYCLE,
	OPT_TOGETHER,
	OPT_YES,
	OPT_SYS_ROOT,
	OPT_BOOT,
	OPT_CPUS
};

static const struct option options[] = {
	{"duration", required_argument, NULL, 'd'},
	{"output", required_argument, NULL, 'o'},
	{"runs", required_argument, NULL, 'n'},
	{"label", required_argument, NULL, 'l'},
	{"force", no_argument, NULL, OPT_FORCE},
	{"continue", no_argument, NULL, OPT_CONTINUE},
	{"settle", required_argument, NULL, OPT_SETTLE},
	{"class", required_argument, NULL, OPT_CLASS},
	{"source", required_argument, NULL, OPT_SOURCE},
	{"json", no_argument, NULL, OPT_JSON},
	{"cycle", required_argument, NULL, OPT_CYCLE},
	{"together", no_argument, NULL, OPT_TOGETHER},
	{"yes", no_argument, NULL, OPT_YES},
	{"boot", no_argument, NULL, OPT_BOOT},
	{"cpus", required_argument, NULL, OPT_CPUS},
	{"sys-root", required_argument, NULL, OPT_SYS_ROOT}, /* for tests */
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char *name_of(int c)
{
	const struct option *o = options;

	while (o->val != c)
		o++;
	return o->name;
}

struct wanted {
	struct run_opts run;
	struct cycle cycle;
	const char *list; /* of --cycle; NULL: not given */
	bool boot;
	const char *file, *cpus; /* NULL: not given */
	char **shown;		 /* the tool's own line, in the place of a command; owned */
};

static int parse_cycle(struct wanted *w)
{
	struct tmigr_err err = {""};

	free(w->cycle.cpus);
	w->cycle.cpus = NULL;
	if (tmigr_cpulist_parse(optarg, &w->cycle.cpus, &w->cycle.n_cpus, &err) < 0)
		return tool_usage("hotplug", "--cycle: %s", err.text);
	if (!w->cycle.n_cpus)
		return tool_usage("hotplug", "--cycle: the list of CPUs is empty");
	w->list = optarg;
	return 0;
}

static int parse_option(struct wanted *w, int c)
{
	switch (c) {
	case OPT_CYCLE:
		return parse_cycle(w);
	case OPT_TOGETHER:
		w->cycle.together = true;
		return 0;
	case OPT_YES:
		w->cycle.yes = true;
		return 0;
	case OPT_BOOT:
		w->boot = true;
		return 0;
	case OPT_CPUS:
		w->cpus = optarg;
		return 0;
	default:
		return run_opts_named(&w->run, name_of(c));
	}
}

/* --cycle in the place of a command: without -o all cycles are in one window. */
static int check_cycle(struct wanted *w, int argc, char **argv)
{
	struct run_opts *o = &w->run;

	if (!w->list)
		return w->cycle.together || w->cycle.yes
			       ? tool_usage("hotplug", "--together and --yes are for --cycle")
			       : 0;
	if (o->command)
		return tool_usage("hotplug", "--cycle is in the place of a COMMAND");
	if (o->duration_ns)
		return tool_usage("hotplug", "-d: a window with --cycle ends with the last CPU");
	w->cycle.times = o->n ? o->n : 1;
	w->cycle.tool = getpid();
	if (!o->dir)
		o->n = 0;
	o->cycle = &w->cycle;
	o->body = cycle_body;
	w->shown = calloc((size_t)argc + 2, sizeof(*w->shown));
	if (!w->shown)
		return tool_error("hotplug", "out of memory");
	w->shown[0] = (char *)"tmigr";
	memcpy(w->shown + 1, argv, (size_t)argc * sizeof(*argv));
	o->command = w->shown;
	return 0;
}

/* "-- COMMAND...", or FILE. */
static int take_rest(struct wanted *w, int argc, char **argv)
{
	if (optind == argc)
		return 0;
	if (!strcmp(argv[optind - 1], "--")) {
		w->run.command = argv + optind;
		return 0;
	}
	w->file = argv[optind];
	if (optind + 1 < argc)
		return tool_usage("hotplug",
				  "takes one file, but got '%s' too (a command comes "
				  "behind '--')",
				  argv[optind + 1]);
	return 0;
}

/* --boot and FILE are of what was: nothing is traced. */
static int check_past(const struct wanted *w)
{
	const struct run_opts *o = &w->run;

	if (w->cpus && !w->file)
		return tool_usage("hotplug", "--cpus is about the machine of a FILE");
	if (!w->boot && !w->file)
		return 0;
	if (w->boot && w->file)
		return tool_usage("hotplug", "either --boot or a FILE");
	if (w->list || o->command || o->dir || o->duration_ns || o->n || o->label || o->settle_ns ||
	    o->go_on || o->force || o->source != TMIGR_SOURCE_AUTO)
		return tool_usage("hotplug", "%s is shown as it is: no option for a window",
				  w->file ? "a FILE" : "the boot");
	return 0;
}

/* Of --boot or FILE; the exit code. */
static int show_past(const struct wanted *w)
{
	const struct tmigr_hotplug_file_opts opts = {
		.tool = "tmigr " TMIGR_VERSION,
		.cpus = w->cpus,
		.classes = w->run.classes.items,
		.n_classes = w->run.classes.n,
	};
	struct tmigr_err err = {""};
	const char *partial;
	json_t *report;
	int ret;

	output_interrupts();
	if (tmigr_hotplug_read(w->file, &opts, &report, &err) < 0)
		return tool_error("hotplug", "%s", err.text);
	ret = w->run.json ? tool_print_report("hotplug", report, true) : run_hotplug_print(report);
	partial = json_string_value(json_object_get(report, "partial"));
	if (!ret && partial)
		ret = tool_error("hotplug", "a part only: %s", partial);
	json_decref(report);
	return ret;
}

/* -1 to go on, else the exit code. */
static int parse(struct wanted *w, int argc, char **argv)
{
	int c, ret = 0;

	while (!ret && (c = getopt_long(argc, argv, "+:d:o:n:l:h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("hotplug", help);
		if (c == '?' || c == ':')
			return tool_bad_option("hotplug", c, argv);
		ret = parse_option(w, c);
	}
	if (!ret)
		ret = take_rest(w, argc, argv);
	if (!ret)
		ret = check_past(w);
	if (!ret)
		ret = check_cycle(w, argc, argv);
	if (!ret)
		ret = run_opts_check(&w->run);
	return ret ? ret : -1;
}

static int window(struct wanted *w)
{
	int ret = w->list ? cycle_ask(&w->cycle, w->list) : 0;

	if (!ret)
		return run_with(&w->run, w->list ? cycle_hold : machine_change);
	run_opts_free(&w->run);
	return ret;
}

int verb_hotplug(int argc, char **argv)
{
	struct wanted w = {.list = NULL};
	int ret;

	tool_speak_as("hotplug");
	run_opts_init(&w.run);
	w.run.hotplug = true;
	/* A daemon does not trace hotplug. */
	w.run.daemon.never = true;
	ret = parse(&w, argc, argv);
	if (ret < 0 && !w.boot && !w.file) {
		ret = window(&w);
	} else {
		if (ret < 0)
			ret = show_past(&w);
		run_opts_free(&w.run);
	}
	free(w.cycle.cpus);
	free(w.shown);
	return ret;
}
