// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What showing a machine of N CPUs costs: a window's report, one frame of `tmigr top` with
 * it, the hierarchy as text and JSON.  The machine is made up (synth.h), and all is done
 * as the tools do it, but for the terminal.
 *
 * Prints one JSON line: CPU time in us, the least of some rounds.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "tmigr/model.h"
#include "tmigr/report.h"
#include "tmigr/top.h"
#include "tmigr/tree.h"

#include "bench.h"
#include "synth.h"

#define RATE   2000 /* records per second and CPU */
#define ROUNDS 5

static const char usage_text[] = "usage: views CPUS\n"
				 "What report, top and tree cost for a machine of CPUS.\n";

struct work {
	struct stream s;
	struct tmigr_model *model;
	struct tmigr_hierarchy *h;
	struct tmigr_tree tree;
	json_t *info, *report, *tree_json;
	struct tmigr_top *top;
	FILE *out;
};

/* 0 or a negative errno: no memory, for nothing else can go wrong here. */
static int build_report(struct work *k)
{
	json_decref(k->report);
	k->report = tmigr_report_build(&(struct tmigr_report_input){
		.topo = k->s.topo, .model = k->model, .info = k->info});
	return k->report ? 0 : -1;
}

static int print_report(struct work *k)
{
	return tmigr_report_text(k->report, k->out);
}

static int build_tree(struct work *k)
{
	json_decref(k->tree_json);
	k->tree_json = tmigr_tree_json(&k->tree);
	return k->tree_json ? 0 : -1;
}

static int print_tree(struct work *k)
{
	return tmigr_tree_text(&k->tree, true, k->out);
}

static int take_sample(struct work *k)
{
	struct tmigr_err err = {""};

	return tmigr_top_add(k->top, k->report, k->tree_json, &err);
}

static int draw(struct work *k, enum tmigr_top_group group)
{
	const struct tmigr_top_opts o = {.sort = TMIGR_TOP_BY_HOLDING,
					 .group = group,
					 .utf8 = true,
					 .width = 100,
					 .height = 40};
	struct tmigr_top_frame *frame;
	int ret = tmigr_top_frame(k->top, &o, &frame);

	if (ret)
		return ret;
	ret = tmigr_top_text(frame, k->out);
	tmigr_top_frame_free(frame);
	return ret;
}

static int draw_flat(struct work *k)
{
	return draw(k, TMIGR_TOP_FLAT);
}

static int draw_hierarchy(struct work *k)
{
	return draw(k, TMIGR_TOP_PER_GROUP);
}

static const struct {
	const char *name;
	int (*what)(struct work *k);
} steps[] = {
	{"report_build", build_report},
	{"report_text", print_report},
	{"tree_json", build_tree},
	{"tree_text", print_tree},
	{"top_sample", take_sample},
	{"top_frame", draw_flat},
	{"top_frame_hierarchy", draw_hierarchy},
};

/* The machine's model after a second of it, as far as the model needs one. */
static int prepare(struct work *k, size_t n_cpus)
{
	struct tmigr_model_cfg cfg;
	size_t at = 0;
	int ret;

	synth_stream(&k->s, n_cpus, n_cpus * RATE, RATE);
	cfg = (struct tmigr_model_cfg){.topo = k->s.topo, .start_ns = k->s.start_ns};
	ret = tmigr_model_new(&cfg, &k->model);
	for (size_t i = 0; i < k->s.n_marks && !ret; at = k->s.marks[i++].at) {
		ret = tmigr_model_feed(k->model, k->s.recs + at, k->s.marks[i].at - at);
		if (!ret)
			ret = tmigr_model_advance(k->model, k->s.marks[i].watermark_ns);
	}
	if (!ret)
		ret = tmigr_model_finish(k->model, k->s.end_ns);
	if (!ret)
		ret = tmigr_model_hierarchy(k->model, &k->h);
	if (!ret)
		ret = tmigr_top_new(&k->top);
	if (ret)
		return ret;
	k->tree = (struct tmigr_tree){.topo = k->s.topo, .h = k->h, .now_ns = k->s.end_ns};
	k->info = json_object();
	k->out = fopen("/dev/null", "w");
	return k->info && k->out ? 0 : -1;
}

static int measure(struct work *k)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		__u64 least_ns = UINT64_MAX;

		for (int round = 0; round < ROUNDS; round++) {
			__u64 ns = bench_cpu_ns();

			if (steps[i].what(k)) {
				fprintf(stderr, "views: %s failed\n", steps[i].name);
				return 1;
			}
			ns = bench_cpu_ns() - ns;
			least_ns = ns < least_ns ? ns : least_ns;
		}
		printf(",\"%s\":%" PRIu64, steps[i].name, (uint64_t)(least_ns / 1000));
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct work k = {0};
	struct rusage ru;
	size_t n_cpus;

	if (argc != 2) {
		fputs(usage_text, stderr);
		return 2;
	}
	n_cpus = bench_number("views", argv[1], 2, TMIGR_CPU_MAX);
	if (prepare(&k, n_cpus)) {
		fputs("views: no memory\n", stderr);
		return 1;
	}
	printf("{\"cpus\":%zu,\"groups\":%zu", n_cpus, k.s.n_groups);
	if (measure(&k))
		return 1;
	getrusage(RUSAGE_SELF, &ru);
	printf(",\"max_rss_kib\":%ld}\n", ru.ru_maxrss);
	return fflush(stdout) ? 1 : 0;
}
