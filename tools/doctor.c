// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr doctor: what this kernel and user can and cannot do. */
#include "tmigr.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon.h"
#include "tmigr/features.h"

static const char help[] =
	"Usage: tmigr doctor [OPTION...]\n"
	"\n"
	"Says what this kernel and this user can and cannot do for tmigr, one line each:\n"
	"ok, note (the report reads differently), or FAIL (the main job does not work),\n"
	"with what to do about it. Changes nothing.\n"
	"\n"
	"      --json   an array of {name, state, text, remedy}; state: ok, note, fail\n"
	"  -h, --help   print this\n"
	"\n"
	"Exit status: 0 the main job works here, or a daemon that answers does it; 1 it does "
	"not,\n"
	"2 wrong usage.\n";

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char *const json_states[] = {
	[TMIGR_CHECK_OK] = "ok",
	[TMIGR_CHECK_NOTE] = "note",
	[TMIGR_CHECK_FAIL] = "fail",
};

static void print_text(const struct tmigr_check *checks, size_t n)
{
	static const char *const words[] = {
		[TMIGR_CHECK_OK] = "ok",
		[TMIGR_CHECK_NOTE] = "note",
		[TMIGR_CHECK_FAIL] = "FAIL",
	};
	const char *before = "The main job does not work here: see ";

	for (size_t i = 0; i < n; i++)
		printf("%-4s  %-17s  %s%s%s\n", words[checks[i].state], checks[i].name,
		       checks[i].text, checks[i].remedy[0] ? ". Remedy: " : "", checks[i].remedy);
	for (size_t i = 0; i < n; i++) {
		if (checks[i].state != TMIGR_CHECK_FAIL)
			continue;
		printf("%s%s", before, checks[i].name);
		before = ", ";
	}
	puts(before[0] == ',' ? "." : "The main job works here.");
}

static int print_json(const struct tmigr_check *checks, size_t n)
{
	json_t *array = json_array();
	int r = array ? 0 : -1;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = json_array_append_new(array,
					  json_pack("{s:s, s:s, s:s, s:s}", "name", checks[i].name,
						    "state", json_states[checks[i].state], "text",
						    checks[i].text, "remedy", checks[i].remedy));
	if (r == 0)
		r = json_dumpf(array, stdout, JSON_INDENT(2));
	if (r == 0)
		putchar('\n');
	json_decref(array);
	return r;
}

/* Does the daemon the main job for one who may not?  (Where it is silent this takes a while,
 * so it is asked only then.) */
static bool daemon_serves(bool json)
{
	const struct daemon_opts opts = {0};
	struct daemon *d = NULL;
	struct tmigr_err err;

	if (daemon_need(&opts, &d, &err) < 0)
		return false;
	if (!json)
		printf("But tmigrd does it: it answers at %s, and run, tree and top ask it.\n",
		       d->path);
	daemon_close(d);
	return true;
}

int verb_doctor(int argc, char **argv)
{
	struct tmigr_check *checks;
	bool json = false;
	int c, fails, r = 0;
	size_t n;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("doctor", help);
		if (c != 'j')
			return tool_bad_option("doctor", c, argv);
		json = true;
	}
	if (optind < argc)
		return tool_usage("doctor", "unexpected argument '%s'", argv[optind]);
	fails = tmigr_doctor(&checks, &n);
	if (fails < 0)
		return tool_error("doctor", "%s", strerror(-fails));
	if (json)
		r = print_json(checks, n);
	else
		print_text(checks, n);
	free(checks);
	if (fails && daemon_serves(json))
		fails = 0;
	if (tool_flush("doctor") != TMIGR_EXIT_OK)
		return TMIGR_EXIT_ERROR;
	if (r < 0)
		return tool_error("doctor", "no memory for the answer");
	return fails ? TMIGR_EXIT_ERROR : TMIGR_EXIT_OK;
}
