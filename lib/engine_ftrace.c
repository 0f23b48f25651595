// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine's source of ftrace buffers, for kernels without BTF or BPF.
 *
 * It knows what events tell, no more.  Words come without seq: the sequencer
 * rebuilds it from the words themselves, for which it needs to see some time beyond
 * an instant before all records up to it are final.  An edge therefore takes that
 * long, and waits until CPUs have committed what they were writing.
 */
#include "engine_priv.h"
#include "ftrace_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>
#include <tracefs.h>

#define BUSY_NS (100 * TMIGR_NS_PER_MS) /* idle time is counted in steps of 10 ms */
/* An event is in the buffer this long after its stamp at the latest. */
#define SETTLE_NS	 (50 * TMIGR_NS_PER_MS)
#define LEAD_NS		 (2 * TMIGR_NS_PER_MS)
#define START_NS	 (100 * TMIGR_NS_PER_MS) /* every CPU that does anything was seen */

#define RING_TOTAL_BYTES (64u << 20)
#define RING_MIN_BYTES	 (256u << 10)
#define RING_MAX_BYTES	 (8u << 20)

struct tmigr_ftrace {
	struct tmigr_engine *engine;
	struct tmigr_instance instance;
	struct tmigr_trace_reader reader;
	struct tmigr_sequencer *seq;
	struct tmigr_keeper *keeper;
	struct tmigr_rec_vec kept; /* as of the last edge's beginning */
	bool tmigr;
	__u64 final_ns; /* records before it are all given */
	__u64 drains;
	struct tmigr_cost cost_start;
	/* By topology index: idle time at the start and now, see note_busy(). */
	long long *idle_start, *idle_now;
	bool *busy_told;
	__u64 begin_ns;
};

static const char *const systems[] = {"power", "timer_migration", "cpuhp", NULL};

/* All that are of use, but the two that tell nothing which others do not:
 * tmigr_update_events, as frequent as all others together, and tmigr_cpu_new_timer. */
static const struct {
	const char *system, *event;
} events[] = {
	{"power", "cpu_idle"},
	{"power", "cpu_idle_miss"},
	{"timer_migration", "tmigr_group_set_cpu_active"},
	{"timer_migration", "tmigr_group_set_cpu_inactive"},
	{"timer_migration", "tmigr_cpu_active"},
	{"timer_migration", "tmigr_cpu_idle"},
	{"timer_migration", "tmigr_cpu_new_timer_idle"},
	{"timer_migration", "tmigr_handle_remote"},
	{"timer_migration", "tmigr_handle_remote_cpu"},
	{"timer_migration", "tmigr_cpu_available"},
	{"timer_migration", "tmigr_cpu_online"},
	{"timer_migration", "tmigr_cpu_unavailable"},
	{"timer_migration", "tmigr_cpu_offline"},
	{"timer_migration", "tmigr_group_set"},
	{"timer_migration", "tmigr_connect_cpu_parent"},
	{"timer_migration", "tmigr_connect_child_parent"},
	{"cpuhp", "cpuhp_enter"},
	{"cpuhp", "cpuhp_exit"},
};

/* ---- records ---- */

static int on_records(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct tmigr_ftrace *f = arg;
	int ret = tmigr_keeper_feed(f->keeper, recs, n);

	return ret ? ret : tmigr_engine_sink(f->engine, recs, n);
}

static int on_events(void *arg, const struct tmigr_traced *evs, size_t n)
{
	return tmigr_sequencer_feed(((struct tmigr_ftrace *)arg)->seq, evs, n);
}

static int on_advance(void *arg, __u64 watermark_ns)
{
	return tmigr_sequencer_advance(((struct tmigr_ftrace *)arg)->seq, watermark_ns);
}

/*
 * A CPU that made no idle event, and whose idle time has stood still since the start
 * for longer than it is counted in, has been running: told once, as of the last
 * instant that is final.
 */
static int note_busy(struct tmigr_ftrace *f)
{
	const struct tmigr_topology *topo = f->engine->topo;
	int ret = 0;

	if (f->final_ns < f->begin_ns + BUSY_NS || tmigr_idle_ticks(NULL, topo, f->idle_now) < 0)
		return 0;
	for (size_t i = 0; i < topo->n_cpus && !ret; i++) {
		const struct tmigr_rec rec = {.t_ns = f->final_ns,
					      .cpu = topo->cpus[i].cpu,
					      .type = TMIGR_REC_SNAP_IDLE,
					      .a = TMIGR_STATE_RUNNING,
					      .b = topo->cpus[i].cpu};

		if (f->busy_told[i] || tmigr_trace_idle_seen(&f->reader, i) ||
		    f->idle_start[i] < 0 || f->idle_now[i] != f->idle_start[i])
			continue;
		f->busy_told[i] = true;
		ret = on_records(f, &rec, 1);
	}
	return ret;
}

