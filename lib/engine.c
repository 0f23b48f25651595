// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Life of the engine, and the way of the records to everybody who wants them.
 */
#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/clock.h"

int tmigr_engine_open(const struct tmigr_live_opts *opts, const struct tmigr_topology *topo,
		      struct tmigr_engine **ret, struct tmigr_err *err)
{
	struct tmigr_engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (!engine)
		return tmigr_fail(err, -ENOMEM, "no memory for the engine");
	engine->topo = topo;
	r = tmigr_clock_check(err);
	if (!r)
		r = tmigr_source_open(engine, opts, err);
	if (r) {
		tmigr_engine_close(engine);
		return r;
	}
	*ret = engine;
	return 0;
}

int tmigr_engine_start(struct tmigr_engine *engine, struct tmigr_err *err)
{
	int ret;

	if (engine->started)
		return tmigr_fail(err, -EINVAL, "the engine was started already");
	ret = engine->source->start(engine, err);
	engine->started = engine->attached = !ret;
	return ret;
}

void tmigr_engine_stop(struct tmigr_engine *engine)
{
	tmigr_engine_release_edge(engine);
	if (engine->attached)
		engine->source->stop(engine);
	engine->attached = false;
}

void tmigr_engine_close(struct tmigr_engine *engine)
{
	if (!engine)
		return;
	while (engine->windows)
		tmigr_window_free(engine->windows);
	tmigr_engine_release_edge(engine);
	tmigr_edge_unref(engine->announced);
	if (engine->source)
		engine->source->close(engine);
	tmigr_rec_vec_free(&engine->since);
	free(engine);
}

bool tmigr_engine_has_tmigr(const struct tmigr_engine *engine)
{
	return engine->source->has_tmigr(engine);
}

void tmigr_engine_tap(struct tmigr_engine *engine, tmigr_sink sink, void *arg)
{
	engine->tap = sink;
	engine->tap_arg = arg;
}

static int collect(struct tmigr_engine *engine, const struct tmigr_rec *recs, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		if (!engine->source->keeps || engine->source->keeps(engine, &recs[i]))
			ret = tmigr_rec_vec_add(&engine->since, recs[i]);
	return ret;
}

int tmigr_engine_sink(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct tmigr_engine *engine = arg;

	for (struct tmigr_window *w = engine->windows; w; w = w->next)
		tmigr_window_feed(w, recs, n);
	if (engine->tap && engine->tap(engine->tap_arg, recs, n) < 0)
		engine->tap = NULL;
	return engine->collect ? collect(engine, recs, n) : 0;
}

int tmigr_engine_advance(void *arg, __u64 watermark_ns)
{
	struct tmigr_engine *engine = arg;

	for (struct tmigr_window *w = engine->windows; w; w = w->next)
		tmigr_window_advance(w, watermark_ns);
	return 0;
}

int tmigr_engine_drain(struct tmigr_engine *engine, __u64 *ret_watermark_ns, struct tmigr_err *err)
{
	__u64 watermark_ns;
	int ret;

	if (!engine->attached)
		return tmigr_fail(err, -EINVAL, "the engine does not run");
	tmigr_engine_release_edge(engine);
	for (struct tmigr_window *w = engine->windows; w; w = w->next)
		tmigr_window_begin(w);
	ret = engine->source->drain(engine, &watermark_ns, err);
	if (ret)
		return ret;
	tmigr_engine_advance(engine, watermark_ns);
	if (ret_watermark_ns)
		*ret_watermark_ns = watermark_ns;
	return 0;
}

__u64 tmigr_engine_lost(const struct tmigr_engine *engine)
{
	return engine->source->lost(engine);
}

const char *tmigr_engine_source(const struct tmigr_engine *engine, const char **ret_why)
{
	if (ret_why)
		*ret_why = engine->why;
	return engine->source->name;
}

int tmigr_engine_put_source(const struct tmigr_engine *engine, json_t *info)
{
	const char *why, *name = tmigr_engine_source(engine, &why);

	if (json_object_set_new(info, "source", json_string(name)) ||
	    (why && json_object_set_new(info, "source_why", json_string(why))) ||
	    (engine->live && engine->live->opts.no_timeline &&
	     json_object_set_new(info, "timeline", json_false())))
		return -ENOMEM;
	return 0;
}
