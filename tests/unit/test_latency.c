// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Figures of latency on their way: through a recording's JSON without loss, and into
 * the report and its CSV tables, where they add up by CPU, class and cause.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report_machine.h"

#define CPUS  8 /* of machine_4_4() */
#define SLEEP (TMIGR_SLOT_STATE0 + 1)

static __u64 seed = 1;

static __u64 any(__u64 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

static void fill_row(struct tmigr_lat_row *row)
{
	row->count = 1 + any(50);
	row->slept_ns = any(SEC);
	row->awake_ns = any(MS);
	row->expected_n = row->count;
	row->short_n = any(row->count);
	row->short_slept_ns = row->short_n * 1000;
	row->short_expected_ns = row->short_n * 7000;
}

static void fill_slot(struct tmigr_latency_slot *s)
{
	__u64 all = 0;

	for (int c = 0; c < TMIGR_WAKE_CAUSES; c++) {
		fill_row(&s->sums.causes[c]);
		all += s->sums.causes[c].count;
	}
	s->open_start = any(2);
	s->open_end = any(2);
	s->sums.entries = all + s->open_end - s->open_start;
	s->sums.rejected = any(9);
	s->sums.remote_wakes = any(9);
	for (int k = 0; k < TMIGR_LAT_KINDS; k++) {
		for (int b = 5; b < 20; b++)
			s->sums.dist[k].hist[b] = any(100);
		s->sums.dist[k].sum_ns = any(SEC);
		s->max_ns[k] = (1 << 19) + any(1 << 19);
	}
}

/* Interrupts take half of their cause's row, targets all of theirs. */
static void fill_details(struct tmigr_latency *lat)
{
	for (unsigned int i = 0; i < CPUS; i++) {
		struct tmigr_latency_detail *d = &lat->details[2 * i];
		const struct tmigr_latency_slot *s = &lat->cpus[i][SLEEP];

		d[0] = (struct tmigr_latency_detail){.cpu = i,
						     .slot = SLEEP,
						     .cause = TMIGR_WAKE_REMOTE,
						     .arg = (i + 1) % CPUS,
						     .row = s->sums.causes[TMIGR_WAKE_REMOTE]};
		d[1] = (struct tmigr_latency_detail){.cpu = i,
						     .slot = SLEEP,
						     .cause = TMIGR_WAKE_IRQ,
						     .arg = 30 + i / 4,
						     .name = "eth0,\"a\"",
						     .row = s->sums.causes[TMIGR_WAKE_IRQ]};
		d[1].row.count = (d[1].row.count + 1) / 2;
		d[1].row.slept_ns /= 2;
	}
}

/* Four LITTLE CPUs and four big ones, of which all slept in WFI and in cpu-sleep. */
static struct machine *machine_with_latency(void)
{
	struct machine *m = machine_4_4();

	m->totals.latency = tmigr_latency_new(CPUS, 2 * CPUS);
	m->totals.latency->causes_known = true;
	for (unsigned int i = 0; i < CPUS; i++) {
		m->topo.cpus[i].states[1].latency_us = 300 + i;
		fill_slot(&m->totals.latency->cpus[i][TMIGR_SLOT_STATE0]);
		fill_slot(&m->totals.latency->cpus[i][SLEEP]);
	}
	fill_details(m->totals.latency);
	return m;
}

static void drop(struct machine *m)
{
	tmigr_latency_free(m->totals.latency);
	machine_free(m);
}

static json_t *report_of(struct machine *m)
{
	json_t *info = machine_info(), *report = machine_report(m, true, info);
	struct tmigr_err err = {""};

	assert_non_null(report);
	if (tmigr_report_check(report, &err))
		fail_msg("%s", err.text);
	json_decref(info);
	return report;
}

static __u64 u64_of(const json_t *obj, const char *key)
{
	json_t *v = json_object_get(obj, key);

	assert_true(json_is_integer(v));
	return (__u64)json_integer_value(v);
}

static const json_t *state_of(const json_t *of, const char *name)
{
	const json_t *s;
	size_t i;

	json_array_foreach (json_object_get(of, "states"), i, s)
		if (!strcmp(json_string_value(json_object_get(s, "name")), name))
			return s;
	fail_msg("no state %s", name);
	return NULL;
}

static __u64 sum_of(const json_t *array, const char *key)
{
	const json_t *e;
	__u64 sum = 0;
	size_t i;

	json_array_foreach (array, i, e)
		sum += u64_of(e, key);
	return sum;
}

/* ---- */

static void test_round_trip(void **state)
{
	struct machine *m = machine_with_latency();
	struct tmigr_latency *again = NULL, *lat = m->totals.latency;
	json_t *json = tmigr_latency_to_json(lat);
	struct tmigr_err err = {""};

	(void)state;
	assert_int_equal(tmigr_latency_from_json(json, &again, &err), 0);
	assert_int_equal(again->n_cpus, CPUS);
	assert_true(again->causes_known);
	assert_false(again->bpf_known);
	assert_memory_equal(again->cpus, lat->cpus, CPUS * sizeof(*lat->cpus));
	assert_int_equal(again->n_details, lat->n_details);
	assert_memory_equal(again->details, lat->details, lat->n_details * sizeof(*lat->details));
	tmigr_latency_free(again);
	json_decref(json);
	drop(m);
}

/* A cause too many or too few: refused, for the report relies on the sums. */
static void test_refuses(void **state)
{
	struct machine *m = machine_with_latency();
	struct tmigr_latency *again = NULL;
	struct tmigr_err err = {""};
	json_t *json;

	(void)state;
	m->totals.latency->cpus[1][SLEEP].sums.causes[TMIGR_WAKE_OTHER].count++;
	json = tmigr_latency_to_json(m->totals.latency);
	assert_int_equal(tmigr_latency_from_json(json, &again, &err), -EINVAL);
	assert_string_equal(err.text, "totals: entry 1 of the latency's \"cpus\" is damaged");
	json_object_del(json, "details");
	assert_int_equal(tmigr_latency_from_json(json, &again, &err), -EINVAL);
	assert_null(again);
	json_decref(json);
	drop(m);
}

static void check_adds_up(const json_t *s)
{
	__u64 causes = sum_of(json_object_get(s, "wakeups"), "count");

	assert_int_equal(u64_of(s, "entries") + u64_of(s, "open_start"),
			 causes + u64_of(s, "open_end"));
}

static void test_report_adds_up(void **state)
{
	static const char *const names[] = {"WFI", "cpu-sleep"};
	static const char *const keys[] = {"entries", "open_start", "open_end", "rejected",
					   "remote_wakes"};
	struct machine *m = machine_with_latency();
	json_t *report = report_of(m), *lat = json_object_get(report, "latency");

	(void)state;
	for (size_t c = 0; c < 2; c++) {
		const json_t *cl = json_array_get(json_object_get(lat, "classes"), c);

		for (size_t n = 0; n < 2; n++) {
			const json_t *whole = state_of(cl, names[n]);

			check_adds_up(whole);
			for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
				__u64 sum = 0;

				for (size_t i = 4 * c; i < 4 * c + 4; i++) {
					const json_t *cpu =
						json_array_get(json_object_get(lat, "cpus"), i);

					check_adds_up(state_of(cpu, names[n]));
					sum += u64_of(state_of(cpu, names[n]), keys[k]);
				}
				assert_int_equal(u64_of(whole, keys[k]), sum);
			}
		}
	}
	json_decref(report);
	drop(m);
}

