// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>

struct tmigr_topology *machine_new(unsigned int n, unsigned int stride, unsigned int n_classes,
				   const unsigned int *class_of)
{
	struct tmigr_topology *topo = calloc(1, sizeof(*topo));

	topo->n_cpus = n;
	topo->cpus = calloc(n, sizeof(*topo->cpus));
	topo->n_classes = n_classes;
	topo->classes = calloc(n_classes, sizeof(*topo->classes));
	for (unsigned int i = 0; i < n_classes; i++) {
		snprintf(topo->classes[i].name, sizeof(topo->classes[i].name), "class%u", i);
		topo->classes[i].capacity = 100 * (i + 1);
	}
	for (unsigned int i = 0; i < n; i++) {
		struct tmigr_topo_cpu *c = &topo->cpus[i];

		c->cpu = i * stride;
		c->online = true;
		c->node = c->cluster = -1;
		c->class_idx = class_of ? class_of[i] : 0;
		c->capacity = topo->classes[c->class_idx].capacity;
		c->n_states = 2;
		topo->classes[c->class_idx].n_cpus++;
	}
	topo->n_possible = n ? topo->cpus[n - 1].cpu + 1 : 0;
	return topo;
}

void machine_free(struct tmigr_topology *topo)
{
	free(topo->cpus);
	free(topo->classes);
	free(topo);
}
