// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of a ring buffer, on memory laid out as the kernel's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "../../lib/live_priv.h"

#define SIZE 128 /* three records of 40 bytes, and 8 over */

struct fake {
	struct tmigr_ring ring;
	unsigned long consumer, producer;
	unsigned char data[2 * SIZE] __attribute__((aligned(8)));
};

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->ring = (struct tmigr_ring){
		.consumer = &f->consumer, .producer = &f->producer, .data = f->data, .size = SIZE};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* The kernel maps the data twice: write to both. */
static void store(struct fake *f, unsigned long pos, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = (pos + i) % SIZE;

		f->data[at] = f->data[at + SIZE] = ((const unsigned char *)from)[i];
	}
}

static void put(struct fake *f, __u8 type, __u64 t_ns, __u64 b, __u32 bits)
{
	struct tmigr_rec rec = {.t_ns = t_ns, .type = type, .b = b};
	__u32 head[2] = {sizeof(rec) | bits, 0};

	store(f, f->producer, head, sizeof(head));
	store(f, f->producer + sizeof(head), &rec, sizeof(rec));
	f->producer += sizeof(head) + sizeof(rec);
}

static void test_empty(void **state)
{
	struct fake *f = *state;
	struct tmigr_ring unmapped = {0};

	assert_null(tmigr_ring_peek(&f->ring));
	assert_null(tmigr_ring_peek(&unmapped));
}

/* A record that is peeked at stays; popped, it goes. Around the end too. */
static void test_order_and_wrap(void **state)
{
	struct fake *f = *state;

	for (__u64 t = 1; t <= 50; t++) {
		put(f, TMIGR_REC_IDLE_EXIT, t, ~t, 0);
		if (t < 3)
			continue;
		for (int again = 0; again < 2; again++) {
			const struct tmigr_rec *rec = tmigr_ring_peek(&f->ring);

			assert_non_null(rec);
			assert_int_equal(rec->t_ns, t - 2);
			assert_true(rec->b == ~(t - 2));
		}
		tmigr_ring_pop(&f->ring);
	}
	assert_int_equal(f->producer - f->consumer, 2 * 40);
}

static void test_discarded(void **state)
{
	struct fake *f = *state;

	put(f, TMIGR_REC_IDLE_EXIT, 1, 0, BPF_RINGBUF_DISCARD_BIT);
	put(f, TMIGR_REC_IDLE_EXIT, 2, 0, 0);
	assert_int_equal(tmigr_ring_peek(&f->ring)->t_ns, 2);
	tmigr_ring_pop(&f->ring);
	put(f, TMIGR_REC_IDLE_EXIT, 3, 0, BPF_RINGBUF_DISCARD_BIT);
	assert_null(tmigr_ring_peek(&f->ring));
	assert_int_equal(f->consumer, f->producer);
}

/* A record still being written stops the reader, and what is behind it waits. */
static void test_busy(void **state)
{
	struct fake *f = *state;
	__u32 done = sizeof(struct tmigr_rec);

	put(f, TMIGR_REC_IDLE_EXIT, 1, 0, BPF_RINGBUF_BUSY_BIT);
	put(f, TMIGR_REC_LOST, 2, 7, 0);
	assert_null(tmigr_ring_peek(&f->ring));
	assert_int_equal(f->consumer, 0);
	store(f, 0, &done, sizeof(done));
	assert_int_equal(tmigr_ring_peek(&f->ring)->t_ns, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order_and_wrap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_discarded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_busy, setup, teardown),
	};

	return cmocka_run_group_tests_name("live_ring", tests, NULL, NULL);
}
