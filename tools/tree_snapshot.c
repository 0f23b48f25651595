// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tmigr/engine.h"

struct tree_source {
	struct tmigr_topology *topo;
	struct daemon *daemon; /* NULL: the engine */
	struct tmigr_engine *engine;
	bool started;
};

struct tree_moment {
	struct tmigr_tree view;
	struct tmigr_moment *now;
};

static int open_engine(struct tree_source *s, const struct arg_list *classes,
		       enum tmigr_source source, struct tmigr_err *err)
{
	/* Maps only: a look takes milliseconds, nothing is recorded. */
	const struct tmigr_live_opts opts = {
		.source = source, .no_timeline = true, .no_stats = true};
	int r = tmigr_topology_read(NULL, classes->items, classes->n, &s->topo, err);

	if (r < 0)
		return r;
	r = tmigr_engine_open(&opts, s->topo, &s->engine, err);
	if (r < 0)
		return r == -EINVAL ? -EIO : r; /* not the user's --class */
	return tmigr_engine_has_tmigr(s->engine) ? 0 : tmigr_fail_no_hierarchy(err);
}

int tree_source_open(const struct daemon_opts *daemon, const struct arg_list *classes,
		     enum tmigr_source source, struct tree_source **ret, struct tmigr_err *err)
{
	struct tree_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	r = source == TMIGR_SOURCE_AUTO ? daemon_find(daemon, &s->daemon, err) : 0;
	if (r < 0)
		r = r == -EINVAL ? -EIO : r;
	else if (s->daemon)
		r = daemon_topology(s->daemon, classes->items, classes->n, &s->topo, err);
	else
		r = open_engine(s, classes, source, err);
	if (r < 0) {
		tree_source_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void tree_source_close(struct tree_source *s)
{
	if (!s)
		return;
	daemon_close(s->daemon);
	tmigr_engine_close(s->engine);
	tmigr_topology_free(s->topo);
	free(s);
}

/* Every CPU that should have a place has shown it. */
static bool all_seen(const struct tmigr_moment *m, const struct tmigr_topology *topo)
{
	for (size_t i = 0; i < m->h->n_cpus; i++)
		if (topo->cpus[i].online && !topo->cpus[i].isolated && !m->h->cpus[i].learnt)
			return false;
	return true;
}

/* By ftrace only events tell: at first some seconds of them, or until all CPUs
 * have shown themselves. */
static int take_traced(struct tree_source *s, struct tmigr_moment **ret, struct tmigr_err *err)
{
	const struct timespec step = {.tv_nsec = 200000000};
	int r = 0, tries = s->started ? 0 : 10;

	if (!s->started)
		r = tmigr_engine_start(s->engine, err);
	if (r < 0)
		return r;
	s->started = true;
	for (;; tries--) {
		struct tmigr_moment *m;

		r = tmigr_engine_drain(s->engine, NULL, err);
		if (!r)
			r = tmigr_engine_moment(s->engine, &m, err);
		if (!r && (tries <= 0 || all_seen(m, s->topo))) {
			*ret = m;
			return 0;
		}
		if (!r)
			tmigr_moment_free(m);
		else if (r != -EAGAIN)
			return r;
		else if (tries <= 0)
			return tmigr_fail(
				err, r,
				"no CPU has shown its place in the hierarchy within two "
				"seconds, and by ftrace it cannot be looked up; try again");
		nanosleep(&step, NULL);
	}
}

/*
 * With the symbol's address from kallsyms nothing needs to be attached.  Where
 * that shows nobody, the programs are attached for one event of some CPU: where
 * any of them goes idle, it comes within milliseconds.
 */
static int take_own(struct tree_source *s, struct tmigr_moment **ret, struct tmigr_err *err)
{
	const struct timespec step = {.tv_nsec = 20000000};
	int r, tries = 50;

	if (strcmp(tmigr_engine_source(s->engine, NULL), "ftrace") == 0)
		return take_traced(s, ret, err);
	r = tmigr_engine_moment(s->engine, ret, err);
	if (r != -EAGAIN)
		return r;
	if (!s->started) {
		r = tmigr_engine_start(s->engine, err);
		if (r < 0)
			return r;
		s->started = true;
	}
	while ((r = tmigr_engine_moment(s->engine, ret, err)) == -EAGAIN && tries--)
		nanosleep(&step, NULL);
	if (r == -EAGAIN)
		tmigr_fail(err, r,
			   "no CPU has shown its place in the hierarchy within a second: all are "
			   "busy, and this kernel has no symbol that tells it "
			   "(CONFIG_KALLSYMS_ALL); try again");
	return r;
}

static int take_daemons(struct tree_source *s, struct tmigr_moment **ret, struct tmigr_err *err)
{
	struct tmigr_err why = {""};
	struct tmigr_moment *m;
	json_t *params = NULL;
	int r = daemon_call(s->daemon, "Hierarchy", NULL, &params, err);

	if (r < 0)
		return r;
	r = tmigr_tree_parse(json_object_get(params, "tree"), s->topo, &m, &why);
	json_decref(params);
	if (r < 0)
		return tmigr_fail(err, r, "%s: %s", s->daemon->path, why.text);
	if (!m->h->n_groups) {
		tmigr_moment_free(m);
		return tmigr_fail_no_hierarchy(err);
	}
	*ret = m;
	return 0;
}

int tree_source_take(struct tree_source *s, struct tree_moment **ret, struct tmigr_err *err)
{
	struct tree_moment *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	r = s->daemon ? take_daemons(s, &m->now, err) : take_own(s, &m->now, err);
	if (r < 0) {
		tree_moment_free(m);
		return r;
	}
	m->view = (struct tmigr_tree){
		.topo = s->topo,
		.h = m->now->h,
		.now_ns = m->now->now_ns,
		.cpu_expiry_ns = m->now->cpu_expiry_ns,
		.group_expiry_ns = m->now->group_expiry_ns,
	};
	*ret = m;
	return 0;
}

const struct tmigr_tree *tree_moment_view(const struct tree_moment *m)
{
	return &m->view;
}

struct tmigr_hierarchy *tree_moment_hierarchy(struct tree_moment *m)
{
	return m->now->h;
}

void tree_moment_free(struct tree_moment *m)
{
	if (!m)
		return;
	tmigr_moment_free(m->now);
	free(m);
}
