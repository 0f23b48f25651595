// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr status: how the daemon is. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon.h"
#include "tmigr.h"

static const char help[] =
	"Usage: tmigr status [OPTION...]\n"
	"\n"
	"Shows how the daemon (tmigrd) is: since when it measures, for whom, what it remembers,\n"
	"what it lost, and what it costs. The daemon's group may.\n"
	"\n"
	"      --json               JSON: the daemon's answer as it is\n" DAEMON_SOCKET_HELP
	"  -h, --help               print this\n"
	"\n"
	"Exit status: 0 fine, 1 error (also: no daemon answers), 2 wrong usage.\n";

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	DAEMON_SOCKET_OPTION,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int64_t number(const json_t *obj, const char *key)
{
	return (int64_t)json_integer_value(json_object_get(obj, key));
}

static const char *text(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "?";
}

/* "3 d 4 h", "5 h 6 min", "7 min 8 s", "9.0 s" */
static void put_time(int64_t ns)
{
	int64_t s = ns / 1000000000;

	if (s >= 86400)
		printf("%" PRId64 " d %" PRId64 " h", s / 86400, s / 3600 % 24);
	else if (s >= 3600)
		printf("%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		printf("%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
	else
		printf("%.1f s", (double)ns / 1e9);
}

static void put_bytes(int64_t bytes)
{
	if (bytes < 1 << 20)
		printf("%.1f KiB", (double)bytes / (1 << 10));
	else
		printf("%.1f MiB", (double)bytes / (1 << 20));
}

static void put_flight(const json_t *flight)
{
	printf("Flight recorder: ");
	if (!number(flight, "limit_ns") || !number(flight, "limit_bytes")) {
		puts("off");
		return;
	}
	put_time(number(flight, "to_ns") - number(flight, "from_ns"));
	printf(" in ");
	put_bytes(number(flight, "bytes"));
	printf(", of at most ");
	put_time(number(flight, "limit_ns"));
	printf(" and ");
	put_bytes(number(flight, "limit_bytes"));
	putchar('\n');
}

static void put_cost(const json_t *status)
{
	const json_t *o = json_object_get(status, "observer");
	double up = (double)(number(status, "now_ns") - number(status, "start_ns"));
	int64_t runs = number(o, "bpf_runs");

	printf("Cost: ");
	if (!strcmp(json_string_value(json_object_get(status, "source")) ?: "", "ftrace"))
		printf("measured by ftrace, whose own cost is not known; ");
	if (json_is_integer(json_object_get(o, "bpf_ns")))
		printf("BPF programs %.4f %% of one CPU's time (%" PRId64 " runs, %.0f ns each); ",
		       up > 0 ? 100.0 * (double)number(o, "bpf_ns") / up : 0.0, runs,
		       runs ? (double)number(o, "bpf_ns") / (double)runs : 0.0);
	printf("the daemon %.4f %%, %" PRId64 " wake-ups, %" PRId64 " drains",
	       up > 0 ? 100.0 * (double)number(o, "cpu_ns") / up : 0.0, number(o, "wakeups"),
	       number(o, "drains"));
	if (json_is_integer(json_object_get(o, "housekeeping_cpu")))
		printf(", on CPU %" PRId64, number(o, "housekeeping_cpu"));
	printf("; ");
	put_bytes(number(status, "resident_bytes"));
	puts(" resident");
}

static void put_status(const struct daemon *d)
{
	const json_t *s = d->status;

	printf("%s on Linux %s, socket %s\n", d->engine, text(s, "kernel"), d->path);
	printf("Measuring for ");
	put_time(number(s, "now_ns") - number(s, "start_ns"));
	printf(", buffers emptied every ");
	put_time(number(s, "drain_ns"));
	puts(json_is_true(json_object_get(s, "timer_migration_hierarchy"))
		     ? ""
		     : "; this kernel has no timer-migration hierarchy");
	printf("Clients: %" PRId64 " now, with %" PRId64 " windows and %" PRId64
	       " subscriptions; %" PRId64 " served, %" PRId64 " cut off, %" PRId64 " requests\n",
	       number(s, "clients"), number(s, "windows"), number(s, "subscribers"),
	       number(s, "clients_served"), number(s, "clients_cut_off"), number(s, "requests"));
	put_flight(json_object_get(s, "flight"));
	printf("Lost: %" PRId64 " of %" PRId64 " records\n", number(s, "lost_records"),
	       number(s, "lost_records") + number(json_object_get(s, "observer"), "records"));
	put_cost(s);
}

static int status(const struct daemon_opts *o, bool json)
{
	struct tmigr_err err = {""};
	struct daemon *d = NULL;

	if (daemon_need(o, &d, &err) < 0)
		return tool_error("status", "%s", err.text);
	if (json && !json_dumpf(d->status, stdout, JSON_INDENT(2)))
		putchar('\n');
	else if (!json)
		put_status(d);
	daemon_close(d);
	return tool_flush("status");
}

int verb_status(int argc, char **argv)
{
	struct daemon_opts daemon = {0};
	bool json = false;
	int c, ret;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help("status", help);
		if (c == 'j')
			json = true;
		else if (!daemon_option(&daemon, "status", c, &ret))
			return tool_bad_option("status", c, argv);
		else if (ret)
			return ret;
	}
	if (optind < argc)
		return tool_usage("status", "takes no argument, but got '%s'", argv[optind]);
	return status(&daemon, json);
}
