// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr run: traces while a command runs, and reports. */
#include "run.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	"                           the ns (a little later where a daemon measures); with a\n"
	"                           COMMAND, whichever ends first: it then gets SIGTERM, and\n"
	"                           SIGKILL 2 s later\n"
	"  -o, --output DIR         also write a run directory: report.json, CSV files, and the\n"
	"                           command's output, copied to DIR/stdout and DIR/stderr\n"
	"      --record             with -o: also DIR/events.tmr, every event, for 'tmigr report'\n"
	"      --force              replace the files of an earlier run in DIR\n"
	"      --class NAME=CPUS    name a class of CPUs, e.g. --class LITTLE=0-3; may be "
	"repeated\n"
	"                           (else classes are made of CPUs with equal capacity)\n"
	"      --housekeeping CPU   where the tool itself runs (else where it matters least)\n"
	"      --kick               wake every CPU once before the window, so that all are known\n"
	"      --no-stats           do not measure what the tracing itself "
	"costs\n" SOURCE_HELP DAEMON_SOCKET_HELP DAEMON_NEVER_HELP
	"                           (as --housekeeping, --kick, --no-stats and --source do)\n"
	"      --json               print the report as JSON; the command's standard output goes\n"
	"                           to standard error then\n"
	"      --progress, --no-progress\n"
	"                           show the line with elapsed time and present migrator always,\n"
	"                           or never (else: on a terminal, unless COMMAND writes there\n"
	"                           itself, that is without -o)\n"
	"  -h, --help               print this\n"
	"\n"
	"Ctrl-C ends the window; the command is interrupted too, the report comes when it has\n"
	"ended. A second Ctrl-C kills the command and stops at once, without a report; a run\n"
	"directory is then marked interrupted. SIGTERM and SIGHUP do as Ctrl-C (SIGINT).\n"
	"\n"
	"A daemon that ends ends the window: the command goes on to its end, the report and a\n"
	"recording are of what had come by then, a run directory is marked interrupted, and the\n"
	"exit status is 1.\n"
	"\n"
	"Exit status: that of COMMAND (128 + signal when it was killed, 126 not executable, 127\n"
	"not found); 130 when Ctrl-C interrupted it, or came twice; else, and without COMMAND,\n"
	"0 fine, 1 something failed, 2 wrong usage.\n";

enum {
	OPT_RECORD = 256,
	OPT_FORCE,
	OPT_CLASS,
	OPT_HOUSEKEEPING,
	OPT_KICK,
	OPT_NO_STATS,
	OPT_JSON,
	OPT_PROGRESS,
	OPT_NO_PROGRESS,
	OPT_RING_BYTES,
	OPT_SOURCE,
};

