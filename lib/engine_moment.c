// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hierarchy at one moment: a snapshot, made into what a model shows of it.
 */
#include "engine_priv.h"
#include "ftrace_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int moment_hierarchy(const struct tmigr_topology *topo, const struct tmigr_rec_vec *vec,
			    struct tmigr_moment *m)
{
	struct tmigr_model_cfg cfg = {.topo = topo};
	struct tmigr_model *model;
	__u64 last = 0;
	int r;

	cfg.start_ns = vec->n ? TMIGR_KTIME_MAX : 0;
	for (size_t i = 0; i < vec->n; i++) {
		if (vec->recs[i].t_ns < cfg.start_ns)
			cfg.start_ns = vec->recs[i].t_ns;
		if (vec->recs[i].t_ns > last)
			last = vec->recs[i].t_ns;
	}
	m->now_ns = vec->n ? last : tmigr_now_ns();
	r = tmigr_model_new(&cfg, &model);
	if (r < 0)
		return r;
	r = tmigr_model_feed(model, vec->recs, vec->n);
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
static void match_groups(const struct tmigr_rec_vec *vec, const struct tmigr_topology *topo,
			 const struct tmigr_hierarchy *h, __u64 *ids)
{
	size_t i, g, found;

	for (i = 0; i < vec->n; i++) {
		const struct tmigr_rec *r = &vec->recs[i];
		int cpu = r->type == TMIGR_REC_NODE_CPU
				  ? tmigr_topology_index(topo, (unsigned int)r->b)
				  : -1;

		if (cpu >= 0 && h->cpus[cpu].group >= 0)
			ids[h->cpus[cpu].group] = r->a;
	}
	do {
		for (found = i = 0; i < vec->n; i++) {
			const struct tmigr_rec *r = &vec->recs[i];

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

static int read_expiries(const struct tmigr_live *live, const struct tmigr_rec_vec *vec,
			 struct tmigr_moment *m)
{
	const struct tmigr_hierarchy *h = m->h;
	__u64 *ids = calloc(h->n_groups + 1, sizeof(*ids));

	m->cpu_expiry_ns = calloc(h->n_cpus + 1, sizeof(__u64));
	m->group_expiry_ns = calloc(h->n_groups + 1, sizeof(__u64));
	if (!ids || !m->cpu_expiry_ns || !m->group_expiry_ns) {
		free(ids);
		return -ENOMEM;
	}
	match_groups(vec, live->topo, h, ids);
	for (size_t i = 0; i < h->n_cpus; i++)
		m->cpu_expiry_ns[i] = tmigr_live_cpu_expiry(live, h->cpus[i].cpu);
	for (size_t i = 0; i < h->n_groups; i++)
		if (ids[i])
			m->group_expiry_ns[i] = tmigr_live_group_expiry(live, ids[i]);
	free(ids);
	return 0;
}

int tmigr_keeper_moment(const struct tmigr_keeper *keeper, const struct tmigr_topology *topo,
			struct tmigr_moment **ret, struct tmigr_err *err)
{
	struct tmigr_moment *m = calloc(1, sizeof(*m));
	struct tmigr_rec_vec vec = {0};
	int r = m ? tmigr_keeper_dump(keeper, &vec) : -ENOMEM;

	if (!r)
		r = moment_hierarchy(topo, &vec, m);
	tmigr_rec_vec_free(&vec);
	if (!r) {
		m->cpu_expiry_ns = calloc(m->h->n_cpus + 1, sizeof(__u64));
		m->group_expiry_ns = calloc(m->h->n_groups + 1, sizeof(__u64));
		r = m->cpu_expiry_ns && m->group_expiry_ns ? 0 : -ENOMEM;
	}
	if (r) {
		tmigr_moment_free(m);
		return tmigr_fail(err, r, "cannot build the hierarchy: %s", strerror(-r));
	}
	*ret = m;
	return 0;
}

int tmigr_bpf_moment(struct tmigr_engine *engine, struct tmigr_moment **ret, struct tmigr_err *err)
{
	struct tmigr_rec_vec vec = {0};
	struct tmigr_moment *m;
	int r = tmigr_live_snapshot(engine->live, &vec, err);

	if (r) {
		tmigr_rec_vec_free(&vec);
		return r;
	}
	m = calloc(1, sizeof(*m));
	r = m ? moment_hierarchy(engine->topo, &vec, m) : -ENOMEM;
	if (!r)
		r = read_expiries(engine->live, &vec, m);
	tmigr_rec_vec_free(&vec);
	if (r) {
		tmigr_moment_free(m);
		return tmigr_fail(err, r, "cannot build the hierarchy: %s", strerror(-r));
	}
	*ret = m;
	return 0;
}

int tmigr_fail_no_hierarchy(struct tmigr_err *err)
{
	return tmigr_fail(err, -EOPNOTSUPP,
			  "this kernel has no timer-migration hierarchy (Linux 6.9 or later "
			  "with CONFIG_NO_HZ_COMMON and CONFIG_SMP has)");
}

int tmigr_engine_moment(struct tmigr_engine *engine, struct tmigr_moment **ret,
			struct tmigr_err *err)
{
	return engine->source->moment(engine, ret, err);
}

void tmigr_moment_free(struct tmigr_moment *m)
{
	if (!m)
		return;
	if (m->h)
		tmigr_hierarchy_free(m->h);
	free(m->cpu_expiry_ns);
	free(m->group_expiry_ns);
	free(m);
}

int tmigr_engine_hierarchy(struct tmigr_engine *engine, struct tmigr_hierarchy **ret,
			   struct tmigr_err *err)
{
	struct tmigr_moment *m;
	int r = tmigr_engine_moment(engine, &m, err);

	if (r)
		return r;
	*ret = m->h;
	m->h = NULL;
	tmigr_moment_free(m);
	return 0;
}
