// SPDX-License-Identifier: GPL-2.0-or-later
#include "brute.h"

#include <stdlib.h>
#include <string.h>

#include "brute_internal.h"

static int rank(const struct tmigr_rec *r)
{
	if (r->type == TMIGR_REC_NODE_GROUP || r->type == TMIGR_REC_NODE_CPU)
		return 0;
	return r->type == TMIGR_REC_SNAP_IDLE ? 2 : 1;
}

static bool before(const struct tmigr_rec *a, const struct tmigr_rec *b)
{
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns;
	if (rank(a) != rank(b))
		return rank(a) < rank(b);
	return a->cpu < b->cpu;
}

static void sort_records(struct bstream *b)
{
	for (size_t i = 1; i < b->n; i++) {
		struct tmigr_rec r = b->recs[i];
		size_t at = i;

		while (at > 0 && before(&r, &b->recs[at - 1])) {
			b->recs[at] = b->recs[at - 1];
			at--;
		}
		b->recs[at] = r;
	}
}

/* At least as many as there are groups in the records. */
static size_t count_groups(const struct bstream *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct tmigr_rec *r = &b->recs[i];
		size_t k = 0;

		if (r->type != TMIGR_REC_GROUP_ACTIVE && r->type != TMIGR_REC_GROUP_INACTIVE &&
		    (r->type < TMIGR_REC_NODE_GROUP || r->type > TMIGR_REC_SNAP_GROUP))
			continue;
		while (k < i && b->recs[k].a != r->a)
			k++;
		n += k == i;
		n += r->type == TMIGR_REC_NODE_GROUP && r->b;
	}
	return n;
}

void brute_run(const struct tmigr_topology *topo, const struct tmigr_rec *recs, size_t n,
	       __u64 start_ns, __u64 end_ns, struct brute *ret)
{
	struct bstream b = {.topo = topo, .n = n, .start = start_ns, .end = end_ns, .out = ret};

	memset(ret, 0, sizeof(*ret));
	ret->result.start_ns = start_ns;
	ret->result.end_ns = end_ns;
	ret->result.n_cpus = topo->n_cpus;
	ret->result.cpus = calloc(topo->n_cpus, sizeof(*ret->result.cpus));
	b.recs = malloc((n + 1) * sizeof(*recs));
	memcpy(b.recs, recs, n * sizeof(*recs));
	b.used = calloc(n + 1, sizeof(*b.used));
	b.due = malloc(topo->n_cpus * sizeof(*b.due));
	for (size_t i = 0; i < topo->n_cpus; i++) {
		b.due[i] = -1;
		ret->result.cpus[i].cpu = topo->cpus[i].cpu;
	}
	sort_records(&b);
	brute_state_init(&b.state, topo, count_groups(&b));
	brute_stream(&b);
	for (size_t i = 0; i < topo->n_cpus; i++) {
		brute_parts_of_cpu(&b, i);
		brute_idle_of_cpu(&b, i);
	}
	brute_sort_changes(&b);
	brute_remotes(&b);
	for (size_t p = 0; p < n; p++)
		ret->result.records += b.recs[p].type < TMIGR_REC_NODE_GROUP &&
				       b.recs[p].t_ns >= start_ns && b.recs[p].t_ns < end_ns;
	ret->result.n_roots = b.state.n_orders;
	ret->result.roots = calloc(b.state.n_orders + 1, sizeof(*ret->result.roots));
	brute_judge_roots(&b);
	brute_count_holdings(ret);
	brute_state_free(&b.state);
	free(b.recs);
	free(b.used);
	free(b.due);
	free(b.changes);
	free(b.marks);
	free(b.blurs);
	free(b.gaps);
}

void brute_free(struct brute *b)
{
	for (size_t i = 0; i < b->result.n_roots; i++)
		free(b->result.roots[i].holders);
	free(b->result.roots);
	free(b->result.remote);
	free(b->result.cpus);
	free(b->segs);
}
