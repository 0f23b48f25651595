// SPDX-License-Identifier: GPL-2.0-or-later
/* Edges: instants that windows begin and end at, taken by the source. */
#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- edges ---- */

struct tmigr_edge *tmigr_edge_ref(struct tmigr_edge *edge)
{
	edge->refs++;
	return edge;
}

void tmigr_edge_unref(struct tmigr_edge *edge)
{
	if (!edge || --edge->refs)
		return;
	free(edge->cpus);
	free(edge->remote.pairs);
	tmigr_lat_edge_free(edge->latency);
	free(edge);
}

static struct tmigr_edge *edge_new(size_t n_cpus)
{
	struct tmigr_edge *edge = calloc(1, sizeof(*edge));

	if (!edge)
		return NULL;
	edge->refs = 1;
	edge->cpus = calloc(n_cpus, sizeof(*edge->cpus));
	if (edge->cpus)
		return edge;
	tmigr_edge_unref(edge);
	return NULL;
}

/* ---- taking one ---- */

/* The source knows of the last one only. */
static void forget_announced(struct tmigr_engine *engine)
{
	tmigr_edge_unref(engine->announced);
	engine->announced = NULL;
}

static int take_edge_at(struct tmigr_engine *engine, __u64 at_ns, struct tmigr_err *err)
{
	struct tmigr_edge *edge;
	int ret;

	if (!engine->attached)
		return tmigr_fail(err, -EINVAL, "the engine does not run");
	if (engine->edge)
		return 0;
	forget_announced(engine);
	edge = edge_new(engine->topo->n_cpus);
	if (!edge)
		return tmigr_fail(err, -ENOMEM, "no memory for the figures");
	ret = engine->source->fill_edge(engine, at_ns, edge, err);
	if (ret) {
		tmigr_edge_unref(edge);
		return ret;
	}
	engine->edge = edge;
	return 0;
}

int tmigr_engine_take_edge(struct tmigr_engine *engine, struct tmigr_err *err)
{
	return take_edge_at(engine, 0, err);
}

void tmigr_engine_drop_edge(struct tmigr_engine *engine)
{
	if (engine->held)
		return;
	tmigr_edge_unref(engine->edge);
	engine->edge = NULL;
	/* A first edge may have brought all that the rings hold. */
	tmigr_rec_vec_free(&engine->since);
}

int tmigr_engine_hold_edge_at(struct tmigr_engine *engine, __u64 at_ns, __u64 *ret_edge_ns,
			      struct tmigr_err *err)
{
	int ret;

	tmigr_engine_release_edge(engine);
	ret = take_edge_at(engine, at_ns, err);
	if (ret)
		return ret;
	engine->held = true;
	if (ret_edge_ns)
		*ret_edge_ns = engine->edge->t_ns;
	return 0;
}

int tmigr_engine_hold_edge(struct tmigr_engine *engine, __u64 *ret_edge_ns, struct tmigr_err *err)
{
	return tmigr_engine_hold_edge_at(engine, 0, ret_edge_ns, err);
}

int tmigr_engine_announce_edge(struct tmigr_engine *engine, struct tmigr_err *err)
{
	struct tmigr_edge *edge;
	int ret;

	if (!engine->attached)
		return tmigr_fail(err, -EINVAL, "the engine does not run");
	if (!engine->source->announce)
		return tmigr_fail(err, -EOPNOTSUPP, "%s announces no edges", engine->source->name);
	tmigr_engine_release_edge(engine);
	forget_announced(engine);
	edge = edge_new(engine->topo->n_cpus);
	if (!edge)
		return tmigr_fail(err, -ENOMEM, "no memory for the figures");
	ret = engine->source->announce(engine, edge, err);
	if (ret)
		tmigr_edge_unref(edge);
	else
		engine->announced = edge;
	return ret;
}

int tmigr_engine_hold_announced(struct tmigr_engine *engine, __u64 *ret_edge_ns,
				struct tmigr_err *err)
{
	struct tmigr_edge *edge = engine->announced;
	int ret;

	if (!edge || !engine->source->is_settled(engine, edge))
		return -EAGAIN;
	tmigr_engine_release_edge(engine);
	engine->announced = NULL;
	ret = engine->source->read_announced(engine, edge, err);
	if (ret) {
		tmigr_edge_unref(edge);
		return ret;
	}
	engine->edge = edge;
	engine->held = true;
	*ret_edge_ns = edge->t_ns;
	return 0;
}

__u64 tmigr_engine_edge_lead_ns(const struct tmigr_engine *engine)
{
	return engine->source->edge_lead_ns(engine);
}

void tmigr_engine_release_edge(struct tmigr_engine *engine)
{
	engine->held = false;
	tmigr_engine_drop_edge(engine);
}
