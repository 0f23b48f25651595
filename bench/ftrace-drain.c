// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stands in for `trace-cmd record` on machines that do not let it record (it
 * insists on writing kernel.ftrace_enabled): a tracefs instance of its own with
 * the given events on, and for each CPU a recorder that wakes up every 1000 us
 * and splices the full pages out, to /dev/null.  What trace-cmd does beyond
 * that (a file system to write to, the merge at the end) is left out, so it
 * flatters the peer.
 *
 * Runs a command meanwhile and leaves with its exit status.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tracefs.h>

#define MAX_EVENTS 64

struct config {
	long period_us;
	const char *stats_path;
	size_t n_events;
	char *events[MAX_EVENTS]; /* "system:name" */
	char **command;
};

struct recorder {
	pthread_t thread;
	struct tracefs_cpu *cpu;
	int number;
	const struct config *cfg;
	atomic_bool *stop;
	unsigned long long bytes, wakeups;
};

struct session {
	const struct config *cfg;
	struct tracefs_instance *instance;
	struct recorder *recorders;
	int n_recorders;
	atomic_bool stop;
};

static volatile sig_atomic_t child_pid;

static const char usage_text[] =
	"usage: ftrace-drain [-s PERIOD_US] [-o FILE] -e SYSTEM:EVENT... -- COMMAND [ARG...]\n"
	"  -e, --event SYSTEM:EVENT   an event to turn on (SYSTEM:* all of a system)\n"
	"  -s, --sleep US             how long a recorder sleeps (1000, as trace-cmd)\n"
	"  -o, --output FILE          what was read, as one JSON line (stderr)\n";

/*
 * The command gets the signal; this program ends when the command does, so that
 * the instance is always taken away again.  Signals are blocked until there is a
 * command to pass them to.
 */
static void forward_signal(int sig)
{
	if (child_pid > 0)
		kill((pid_t)child_pid, sig);
}

static void *record(void *arg)
{
	struct recorder *r = arg;
	const struct timespec period = {.tv_sec = r->cfg->period_us / 1000000,
					.tv_nsec = r->cfg->period_us % 1000000 * 1000};
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	while (!atomic_load_explicit(r->stop, memory_order_relaxed)) {
		int n;

		nanosleep(&period, NULL);
		r->wakeups++;
		while ((n = tracefs_cpu_write(r->cpu, null, true)) > 0)
			r->bytes += (unsigned long long)n;
	}
	close(null);
	return NULL;
}

static int set_events(const struct session *s, const char *value)
{
	for (size_t i = 0; i < s->cfg->n_events; i++) {
		const char *event = s->cfg->events[i], *colon = strchr(event, ':');
		bool all = !strcmp(colon + 1, "*");
		char file[256];

		snprintf(file, sizeof(file), "events/%.*s%s%s/enable", (int)(colon - event), event,
			 all ? "" : "/", all ? "" : colon + 1);
		if (tracefs_instance_file_write(s->instance, file, value) < 0) {
			fprintf(stderr, "ftrace-drain: cannot set event %s: %s\n", event,
				strerror(errno));
			return -1;
		}
	}
	return 0;
}

static int start_recorders(struct session *s)
{
	int n_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	s->recorders = calloc((size_t)n_cpus, sizeof(*s->recorders));
	if (!s->recorders)
		return -ENOMEM;
	for (int cpu = 0; cpu < n_cpus; cpu++) {
		struct recorder *r = &s->recorders[s->n_recorders];
		int ret;

		r->cpu = tracefs_cpu_open(s->instance, cpu, true);
		if (!r->cpu)
			continue; /* offline: no buffer to read */
		r->number = cpu;
		r->cfg = s->cfg;
		r->stop = &s->stop;
		ret = pthread_create(&r->thread, NULL, record, r);
		if (ret) {
			tracefs_cpu_close(r->cpu);
			return -ret;
		}
		s->n_recorders++;
	}
	return s->n_recorders ? 0 : -errno;
}

static void stop_recorders(struct session *s)
{
	atomic_store(&s->stop, true);
	for (int i = 0; i < s->n_recorders; i++) {
		pthread_join(s->recorders[i].thread, NULL);
		tracefs_cpu_close(s->recorders[i].cpu);
	}
}

