// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Life of the engine, and the way of the records to everybody who wants them.
 */
#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tmigr_engine_open(const struct tmigr_live_opts *opts, const struct tmigr_topology *topo,
		      struct tmigr_engine **ret, struct tmigr_err *err)
{
	struct tmigr_engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (!engine)
		return tmigr_fail(err, -ENOMEM, "no memory for the engine");
	r = tmigr_live_open(opts, topo, &engine->live, err);
	if (r) {
		tmigr_engine_close(engine);
		return r;
	}
	engine->quiet = malloc(topo->n_cpus);
	engine->snap_lost = calloc(topo->n_cpus, sizeof(*engine->snap_lost));
	if (!engine->quiet || !engine->snap_lost) {
		tmigr_engine_close(engine);
		return tmigr_fail(err, -ENOMEM, "no memory for the engine");
	}
	*ret = engine;
	return 0;
}

int tmigr_engine_start(struct tmigr_engine *engine, struct tmigr_err *err)
{
	return tmigr_live_start(engine->live, err);
}

void tmigr_engine_stop(struct tmigr_engine *engine)
{
	tmigr_engine_release_edge(engine);
	tmigr_live_detach(engine->live);
}

void tmigr_engine_close(struct tmigr_engine *engine)
{
	if (!engine)
		return;
	while (engine->windows)
		tmigr_window_free(engine->windows);
	tmigr_engine_release_edge(engine);
	tmigr_edge_unref(engine->announced);
	tmigr_live_close(engine->live);
	tmigr_rec_vec_free(&engine->snap);
	tmigr_rec_vec_free(&engine->since);
	free(engine->quiet);
	free(engine->snap_lost);
	free(engine);
}

bool tmigr_engine_has_tmigr(const struct tmigr_engine *engine)
{
	return engine->live->features.tmigr;
}

void tmigr_engine_tap(struct tmigr_engine *engine, tmigr_sink sink, void *arg)
{
	engine->tap = sink;
	engine->tap_arg = arg;
}

/* A loss that was over before the snapshot means nothing to those who begin with
 * it.  A batch ends with every LOST, so live->told is as of this one. */
static bool means_something(const struct tmigr_engine *engine, const struct tmigr_rec *rec)
{
	int i;

	if (rec->t_ns < engine->collect_ns)
		return false;
	if (rec->type != TMIGR_REC_LOST || !engine->collect_ns)
		return true;
	i = tmigr_topology_index(engine->live->topo, rec->cpu);
	return i < 0 || engine->live->told[i] > engine->snap_lost[i];
}

static int collect(struct tmigr_engine *engine, const struct tmigr_rec *recs, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		if (means_something(engine, &recs[i]))
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

int tmigr_engine_drain(struct tmigr_engine *engine, __u64 *ret_watermark_ns, struct tmigr_err *err)
{
	__u64 watermark_ns;
	int ret;

	if (!engine->live->attached)
		return tmigr_fail(err, -EINVAL, "the engine does not run");
	tmigr_engine_release_edge(engine);
	for (struct tmigr_window *w = engine->windows; w; w = w->next)
		tmigr_window_begin(w);
	ret = tmigr_live_drain(engine->live, tmigr_engine_sink, engine, &watermark_ns, err);
	if (ret)
		return ret;
	for (struct tmigr_window *w = engine->windows; w; w = w->next)
		tmigr_window_advance(w, watermark_ns);
	if (ret_watermark_ns)
		*ret_watermark_ns = watermark_ns;
	return 0;
}

__u64 tmigr_engine_lost(const struct tmigr_engine *engine)
{
	return engine->live->lost;
}
