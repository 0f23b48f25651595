/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of the topology: made-up machines read, and what was read looked at. */
#ifndef TESTS_TOPOLOGY_READ_H
#define TESTS_TOPOLOGY_READ_H

#include <stdlib.h>
#include <string.h>

#include "../lib/sysfs_tree.h"
#include "tmigr/topology.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static inline struct tmigr_topology *read_with(const struct sysfs_tree *m,
					       const char *const *overrides, size_t n)
{
	struct tmigr_topology *topo = NULL;
	struct tmigr_err err = {""};

	if (tmigr_topology_read(m->root, overrides, n, &topo, &err) != 0)
		fail_msg("%s", err.text);
	return topo;
}

static inline struct tmigr_topology *read_machine(const struct sysfs_tree *m)
{
	return read_with(m, NULL, 0);
}

/* Reading fails with @want, says @text in one line, and leaves ret alone. */
static inline void refuse_with(const struct sysfs_tree *m, const char *const *overrides, size_t n,
			       int want, const char *text)
{
	struct tmigr_topology *topo = (struct tmigr_topology *)&n;
	struct tmigr_err err = {""};

	assert_int_equal(tmigr_topology_read(m->root, overrides, n, &topo, &err), want);
	assert_ptr_equal(topo, &n);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
	assert_null(strchr(err.text, '\n'));
	assert_int_equal(tmigr_topology_read(m->root, overrides, n, &topo, NULL), want);
}

static inline void check_class(const struct tmigr_topology *topo, size_t idx, const char *name,
			       unsigned int capacity, const char *cpulist)
{
	unsigned int *cpus;
	size_t n = 0;
	char *text;

	assert_true(idx < topo->n_classes);
	assert_string_equal(topo->classes[idx].name, name);
	assert_int_equal(topo->classes[idx].capacity, capacity);
	cpus = calloc(topo->n_cpus, sizeof(*cpus));
	assert_non_null(cpus);
	for (size_t i = 0; i < topo->n_cpus; i++)
		if (topo->cpus[i].class_idx == idx)
			cpus[n++] = topo->cpus[i].cpu;
	text = tmigr_cpulist_format(cpus, n);
	assert_string_equal(text, cpulist);
	assert_int_equal(topo->classes[idx].n_cpus, n);
	free(text);
	free(cpus);
}

static inline void check_state(const struct tmigr_topo_cpu *cpu, unsigned int k, const char *name,
			       unsigned int latency_us, unsigned int residency_us, bool disabled)
{
	assert_true(k < cpu->n_states);
	assert_string_equal(cpu->states[k].name, name);
	assert_int_equal(cpu->states[k].latency_us, latency_us);
	assert_int_equal(cpu->states[k].residency_us, residency_us);
	assert_int_equal(cpu->states[k].disabled, disabled);
}

static inline void same_topology(const struct tmigr_topology *a, const struct tmigr_topology *b)
{
	assert_int_equal(a->n_cpus, b->n_cpus);
	assert_int_equal(a->n_classes, b->n_classes);
	assert_int_equal(a->n_possible, b->n_possible);
	assert_string_equal(a->driver, b->driver);
	assert_string_equal(a->governor, b->governor);
	assert_int_equal(a->timer_migration, b->timer_migration);
	for (size_t i = 0; i < a->n_classes; i++) {
		assert_string_equal(a->classes[i].name, b->classes[i].name);
		assert_int_equal(a->classes[i].capacity, b->classes[i].capacity);
		assert_int_equal(a->classes[i].n_cpus, b->classes[i].n_cpus);
	}
	for (size_t i = 0; i < a->n_cpus; i++) {
		const struct tmigr_topo_cpu *x = &a->cpus[i], *y = &b->cpus[i];

		assert_int_equal(x->cpu, y->cpu);
		assert_int_equal(x->online, y->online);
		assert_int_equal(x->isolated, y->isolated);
		assert_int_equal(x->nohz_full, y->nohz_full);
		assert_int_equal(x->capacity, y->capacity);
		assert_int_equal(x->node, y->node);
		assert_int_equal(x->cluster, y->cluster);
		assert_int_equal(x->class_idx, y->class_idx);
		assert_int_equal(x->class_guessed, y->class_guessed);
		assert_int_equal(x->n_states, y->n_states);
		for (unsigned int k = 0; k < x->n_states; k++)
			check_state(y, k, x->states[k].name, x->states[k].latency_us,
				    x->states[k].residency_us, x->states[k].disabled);
	}
}

/* The topology survives its JSON text. */
static inline void round_trip(const struct tmigr_topology *topo)
{
	struct tmigr_topology *back = NULL;
	struct tmigr_err err = {""};
	json_t *json = tmigr_topology_to_json(topo), *again;
	char *text;

	assert_non_null(json);
	text = json_dumps(json, JSON_COMPACT);
	assert_non_null(text);
	again = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(again);
	if (tmigr_topology_from_json(again, &back, &err) != 0)
		fail_msg("%s", err.text);
	same_topology(topo, back);
	tmigr_topology_free(back);
	json_decref(again);
	free(text);
	json_decref(json);
}

#endif
