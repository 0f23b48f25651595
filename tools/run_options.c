// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of `tmigr run`. */
#include "run.h"

#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "fail_if.h"
#include "tmigr.h"

static const char help[] =
	"Usage: tmigr run [OPTION...] [--] [COMMAND ARGUMENT...]\n"
	"\n"
	"Traces the timer-migration hierarchy and the idle states of all CPUs while COMMAND\n"
	"runs, then prints the report to standard output. Without COMMAND: for the time of -d,\n"
	"or until Ctrl-C. Where a daemon (tmigrd) answers, it measures, and its group may; else\n"
	"needs root, or CAP_BPF and CAP_PERFMON.\n"
	"\n"
	"  -d, --duration SECONDS   end the window SECONDS (decimals allowed) after its start, to\n"
	"                           the ns; with a COMMAND, whichever ends first: it then\n"
	"                           gets SIGTERM, and SIGKILL 2 s later, and has not failed\n"
	"  -o, --output DIR         also write a run directory: report.json, CSV files, and the\n"
	"                           command's output, copied to DIR/stdout and DIR/stderr\n"
	"      --record             with -o: also DIR/events.tmr, every event, for 'tmigr report'\n"
	"      --force              replace the files of an earlier run in DIR; with --offline "
	"also\n"
	"                           take the last CPU of a class offline\n" CLASS_HELP
	"                           (else classes are made of CPUs with equal capacity)\n"
	"      --housekeeping CPU   where the tool itself runs (else where it matters least)\n"
	"      --kick               wake every CPU once before the window, so that all are known\n"
	"      --latency            also measure what idle costs and who ended it: entry cost, "
	"wake\n"
	"                           latency, causes of wake-ups. More is traced, at a cost; needs "
	"BPF\n"
	"      --no-timeline        idle states and remote expiries only, counted in the kernel:\n"
	"                           nothing is recorded, so who held the migrator is not known.\n"
	"                           The least that tracing can cost\n"
	"      --no-stats           do not measure what the tracing itself "
	"costs\n" SOURCE_HELP DAEMON_SOCKET_HELP DAEMON_NEVER_HELP
	"                           (as --housekeeping, --kick, --latency, --no-timeline,\n"
	"                           --no-stats and --source do)\n"
	"      --json               print the report as JSON (with -n: each run's); the command's\n"
	"                           standard output goes to standard error then\n" FAIL_IF_HELP
	"      --progress, --no-progress\n"
	"                           show the line with elapsed time and present migrator also on\n"
	"                           a terminal where COMMAND writes itself (that is without -o),\n"
	"                           or never (else: on one where it does not). It is shown on\n"
	"                           standard error, where that is a terminal\n"
	"  -h, --help               print this\n"
	"\n"
	"Several runs, beside a benchmark:\n"
	"  -n, --runs N             N runs one after the other, in DIR/run-1 ... DIR/run-N, each "
	"a\n"
	"                           run directory; at the end a table of them and their means\n"
	"  -l, --label LABEL        what is measured (a kernel, a setting): stands in the reports\n"
	"      --continue           with -n: go on where an earlier 'run -n' was interrupted, "
	"with\n"
	"                           the runs that are missing or were not finished. A run that\n"
	"                           failed stays (take its folder away to repeat it)\n"
	"      --settle SECONDS     wait so long before each run, so that the machine calms down;\n"
	"                           nothing of it is in the window\n"
	"      --warmup SECONDS     start COMMAND so long before the window: its first SECONDS "
	"are\n"
	"                           not in it (--metric is of the whole COMMAND, -d of the "
	"window)\n"
	"      --metric NAME|SPEC   take what COMMAND prints as numbers into the report, and to\n"
	"                           DIR/metrics.csv; may be repeated. NAME: perf-bench, tbench,\n"
	"                           schbench (text, or JSON by '-j -'), hackbench, cyclictest,\n"
	"                           stress-ng. SPEC: ID=REGEX[:UNIT][:higher|lower], a POSIX\n"
	"                           extended regular expression whose first group is the value,\n"
	"                           e.g. 'time=^Total: ([0-9.]+):s:lower'; where the expression\n"
	"                           itself ends in ':word', put a colon behind it. Needs -o\n"
	"      --offline CPUS       take CPUS (e.g. 5-7) offline for the runs, and online again\n"
	"                           after them, also after an error, an interrupt, or kill -9\n"
	"      --timer-migration on|off\n"
	"                           set kernel.timer_migration for the runs, likewise\n"
	"Where the machine has energy counters (powercap, hwmon), reports have joules.\n"
	"\n"
	"A run fails when COMMAND ends with a status other than 0 or by a signal (not by -d), or\n"
	"is interrupted: it is kept and marked, and left out of the means.\n"
	"\n"
	"Ctrl-C ends the window; the command is interrupted too, the report comes when it has\n"
	"ended; with -n no further run begins. A second Ctrl-C kills the command and stops at\n"
	"once, without a report; a run directory is then marked interrupted. SIGTERM and SIGHUP\n"
	"do as Ctrl-C (SIGINT).\n"
	"\n"
	"A daemon that ends ends the window: the command goes on to its end, the report and a\n"
	"recording are of what had come by then, a run directory is marked interrupted, and the\n"
	"exit status is 1.\n"
	"\n" FAIL_IF_FIGURES "\n"
	"Exit status: that of COMMAND (128 + signal when it was killed, 126 not executable, 127\n"
	"not found), with -n of the first run that failed; 130 when Ctrl-C interrupted it, or\n"
	"came twice; else, without COMMAND, and when -d ended it, 0 fine, 1 something failed, 2\n"
	"wrong usage, 3 an expression of --fail-if is true for a run that did not fail.\n";

