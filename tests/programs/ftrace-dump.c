// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ftrace-dump: the kernel's own trace buffer as text, one event a line:
 *
 *	t_ns cpu pid event field=value ...
 *
 * Numbers are decimal, pointers 0x and hexadecimal, field names those of the
 * event's format file. It traces into an instance of its own until standard
 * input closes or SIGTERM comes, then reads the raw per-CPU buffers: unlike the
 * file "trace" these have stamps in ns and pointers that are not hashed.
 *
 * "# ready" on standard output: tracing is on. "# end events=N overrun=N" is
 * the last line; without it the output is not whole. Exit 0; 77 when this
 * kernel or user has no tracefs for it; 1 for anything else.
 *
 * Written for the tests that check the product against this second source, so
 * it shares no code with it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <event-parse.h>
#include <tracefs.h>

/* libtracefs 1.8 (Debian 13) does not free its buffer of the last flush. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:tracefs_cpu_flush_buf\n";
}

#define EXIT_SKIP	77
#define INSTANCE_PREFIX "tmigr-oracle-"

static const char *const systems[] = {"timer_migration", "power", NULL};

struct dump {
	struct tracefs_instance *instance;
	struct tep_handle *tep;
	unsigned long long events;
	long long overrun;
};

static bool wanted(const char *system, const char *event)
{
	if (!strcmp(system, "timer_migration"))
		return true;
	return !strcmp(event, "cpu_idle") || !strcmp(event, "cpu_idle_miss");
}

/* A run that was killed could not remove its instance: do it here. */
static void remove_stale(void)
{
	/* Not with a pattern: libtracefs 1.6 leaks the compiled one. */
	char **names = tracefs_instances(NULL);
	size_t skip = strlen(INSTANCE_PREFIX);

	for (int i = 0; names && names[i]; i++) {
		struct tracefs_instance *old;
		pid_t pid;

		if (strncmp(names[i], INSTANCE_PREFIX, skip))
			continue;
		pid = (pid_t)atoi(names[i] + skip);
		if (pid <= 0 || !kill(pid, 0) || errno != ESRCH)
			continue;
		old = tracefs_instance_create(names[i]);
		if (old) {
			tracefs_instance_destroy(old);
			tracefs_instance_free(old);
		}
	}
	if (names)
		tracefs_list_free(names);
}

static int enable_events(struct tracefs_instance *instance)
{
	int n = 0;

	for (size_t s = 0; systems[s]; s++) {
		char **events = tracefs_system_events(NULL, systems[s]);

		for (int i = 0; events && events[i]; i++) {
			if (!wanted(systems[s], events[i]))
				continue;
			if (tracefs_event_enable(instance, systems[s], events[i]))
				fprintf(stderr, "ftrace-dump: cannot enable %s:%s: %s\n",
					systems[s], events[i], strerror(errno));
			else
				n++;
		}
		if (events)
			tracefs_list_free(events);
	}
	return n;
}

static int open_instance(struct dump *d, const char *kb_per_cpu)
{
	char name[64];

	snprintf(name, sizeof(name), INSTANCE_PREFIX "%d", (int)getpid());
	d->instance = tracefs_instance_create(name);
	if (!d->instance) {
		fprintf(stderr, "ftrace-dump: cannot make a tracefs instance: %s\n",
			strerror(errno));
		return EXIT_SKIP;
	}
	d->tep = tracefs_local_events_system(NULL, systems);
	if (!d->tep) {
		fprintf(stderr, "ftrace-dump: cannot read the event formats\n");
		return EXIT_SKIP;
	}
	if (tracefs_trace_off(d->instance) ||
	    tracefs_instance_file_write(d->instance, "trace_clock", "mono") < 0 ||
	    tracefs_instance_file_write(d->instance, "buffer_size_kb", kb_per_cpu) < 0) {
		fprintf(stderr, "ftrace-dump: cannot set clock and buffers: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	if (enable_events(d->instance) == 0) {
		fprintf(stderr, "ftrace-dump: none of the events is in this kernel\n");
		return EXIT_SKIP;
	}
	return tracefs_trace_on(d->instance) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void wait_for_the_end(int sigfd)
{
	/* With POLLIN alone, poll(2) reports the hang-up of a pipe too. */
	struct pollfd fds[2] = {{.fd = 0, .events = POLLIN}, {.fd = sigfd, .events = POLLIN}};
	char junk[64];

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[1].revents)
			return;
		if (fds[0].revents && read(0, junk, sizeof(junk)) <= 0)
			return;
	}
}

static void print_field(struct dump *d, const struct tep_format_field *f, const void *data)
{
	unsigned long long v;

	if (f->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC))
		return;
	v = tep_read_number(d->tep, (const char *)data + f->offset, f->size);
	if (f->flags & TEP_FIELD_IS_POINTER)
		printf(" %s=0x%llx", f->name, v);
	else if (f->flags & TEP_FIELD_IS_SIGNED)
		printf(" %s=%lld", f->name, f->size == 4 ? (long long)(int)v : (long long)v);
	else
		printf(" %s=%llu", f->name, v);
}

static int print_event(struct tep_event *event, struct tep_record *record, int cpu, void *arg)
{
	struct dump *d = arg;

	printf("%llu %d %d %s", record->ts, cpu, tep_data_pid(d->tep, record), event->name);
	for (const struct tep_format_field *f = event->format.fields; f; f = f->next)
		print_field(d, f, record->data);
	putchar('\n');
	d->events++;
	return ferror(stdout) ? -1 : 0;
}

/* Events that the buffers had no room for, all CPUs. */
static long long count_overrun(struct tracefs_instance *instance)
{
	static const char *const keys[] = {
		"\noverrun: ", "\ncommit overrun: ", "\ndropped events: "};
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	long long sum = 0;

	for (long cpu = 0; cpu < cpus; cpu++) {
		char path[64], *stats;

		snprintf(path, sizeof(path), "per_cpu/cpu%ld/stats", cpu);
		stats = tracefs_instance_file_read(instance, path, NULL);
		for (size_t k = 0; stats && k < sizeof(keys) / sizeof(keys[0]); k++) {
			const char *at = strstr(stats, keys[k]);

			if (at)
				sum += atoll(at + strlen(keys[k]));
		}
		free(stats);
	}
	return sum;
}

static int print_all(struct dump *d)
{
	if (tracefs_trace_off(d->instance))
		return EXIT_FAILURE;
	tracefs_event_disable(d->instance, NULL, NULL);
	d->overrun = count_overrun(d->instance);
	/* Fails with no event at all, which "# end events=0" tells better. */
	tracefs_iterate_raw_events(d->tep, d->instance, NULL, 0, print_event, d);
	printf("# end events=%llu overrun=%lld\n", d->events, d->overrun);
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int block_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	const char *kb_per_cpu = argc > 1 ? argv[1] : "16384";
	struct dump d = {0};
	int sigfd = block_signals();
	int rc;

	if (sigfd < 0 || argc > 2) {
		fprintf(stderr, "usage: ftrace-dump [KIB-PER-CPU]\n");
		return EXIT_FAILURE;
	}
	remove_stale();
	rc = open_instance(&d, kb_per_cpu);
	if (rc == EXIT_SUCCESS) {
		printf("# ready\n");
		fflush(stdout);
		wait_for_the_end(sigfd);
		rc = print_all(&d);
	}
	if (d.tep)
		tep_free(d.tep);
	if (d.instance) {
		tracefs_instance_destroy(d.instance);
		tracefs_instance_free(d.instance);
	}
	close(sigfd);
	return rc;
}
