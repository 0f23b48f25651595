// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An edge.  In this order: a snapshot of the hierarchy, the announcement, the
 * figures, the remote expiries, and the records up to it, so that a window that
 * ends there has all of it, and one that begins there begins complete.
 */
#include "engine_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A handler that was under way when an edge was announced has ended by then: it runs
 * with interrupts off. */
#define SETTLED_NS (500 * TMIGR_NS_PER_MS)

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

static int copy_remote(const struct tmigr_pairs *from, struct tmigr_pairs *to)
{
	if (!from->n)
		return 0;
	to->pairs = malloc(from->n * sizeof(*to->pairs));
	if (!to->pairs)
		return -ENOMEM;
	memcpy(to->pairs, from->pairs, from->n * sizeof(*to->pairs));
	to->n = to->cap = from->n;
	return 0;
}

/* ---- taking one ---- */

/* What the kernel's memory says, and what was lost before it was read. */
static int read_snapshot(struct tmigr_engine *engine, struct tmigr_err *err)
{
	struct tmigr_live *live = engine->live;
	int ret;

	engine->snap.n = 0;
	memset(engine->quiet, TMIGR_SLOT_UNKNOWN, live->topo->n_cpus);
	ret = tmigr_live_read_values(live, live->values);
	if (ret)
		return tmigr_fail(err, ret, "cannot read the BPF maps: %s", strerror(-ret));
	for (size_t i = 0; i < live->topo->n_cpus; i++)
		engine->snap_lost[i] = live->values[live->possible_idx[i]].cur.lost;
	engine->snap_ns = tmigr_now_ns();
	if (live->opts.no_snapshot)
		return 0;
	ret = tmigr_live_read_snapshot(live, engine->quiet, err);
	if (ret || live->opts.no_timeline)
		return ret;
	ret = tmigr_live_snapshot_records(live, &engine->snap);
	return ret ? tmigr_fail(err, ret, "no memory for a snapshot") : 0;
}

/* It comes before the announcement, for it must be older than the edge however long
 * it takes; so an edge at a wanted time has to know how long that is. */
static int take_snapshot(struct tmigr_engine *engine, struct tmigr_err *err)
{
	__u64 begin = tmigr_now_ns(), took;
	int ret = read_snapshot(engine, err);

	took = tmigr_now_ns() - begin;
	if (took > engine->snapshot_took_ns)
		engine->snapshot_took_ns = took;
	return ret;
}

/*
 * From when on a window that begins here needs the records: the snapshot, and
 * where that does not tell all, whatever there is.  So too where no record was
 * taken yet: then the CPUs' idle states are in them.
 */
static __u64 collect_from(const struct tmigr_engine *engine)
{
	const struct tmigr_live *live = engine->live;

	if (!live->watermark_ns || live->opts.no_snapshot || !tmigr_live_snapshot_whole(live))
		return 0;
	return engine->snap_ns;
}

/* @collect_ns: what engine->collect_ns is to be. */
static int announce(struct tmigr_engine *engine, __u64 at_ns, struct tmigr_edge *edge,
		    __u64 *collect_ns, struct tmigr_err *err)
{
	int ret = take_snapshot(engine, err);

	if (ret)
		return ret;
	*collect_ns = collect_from(engine);
	edge->t_ns = tmigr_live_announce(engine->live, at_ns);
	tmigr_live_cost(engine->live, &edge->cost);
	edge->drains = engine->live->drains;
	return 0;
}

static int read_figures(struct tmigr_engine *engine, struct tmigr_edge *edge, bool settled,
			__u64 *ret_complete_ns, struct tmigr_err *err)
{
	struct tmigr_live *live = engine->live;
	int ret = tmigr_live_read_edge(live, edge->t_ns, settled, edge->cpus, ret_complete_ns, err);

	if (ret)
		return ret;
	ret = tmigr_live_fold_remote(live, edge->t_ns);
	if (!ret)
		ret = copy_remote(&live->remote, &edge->remote);
	return ret ? tmigr_fail(err, ret, "cannot read the remote expiries: %s", strerror(-ret))
		   : 0;
}