/* A figure of per_cpu/cpuN/stats, such as "overrun: 0". */
static unsigned long long buffer_stat(const struct session *s, int cpu, const char *name)
{
	unsigned long long value = 0;
	char file[64], *text, *p;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
	text = tracefs_instance_file_read(s->instance, file, NULL);
	p = text ? strstr(text, name) : NULL;
	if (p)
		sscanf(p + strlen(name), ": %llu", &value);
	free(text);
	return value;
}

static int print_stats(const struct session *s)
{
	FILE *out = s->cfg->stats_path ? fopen(s->cfg->stats_path, "we") : stderr;
	unsigned long long bytes = 0, wakeups = 0, events = 0, overrun = 0;

	if (!out) {
		fprintf(stderr, "ftrace-drain: %s: %s\n", s->cfg->stats_path, strerror(errno));
		return 1;
	}
	for (int i = 0; i < s->n_recorders; i++) {
		const struct recorder *r = &s->recorders[i];

		bytes += r->bytes;
		wakeups += r->wakeups;
		events += buffer_stat(s, r->number, "read events") +
			  buffer_stat(s, r->number, "entries");
		overrun += buffer_stat(s, r->number, "overrun");
	}
	fprintf(out,
		"{\"recorders\":%d,\"wakeups\":%llu,\"bytes\":%llu,\"events\":%llu,"
		"\"lost\":%llu}\n",
		s->n_recorders, wakeups, bytes, events, overrun);
	return (out == stderr ? fflush(out) : fclose(out)) ? 1 : 0;
}

static void mask_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(how, &set, NULL);
}

static int run_command(char **command)
{
	struct sigaction sa = {.sa_handler = forward_signal};
	int status;
	pid_t pid = fork();

	if (pid < 0) {
		perror("ftrace-drain: fork");
		return 1;
	}
	if (!pid) {
		mask_signals(SIG_UNBLOCK);
		execvp(command[0], command);
		fprintf(stderr, "ftrace-drain: %s: %s\n", command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	child_pid = pid;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	mask_signals(SIG_UNBLOCK);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	mask_signals(SIG_BLOCK);
	child_pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int trace(struct session *s)
{
	int ret;

	if (set_events(s, "1"))
		return 1;
	ret = start_recorders(s);
	if (ret)
		fprintf(stderr, "ftrace-drain: cannot read the buffers: %s\n", strerror(-ret));
	else
		ret = run_command(s->cfg->command);
	set_events(s, "0");
	stop_recorders(s);
	if (ret >= 0 && print_stats(s))
		ret = 1;
	free(s->recorders);
	return ret < 0 ? 1 : ret;
}

static int run(const struct config *cfg)
{
	struct session s = {.cfg = cfg};
	char name[64];
	int ret;

	mask_signals(SIG_BLOCK);
	snprintf(name, sizeof(name), "tmigr-bench-%ld", (long)getpid());
	s.instance = tracefs_instance_create(name);
	if (!s.instance) {
		fprintf(stderr, "ftrace-drain: cannot make a tracefs instance: %s\n",
			strerror(errno));
		return 1;
	}
	ret = trace(&s);
	if (tracefs_instance_destroy(s.instance)) {
		fprintf(stderr, "ftrace-drain: instance %s stays behind: %s\n", name,
			strerror(errno));
		ret = 1;
	}
	tracefs_instance_free(s.instance);
	return ret;
}

static int bad_usage(const char *what)
{
	fprintf(stderr, "ftrace-drain: %s; see ftrace-drain --help\n", what);
	return 2;
}

static int parse_option(int opt, struct config *cfg)
{
	char *end;

	switch (opt) {
	case 'e':
		if (cfg->n_events == MAX_EVENTS || !strchr(optarg, ':') || strchr(optarg, '/'))
			return bad_usage("bad --event");
		cfg->events[cfg->n_events++] = optarg;
		return 0;
	case 's':
		cfg->period_us = strtol(optarg, &end, 10);
		if (end == optarg || *end || cfg->period_us <= 0 || cfg->period_us > 1000000000)
			return bad_usage("bad --sleep");
		return 0;
	case 'o':
		cfg->stats_path = optarg;
		return 0;
	default:
		return bad_usage("bad option");
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"event", required_argument, NULL, 'e'},
		{"sleep", required_argument, NULL, 's'},
		{"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct config cfg = {.period_us = 1000};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "+e:s:o:h", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(usage_text, stdout) < 0;
		ret = parse_option(opt, &cfg);
		if (ret)
			return ret;
	}
	if (!cfg.n_events || optind == argc)
		return bad_usage("needs an event and a command");
	cfg.command = argv + optind;
	return run(&cfg);
}
