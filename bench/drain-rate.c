// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What it costs to take records out of the CPUs' logs and merge them by time
 * (live_drain.c): the logs of a made-up machine (synth.h), filled before the clock
 * starts.  What follows in the tool, the model, is model-rate's.
 *
 * Prints one JSON line: CPU time for each record, and how often memory was asked for in a
 * drain.  The records must come whole and in the order of time.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../lib/live_priv.h"
#include "../tests/lib/counting_malloc.h"

#include "bench.h"
#include "synth.h"

#define RATE	2000 /* records per second and CPU */
#define REPEATS 9

static const char usage_text[] =
	"usage: drain-rate CPUS RECORDS\n"
	"Drains RECORDS records of a machine of CPUS, 9 times.  For instructions: under\n"
	"valgrind --tool=callgrind --toggle-collect=drain_all.\n";

struct machine {
	struct tmigr_live live;
	struct tmigr_log **logs;
	size_t log_bytes;
	struct tmigr_edge_cpu *edge;
	__u64 until_ns;
	size_t n; /* records in the logs */
};

struct taken {
	size_t n;
	__u64 last_ns;
	bool ordered;
};

/* As the programs write it (maps.h). */
static void write_record(struct tmigr_log *log, const struct tmigr_rec *rec, __u64 t_ns)
{
	__u64 *w = (__u64 *)((char *)(log + 1) + log->head);
	size_t n = tmigr_log_words(rec->type);

	w[0] = t_ns << TMIGR_LOG_TIME_SHIFT | rec->type;
	if (n == 1) {
		w[0] |= rec->a << 8;
	} else {
		w[0] |= (__u64)rec->mask << 8;
		w[1] = rec->a;
		w[2] = (__u64)rec->flags << 40 | (__u64)rec->level << 32 | (__u32)rec->b;
	}
	log->head += n * sizeof(*w);
}

/* The events of @s, as if the last had just been. */
static void fill(struct machine *m, const struct stream *s)
{
	__u64 shift_ns = tmigr_now_ns() - s->end_ns;

	for (size_t i = 0; i < s->n; i++) {
		const struct tmigr_rec *rec = &s->recs[i];

		if (rec->type >= TMIGR_REC_NODE_GROUP)
			continue;
		write_record(m->logs[rec->cpu], rec, rec->t_ns + shift_ns);
		m->n++;
	}
	m->until_ns = s->end_ns + shift_ns;
}

/* A log has room for twice a CPU's share, and a record in it three words. */
static void build(struct machine *m, const struct stream *s)
{
	struct tmigr_live *live = &m->live;
	size_t n = s->topo->n_cpus;

	m->log_bytes = 4096;
	while (m->log_bytes < s->n / n * 2 * 24)
		m->log_bytes *= 2;
	m->logs = synth_calloc(n, sizeof(*m->logs));
	m->edge = synth_calloc(n, sizeof(*m->edge));
	live->topo = s->topo;
	live->logs = synth_calloc(n, sizeof(*live->logs));
	live->rings = synth_calloc(n, sizeof(*live->rings));
	live->values = synth_calloc(1, sizeof(*live->values)); /* nothing is lost anywhere */
	live->values2 = live->values;
	live->possible_idx = synth_calloc(n, sizeof(*live->possible_idx));
	live->told = synth_calloc(n, sizeof(*live->told));
	live->early = synth_calloc(n, sizeof(*live->early));
	live->early_ns = synth_calloc(n, sizeof(*live->early_ns));
	for (size_t i = 0; i < n; i++)
		m->logs[i] = synth_calloc(1, sizeof(struct tmigr_log) + m->log_bytes);
}

/* As it was before a drain. */
static void rewind_logs(struct machine *m)
{
	for (size_t i = 0; i < m->live.topo->n_cpus; i++) {
		m->logs[i]->tail = 0;
		tmigr_log_open(&m->live.logs[i], m->logs[i], m->log_bytes, (unsigned int)i);
	}
	m->live.watermark_ns = m->live.clean_ns = 0;
}

static int take(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct taken *t = arg;

	for (size_t i = 0; i < n; i++) {
		if (recs[i].type == TMIGR_REC_CLEAN)
			continue;
		t->ordered &= recs[i].t_ns >= t->last_ns;
		t->last_ns = recs[i].t_ns;
		t->n++;
	}
	return 0;
}

/* What is measured.  Its name is what callgrind is told to collect in. */
__attribute__((noinline, noclone)) static int drain_all(struct machine *m, struct taken *t)
{
	return tmigr_live_drain_edge(&m->live, m->until_ns, m->edge, m->until_ns, take, t, NULL);
}

static int by_value(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

static int measure(struct machine *m)
{
	__u64 ns[REPEATS];
	size_t asked_for = 0;

	for (size_t i = 0; i < REPEATS; i++) {
		struct taken t = {.ordered = true};
		__u64 start_ns;
		int ret;

		rewind_logs(m);
		asked_for = asked;
		start_ns = bench_cpu_ns();
		ret = drain_all(m, &t);
		ns[i] = bench_cpu_ns() - start_ns;
		asked_for = asked - asked_for;
		if (ret || t.n != m->n || !t.ordered) {
			fprintf(stderr, "drain-rate: wrong: %d, %zu of %zu records\n", ret, t.n,
				m->n);
			return 1;
		}
	}
	qsort(ns, REPEATS, sizeof(ns[0]), by_value);
	printf("{\"cpus\":%zu,\"records\":%zu,\"median_ns\":%.1f,\"min_ns\":%.1f,"
	       "\"asked_for_memory\":%zu}\n",
	       m->live.topo->n_cpus, m->n, (double)ns[REPEATS / 2] / (double)m->n,
	       (double)ns[0] / (double)m->n, asked_for);
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct machine m = {0};
	struct stream s = {0};

	if (argc != 3) {
		fputs(usage_text, stderr);
		return 2;
	}
	synth_stream(&s, bench_number("drain-rate", argv[1], 2, TMIGR_CPU_MAX),
		     bench_number("drain-rate", argv[2], 1, 10000000), RATE);
	build(&m, &s);
	fill(&m, &s);
	return measure(&m);
}
