// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr metrics: the daemon's totals as OpenMetrics text. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "daemon.h"
#include "output.h"
#include "print.h"
#include "tmigr.h"
#include "tmigr/varlink.h"

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

int tool_ask_metrics(const char *verb, const char *socket, json_t **ret)
{
	struct tmigr_varlink *v;
	struct tmigr_err err = {""};
	json_t *reply;
	int r;

	if (tmigr_varlink_connect(socket, &v, &err) < 0)
		return tool_error(verb, "%s", err.text);
	r = tmigr_varlink_call(v, TMIGR_INTERFACE ".Metrics", NULL, &reply, &err);
	tmigr_varlink_close(v);
	if (r < 0)
		return tool_error(verb, "%s", *err.text ? err.text : strerror(-r));
	if (!json_is_string(json_object_get(reply, "text"))) {
		json_decref(reply);
		return tool_error(verb, "%s: the reply holds no text", socket);
	}
	*ret = reply;
	return 0;
}

int verb_metrics(int argc, char **argv)
{
	const char *output = NULL, *socket = daemon_default_socket(), *text;
	struct output out;
	json_t *reply;
	int c, ret;

	while ((c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("metrics", help);
		else if (c == 'o')
			output = optarg;
		else if (c == OPT_SOCKET)
			socket = optarg;
		else
			return tool_bad_option("metrics", c, argv);
	}
	if (optind < argc)
		return tool_usage("metrics", "takes no argument, but got '%s'", argv[optind]);
	ret = tool_ask_metrics("metrics", socket, &reply);
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
