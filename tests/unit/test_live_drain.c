// SPDX-License-Identifier: GPL-2.0-or-later
/* Losses around an edge, on a log laid out as the programs do: each record lost
 * is told of once, on its side of the edge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/live_priv.h"

#define SIZE 4096

struct fake {
	struct tmigr_topology topo;
	struct tmigr_topo_cpu cpu;
	struct tmigr_live live;
	struct tmigr_ring ring; /* none */
	struct tmigr_log_reader reader;
	__u64 base; /* what times are counted from */
	struct tmigr_cpu_value values, values2;
	struct tmigr_edge_cpu edge;
	size_t possible_idx;
	__u64 told, early, early_ns;
	struct tmigr_rec_vec out;
	struct tmigr_log log;
	__u64 words[(SIZE + TMIGR_LOG_SPARE) / sizeof(__u64)];
};

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->cpu.cpu = 3;
	f->topo.n_cpus = 1;
	f->topo.cpus = &f->cpu;
	/* A log has the low bits of a time, and the reader the others of the present. */
	f->base = tmigr_now_ns() >> 48 << 48;
	tmigr_log_open(&f->reader, &f->log, SIZE, 3);
	f->live.logs = &f->reader;
	f->live.clean_ns = f->base;
	f->live.topo = &f->topo;
	f->live.rings = &f->ring;
	f->live.values = &f->values;
	f->live.values2 = &f->values2;
	f->live.possible_idx = &f->possible_idx;
	f->live.told = &f->told;
	f->live.early = &f->early;
	f->live.early_ns = &f->early_ns;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fake *f = *state;

	tmigr_rec_vec_free(&f->out);
	free(f);
	return 0;
}

static void put(struct fake *f, __u8 type, __u64 t_ns, __u64 a, __u64 b)
{
	__u64 *w = &f->words[f->log.head / sizeof(*w)];

	w[0] = (f->base + t_ns) << TMIGR_LOG_TIME_SHIFT | type;
	if (tmigr_log_words(type) == 4) {
		w[1] = a;
		w[2] = b;
		w[3] = 3;
	}
	f->log.head += tmigr_log_words(type) * sizeof(*w);
}

/* As the programs leave it when a record finds no room. */
static void lose(struct fake *f, __u64 n, __u64 since_ns)
{
	if (!f->values2.lost_since_n)
		f->values2.lost_since_ns = f->base + since_ns;
	f->values2.lost_since_n += n;
	f->values2.cur.lost += n;
}

static void tell(struct fake *f, __u64 t_ns)
{
	put(f, TMIGR_REC_LOST, t_ns, f->values2.lost_since_n, f->values2.lost_since_ns);
	f->values2.lost_since_n = 0;
}

static int keep(void *arg, const struct tmigr_rec *recs, size_t n)
{
	return tmigr_rec_vec_append(arg, recs, n);
}

/* The edge: what was lost before it is what is lost now, less @after. */
static void edge(struct fake *f, __u64 edge_ns, __u64 complete_ns, __u64 after)
{
	f->edge.totals.lost = f->values2.cur.lost - after;
	f->out.n = 0;
	assert_int_equal(tmigr_live_drain_edge(&f->live, f->base + edge_ns, &f->edge,
					       f->base + complete_ns, keep, &f->out, NULL),
			 0);
}

static void assert_rec(const struct fake *f, size_t i, __u8 type, __u64 t_ns, __u64 a, __u64 b)
{
	assert_true(i < f->out.n);
	assert_int_equal(f->out.recs[i].type, type);
	assert_int_equal(f->out.recs[i].t_ns, f->base + t_ns);
	assert_int_equal(f->out.recs[i].a, a);
	assert_int_equal(f->out.recs[i].b, type == TMIGR_REC_LOST ? f->base + b : b);
}