/* All records before *@ret_final_ns were given when it returns. */
static int read_until(struct tmigr_ftrace *f, __u64 until_ns, __u64 *ret_final_ns,
		      struct tmigr_err *err)
{
	const struct tmigr_trace_sink sink = {.events = on_events, .advance = on_advance, .arg = f};
	int ret = tmigr_trace_read(&f->reader, until_ns, &sink);

	if (ret)
		return tmigr_fail(err, ret, "cannot read the trace buffers: %s", strerror(-ret));
	if (until_ns > TMIGR_SEQUENCER_HOLD_NS && until_ns - TMIGR_SEQUENCER_HOLD_NS > f->final_ns)
		f->final_ns = until_ns - TMIGR_SEQUENCER_HOLD_NS;
	ret = note_busy(f);
	if (ret)
		return tmigr_fail(err, ret, "no memory for the records");
	*ret_final_ns = f->final_ns;
	return 0;
}

static int drain(struct tmigr_engine *engine, __u64 *ret_watermark_ns, struct tmigr_err *err)
{
	engine->ftrace->drains++;
	return read_until(engine->ftrace, tmigr_now_ns() - SETTLE_NS, ret_watermark_ns, err);
}

/* ---- edges ---- */

static __u64 edge_lead_ns(const struct tmigr_engine *engine)
{
	(void)engine;
	return 2 * LEAD_NS;
}

static int fill_edge(struct tmigr_engine *engine, __u64 at_ns, struct tmigr_edge *edge,
		     struct tmigr_err *err)
{
	struct tmigr_ftrace *f = engine->ftrace;
	__u64 now = tmigr_now_ns(), until, final;
	int ret;

	edge->t_ns = at_ns > now ? at_ns : now;
	tmigr_process_cost(&edge->cost);
	edge->drains = f->drains;
	f->kept.n = 0;
	ret = tmigr_keeper_dump(f->keeper, &f->kept);
	if (ret)
		return tmigr_fail(err, ret, "no memory for an edge");
	until = edge->t_ns + TMIGR_SEQUENCER_HOLD_NS;
	tmigr_sleep_until(until + SETTLE_NS);
	engine->since.n = 0;
	engine->collect = true;
	ret = read_until(f, until, &final, err);
	engine->collect = false;
	for (size_t i = 0; !ret && i < engine->topo->n_cpus; i++) {
		edge->cpus[i].totals.lost = tmigr_trace_lost(&f->reader, i);
		edge->cpus[i].totals.records = tmigr_trace_records(&f->reader, i);
	}
	return ret;
}

static int seed(const struct tmigr_engine *engine, struct tmigr_rec_vec *vec)
{
	const struct tmigr_rec_vec *kept = &engine->ftrace->kept;
	int ret = tmigr_rec_vec_append(vec, kept->recs, kept->n);

	return ret ? ret : tmigr_rec_vec_append(vec, engine->since.recs, engine->since.n);
}

/* ---- the present ---- */

/* As of the last drain or edge. */
static int moment(struct tmigr_engine *engine, struct tmigr_moment **ret, struct tmigr_err *err)
{
	struct tmigr_ftrace *f = engine->ftrace;

	if (f->tmigr && !tmigr_keeper_places(f->keeper))
		return tmigr_fail(
			err, -EAGAIN,
			"no CPU has shown its place in the timer-migration hierarchy yet");
	return tmigr_keeper_moment(f->keeper, engine->topo, ret, err);
}

static void observer(struct tmigr_engine *engine, struct tmigr_cost *begin, struct tmigr_cost *now,
		     __u64 *records, __u64 *drains)
{
	struct tmigr_ftrace *f = engine->ftrace;

	*begin = f->cost_start;
	tmigr_process_cost(now);
	*drains = f->drains;
	*records = 0;
	for (size_t i = 0; i < f->reader.n_cpus; i++)
		*records += tmigr_trace_records(&f->reader, i);
}

static __u64 lost(const struct tmigr_engine *engine)
{
	__u64 sum = 0;

	for (size_t i = 0; i < engine->ftrace->reader.n_cpus; i++)
		sum += tmigr_trace_lost(&engine->ftrace->reader, i);
	return sum;
}

static bool has_tmigr(const struct tmigr_engine *engine)
{
	return engine->ftrace->tmigr;
}

/* ---- life ---- */

static int enable(struct tmigr_ftrace *f, struct tmigr_err *err)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		int ret = tmigr_instance_enable(&f->instance, events[i].system, events[i].event);

		if (ret && ret != -ENOENT)
			return tmigr_fail(err, ret, "cannot enable the event %s: %s",
					  events[i].event, strerror(-ret));
	}
	return 0;
}

static int start(struct tmigr_engine *engine, struct tmigr_err *err)
{
	struct tmigr_ftrace *f = engine->ftrace;
	__u64 begin;
	int ret;

	tmigr_process_cost(&f->cost_start);
	ret = enable(f, err);
	if (ret)
		return ret;
	begin = tmigr_now_ns();
	ret = tmigr_instance_on(&f->instance, true);
	if (ret)
		return tmigr_fail(err, ret, "cannot begin to trace: %s", strerror(-ret));
	f->reader.watermark_ns = f->final_ns = f->begin_ns = begin;
	tmigr_idle_ticks(NULL, engine->topo, f->idle_start);
	tmigr_sleep_until(begin + START_NS);
	return 0;
}

