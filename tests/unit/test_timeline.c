// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The timeline's columns against the sums of the report, and each of them against what
 * segments and spans give when cut one by one. On random machines; TMIGR_SIM_SEED: the
 * first seed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../lib/fixture.h"
#include "../lib/sim.h"
#include "tmigr/recording.h"
#include "tmigr/replay.h"
#include "tmigr/timeline.h"

#define RUNS 60

static char path[] = "/tmp/tmigr-test-timeline-XXXXXX";

/* ---- a recording, its report, and all that it tells ---- */

static void write_recording(const struct sim *sim)
{
	struct tmigr_recording_writer *w = NULL;
	struct tmigr_err err = {""};
	json_t *meta, *end;

	snprintf(sim->topo->driver, sizeof(sim->topo->driver), "psci_idle");
	for (size_t i = 0; i < sim->topo->n_cpus; i++)
		for (unsigned int k = 0; k < sim->topo->cpus[i].n_states; k++)
			snprintf(sim->topo->cpus[i].states[k].name, 16, "C%u", k);
	meta = json_pack("{s:o, s:I, s:{}}", "topology", tmigr_topology_to_json(sim->topo),
			 "start_ns", (json_int_t)sim->start_ns, "info");
	end = json_pack("{s:I, s:{}}", "end_ns", (json_int_t)sim->end_ns, "info");
	assert_int_equal(tmigr_recording_create(path, true, meta, &w, &err), 0);
	assert_int_equal(tmigr_recording_events(w, sim->recs, sim->n_recs, &err), 0);
	assert_int_equal(tmigr_recording_end(w, end, &err), 0);
	json_decref(meta);
	json_decref(end);
}

static json_t *replayed(struct fixture *f)
{
	const struct tmigr_replay_opts opts = {
		.segment = fixture_segment, .cpu_span = fixture_span, .arg = f};
	struct tmigr_err err = {""};
	json_t *report = NULL;

	if (tmigr_replay(path, &report, &opts, &err) < 0)
		fail_msg("%s", err.text);
	return report;
}

static __u64 member(const json_t *obj, const char *key)
{
	return (__u64)json_integer_value(json_object_get(obj, key));
}

static __u64 overlap(__u64 a, __u64 b, __u64 from, __u64 to)
{
	__u64 start = a > from ? a : from, end = b < to ? b : to;

	return end > start ? end - start : 0;
}

/* ---- columns ---- */

static int class_of(const json_t *report, unsigned int cpu)
{
	const json_t *cpus = json_object_get(report, "cpus"), *c, *cl;
	size_t i, k;

	json_array_foreach (cpus, i, c)
		if (member(c, "cpu") == cpu)
			json_array_foreach (json_object_get(report, "classes"), k, cl)
				if (json_equal(json_object_get(c, "class"),
					       json_object_get(cl, "name")))
					return (int)k;
	return -1;
}

static void check_roots(const struct tmigr_timeline *t, const struct tmigr_view *v,
			const struct fixture *f, const json_t *report)
{
	__u64 *want = calloc(t->n_roots * v->n_columns * t->n_parts + 1, sizeof(*want));

	for (size_t i = 0; i < f->n_segs; i++) {
		const struct tmigr_segment *s = &f->segs[i];
		size_t part = s->regime == TMIGR_HELD
				      ? (size_t)class_of(report, (unsigned int)s->cpu)
				      : t->n_classes + s->regime - 1;

		for (size_t c = 0; c < v->n_columns; c++)
			want[(s->root * v->n_columns + c) * t->n_parts + part] +=
				overlap(s->start_ns, s->end_ns, tmigr_view_column_ns(v, c),
					tmigr_view_column_ns(v, c + 1));
	}
	assert_memory_equal(want, v->root_ns,
			    t->n_roots * v->n_columns * t->n_parts * sizeof(*want));
	free(want);
}

