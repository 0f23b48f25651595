// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording gives the report of the run that wrote it, byte for byte, and a
 * damaged one never more than what its whole frames hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay_story.h"

/* ---- live and replayed ---- */

static json_t *meta_info(void)
{
	return json_pack("{s:s, s:s, s:[s, s]}", "tool", "tmigr 0.1", "kernel", "7.3.4", "command",
			 "sleep", "10");
}

static json_t *end_info(void)
{
	return json_pack("{s:b, s:i}", "interrupted", 0, "exit_status", 3);
}

static void write_recording_with(const struct tmigr_topology *end_topo)
{
	struct tmigr_recording_writer *w = NULL;
	json_t *meta = json_pack("{s:o, s:I, s:o}", "topology", tmigr_topology_to_json(&topo),
				 "start_ns", (json_int_t)START, "info", meta_info());
	json_t *end = json_pack("{s:I, s:o, s:o}", "end_ns", (json_int_t)(START + 10 * SEC),
				"totals", tmigr_window_totals_to_json(&totals), "info", end_info());
	struct tmigr_err err;
	size_t at = 0;

	assert_non_null(meta);
	assert_non_null(end);
	if (end_topo)
		json_object_set_new(end, "topology", tmigr_topology_to_json(end_topo));
	assert_int_equal(tmigr_recording_create(path, true, meta, &w, &err), 0);
	for (size_t i = 0; i < n_marks; i++) {
		assert_int_equal(tmigr_recording_events(w, recs + at, marks[i].at - at, &err), 0);
		at = marks[i].at;
		assert_int_equal(tmigr_recording_mark(w, marks[i].t_ns, &err), 0);
	}
	assert_int_equal(tmigr_recording_end(w, end, &err), 0);
	json_decref(meta);
	json_decref(end);
}

static void write_recording(void)
{
	write_recording_with(NULL);
}

struct segments {
	struct tmigr_segment list[32];
	size_t n;
};

static void keep_segment(void *arg, const struct tmigr_segment *seg)
{
	struct segments *s = arg;

	assert_true(s->n < 32);
	s->list[s->n++] = *seg;
}

/* What the live run does: the model fed record by record, not by frame. */
static json_t *live_report(struct segments *segs)
{
	struct tmigr_model_cfg cfg = {
		.topo = &topo, .start_ns = START, .segment = keep_segment, .arg = segs};
	struct tmigr_report_input in = {&topo, NULL, &totals, NULL};
	json_t *a = meta_info(), *b = end_info(), *info = tmigr_replay_info(a, b), *report;
	struct tmigr_model *m = NULL;
	size_t at = 0;

	assert_int_equal(tmigr_model_new(&cfg, &m), 0);
	for (size_t i = 0; i < n_marks; i++) {
		for (; at < marks[i].at; at++)
			assert_int_equal(tmigr_model_feed(m, recs + at, 1), 0);
		assert_int_equal(tmigr_model_advance(m, marks[i].t_ns), 0);
	}
	assert_int_equal(tmigr_model_finish(m, START + 10 * SEC), 0);
	in.model = m;
	in.info = info;
	report = tmigr_report_build(&in);
	assert_non_null(report);
	tmigr_model_free(m);
	json_decref(a);
	json_decref(b);
	json_decref(info);
	return report;
}

static void test_same_bytes(void **state)
{
	struct segments live = {.n = 0}, again = {.n = 0};
	struct tmigr_replay_opts opts = {.segment = keep_segment, .arg = &again};
	json_t *a = live_report(&live), *b = NULL;
	struct tmigr_err err = {""};

	(void)state;
	write_recording();
	assert_int_equal(tmigr_replay(path, &b, &opts, &err), 0);
	for (int json = 0; json < 2; json++) {
		char *want = text_of(a, json), *got = text_of(b, json);

		assert_string_equal(got, want);
		free(want);
		free(got);
	}
	assert_int_equal(again.n, live.n);
	assert_memory_equal(again.list, live.list, live.n * sizeof(live.list[0]));
	json_decref(a);
	json_decref(b);
}

static const json_t *holder(const json_t *report, size_t i)
{
	const json_t *root = json_array_get(json_object_get(report, "roots"), 0);

	return json_array_get(json_object_get(root, "holders"), i);
}

static void test_figures(void **state)
{
	json_t *r = NULL, *root, *h;
	struct tmigr_err err = {""};

	(void)state;
	write_recording();
	assert_int_equal(tmigr_replay(path, &r, NULL, &err), 0);
	assert_int_equal(num(r, "window_ns"), 10000000000);
	assert_int_equal(num(r, "exit_status"), 3);
	root = json_array_get(json_object_get(r, "roots"), 0);
	assert_int_equal(num(root, "held_ns"), 9000000000);
	assert_int_equal(num(root, "duty_ns"), 1000000000);
	assert_int_equal(num(root, "unknown_ns"), 0);
	assert_int_equal(num(holder(r, 0), "cpu"), 0);
	assert_int_equal(num(holder(r, 0), "held_ns"), 7000000000);
	assert_int_equal(num(holder(r, 0), "holdings"), 2);
	assert_int_equal(num(holder(r, 0), "longest_ns"), 4000000000);
	assert_int_equal(num(holder(r, 0), "running_ns"), 7000000000);
	assert_int_equal(num(holder(r, 1), "cpu"), 4);
	assert_int_equal(num(holder(r, 1), "held_ns"), 2000000000);
	assert_int_equal(num(holder(r, 1), "avoidable_ns"), 2000000000);
	/* Residency: what the maps said, not what the timeline says. */
	h = json_array_get(json_object_get(r, "cpus"), 0);
	assert_int_equal(num(h, "running_ns"), 4000000000);
	assert_int_equal(json_array_size(json_object_get(r, "remote")), 1);
	assert_null(json_object_get(r, "partial"));
	json_decref(r);
}

