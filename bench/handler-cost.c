// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What one run of the cpu_idle handler costs with several CPUs at once: each has a
 * thread that runs it by hand (BPF_PROG_TEST_RUN), attached to nothing, and the kernel
 * measures (bpf_stats).  Caches are warm, and there is nothing but the handler: what
 * grows with the number of CPUs is what they share.
 *
 * Prints one JSON line for each number of producers: least and median ns of a run, over
 * rounds.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../lib/live_priv.h"
#include "tmigr.skel.h"

#define ROUNDS 60
#define RUNS   1000 /* of each CPU in a round */

struct producer {
	int prog_fd;
	unsigned int cpu;
	pthread_barrier_t *start, *end;
};

static void run_once(const struct producer *p, __u32 state)
{
	__u64 args[2] = {state, p->cpu};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (bpf_prog_test_run_opts(p->prog_fd, &opts)) {
		perror("handler-cost: BPF_PROG_TEST_RUN");
		exit(1);
	}
}

static void *produce(void *arg)
{
	const struct producer *p = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(p->cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set)) {
		fprintf(stderr, "handler-cost: cannot run on CPU %u\n", p->cpu);
		exit(1);
	}
	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(p->start);
		for (int i = 0; i < RUNS; i++)
			run_once(p, i & 1 ? (__u32)-1 : 0);
		pthread_barrier_wait(p->end);
	}
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct tmigr_live *live, const char *what, size_t n)
{
	struct producer *producers = calloc(n, sizeof(*producers));
	pthread_t *threads = calloc(n, sizeof(*threads));
	pthread_barrier_t start, end;
	double ns[ROUNDS];

	if (!producers || !threads)
		exit(1);
	pthread_barrier_init(&start, NULL, (unsigned int)n + 1);
	pthread_barrier_init(&end, NULL, (unsigned int)n + 1);
	for (size_t i = 0; i < n; i++) {
		producers[i] = (struct producer){
			.prog_fd = bpf_program__fd(live->skel->progs.on_cpu_idle),
			.cpu = live->topo->cpus[i].cpu,
			.start = &start,
			.end = &end,
		};
		pthread_create(&threads[i], NULL, produce, &producers[i]);
	}
	for (int round = 0; round < ROUNDS; round++) {
		struct tmigr_cost a, b;

		tmigr_live_bpf_cost(live, &a);
		pthread_barrier_wait(&start);
		pthread_barrier_wait(&end);
		tmigr_live_bpf_cost(live, &b);
		ns[round] = (double)(b.bpf_ns - a.bpf_ns) / (double)(b.bpf_runs - a.bpf_runs);
	}
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	qsort(ns, ROUNDS, sizeof(*ns), by_value);
	printf("{\"what\":\"%s\",\"producers\":%zu,\"least_ns\":%.1f,\"median_ns\":%.1f}\n", what,
	       n, ns[0], ns[ROUNDS / 2]);
	free(producers);
	free(threads);
}

static void measure_all(const struct tmigr_topology *topo, bool no_timeline)
{
	struct tmigr_live_opts opts = {.no_timeline = no_timeline};
	struct tmigr_live *live;
	struct tmigr_err err;

	for (size_t n = 1; n <= topo->n_cpus; n *= 2) {
		/* Anew each time, so that there is room. */
		if (tmigr_live_open(&opts, topo, &live, &err)) {
			fprintf(stderr, "handler-cost: %s\n", err.text);
			exit(1);
		}
		measure(live, no_timeline ? "residency only" : "with records", n);
		tmigr_live_close(live);
	}
}

int main(void)
{
	struct tmigr_topology *topo;
	struct tmigr_err err;
	int stats;

	if (tmigr_topology_read(NULL, NULL, 0, &topo, &err)) {
		fprintf(stderr, "handler-cost: %s\n", err.text);
		return 1;
	}
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0) {
		perror("handler-cost: bpf_stats");
		return 1;
	}
	measure_all(topo, true);
	measure_all(topo, false);
	close(stats);
	tmigr_topology_free(topo);
	return 0;
}
