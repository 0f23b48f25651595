/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capacity classes.  Private to the topology. */
#ifndef TMIGR_LIB_TOPOLOGY_CLASS_H
#define TMIGR_LIB_TOPOLOGY_CLASS_H

#include "tmigr/topology.h"

/*
 * Makes @topo->classes from the CPUs' capacities and the overrides, and sets
 * each CPU's class_idx.  -EINVAL and -ENOMEM as tmigr_topology_read().
 */
int topology_make_classes(struct tmigr_topology *topo, const char *const *overrides,
			  size_t n_overrides, struct tmigr_err *err);

#endif
