// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The load of the benchmark.  Two processes pinned to two CPUs wake each other
 * through pipes, so that each round trip puts both CPUs into idle and out of it:
 * the densest stream of power:cpu_idle events that a machine can make, and one
 * whose speed is what a tracer on the idle path slows down.
 *
 * With --wheel, sleepers on timer-wheel timers instead (a socket's receive
 * timeout: a *global* timer, which goes through the timer-migration hierarchy;
 * clock_nanosleep() would be an hrtimer, which never does).
 *
 * Prints one JSON line.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORKERS  64
#define SLICE_NS     20000000ULL
#define MAX_SLICES   4096
#define NSEC_PER_SEC 1000000000ULL

typedef unsigned long long u64;

struct config {
	bool wheel;
	double seconds;
	u64 count; /* 0: run for `seconds` */
	u64 period_us;
	size_t n_cpus;
	int cpus[MAX_WORKERS];
};

/* Written by one worker each, read by the parent after it has ended. */
struct tally {
	u64 start_ns, end_ns;
	u64 count;
	u64 late_sum_ns, late_max_ns;
	/* Round trips that ended in each 20 ms of the run: on a machine that
	 * others use too, the fast slices are much steadier than the sum. */
	unsigned int slices[MAX_SLICES];
};

struct usage {
	u64 user_ns, sys_ns;
	u64 voluntary, involuntary;
};

static const char usage_text[] =
	"usage: pingpong [-d SECONDS | -n COUNT] [-c CPU,CPU] [--wheel [-p PERIOD_US]]\n"
	"  -d, --seconds S     run for S seconds (2)\n"
	"  -n, --count N       run for N round trips (N sleeps of each sleeper) instead\n"
	"  -c, --cpus A,B,...  the CPUs (the first two this process may use)\n"
	"  -w, --wheel         timer-wheel sleepers, one on each CPU, instead of two processes\n"
	"                      that wake each other\n"
	"  -p, --period-us US  how long they sleep at a time (8000)\n"
	"Prints one JSON line.\n";

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);

	if (!set) {
		perror("pingpong: memory");
		_exit(1);
	}
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	if (sched_setaffinity(0, size, set)) {
		fprintf(stderr, "pingpong: cannot run on CPU %d: %s\n", cpu, strerror(errno));
		_exit(1);
	}
	CPU_FREE(set);
}

static bool pass(int in, int out)
{
	char c = 0;

	return write(out, &c, 1) == 1 && read(in, &c, 1) == 1;
}

static bool more(const struct config *cfg, u64 done, u64 start_ns, u64 present_ns)
{
	if (cfg->count)
		return done < cfg->count;
	return (double)(present_ns - start_ns) < cfg->seconds * 1e9;
}

static void ping(const struct config *cfg, int in, int out, struct tally *t)
{
	u64 slice;

	pin(cfg->cpus[0]);
	/* The first round trip waits for the peer to exist: not counted. */
	if (!pass(in, out))
		_exit(1);
	t->start_ns = t->end_ns = now_ns();
	while (more(cfg, t->count, t->start_ns, t->end_ns)) {
		if (!pass(in, out))
			_exit(1);
		t->count++;
		t->end_ns = now_ns();
		slice = (t->end_ns - t->start_ns) / SLICE_NS;
		if (slice < MAX_SLICES)
			t->slices[slice]++;
	}
	_exit(0);
}

/* Answers until the other side closes its pipe by ending. */
static void pong(const struct config *cfg, int in, int out)
{
	char c;

	pin(cfg->cpus[1]);
	while (read(in, &c, 1) == 1)
		if (write(out, &c, 1) != 1)
			_exit(1);
	_exit(0);
}

static void sleeper(const struct config *cfg, int cpu, struct tally *t)
{
	struct timeval tv = {.tv_sec = (time_t)(cfg->period_us / 1000000),
			     .tv_usec = (suseconds_t)(cfg->period_us % 1000000)};
	int sv[2];
	char c;

	pin(cpu);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sv) ||
	    setsockopt(sv[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv))) {
		perror("pingpong: socket");
		_exit(1);
	}
	t->start_ns = t->end_ns = now_ns();
	while (more(cfg, t->count, t->start_ns, t->end_ns)) {
		u64 due_ns = t->end_ns + cfg->period_us * 1000, late_ns;

		recv(sv[0], &c, 1, 0);
		t->end_ns = now_ns();
		late_ns = t->end_ns > due_ns ? t->end_ns - due_ns : 0;
		t->late_sum_ns += late_ns;
		if (late_ns > t->late_max_ns)
			t->late_max_ns = late_ns;
		t->count++;
	}
	_exit(0);
}

