// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON form of a window's totals is lossless, and checks what it reads. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tmigr/totals.h"

/* Every field another value, so that no two can be confused. */
static struct tmigr_window_totals *example(void)
{
	struct tmigr_window_totals *t = calloc(1, sizeof(*t));
	__u64 v = 1;

	t->n_cpus = 2;
	t->cpus = calloc(2, sizeof(*t->cpus));
	for (int i = 0; i < 2; i++) {
		struct tmigr_totals_cpu *c = &t->cpus[i];

		c->cpu = 3 + 4 * (unsigned int)i;
		for (int s = i; s < TMIGR_SLOTS; s += 2) {
			c->time_ns[s] = 1000000000000ULL + v++;
			c->entries[s] = v++;
			c->above[s] = v++;
			c->below[s] = v++;
			for (int k = 0; k < TMIGR_HIST_BUCKETS - s; k += 3)
				c->hist[s][k] = v++;
		}
		c->lost = v++;
		c->records = v++;
	}
	t->cpus[1].hist[5][TMIGR_HIST_BUCKETS - 1] = v++;
	t->n_remote = 2;
	t->remote = calloc(2, sizeof(*t->remote));
	t->remote[0] = (struct tmigr_totals_remote){.executor = 3, .target = 7, .count = v++};
	t->remote[1] = (struct tmigr_totals_remote){.executor = 7, .target = 3, .count = v++};
	t->remote[1].woke[0] = v++;
	t->remote[1].woke[TMIGR_SLOTS - 1] = v++;
	t->remote_lost = v + 7;
	t->observer = (struct tmigr_observer){.bpf_known = true,
					      .bpf_ns = v + 1,
					      .bpf_runs = v + 2,
					      .cpu_ns = v + 3,
					      .wakeups = v + 4,
					      .housekeeping_cpu = -1,
					      .records = v + 5,
					      .drains = v + 6};
	return t;
}

/* Through text and back, as in a recording. */
static json_t *through_text(const struct tmigr_window_totals *t)
{
	json_t *json = tmigr_window_totals_to_json(t), *again;
	char *text;

	assert_non_null(json);
	text = json_dumps(json, JSON_COMPACT);
	assert_non_null(text);
	again = json_loads(text, 0, NULL);
	assert_non_null(again);
	free(text);
	json_decref(json);
	return again;
}

static void test_lossless(void **state)
{
	struct tmigr_window_totals *t = example(), *back = NULL;
	json_t *json = through_text(t);

	(void)state;
	assert_int_equal(tmigr_window_totals_from_json(json, &back, NULL), 0);
	assert_int_equal(back->n_cpus, t->n_cpus);
	assert_memory_equal(back->cpus, t->cpus, t->n_cpus * sizeof(*t->cpus));
	assert_int_equal(back->n_remote, t->n_remote);
	assert_memory_equal(back->remote, t->remote, t->n_remote * sizeof(*t->remote));
	assert_int_equal(back->remote_lost, t->remote_lost);
	assert_true(back->observer.bpf_known);
	assert_int_equal(back->observer.bpf_ns, t->observer.bpf_ns);
	assert_int_equal(back->observer.bpf_runs, t->observer.bpf_runs);
	assert_int_equal(back->observer.cpu_ns, t->observer.cpu_ns);
	assert_int_equal(back->observer.wakeups, t->observer.wakeups);
	assert_int_equal(back->observer.housekeeping_cpu, -1);
	assert_int_equal(back->observer.records, t->observer.records);
	assert_int_equal(back->observer.drains, t->observer.drains);
	json_decref(json);
	tmigr_window_totals_free(t);
	tmigr_window_totals_free(back);
}

static void test_empty(void **state)
{
	struct tmigr_window_totals none = {0}, *back = NULL;
	json_t *json = through_text(&none);

	(void)state;
	assert_int_equal(tmigr_window_totals_from_json(json, &back, NULL), 0);
	assert_int_equal(back->n_cpus, 0);
	assert_int_equal(back->n_remote, 0);
	json_decref(json);
	tmigr_window_totals_free(back);
	tmigr_window_totals_free(NULL);
}

