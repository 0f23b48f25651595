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

void engine_sleep_ms(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* ---- one run of the engine ---- */

static int keep(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct engine_run *run = arg;

	return tmigr_rec_vec_append(&run->recs, recs, n);
}

static int check_order(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct engine_run *run = arg;

	for (size_t i = 0; i < n; i++) {
		/* CLEAN vouches for the past. */
		if (recs[i].type == TMIGR_REC_CLEAN)
			continue;
		run->disorder += recs[i].t_ns < run->last_ns;
		run->early += recs[i].t_ns < run->watermark_ns;
		run->last_ns = recs[i].t_ns;
	}
	return 0;
}

static int run_window(struct engine_run *run, struct tmigr_err *err)
{
	struct tmigr_window_opts opts = {.records = keep, .arg = run};
	int ret = tmigr_engine_start(run->engine, err);

	tmigr_engine_tap(run->engine, check_order, run);
	if (!ret)
		ret = tmigr_engine_window_open(run->engine, &opts, &run->window, err);
	for (int i = 0; !ret && i < 3; i++) {
		engine_sleep_ms(RUN_MS / 3);
		ret = tmigr_engine_drain(run->engine, &run->watermark_ns, err);
	}
	if (!ret)
		ret = tmigr_engine_window_close(run->engine, run->window, err);
	tmigr_engine_stop(run->engine);
	if (ret)
		return ret;
	run->start_ns = tmigr_window_start_ns(run->window);
	run->end_ns = tmigr_window_end_ns(run->window);
	run->totals = tmigr_window_totals(run->window);
	return 0;
}

int engine_run(struct engine_run *run, const struct tmigr_topology *topo,
	       const struct tmigr_live_opts *opts, const char *what)
{
	struct tmigr_err err = {""};
	int ret;

	*run = (struct engine_run){.topo = topo};
	ret = tmigr_engine_open(opts, topo, &run->engine, &err);
	if (!ret) {
		run->live = run->engine->live;
		ret = run_window(run, &err);
	}
	tap_ok(ret == 0, "%s: runs", what);
	if (ret)
		tap_diag("%s\n", err.text);
	return ret;
}

void engine_end(struct engine_run *run)
{
	tmigr_window_free(run->window);
	tmigr_engine_close(run->engine);
	tmigr_rec_vec_free(&run->recs);
	*run = (struct engine_run){0};
}
