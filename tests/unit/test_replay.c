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

#include "tmigr/recording.h"
#include "tmigr/replay.h"
#include "tmigr/report.h"

#define MS    1000000ull
#define SEC   1000000000ull
#define START (1000 * SEC)
#define GROUP 0xffff888000000100ull
#define N     8

static char path[] = "/tmp/tmigr-test-replay-XXXXXX";

/* ---- the machine and its 10 seconds ---- */

static struct tmigr_topo_cpu cpus[N];
static struct tmigr_class classes[2] = {{"LITTLE", 442, 4}, {"big", 1024, 4}};
static const struct tmigr_topology topo = {
	.n_cpus = N,
	.cpus = cpus,
	.n_classes = 2,
	.classes = classes,
	.n_possible = N,
	.driver = "psci_idle",
	.governor = "menu",
	.timer_migration = 1,
};

static struct tmigr_totals_cpu totals_cpus[N];
static struct tmigr_totals_remote totals_remote[1] = {{.executor = 4, .target = 1, .count = 2}};
static struct tmigr_window_totals totals = {
	.n_cpus = N,
	.cpus = totals_cpus,
	.n_remote = 1,
	.remote = totals_remote,
	.observer = {.cpu_ns = 5 * MS, .wakeups = 3, .housekeeping_cpu = 1, .records = 40},
};

static struct tmigr_rec recs[128];
static size_t n_recs;
/* Watermarks: after recs[at] records have been fed. */
static struct {
	size_t at;
	__u64 t_ns;
} marks[8];
static size_t n_marks;

static struct tmigr_rec *add(__u64 t, unsigned int cpu, enum tmigr_rec_type type, __u64 a, __u64 b)
{
	struct tmigr_rec *r = &recs[n_recs++];

	*r = (struct tmigr_rec){.t_ns = t, .cpu = cpu, .type = (__u8)type, .a = a, .b = b};
	return r;
}

static void add_update(__u64 t, unsigned int cpu, unsigned int active, unsigned int migrator,
		       unsigned int seq)
{
	enum tmigr_rec_type type =
		active & 1u << cpu ? TMIGR_REC_GROUP_ACTIVE : TMIGR_REC_GROUP_INACTIVE;

	add(t, cpu, type, GROUP, active | migrator << 8 | seq << 16)->mask = (__u8)(1u << cpu);
}

static void add_mark(__u64 t)
{
	add(t, 0, TMIGR_REC_CLEAN, 0, 0);
	marks[n_marks].at = n_recs;
	marks[n_marks++].t_ns = t;
}

/*
 * CPU 4 (big) holds from before the start to 2 s while CPU 0 (LITTLE) is awake,
 * then CPU 0 to 5 s; nobody, with CPU 0's wakeup duty, to 6 s; CPU 0 to the end.
 * CPU 0 is in WFI from 5 s + 10 ns to 6 s - 10 ns; CPU 4 in cpu-sleep from 2 s +
 * 5 ns; the others all along.
 */
