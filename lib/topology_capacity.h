/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capacities of CPUs that have no cpu_capacity file.  Private to the topology. */
#ifndef TMIGR_LIB_TOPOLOGY_CAPACITY_H
#define TMIGR_LIB_TOPOLOGY_CAPACITY_H

#include <limits.h>

#include "tmigr/topology.h"

/* Until it is filled in; no kernel has such a capacity. */
#define CAPACITY_UNKNOWN UINT_MAX

/* In a copy of sysfs: a CPU that is not offline there has a capacity where others have, else
 * the copy is not whole.  -EINVAL. */
int topology_check_capacities(const char *root, const struct tmigr_topology *topo,
			      struct tmigr_err *err);

/* Replaces every CAPACITY_UNKNOWN in @topo, reading each file once.  0 or -ENOMEM. */
int topology_fill_capacities(const char *root, struct tmigr_topology *topo);

#endif
