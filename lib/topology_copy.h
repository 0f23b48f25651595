/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a copy of sysfs.  Private to the library. */
#ifndef TMIGR_LIB_TOPOLOGY_COPY_H
#define TMIGR_LIB_TOPOLOGY_COPY_H

#include "tmigr/topology.h"

/* As tmigr_topology_read(); -EINVAL also where the copy is not whole: on the machine itself
 * a CPU may come and go while its files are read, in a copy none does. */
int topology_read_copy(const char *root, const char *const *overrides, size_t n_overrides,
		       struct tmigr_topology **ret, struct tmigr_err *err);

#endif
