// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The model's containers: arrays that grow, a hash of integers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_internal.h"

int tmigr_grow(void *array, size_t *cap, size_t need, size_t size)
{
	void *old, *p;
	size_t n = *cap ? *cap : 16;

	if (need <= *cap)
		return 0;
	while (n < need)
		n *= 2;
	memcpy(&old, array, sizeof(old));
	p = reallocarray(old, n, size);
	if (!p)
		return -ENOMEM;
	memcpy(array, &p, sizeof(p));
	*cap = n;
	return 0;
}

static size_t map_place(const struct tmigr_map *map, __u64 key)
{
	size_t i = (key * 0x9e3779b97f4a7c15ULL) >> 20 & (map->cap - 1);

	while (map->vals[i] && map->keys[i] != key)
		i = (i + 1) & (map->cap - 1);
	return i;
}

int tmigr_map_get(const struct tmigr_map *map, __u64 key)
{
	if (!map->cap)
		return -1;
	return (int)map->vals[map_place(map, key)] - 1;
}

static int map_resize(struct tmigr_map *map, size_t cap)
{
	struct tmigr_map old = *map;
	__u64 *keys = calloc(cap, sizeof(*keys));
	__u32 *vals = calloc(cap, sizeof(*vals));

	if (!keys || !vals) {
		free(keys);
		free(vals);
		return -ENOMEM;
	}
	*map = (struct tmigr_map){.keys = keys, .vals = vals, .n = old.n, .cap = cap};
	for (size_t i = 0; i < old.cap; i++) {
		size_t at;

		if (!old.vals[i])
			continue;
		at = map_place(map, old.keys[i]);
		keys[at] = old.keys[i];
		vals[at] = old.vals[i];
	}
	tmigr_map_free(&old);
	return 0;
}

int tmigr_map_put(struct tmigr_map *map, __u64 key, __u32 val)
{
	size_t at;

	if (map->n * 2 >= map->cap) {
		int err = map_resize(map, map->cap ? map->cap * 2 : 64);

		if (err)
			return err;
	}
	at = map_place(map, key);
	map->keys[at] = key;
	map->vals[at] = val + 1;
	map->n++;
	return 0;
}

int tmigr_map_set(struct tmigr_map *map, __u64 key, __u32 val)
{
	size_t at = map->cap ? map_place(map, key) : 0;

	if (!map->cap || !map->vals[at])
		return tmigr_map_put(map, key, val);
	map->vals[at] = val + 1;
	return 0;
}

void tmigr_map_free(struct tmigr_map *map)
{
	free(map->keys);
	free(map->vals);
	*map = (struct tmigr_map){0};
}
