// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What of a stream of records a model must be given that begins now.  Records set,
 * they do not count up: of those of one type about one CPU or group, the last is as good
 * as all of them, as long as the order among those of different types is kept.
 */
#include "ftrace_priv.h"

#include <errno.h>
#include <stdlib.h>

/* Kinds kept of each CPU. */
enum kept {
	KEPT_ENTER,
	KEPT_EXIT,
	KEPT_ACTIVE,
	KEPT_IDLE,
	KEPT_NEW_TIMER_IDLE,
	KEPT_RAN_REMOTE,  /* it was the executor */
	KEPT_WOKE_REMOTE, /* likewise, out of the idle task */
	KEPT_BY_REMOTE,	  /* it was the target */
	KEPT_AVAILABLE,
	KEPT_UNAVAILABLE,
	KEPT_ONLINE,
	KEPT_OFFLINE,
	KEPT_NODE,
	KEPT_SNAP_CPU,
	KEPT_SNAP_IDLE,
	KEPT_DUTY,
	KEPT_LOST,
	KEPT_UPDATE, /* it made a group inactive: its duty is due then */
	KEPT_KINDS
};

struct kept_rec {
	__u64 at; /* number in the stream; 0: none */
	struct tmigr_rec rec;
};

struct kept_group {
	__u64 group; /* 0: a free place */
	struct kept_rec node, word;
};

struct tmigr_keeper {
	const struct tmigr_topology *topo;
	struct kept_rec (*cpus)[KEPT_KINDS]; /* by topology index */
	struct kept_rec clean;
	struct kept_group *groups; /* hash, open addressing */
	size_t n_groups, cap_groups;
	size_t places;
	__u64 n;
};

int tmigr_keeper_new(const struct tmigr_topology *topo, struct tmigr_keeper **ret)
{
	struct tmigr_keeper *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->topo = topo;
	k->cap_groups = 64;
	k->cpus = calloc(topo->n_cpus, sizeof(*k->cpus));
	k->groups = calloc(k->cap_groups, sizeof(*k->groups));
	if (!k->cpus || !k->groups) {
		tmigr_keeper_free(k);
		return -ENOMEM;
	}
	*ret = k;
	return 0;
}

void tmigr_keeper_free(struct tmigr_keeper *k)
{
	if (!k)
		return;
	free(k->cpus);
	free(k->groups);
	free(k);
}

static struct kept_group *place_of(struct kept_group *groups, size_t cap, __u64 group)
{
	size_t i = (group >> 6) * 0x9e3779b97f4a7c15ULL >> 32;

	for (i &= cap - 1; groups[i].group && groups[i].group != group; i = (i + 1) & (cap - 1))
		;
	return &groups[i];
}

static int grow(struct tmigr_keeper *k)
{
	size_t cap = k->cap_groups * 2;
	struct kept_group *groups = calloc(cap, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < k->cap_groups; i++)
		if (k->groups[i].group)
			*place_of(groups, cap, k->groups[i].group) = k->groups[i];
	free(k->groups);
	k->groups = groups;
	k->cap_groups = cap;
	return 0;
}

static void keep(struct tmigr_keeper *k, struct kept_rec *at, const struct tmigr_rec *rec)
{
	at->at = k->n;
	at->rec = *rec;
}

/* A place that is told once more was known before. */
static bool told(const struct kept_rec *at, const struct tmigr_rec *rec)
{
	return at->at && at->rec.a == rec->a && at->rec.b == rec->b && at->rec.mask == rec->mask &&
	       at->rec.level == rec->level && at->rec.cpu == rec->cpu;
}

/* Of a group's words the last by its own count, whatever order they came in. */
static bool is_older(const struct kept_rec *word, const struct tmigr_rec *rec)
{
	return word->at &&
	       (__s16)(tmigr_word_seq((__u32)rec->b) - tmigr_word_seq((__u32)word->rec.b)) < 0;
}

static int keep_group(struct tmigr_keeper *k, const struct tmigr_rec *rec)
{
	struct kept_group *g;

	if (!rec->a)
		return 0;
	if (k->n_groups * 2 >= k->cap_groups && grow(k))
		return -ENOMEM;
	g = place_of(k->groups, k->cap_groups, rec->a);
	if (!g->group) {
		g->group = rec->a;
		k->n_groups++;
	}
	if (rec->type == TMIGR_REC_NODE_GROUP) {
		if (!told(&g->node, rec))
			keep(k, &g->node, rec);
	} else if (!is_older(&g->word, rec)) {
		keep(k, &g->word, rec);
	}
	return 0;
}

static void keep_cpu(struct tmigr_keeper *k, __u64 cpu, enum kept kind, const struct tmigr_rec *rec)
{
	int i = cpu > TMIGR_CPU_MAX ? -1 : tmigr_topology_index(k->topo, (unsigned int)cpu);

	if (i < 0)
		return;
	if (kind == KEPT_NODE && !k->cpus[i][kind].at)
		k->places++;
	if (kind == KEPT_NODE && told(&k->cpus[i][kind], rec))
		return;
	keep(k, &k->cpus[i][kind], rec);
}