static void stop(struct tmigr_engine *engine)
{
	tmigr_instance_on(&engine->ftrace->instance, false);
}

static void close_source(struct tmigr_engine *engine)
{
	struct tmigr_ftrace *f = engine->ftrace;

	if (!f)
		return;
	/* Its readers keep an instance from being removed. */
	tmigr_trace_reader_free(&f->reader);
	tmigr_instance_remove(&f->instance);
	tmigr_sequencer_free(f->seq);
	tmigr_keeper_free(f->keeper);
	tmigr_rec_vec_free(&f->kept);
	free(f->idle_start);
	free(f->idle_now);
	free(f->busy_told);
	free(f);
	engine->ftrace = NULL;
}

static const struct tmigr_source_ops ops = {
	.name = "ftrace",
	.start = start,
	.stop = stop,
	.close = close_source,
	.has_tmigr = has_tmigr,
	.drain = drain,
	.fill_edge = fill_edge,
	.edge_lead_ns = edge_lead_ns,
	.seed = seed,
	.moment = moment,
	.observer = observer,
	.lost = lost,
};

static size_t ring_bytes(const struct tmigr_live_opts *opts, size_t n_cpus)
{
	size_t bytes = RING_TOTAL_BYTES / n_cpus;

	if (opts && opts->ring_bytes)
		return opts->ring_bytes;
	bytes = bytes < RING_MIN_BYTES ? RING_MIN_BYTES : bytes;
	return bytes > RING_MAX_BYTES ? RING_MAX_BYTES : bytes;
}

static bool model_has_all(const struct tmigr_decoder *d)
{
	return tmigr_decoder_has(d, TMIGR_TRACED_GROUP_ACTIVE) &&
	       tmigr_decoder_has(d, TMIGR_TRACED_GROUP_INACTIVE) &&
	       tmigr_decoder_has(d, TMIGR_TRACED_CPU_ACTIVE) &&
	       tmigr_decoder_has(d, TMIGR_TRACED_CPU_INACTIVE);
}

static int open_reader(struct tmigr_ftrace *f, const char *dir, struct tmigr_err *err)
{
	struct tep_handle *tep = tracefs_local_events_system(dir, systems);
	struct tmigr_decoder *decoder;
	int ret;

	if (!tep)
		return tmigr_fail(err, -EOPNOTSUPP, "%s: no formats of events can be read", dir);
	ret = tmigr_decoder_new(tep, tmigr_hotplug_steps_read(NULL), &decoder, err);
	if (!ret && !tmigr_decoder_has(decoder, TMIGR_TRACED_CPU_IDLE)) {
		ret = tmigr_fail(err, -EOPNOTSUPP,
				 "this kernel has no power:cpu_idle event%s%.200s",
				 *tmigr_decoder_problem(decoder) ? ": " : "",
				 tmigr_decoder_problem(decoder));
		tmigr_decoder_free(decoder);
	} else if (!ret) {
		f->tmigr = model_has_all(decoder);
		ret = tmigr_trace_reader_init(&f->reader, f->engine->topo, &f->instance, tep,
					      decoder, err);
	}
	tep_free(tep);
	return ret == -EINVAL ? -EOPNOTSUPP : ret;
}

int tmigr_ftrace_open(struct tmigr_engine *engine, const struct tmigr_live_opts *opts,
		      struct tmigr_err *err)
{
	struct tmigr_ftrace *f = calloc(1, sizeof(*f));
	const struct tmigr_sequencer_cfg cfg = {.records = on_records, .arg = f};
	char dir[TMIGR_TRACEFS_BYTES];
	int ret;

	engine->source = &ops;
	engine->ftrace = f;
	if (!f || tmigr_sequencer_new(&cfg, &f->seq) || tmigr_keeper_new(engine->topo, &f->keeper))
		return tmigr_fail(err, -ENOMEM, "no memory for the engine");
	f->engine = engine;
	f->idle_start = calloc(engine->topo->n_cpus, sizeof(*f->idle_start));
	f->idle_now = calloc(engine->topo->n_cpus, sizeof(*f->idle_now));
	f->busy_told = calloc(engine->topo->n_cpus, sizeof(*f->busy_told));
	if (!f->idle_start || !f->idle_now || !f->busy_told)
		return tmigr_fail(err, -ENOMEM, "no memory for the engine");
	f->instance = (struct tmigr_instance){.lock = -1, .lease = -1};
	ret = tmigr_tracefs_find(dir, err);
	if (!ret)
		ret = tmigr_instance_create(ring_bytes(opts, engine->topo->n_cpus), &f->instance,
					    err);
	return ret ? ret : open_reader(f, dir, err);
}