static int read_edge(struct tmigr_engine *engine, struct tmigr_edge *edge, bool settled,
		     __u64 collect_ns, struct tmigr_err *err)
{
	__u64 complete_ns;
	int ret = read_figures(engine, edge, settled, &complete_ns, err);

	if (ret)
		return ret;
	engine->collect_ns = collect_ns;
	engine->have_ns = collect_ns ? collect_ns : engine->live->watermark_ns;
	engine->since.n = 0;
	engine->collect = true;
	ret = tmigr_live_drain_edge(engine->live, edge->t_ns, edge->cpus, complete_ns,
				    tmigr_engine_sink, engine, err);
	engine->collect = false;
	return ret;
}

static int fill_edge(struct tmigr_engine *engine, __u64 at_ns, struct tmigr_edge *edge,
		     struct tmigr_err *err)
{
	__u64 collect_ns;
	int ret = announce(engine, at_ns, edge, &collect_ns, err);

	if (ret)
		return ret;
	tmigr_sleep_until(edge->t_ns + TMIGR_NS_PER_MS);
	return read_edge(engine, edge, false, collect_ns, err);
}

/* The programs know of the last one only. */
static void forget_announced(struct tmigr_engine *engine)
{
	tmigr_edge_unref(engine->announced);
	engine->announced = NULL;
}

static int take_edge_at(struct tmigr_engine *engine, __u64 at_ns, struct tmigr_err *err)
{
	struct tmigr_edge *edge;
	int ret;

	if (!engine->live->attached)
		return tmigr_fail(err, -EINVAL, "the engine does not run");
	if (engine->edge)
		return 0;
	forget_announced(engine);
	edge = edge_new(engine->live->topo->n_cpus);
	if (!edge)
		return tmigr_fail(err, -ENOMEM, "no memory for the figures");
	ret = fill_edge(engine, at_ns, edge, err);
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

	if (!engine->live->attached)
		return tmigr_fail(err, -EINVAL, "the engine does not run");
	tmigr_engine_release_edge(engine);
	forget_announced(engine);
	edge = edge_new(engine->live->topo->n_cpus);
	if (!edge)
		return tmigr_fail(err, -ENOMEM, "no memory for the figures");
	ret = announce(engine, 0, edge, &engine->announced_collect_ns, err);
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

	if (!edge || tmigr_now_ns() < edge->t_ns + SETTLED_NS ||
	    engine->live->watermark_ns > edge->t_ns)
		return -EAGAIN;
	tmigr_engine_release_edge(engine);
	engine->announced = NULL;
	ret = read_edge(engine, edge, true, engine->announced_collect_ns, err);
	if (ret) {
		tmigr_edge_unref(edge);
		return ret;
	}
	engine->edge = edge;
	engine->held = true;
	*ret_edge_ns = edge->t_ns;
	return 0;
}

/* Snapshots of one machine take about the same time. */
__u64 tmigr_engine_edge_lead_ns(const struct tmigr_engine *engine)
{
	return tmigr_live_edge_lead_ns() + 2 * engine->snapshot_took_ns;
}

void tmigr_engine_release_edge(struct tmigr_engine *engine)
{
	engine->held = false;
	tmigr_engine_drop_edge(engine);
}

/* ---- what a window that begins at an edge must know ---- */

static bool is_idle(unsigned int slot)
{
	return slot >= TMIGR_SLOT_STATE0 && slot < TMIGR_SLOT_STATE0 + TMIGR_STATES;
}

static int add_event(struct tmigr_rec_vec *vec, unsigned int cpu, __u64 t_ns, __u8 type, __u64 a)
{
	struct tmigr_rec rec = {.t_ns = t_ns, .cpu = cpu, .type = type, .a = a};

	if (type != TMIGR_REC_IDLE_ENTER && type != TMIGR_REC_IDLE_EXIT)
		rec.b = cpu;
	if (type == TMIGR_REC_HANDLE_REMOTE_CPU)
		rec.flags = TMIGR_RF_IDLE_TASK;
	return tmigr_rec_vec_add(vec, rec);
}

/* The last idle interval of a CPU that runs, by what is still due from it: a
 * remote expiry may yet be booked to it.  Its start is made up; it lies before
 * the window, where only the state counts. */