/* Entries into idle states by cpuidle's own count; -1 where there is no driver. */
static long long idle_entries(const struct config *cfg)
{
	long long sum = -1;

	for (size_t i = 0; i < cfg->n_cpus; i++) {
		for (int state = 0;; state++) {
			char path[96];
			u64 n;
			FILE *f;

			snprintf(path, sizeof(path),
				 "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/usage",
				 cfg->cpus[i], state);
			f = fopen(path, "re");
			if (!f)
				break;
			if (fscanf(f, "%llu", &n) == 1)
				sum = (sum < 0 ? 0 : sum) + (long long)n;
			fclose(f);
		}
	}
	return sum;
}

static void add_usage(struct usage *sum, const struct rusage *ru)
{
	sum->user_ns += (u64)ru->ru_utime.tv_sec * NSEC_PER_SEC + (u64)ru->ru_utime.tv_usec * 1000;
	sum->sys_ns += (u64)ru->ru_stime.tv_sec * NSEC_PER_SEC + (u64)ru->ru_stime.tv_usec * 1000;
	sum->voluntary += (u64)ru->ru_nvcsw;
	sum->involuntary += (u64)ru->ru_nivcsw;
}

static pid_t fork_or_die(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("pingpong: fork");
		exit(1);
	}
	return pid;
}

static void start_pair(const struct config *cfg, struct tally *tallies)
{
	int to_pong[2], to_ping[2];

	if (pipe(to_pong) || pipe(to_ping)) {
		perror("pingpong: pipe");
		exit(1);
	}
	if (!fork_or_die()) {
		close(to_pong[0]);
		close(to_ping[1]);
		ping(cfg, to_ping[0], to_pong[1], &tallies[0]);
	}
	if (!fork_or_die()) {
		close(to_ping[0]);
		close(to_pong[1]);
		pong(cfg, to_pong[0], to_ping[1]);
	}
	for (int i = 0; i < 2; i++) {
		close(to_pong[i]);
		close(to_ping[i]);
	}
}

static int wait_all(struct usage *sum)
{
	struct rusage ru;
	int status, bad = 0;

	while (wait4(-1, &status, 0, &ru) > 0) {
		add_usage(sum, &ru);
		bad |= !WIFEXITED(status) || WEXITSTATUS(status);
	}
	return bad;
}

/* Whole slices only. */
static void print_slices(const struct tally *t)
{
	u64 n = (t->end_ns - t->start_ns) / SLICE_NS;

	printf(",\"slice_ns\":%llu,\"slices\":[", SLICE_NS);
	for (u64 i = 0; i < n && i < MAX_SLICES; i++)
		printf("%s%u", i ? "," : "", t->slices[i]);
	printf("]");
}

static struct tally add_up(const struct tally *tallies, size_t n)
{
	struct tally sum = tallies[0];

	for (size_t i = 1; i < n; i++) {
		sum.count += tallies[i].count;
		sum.late_sum_ns += tallies[i].late_sum_ns;
		if (tallies[i].late_max_ns > sum.late_max_ns)
			sum.late_max_ns = tallies[i].late_max_ns;
		if (tallies[i].start_ns < sum.start_ns)
			sum.start_ns = tallies[i].start_ns;
		if (tallies[i].end_ns > sum.end_ns)
			sum.end_ns = tallies[i].end_ns;
	}
	return sum;
}