static void check_lanes(const struct tmigr_timeline *t, const struct tmigr_view *v,
			const struct fixture *f)
{
	__u64(*slots)[TMIGR_SLOTS] = calloc(t->n_lanes * v->n_columns + 1, sizeof(*slots));
	__u64 *held = calloc(t->n_lanes * v->n_columns + 1, sizeof(*held));

	for (size_t i = 0; i < f->n_spans; i++)
		for (size_t c = 0; c < v->n_columns; c++)
			slots[(size_t)t->lane_of[f->spans[i].cpu] * v->n_columns + c]
			     [f->spans[i].slot] +=
				overlap(f->spans[i].start_ns, f->spans[i].end_ns,
					tmigr_view_column_ns(v, c), tmigr_view_column_ns(v, c + 1));
	for (size_t i = 0; i < f->n_segs; i++)
		for (size_t c = 0; c < v->n_columns && f->segs[i].regime == TMIGR_HELD; c++)
			held[(size_t)t->lane_of[f->segs[i].cpu] * v->n_columns + c] +=
				overlap(f->segs[i].start_ns, f->segs[i].end_ns,
					tmigr_view_column_ns(v, c), tmigr_view_column_ns(v, c + 1));
	assert_memory_equal(slots, v->slot_ns, t->n_lanes * v->n_columns * sizeof(*slots));
	assert_memory_equal(held, v->held_ns, t->n_lanes * v->n_columns * sizeof(*held));
	free(slots);
	free(held);
}

/* The columns of a root are the report's regimes, to the nanosecond. */
static void check_sums(const struct tmigr_timeline *t, const json_t *report)
{
	static const char *const keys[] = {"handover_ns", "duty_ns", "free_ns", "unknown_ns"};
	const struct tmigr_view *v = &t->overview;
	const json_t *root;
	size_t i;

	json_array_foreach (json_object_get(report, "roots"), i, root) {
		__u64 held = 0;

		for (size_t k = 0; k < t->n_parts; k++) {
			__u64 sum = 0;

			for (size_t c = 0; c < v->n_columns; c++)
				sum += v->root_ns[(i * v->n_columns + c) * t->n_parts + k];
			if (k < t->n_classes)
				held += sum;
			else
				assert_int_equal(sum, member(root, keys[k - t->n_classes]));
		}
		assert_int_equal(held, member(root, "held_ns"));
	}
}

/* Lanes: every CPU in one, ascending, of one class each. */
static void check_shape(const struct tmigr_timeline *t, const json_t *report, size_t cells)
{
	const json_t *cpu;
	size_t i, n = 0;

	json_array_foreach (json_object_get(report, "cpus"), i, cpu) {
		int lane = t->lane_of[member(cpu, "cpu")];

		assert_in_range(lane, 0, t->n_lanes - 1);
		assert_int_equal(t->lanes[lane].class_idx,
				 class_of(report, (unsigned int)member(cpu, "cpu")));
	}
	for (i = 0; i < t->n_lanes; i++) {
		n += t->lanes[i].n_cpus;
		assert_true(!i || t->lanes[i].first > t->lanes[i - 1].first);
	}
	assert_int_equal(n, json_array_size(json_object_get(report, "cpus")));
	assert_true(t->n_lanes * t->overview.n_columns <= cells || t->overview.n_columns == 1);
}

static bool is_big(const json_t *report, int cpu)
{
	size_t n = json_array_size(json_object_get(report, "classes"));
	const json_t *classes = json_object_get(report, "classes");
	size_t k = (size_t)class_of(report, (unsigned int)cpu);

	/* (Where all are level, none is.) */
	return member(json_array_get(classes, k), "capacity") ==
		       member(json_array_get(classes, n - 1), "capacity") &&
	       member(json_array_get(classes, 0), "capacity") !=
		       member(json_array_get(classes, n - 1), "capacity");
}

