// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hierarchy of this kernel, learnt three ways: by a snapshot that finds the
 * kernel's variables by their symbols, by one that finds them by distances from
 * an event's argument, and from the events alone.  It must be the same one.
 * Speaks TAP.
 */
#include "../lib/engine.h"
#include "../lib/tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tmigr/model.h"

/* What the model knows at the end of a run; NULL after a failed test. */
static struct tmigr_hierarchy *learn(const struct tmigr_topology *topo,
				     const struct tmigr_live_opts *opts, const char *what)
{
	struct tmigr_hierarchy *h = NULL;
	struct tmigr_model *m = NULL;
	struct engine_run run;

	if (engine_run(&run, topo, opts, what) == 0) {
		struct tmigr_model_cfg cfg = {.topo = topo, .start_ns = run.start_ns};
		int ret = tmigr_model_new(&cfg, &m);

		if (!ret)
			ret = tmigr_model_feed(m, run.recs.recs, run.recs.n);
		if (!ret)
			ret = tmigr_model_finish(m, run.end_ns);
		if (!ret)
			ret = tmigr_model_hierarchy(m, &h);
		if (ret)
			tap_ok(false, "%s: %s", what, strerror(-ret));
	}
	tmigr_model_free(m);
	engine_end(&run);
	return h;
}

/* "GRP0:0 mask 2 < GRP1:0 ...": a CPU's way to the root. */
static void path_of(const struct tmigr_hierarchy *h, size_t cpu, char *buf, size_t size)
{
	int n = snprintf(buf, size, "mask %x", h->cpus[cpu].mask);

	for (int g = h->cpus[cpu].group; g >= 0 && n >= 0 && (size_t)n < size;
	     g = h->groups[g].parent)
		n += snprintf(buf + n, size - (size_t)n, " in %s (level %u, node %d) mask %x",
			      h->groups[g].name, h->groups[g].level, h->groups[g].node,
			      h->groups[g].mask);
}

/* Names number the groups by their lowest CPU, so that equal ways for all CPUs
 * are the same hierarchy. */
static void compare(const struct tmigr_topology *topo, const struct tmigr_hierarchy *a,
		    const struct tmigr_hierarchy *b, const char *what)
{
	size_t n = 0, online = 0, bad = 0;
	char x[512], y[512];
	bool same_size;

	for (size_t i = 0; i < topo->n_cpus; i++) {
		online += topo->cpus[i].online;
		if (!topo->cpus[i].online || !a->cpus[i].learnt || !b->cpus[i].learnt)
			continue;
		n++;
		path_of(a, i, x, sizeof(x));
		path_of(b, i, y, sizeof(y));
		if (strcmp(x, y) == 0)
			continue;
		bad++;
		tap_diag("CPU %u: %s; by symbols %s\n", topo->cpus[i].cpu, y, x);
	}
	/* Groups of CPUs that are all offline show by a snapshot only. */
	same_size =
		online < topo->n_cpus || (a->n_groups == b->n_groups && a->n_roots == b->n_roots);
	if (n < online)
		tap_skip(what, "a CPU that never went idle shows no place");
	else
		tap_ok(!bad && same_size, "%s: the same hierarchy, %zu CPUs, %zu groups, %zu roots",
		       what, n, b->n_groups, b->n_roots);
}

int main(void)
{
	const struct tmigr_live_opts ways[] = {
		{.kick = true}, {.no_ksyms = true, .kick = true}, {.no_snapshot = true}};
	static const char *const names[] = {"by symbols", "by distances", "from the events"};
	struct tmigr_hierarchy *h[3] = {NULL};
	struct tmigr_topology *topo = NULL;
	struct tmigr_engine *engine = NULL;
	struct tmigr_err err = {""};
	pid_t *load;
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (tmigr_topology_read(NULL, NULL, 0, &topo, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	ret = tmigr_engine_open(NULL, topo, &engine, &err);
	if (ret == -EPERM || ret == -ENOENT || (ret == 0 && !tmigr_engine_has_tmigr(engine))) {
		printf("1..0 # SKIP %s\n", ret ? err.text : "no timer migration hierarchy");
		tmigr_engine_close(engine);
		tmigr_topology_free(topo);
		return 0;
	}
	tmigr_engine_close(engine);
	load = engine_load_start(topo);
	for (int i = 0; i < 3; i++)
		h[i] = learn(topo, &ways[i], names[i]);
	for (int i = 1; i < 3; i++)
		if (h[0] && h[i])
			compare(topo, h[0], h[i], names[i]);
	engine_load_stop(topo, load);
	for (int i = 0; i < 3; i++)
		tmigr_hierarchy_free(h[i]);
	tmigr_topology_free(topo);
	return tap_done();
}
