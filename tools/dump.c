// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr dump: the daemon's flight recorder into a file. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "daemon.h"
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

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
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

/* One piece of it.  1: there are more. */
static int take_piece(struct daemon *d, int to, const char *name, struct tmigr_err *err)
{
	json_t *params = NULL;
	bool more = false;
	void *data = NULL;
	size_t n = 0;
	int ret = daemon_next(d, &params, &more, err);

	if (!ret)
		ret = daemon_data(d, params, &data, &n, err);
	json_decref(params);
	if (!ret) {
		ret = write_all(to, data, n);
		if (ret < 0)
			tmigr_fail(err, ret, "%s: cannot write: %s", name, strerror(-ret));
	}
	free(data);
	return ret < 0 ? ret : more;
}

static int fetch(struct daemon *d, const struct dump_opts *o, int to, struct tmigr_err *err)
{
	int ret = ask(d, o, err);

	if (!ret)
		do {
			ret = take_piece(d, to, o->file, err);
		} while (ret > 0);
	return ret;
}

static int open_file(const struct dump_opts *o, struct tmigr_err *err)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (o->force ? O_TRUNC : O_EXCL);
	int fd = open(o->file, flags, 0666);

	if (fd < 0)
		return tmigr_fail(err, -errno, "%s: %s%s", o->file, strerror(errno),
				  errno == EEXIST ? " (--force replaces it)" : "");
	return fd;
}

/* What is half a recording does not stay; a device or a pipe does. */
static void drop_file(const char *path, int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}

static int save(struct daemon *d, const struct dump_opts *o, struct tmigr_err *err)
{
	int fd, ret;

	if (!strcmp(o->file, "-"))
		return fetch(d, o, STDOUT_FILENO, err);
	fd = open_file(o, err);
	if (fd < 0)
		return fd;
	ret = fetch(d, o, fd, err);
	if (ret < 0)
		drop_file(o->file, fd);
	if (close(fd) < 0 && !ret)
		ret = tmigr_fail(err, -errno, "%s: cannot write: %s", o->file, strerror(errno));
	return ret;
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
	if (!ret)
		ret = save(d, &opts, &err);
	daemon_close(d);
	return ret < 0 ? tool_error("dump", "%s", err.text) : TMIGR_EXIT_OK;
}
