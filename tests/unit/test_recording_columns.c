// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns of a recording: any records come back, as few bytes as can be where they are a
 * machine's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/recording_columns.h"
#include "../lib/sim.h"

static __u64 draw(__u64 *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* Frames of @n records each, as a writer and a reader go through a file. */
static void round_trip(const struct tmigr_rec *recs, size_t total, size_t n)
{
	struct tmigr_columns *in = tmigr_columns_new(), *out = tmigr_columns_new();
	unsigned char *bytes = malloc(n * TMIGR_COLUMNS);
	struct tmigr_rec *back = malloc(n * sizeof(*back));

	assert_true(in && out && bytes && back);
	for (size_t at = 0; at < total; at += n) {
		size_t m = total - at < n ? total - at : n;

		memset(back, 0x5a, n * sizeof(*back));
		tmigr_columns_pack(in, recs + at, m, bytes);
		tmigr_columns_unpack(out, bytes, m, back);
		assert_memory_equal(back, recs + at, m * sizeof(*back));
	}
	tmigr_columns_free(in);
	tmigr_columns_free(out);
	free(bytes);
	free(back);
}

static void any_bytes(void **state)
{
	enum { N = 3000 };
	static const __u64 edges[] = {0,
				      1,
				      2,
				      0x7f,
				      0x80,
				      0xffffffff,
				      0x7fffffffffffffff,
				      0x8000000000000000,
				      0xffffffffffffffff};
	struct tmigr_rec *recs = calloc(N, sizeof(*recs));
	__u64 random = 4711;

	(void)state;
	assert_non_null(recs);
	for (size_t i = 0; i < N * sizeof(*recs) / 8; i++)
		((__u64 *)recs)[i] = draw(&random);
	for (size_t n = 1; n <= 130; n += n < 5 || n > 60 ? 1 : 11)
		round_trip(recs, N, n);
	round_trip(recs, N, N);
	/* Few values, so that much is expected and then is not what comes. */
	for (size_t i = 0; i < N; i++) {
		struct tmigr_rec *r = recs + i;

		r->t_ns = edges[draw(&random) % 9];
		r->cpu = (__u32)edges[draw(&random) % 9];
		r->type = (__u8)(draw(&random) % 9);
		r->flags = (__u8)edges[draw(&random) % 5];
		r->level = draw(&random) & 1;
		r->mask = (__u8)(1u << draw(&random) % 8);
		r->a = edges[draw(&random) % 9];
		r->b = edges[draw(&random) % 9];
	}
	round_trip(recs, N, 64);
	round_trip(recs, N, 1000);
	free(recs);
}

/* What is no writer's: some record, in bounds. */
static void any_columns(void **state)
{
	enum { N = 1000 };
	struct tmigr_columns *c = tmigr_columns_new();
	unsigned char *bytes = malloc((size_t)N * TMIGR_COLUMNS);
	struct tmigr_rec *recs = malloc(N * sizeof(*recs));
	__u64 random = 99;

	(void)state;
	assert_true(c && bytes && recs);
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < (size_t)N * TMIGR_COLUMNS; i++)
			bytes[i] = (unsigned char)draw(&random);
		tmigr_columns_unpack(c, bytes, N, recs);
	}
	tmigr_columns_free(c);
	free(bytes);
	free(recs);
}

/* Of a simulated machine: less than a third of the bytes is anything but 0. */
static void machine(void **state)
{
	(void)state;
	for (__u64 seed = 1; seed <= 20; seed++) {
		struct sim_cfg cfg = sim_random(seed);
		size_t filled = 0;
		struct tmigr_columns *c = tmigr_columns_new();
		unsigned char *bytes;
		struct sim sim;

		sim_run(&cfg, &sim);
		bytes = malloc(sim.n_recs * TMIGR_COLUMNS + 1);
		assert_true(c && bytes);
		round_trip(sim.recs, sim.n_recs, 777);
		tmigr_columns_pack(c, sim.recs, sim.n_recs, bytes);
		for (size_t i = 0; i < sim.n_recs * TMIGR_COLUMNS; i++)
			filled += bytes[i] != 0;
		assert_true(filled * 3 < sim.n_recs * TMIGR_COLUMNS);
		tmigr_columns_free(c);
		free(bytes);
		sim_free(&sim);
	}
}

/* What was packed after a reset needs nothing of what came before, and may be read after
 * anything: the flight recorder drops and joins such parts. */
static void parts(void **state)
{
	struct sim_cfg cfg = sim_random(7);
	struct tmigr_columns *c = tmigr_columns_new(), *other = tmigr_columns_new();
	unsigned char *bytes;
	struct tmigr_rec *back;
	struct sim sim;
	size_t half;

	(void)state;
	sim_run(&cfg, &sim);
	half = sim.n_recs / 2;
	bytes = malloc(half * TMIGR_COLUMNS + 1);
	back = calloc(half + 1, sizeof(*back));
	assert_true(c && other && bytes && back && half > 100);
	tmigr_columns_pack(c, sim.recs, half, bytes);
	tmigr_columns_reset(c);
	tmigr_columns_pack(c, sim.recs + half, half, bytes);
	tmigr_columns_unpack(other, bytes, half, back);
	assert_memory_equal(back, sim.recs + half, half * sizeof(*back));
	tmigr_columns_reset(other);
	tmigr_columns_unpack(other, bytes, half, back);
	assert_memory_equal(back, sim.recs + half, half * sizeof(*back));
	tmigr_columns_free(c);
	tmigr_columns_free(other);
	free(bytes);
	free(back);
	sim_free(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(any_columns),
		cmocka_unit_test(machine),
		cmocka_unit_test(parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
