// SPDX-License-Identifier: GPL-2.0-or-later
/* The rounds: a drain on time, and what clients ask for in between. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "feed.h"
#include "flight.h"
#include "record.h"
#include "tmigr/info.h"
#include "tmigrd.h"
#include "version.h"
#include "windows.h"

/* ---- start ---- */

static int open_engine(struct tmigrd *d, struct tmigr_err *err)
{
	const struct tmigrd_opts *o = d->opts;
	const struct tmigr_live_opts live = {.source = o->source};
	int ret = tmigr_topology_read(o->root, o->classes, o->n_classes, &d->topo, err);

	if (ret == 0)
		ret = tmigr_engine_open(&live, d->topo, &d->engine, err);
	if (ret < 0)
		return ret;
	d->cpu = tmigr_housekeeping_pin(d->topo, o->housekeeping, &d->housekeeping, err);
	if (d->cpu < 0 && o->housekeeping >= 0)
		return d->cpu;
	return tmigr_engine_start(d->engine, err);
}

/* What all reports and recordings say. */
static json_t *report_info(const struct tmigrd *d)
{
	json_t *info = tmigr_info("tmigrd " TMIGR_VERSION, NULL, tmigr_engine_has_tmigr(d->engine));
	char engine[TMIGR_INFO_ENGINE_MAX];

	tmigr_info_daemon(engine, sizeof(engine), TMIGR_VERSION, (long)getpid());
	if (info && !json_object_set_new(info, "engine", json_string(engine)))
		return info;
	json_decref(info);
	return NULL;
}

static int prepare(struct tmigrd *d, struct tmigr_err *err)
{
	int ret = open_engine(d, err);

	if (ret < 0)
		return ret;
	d->info = report_info(d);
	if (!d->info || tmigr_engine_put_source(d->engine, d->info))
		return tmigr_fail(err, -ENOMEM, "out of memory");
	ret = records_init(d);
	if (ret < 0)
		return tmigr_fail(err, ret, "no timer: %s", strerror(-ret));
	ret = tmigr_engine_window_open(d->engine, NULL, &d->base, err);
	if (ret < 0)
		return ret;
	d->start_ns = tmigr_window_start_ns(d->base);
	tmigr_info_time(d->start_time, sizeof(d->start_time));
	ret = flight_new(d);
	return ret < 0 ? tmigr_fail(err, ret, "no flight recorder: %s", strerror(-ret)) : 0;
}

int serve_start(struct tmigrd *d)
{
	struct tmigr_err err = {""};
	int ret = prepare(d, &err);

	if (ret < 0) {
		log_line(LOG_ERR, "%s", err.text);
		return ret;
	}
	ret = cred_drop();
	if (ret < 0) {
		log_line(LOG_ERR, "cannot drop the capabilities: %s", strerror(-ret));
		return ret;
	}
	ret = loop_add(&d->loop, &d->listener.src, EPOLLIN);
	if (ret < 0)
		log_line(LOG_ERR, "cannot wait for clients: %s", strerror(-ret));
	d->next_drain_ns = tmigr_now_ns() + d->opts->drain_ns;
	return ret;
}

/* ---- rounds ---- */

static void drain(struct tmigrd *d)
{
	struct tmigr_err err = {""};
	__u64 watermark;
	int ret;

	flight_before_drain(d->flight);
	ret = tmigr_engine_drain(d->engine, &watermark, &err);
	if (!ret && d->base) /* without the figures since the start it is of no use */
		ret = tmigr_window_error(d->base);
	if (ret == -ENOMEM)
		tmigr_fail(&err, ret, "no memory");
	if (ret < 0) {
		log_line(LOG_ERR, "cannot read the records: %s",
			 *err.text ? err.text : strerror(-ret));
		d->failed = 1;
		d->stop = true;
		return;
	}
	flight_after_drain(d->flight, watermark);
	records_send(d);
	d->drains++;
}

static void tick(struct tmigrd *d, __u64 now)
{
	topology_follow(d);
	feeds_run(d, now);
	drain(d);
	clients_expire(d, now);
	dumps_expire(d, now);
	listen_resume(d);
	if (getenv("WATCHDOG_USEC"))
		notify("WATCHDOG=1");
	/* A grid: late once is not late for ever. Missed ones are not made up for. */
	while (d->next_drain_ns <= now)
		d->next_drain_ns += d->opts->drain_ns;
}

void serve_run(struct tmigrd *d)
{
	bool left = false;

	while (!d->stop) {
		__u64 now;

		loop_round(&d->loop, left ? 0 : d->next_drain_ns);
		left = clients_run_ready(d);
		now = tmigr_now_ns();
		if (now >= d->next_drain_ns)
			tick(d, now);
		clients_bound(d);
		clients_reap(d);
	}
}

void serve_end(struct tmigrd *d)
{
	clients_stop(d);
	feeds_free(d);
	flight_free(d->flight);
	tmigr_window_free(d->base);
	tmigr_engine_close(d->engine);
	tmigr_housekeeping_release(&d->housekeeping);
	topology_free(d);
	if (d->ends.fd >= 0)
		close(d->ends.fd);
	json_decref(d->info);
	marks_free(&d->marks);
}