static int make_story(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	for (unsigned int i = 0; i < N; i++) {
		cpus[i] = (struct tmigr_topo_cpu){
			.cpu = i,
			.online = true,
			.capacity = classes[i / 4].capacity,
			.node = 0,
			.cluster = (int)i / 4,
			.class_idx = i / 4,
			.n_states = 2,
			.states = {{"WFI", 1, 1, false}, {"cpu-sleep", 370, 900, false}}};
		totals_cpus[i].cpu = i;
		totals_cpus[i].time_ns[TMIGR_SLOT_RUNNING] = 4 * SEC;
		totals_cpus[i].time_ns[TMIGR_SLOT_STATE0 + 1] = 6 * SEC;
		totals_cpus[i].entries[TMIGR_SLOT_STATE0 + 1] = i;
	}
	add(START - MS, (unsigned int)-1, TMIGR_REC_NODE_GROUP, GROUP, 0);
	for (unsigned int i = 0; i < N; i++) {
		bool awake = i == 0 || i == 4;
		struct tmigr_rec *r;

		r = add(START - MS, 1, TMIGR_REC_NODE_CPU, GROUP, i);
		r->mask = (__u8)(1u << i);
		r = add(START - MS, 1, TMIGR_REC_SNAP_CPU, TMIGR_KTIME_MAX, i);
		r->flags = TMIGR_RF_AVAILABLE | (awake ? 0 : TMIGR_RF_TMIGR_IDLE);
		add(START - MS, 1, TMIGR_REC_SNAP_IDLE, awake ? TMIGR_STATE_RUNNING : 1, i);
	}
	add(START - MS, 1, TMIGR_REC_SNAP_GROUP, GROUP, 0x11 | 0x10 << 8 | 5 << 16);
	add_update(START + 2 * SEC, 4, 0x01, 0x01, 6);
	add(START + 2 * SEC + 1, 4, TMIGR_REC_CPU_IDLE, TMIGR_KTIME_MAX, 4);
	add(START + 2 * SEC + 5, 4, TMIGR_REC_IDLE_ENTER, 1, 0);
	add_mark(START + 3 * SEC);
	add_update(START + 5 * SEC, 0, 0x00, 0xff, 7);
	add(START + 5 * SEC + 1, 0, TMIGR_REC_CPU_IDLE, START + 6 * SEC, 0);
	add(START + 5 * SEC + 10, 0, TMIGR_REC_IDLE_ENTER, 0, 0);
	add(START + 6 * SEC - 10, 0, TMIGR_REC_IDLE_EXIT, 0, 0);
	add(START + 6 * SEC, 0, TMIGR_REC_CPU_ACTIVE, START + 6 * SEC, 0);
	add_update(START + 6 * SEC, 0, 0x01, 0x01, 8);
	add_mark(START + 7 * SEC);
	add_mark(START + 10 * SEC);
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

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

static char *text_of(const json_t *report, bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(json ? tmigr_report_json(report, out) : tmigr_report_text(report, out), 0);
	fclose(out);
	return text;
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

static json_int_t num(const json_t *obj, const char *key)
{
	assert_true(json_is_integer(json_object_get(obj, key)));
	return json_integer_value(json_object_get(obj, key));
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

static void check_sums(const json_t *r)
{
	const json_t *c, *s;
	size_t i, k;

	json_array_foreach (json_object_get(r, "cpus"), i, c) {
		json_int_t sum = num(c, "running_ns") + num(c, "offline_ns") + num(c, "unknown_ns");

		json_array_foreach (json_object_get(c, "states"), k, s)
			sum += num(s, "time_ns");
		assert_int_equal(sum, num(r, "window_ns"));
	}
	json_array_foreach (json_object_get(r, "roots"), i, c)
		assert_int_equal(num(c, "held_ns") + num(c, "handover_ns") + num(c, "duty_ns") +
					 num(c, "free_ns") + num(c, "unknown_ns"),
				 num(r, "window_ns"));
}

/* Replays what is in the file: an error, or a report that keeps the laws.
 * Returns the window, or -1 on an error. */
static json_int_t replay_window(bool *ret_partial)
{
	struct tmigr_err err = {""};
	json_int_t window = -1;
	json_t *r = NULL;
	int ret = tmigr_replay(path, &r, NULL, &err);

	if (ret < 0) {
		assert_null(r);
		assert_non_null(strstr(err.text, path));
		assert_null(strchr(err.text, '\n'));
		return -1;
	}
	assert_int_equal(tmigr_report_check(r, &err), 0);
	check_sums(r);
	window = num(r, "window_ns");
	*ret_partial = json_is_string(json_object_get(r, "partial"));
	free(text_of(r, false));
	json_decref(r);
	return window;
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

/* ---- whole frames that make no sense ---- */

static void expect_refused(json_t *meta, const struct tmigr_rec *rec, json_t *end, const char *text)
{
	struct tmigr_recording_writer *w = NULL;
	struct tmigr_err err = {""};
	json_t *r = NULL;

	assert_int_equal(tmigr_recording_create(path, true, meta, &w, &err), 0);
	if (rec)
		assert_int_equal(tmigr_recording_events(w, rec, 1, &err), 0);
	assert_int_equal(tmigr_recording_end(w, end, &err), 0);
	assert_int_equal(tmigr_replay(path, &r, NULL, &err), -EINVAL);
	assert_null(r);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, text));
	json_decref(meta);
	json_decref(end);
}

static json_t *good_meta(void)
{
	return json_pack("{s:o, s:I}", "topology", tmigr_topology_to_json(&topo), "start_ns",
			 (json_int_t)START);
}

static json_t *good_end(void)
{
	return json_pack("{s:I, s:n}", "end_ns", (json_int_t)(START + 1), "totals");
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

static json_t *end_with_totals(__u64 window_ns)
{
	return json_pack("{s:I, s:o}", "end_ns", (json_int_t)(START + window_ns), "totals",
			 tmigr_window_totals_to_json(&totals));
}

static void test_senseless(void **state)
{
	const struct tmigr_rec odd = {.t_ns = START, .type = 200};

	(void)state;
	expect_refused(json_object(), NULL, good_end(), "start_ns");
	expect_refused(json_pack("{s:I}", "start_ns", (json_int_t)5), NULL, good_end(), "topology");
	expect_refused(json_pack("{s:s}", "start_ns", "x"), NULL, good_end(), "start_ns");
	expect_refused(good_meta(), NULL, json_object(), "end_ns");
	expect_refused(good_meta(), NULL, json_pack("{s:i}", "end_ns", 5), "before it starts");
	expect_refused(good_meta(), NULL,
		       json_pack("{s:I, s:[]}", "end_ns", (json_int_t)(START + 1), "totals"),
		       "totals");
	expect_refused(good_meta(), &odd, good_end(), "unknown type");
	/* figures of 10 s for a window of less, and of too few CPUs */
	expect_refused(good_meta(), NULL, end_with_totals(10 * SEC - 1), "do not fit");
	totals.n_cpus--;
	expect_refused(good_meta(), NULL, end_with_totals(10 * SEC), "do not fit");
	totals.n_cpus++;
}

/* ---- good frames, senseless records ---- */

static __u64 next_random(__u64 *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static struct tmigr_rec random_rec(__u64 *x)
{
	static const __u8 types[] = {1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11,
				     12, 13, 14, 32, 33, 34, 35, 36, 37, 64, 65};
	static const __u64 odd[] = {0, 1, TMIGR_KTIME_MAX, (__u64)-1, (__u64)-2, 1ull << 63};
	__u64 r = next_random(x), s = next_random(x);
	struct tmigr_rec rec = {
		.t_ns = START + r % (11 * SEC) - SEC / 2,
		.cpu = (__u32)(s % 10), /* two of them do not exist */
		.type = types[(s >> 8) % sizeof(types)],
		.flags = (__u8)(s >> 16),
		.level = (__u8)(s >> 24) % 4,
		.mask = (__u8)(s >> 32),
		.a = GROUP + (s >> 40) % 4 * 64,
		.b = (s >> 44) % 10,
	};

	if (rec.type == TMIGR_REC_GROUP_ACTIVE || rec.type == TMIGR_REC_GROUP_INACTIVE ||
	    rec.type == TMIGR_REC_SNAP_GROUP)
		rec.b = (__u32)next_random(x) & 0x000fffff;
	else if (rec.type == TMIGR_REC_NODE_GROUP)
		rec.b = (s >> 50) % 2 ? 0 : GROUP + (s >> 51) % 4 * 64;
	else if (rec.type < TMIGR_REC_NODE_GROUP)
		rec.a = (s >> 52) % 3;
	if ((r >> 40) % 16 == 0)
		rec.a = odd[(r >> 44) % 6];
	if ((r >> 48) % 16 == 0)
		rec.b = odd[(r >> 52) % 6];
	return rec;
}

/* Whatever a well-formed file says: no crash, and the sums stay exact. */
static void test_random_records(void **state)
{
	json_t *end = json_pack("{s:I}", "end_ns", (json_int_t)(START + 10 * SEC));
	json_t *meta = good_meta();
	__u64 x = 88172645463325252ull;

	(void)state;
	for (int round = 0; round < 150; round++) {
		struct tmigr_recording_writer *w = NULL;
		struct tmigr_rec batch[200];
		struct tmigr_err err;
		bool partial;

		for (size_t i = 0; i < 200; i++)
			batch[i] = random_rec(&x);
		assert_int_equal(tmigr_recording_create(path, true, meta, &w, &err), 0);
		assert_int_equal(tmigr_recording_events(w, batch, 200, &err), 0);
		assert_int_equal(tmigr_recording_mark(w, START + round % 11 * SEC, &err), 0);
		assert_int_equal(tmigr_recording_events(w, batch, round, &err), 0);
		assert_int_equal(tmigr_recording_end(w, end, &err), 0);
		assert_int_equal(replay_window(&partial), 10 * SEC);
	}
	json_decref(meta);
	json_decref(end);
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
		cmocka_unit_test(test_senseless),  cmocka_unit_test(test_random_records),
		cmocka_unit_test(test_no_file),	   cmocka_unit_test(test_info),
	};

	return cmocka_run_group_tests(tests, make_story, remove_file);
}
