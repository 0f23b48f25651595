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
#include "tmigr/info.h"

static const char help[] =
	"Usage: tmigr doctor [OPTION...]\n"
	"\n"
	"Says what this kernel and this user can and cannot do for tmigr, one line each:\n"
	"ok, note (the report reads differently), or FAIL (the main job does not work),\n"
	"with what to do about it. Changes nothing.\n"
	"\n"
	"      --json   an array of {name, state, text, remedy}; state: ok, note, fail. Where\n"
	"               something fails, but a daemon answers, the last one is \"daemon\", ok\n"
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

static int append(json_t *array, const struct tmigr_check *c)
{
	return json_array_append_new(array,
				     json_pack("{s:s, s:s, s:o, s:s}", "name", c->name, "state",
					       json_states[c->state], "text",
					       tmigr_json_text(c->text), "remedy", c->remedy));
}

/* @d: that is why the exit status is 0 all the same; NULL. */
static int print_json(const struct tmigr_check *checks, size_t n, const struct daemon *d)
{
	struct tmigr_check served = {.name = "daemon", .state = TMIGR_CHECK_OK};
	json_t *array = json_array();
	int r = array ? 0 : -1;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = append(array, &checks[i]);
	if (d)
		snprintf(served.text, sizeof(served.text),
			 "tmigrd answers at %s, and run, tree and top ask it", d->path);
	if (r == 0 && d)
		r = append(array, &served);
	if (r == 0)
		r = json_dumpf(array, stdout, JSON_INDENT(2));
	if (r == 0)
		putchar('\n');
	json_decref(array);
	return r;
}

/* The daemon that does the main job for one who may not; or NULL.  (Where it is silent this
 * takes a while, so it is asked only then.) */
static struct daemon *who_serves(void)
{
	const struct daemon_opts opts = {0};
	struct daemon *d = NULL;
	struct tmigr_err err;

	return daemon_need(&opts, &d, &err) < 0 ? NULL : d;
}

int verb_doctor(int argc, char **argv)
{
	struct tmigr_check *checks;
	struct daemon *d = NULL;
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
	if (!json)
		print_text(checks, n);
	if (fails)
		d = who_serves();
	if (json)
		r = print_json(checks, n, d);
	else if (d)
		printf("But tmigrd does it: it answers at %s, and run, tree and top ask it.\n",
		       d->path);
	free(checks);
	if (d)
		fails = 0;
	daemon_close(d);
	if (tool_flush("doctor") != TMIGR_EXIT_OK)
		return TMIGR_EXIT_ERROR;
	if (r < 0)
		return tool_error("doctor", "no memory for the answer");
	return fails ? TMIGR_EXIT_ERROR : TMIGR_EXIT_OK;
}
