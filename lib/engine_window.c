// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Life of a window: open at an edge with what must be known there, fed with all
 * records from then on, closed at another.
 */
#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- records ---- */

static void give(struct tmigr_window *w, const struct tmigr_rec *recs, size_t n)
{
	if (!n || w->error)
		return;
	w->error = tmigr_model_feed(w->model, recs, n);
	if (w->opts.records && w->opts.records(w->opts.arg, recs, n) < 0) {
		w->opts.records = NULL;
		w->opts.mark = NULL;
	}
}

void tmigr_window_begin(struct tmigr_window *w)
{
	if (w->begun)
		return;
	w->begun = true;
	give(w, w->queue.recs, w->queue.n);
	tmigr_rec_vec_free(&w->queue);
}

void tmigr_window_feed(struct tmigr_window *w, const struct tmigr_rec *recs, size_t n)
{
	if (w->begun)
		give(w, recs, n);
	else if (!w->error)
		w->error = tmigr_rec_vec_append(&w->queue, recs, n);
}

void tmigr_window_advance(struct tmigr_window *w, __u64 watermark_ns)
{
	if (w->error)
		return;
	w->error = tmigr_model_advance(w->model, watermark_ns);
	if (w->opts.mark && w->opts.mark(w->opts.arg, watermark_ns) < 0) {
		w->opts.records = NULL;
		w->opts.mark = NULL;
	}
}

int tmigr_window_error(const struct tmigr_window *window)
{
	return window->error;
}

/* ---- open ---- */

static void link_window(struct tmigr_engine *engine, struct tmigr_window *w)
{
	w->engine = engine;
	w->next = engine->windows;
	if (w->next)
		w->next->prev = w;
	engine->windows = w;
}

static void unlink_window(struct tmigr_window *w)
{
	if (!w->engine)
		return;
	if (w->prev)
		w->prev->next = w->next;
	else
		w->engine->windows = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->engine = NULL;
	w->next = w->prev = NULL;
}

/* At engine->edge. */
static struct tmigr_window *window_new(struct tmigr_engine *engine,
				       const struct tmigr_window_opts *opts)
{
	struct tmigr_window *w = calloc(1, sizeof(*w));
	struct tmigr_model_cfg cfg = {.topo = engine->topo, .start_ns = engine->edge->t_ns};

	if (!w)
		return NULL;
	if (opts)
		w->opts = *opts;
	w->opts.after = NULL;
	if (w->opts.topo)
		cfg.topo = w->opts.topo;
	cfg.segment = w->opts.segment;
	cfg.arg = w->opts.arg;
	w->start = tmigr_edge_ref(engine->edge);
	if (tmigr_model_new(&cfg, &w->model) == 0 && engine->source->seed(engine, &w->queue) == 0 &&
	    tmigr_lat_window_open(engine, w) == 0)
		return w;
	tmigr_window_free(w);
	return NULL;
}

int tmigr_engine_window_open(struct tmigr_engine *engine, const struct tmigr_window_opts *opts,
			     struct tmigr_window **ret, struct tmigr_err *err)
{
	struct tmigr_window *w = NULL;
	bool held = engine->held;
	int r = tmigr_engine_take_edge(engine, err);

	if (r)
		return r;
	engine->held = true; /* over the close */
	if (opts && opts->after)
		r = tmigr_engine_window_close(engine, opts->after, err);
	if (!r) {
		w = window_new(engine, opts);
		if (!w)
			r = tmigr_fail(err, -ENOMEM, "no memory for a window");
	}
	engine->held = held;
	tmigr_engine_drop_edge(engine);
	if (r)
		return r;
	link_window(engine, w);
	*ret = w;
	return 0;
}

/* A model, measured from 2 to 1024 CPUs, and the figures at the start. */
#define MODEL_BYTES_PER_CPU 5000
#define MODEL_BYTES	    6000

size_t tmigr_engine_window_bytes(const struct tmigr_engine *engine)
{
	return MODEL_BYTES + sizeof(struct tmigr_window) +
	       engine->topo->n_cpus * (MODEL_BYTES_PER_CPU + sizeof(struct tmigr_edge_cpu));
}