static void print_result(const struct config *cfg, const struct tally *tallies, size_t n,
			 const struct usage *usage, long long entries)
{
	const struct tally sum = add_up(tallies, n);

	printf("{\"mode\":\"%s\",\"cpus\":[", cfg->wheel ? "wheel" : "pingpong");
	for (size_t i = 0; i < cfg->n_cpus; i++)
		printf("%s%d", i ? "," : "", cfg->cpus[i]);
	printf("],\"wall_ns\":%llu,\"%s\":%llu", sum.end_ns - sum.start_ns,
	       cfg->wheel ? "sleeps" : "round_trips", sum.count);
	if (cfg->wheel)
		printf(",\"period_us\":%llu,\"late_sum_ns\":%llu,\"late_max_ns\":%llu",
		       cfg->period_us, sum.late_sum_ns, sum.late_max_ns);
	else
		print_slices(&sum);
	printf(",\"cpu_ns\":%llu,\"user_ns\":%llu,\"sys_ns\":%llu,\"voluntary_switches\":%llu,"
	       "\"involuntary_switches\":%llu,\"idle_entries\":",
	       usage->user_ns + usage->sys_ns, usage->user_ns, usage->sys_ns, usage->voluntary,
	       usage->involuntary);
	if (entries < 0)
		printf("null}\n");
	else
		printf("%lld}\n", entries);
}

static int run(const struct config *cfg)
{
	size_t size = sizeof(struct tally) * MAX_WORKERS;
	struct usage usage = {0};
	struct tally *tallies;
	long long before, after;
	int bad;

	tallies = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tallies == MAP_FAILED) {
		perror("pingpong: memory");
		return 1;
	}
	before = idle_entries(cfg);
	if (cfg->wheel) {
		for (size_t i = 0; i < cfg->n_cpus; i++)
			if (!fork_or_die())
				sleeper(cfg, cfg->cpus[i], &tallies[i]);
	} else {
		start_pair(cfg, tallies);
	}
	bad = wait_all(&usage);
	after = idle_entries(cfg);
	if (!bad)
		print_result(cfg, tallies, cfg->wheel ? cfg->n_cpus : 1, &usage,
			     before < 0 ? -1 : after - before);
	munmap(tallies, size);
	return bad || fflush(stdout) ? 1 : 0;
}

/* The first CPUs that this process may run on. */
static void default_cpus(struct config *cfg)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE && cfg->n_cpus < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cfg->cpus[cfg->n_cpus++] = cpu;
}

static bool parse_u64(const char *text, u64 max, u64 *ret)
{
	char *end;
	u64 n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || n > max)
		return false;
	*ret = n;
	return true;
}

static bool parse_cpus(char *text, struct config *cfg)
{
	char *save = NULL;
	u64 cpu;

	cfg->n_cpus = 0;
	for (char *p = strtok_r(text, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
		if (cfg->n_cpus == MAX_WORKERS || !parse_u64(p, 65535, &cpu))
			return false;
		cfg->cpus[cfg->n_cpus++] = (int)cpu;
	}
	return cfg->n_cpus > 0;
}

static bool parse_seconds(const char *text, double *ret)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end || !(s > 0 && s <= 86400))
		return false;
	*ret = s;
	return true;
}

static int bad_usage(const char *what)
{
	fprintf(stderr, "pingpong: %s; see pingpong --help\n", what);
	return 2;
}

static int parse_option(int opt, struct config *cfg)
{
	switch (opt) {
	case 'd':
		return parse_seconds(optarg, &cfg->seconds) ? 0 : bad_usage("bad --seconds");
	case 'n':
		return parse_u64(optarg, 1ULL << 40, &cfg->count) && cfg->count
			       ? 0
			       : bad_usage("bad --count");
	case 'c':
		return parse_cpus(optarg, cfg) ? 0 : bad_usage("bad --cpus");
	case 'p':
		return parse_u64(optarg, 1000000000, &cfg->period_us) && cfg->period_us
			       ? 0
			       : bad_usage("bad --period-us");
	case 'w':
		cfg->wheel = true;
		return 0;
	default:
		return bad_usage("bad option");
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"seconds", required_argument, NULL, 'd'},
		{"count", required_argument, NULL, 'n'},
		{"cpus", required_argument, NULL, 'c'},
		{"wheel", no_argument, NULL, 'w'},
		{"period-us", required_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct config cfg = {.seconds = 2, .period_us = 8000};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "d:n:c:wp:h", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(usage_text, stdout) < 0;
		ret = parse_option(opt, &cfg);
		if (ret)
			return ret;
	}
	if (optind < argc)
		return bad_usage("takes no arguments");
	if (!cfg.n_cpus)
		default_cpus(&cfg);
	if (!cfg.wheel && cfg.n_cpus != 2)
		return bad_usage("needs two CPUs (--cpus A,B)");
	if (!cfg.n_cpus)
		return bad_usage("found no CPU to run on; give --cpus");
	return run(&cfg);
}
