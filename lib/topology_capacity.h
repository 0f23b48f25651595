/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capacities of CPUs that have no cpu_capacity file.  Private to the topology. */
#ifndef TMIGR_LIB_TOPOLOGY_CAPACITY_H
#define TMIGR_LIB_TOPOLOGY_CAPACITY_H

#include <limits.h>

#include "tmigr/topology.h"

/* Until it is filled in; no kernel has such a capacity. */
#define CAPACITY_UNKNOWN UINT_MAX

/* Replaces every CAPACITY_UNKNOWN in @topo, reading each file once.  0 or -ENOMEM. */
int topology_fill_capacities(const char *root, struct tmigr_topology *topo);

#endif
