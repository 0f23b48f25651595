// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which CPUs are drawn as one lane.  Each has its own as long as there is room.
 * Else a lane is a run of CPUs, ascending, of one class and one level-0 group,
 * and then of one class alone, of as many CPUs as are needed.
 */
#include "timeline_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_fmt.h"
#include "report_text.h"
#include "tmigr/topology.h"

/* A level-0 group has up to 8 CPUs. */
#define GROUP_CPUS 8

struct place {
	unsigned int cpu;
	int class_idx;
	const char *group; /* level 0, "" outside */
};

static struct place *places_of(const json_t *report, size_t *ret_n)
{
	const json_t *cpus = json_object_get(report, "cpus"), *c;
	const json_t *tree = json_object_get(json_object_get(report, "hierarchy"), "cpus");
	struct place *places = calloc(json_array_size(cpus) + 1, sizeof(*places));
	size_t i, k = 0;

	if (!places)
		return NULL;
	json_array_foreach (cpus, i, c) {
		__u64 cpu = tmigr_rep_u64(c, "cpu");

		/* Both ascend by CPU. */
		while (tmigr_rep_u64(json_array_get(tree, k), "cpu") < cpu &&
		       k < json_array_size(tree))
			k++;
		places[i] = (struct place){(unsigned int)cpu,
					   tmigr_rep_class_index(report, tmigr_rep_str(c, "class")),
					   ""};
		if (tmigr_rep_u64(json_array_get(tree, k), "cpu") == cpu)
			places[i].group = tmigr_rep_str(json_array_get(tree, k), "group");
	}
	*ret_n = i;
	return places;
}

/* First index after @from that is no longer of its lane. */
static size_t lane_end(const struct place *p, size_t n, size_t from, size_t max, bool by_group)
{
	size_t i = from + 1;

	while (i < n && i - from < max && p[i].class_idx == p[from].class_idx &&
	       (!by_group || !strcmp(p[i].group, p[from].group)))
		i++;
	return i;
}

static size_t count_lanes(const struct place *p, size_t n, size_t max, bool by_group)
{
	size_t lanes = 0;

	for (size_t i = 0; i < n; i = lane_end(p, n, i, max, by_group))
		lanes++;
	return lanes;
}

static int add_lane(struct tmigr_timeline *t, const struct place *p, size_t n)
{
	unsigned int *cpus = calloc(n, sizeof(*cpus));
	struct tmigr_lane *lane = &t->lanes[t->n_lanes];

	if (!cpus)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		cpus[i] = p[i].cpu;
		t->lane_of[p[i].cpu] = (int)t->n_lanes;
	}
	*lane = (struct tmigr_lane){tmigr_cpulist_format(cpus, n), n, cpus[0], p[0].class_idx};
	free(cpus);
	if (!lane->cpus)
		return -ENOMEM;
	t->n_lanes++;
	t->grouped |= n > 1;
	return 0;
}

static int build(struct tmigr_timeline *t, const struct place *p, size_t n, size_t max_lanes)
{
	size_t max = 1;
	bool by_group = true;
	int ret = 0;

	if (n > max_lanes)
		max = GROUP_CPUS;
	while (count_lanes(p, n, max, by_group) > max_lanes && max < n) {
		by_group = false;
		max *= 2;
	}
	t->n_numbers = n ? p[n - 1].cpu + 1 : 0;
	t->lanes = calloc(n + 1, sizeof(*t->lanes));
	t->lane_of = malloc((t->n_numbers + 1) * sizeof(*t->lane_of));
	if (!t->lanes || !t->lane_of)
		return -ENOMEM;
	memset(t->lane_of, 0xff, (t->n_numbers + 1) * sizeof(*t->lane_of));
	for (size_t i = 0, end; i < n && ret == 0; i = end) {
		end = lane_end(p, n, i, max, by_group);
		ret = add_lane(t, p + i, end - i);
	}
	return ret;
}

int tmigr_lanes_build(struct tmigr_timeline *t, const json_t *report, size_t max_lanes)
{
	size_t n = 0;
	struct place *p = places_of(report, &n);
	int ret = p ? build(t, p, n, max_lanes) : -ENOMEM;

	free(p);
	return ret;
}
