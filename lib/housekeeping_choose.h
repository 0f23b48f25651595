/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice alone, apart from the system calls; and a thread's mask on a machine of any
 * size.  Private to the library. */
#ifndef TMIGR_LIB_HOUSEKEEPING_CHOOSE_H
#define TMIGR_LIB_HOUSEKEEPING_CHOOSE_H

#include <sched.h>

#include "tmigr/topology.h"

/* The CPU of @topo that is best for housekeeping among those in @mask, given
 * the text of /proc/stat; -1 if none is online. */
int housekeeping_choose(const struct tmigr_topology *topo, const cpu_set_t *mask, size_t mask_bytes,
			const char *stat_text);

/* The calling thread's mask, in as many bytes as the kernel wants and @n_cpus (highest
 * number + 1) need; owned by the caller (CPU_FREE). */
int housekeeping_mask(unsigned int n_cpus, cpu_set_t **ret, size_t *ret_bytes);

#endif