static void test_nothing_lost(void **state)
{
	struct fake *f = *state;

	put(f, TMIGR_REC_IDLE_EXIT, 90, 0, 0);
	put(f, TMIGR_REC_IDLE_EXIT, 100, 0, 0);
	put(f, TMIGR_REC_IDLE_EXIT, 110, 0, 0);
	edge(f, 100, 110, 0);
	assert_int_equal(f->out.n, 3);
	assert_rec(f, 0, TMIGR_REC_IDLE_EXIT, 90, 0, 0);
	assert_rec(f, 1, TMIGR_REC_CLEAN, 100, 0, 0);
	assert_rec(f, 2, TMIGR_REC_IDLE_EXIT, 100, 0, 0);
	assert_int_equal(f->live.watermark_ns, f->base + 110);
}

/* A CPU that cannot write any more is told of at each edge, for its share. */
static void test_told_at_the_edge(void **state)
{
	struct fake *f = *state;

	lose(f, 5, 90);
	edge(f, 100, 110, 0);
	assert_int_equal(f->out.n, 2);
	assert_rec(f, 0, TMIGR_REC_LOST, 99, 5, 90);
	assert_rec(f, 1, TMIGR_REC_CLEAN, 100, 0, 0);
	lose(f, 3, 120);
	edge(f, 200, 210, 0);
	assert_int_equal(f->out.n, 2);
	assert_rec(f, 0, TMIGR_REC_LOST, 199, 3, 100);
	lose(f, 2, 220);
	tell(f, 250);
	edge(f, 300, 310, 0);
	assert_int_equal(f->out.n, 2);
	assert_rec(f, 0, TMIGR_REC_LOST, 250, 2, 200);
	assert_rec(f, 1, TMIGR_REC_CLEAN, 300, 0, 0);
	assert_int_equal(f->told, 10);
	assert_int_equal(f->early, 0);
}

/* Its LOST record comes behind the edge: in the same drain, and with losses from
 * behind the edge in it. */
static void test_told_behind_the_edge(void **state)
{
	struct fake *f = *state;

	lose(f, 5, 90);
	tell(f, 105);
	put(f, TMIGR_REC_IDLE_EXIT, 105, 0, 0);
	edge(f, 100, 110, 0);
	assert_int_equal(f->out.n, 3);
	assert_rec(f, 0, TMIGR_REC_LOST, 99, 5, 90);
	assert_rec(f, 1, TMIGR_REC_CLEAN, 100, 0, 0);
	assert_rec(f, 2, TMIGR_REC_IDLE_EXIT, 105, 0, 0);
	lose(f, 4, 195);
	lose(f, 1, 201);
	tell(f, 205);
	edge(f, 200, 204, 1);
	assert_rec(f, 0, TMIGR_REC_LOST, 199, 4, 195);
	assert_int_equal(f->out.n, 2);
	edge(f, 300, 310, 0);
	assert_rec(f, 0, TMIGR_REC_LOST, 205, 1, 200);
	assert_int_equal(f->told, 10);
}

/* What the counter has and nothing else tells of yet: since the last time that was
 * vouched for. */
static void test_not_known_since_when(void **state)
{
	struct fake *f = *state;

	edge(f, 100, 110, 0);
	f->values2.cur.lost = 2;
	edge(f, 200, 210, 0);
	assert_rec(f, 0, TMIGR_REC_LOST, 199, 2, 100);
	assert_rec(f, 1, TMIGR_REC_CLEAN, 200, 0, 0);
}

/* Lost behind the edge only: not this side's affair. */
static void test_lost_after(void **state)
{
	struct fake *f = *state;

	lose(f, 6, 103);
	edge(f, 100, 110, 6);
	assert_int_equal(f->out.n, 1);
	assert_rec(f, 0, TMIGR_REC_CLEAN, 100, 0, 0);
	tell(f, 150);
	edge(f, 200, 210, 0);
	assert_rec(f, 0, TMIGR_REC_LOST, 150, 6, 103);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_told_at_the_edge, setup, teardown),
		cmocka_unit_test_setup_teardown(test_told_behind_the_edge, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_known_since_when, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_after, setup, teardown),
	};

	return cmocka_run_group_tests_name("live_drain", tests, NULL, NULL);
}
