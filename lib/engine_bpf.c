// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine's source of BPF programs: an edge, and what a window is told there.
 *
 * An edge, in this order: a snapshot of the hierarchy, the announcement, the
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

/* ---- taking an edge ---- */

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
static int announce_at(struct tmigr_engine *engine, __u64 at_ns, struct tmigr_edge *edge,
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
	if (ret)
		return tmigr_fail(err, ret, "cannot read the remote expiries: %s", strerror(-ret));
	return tmigr_lat_edge_read(engine, edge->t_ns, &edge->latency, err);
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
	int ret = announce_at(engine, at_ns, edge, &collect_ns, err);

	if (ret)
		return ret;
	tmigr_sleep_until(edge->t_ns + TMIGR_NS_PER_MS);
	return read_edge(engine, edge, false, collect_ns, err);
}

static int announce(struct tmigr_engine *engine, struct tmigr_edge *edge, struct tmigr_err *err)
{
	return announce_at(engine, 0, edge, &engine->announced_collect_ns, err);
}

static bool is_settled(const struct tmigr_engine *engine, const struct tmigr_edge *edge)
{
	return tmigr_now_ns() >= edge->t_ns + SETTLED_NS &&
	       engine->live->watermark_ns <= edge->t_ns;
}

static int read_announced(struct tmigr_engine *engine, struct tmigr_edge *edge,
			  struct tmigr_err *err)
{
	return read_edge(engine, edge, true, engine->announced_collect_ns, err);
}

/* Snapshots of one machine take about the same time. */
static __u64 edge_lead_ns(const struct tmigr_engine *engine)
{
	return tmigr_live_edge_lead_ns() + 2 * engine->snapshot_took_ns;
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
	const struct tmigr_topo_cpu *cpu = &engine->topo->cpus[i];
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

int tmigr_bpf_seed(const struct tmigr_engine *engine, struct tmigr_rec_vec *vec)
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

/* A loss that was over before the snapshot means nothing to those who begin with
 * it.  A batch ends with every LOST, so live->told is as of this one. */
static bool keeps(const struct tmigr_engine *engine, const struct tmigr_rec *rec)
{
	int i;

	if (rec->t_ns < engine->collect_ns)
		return false;
	if (rec->type != TMIGR_REC_LOST || !engine->collect_ns)
		return true;
	i = tmigr_topology_index(engine->topo, rec->cpu);
	return i < 0 || engine->live->told[i] > engine->snap_lost[i];
}

/* ---- the table ---- */

/* The words at the end show whether the last updates were lost; and what is to
 * be seen of CPUs that were silent. */
static int end_records(const struct tmigr_engine *engine, struct tmigr_rec_vec *vec)
{
	int ret;

	if (engine->live->opts.no_timeline)
		return 0;
	ret = tmigr_live_idle_records(engine->live, engine->quiet, engine->snap_ns, vec);
	return ret ? ret : tmigr_rec_vec_append(vec, engine->snap.recs, engine->snap.n);
}

static int start(struct tmigr_engine *engine, struct tmigr_err *err)
{
	return tmigr_live_start(engine->live, err);
}

static void stop(struct tmigr_engine *engine)
{
	tmigr_live_detach(engine->live);
}

static void close_source(struct tmigr_engine *engine)
{
	tmigr_live_close(engine->live);
	tmigr_rec_vec_free(&engine->snap);
	free(engine->quiet);
	free(engine->snap_lost);
}

static bool has_tmigr(const struct tmigr_engine *engine)
{
	return engine->live->features.tmigr;
}

static int drain(struct tmigr_engine *engine, __u64 *ret_watermark_ns, struct tmigr_err *err)
{
	return tmigr_live_drain(engine->live, tmigr_engine_sink, tmigr_engine_advance, engine,
				ret_watermark_ns, err);
}

static void observer(struct tmigr_engine *engine, struct tmigr_cost *begin, struct tmigr_cost *now,
		     __u64 *records, __u64 *drains)
{
	struct tmigr_live *live = engine->live;

	*begin = live->cost_start;
	*drains = live->drains;
	*records = 0;
	tmigr_live_cost(live, now);
	if (live->started && tmigr_live_read_values(live, live->values) == 0)
		for (size_t i = 0; i < live->topo->n_cpus; i++)
			*records += live->values[live->possible_idx[i]].cur.records;
}

static __u64 lost(const struct tmigr_engine *engine)
{
	return engine->live->lost;
}

const struct tmigr_source_ops tmigr_bpf_source = {
	.name = "bpf",
	.start = start,
	.stop = stop,
	.close = close_source,
	.has_tmigr = has_tmigr,
	.drain = drain,
	.fill_edge = fill_edge,
	.announce = announce,
	.is_settled = is_settled,
	.read_announced = read_announced,
	.edge_lead_ns = edge_lead_ns,
	.seed = tmigr_bpf_seed,
	.end_records = end_records,
	.keeps = keeps,
	.totals = tmigr_bpf_totals,
	.moment = tmigr_bpf_moment,
	.observer = observer,
	.lost = lost,
};

int tmigr_bpf_open(struct tmigr_engine *engine, const struct tmigr_live_opts *opts,
		   struct tmigr_err *err)
{
	int ret;

	engine->source = &tmigr_bpf_source;
	ret = tmigr_live_open(opts, engine->topo, &engine->live, err);
	if (ret)
		return ret;
	engine->quiet = malloc(engine->topo->n_cpus);
	engine->snap_lost = calloc(engine->topo->n_cpus, sizeof(*engine->snap_lost));
	if (!engine->quiet || !engine->snap_lost)
		return tmigr_fail(err, -ENOMEM, "no memory for the engine");
	return 0;
}
