// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr metrics: the daemon's totals as OpenMetrics text. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon.h"
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

/* 0 with the reply (its "text" is there), or the exit code with the error told. */
static int ask(const char *socket, json_t **ret)
{
	struct tmigr_varlink *v;
	struct tmigr_err err = {""};
	json_t *reply;
	int r;

	if (tmigr_varlink_connect(socket, &v, &err) < 0)
		return tool_error("metrics", "%s", err.text);
	r = tmigr_varlink_call(v, TMIGR_INTERFACE ".Metrics", NULL, &reply, &err);
	tmigr_varlink_close(v);
	if (r < 0)
		return tool_error("metrics", "%s", *err.text ? err.text : strerror(-r));
	if (!json_is_string(json_object_get(reply, "text"))) {
		json_decref(reply);
		return tool_error("metrics", "%s: the reply holds no text", socket);
	}
	*ret = reply;
	return 0;
}

/* 0, or a negative errno with nothing left at @path. */
static int write_new(const char *path, const char *text)
{
	/* Made anew: never through a link that somebody put there. */
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644), ret = 0;
	FILE *out;

	if (fd < 0)
		return -errno;
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		unlink(path);
		return -ENOMEM;
	}
	if (fputs(text, out) == EOF || fflush(out))
		ret = -errno;
	if (fclose(out) && !ret)
		ret = -errno;
	if (ret)
		unlink(path);
	return ret;
}

/* A reader of @path sees the old file or the new one, never a part. */
static int replace(const char *path, const char *text)
{
	char temp[PATH_MAX];
	int ret;

	if (snprintf(temp, sizeof(temp), "%s.%ld", path, (long)getpid()) >= (int)sizeof(temp))
		return tool_error("metrics", "%s: %s", path, strerror(ENAMETOOLONG));
	ret = write_new(temp, text);
	if (!ret && rename(temp, path)) {
		ret = -errno;
		unlink(temp);
	}
	return ret ? tool_error("metrics", "%s: %s", path, strerror(-ret)) : TMIGR_EXIT_OK;
}

int verb_metrics(int argc, char **argv)
{
	const char *output = NULL, *socket = daemon_default_socket(), *text;
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
	ret = ask(socket, &reply);
	if (ret)
		return ret;
	text = json_string_value(json_object_get(reply, "text"));
	if (output) {
		ret = replace(output, text);
	} else {
		fputs(text, stdout);
		ret = tool_flush("metrics");
	}
	json_decref(reply);
	return ret;
}
