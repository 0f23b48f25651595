// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tm-load [-d SECONDS] [-p PERIOD_MS] [-c CPULIST] [-q]: real timers and idle
 * states, for the demo and the tests.
 *
 * Two sleepers are pinned to every CPU.  One sleeps by clock_nanosleep(), an
 * hrtimer, which stays on its CPU.  The other waits for a socket that stays
 * silent, with a receive timeout: that is a timer-wheel timer, a global one,
 * which the timer-migration hierarchy may hand to another CPU.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/types.h>

#include "tmigr/topology.h"

static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000ULL + (__u64)t.tv_nsec;
}

static int pin(unsigned int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int ret;

	if (!set)
		return -1;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	ret = sched_setaffinity(0, size, set);
	CPU_FREE(set);
	return ret;
}

static unsigned long sleep_hrtimer(__u64 end_ns, __u64 period_ns)
{
	struct timespec t = {.tv_sec = (time_t)(period_ns / 1000000000ULL),
			     .tv_nsec = (long)(period_ns % 1000000000ULL)};
	unsigned long n = 0;

	for (; now_ns() < end_ns; n++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	return n;
}

static unsigned long sleep_wheel(__u64 end_ns, __u64 period_ns)
{
	struct timeval t = {.tv_sec = (time_t)(period_ns / 1000000000ULL),
			    .tv_usec = (suseconds_t)(period_ns % 1000000000ULL / 1000)};
	unsigned long n = 0;
	int pair[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) ||
	    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)))
		return 0;
	for (; now_ns() < end_ns; n++)
		if (recv(pair[0], &byte, 1, 0) < 0 && errno != EAGAIN)
			break;
	return n;
}

static pid_t start(unsigned int cpu, int wheel, __u64 end_ns, __u64 period_ns, int quiet)
{
	pid_t pid = fork();
	unsigned long n;

	if (pid)
		return pid;
	if (pin(cpu))
		_exit(1);
	n = wheel ? sleep_wheel(end_ns, period_ns) : sleep_hrtimer(end_ns, period_ns);
	if (!quiet)
		printf("CPU %u: %lu %s sleeps\n", cpu, n, wheel ? "timer-wheel" : "hrtimer");
	exit(n ? 0 : 1);
}

/* CPUs that this process may run on. */
static int own_cpus(unsigned int **ret, size_t *ret_n)
{
	size_t size = CPU_ALLOC_SIZE(TMIGR_CPU_MAX + 1), n = 0;
	cpu_set_t *set = CPU_ALLOC(TMIGR_CPU_MAX + 1);
	unsigned int cpu;

	if (!set || sched_getaffinity(0, size, set) < 0)
		return -1;
	*ret = calloc(TMIGR_CPU_MAX + 1, sizeof(**ret));
	for (cpu = 0; *ret && cpu <= TMIGR_CPU_MAX; cpu++)
		if (CPU_ISSET_S(cpu, size, set))
			(*ret)[n++] = cpu;
	CPU_FREE(set);
	*ret_n = n;
	return *ret ? 0 : -1;
}

int main(int argc, char **argv)
{
	unsigned int *cpus = NULL;
	double seconds = 5, ms = 8;
	__u64 end_ns;
	size_t i, n = 0;
	int c, quiet = 0, status, ret = 0;

	while ((c = getopt(argc, argv, "d:p:c:q")) != -1) {
		if (c == 'd')
			seconds = atof(optarg);
		else if (c == 'p')
			ms = atof(optarg);
		else if (c == 'q')
			quiet = 1;
		else if (c != 'c' || tmigr_cpulist_parse(optarg, &cpus, &n, NULL))
			return 2;
	}
	if (!cpus && own_cpus(&cpus, &n))
		return 1;
	end_ns = now_ns() + (__u64)(seconds * 1e9);
	for (i = 0; i < 2 * n; i++)
		if (start(cpus[i / 2], i & 1, end_ns, (__u64)(ms * 1e6), quiet) < 0)
			ret = 1;
	while (wait(&status) > 0)
		if (status)
			ret = 1;
	free(cpus);
	return ret;
}
