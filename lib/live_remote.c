// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remote expiries.  The programs count them in a hash by the edge that came before
 * them; once the next edge has been read these keys stand still, and are moved
 * into a cumulative list here.  So the hash holds two intervals at most, and a
 * window is the difference of two copies of the list.
 */
#include "live_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

struct keys {
	struct tmigr_remote_key *keys;
	size_t n, cap;
};

static int add_key(struct keys *k, const struct tmigr_remote_key *key)
{
	if (k->n == k->cap) {
		size_t cap = k->cap ? k->cap * 2 : 64;
		struct tmigr_remote_key *keys = realloc(k->keys, cap * sizeof(*keys));

		if (!keys)
			return -ENOMEM;
		k->keys = keys;
		k->cap = cap;
	}
	k->keys[k->n++] = *key;
	return 0;
}

/* All keys of finished intervals.  Others may be added meanwhile, none vanishes. */
static int list_keys(const struct tmigr_live *live, __u64 edge_ns, struct keys *k)
{
	struct tmigr_remote_key key, *prev = NULL;
	int ret = 0;

	while (!ret && bpf_map_get_next_key(live->remote_fd, prev, &key) == 0) {
		if (key.edge_ns < edge_ns)
			ret = add_key(k, &key);
		prev = &key;
	}
	return ret;
}

static int order(const struct tmigr_totals_remote *a, const struct tmigr_remote_key *b)
{
	if (a->executor != b->executor)
		return a->executor < b->executor ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

/* The pair's entry, made when new; NULL: no memory. */
static struct tmigr_totals_remote *entry(struct tmigr_pairs *list,
					 const struct tmigr_remote_key *key)
{
	size_t lo = 0, hi = list->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = order(&list->pairs[mid], key);

		if (!c)
			return &list->pairs[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (list->n == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 64;
		struct tmigr_totals_remote *pairs = realloc(list->pairs, cap * sizeof(*pairs));

		if (!pairs)
			return NULL;
		list->pairs = pairs;
		list->cap = cap;
	}
	memmove(list->pairs + lo + 1, list->pairs + lo, (list->n - lo) * sizeof(*list->pairs));
	list->n++;
	list->pairs[lo] =
		(struct tmigr_totals_remote){.executor = key->executor, .target = key->target};
	return &list->pairs[lo];
}

static int fold_key(struct tmigr_live *live, const struct tmigr_remote_key *key)
{
	struct tmigr_totals_remote *r;
	__u64 count;

	if (bpf_map_lookup_elem(live->remote_fd, key, &count))
		return -errno;
	r = entry(&live->remote, key);
	if (!r)
		return -ENOMEM;
	if (bpf_map_delete_elem(live->remote_fd, key))
		return -errno;
	r->count += count;
	if (key->woke_slot < TMIGR_SLOTS)
		r->woke[key->woke_slot] += count;
	return 0;
}

int tmigr_live_fold_remote(struct tmigr_live *live, __u64 edge_ns)
{
	struct keys k = {0};
	int ret = list_keys(live, edge_ns, &k);

	for (size_t i = 0; i < k.n && !ret; i++)
		ret = fold_key(live, &k.keys[i]);
	free(k.keys);
	return ret;
}