static int add_exit(struct tmigr_rec_vec *vec, unsigned int cpu, const struct tmigr_edge_cpu *e,
		    unsigned int woke)
{
	__u64 t = e->since_ns;
	int ret = 0;

	if (is_idle(woke))
		ret = add_event(vec, cpu, t - 1, TMIGR_REC_IDLE_ENTER, woke - TMIGR_SLOT_STATE0);
	if (!ret)
		ret = add_event(vec, cpu, t, TMIGR_REC_IDLE_EXIT, 0);
	if (!ret && woke == TMIGR_SLOTS)
		ret = add_event(vec, cpu, t, TMIGR_REC_HANDLE_REMOTE_CPU, 0);
	return ret;
}

/* The events that brought a CPU to what it is in at the edge, which are out of
 * the rings. */
static int add_history(const struct tmigr_engine *engine, size_t i, struct tmigr_rec_vec *vec)
{
	const struct tmigr_topo_cpu *cpu = &engine->live->topo->cpus[i];
	const struct tmigr_edge_cpu *e = &engine->edge->cpus[i];
	unsigned int slot = e->totals.slot, woke = e->totals.woke_slot;
	int ret = 0;

	if (slot == TMIGR_SLOT_OFFLINE)
		return add_event(vec, cpu->cpu, e->since_ns, TMIGR_REC_CPU_OFFLINE, 0);
	/* It came after the topology was read. */
	if (!cpu->online)
		ret = add_event(vec, cpu->cpu, e->since_ns - 2, TMIGR_REC_CPU_ONLINE, 0);
	if (ret)
		return ret;
	if (is_idle(slot))
		return add_event(vec, cpu->cpu, e->since_ns, TMIGR_REC_IDLE_ENTER,
				 slot - TMIGR_SLOT_STATE0);
	if (slot != TMIGR_SLOT_RUNNING)
		return 0;
	return add_exit(vec, cpu->cpu, e,
			woke == TMIGR_SLOT_UNKNOWN ? engine->live->quiet[i] : woke);
}

static bool had_event(const struct tmigr_engine *engine, size_t i)
{
	const struct tmigr_edge_cpu *e = &engine->edge->cpus[i];

	return e->first_ns && e->first_ns < engine->edge->t_ns;
}

/* What led to the CPUs' states at the edge and is not among the records. */
static int add_before(const struct tmigr_engine *engine, struct tmigr_rec_vec *vec)
{
	const struct tmigr_live *live = engine->live;
	unsigned char *quiet = malloc(live->topo->n_cpus);
	int ret = quiet ? 0 : -ENOMEM;

	for (size_t i = 0; i < live->topo->n_cpus && !ret; i++) {
		const struct tmigr_edge_cpu *e = &engine->edge->cpus[i];
		bool event = had_event(engine, i);

		quiet[i] = !event || e->first_ns >= engine->have_ns ? live->quiet[i]
								    : TMIGR_SLOT_UNKNOWN;
		if (event && e->since_ns < engine->have_ns)
			ret = add_history(engine, i, vec);
	}
	/* A quiet CPU has been in its state ever since the programs are there;
	 * stamped so, a first event that races with the snapshot comes after. */
	if (!ret)
		ret = tmigr_live_idle_records(live, quiet, live->attached_ns, vec);
	free(quiet);
	return ret;
}

/* The states at the edge, which losses among the records may have blurred. */
static int add_at_edge(const struct tmigr_engine *engine, struct tmigr_rec_vec *vec)
{
	const struct tmigr_live *live = engine->live;
	unsigned char *slots = malloc(live->topo->n_cpus);
	int ret;

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < live->topo->n_cpus; i++)
		slots[i] = had_event(engine, i) ? (unsigned char)engine->edge->cpus[i].totals.slot
						: TMIGR_SLOT_UNKNOWN;
	ret = tmigr_live_idle_records(live, slots, engine->edge->t_ns - 1, vec);
	free(slots);
	return ret;
}

int tmigr_engine_seed(struct tmigr_engine *engine, struct tmigr_rec_vec *vec)
{
	int ret;

	if (engine->live->opts.no_timeline)
		return 0;
	ret = add_before(engine, vec);
	if (!ret)
		ret = tmigr_rec_vec_append(vec, engine->snap.recs, engine->snap.n);
	if (!ret)
		ret = tmigr_rec_vec_append(vec, engine->since.recs, engine->since.n);
	return ret ? ret : add_at_edge(engine, vec);
}
