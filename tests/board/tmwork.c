// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tmwork: what the boards' tests run in the guest.
 *
 *   tmwork hr|wheel PERIOD_US SECONDS CPU...   a sleeper pinned to each CPU
 *   tmwork busy 0 SECONDS CPU...               one that never sleeps
 *   tmwork stamps PERIOD_US SECONDS CPU...     hr, and when each sleep was to end and did
 *   tmwork pipe PAUSE_US SECONDS CPU CPU       a byte to and fro, by a pause between; and
 *                                              when each of the two waited for it
 *   tmwork sysfs                               the idle counters of every CPU
 *
 * hr sleeps on an hrtimer, which stays on its CPU; wheel waits on a socket with
 * a receive timeout: a timer-wheel timer without a CPU of its own, which is what
 * the timer migration hierarchy is about.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPU_DIR	   "/sys/devices/system/cpu"
#define MAX_STATES 10 /* the kernel's own CPUIDLE_STATE_MAX */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "tmwork: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void pin(int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);

	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set))
		die("sched_setaffinity");
	CPU_FREE(set);
}

/* What each process has to tell once it is over: pairs of times. */
#define STAMPS_MAX 20000

static struct {
	uint64_t from, to;
} * stamps;
static unsigned long n_stamps;

static void stamps_begin(void)
{
	stamps = malloc(STAMPS_MAX * sizeof(*stamps));
	if (!stamps)
		die("malloc");
	memset(stamps, 1, STAMPS_MAX * sizeof(*stamps)); /* no page fault later on */
}

static void stamp(uint64_t from, uint64_t to)
{
	if (n_stamps == STAMPS_MAX) {
		errno = ENOSPC;
		die("stamps");
	}
	stamps[n_stamps].from = from;
	stamps[n_stamps++].to = to;
}

/* The processes share their output: each write is of whole lines. */
static void stamps_print(int cpu)
{
	char buf[4096];
	size_t len = (size_t)snprintf(buf, sizeof(buf), "cpu%d %lu\n", cpu, n_stamps);

	for (unsigned long i = 0; i < n_stamps; i++) {
		len += (size_t)snprintf(buf + len, sizeof(buf) - len, "stamp %d %llu %llu\n", cpu,
					(unsigned long long)stamps[i].from,
					(unsigned long long)stamps[i].to);
		if (len < sizeof(buf) - 80 && i + 1 < n_stamps)
			continue;
		if (write(STDOUT_FILENO, buf, len) != (ssize_t)len)
			die("write");
		len = 0;
	}
}

static int socket_with_timeout(unsigned long us)
{
	struct timeval tv = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		die("socketpair");
	if (setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)))
		die("SO_RCVTIMEO");
	return pair[0];
}

static void busy(uint64_t end_ns, int cpu)
{
	pin(cpu);
	while (now_ns() < end_ns)
		;
	_exit(0);
}

