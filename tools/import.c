// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr import: a trace that somebody else made, to a run directory. */
#include "tmigr/import.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "output.h"
#include "print.h"
#include "tmigr.h"
#include "tmigr/report.h"
#include "tmigr/rundir.h"
#include "version.h"

static const char help[] =
	"Usage: tmigr import [OPTION...] -o DIR FILE\n"
	"\n"
	"Makes a run directory, as 'tmigr run -o' does, from a trace: the text of ftrace "
	"('trace',\n"
	"'trace_pipe', 'trace-cmd report', 'perf script'), a trace.dat, or a recording "
	"(events.tmr).\n"
	"'-' reads standard input. The events power:cpu_idle and timer_migration:* count; others "
	"are\n"
	"skipped. The window is from the first event to the last. Needs no privileges.\n"
	"\n"
	"  -o, --output DIR         where to; must be new or empty\n"
	"      --force              replace an earlier run in DIR\n"
	"      --class NAME=CPUS    the CPUs of a class (LITTLE=0-3); may be given several times\n"
	"      --cpus COPY          the traced machine's capacities, idle states and nodes, from "
	"a\n"
	"                           copy made there by: tar cf cpus.tar /sys/devices/system/cpu\n"
	"                           (a tar file, or a folder made by cp -r)\n"
	"      --no-recording       leave out events.tmr, from which other views can be made "
	"later\n"
	"      --json               print the report as JSON\n"
	"  -q, --quiet              print no report\n"
	"  -h, --help               print this\n"
	"\n"
	"This machine's own CPUs never count. Without --class and --cpus all CPUs are one class, "
	"and\n"
	"idle states have numbers for names.\n"
	"\n"
	"Exit status: 0 fine, 1 error, or a trace of which a part was not understood (the run is "
	"of\n"
	"the rest, and says so); 2 wrong usage.\n";

enum {
	OPT_FORCE = 256,
	OPT_CLASS,
	OPT_CPUS,
	OPT_NO_RECORDING,
};

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, OPT_FORCE},
	{"class", required_argument, NULL, OPT_CLASS},
	{"cpus", required_argument, NULL, OPT_CPUS},
	{"no-recording", no_argument, NULL, OPT_NO_RECORDING},
	{"json", no_argument, NULL, 'j'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct import_opts {
	struct arg_list classes;
	const char *dir, *cpus, *file;
	bool force, no_recording, json, quiet;
};

/* run.json: what the report says about the file, and the machine. */
static json_t *run_json(const json_t *report, const struct tmigr_topology *topo)
{
	static const char *const keys[] = {"tool",
					   "kernel",
					   "machine",
					   "command",
					   "import",
					   "partial",
					   "timer_migration_hierarchy"};
	json_t *run = json_object();

	for (size_t i = 0; run && i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *v = json_object_get(report, keys[i]);

		if (v)
			json_object_set(run, keys[i], v);
	}
	if (run && topo)
		json_object_set_new(run, "topology", tmigr_topology_to_json(topo));
	return run;
}

static int finish(struct tmigr_rundir *dir, const json_t *report, const struct tmigr_topology *topo)
{
	struct tmigr_err err = {""};
	json_t *run = run_json(report, topo);
	int ret = run ? tmigr_rundir_finish(dir, run, report, &err) : -ENOMEM;

	json_decref(run);
	return ret < 0 ? tool_error("import", "%s", *err.text ? err.text : strerror(-ret)) : 0;
}

static int import(const struct import_opts *o, struct tmigr_rundir *dir, char *recording)
{
	const struct tmigr_import_opts opts = {
		.tool = "tmigr " TMIGR_VERSION,
		.classes = o->classes.items,
		.n_classes = o->classes.n,
		.cpus = o->cpus,
		.recording = recording,
		.segment = tmigr_rundir_segment,
		.arg = dir,
	};
	struct tmigr_topology *topo = NULL;
	struct tmigr_err err = {""};
	json_t *report = NULL;
	const char *partial;
	int ret = tmigr_import(o->file, &opts, &report, &topo, &err);

	if (ret < 0) {
		tmigr_rundir_discard(dir);
		return tool_error("import", "%s", *err.text ? err.text : strerror(-ret));
	}
	ret = finish(dir, report, topo);
	/* Unfinished, it would be half of a run. */
	if (ret)
		tmigr_rundir_discard(dir);
	else
		tmigr_rundir_close(dir);
	if (!ret && !o->quiet)
		ret = tool_print_report("import", report, o->json);
	partial = json_string_value(json_object_get(report, "partial"));
	if (!ret && partial)
		ret = tool_error("import", "a part of the trace only: %s", partial);
	json_decref(report);
	tmigr_topology_free(topo);
	return ret;
}

/* What would be gone, or written to, before it is read. */
static int check_input(const struct import_opts *o, const char *path)
{
	bool in = !strcmp(path, "-");
	struct stat st;

	if ((in ? fstat(STDIN_FILENO, &st) : stat(path, &st)) < 0 || !tmigr_rundir_has(o->dir, &st))
		return 0;
	return tool_error(
		"import",
		"%s: is of the run in %s, which would go: import it into another directory",
		in ? "standard input" : path, o->dir);
}

static int open_and_import(const struct import_opts *o)
{
	json_t *run = json_pack("{ss}", "tool", "tmigr " TMIGR_VERSION);
	struct tmigr_rundir *dir = NULL;
	struct tmigr_err err = {""};
	char *recording = NULL;
	int ret = run ? tmigr_rundir_create(o->dir, o->force, run, &dir, &err) : -ENOMEM;

	json_decref(run);
	if (ret < 0)
		return tool_error("import", "%s", *err.text ? err.text : strerror(-ret));
	if (!o->no_recording) {
		recording = tmigr_rundir_temp(dir, "events.tmr");
		if (!recording) {
			tmigr_rundir_discard(dir);
			return tool_error("import", "out of memory");
		}
	}
	ret = import(o, dir, recording);
	free(recording);
	return ret;
}

/* -1 to go on, else the exit code. */
static int parse(int argc, char **argv, struct import_opts *o)
{
	int c;

	while ((c = getopt_long(argc, argv, ":o:qh", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			return tool_help("import", help);
		case 'o':
			o->dir = optarg;
			break;
		case 'j':
			o->json = true;
			break;
		case 'q':
			o->quiet = true;
			break;
		case OPT_FORCE:
			o->force = true;
			break;
		case OPT_CPUS:
			o->cpus = optarg;
			break;
		case OPT_NO_RECORDING:
			o->no_recording = true;
			break;
		case OPT_CLASS:
			if (arg_list_add(&o->classes, optarg) < 0)
				return tool_error("import", "out of memory");
			break;
		default:
			return tool_bad_option("import", c, argv);
		}
	}
	if (optind == argc)
		return tool_usage("import", "which trace? Give its FILE, or '-'");
	if (optind + 1 < argc)
		return tool_usage("import", "one trace at a time, not also '%s'", argv[optind + 1]);
	if (!o->dir)
		return tool_usage("import",
				  "where to? Give -o DIR ('tmigr report FILE' only prints)");
	o->file = argv[optind];
	return -1;
}

int verb_import(int argc, char **argv)
{
	struct import_opts o = {.dir = NULL};
	int ret = parse(argc, argv, &o);

	if (ret < 0 && o.force) {
		int bad = check_input(&o, o.file);

		if (!bad && o.cpus)
			bad = check_input(&o, o.cpus);
		ret = bad ? bad : ret;
	}
	output_interrupts();
	if (ret < 0)
		ret = open_and_import(&o);
	arg_list_free(&o.classes);
	return ret;
}
