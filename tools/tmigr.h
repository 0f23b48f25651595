/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the verbs of `tmigr` share.  One file a verb (tools/VERB.c, more when it
 * needs room: tools/VERB_part.c); main.c holds the table.
 */
#ifndef TMIGR_TOOL_H
#define TMIGR_TOOL_H

#include <stdbool.h>

/* Exit codes; `run` passes its command's own status on besides. */
#define TMIGR_EXIT_OK	 0
#define TMIGR_EXIT_ERROR 1
#define TMIGR_EXIT_USAGE 2

/*
 * A verb.  run() gets argv[0] = the verb's full name, handles --help itself
 * (stdout, exit 0) and returns the exit code.
 */
struct verb {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

int verb_run(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_compare(int argc, char **argv);
int verb_hotplug(int argc, char **argv);
int verb_export(int argc, char **argv);
int verb_import(int argc, char **argv);
int verb_tree(int argc, char **argv);
int verb_top(int argc, char **argv);
int verb_metrics(int argc, char **argv);
int verb_status(int argc, char **argv);
int verb_mark(int argc, char **argv);
int verb_dump(int argc, char **argv);
int verb_doctor(int argc, char **argv);

/*
 * One line to stderr, "tmigr VERB: ...".  @verb NULL: "tmigr: ...".  Returns
 * TMIGR_EXIT_ERROR, so that `return tool_error(...)` is the whole error path.
 */
int tool_error(const char *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same with the hint "(see 'tmigr VERB --help')"; returns TMIGR_EXIT_USAGE. */
int tool_usage(const char *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The parts of `run` tell their errors in the name of @verb, which is made of them. */
void tool_speak_as(const char *verb);

/*
 * For the '?' and ':' of getopt_long() (opterr = 0, option string starting with
 * ':' or "+:"): says which option was wrong, returns TMIGR_EXIT_USAGE.
 */
int tool_bad_option(const char *verb, int c, char **argv);

/* Prints a verb's help, flushes; TMIGR_EXIT_OK, or an error when stdout fails. */
int tool_help(const char *verb, const char *text);

/* Takes the user's locale (characters only): may text be UTF-8? */
bool tool_utf8(void);

/* Flushes stdout and says so when it failed (disk full, closed pipe). */
int tool_flush(const char *verb);

#endif