/* Each edit makes one thing wrong; the reader must say so and return nothing. */
static const struct {
	const char *what;
	const char *from, *to; /* text replaced once */
} damages[] = {
	{"no cpus", "\"cpus\":", "\"cpsu\":"},
	{"no remote", "\"remote\":", "\"removed\":"},
	{"no observer", "\"observer\":", "\"observed\":"},
	{"negative time", "\"time_ns\":1", "\"time_ns\":-1"},
	{"time a string", "\"lost\":", "\"lost\":\"a\",\"x\":"},
	{"slot too large", "\"slot\":12", "\"slot\":13"},
	{"slot missing", "\"slot\":", "\"slit\":"},
	{"CPU number too large", "\"cpu\":7", "\"cpu\":70000"},
	{"histogram too long", "\"hist\":[",
	 "\"hist\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
	 "0,"},
	{"histogram no array", "\"hist\":[", "\"hist\":1,\"y\":["},
	{"woke slot too large", "\"woke\":[[12", "\"woke\":[[99"},
	{"woke no pair", "\"woke\":[[", "\"woke\":[3,["},
	{"lost expiries negative", "\"remote_lost\":", "\"remote_lost\":-"},
	{"lost expiries null", "\"remote_lost\":", "\"remote_lost\":null,\"x\":"},
	{"executor missing", "\"executor\":", "\"x\":"},
	{"bpf_known no boolean", "\"bpf_known\":true", "\"bpf_known\":1"},
	{"housekeeping CPU wrong", "\"housekeeping_cpu\":-1", "\"housekeeping_cpu\":-2"},
	{"drains missing", "\"drains\":", "\"trains\":"},
};

static char *replace_once(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	size_t head;
	char *out;

	if (!at)
		return NULL;
	head = (size_t)(at - text);
	out = malloc(strlen(text) + strlen(to) + 1);
	assert_non_null(out);
	memcpy(out, text, head);
	strcpy(out + head, to);
	strcat(out, at + strlen(from));
	return out;
}

static void test_damaged(void **state)
{
	struct tmigr_window_totals *t = example();
	json_t *json;
	char *text;

	(void)state;
	/* The one with slot 12 first, where the edits look for it. */
	t->remote[1].woke[0] = 0;
	json = tmigr_window_totals_to_json(t);
	text = json_dumps(json, JSON_COMPACT);
	assert_non_null(text);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		char *bad = replace_once(text, damages[i].from, damages[i].to);
		struct tmigr_window_totals *back = (void *)0x1;
		struct tmigr_err err = {""};
		json_t *damaged;

		if (!bad)
			fail_msg("%s: nothing to damage", damages[i].what);
		damaged = json_loads(bad, 0, NULL);
		if (!damaged)
			fail_msg("%s: no JSON any more", damages[i].what);
		if (tmigr_window_totals_from_json(damaged, &back, &err) != -EINVAL)
			fail_msg("%s: accepted", damages[i].what);
		assert_ptr_equal(back, (void *)0x1);
		assert_true(strncmp(err.text, "totals: ", 8) == 0);
		json_decref(damaged);
		free(bad);
	}
	free(text);
	json_decref(json);
	tmigr_window_totals_free(t);
}

/* Recordings made before there was such a figure. */
static void test_no_lost_expiries(void **state)
{
	struct tmigr_window_totals *t = example(), *back = NULL;
	json_t *json = through_text(t);

	(void)state;
	assert_int_equal(json_object_del(json, "remote_lost"), 0);
	assert_int_equal(tmigr_window_totals_from_json(json, &back, NULL), 0);
	assert_int_equal(back->remote_lost, 0);
	json_decref(json);
	tmigr_window_totals_free(t);
	tmigr_window_totals_free(back);
}

static void test_not_an_object(void **state)
{
	const char *const texts[] = {"null", "[]", "3", "{\"cpus\":{},\"remote\":[]}",
				     "{\"cpus\":[null],\"remote\":[],\"observer\":{}}"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *json = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		struct tmigr_window_totals *back = NULL;

		assert_non_null(json);
		assert_int_equal(tmigr_window_totals_from_json(json, &back, NULL), -EINVAL);
		json_decref(json);
	}
	assert_int_equal(tmigr_window_totals_from_json(NULL, NULL, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lossless),      cmocka_unit_test(test_empty),
		cmocka_unit_test(test_damaged),	      cmocka_unit_test(test_no_lost_expiries),
		cmocka_unit_test(test_not_an_object),
	};

	return cmocka_run_group_tests_name("totals", tests, NULL, NULL);
}