/* Targets by class; interrupts of one number and name together. */
static void test_details(void **state)
{
	struct machine *m = machine_with_latency();
	const struct tmigr_latency *lat = m->totals.latency;
	json_t *report = report_of(m);
	const json_t *big =
		json_array_get(json_object_get(json_object_get(report, "latency"), "classes"), 1);
	const json_t *remote = json_object_get(state_of(big, "cpu-sleep"), "remote");
	const json_t *irqs = json_object_get(state_of(big, "cpu-sleep"), "irqs");
	__u64 by_irq = 0;

	(void)state;
	/* 4, 5 and 6 for the next one; 7 for CPU 0. */
	assert_int_equal(json_array_size(remote), 2);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(remote, 1), "target_class")),
		"LITTLE");
	assert_int_equal(u64_of(json_array_get(remote, 1), "count"), lat->details[2 * 7].row.count);
	assert_int_equal(json_array_size(irqs), 1);
	assert_int_equal(u64_of(json_array_get(irqs, 0), "irq"), 31);
	for (int i = 4; i < CPUS; i++)
		by_irq += lat->details[2 * i + 1].row.count;
	assert_int_equal(u64_of(json_array_get(irqs, 0), "count"), by_irq);
	assert_int_equal(u64_of(state_of(big, "cpu-sleep"), "exit_latency_ns"), 307000);
	json_decref(report);
	drop(m);
}

