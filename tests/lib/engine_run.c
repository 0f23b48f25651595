// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_MS 1500

/* ---- load: sleepers on every CPU, hrtimers and timer-wheel timers ---- */

/* A receive timeout is a global timer of the timer wheel, which the hierarchy
 * moves; clock_nanosleep() is an hrtimer, which it does not. */
static void sleeper(unsigned int cpu, bool wheel)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval timeout = {.tv_usec = 8000};
	struct timespec period = {0};
	cpu_set_t set;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	if (cpu < CPU_SETSIZE) {
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		wheel = false;
	/* Short sleeps keep the tick, so the CPU stays active in the hierarchy;
	 * now and then sleeps long enough to leave it. */
	for (unsigned int i = 0;; i++) {
		period.tv_nsec = i % 32 < 24 ? 1300000 : 15000000;
		if (!wheel)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
		else if (recv(fd, &byte, 1, 0) < 0 && errno != EAGAIN && errno != EINTR)
			wheel = false;
	}
}

pid_t *engine_load_start(const struct tmigr_topology *topo)
{
	pid_t *pids = calloc(2 * topo->n_cpus, sizeof(*pids));

	for (size_t i = 0; pids && i < 2 * topo->n_cpus; i++) {
		if (!topo->cpus[i / 2].online)
			continue;
		fflush(stdout);
		pids[i] = fork();
		if (pids[i] == 0)
			sleeper(topo->cpus[i / 2].cpu, i % 2);
	}
	return pids;
}

void engine_load_stop(const struct tmigr_topology *topo, pid_t *pids)
{
	for (size_t i = 0; pids && i < 2 * topo->n_cpus; i++) {
		if (pids[i] <= 0)
			continue;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	free(pids);
}

static void sleep_ms(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* ---- one run of the engine ---- */

int engine_collect(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct engine_run *run = arg;

	for (size_t i = 0; i < n; i++) {
		const struct tmigr_rec *prev = NULL;

		if (run->recs.n)
			prev = &run->recs.recs[run->recs.n - 1];
		/* CLEAN vouches for the past. */
		if (prev && prev->type != TMIGR_REC_CLEAN && recs[i].type != TMIGR_REC_CLEAN &&
		    recs[i].t_ns < prev->t_ns)
			run->disorder++;
		if (recs[i].type != TMIGR_REC_CLEAN && recs[i].t_ns < run->watermark_ns)
			run->early++;
		if (tmigr_rec_vec_add(&run->recs, recs[i]))
			return -ENOMEM;
	}
	return 0;
}

static int run_window(struct engine_run *run, struct tmigr_err *err)
{
	int ret = tmigr_live_start(run->live, &run->start_ns, err);

	for (int i = 0; !ret && i < 3; i++) {
		__u64 watermark = 0;

		sleep_ms(RUN_MS / 3);
		ret = tmigr_live_drain(run->live, engine_collect, run, &watermark, err);
		run->watermark_ns = watermark;
	}
	if (!ret)
		ret = tmigr_live_stop(run->live, &run->end_ns, err);
	if (!ret)
		ret = tmigr_live_drain(run->live, engine_collect, run, NULL, err);
	return ret ? ret : tmigr_live_totals(run->live, &run->totals, err);
}

int engine_run(struct engine_run *run, const struct tmigr_topology *topo,
	       const struct tmigr_live_opts *opts, const char *what)
{
	struct tmigr_err err = {""};
	int ret;

	*run = (struct engine_run){.topo = topo};
	ret = tmigr_live_open(opts, topo, &run->live, &err);
	if (!ret)
		ret = run_window(run, &err);
	tap_ok(ret == 0, "%s: runs", what);
	if (ret)
		tap_diag("%s\n", err.text);
	return ret;
}

void engine_end(struct engine_run *run)
{
	tmigr_live_close(run->live);
	tmigr_window_totals_free(run->totals);
	free(run->recs.recs);
	*run = (struct engine_run){0};
}