static int keep_rec(struct tmigr_keeper *k, const struct tmigr_rec *rec)
{
	static const struct {
		__u8 known, kind, subject;
	} of[] = {
		[TMIGR_REC_IDLE_ENTER] = {1, KEPT_ENTER, 0},
		[TMIGR_REC_IDLE_EXIT] = {1, KEPT_EXIT, 0},
		[TMIGR_REC_CPU_ACTIVE] = {1, KEPT_ACTIVE, 1},
		[TMIGR_REC_CPU_IDLE] = {1, KEPT_IDLE, 1},
		[TMIGR_REC_CPU_NEW_TIMER_IDLE] = {1, KEPT_NEW_TIMER_IDLE, 1},
		[TMIGR_REC_CPU_AVAILABLE] = {1, KEPT_AVAILABLE, 1},
		[TMIGR_REC_CPU_UNAVAILABLE] = {1, KEPT_UNAVAILABLE, 1},
		[TMIGR_REC_CPU_ONLINE] = {1, KEPT_ONLINE, 1},
		[TMIGR_REC_CPU_OFFLINE] = {1, KEPT_OFFLINE, 1},
		[TMIGR_REC_NODE_CPU] = {1, KEPT_NODE, 1},
		[TMIGR_REC_SNAP_CPU] = {1, KEPT_SNAP_CPU, 1},
		[TMIGR_REC_SNAP_IDLE] = {1, KEPT_SNAP_IDLE, 1},
		[TMIGR_REC_DUTY] = {1, KEPT_DUTY, 1},
		[TMIGR_REC_LOST] = {1, KEPT_LOST, 0},
		[TMIGR_REC_CLEAN] = {0, 0, 0},
	};

	k->n++;
	switch (rec->type) {
	case TMIGR_REC_GROUP_INACTIVE:
		keep_cpu(k, rec->cpu, KEPT_UPDATE, rec);
		return keep_group(k, rec);
	case TMIGR_REC_GROUP_ACTIVE:
	case TMIGR_REC_SNAP_GROUP:
	case TMIGR_REC_NODE_GROUP:
		return keep_group(k, rec);
	case TMIGR_REC_HANDLE_REMOTE_CPU:
		keep_cpu(k, rec->cpu,
			 rec->flags & TMIGR_RF_IDLE_TASK ? KEPT_WOKE_REMOTE : KEPT_RAN_REMOTE, rec);
		keep_cpu(k, rec->b, KEPT_BY_REMOTE, rec);
		return 0;
	case TMIGR_REC_CLEAN:
		keep(k, &k->clean, rec);
		return 0;
	default:
		if (rec->type < sizeof(of) / sizeof(of[0]) && of[rec->type].known)
			keep_cpu(k, of[rec->type].subject ? rec->b : rec->cpu,
				 (enum kept)of[rec->type].kind, rec);
		return 0;
	}
}

int tmigr_keeper_feed(struct tmigr_keeper *k, const struct tmigr_rec *recs, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = keep_rec(k, &recs[i]);
	return ret;
}

/* ---- what is kept ---- */

static int by_order(const void *a, const void *b)
{
	const struct kept_rec *x = a, *y = b;

	if (x->rec.t_ns != y->rec.t_ns)
		return x->rec.t_ns < y->rec.t_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static size_t collect(const struct tmigr_keeper *k, struct kept_rec *all)
{
	size_t n = 0;

	for (size_t i = 0; i < k->topo->n_cpus; i++)
		for (int kind = 0; kind < KEPT_KINDS; kind++)
			if (k->cpus[i][kind].at)
				all[n++] = k->cpus[i][kind];
	for (size_t i = 0; i < k->cap_groups; i++) {
		if (k->groups[i].node.at)
			all[n++] = k->groups[i].node;
		if (k->groups[i].word.at)
			all[n++] = k->groups[i].word;
	}
	if (k->clean.at)
		all[n++] = k->clean;
	return n;
}

int tmigr_keeper_dump(const struct tmigr_keeper *k, struct tmigr_rec_vec *vec)
{
	size_t n = k->topo->n_cpus * KEPT_KINDS + 2 * k->n_groups + 1;
	struct kept_rec *all = malloc(n * sizeof(*all));
	int ret = 0;

	if (!all)
		return -ENOMEM;
	n = collect(k, all);
	qsort(all, n, sizeof(*all), by_order);
	for (size_t i = 0; i < n && !ret; i++)
		/* One is there twice, of its executor and its target. */
		if (!i || all[i].at != all[i - 1].at)
			ret = tmigr_rec_vec_add(vec, all[i].rec);
	free(all);
	return ret;
}

size_t tmigr_keeper_places(const struct tmigr_keeper *k)
{
	return k->places;
}
