// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remote expiries by (executor, target).
 */
#include <stdlib.h>

#include "model_internal.h"

static struct tmigr_remote *entry(struct tmigr_model *m, unsigned int executor, unsigned int target)
{
	struct tmigr_result *res = &m->result;
	__u64 key = (__u64)executor << 32 | target;
	int idx = tmigr_map_get(&m->remote_map, key);

	if (idx >= 0)
		return &res->remote[idx];
	m->err = tmigr_grow(&res->remote, &m->cap_remote, res->n_remote + 1, sizeof(*res->remote));
	if (m->err)
		return NULL;
	m->err = tmigr_map_put(&m->remote_map, key, res->n_remote);
	if (m->err)
		return NULL;
	res->remote[res->n_remote] = (struct tmigr_remote){.executor = executor, .target = target};
	return &res->remote[res->n_remote++];
}

/*
 * The first expiry that the idle task ran since an idle interval began is what
 * that interval ended for: booked to its state.  A state that is not known (not
 * seen, lost, offline) goes to TMIGR_SLOT_UNKNOWN.
 */
static int woken_slot(struct tmigr_model *m, const struct tmigr_rec *rec)
{
	int cpu = tmigr_model_cpu(m, rec->cpu);
	struct tmigr_mcpu *c;

	if (!(rec->flags & TMIGR_RF_IDLE_TASK))
		return -1;
	if (cpu < 0)
		return TMIGR_SLOT_UNKNOWN;
	c = &m->cpus[cpu];
	if (c->woke_done)
		return -1;
	c->woke_done = true;
	return c->idle_slot;
}

void tmigr_remote_event(struct tmigr_model *m, const struct tmigr_rec *rec)
{
	int slot = woken_slot(m, rec);
	struct tmigr_remote *e;

	if (!tmigr_model_counts(m) || rec->b > 0xffffffffULL)
		return;
	e = entry(m, rec->cpu, rec->b);
	if (!e)
		return;
	e->count++;
	if (slot >= 0)
		e->woke[slot]++;
	if (m->cfg.remote)
		m->cfg.remote(m->cfg.arg,
			      &(struct tmigr_remote_event){m->now_ns, rec->cpu, e->target, slot});
}

static int compare(const void *a, const void *b)
{
	const struct tmigr_remote *x = a, *y = b;

	if (x->executor != y->executor)
		return x->executor < y->executor ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

void tmigr_remote_finish(struct tmigr_model *m)
{
	for (size_t i = 0; i < m->result.n_remote; i++) {
		struct tmigr_remote *e = &m->result.remote[i];
		int cpu = tmigr_model_cpu(m, e->executor);

		e->woke_unknown = cpu >= 0 && !m->cpus[cpu].seen;
	}
	if (m->result.n_remote)
		qsort(m->result.remote, m->result.n_remote, sizeof(*m->result.remote), compare);
}
