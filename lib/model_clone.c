// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A copy of a model that goes on by itself: to see what the figures would be if
 * the window ended now, while it does not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_internal.h"

/* A copy of @n elements in room for @cap; nothing for no room. */
static void *copy(const void *from, size_t n, size_t cap, size_t size, int *err)
{
	void *to = cap ? calloc(cap, size) : NULL;

	if (cap && !to)
		*err = -ENOMEM;
	if (to && n)
		memcpy(to, from, n * size);
	return to;
}

#define COPY(to, from, field, n, cap)                                                              \
	((to)->field = copy((from)->field, n, cap, sizeof(*(from)->field), &err))

static int copy_map(struct tmigr_map *to, const struct tmigr_map *from)
{
	int err = 0;

	*to = *from;
	COPY(to, from, keys, from->cap, from->cap);
	COPY(to, from, vals, from->cap, from->cap);
	return err;
}

static int copy_root(const struct tmigr_model *m, struct tmigr_root *to,
		     const struct tmigr_root *from)
{
	size_t classes = m->cfg.topo->n_classes + 1; /* and the one not known */
	int err = 0;

	*to = *from;
	COPY(to, from, n_active, classes, classes);
	COPY(to, from, n_dark, classes, classes);
	COPY(to, from, holder_of_cpu, m->n_cpus, m->n_cpus + 1);
	COPY(to, from, log, from->n_log, from->cap_log);
	COPY(to, from, holders, from->n_holders, from->cap_holders);
	return err;
}

static int copy_arrays(struct tmigr_model *to, const struct tmigr_model *from)
{
	size_t n = from->n_cpus, classes = from->cfg.topo->n_classes + 1;
	int err = 0;

	COPY(to, from, held, from->n_held, from->cap_held);
	COPY(to, from, cpus, n, n + 1);
	COPY(to, from, figures, n, n + 1);
	COPY(to, from, index_of_cpu, from->n_numbers, from->n_numbers + 1);
	COPY(to, from, lower_classes, classes, classes);
	COPY(to, from, n_stray, classes, classes);
	COPY(to, from, groups, from->n_groups, from->cap_groups);
	COPY(to, from, roots, 0, from->cap_roots);
	COPY(to, from, result.remote, from->result.n_remote, from->cap_remote);
	return err;
}

static int copy_rest(struct tmigr_model *to, const struct tmigr_model *from)
{
	int err = copy_map(&to->group_map, &from->group_map);

	if (!err)
		err = copy_map(&to->remote_map, &from->remote_map);
	for (size_t i = 0; !err && i < from->n_roots; i++) {
		to->n_roots = i + 1;
		err = copy_root(from, &to->roots[i], &from->roots[i]);
	}
	return err;
}

int tmigr_model_clone(const struct tmigr_model *from, struct tmigr_model **ret)
{
	struct tmigr_model *to;
	int err;

	if (from->finished)
		return -EINVAL;
	if (from->err)
		return from->err;
	to = malloc(sizeof(*to));
	if (!to)
		return -ENOMEM;
	*to = *from;
	to->cfg.segment = NULL;
	to->cfg.cpu_span = NULL;
	to->cfg.group_span = NULL;
	to->cfg.remote = NULL;
	to->cfg.arg = NULL;
	to->pulled = NULL;
	to->next = NULL;
	to->cap_pulled = to->cap_next = 0;
	to->n_roots = 0;
	to->group_map = to->remote_map = (struct tmigr_map){.cap = 0};
	err = copy_arrays(to, from);
	if (!err)
		err = copy_rest(to, from);
	if (err) {
		tmigr_model_free(to);
		return err;
	}
	*ret = to;
	return 0;
}