/* Against the sorted values that the histogram stands for. */
static void test_quantiles(void **state)
{
	struct machine *m = machine_with_latency();
	struct tmigr_latency_slot *s = &m->totals.latency->cpus[0][SLEEP];
	json_t *report;
	const json_t *wake;

	(void)state;
	memset(&s->sums.dist[TMIGR_LAT_WAKE], 0, sizeof(s->sums.dist[0]));
	s->sums.dist[TMIGR_LAT_WAKE].hist[10] = 98;
	s->sums.dist[TMIGR_LAT_WAKE].hist[20] = 2;
	s->max_ns[TMIGR_LAT_WAKE] = 1100000;
	report = report_of(m);
	wake = json_object_get(
		state_of(json_array_get(json_object_get(json_object_get(report, "latency"), "cpus"),
					0),
			 "cpu-sleep"),
		"wake");
	assert_int_equal(u64_of(wake, "n"), 100);
	assert_int_equal(u64_of(wake, "p50_ns"), 1024 + 1024 * 50 / 98);
	/* Half-way through its bucket lies behind the longest. */
	assert_int_equal(u64_of(wake, "p99_ns"), 1100000);
	assert_int_equal(u64_of(wake, "max_ns"), 1100000);
	json_decref(report);
	drop(m);
}

/* Column @n of a row without quotes before it. */
static __u64 column(const char *row, int n)
{
	while (n--)
		row = strchr(row, ',') + 1;
	return strtoull(row, NULL, 10);
}

/* The rows of a CPU's state in wakeups.csv are all of its causes, whatever found no room
 * as a detail. */
static void test_csv(void **state)
{
	struct machine *m = machine_with_latency();
	json_t *report = report_of(m);
	char *text = NULL, *row, *save = NULL;
	__u64 counts[CPUS] = {0};
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(tmigr_report_csv_wakeups(report, out), 0);
	fclose(out);
	for (row = strtok_r(text, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		const char *quoted = strstr(row, "\"\"\",");

		if (!strstr(row, ",cpu-sleep,"))
			continue;
		counts[column(row, 0)] += quoted ? column(quoted, 3) : column(row, 9);
	}
	for (int i = 0; i < CPUS; i++) {
		const struct tmigr_latency_slot *s = &m->totals.latency->cpus[i][SLEEP];

		assert_int_equal(counts[i] + s->open_end, s->sums.entries + s->open_start);
	}
	free(text);
	json_decref(report);
	drop(m);
}

/* The text's paragraphs, each one line with single spaces; the caller's. */
static char *text_of(const json_t *report)
{
	char *text = NULL, *to;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(tmigr_report_text(report, out), 0);
	fclose(out);
	to = text;
	for (const char *from = text; *from; from++)
		if (*from > ' ' || (to > text && to[-1] != ' '))
			*to++ = *from > ' ' ? *from : ' ';
	*to = 0;
	return text;
}

/* What the big CPUs were woken for, how often, and what it cost them. */
static void test_answer(void **state)
{
	struct machine *m = machine_with_latency();
	struct tmigr_latency *lat = m->totals.latency;
	json_t *report;
	char *text;

	(void)state;
	for (int i = 4; i < CPUS; i++) {
		lat->details[2 * i].arg = 0; /* all for a LITTLE one */
		lat->details[2 * i].row =
			(struct tmigr_lat_row){.count = 1000u + i, .awake_ns = 500 * MS};
		lat->cpus[i][SLEEP].sums.causes[TMIGR_WAKE_REMOTE] = lat->details[2 * i].row;
	}
	report = report_of(m);
	text = text_of(report);
	assert_non_null(strstr(text,
			       "big CPUs were woken 4022 times from cpu-sleep to run timers of "
			       "LITTLE CPUs, which cost them 2.000 s of it"));
	assert_null(strstr(text, "the cause is unknown"));
	free(text);
	json_decref(report);
	drop(m);
}

/* Where the kernel lacks events: said, with the share of what is unknown. */
static void test_unknown(void **state)
{
	struct machine *m = machine_with_latency();
	struct tmigr_latency *lat = m->totals.latency;
	json_t *report;
	char *text;

	(void)state;
	lat->causes_known = false;
	lat->n_details = 0;
	for (int i = 0; i < CPUS; i++) {
		struct tmigr_lat_sums *s = &lat->cpus[i][SLEEP].sums;

		memset(s->causes, 0, sizeof(s->causes));
		s->causes[TMIGR_WAKE_UNKNOWN].count = 25;
		s->causes[TMIGR_WAKE_TIMER].count = 75;
	}
	report = report_of(m);
	text = text_of(report);
	assert_non_null(strstr(text,
			       "This kernel does not trace all that can end an idle interval: "
			       "without a handler that it tells of, the cause is unknown."));
	assert_non_null(strstr(text, "big cpu-sleep unknown 100 25.0 "));
	assert_non_null(strstr(text, "big cpu-sleep own-timer 300 75.0 "));
	free(text);
	json_decref(report);
	drop(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_report_adds_up), cmocka_unit_test(test_details),
		cmocka_unit_test(test_quantiles),      cmocka_unit_test(test_csv),
		cmocka_unit_test(test_answer),	       cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
