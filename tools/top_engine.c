// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples from an engine of its own: consecutive windows, each beginning at the
 * edge where the one before it ended.  What the buffers hold is drained once a
 * second, however long the windows are.
 */
#include "top_source.h"
#include "version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tmigr/engine.h"
#include "tmigr/housekeeping.h"
#include "tmigr/info.h"
#include "tmigr/report.h"
#include "tmigr/tree.h"
#include "tmigr/clock.h"

#define NS_PER_SEC 1000000000ULL
#define DRAIN_NS   NS_PER_SEC

struct engine {
	struct tmigr_topology *topo;
	struct tmigr_engine *engine;
	struct tmigr_window *window;
	struct tmigr_housekeeping housekeeping;
	json_t *info;
	int cpu, timer;
	__u64 period_ns;
	__u64 next_ns; /* end of the window */
};

static void engine_close(void *self)
{
	struct engine *e = self;

	tmigr_window_free(e->window);
	tmigr_engine_close(e->engine);
	tmigr_housekeeping_undo(&e->housekeeping);
	tmigr_housekeeping_release(&e->housekeeping);
	tmigr_topology_free(e->topo);
	json_decref(e->info);
	if (e->timer >= 0)
		close(e->timer);
	free(e);
}

/* To the window's end, or to the next drain if that comes well before it. */
static int arm(const struct engine *e, struct tmigr_err *err)
{
	__u64 at = tmigr_now_ns() + DRAIN_NS;
	struct itimerspec when = {0};

	if (at + DRAIN_NS / 2 > e->next_ns)
		at = e->next_ns;
	when.it_value.tv_sec = (time_t)(at / NS_PER_SEC);
	when.it_value.tv_nsec = (long)(at % NS_PER_SEC);
	if (timerfd_settime(e->timer, TFD_TIMER_ABSTIME, &when, NULL))
		return tmigr_fail(err, -errno, "cannot set a timer: %s", strerror(errno));
	return 0;
}

static int load(struct engine *e, const struct top_source_opts *opts, struct tmigr_err *err)
{
	const struct tmigr_live_opts live = {.source = opts->source};
	int r;

	r = tmigr_topology_read(NULL, opts->classes->items, opts->classes->n, &e->topo, err);
	if (r < 0)
		return r == -EINVAL && !opts->classes->n ? -EIO : r;
	r = tmigr_engine_open(&live, e->topo, &e->engine, err);
	if (r < 0)
		return r == -EINVAL ? -EIO : r; /* not the user's --class */
	e->info = tmigr_info("tmigr " TMIGR_VERSION, NULL, tmigr_engine_has_tmigr(e->engine));
	if (e->info && tmigr_engine_put_source(e->engine, e->info) == 0)
		return 0;
	return tmigr_fail(err, -ENOMEM, "out of memory");
}

static int start(struct engine *e, struct tmigr_err *err)
{
	int r;

	/* Where it cannot be pinned it runs anywhere. */
	e->cpu = tmigr_housekeeping_pin(e->topo, -1, &e->housekeeping, NULL);
	r = tmigr_engine_start(e->engine, err);
	if (!r)
		r = tmigr_engine_window_open(e->engine, NULL, &e->window, err);
	if (r)
		return r == -EINVAL ? -EIO : r;
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (e->timer < 0)
		return tmigr_fail(err, -errno, "cannot make a timer: %s", strerror(errno));
	e->next_ns = tmigr_window_start_ns(e->window) + e->period_ns;
	return arm(e, err);
}

static int engine_open(const struct top_source_opts *opts, struct daemon *daemon, void **ret_self,
		       struct tmigr_err *err)
{
	struct engine *e = calloc(1, sizeof(*e));
	int r;

	(void)daemon;
	if (!e)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	e->timer = -1;
	e->period_ns = opts->period_ns;
	r = load(e, opts, err);
	if (!r)
		r = start(e, err);
	if (r) {
		engine_close(e);
		return r;
	}
	*ret_self = e;
	return 0;
}

static int engine_fd(void *self)
{
	return ((struct engine *)self)->timer;
}

/* The report of @window, which is closed. */
static json_t *report_of(const struct engine *e, struct tmigr_window *window)
{
	struct tmigr_report_input in = {
		.topo = e->topo,
		.model = tmigr_window_model(window),
		.totals = tmigr_window_totals(window),
		.info = e->info,
	};

	tmigr_window_totals(window)->observer.housekeeping_cpu = e->cpu;
	return tmigr_report_build(&in);
}

/* The states of this moment; NULL where nothing is known of them yet. */
static json_t *tree_now(struct engine *e)
{
	struct tmigr_moment *m;
	json_t *json;

	if (tmigr_engine_moment(e->engine, &m, NULL) < 0)
		return NULL;
	json = tmigr_tree_json(&(struct tmigr_tree){
		.topo = e->topo,
		.h = m->h,
		.now_ns = m->now_ns,
		.cpu_expiry_ns = m->cpu_expiry_ns,
		.group_expiry_ns = m->group_expiry_ns,
	});
	tmigr_moment_free(m);
	return json;
}

static int sample(struct engine *e, struct top_sample *ret, struct tmigr_err *err)
{
	struct tmigr_window_opts opts = {.after = e->window};
	struct tmigr_window *done = e->window, *next;
	int r;

	r = tmigr_engine_window_open(e->engine, &opts, &next, err);
	if (r)
		return r;
	e->window = next;
	ret->report = report_of(e, done);
	tmigr_window_free(done);
	if (!ret->report)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	ret->tree = tree_now(e);
	/* From window to window, so that lateness does not add up; behind a stop
	 * (Ctrl-Z) from now on. */
	e->next_ns += e->period_ns;
	if (e->next_ns < tmigr_now_ns())
		e->next_ns = tmigr_now_ns() + e->period_ns;
	return 1;
}

static int engine_next(void *self, struct top_sample *ret, struct tmigr_err *err)
{
	struct engine *e = self;
	struct top_sample s = {0};
	__u64 ticks;
	int r, n = 0;

	if (read(e->timer, &ticks, sizeof(ticks)) != sizeof(ticks))
		return 0;
	if (tmigr_now_ns() < e->next_ns) {
		r = tmigr_engine_drain(e->engine, NULL, err);
	} else {
		r = sample(e, &s, err);
		n = r == 1;
		r = r < 0 ? r : 0;
	}
	if (!r)
		r = arm(e, err);
	if (r < 0) {
		json_decref(s.report);
		json_decref(s.tree);
		return r;
	}
	if (n)
		*ret = s;
	return n;
}

static const char *engine_name(void *self)
{
	const struct engine *e = self;

	return strcmp(tmigr_engine_source(e->engine, NULL), "ftrace") ? "own engine"
								      : "own engine, by ftrace";
}

const struct top_source_ops top_engine_ops = {
	.open = engine_open,
	.fd = engine_fd,
	.next = engine_next,
	.close = engine_close,
	.name = engine_name,
};