/* ---- close ---- */

static int feed_end(const struct tmigr_engine *engine, struct tmigr_window *w)
{
	struct tmigr_rec_vec vec = {0};
	int ret = engine->source->end_records ? engine->source->end_records(engine, &vec) : 0;

	if (!ret)
		give(w, vec.recs, vec.n);
	tmigr_rec_vec_free(&vec);
	return ret;
}

static int finish(struct tmigr_engine *engine, struct tmigr_window *w, struct tmigr_err *err)
{
	tmigr_window_begin(w);
	if (!w->error)
		w->error = feed_end(engine, w);
	tmigr_window_advance(w, w->end->t_ns);
	if (!w->error)
		w->error = tmigr_model_finish(w->model, w->end->t_ns);
	if (w->error)
		return tmigr_fail(err, w->error, "cannot follow the records: %s",
				  strerror(-w->error));
	return tmigr_engine_totals(engine, w, &w->totals, err);
}

int tmigr_engine_window_close(struct tmigr_engine *engine, struct tmigr_window *window,
			      struct tmigr_err *err)
{
	int ret;

	if (window->engine != engine)
		return tmigr_fail(err, -EINVAL, "the window is not open");
	ret = tmigr_engine_take_edge(engine, err);
	if (ret)
		return ret;
	unlink_window(window);
	window->end = tmigr_edge_ref(engine->edge);
	ret = finish(engine, window, err);
	window->closed = !ret;
	tmigr_engine_drop_edge(engine);
	return ret;
}

static int peek(struct tmigr_engine *engine, struct tmigr_window *window, struct tmigr_window *copy,
		struct tmigr_err *err)
{
	int ret;

	tmigr_window_begin(window);
	ret = window->error;
	if (!ret)
		ret = tmigr_model_clone(window->model, &copy->model);
	if (ret)
		return tmigr_fail(err, ret, "cannot follow the records: %s", strerror(-ret));
	copy->begun = true;
	copy->start = tmigr_edge_ref(window->start);
	copy->end = tmigr_edge_ref(engine->edge);
	if (tmigr_lat_window_copy(engine, window, copy))
		return tmigr_fail(err, -ENOMEM, "no memory for the window's figures");
	ret = finish(engine, copy, err);
	copy->closed = !ret;
	return ret;
}

int tmigr_engine_window_peek(struct tmigr_engine *engine, struct tmigr_window *window,
			     struct tmigr_window **ret, struct tmigr_err *err)
{
	struct tmigr_window *copy;
	int r;

	if (window->engine != engine)
		return tmigr_fail(err, -EINVAL, "the window is not open");
	r = tmigr_engine_take_edge(engine, err);
	if (r)
		return r;
	copy = calloc(1, sizeof(*copy));
	r = copy ? peek(engine, window, copy, err) : tmigr_fail(err, -ENOMEM, "out of memory");
	tmigr_engine_drop_edge(engine);
	if (r) {
		tmigr_window_free(copy);
		return r;
	}
	*ret = copy;
	return 0;
}

void tmigr_window_free(struct tmigr_window *window)
{
	if (!window)
		return;
	unlink_window(window);
	tmigr_window_totals_free(window->totals);
	tmigr_model_free(window->model);
	tmigr_edge_unref(window->start);
	tmigr_edge_unref(window->end);
	tmigr_rec_vec_free(&window->queue);
	free(window->peaks);
	free(window);
}

/* ---- what a caller sees ---- */

__u64 tmigr_window_start_ns(const struct tmigr_window *window)
{
	return window->start->t_ns;
}

__u64 tmigr_window_end_ns(const struct tmigr_window *window)
{
	return window->end ? window->end->t_ns : 0;
}

const struct tmigr_model *tmigr_window_model(const struct tmigr_window *window)
{
	return window->model;
}

struct tmigr_window_totals *tmigr_window_totals(struct tmigr_window *window)
{
	return window->totals;
}
