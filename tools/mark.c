// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr mark: names this instant. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "daemon.h"
#include "tmigr.h"

static const char help[] =
	"Usage: tmigr mark [OPTION...] TEXT\n"
	"\n"
	"Names this instant: the daemon (tmigrd) puts TEXT with its time into the reports of the\n"
	"windows that it lies in ('tmigr run' among them), and into recordings and dumps. Prints\n"
	"the time, CLOCK_MONOTONIC in nanoseconds, as the daemon took it. The daemon's group may.\n"
	"\n" DAEMON_SOCKET_HELP "  -h, --help               print this\n"
	"\n"
	"Exit status: 0 fine, 1 error (also: no daemon answers), 2 wrong usage.\n";

static const struct option options[] = {
	DAEMON_SOCKET_OPTION,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* The daemon's limit. */
#define TEXT_MAX 1024

static int mark(const struct daemon_opts *o, json_t *params)
{
	struct tmigr_err err = {""};
	struct daemon *d = NULL;
	json_t *reply = NULL;
	int ret = daemon_need(o, &d, &err);

	if (!ret)
		ret = daemon_call(d, "Mark", params, &reply, &err);
	if (ret == -EREMOTEIO && d && daemon_says(d, "org.varlink.service.InvalidParameter"))
		tmigr_fail(&err, ret, "the TEXT has control characters, or is too long");
	if (!ret)
		printf("%" JSON_INTEGER_FORMAT "\n",
		       json_integer_value(json_object_get(reply, "time_ns")));
	json_decref(reply);
	daemon_close(d);
	return ret < 0 ? tool_error("mark", "%s", err.text) : tool_flush("mark");
}

int verb_mark(int argc, char **argv)
{
	struct daemon_opts daemon = {0};
	json_t *params;
	int c, ret;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("mark", help);
		if (!daemon_option(&daemon, "mark", c, &ret))
			return tool_bad_option("mark", c, argv);
		if (ret)
			return ret;
	}
	if (optind == argc || !*argv[optind])
		return tool_usage("mark", "which TEXT?");
	if (optind + 1 < argc)
		return tool_usage("mark", "one TEXT (in quotes), not also '%s'", argv[optind + 1]);
	if (strlen(argv[optind]) > TEXT_MAX)
		return tool_usage("mark", "a TEXT of at most %d bytes", TEXT_MAX);
	params = json_pack("{ss}", "text", argv[optind]);
	if (!params)
		return tool_usage("mark", "the TEXT is not UTF-8");
	ret = mark(&daemon, params);
	json_decref(params);
	return ret;
}