/* ---- files that stop early or are damaged ---- */

static unsigned char *slurp(size_t *ret_size)
{
	unsigned char *buf = malloc(100000);
	FILE *in = fopen(path, "r");

	assert_non_null(buf);
	assert_non_null(in);
	*ret_size = fread(buf, 1, 100000, in);
	assert_true(*ret_size < 100000);
	fclose(in);
	return buf;
}

static void spit(const void *buf, size_t size)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(buf, 1, size, out), size);
	fclose(out);
}

/* A file cut at any byte gives the part up to its last whole watermark. */
static void test_cut(void **state)
{
	size_t size, windows[4] = {0};
	unsigned char *buf;

	(void)state;
	write_recording();
	buf = slurp(&size);
	for (size_t len = 0; len < size; len++) {
		bool partial = false;
		json_int_t w;

		spit(buf, len);
		w = replay_window(&partial);
		if (w < 0)
			continue;
		assert_true(partial);
		switch (w) {
		case 0:
			windows[0]++;
			break;
		case 3000000000:
			windows[1]++;
			break;
		case 7000000000:
			windows[2]++;
			break;
		default:
			assert_int_equal(w, 10000000000);
			windows[3]++;
		}
	}
	for (int i = 0; i < 4; i++)
		assert_true(windows[i] > 0);
	free(buf);
}

/* The part up to 7 s, in figures. */
static void test_cut_figures(void **state)
{
	struct tmigr_err err = {""};
	unsigned char *buf;
	size_t size, at = 16;
	json_t *r = NULL;
	const json_t *root;

	(void)state;
	write_recording();
	buf = slurp(&size);
	/* META, EVENTS, MARK, EVENTS, MARK */
	for (int i = 0; i < 5; i++)
		at += 16 + (buf[at + 8] | (size_t)buf[at + 9] << 8);
	spit(buf, at);
	assert_int_equal(tmigr_replay(path, &r, NULL, &err), 0);
	assert_int_equal(num(r, "window_ns"), 7000000000);
	assert_string_equal(json_string_value(json_object_get(r, "residency_source")), "timeline");
	root = json_array_get(json_object_get(r, "roots"), 0);
	assert_int_equal(num(root, "held_ns"), 6000000000);
	assert_int_equal(num(root, "duty_ns"), 1000000000);
	assert_int_equal(num(json_array_get(json_object_get(r, "cpus"), 0), "running_ns"),
			 6000000020);
	assert_true(json_is_null(json_object_get(json_object_get(r, "observer"), "cpu_ns")));
	json_decref(r);
	free(buf);
}

static void test_flipped(void **state)
{
	unsigned char *buf;
	size_t size;

	(void)state;
	write_recording();
	buf = slurp(&size);
	for (size_t i = 0; i < size; i++) {
		bool partial;

		buf[i] ^= 0x41;
		spit(buf, size);
		replay_window(&partial);
		buf[i] ^= 0x41;
	}
	free(buf);
}

/* The run learnt at its end that CPU 4 is no big one: the report says so, but what
 * the model made of the start stays. */
static void test_end_topology(void **state)
{
	struct tmigr_topo_cpu end_cpus[N];
	struct tmigr_class end_classes[] = {{"LITTLE", 442, 4}, {"mid", 800, 1}, {"big", 1024, 3}};
	struct tmigr_topology end_topo = topo;
	struct tmigr_err err = {""};
	json_t *r = NULL;

	(void)state;
	memcpy(end_cpus, cpus, sizeof(cpus));
	for (unsigned int i = 4; i < N; i++)
		end_cpus[i].class_idx = i == 4 ? 1 : 2;
	end_cpus[4].capacity = 800;
	end_topo.cpus = end_cpus;
	end_topo.classes = end_classes;
	end_topo.n_classes = 3;
	write_recording_with(&end_topo);
	assert_int_equal(tmigr_replay(path, &r, NULL, &err), 0);
	assert_string_equal(json_string_value(json_object_get(holder(r, 1), "class")), "mid");
	assert_int_equal(num(holder(r, 1), "held_ns"), 2000000000);
	assert_int_equal(tmigr_report_check(r, &err), 0);
	json_decref(r);

	end_cpus[7].cpu = 9;
	end_topo.n_possible = 10;
	write_recording_with(&end_topo);
	assert_int_equal(tmigr_replay(path, &r, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "other CPUs"));
}

static void test_no_file(void **state)
{
	struct tmigr_err err = {""};
	json_t *r = NULL;

	(void)state;
	assert_int_equal(tmigr_replay("/no/such/file.tmr", &r, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such/file.tmr"));
	assert_null(r);
}

static void test_info(void **state)
{
	json_t *a = json_pack("{s:i, s:i}", "x", 1, "y", 2), *b = json_pack("{s:i}", "x", 3);
	json_t *info = tmigr_replay_info(a, b), *none = tmigr_replay_info(NULL, NULL);

	(void)state;
	assert_int_equal(num(info, "x"), 3);
	assert_int_equal(num(info, "y"), 2);
	assert_int_equal(num(a, "x"), 1);
	assert_int_equal(json_object_size(none), 0);
	json_decref(a);
	json_decref(b);
	json_decref(info);
	json_decref(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_figures),
		cmocka_unit_test(test_cut),	   cmocka_unit_test(test_cut_figures),
		cmocka_unit_test(test_flipped),	   cmocka_unit_test(test_end_topology),
		cmocka_unit_test(test_no_file),	   cmocka_unit_test(test_info),
	};

	return cmocka_run_group_tests(tests, make_story, remove_file);
}
