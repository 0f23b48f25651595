/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of the replay: a machine, its 10 seconds, and what every report must keep. */
#ifndef TESTS_REPLAY_STORY_H
#define TESTS_REPLAY_STORY_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tmigr/recording.h"
#include "tmigr/replay.h"
#include "tmigr/report.h"

#define MS    1000000ull
#define SEC   1000000000ull
#define START (1000 * SEC)
#define GROUP 0xffff888000000100ull
#define N     8

static char path[] = "/tmp/tmigr-test-replay-XXXXXX";

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

static inline struct tmigr_rec *add(__u64 t, unsigned int cpu, enum tmigr_rec_type type, __u64 a,
				    __u64 b)
{
	struct tmigr_rec *r = &recs[n_recs++];

	*r = (struct tmigr_rec){.t_ns = t, .cpu = cpu, .type = (__u8)type, .a = a, .b = b};
	return r;
}

static inline void add_update(__u64 t, unsigned int cpu, unsigned int active, unsigned int migrator,
			      unsigned int seq)
{
	enum tmigr_rec_type type =
		active & 1u << cpu ? TMIGR_REC_GROUP_ACTIVE : TMIGR_REC_GROUP_INACTIVE;

	add(t, cpu, type, GROUP, active | migrator << 8 | seq << 16)->mask = (__u8)(1u << cpu);
}

static inline void add_mark(__u64 t)
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
static inline int make_story(void **state)
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

static inline int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static inline char *text_of(const json_t *report, bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(json ? tmigr_report_json(report, out) : tmigr_report_text(report, out), 0);
	fclose(out);
	return text;
}

static inline json_int_t num(const json_t *obj, const char *key)
{
	assert_true(json_is_integer(json_object_get(obj, key)));
	return json_integer_value(json_object_get(obj, key));
}

static inline void check_sums(const json_t *r)
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
static inline json_int_t replay_window(bool *ret_partial)
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

#endif
