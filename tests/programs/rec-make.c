// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rec-make [-c CPUS] [-k CLASSES] [-r ROOTS] [-s STEPS] [-t STEP_NS] [-S SEED] [-f FAN]
 *          [-i INFO.json] [-n NAME] FILE
 * A recording of a made-up machine (tests/lib/sim.h), without totals. INFO.json is
 * its "info"; -n names the highest class, and the second idle state of every CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/sim.h"
#include "tmigr/recording.h"

#define BATCH 4096

static void die(const char *what)
{
	fprintf(stderr, "rec-make: %s\n", what);
	exit(EXIT_FAILURE);
}

/* What sysfs would say besides. */
static void complete(struct tmigr_topology *topo)
{
	snprintf(topo->driver, sizeof(topo->driver), "psci_idle");
	snprintf(topo->governor, sizeof(topo->governor), "menu");
	for (size_t i = 0; i < topo->n_cpus; i++)
		for (unsigned int k = 0; k < topo->cpus[i].n_states; k++)
			if (!topo->cpus[i].states[k].name[0])
				snprintf(topo->cpus[i].states[k].name,
					 sizeof(topo->cpus[i].states[k].name), "C%u", k);
}

static void name_all(struct tmigr_topology *topo, const char *name)
{
	struct tmigr_class *top = &topo->classes[topo->n_classes - 1];

	snprintf(top->name, sizeof(top->name), "%s", name);
	for (size_t i = 0; i < topo->n_cpus; i++)
		if (topo->cpus[i].n_states > 1)
			snprintf(topo->cpus[i].states[1].name, sizeof(topo->cpus[i].states[1].name),
				 "%s", name);
}

static json_t *meta_of(const struct sim *sim, const char *info)
{
	json_t *json = info ? json_load_file(info, 0, NULL) : json_object();

	if (!json)
		die("no JSON in the file of -i");
	return json_pack("{s:o, s:I, s:o}", "topology", tmigr_topology_to_json(sim->topo),
			 "start_ns", (json_int_t)sim->start_ns, "info", json);
}

static void write_recs(const struct sim *sim, struct tmigr_recording_writer *w)
{
	struct tmigr_err err = {""};

	for (size_t i = 0; i < sim->n_recs; i += BATCH) {
		size_t n = sim->n_recs - i < BATCH ? sim->n_recs - i : BATCH;
		__u64 mark = sim->recs[i].t_ns;

		if (tmigr_recording_events(w, sim->recs + i, n, &err) < 0 ||
		    (mark < sim->end_ns && tmigr_recording_mark(w, mark, &err) < 0))
			die(err.text);
	}
}

static void take_options(int argc, char **argv, struct sim_cfg *cfg, const char **ret_info,
			 const char **ret_name)
{
	int c;

	while ((c = getopt(argc, argv, "c:k:r:s:t:S:f:i:n:")) != -1) {
		unsigned long v = optarg ? strtoul(optarg, NULL, 0) : 0;

		switch (c) {
		case 'c':
			cfg->n_cpus = (unsigned int)v;
			break;
		case 'k':
			cfg->n_classes = (unsigned int)v;
			break;
		case 'r':
			cfg->n_roots = (unsigned int)v;
			break;
		case 's':
			cfg->steps = (unsigned int)v;
			break;
		case 't':
			cfg->step_ns = v;
			break;
		case 'S':
			cfg->seed = v;
			break;
		case 'f':
			cfg->fan = (unsigned int)v;
			break;
		case 'i':
			*ret_info = optarg;
			break;
		case 'n':
			*ret_name = optarg;
			break;
		default:
			die("wrong option");
		}
	}
}

int main(int argc, char **argv)
{
	struct sim_cfg cfg = {.seed = 1,
			      .n_cpus = 8,
			      .n_roots = 1,
			      .fan = 8,
			      .n_classes = 2,
			      .max_gap = 1,
			      .steps = 20000,
			      .step_ns = 100000,
			      .snapshot = true,
			      .n_clean = 20};
	const char *info = NULL, *name = NULL;
	struct tmigr_recording_writer *w = NULL;
	struct tmigr_err err = {""};
	json_t *meta, *end;
	struct sim sim;

	take_options(argc, argv, &cfg, &info, &name);
	if (optind + 1 != argc)
		die("give one FILE");
	sim_run(&cfg, &sim);
	complete(sim.topo);
	if (name)
		name_all(sim.topo, name);
	meta = meta_of(&sim, info);
	if (tmigr_recording_create(argv[optind], true, meta, &w, &err) < 0)
		die(err.text);
	write_recs(&sim, w);
	end = json_pack("{s:I, s:{}}", "end_ns", (json_int_t)sim.end_ns, "info");
	if (tmigr_recording_end(w, end, &err) < 0)
		die(err.text);
	json_decref(meta);
	json_decref(end);
	sim_free(&sim);
	return EXIT_SUCCESS;
}