static const struct option options[] = {
	{"duration", required_argument, NULL, 'd'},
	{"output", required_argument, NULL, 'o'},
	{"record", no_argument, NULL, OPT_RECORD},
	{"force", no_argument, NULL, OPT_FORCE},
	{"class", required_argument, NULL, OPT_CLASS},
	{"housekeeping", required_argument, NULL, OPT_HOUSEKEEPING},
	{"kick", no_argument, NULL, OPT_KICK},
	{"no-stats", no_argument, NULL, OPT_NO_STATS},
	{"json", no_argument, NULL, OPT_JSON},
	{"progress", no_argument, NULL, OPT_PROGRESS},
	{"no-progress", no_argument, NULL, OPT_NO_PROGRESS},
	{"ring-bytes", required_argument, NULL, OPT_RING_BYTES}, /* for tests */
	{"source", required_argument, NULL, OPT_SOURCE},
	DAEMON_SOCKET_OPTION,
	DAEMON_NEVER_OPTION,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Options with a value.  0, or the exit code with the error told. */
static int parse_value(struct run_opts *o, int c)
{
	unsigned long n;

	switch (c) {
	case 'd':
		if (arg_seconds(optarg, &o->duration_ns))
			return tool_usage("run",
					  "-d: '%s' is not a time above 0 in seconds, such as "
					  "90 or 0.25 (no exponent, at most 100 years)",
					  optarg);
		return 0;
	case 'o':
		if (!*optarg)
			return tool_usage("run", "-o: the name of the folder is empty");
		o->dir = optarg;
		return 0;
	case OPT_CLASS:
		if (arg_list_add(&o->classes, optarg))
			return tool_error("run", "out of memory");
		return 0;
	case OPT_SOURCE:
		if (arg_source(optarg, &o->source))
			return tool_usage("run", "--source: '%s' is none of bpf, ftrace, auto",
					  optarg);
		return 0;
	case OPT_HOUSEKEEPING:
		if (arg_number(optarg, 0, TMIGR_CPU_MAX, &n))
			return tool_usage("run", "--housekeeping: '%s' is no CPU number", optarg);
		o->housekeeping = (int)n;
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
	case OPT_KICK:
		o->kick = true;
		return true;
	case OPT_NO_STATS:
		o->no_stats = true;
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

/* -1 to go on, else the exit code. */
static int parse(struct run_opts *o, int argc, char **argv)
{
	int c, ret;

	while ((c = getopt_long(argc, argv, "+:d:o:h", options, NULL)) != -1) {
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
	if (o->command && !*o->command[0])
		return tool_usage("run", "the command's name is empty");
	if (o->record && !o->dir)
		return tool_usage("run", "--record needs -o DIR to write to");
	if (o->force && !o->dir)
		return tool_usage("run", "--force needs -o DIR to replace");
	ret = daemon_check_options(&o->daemon, "run");
	return ret ? ret : -1;
}

static int start_command(struct session *s, struct child *child, const struct signals *sig)
{
	const struct run_opts *o = s->opts;
	struct child_setup setup = {
		.command = o->command,
		.signals = sig,
		.housekeeping = &s->housekeeping,
		.files = {-1, -1},
		.out_to_err = o->json,
	};

	if (!o->command)
		return 0;
	if (s->dir) {
		setup.files[0] = session_output_file(s, "stdout");
		if (setup.files[0] < 0)
			return TMIGR_EXIT_ERROR;
		setup.files[1] = session_output_file(s, "stderr");
		if (setup.files[1] < 0) {
			close(setup.files[0]);
			return TMIGR_EXIT_ERROR;
		}
	}
	return child_start(child, &setup);
}

/* The window, then the command in it.  When one cannot be, nothing stays in DIR. */
static int begin(struct session *s, struct child *child, const struct signals *sig)
{
	int ret = session_start(s);

	if (!ret)
		ret = start_command(s, child, sig);
	if (ret)
		session_discard(s);
	return ret;
}

/* A copy that could not be written (disk full) is told once, at the end. */
static void check_copies(struct session *s, const struct child *child)
{
	static const char *const names[] = {"stdout", "stderr"};
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!child->streams[i].file_errno)
			continue;
		tool_error("run", "the command's %s is incomplete in %s: %s", names[i],
			   s->opts->dir, strerror(child->streams[i].file_errno));
		s->failed = TMIGR_EXIT_ERROR;
	}
}

static int stopped(const struct session *s)
{
	if (s->dir)
		tool_error("run", "stopped at once; %s is marked interrupted", s->opts->dir);
	else
		tool_error("run", "stopped at once, without a report");
	return 128 + SIGINT;
}

/* From the window's start to the exit code. */
static int trace(struct session *s, struct child *child, struct signals *sig)
{
	struct loop l = {.session = s, .child = child, .signals = sig};
	bool interrupted;
	__u64 end_ns;
	int ret;

	if (s->opts->duration_ns)
		l.deadline_ns = s->start_ns + s->opts->duration_ns;
	progress_init(&l.progress, s->opts);
	end_ns = loop_window(&l);
	interrupted = l.interrupts && child->pid;
	ret = l.failed ? l.failed : session_stop(s, end_ns);
	loop_end(&l, l.interrupts || l.failed ? 0 : SIGTERM);
	child_close(child);
	if (loop_stopped(&l))
		return stopped(s);
	if (ret && !*s->remote.gone)
		return ret;
	check_copies(s, child);
	ret = session_report(s, child->pid ? child_exit_code(child) : -1, interrupted);
	if (*s->remote.gone)
		return TMIGR_EXIT_ERROR;
	if (interrupted)
		return 128 + l.signal;
	if (child->pid && child_exit_code(child))
		return child_exit_code(child);
	return ret;
}

int verb_run(int argc, char **argv)
{
	struct run_opts opts = {.housekeeping = -1, .progress = -1};
	struct session session;
	struct signals signals;
	struct child child;
	int ret;

	ret = parse(&opts, argc, argv);
	if (ret >= 0) {
		arg_list_free(&opts.classes);
		return ret;
	}
	child_init(&child);
	memset(&session, 0, sizeof(session));
	/* First: whatever interrupts from here on finds the run directory tidy. */
	ret = signals_take(&signals);
	if (!ret)
		ret = session_open(&session, &opts);
	if (!ret)
		ret = begin(&session, &child, &signals);
	if (!ret)
		ret = trace(&session, &child, &signals);
	child_close(&child);
	session_close(&session);
	arg_list_free(&opts.classes);
	return ret;
}
