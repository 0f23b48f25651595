// SPDX-License-Identifier: GPL-2.0-or-later
/* A log that overruns, by events of our own making: what is read is what was made. */
#include "engine.h"
#include "tap.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tmigr.skel.h"

/* One cpu_idle event on CPU @cpu of programs that are attached to nothing. */
static bool drive(const struct tmigr_live *live, unsigned int cpu, __u32 state)
{
	__u64 args[2] = {state, cpu};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args),
		    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	return bpf_prog_test_run_opts(bpf_program__fd(live->skel->progs.on_cpu_idle), &opts) == 0;
}

#define STEP 64

/* What a drain gave, and what it said on the way. */
struct driven {
	struct tmigr_rec_vec vec;
	size_t told;	    /* how often it said how far it is */
	__u64 watermark_ns; /* the last time */
	bool good;	    /* and it was true */
};

static int collect(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct driven *d = arg;

	for (size_t i = 0; i < n; i++)
		d->good &= recs[i].t_ns >= d->watermark_ns;
	return tmigr_rec_vec_append(&d->vec, recs, n);
}

static int advance(void *arg, __u64 watermark_ns)
{
	struct driven *d = arg;

	d->good &= d->vec.n && d->vec.recs[d->vec.n - 1].type == TMIGR_REC_CLEAN &&
		   watermark_ns > d->watermark_ns;
	d->watermark_ns = watermark_ns;
	d->told++;
	return 0;
}

/* The CLEAN records of the steps, all but the one at the end, are taken out again. */
static void drain_driven(struct tmigr_live *live, struct driven *d)
{
	size_t kept = 0, records;
	__u64 watermark;

	*d = (struct driven){.vec = d->vec, .good = true};
	d->vec.n = 0;
	tmigr_sleep_until(tmigr_now_ns() + 60 * TMIGR_NS_PER_MS);
	tap_ok(tmigr_live_drain(live, collect, advance, d, &watermark, NULL) == 0,
	       "driven: drained");
	for (size_t i = 0; i < d->vec.n; i++)
		if (d->vec.recs[i].type != TMIGR_REC_CLEAN || i + 1 == d->vec.n)
			d->vec.recs[kept++] = d->vec.recs[i];
	d->vec.n = kept;
	records = kept && d->vec.recs[kept - 1].type == TMIGR_REC_CLEAN ? kept - 1 : kept;
	tap_ok(d->good && d->told == (records - 1) / STEP,
	       "driven: told %zu times on the way how far it is, of %zu records", d->told, records);
}

/* Of @n events from number @first on: enter state k % 10, exit, and so on, at rising times,
 * after @skip others. */
static bool as_driven(const struct tmigr_rec_vec *vec, size_t skip, unsigned int cpu, size_t first,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct tmigr_rec *r = &vec->recs[skip + i];
		size_t k = first + i;

		if (r->cpu != cpu ||
		    r->type != (k & 1 ? TMIGR_REC_IDLE_EXIT : TMIGR_REC_IDLE_ENTER) ||
		    r->a != (k & 1 ? 0 : k % 10) ||
		    (skip + i && r->t_ns < vec->recs[skip + i - 1].t_ns))
			return false;
	}
	return true;
}

/* Three times more than there is room for, so that the log wraps in between. */
void engine_drive(const struct tmigr_topology *topo)
{
	const struct tmigr_live_opts opts = {
		.ring_bytes = 4096, .step = STEP, .source = TMIGR_SOURCE_BPF};
	const size_t n = 700, room = (4096 - TMIGR_LOG_SPARE) / 8;
	unsigned int cpu = topo->cpus[0].cpu;
	struct tmigr_engine *engine = NULL;
	struct driven d = {.good = true};
	struct tmigr_rec_vec *vec = &d.vec;
	bool ran = tmigr_engine_open(&opts, topo, &engine, NULL) == 0;

	for (int round = 0; ran && round < 3; round++) {
		size_t told = round ? 1 : 0, kept = 0;
		__u64 lost = vec->n ? n - room : 0;

		for (size_t k = 0; ran && k < n; k++)
			ran = drive(engine->live, cpu, k & 1 ? (__u32)-1 : k % 10);
		drain_driven(engine->live, &d);
		/* What is vouched for comes last, and the LOST of the round before first. */
		while (kept < vec->n && vec->recs[kept].type != TMIGR_REC_CLEAN)
			kept++;
		tap_ok(kept == room + told - (told ? 4 : 0), "driven %d: %zu records had room",
		       round, kept);
		tap_ok(!told || (vec->recs[0].type == TMIGR_REC_LOST && vec->recs[0].a >= lost &&
				 vec->recs[0].cpu == cpu),
		       "driven %d: what was lost is told first", round);
		tap_ok(kept > told && as_driven(vec, told, cpu, 0, kept - told),
		       "driven %d: the others are what happened", round);
		tap_ok(tmigr_live_read_values(engine->live, engine->live->values) == 0 &&
			       engine->live->values[engine->live->possible_idx[0]].lost_since_n ==
				       n - (kept - told),
		       "driven %d: the rest is counted as lost", round);
	}
	tap_ok(ran, "driven: the programs ran");
	tmigr_rec_vec_free(vec);
	tmigr_engine_close(engine);
}