enum {
	OPT_RECORD = 256,
	OPT_FORCE,
	OPT_CLASS,
	OPT_HOUSEKEEPING,
	OPT_KICK,
	OPT_LATENCY,
	OPT_NO_STATS,
	OPT_NO_TIMELINE,
	OPT_JSON,
	OPT_PROGRESS,
	OPT_NO_PROGRESS,
	OPT_RING_BYTES,
	OPT_CONTINUE,
	OPT_SETTLE,
	OPT_WARMUP,
	OPT_METRIC,
	OPT_OFFLINE,
	OPT_TIMER_MIGRATION,
	OPT_FAIL_IF,
	OPT_SYS_ROOT,
	OPT_SOURCE,
};

static const struct option options[] = {
	{"duration", required_argument, NULL, 'd'},
	{"output", required_argument, NULL, 'o'},
	{"runs", required_argument, NULL, 'n'},
	{"label", required_argument, NULL, 'l'},
	{"record", no_argument, NULL, OPT_RECORD},
	{"force", no_argument, NULL, OPT_FORCE},
	{"continue", no_argument, NULL, OPT_CONTINUE},
	{"settle", required_argument, NULL, OPT_SETTLE},
	{"warmup", required_argument, NULL, OPT_WARMUP},
	{"metric", required_argument, NULL, OPT_METRIC},
	{"offline", required_argument, NULL, OPT_OFFLINE},
	{"timer-migration", required_argument, NULL, OPT_TIMER_MIGRATION},
	{"fail-if", required_argument, NULL, OPT_FAIL_IF},
	{"class", required_argument, NULL, OPT_CLASS},
	{"housekeeping", required_argument, NULL, OPT_HOUSEKEEPING},
	{"source", required_argument, NULL, OPT_SOURCE},
	{"kick", no_argument, NULL, OPT_KICK},
	{"latency", no_argument, NULL, OPT_LATENCY},
	{"no-stats", no_argument, NULL, OPT_NO_STATS},
	{"no-timeline", no_argument, NULL, OPT_NO_TIMELINE},
	{"json", no_argument, NULL, OPT_JSON},
	{"progress", no_argument, NULL, OPT_PROGRESS},
	{"no-progress", no_argument, NULL, OPT_NO_PROGRESS},
	{"ring-bytes", required_argument, NULL, OPT_RING_BYTES}, /* for tests */
	{"sys-root", required_argument, NULL, OPT_SYS_ROOT},	 /* for tests */
	DAEMON_SOCKET_OPTION,
	DAEMON_NEVER_OPTION,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int no_memory(void)
{
	return tool_error("run", "out of memory");
}

static int parse_seconds(const char *option, __u64 *ret_ns)
{
	if (!arg_seconds(optarg, ret_ns))
		return 0;
	return tool_usage("run",
			  "%s: '%s' is not a time above 0 in seconds, such as 90 or 0.25 (no "
			  "exponent, at most 100 years)",
			  option, optarg);
}

/* The label stands in tables and file names of those who compare. */
static int parse_label(struct run_opts *o)
{
	json_t *utf8 = json_string(optarg);
	const char *p;

	if (!utf8)
		return tool_usage("run", "-l: the label '%s' is not UTF-8", optarg);
	json_decref(utf8);
	for (p = optarg; *p; p++)
		if (iscntrl((unsigned char)*p) || *p == '/')
			return tool_usage("run",
					  "-l: the label '%s' has a slash or a control character",
					  optarg);
	if (!*optarg || strlen(optarg) > 100)
		return tool_usage("run", "-l: the label is %s",
				  *optarg ? "longer than 100 bytes" : "empty");
	o->label = optarg;
	return 0;
}

static int parse_metric(struct run_opts *o)
{
	struct tmigr_err err = {""};
	const char *const *name;
	char known[128] = "";
	int ret;

	if (!o->metrics)
		o->metrics = tmigr_metrics_new();
	if (!o->metrics || arg_list_add(&o->metric_specs, optarg))
		return no_memory();
	ret = tmigr_metrics_add(o->metrics, optarg, &err);
	if (!ret)
		return 0;
	if (strchr(optarg, '='))
		return tool_usage("run", "--metric: %s", err.text);
	for (name = tmigr_metrics_known(); *name; name++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 *known ? ", " : "", *name);
	return tool_usage("run", "--metric: %s (known: %s)", err.text, known);
}

static int parse_offline(struct run_opts *o)
{
	struct tmigr_err err = {""};

	free(o->offline);
	o->offline = NULL;
	if (tmigr_cpulist_parse(optarg, &o->offline, &o->n_offline, &err) < 0)
		return tool_usage("run", "--offline: %s", err.text);
	if (!o->n_offline)
		return tool_usage("run", "--offline: the list of CPUs is empty");
	o->offline_text = optarg;
	return 0;
}

static int parse_timer_migration(struct run_opts *o)
{
	if (strcmp(optarg, "on") && strcmp(optarg, "off"))
		return tool_usage("run", "--timer-migration: on or off, not '%s'", optarg);
	o->timer_migration = !strcmp(optarg, "on");
	return 0;
}

static int parse_fail_if(struct run_opts *o)
{
	int ret = fail_if_check("run", optarg);

	if (!ret && arg_list_add(&o->fail_if, optarg))
		ret = no_memory();
	return ret;
}

/* Options of several runs; -1: another one. */
static int parse_series(struct run_opts *o, int c)
{
	switch (c) {
	case 'n':
		if (arg_number(optarg, 1, 100000, &o->n))
			return tool_usage("run", "-n: '%s' is no number of runs from 1 on", optarg);
		return 0;
	case 'l':
		return parse_label(o);
	case OPT_SETTLE:
		return parse_seconds("--settle", &o->settle_ns);
	case OPT_WARMUP:
		return parse_seconds("--warmup", &o->warmup_ns);
	case OPT_METRIC:
		return parse_metric(o);
	case OPT_OFFLINE:
		return parse_offline(o);
	case OPT_TIMER_MIGRATION:
		return parse_timer_migration(o);
	case OPT_FAIL_IF:
		return parse_fail_if(o);
	default:
		return -1;
	}
}

/* Options with a value.  0, or the exit code with the error told. */
static int parse_value(struct run_opts *o, int c)
{
	unsigned long n;
	int ret = parse_series(o, c);

	if (ret >= 0)
		return ret;
	switch (c) {
	case 'd':
		return parse_seconds("-d", &o->duration_ns);
	case 'o':
		if (!*optarg)
			return tool_usage("run", "-o: the name of the folder is empty");
		o->dir = optarg;
		return 0;
	case OPT_CLASS:
		return arg_list_add(&o->classes, optarg) ? no_memory() : 0;
	case OPT_HOUSEKEEPING:
		if (arg_number(optarg, 0, TMIGR_CPU_MAX, &n))
			return tool_usage("run", "--housekeeping: '%s' is no CPU number", optarg);
		o->housekeeping = (int)n;
		return 0;
	case OPT_SOURCE:
		return arg_source("run", optarg, &o->source);
	case OPT_SYS_ROOT:
		o->sys_root = optarg;
		return 0;
	default:
		if (arg_number(optarg, 1, 1UL << 30, &n))
			return tool_usage("run", "--ring-bytes: '%s' is no size", optarg);
		o->ring_bytes = n;
		return 0;
	}
}

static bool parse_flag(struct run_opts *o, int c)
{
	switch (c) {
	case OPT_RECORD:
		o->record = true;
		return true;
	case OPT_FORCE:
		o->force = true;
		return true;
	case OPT_CONTINUE:
		o->go_on = true;
		return true;
	case OPT_KICK:
		o->kick = true;
		return true;
	case OPT_LATENCY:
		o->latency = true;
		return true;
	case OPT_NO_STATS:
		o->no_stats = true;
		return true;
	case OPT_NO_TIMELINE:
		o->no_timeline = true;
		return true;
	case OPT_JSON:
		o->json = true;
		return true;
	case OPT_PROGRESS:
	case OPT_NO_PROGRESS:
		o->progress = c == OPT_PROGRESS;
		return true;
	default:
		return false;
	}
}

/* Which options need which others.  0, or the exit code with the error told. */
int run_opts_check(const struct run_opts *o)
{
	if (o->command && !*o->command[0])
		return tool_usage("run", "the command's name is empty");
	if (o->record && !o->dir)
		return tool_usage("run", "--record needs -o DIR to write to");
	if (o->no_timeline && o->record)
		return tool_usage("run", "--no-timeline records nothing: not with --record");
	if (o->no_timeline && o->source == TMIGR_SOURCE_FTRACE)
		return tool_usage("run", "--no-timeline counts with BPF programs: not with "
					 "--source ftrace");
	if (o->force && !o->dir && !o->n_offline && !o->cycle)
		return tool_usage("run", "--force needs -o DIR to replace");
	if (o->n && !o->dir)
		return tool_usage("run", "-n needs -o DIR, where DIR/run-1 and so on are made");
	if (o->n && !o->command && !o->duration_ns)
		return tool_usage("run", "-n needs a COMMAND, or -d: what ends each run?");
	if (o->go_on && !o->n)
		return tool_usage("run", "--continue needs -n: how many runs are there to be?");
	if (o->go_on && o->force)
		return tool_usage("run", "--continue keeps what is there, --force replaces it: one "
					 "of them");
	if (o->warmup_ns && !o->command)
		return tool_usage("run", "--warmup needs a COMMAND to start before the window");
	if (o->metrics && !o->command)
		return tool_usage("run", "--metric needs a COMMAND that prints something");
	if (o->metrics && !o->dir)
		return tool_usage("run", "--metric needs -o DIR: what the command prints is read "
					 "from its copy there");
	return 0;
}

int run_opts_named(struct run_opts *o, const char *name)
{
	const struct option *opt = options;

	while (strcmp(opt->name, name))
		opt++;
	return parse_flag(o, opt->val) ? 0 : parse_value(o, opt->val);
}

void run_opts_init(struct run_opts *o)
{
	*o = (struct run_opts){.housekeeping = -1, .progress = -1, .timer_migration = -1};
}

int run_opts_parse(struct run_opts *o, int argc, char **argv)
{
	int c, ret;

	while ((c = getopt_long(argc, argv, "+:d:o:n:l:h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("run", help);
		if (c == '?' || c == ':')
			return tool_bad_option("run", c, argv);
		if (parse_flag(o, c))
			continue;
		if (!daemon_option(&o->daemon, "run", c, &ret))
			ret = parse_value(o, c);
		if (ret)
			return ret;
	}
	if (optind < argc)
		o->command = argv + optind;
	ret = run_opts_check(o);
	if (!ret)
		ret = daemon_check_options(&o->daemon, "run");
	return ret ? ret : -1;
}

void run_opts_free(struct run_opts *o)
{
	arg_list_free(&o->classes);
	arg_list_free(&o->metric_specs);
	arg_list_free(&o->fail_if);
	tmigr_metrics_free(o->metrics);
	free(o->offline);
}
