// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of a log, on memory laid out as the programs do (maps.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/live_priv.h"

#define SIZE 256

struct fake {
	struct tmigr_log_reader reader;
	__u64 now_ns;
	struct tmigr_log log;
	__u64 words[(SIZE + TMIGR_LOG_SPARE) / sizeof(__u64)];
};

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->now_ns = tmigr_now_ns();
	tmigr_log_open(&f->reader, &f->log, SIZE, 7);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void put(struct fake *f, size_t n, const __u64 *words)
{
	memcpy(&f->words[f->log.head % SIZE / sizeof(*words)], words, n * sizeof(*words));
	f->log.head += n * sizeof(*words);
}

static __u64 first(__u64 t_ns, __u64 own, __u8 type)
{
	return t_ns << 16 | own << 8 | type;
}

static struct tmigr_rec take(struct fake *f)
{
	const struct tmigr_rec *rec = tmigr_log_peek(&f->reader);
	struct tmigr_rec copy = {0};

	assert_non_null(rec);
	copy = *rec;
	/* It stays until it is taken. */
	assert_memory_equal(tmigr_log_peek(&f->reader), &copy, sizeof(copy));
	tmigr_log_pop(&f->reader);
	return copy;
}

static void test_empty(void **state)
{
	struct fake *f = *state;
	struct tmigr_log_reader none = {0};

	assert_null(tmigr_log_peek(&f->reader));
	assert_null(tmigr_log_peek(&none));
	assert_true(tmigr_log_find_lost(&f->reader) == UINT64_MAX);
	assert_true(tmigr_log_find_lost(&none) == UINT64_MAX);
}

/* Each form, with every field at its largest. */
static void test_forms(void **state)
{
	struct fake *f = *state;
	__u64 t = f->now_ns;
	const __u64 one[] = {first(t, 9, TMIGR_REC_IDLE_ENTER)};
	const __u64 three[] = {first(t + 1, 0xfe, TMIGR_REC_GROUP_ACTIVE), ~1ULL,
			       0xfdULL << 40 | 0xfcULL << 32 | 0xfedcba98};
	const __u64 four[] = {first(t + 2, 0xfb, TMIGR_REC_NODE_GROUP), ~2ULL, ~3ULL,
			      0xfaULL << 40 | 0xf9ULL << 32 | 0xffffffff};
	const struct tmigr_rec want[] = {
		{.t_ns = t, .cpu = 7, .type = TMIGR_REC_IDLE_ENTER, .a = 9},
		{.t_ns = t + 1,
		 .cpu = 7,
		 .type = TMIGR_REC_GROUP_ACTIVE,
		 .flags = 0xfd,
		 .level = 0xfc,
		 .mask = 0xfe,
		 .a = ~1ULL,
		 .b = 0xfedcba98},
		{.t_ns = t + 2,
		 .cpu = (__u32)-1,
		 .type = TMIGR_REC_NODE_GROUP,
		 .flags = 0xfa,
		 .level = 0xf9,
		 .mask = 0xfb,
		 .a = ~2ULL,
		 .b = ~3ULL},
	};

	put(f, 1, one);
	put(f, 3, three);
	put(f, 4, four);
	for (size_t i = 0; i < 3; i++) {
		struct tmigr_rec rec = take(f);

		assert_memory_equal(&rec, &want[i], sizeof(rec));
	}
	assert_null(tmigr_log_peek(&f->reader));
	assert_int_equal(f->log.tail, f->log.head);
}

/* Records of all lengths, over and over: one that begins near the end reaches into what is
 * spare, and the next one is where it would be if it had not. */
static void test_wrap(void **state)
{
	struct fake *f = *state;
	static const __u8 types[] = {TMIGR_REC_IDLE_EXIT, TMIGR_REC_CPU_IDLE, TMIGR_REC_LOST};

	for (__u64 i = 0; i < 1000; i++) {
		__u8 type = types[i * 7 % 3];
		__u64 words[4] = {first(f->now_ns + i, 0, type), i, ~i & 0xff, 7};
		struct tmigr_rec rec;

		put(f, tmigr_log_words(type), words);
		rec = take(f);
		assert_int_equal(rec.type, type);
		assert_int_equal(rec.t_ns, f->now_ns + i);
		assert_int_equal(rec.a, type == TMIGR_REC_IDLE_EXIT ? 0 : i);
		assert_int_equal(rec.b, type == TMIGR_REC_IDLE_EXIT ? 0 : ~i & 0xff);
		assert_int_equal(f->log.tail, f->log.head);
	}
	assert_true(f->log.head > 10 * SIZE);
}

/* Of a time only 48 bits are there: the latest one that is not in the future. */
static void test_time(void **state)
{
	struct fake *f = *state;
	const __u64 ages[] = {0, 1, 1ULL << 20, 1ULL << 40, (1ULL << 47) - 1};

	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		__u64 t = f->now_ns - ages[i];
		__u64 word = first(t, 0, TMIGR_REC_IDLE_EXIT);

		if (ages[i] > f->now_ns)
			continue; /* the machine has not been up for so long */
		put(f, 1, &word);
		assert_int_equal(take(f).t_ns, t);
	}
}

static void test_find_lost(void **state)
{
	struct fake *f = *state;
	/* Records of other types may have anything in b. */
	const __u64 other[] = {first(f->now_ns, 0, TMIGR_REC_CPU_IDLE), 1, 5};
	const __u64 lost[] = {first(f->now_ns, 0, TMIGR_REC_LOST), 3, 8, 7};

	put(f, 3, other);
	put(f, 4, lost);
	assert_int_equal(tmigr_log_find_lost(&f->reader), 8);
	take(f);
	assert_int_equal(tmigr_log_find_lost(&f->reader), 8);
	take(f);
	assert_true(tmigr_log_find_lost(&f->reader) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find_lost, setup, teardown),
	};

	return cmocka_run_group_tests_name("live_log", tests, NULL, NULL);
}
