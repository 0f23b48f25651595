// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * model-feed SYSFS-ROOT: gives the library's model what standard input says, a
 * line each, and prints its figures as one JSON object, without the report in
 * between:
 *
 *	window START END	first; ns
 *	rec T CPU TYPE FLAGS LEVEL MASK A B	a struct tmigr_rec, in decimal
 *	advance T		tmigr_model_advance()
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tmigr/model.h"
#include "tmigr/topology.h"

static json_t *numbers(const __u64 *v, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_integer((json_int_t)v[i]));
	return a;
}

static void keep_segment(void *arg, const struct tmigr_segment *seg)
{
	json_array_append_new(arg,
			      json_pack("[i,i,i,I,I]", (int)seg->root, (int)seg->regime, seg->cpu,
					(json_int_t)seg->start_ns, (json_int_t)seg->end_ns));
}

static json_t *cpu_json(const struct tmigr_cpu_figures *f)
{
	json_t *hist = json_array();

	for (int s = 0; s < TMIGR_SLOTS; s++)
		json_array_append_new(hist, numbers(f->hist[s], TMIGR_HIST_BUCKETS));
	return json_pack("{s:i,s:o,s:o,s:o,s:o,s:o}", "cpu", (int)f->cpu, "time_ns",
			 numbers(f->time_ns, TMIGR_SLOTS), "entries",
			 numbers(f->entries, TMIGR_SLOTS), "above", numbers(f->above, TMIGR_SLOTS),
			 "below", numbers(f->below, TMIGR_SLOTS), "hist", hist);
}

static json_t *root_json(const struct tmigr_root_figures *r)
{
	json_t *holders = json_array();

	for (size_t i = 0; i < r->n_holders; i++) {
		const struct tmigr_holder *h = &r->holders[i];

		json_array_append_new(holders,
				      json_pack("{s:i,s:I,s:I,s:I,s:o,s:I,s:I}", "cpu", (int)h->cpu,
						"held", (json_int_t)h->held_ns, "holdings",
						(json_int_t)h->holdings, "longest",
						(json_int_t)h->longest_ns, "slots",
						numbers(h->slot_ns, TMIGR_SLOTS), "avoidable",
						(json_int_t)h->avoidable_ns, "avoidable_unknown",
						(json_int_t)h->avoidable_unknown_ns));
	}
	return json_pack("{s:o,s:o}", "regimes", numbers(r->regime_ns, TMIGR_REGIMES), "holders",
			 holders);
}

static json_t *remote_json(const struct tmigr_remote *r)
{
	return json_pack("{s:i,s:i,s:I,s:o}", "executor", (int)r->executor, "target",
			 (int)r->target, "count", (json_int_t)r->count, "woke",
			 numbers(r->woke, TMIGR_SLOTS));
}

static json_t *result_json(const struct tmigr_result *res, json_t *segments)
{
	json_t *cpus = json_array(), *roots = json_array(), *remote = json_array();

	for (size_t i = 0; i < res->n_cpus; i++)
		json_array_append_new(cpus, cpu_json(&res->cpus[i]));
	for (size_t i = 0; i < res->n_roots; i++)
		json_array_append_new(roots, root_json(&res->roots[i]));
	for (size_t i = 0; i < res->n_remote; i++)
		json_array_append_new(remote, remote_json(&res->remote[i]));
	return json_pack("{s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:O}", "cpus", cpus, "roots", roots,
			 "remote", remote, "lost_records", (json_int_t)res->lost_records,
			 "lost_updates", (json_int_t)res->lost_updates, "late_updates",
			 (json_int_t)res->late_updates, "records", (json_int_t)res->records,
			 "segments", segments);
}

static int feed_line(struct tmigr_model *m, const char *line)
{
	unsigned int cpu, type, flags, level, mask;
	uint64_t t, a, b;
	struct tmigr_rec rec;

	if (sscanf(line, "advance %" SCNu64, &t) == 1)
		return tmigr_model_advance(m, t);
	if (sscanf(line, "rec %" SCNu64 " %u %u %u %u %u %" SCNu64 " %" SCNu64, &t, &cpu, &type,
		   &flags, &level, &mask, &a, &b) != 8)
		return -EINVAL;
	rec = (struct tmigr_rec){
		.t_ns = t,
		.cpu = cpu,
		.type = (__u8)type,
		.flags = (__u8)flags,
		.level = (__u8)level,
		.mask = (__u8)mask,
		.a = a,
		.b = b,
	};
	return tmigr_model_feed(m, &rec, 1);
}

static int feed_all(struct tmigr_model *m, __u64 end_ns)
{
	char line[256];
	int r = 0;

	while (!r && fgets(line, sizeof(line), stdin)) {
		r = feed_line(m, line);
		if (r)
			fprintf(stderr, "model-feed: %s: %s", strerror(-r), line);
	}
	return r ? r : tmigr_model_finish(m, end_ns);
}

static int run(struct tmigr_topology *topo)
{
	json_t *segments = json_array(), *out;
	struct tmigr_model_cfg cfg = {.topo = topo, .segment = keep_segment, .arg = segments};
	uint64_t start_ns, end_ns;
	struct tmigr_model *m = NULL;
	char line[256];
	int r = -EINVAL;

	if (fgets(line, sizeof(line), stdin) &&
	    sscanf(line, "window %" SCNu64 " %" SCNu64, &start_ns, &end_ns) == 2) {
		cfg.start_ns = start_ns;
		r = tmigr_model_new(&cfg, &m);
	}
	if (!r)
		r = feed_all(m, end_ns);
	if (!r) {
		out = result_json(tmigr_model_result(m), segments);
		r = json_dumpf(out, stdout, JSON_COMPACT);
		json_decref(out);
	}
	tmigr_model_free(m);
	json_decref(segments);
	return r;
}

int main(int argc, char **argv)
{
	struct tmigr_topology *topo = NULL;
	struct tmigr_err err = {0};
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: model-feed SYSFS-ROOT <records\n");
		return EXIT_FAILURE;
	}
	r = tmigr_topology_read(argv[1], NULL, 0, &topo, &err);
	if (r) {
		fprintf(stderr, "model-feed: %s\n", err.text);
		return EXIT_FAILURE;
	}
	r = run(topo);
	tmigr_topology_free(topo);
	if (r)
		fprintf(stderr, "model-feed: %s\n", strerror(-r));
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
