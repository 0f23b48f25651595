// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr: the table of verbs, and what they share. */
#include "version.h"
#include "tmigr.h"
#include "tmigr/compare.h"
#include "tmigr/perfetto.h"
#include "tmigr/recording.h"
#include "top.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <jansson.h>

static int verb_help(int argc, char **argv);

static const struct verb verbs[] = {
	{"run", "trace while a command runs (or for some seconds) and report", verb_run},
	{"report", "print the report of a run directory or recording again", verb_report},
	{"compare", "compare labelled runs, with the uncertainty of each difference", verb_compare},
	{"hotplug", "show what takes the time as CPUs come up and go down", verb_hotplug},
	{"export", "write runs as CSV, JSON, Perfetto trace or OpenMetrics", verb_export},
	{"import", "make a run directory from a trace that another tool made", verb_import},
	{"tree", "show the timer-migration hierarchy as it is now", verb_tree},
	{"top", "show CPUs, migrators and idle states live", verb_top},
	{"status", "show how the daemon is", verb_status},
	{"mark", "name this instant in the reports and recordings of the daemon", verb_mark},
	{"dump", "save the last minutes that the daemon remembers", verb_dump},
	{"metrics", "print what a running tmigrd counted, as OpenMetrics text", verb_metrics},
	{"doctor", "say what this kernel and user can and cannot do", verb_doctor},
	{"help", "explain a verb", verb_help},
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const char *speaker; /* in whose name `run` speaks; NULL: its own */

void tool_speak_as(const char *verb)
{
	speaker = verb;
}

static const char *in_the_name_of(const char *verb)
{
	return speaker && verb && !strcmp(verb, "run") ? speaker : verb;
}

static void complain(const char *verb, const char *hint, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/*
 * One write to stderr, so that the line stays whole beside a command's output.
 * A name from outside may hold anything: it must not break the line, nor talk to
 * the terminal.
 */
static void complain(const char *verb, const char *hint, const char *fmt, va_list ap)
{
	char *text, *p;

	verb = in_the_name_of(verb);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	for (p = text; p && *p; p++)
		if (iscntrl((unsigned char)*p))
			*p = '?';
	fflush(stdout);
	fprintf(stderr, "tmigr%s%s: %s%s\n", verb ? " " : "", verb ? verb : "",
		text ? text : "out of memory", hint);
	free(text);
}

int tool_error(const char *verb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(verb, "", fmt, ap);
	va_end(ap);
	return TMIGR_EXIT_ERROR;
}

int tool_usage(const char *verb, const char *fmt, ...)
{
	char hint[64];
	va_list ap;

	verb = in_the_name_of(verb);
	snprintf(hint, sizeof(hint), " (see 'tmigr %s%s--help')", verb ? verb : "",
		 verb ? " " : "");
	va_start(ap, fmt);
	complain(verb, hint, fmt, ap);
	va_end(ap);
	return TMIGR_EXIT_USAGE;
}

int tool_bad_option(const char *verb, int c, char **argv)
{
	const char *word = argv[optind - 1];

	/* Of a cluster of short options getopt only tells the letter. */
	if (optopt && strncmp(word, "--", 2)) {
		if (c == ':')
			return tool_usage(verb, "option '-%c' needs a value", optopt);
		return tool_usage(verb, "unknown option '-%c'", optopt);
	}
	if (c == ':')
		return tool_usage(verb, "option '%s' needs a value", word);
	if (optopt)
		return tool_usage(verb, "option '%.*s' takes no value", (int)strcspn(word, "="),
				  word);
	return tool_usage(verb, "unknown or ambiguous option '%s'", word);
}

int tool_flush(const char *verb)
{
	if (fflush(stdout) || ferror(stdout))
		return tool_error(verb, "cannot write to standard output: %s", strerror(errno));
	return TMIGR_EXIT_OK;
}

int tool_help(const char *verb, const char *text)
{
	fputs(text, stdout);
	return tool_flush(verb);
}

bool tool_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static int print_usage(void)
{
	size_t i;

	printf("Usage: tmigr VERB [OPTION...] [ARGUMENT...]\n"
	       "\n"
	       "Traces what the timer-migration hierarchy and the cpuidle states of a machine do,\n"
	       "and says whether a big CPU holds the global timer migrator, and for how long.\n"
	       "\n"
	       "Verbs:\n");
	for (i = 0; i < N_VERBS; i++)
		printf("  %-8s %s\n", verbs[i].name, verbs[i].summary);
	printf("\n"
	       "A verb may be shortened as long as it is unambiguous. 'tmigr VERB --help' "
	       "explains\n"
	       "one; 'tmigr --version' names the version and the libraries that are built in.\n"
	       "\n"
	       "Exit status: 0 fine, 1 error, 2 wrong usage, 3 a --fail-if is true; 'run' passes "
	       "its\n"
	       "command's status on.\n");
	return tool_flush(NULL);
}

static int print_version(void)
{
	const char *curses = top_screen_version(), *perfetto = tmigr_perfetto_library();
	const char *statistics = tmigr_compare_statistics(), *zstd = tmigr_recording_library();

	printf("tmigr %s\n", TMIGR_VERSION);
	printf("libbpf %u.%u, jansson %s, %s%s, %s%s, %s, %s%s\n", libbpf_major_version(),
	       libbpf_minor_version(), jansson_version_str(),
	       zstd ? "zstd " : "no zstd (recordings: only uncompressed)", zstd ? zstd : "",
	       curses ? "ncurses " : "no ncurses (top: only --once)", curses ? curses : "",
	       statistics ? statistics : "no GSL (compare: no intervals, no tests)",
	       perfetto ? "protobuf-c " : "no protobuf-c (export: no Perfetto traces)",
	       perfetto ? perfetto : "");
#ifdef TMIGR_TRACECMD
	puts("libtracecmd (trace.dat)");
#else
	puts("no libtracecmd (no trace.dat)");
#endif
	return tool_flush(NULL);
}

/* The verb that @name names or abbreviates; else NULL, with the error told. */
static const struct verb *find_verb(const char *name)
{
	const struct verb *found = NULL;
	char others[128] = "";
	size_t i, n = 0;

	for (i = 0; i < N_VERBS; i++) {
		if (strncmp(verbs[i].name, name, strlen(name)))
			continue;
		if (!verbs[i].name[strlen(name)])
			return &verbs[i];
		snprintf(others + strlen(others), sizeof(others) - strlen(others), "%s%s",
			 n ? ", " : "", verbs[i].name);
		found = &verbs[i];
		n++;
	}
	if (n == 1)
		return found;
	if (n && *name)
		tool_usage(NULL, "verb '%s' is ambiguous: %s", name, others);
	else
		tool_usage(NULL, "unknown verb '%s'", name);
	return NULL;
}

static int call_verb(const struct verb *verb, int argc, char **argv)
{
	argv[0] = (char *)verb->name;
	opterr = 0;
	optind = 1;
	return verb->run(argc, argv);
}

static int verb_help(int argc, char **argv)
{
	char help[] = "--help";
	char *args[] = {NULL, help, NULL};
	const struct verb *verb;

	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_usage();
	if (argv[1][0] == '-')
		return tool_usage("help", "unknown option '%s'", argv[1]);
	if (argc > 2)
		return tool_usage("help", "one verb at a time, not also '%s'", argv[2]);
	verb = find_verb(argv[1]);
	if (!verb)
		return TMIGR_EXIT_USAGE;
	if (verb->run == verb_help)
		return print_usage();
	return call_verb(verb, 2, args);
}

/*
 * Started with a standard descriptor closed, the first file opened would get its
 * number, and output or error lines would end up in it.
 */
static void occupy_std_fds(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			exit(TMIGR_EXIT_ERROR);
}

int main(int argc, char **argv)
{
	const struct verb *verb;

	occupy_std_fds();
	if (argc < 2) {
		tool_usage(NULL, "no verb given: run, report, compare, export, import, tree, top, "
				 "status, mark, dump, metrics, doctor or help");
		return TMIGR_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_usage();
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version();
	if (argv[1][0] == '-')
		return tool_usage(NULL, "unknown option '%s'", argv[1]);
	verb = find_verb(argv[1]);
	if (!verb)
		return TMIGR_EXIT_USAGE;
	return call_verb(verb, argc - 1, argv + 1);
}