static void stamped_sleeper(unsigned long us, uint64_t end_ns, int cpu)
{
	pin(cpu);
	prctl(PR_SET_TIMERSLACK, 1);
	stamps_begin();
	for (uint64_t due = now_ns() + us * 1000; due < end_ns; due = now_ns() + us * 1000) {
		struct timespec ts = {.tv_sec = (time_t)(due / 1000000000),
				      .tv_nsec = (long)(due % 1000000000)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		stamp(due, now_ns());
	}
	stamps_print(cpu);
	_exit(0);
}

static void sleeper(bool wheel, unsigned long us, uint64_t end_ns, int cpu)
{
	struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
	unsigned long n = 0;
	int fd = -1;
	char c;

	pin(cpu);
	prctl(PR_SET_TIMERSLACK, 1);
	if (wheel)
		fd = socket_with_timeout(us);
	for (; now_ns() < end_ns; n++) {
		if (wheel)
			(void)!recv(fd, &c, 1, 0);
		else
			clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	}
	printf("cpu%d %lu\n", cpu, n);
	fflush(stdout);
	_exit(0);
}

static int run_sleepers(int argc, char **argv)
{
	bool wheel = !strcmp(argv[1], "wheel");
	unsigned long us = strtoul(argv[2], NULL, 10);
	uint64_t end_ns = now_ns() + (uint64_t)(strtod(argv[3], NULL) * 1e9);
	int failed = 0, status;

	for (int i = 4; i < argc; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid && !strcmp(argv[1], "busy"))
			busy(end_ns, atoi(argv[i]));
		if (!pid && !strcmp(argv[1], "stamps"))
			stamped_sleeper(us, end_ns, atoi(argv[i]));
		if (!pid)
			sleeper(wheel, us, end_ns, atoi(argv[i]));
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}

/* The one who waits is asleep by then, so that each byte wakes its CPU. */
static void to_and_fro(int in, int out, bool begins, unsigned long us, uint64_t end_ns, int cpu)
{
	struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
	uint64_t from;
	char c = 0;

	pin(cpu);
	prctl(PR_SET_TIMERSLACK, 1);
	stamps_begin();
	if (begins)
		(void)!write(out, &c, 1);
	while (from = now_ns(), read(in, &c, 1) == 1) {
		stamp(from, now_ns());
		if (now_ns() >= end_ns)
			break;
		if (begins)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
		if (write(out, &c, 1) != 1)
			break;
	}
	stamps_print(cpu);
	_exit(0);
}

static int run_pipe(char **argv)
{
	unsigned long us = strtoul(argv[2], NULL, 10);
	uint64_t end_ns = now_ns() + (uint64_t)(strtod(argv[3], NULL) * 1e9);
	int there[2], back[2], status, failed = 0;

	signal(SIGPIPE, SIG_IGN);
	if (pipe(there) || pipe(back))
		die("pipe");
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid)
			continue;
		close(i ? there[1] : there[0]);
		close(i ? back[0] : back[1]);
		to_and_fro(i ? there[0] : back[0], i ? back[1] : there[1], !i, us, end_ns,
			   atoi(argv[4 + i]));
	}
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}

static void print_file(const char *path, const char *shown)
{
	char buf[256];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n > 0)
		printf("%s:%.*s\n", shown, (int)strcspn((buf[n] = 0, buf), "\n"), buf);
}

static uint64_t usage_of(int cpu)
{
	uint64_t sum = 0;
	char path[256];
	FILE *f;

	for (int state = 0; state < MAX_STATES; state++) {
		unsigned long long n;

		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpuidle/state%d/usage", cpu, state);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fscanf(f, "%llu", &n) == 1)
			sum += n;
		fclose(f);
	}
	return sum;
}

static void print_cpu(int cpu)
{
	static const char *const files[] = {"usage", "time",	"rejected",  "above",  "below",
					    "name",  "latency", "residency", "disable"};
	char path[256], shown[128];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpu_capacity", cpu);
	snprintf(shown, sizeof(shown), "cpu%d/cpu_capacity", cpu);
	print_file(path, shown);
	for (int state = 0; state < MAX_STATES; state++) {
		for (size_t f = 0; f < sizeof(files) / sizeof(*files); f++) {
			snprintf(shown, sizeof(shown), "cpu%d/cpuidle/state%d/%s", cpu, state,
				 files[f]);
			snprintf(path, sizeof(path), CPU_DIR "/%s", shown);
			print_file(path, shown);
		}
	}
}

/* The counters are several files: read again until nothing was booked meanwhile. A
 * later reading stands for the ones before it. */
static void print_cpu_still(int cpu)
{
	uint64_t usage, read_ns;

	for (int tries = 0; tries < 100; tries++) {
		usage = usage_of(cpu);
		read_ns = now_ns();
		print_cpu(cpu);
		if (usage_of(cpu) != usage)
			continue;
		printf("cpu%d/mono_ns:%llu\n", cpu, (unsigned long long)read_ns);
		return;
	}
	printf("# cpu%d did not stand still\n", cpu);
}

static int print_sysfs(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	printf("# mono_ns %llu\n", (unsigned long long)now_ns());
	for (int cpu = 0; cpu < n; cpu++)
		print_cpu_still(cpu);
	printf("# mono_ns %llu\n", (unsigned long long)now_ns());
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "sysfs"))
		return print_sysfs();
	if (argc >= 5 && (!strcmp(argv[1], "hr") || !strcmp(argv[1], "wheel") ||
			  !strcmp(argv[1], "busy") || !strcmp(argv[1], "stamps")))
		return run_sleepers(argc, argv);
	if (argc == 6 && !strcmp(argv[1], "pipe"))
		return run_pipe(argv);
	fputs("usage: tmwork hr|wheel|busy|stamps PERIOD_US SECONDS CPU... | "
	      "tmwork pipe PAUSE_US SECONDS CPU CPU | tmwork sysfs\n",
	      stderr);
	return 2;
}
