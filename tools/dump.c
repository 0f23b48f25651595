// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr dump: the daemon's flight recorder into a file. */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "daemon.h"
#include "output.h"
#include "tmigr.h"

static const char help[] =
	"Usage: tmigr dump [OPTION...] -o FILE\n"
	"\n"
	"Saves what the daemon (tmigrd) remembers of the last minutes, as a recording that\n"
	"'tmigr report FILE' reads. The daemon's group may.\n"
	"\n"
	"  -o, --output FILE        where to ('-': standard output)\n"
	"      --last SECONDS       only so much of it (a whole number; else all there is)\n"
	"      --force              replace FILE when it exists\n" DAEMON_SOCKET_HELP
	"  -h, --help               print this\n"
	"\n"
	"Exit status: 0 fine, 1 error (also: no daemon answers), 2 wrong usage.\n";

enum { OPT_LAST = 256, OPT_FORCE };

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'}, {"last", required_argument, NULL, OPT_LAST},
	{"force", no_argument, NULL, OPT_FORCE},  DAEMON_SOCKET_OPTION,
	{"help", no_argument, NULL, 'h'},	  {NULL, 0, NULL, 0},
};

struct dump_opts {
	const char *file;
	bool force;
	unsigned long last_s; /* 0: all */
	struct daemon_opts daemon;
};

/* -1 to go on, else the exit code. */
static int parse(struct dump_opts *o, int argc, char **argv)
{
	int c, ret;

	while ((c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (daemon_option(&o->daemon, "dump", c, &ret)) {
			if (ret)
				return ret;
			continue;
		}
		switch (c) {
		case 'o':
			o->file = optarg;
			break;
		case OPT_LAST:
			if (arg_number(optarg, 1, INT32_MAX, &o->last_s))
				return tool_usage("dump",
						  "--last: '%s' is no whole number of seconds "
						  "above 0",
						  optarg);
			break;
		case OPT_FORCE:
			o->force = true;
			break;
		case 'h':
			return tool_help("dump", help);
		default:
			return tool_bad_option("dump", c, argv);
		}
	}
	if (optind < argc)
		return tool_usage("dump", "takes no argument, but got '%s'", argv[optind]);
	if (!o->file || !*o->file)
		return tool_usage("dump", "where to? -o FILE, or -o - for standard output");
	if (!strcmp(o->file, "-") && isatty(STDOUT_FILENO))
		return tool_usage("dump", "-o -: a recording is nothing for a terminal");
	return -1;
}

static int ask(struct daemon *d, const struct dump_opts *o, struct tmigr_err *err)
{
	json_t *params = json_object();
	int ret = -ENOMEM;

	if (params && (!o->last_s ||
		       !json_object_set_new(params, "last_s", json_integer((json_int_t)o->last_s))))
		ret = daemon_stream(d, "DumpFlight", params, err);
	json_decref(params);
	return ret == -ENOMEM ? tmigr_fail(err, ret, "out of memory") : ret;
}

/* One piece of it.  1: there are more; @err is empty where it is writing that failed. */
static int take_piece(struct daemon *d, FILE *to, struct tmigr_err *err)
{
	json_t *params = NULL;
	bool more = false;
	void *data = NULL;
	size_t n = 0;
	int ret = daemon_next(d, &params, &more, err);

	if (!ret)
		ret = daemon_data(d, params, &data, &n, err);
	json_decref(params);
	if (!ret && n && fwrite(data, 1, n, to) != n)
		ret = -EIO;
	free(data);
	return ret < 0 ? ret : more;
}

static int fetch(struct daemon *d, const struct dump_opts *o, FILE *to, struct tmigr_err *err)
{
	int ret = ask(d, o, err);

	if (!ret)
		do {
			ret = take_piece(d, to, err);
		} while (ret > 0);
	return ret;
}

/* 0 or the exit code, with the error told.  What is half a recording does not get the name. */
static int save(struct daemon *d, const struct dump_opts *o)
{
	struct tmigr_err err = {""};
	struct output out;
	int ret;

	if (!o->force && strcmp(o->file, "-") && access(o->file, F_OK) == 0)
		return tool_error("dump", "%s: %s (--force replaces it)", o->file,
				  strerror(EEXIST));
	output_signals();
	ret = output_open(&out, "dump", o->file);
	if (ret)
		return ret;
	ret = fetch(d, o, out.file, &err);
	if (ret < 0 && *err.text)
		ret = tool_error("dump", "%s", err.text);
	return output_finish(&out, ret);
}

int verb_dump(int argc, char **argv)
{
	struct tmigr_err err = {""};
	struct dump_opts opts = {0};
	struct daemon *d = NULL;
	int ret = parse(&opts, argc, argv);

	if (ret >= 0)
		return ret;
	ret = daemon_need(&opts.daemon, &d, &err);
	ret = ret < 0 ? tool_error("dump", "%s", err.text) : save(d, &opts);
	daemon_close(d);
	return ret;
}
