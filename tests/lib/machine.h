/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up topology, and records with less typing.
 */
#ifndef TESTS_MACHINE_H
#define TESTS_MACHINE_H

#include "tmigr/model.h"

/* @n CPUs numbered 0, stride, 2*stride ...; class of CPU i is
 * class_of[i] of @n_classes (NULL: one class).  Free with machine_free(). */
struct tmigr_topology *machine_new(unsigned int n, unsigned int stride, unsigned int n_classes,
				   const unsigned int *class_of);
void machine_free(struct tmigr_topology *topo);

#define WORD(active, migrator, seq)                                                                \
	((__u32)(active) | (__u32)(migrator) << 8 | (__u32)(__u16)(seq) << 16)

static inline struct tmigr_rec rec_idle(__u64 t, unsigned int cpu, int state)
{
	return (struct tmigr_rec){.t_ns = t,
				  .cpu = cpu,
				  .type = state < 0 ? TMIGR_REC_IDLE_EXIT : TMIGR_REC_IDLE_ENTER,
				  .a = state < 0 ? 0 : state};
}

static inline struct tmigr_rec rec_group(__u64 t, unsigned int cpu, bool active, __u64 group,
					 __u8 mask, __u32 word)
{
	return (struct tmigr_rec){.t_ns = t,
				  .cpu = cpu,
				  .type = active ? TMIGR_REC_GROUP_ACTIVE
						 : TMIGR_REC_GROUP_INACTIVE,
				  .mask = mask,
				  .a = group,
				  .b = word};
}

/* A record about CPU @subject made on CPU @cpu. */
static inline struct tmigr_rec rec_about(__u64 t, unsigned int cpu, unsigned int type,
					 unsigned int subject, __u64 a)
{
	return (struct tmigr_rec){.t_ns = t, .cpu = cpu, .type = type, .a = a, .b = subject};
}

static inline struct tmigr_rec rec_node_group(__u64 t, __u64 group, __u64 parent,
					      unsigned int level, __u8 mask)
{
	return (struct tmigr_rec){.t_ns = t,
				  .type = TMIGR_REC_NODE_GROUP,
				  .level = level,
				  .mask = mask,
				  .a = group,
				  .b = parent};
}

static inline struct tmigr_rec rec_node_cpu(__u64 t, __u64 group, unsigned int subject, __u8 mask)
{
	return (struct tmigr_rec){
		.t_ns = t, .type = TMIGR_REC_NODE_CPU, .mask = mask, .a = group, .b = subject};
}

static inline struct tmigr_rec rec_snap_group(__u64 t, __u64 group, __u32 word)
{
	return (struct tmigr_rec){.t_ns = t, .type = TMIGR_REC_SNAP_GROUP, .a = group, .b = word};
}

#endif