/* The longest of a big CPU, the first of such; of any CPU where none of a big is there. */
static void check_longest(const struct tmigr_timeline *t, const struct fixture *f,
			  const json_t *report)
{
	const struct tmigr_segment *best = NULL;
	bool big = false;

	for (size_t i = 0; i < f->n_segs; i++)
		big |= f->segs[i].regime == TMIGR_HELD && is_big(report, f->segs[i].cpu);
	for (size_t i = 0; i < f->n_segs; i++) {
		const struct tmigr_segment *s = &f->segs[i];

		if (s->regime != TMIGR_HELD || is_big(report, s->cpu) != big)
			continue;
		if (!best || s->end_ns - s->start_ns > best->end_ns - best->start_ns)
			best = s;
	}
	if (!best) {
		assert_int_equal(t->longest.end_ns, 0);
		return;
	}
	assert_int_equal(t->longest_is_big, big);
	assert_int_equal(t->longest.end_ns - t->longest.start_ns, best->end_ns - best->start_ns);
	if (!t->zoom.n_columns)
		return;
	assert_true(t->zoom.from_ns <= t->longest.start_ns && t->zoom.to_ns >= t->longest.end_ns);
	assert_true(t->zoom.from_ns >= t->overview.from_ns && t->zoom.to_ns <= t->overview.to_ns);
}

/* A recording's topology has no class without CPUs; the simulator's may. */
static bool can_be_recorded(const struct tmigr_topology *topo)
{
	for (size_t i = 0; i < topo->n_classes; i++)
		if (!topo->classes[i].n_cpus)
			return false;
	return true;
}

/* False: this machine cannot be. */
static bool check(__u64 seed, const struct tmigr_timeline_size *size)
{
	struct sim_cfg cfg = sim_random(seed);
	struct tmigr_timeline *t = NULL;
	struct tmigr_err err = {""};
	struct fixture f = {0};
	json_t *report;
	struct sim sim;

	cfg.level = false;
	sim_run(&cfg, &sim);
	if (!can_be_recorded(sim.topo)) {
		sim_free(&sim);
		return false;
	}
	write_recording(&sim);
	report = replayed(&f);
	assert_int_equal(tmigr_timeline_read(path, report, size, &t, &err), 0);
	check_shape(t, report, size->cells);
	check_sums(t, report);
	check_roots(t, &t->overview, &f, report);
	check_lanes(t, &t->overview, &f);
	check_longest(t, &f, report);
	if (t->zoom.n_columns) {
		check_roots(t, &t->zoom, &f, report);
		check_lanes(t, &t->zoom, &f);
	}
	tmigr_timeline_free(t);
	json_decref(report);
	free(f.segs);
	free(f.spans);
	sim_free(&sim);
	return true;
}

static void random_machines(void **state)
{
	static const struct tmigr_timeline_size sizes[] = {
		{1, 1000, 1}, {7, 1000, 7}, {100, 400, 50}, {33, 64, 16}, {100000, 1000000, 1}};
	const char *text = getenv("TMIGR_SIM_SEED");
	__u64 seed = text ? strtoull(text, NULL, 0) : 1;

	(void)state;
	for (unsigned int done = 0; done < RUNS; seed++)
		done += check(seed, &sizes[done % (done < 50 ? 4 : 5)]);
}

/* ---- files that are none ---- */

static void no_recording(void **state)
{
	json_t *report = json_pack("{s:[], s:[{s:s, s:i, s:s}], s:[], s:i, s:i}", "roots",
				   "classes", "name", "all", "capacity", 1024, "cpus", "", "cpus",
				   "start_ns", 0, "window_ns", 100);
	struct tmigr_timeline *t = NULL;
	struct tmigr_err err = {""};

	(void)state;
	assert_int_equal(tmigr_timeline_read("/nothing/here", report, NULL, &t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nothing/here"));
	assert_int_equal(
		tmigr_timeline_read("/nothing/migrator-segments.csv", report, NULL, &t, &err),
		-ENOENT);
	assert_int_equal(tmigr_timeline_read("/dev/null", report, NULL, &t, &err), -EINVAL);
	assert_null(t);
	json_decref(report);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_machines),
		cmocka_unit_test(no_recording),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
