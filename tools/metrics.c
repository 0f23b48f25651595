// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr metrics: the daemon's totals as OpenMetrics text. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include <jansson.h>

#include "daemon.h"
#include "output.h"
#include "print.h"
#include "tmigr.h"

static const char help[] =
	"Usage: tmigr metrics [OPTION...]\n"
	"\n"
	"Prints what a running tmigrd counted since its start as OpenMetrics text: seconds per\n"
	"CPU and idle state, global migrator, remote expiries, lost records.\n"
	"\n"
	"  -o, --output FILE        write FILE, by renaming a whole new one into its place: for\n"
	"                           the textfile collector of node_exporter "
	"(*.prom)\n" DAEMON_SOCKET_HELP "  -h, --help               print this\n"
	"\n"
	"Exit status: 0 fine, 1 error (also: no daemon), 2 wrong usage.\n";

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	DAEMON_SOCKET_OPTION,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

int tool_ask_metrics(const char *verb, const struct daemon_opts *opts, json_t **ret)
{
	struct tmigr_err err = {""};
	struct daemon *d = NULL;
	json_t *reply = NULL;
	int r = daemon_need(opts, &d, &err);

	if (r == 0)
		r = daemon_call(d, "Metrics", NULL, &reply, &err);
	if (r == 0 && !json_is_string(json_object_get(reply, "text")))
		r = tmigr_fail(&err, -EPROTO, "%s: not a tmigrd's answer: it holds no text",
			       d->path);
	daemon_close(d);
	if (r < 0) {
		json_decref(reply);
		return tool_error(verb, "%s", err.text);
	}
	*ret = reply;
	return 0;
}

int verb_metrics(int argc, char **argv)
{
	struct daemon_opts daemon = {0};
	const char *output = NULL, *text;
	struct output out;
	json_t *reply;
	int c, ret;

	while ((c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("metrics", help);
		else if (c == 'o')
			output = optarg;
		else if (!daemon_option(&daemon, "metrics", c, &ret))
			return tool_bad_option("metrics", c, argv);
		else if (ret)
			return ret;
	}
	if (optind < argc)
		return tool_usage("metrics", "takes no argument, but got '%s'", argv[optind]);
	ret = tool_ask_metrics("metrics", &daemon, &reply);
	if (ret)
		return ret;
	text = json_string_value(json_object_get(reply, "text"));
	output_signals();
	ret = output_open(&out, "metrics", output);
	if (!ret) {
		fputs(text, out.file);
		ret = output_finish(&out, 0);
	}
	json_decref(reply);
	return ret;
}
