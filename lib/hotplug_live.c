// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of hotplug as the running kernel makes them, from a tracefs instance: they are so
 * rare that ftrace's own record of them costs nothing, and every kernel has it.
 */
#include "hotplug_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>
#include <tracefs.h>

#include "ftrace_priv.h"
#include "tmigr/clock.h"

#define RING_BYTES (256u << 10) /* a CPU: some 5000 steps between two drains */
/* An event is in the buffer this long after its stamp at the latest. */
#define SETTLE_NS (50 * TMIGR_NS_PER_MS)

struct tmigr_hotplug_live {
	struct tmigr_instance instance;
	struct tmigr_trace_reader reader;
	struct tmigr_hotplug *model;
	struct tmigr_step_names names;
};

static const char *const systems[] = {"cpuhp", NULL};
static const char *const events[] = {"cpuhp_enter", "cpuhp_multi_enter", "cpuhp_exit"};

static int on_events(void *arg, const struct tmigr_traced *evs, size_t n)
{
	return tmigr_hotplug_feed(((struct tmigr_hotplug_live *)arg)->model, evs, n);
}

static int on_advance(void *arg, __u64 watermark_ns)
{
	(void)arg;
	(void)watermark_ns;
	return 0;
}

static int open_reader(struct tmigr_hotplug_live *l, const struct tmigr_topology *topo,
		       const char *dir, struct tmigr_err *err)
{
	const struct tmigr_hotplug_steps none = {-1, -1};
	struct tep_handle *tep = tracefs_local_events_system(dir, systems);
	struct tmigr_decoder *decoder;
	int ret;

	if (!tep)
		return tmigr_fail(err, -EOPNOTSUPP, "%s: no formats of events can be read", dir);
	ret = tmigr_decoder_new(tep, none, &decoder, err);
	if (ret == -EINVAL)
		ret = tmigr_fail(err, -EOPNOTSUPP,
				 "this kernel has no events of CPU hotplug "
				 "(cpuhp): CONFIG_HOTPLUG_CPU is off");
	if (!ret) {
		tmigr_decoder_all_steps(decoder);
		ret = tmigr_trace_reader_init(&l->reader, topo, &l->instance, tep, decoder, err);
	}
	tep_free(tep);
	return ret;
}

static int enable(struct tmigr_hotplug_live *l, struct tmigr_err *err)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		int ret = tmigr_instance_enable(&l->instance, "cpuhp", events[i]);

		if (ret)
			return tmigr_fail(err, ret, "cannot enable the event %s: %s", events[i],
					  strerror(-ret));
	}
	return 0;
}

static int open_all(struct tmigr_hotplug_live *l, const struct tmigr_topology *topo,
		    struct tmigr_err *err)
{
	char dir[TMIGR_TRACEFS_BYTES];
	int ret = tmigr_hotplug_new(&l->model);

	if (ret)
		return tmigr_fail(err, ret, "no memory for the steps of hotplug");
	ret = tmigr_tracefs_find(dir, err);
	if (!ret)
		ret = tmigr_instance_create(RING_BYTES, &l->instance, err);
	if (!ret)
		ret = open_reader(l, topo, dir, err);
	if (!ret)
		ret = enable(l, err);
	if (ret)
		return ret;
	ret = tmigr_step_names_read(NULL, &l->names);
	/* They then have numbers. */
	if (ret < 0 && ret != -ENOENT)
		return tmigr_fail(err, ret, "cannot read the names of hotplug's steps: %s",
				  strerror(-ret));
	l->reader.watermark_ns = tmigr_now_ns();
	ret = tmigr_instance_on(&l->instance, true);
	return ret ? tmigr_fail(err, ret, "cannot begin to trace: %s", strerror(-ret)) : 0;
}

int tmigr_hotplug_live_open(const struct tmigr_topology *topo, struct tmigr_hotplug_live **ret,
			    struct tmigr_err *err)
{
	struct tmigr_hotplug_live *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return tmigr_fail(err, -ENOMEM, "no memory for the steps of hotplug");
	l->instance = (struct tmigr_instance){.lock = -1, .lease = -1};
	r = open_all(l, topo, err);
	if (r)
		tmigr_hotplug_live_close(l);
	else
		*ret = l;
	return r;
}

void tmigr_hotplug_live_close(struct tmigr_hotplug_live *l)
{
	if (!l)
		return;
	/* Its readers keep an instance from being removed. */
	tmigr_trace_reader_free(&l->reader);
	tmigr_instance_remove(&l->instance);
	tmigr_hotplug_free(l->model);
	tmigr_step_names_free(&l->names);
	free(l);
}

static int read_until(struct tmigr_hotplug_live *l, __u64 until_ns, struct tmigr_err *err)
{
	const struct tmigr_trace_sink sink = {.events = on_events, .advance = on_advance, .arg = l};
	int ret = tmigr_trace_read(&l->reader, until_ns, &sink);

	return ret ? tmigr_fail(err, ret, "cannot read the trace buffers: %s", strerror(-ret)) : 0;
}

int tmigr_hotplug_live_drain(struct tmigr_hotplug_live *l, struct tmigr_err *err)
{
	return read_until(l, tmigr_now_ns() - SETTLE_NS, err);
}

int tmigr_hotplug_live_result(struct tmigr_hotplug_live *l, __u64 start_ns, __u64 end_ns,
			      json_t **ret, struct tmigr_err *err)
{
	struct tmigr_hotplug_result result;
	int r;

	tmigr_sleep_until(end_ns + SETTLE_NS);
	r = read_until(l, end_ns, err);
	if (r)
		return r;
	r = tmigr_hotplug_result(l->model, start_ns, end_ns, &result);
	if (!r) {
		*ret = tmigr_hotplug_json(&result, &l->names, start_ns);
		tmigr_hotplug_result_free(&result);
		r = *ret ? 0 : -ENOMEM;
	}
	return r ? tmigr_fail(err, r, "no memory for the steps of hotplug") : 0;
}
