// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tmigr/live.h"

struct tree_source {
	struct tmigr_topology *topo;
	struct tmigr_live *live;
	bool started;
};

struct tree_moment {
	struct tmigr_tree view;
	struct tmigr_hierarchy *h;
	__u64 *cpu_expiry_ns, *group_expiry_ns;
	/* What the snapshot said, in its order. */
	struct tmigr_rec *recs;
	size_t n, room;
};

int tree_source_open(const char *const *classes, size_t n_classes, struct tree_source **ret,
		     struct tmigr_err *err)
{
	/* Maps only: a look takes milliseconds, nothing is recorded. */
	const struct tmigr_live_opts opts = {.no_timeline = true, .no_stats = true};
	struct tree_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	r = tmigr_topology_read(NULL, classes, n_classes, &s->topo, err);
	if (r < 0)
		goto fail;
	r = tmigr_live_open(&opts, s->topo, &s->live, err);
	if (r == -EINVAL)
		r = -EIO; /* not the user's --class */
	if (r < 0)
		goto fail;
	if (!tmigr_live_has_tmigr(s->live)) {
		r = tmigr_fail(err, -EOPNOTSUPP,
			       "this kernel has no timer-migration hierarchy (Linux 6.9 or later "
			       "with CONFIG_NO_HZ_COMMON and CONFIG_SMP has)");
		goto fail;
	}
	*ret = s;
	return 0;
fail:
	tree_source_close(s);
	return r;
}

void tree_source_close(struct tree_source *s)
{
	if (!s)
		return;
	tmigr_live_close(s->live);
	tmigr_topology_free(s->topo);
	free(s);
}

static int collect(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct tree_moment *m = arg;

	if (m->n + n > m->room) {
		size_t room = (m->n + n) * 2;
		struct tmigr_rec *more = realloc(m->recs, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		m->recs = more;
		m->room = room;
	}
	memcpy(m->recs + m->n, recs, n * sizeof(*recs));
	m->n += n;
	return 0;
}

static int try_records(struct tree_source *s, struct tree_moment *m, struct tmigr_err *err)
{
	m->n = 0;
	return tmigr_live_snapshot(s->live, collect, m, err);
}

/*
 * With the symbol's address from kallsyms nothing needs to be attached.  Where
 * that shows nobody, the programs are attached for one event of some CPU: where
 * any of them goes idle, it comes within milliseconds.
 */
static int take_records(struct tree_source *s, struct tree_moment *m, struct tmigr_err *err)
{
	const struct timespec step = {.tv_nsec = 20000000};
	int r, tries = 50;
	__u64 start_ns;

	r = try_records(s, m, err);
	if (r != -EAGAIN)
		return r;
	if (!s->started) {
		r = tmigr_live_start(s->live, &start_ns, err);
		if (r < 0)
			return r;
		s->started = true;
	}
	while ((r = try_records(s, m, err)) == -EAGAIN && tries--)
		nanosleep(&step, NULL);
	if (r == -EAGAIN)
		tmigr_fail(err, r,
			   "no CPU has shown its place in the hierarchy within a second: all are "
			   "busy, and this kernel has no symbol that tells it "
			   "(CONFIG_KALLSYMS_ALL); try again");
	return r;
}

static int make_hierarchy(const struct tree_source *s, struct tree_moment *m)
{
	struct tmigr_model_cfg cfg = {.topo = s->topo};
	struct tmigr_model *model;
	__u64 last = 0;
	size_t i;
	int r;

	cfg.start_ns = TMIGR_KTIME_MAX;
	for (i = 0; i < m->n; i++) {
		if (m->recs[i].t_ns < cfg.start_ns)
			cfg.start_ns = m->recs[i].t_ns;
		if (m->recs[i].t_ns > last)
			last = m->recs[i].t_ns;
	}
	m->view.now_ns = last;
	r = tmigr_model_new(&cfg, &model);
	if (r < 0)
		return r;
	r = tmigr_model_feed(model, m->recs, m->n);
	if (r >= 0)
		r = tmigr_model_finish(model, last + 1);
	if (r >= 0)
		r = tmigr_model_hierarchy(model, &m->h);
	tmigr_model_free(model);
	return r;
}

/*
 * The engine knows expiries by the kernel's group, the hierarchy has indices:
 * the records tie them together, from the CPUs' groups upward.
 */
static void match_groups(const struct tree_moment *m, const struct tmigr_topology *topo, __u64 *ids)
{
	const struct tmigr_hierarchy *h = m->h;
	size_t i, g, found;

	for (i = 0; i < m->n; i++) {
		const struct tmigr_rec *r = &m->recs[i];
		int cpu = r->type == TMIGR_REC_NODE_CPU
				  ? tmigr_topology_index(topo, (unsigned int)r->b)
				  : -1;

		if (cpu >= 0 && h->cpus[cpu].group >= 0)
			ids[h->cpus[cpu].group] = r->a;
	}
	do {
		for (found = i = 0; i < m->n; i++) {
			const struct tmigr_rec *r = &m->recs[i];

			if (r->type != TMIGR_REC_NODE_GROUP || !r->b)
				continue;
			for (g = 0; g < h->n_groups; g++) {
				if (ids[g] != r->a || h->groups[g].parent < 0 ||
				    ids[h->groups[g].parent])
					continue;
				ids[h->groups[g].parent] = r->b;
				found++;
			}
		}
	} while (found);
}

static int read_expiries(const struct tree_source *s, struct tree_moment *m)
{
	const struct tmigr_hierarchy *h = m->h;
	__u64 *ids = calloc(h->n_groups + 1, sizeof(*ids));
	size_t i;

	m->cpu_expiry_ns = calloc(h->n_cpus + 1, sizeof(__u64));
	m->group_expiry_ns = calloc(h->n_groups + 1, sizeof(__u64));
	if (!ids || !m->cpu_expiry_ns || !m->group_expiry_ns) {
		free(ids);
		return -ENOMEM;
	}
	match_groups(m, s->topo, ids);
	for (i = 0; i < h->n_cpus; i++)
		m->cpu_expiry_ns[i] = tmigr_live_cpu_expiry(s->live, h->cpus[i].cpu);
	for (i = 0; i < h->n_groups; i++)
		if (ids[i])
			m->group_expiry_ns[i] = tmigr_live_group_expiry(s->live, ids[i]);
	free(ids);
	return 0;
}

int tree_source_take(struct tree_source *s, struct tree_moment **ret, struct tmigr_err *err)
{
	struct tree_moment *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	r = take_records(s, m, err);
	if (r < 0) {
		tree_moment_free(m);
		return r;
	}
	r = make_hierarchy(s, m);
	if (r >= 0)
		r = read_expiries(s, m);
	if (r < 0) {
		tree_moment_free(m);
		return tmigr_fail(err, r, "cannot build the hierarchy: %s", strerror(-r));
	}
	m->view.topo = s->topo;
	m->view.h = m->h;
	m->view.cpu_expiry_ns = m->cpu_expiry_ns;
	m->view.group_expiry_ns = m->group_expiry_ns;
	*ret = m;
	return 0;
}

const struct tmigr_tree *tree_moment_view(const struct tree_moment *m)
{
	return &m->view;
}

void tree_moment_free(struct tree_moment *m)
{
	if (!m)
		return;
	if (m->h)
		tmigr_hierarchy_free(m->h);
	free(m->cpu_expiry_ns);
	free(m->group_expiry_ns);
	free(m->recs);
	free(m);
}
