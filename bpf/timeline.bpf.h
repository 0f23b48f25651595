/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records for the ring buffer of the CPU that this runs on, and the accounting of
 * those that find no room.
 */
#ifndef TMIGR_TIMELINE_BPF_H
#define TMIGR_TIMELINE_BPF_H

#include "value.bpf.h"

static __always_inline void count_lost(struct tmigr_cpu_value *v, __u64 t)
{
	if (__sync_fetch_and_add(&v->lost_since_n, 1) == 0)
		v->lost_since_ns = t;
	__sync_fetch_and_add(&v->cur.lost, 1);
}

/* Tells of what was lost before the next record is written. */
static __always_inline bool tell_lost(struct tmigr_cpu_value *v, void *ring, __u64 t)
{
	__u64 n = __sync_lock_test_and_set(&v->lost_since_n, 0);
	struct tmigr_rec *rec;

	if (!n)
		return true;
	rec = bpf_ringbuf_reserve(ring, sizeof(*rec), 0);
	if (!rec) {
		__sync_fetch_and_add(&v->lost_since_n, n);
		return false;
	}
	*rec = (struct tmigr_rec){
		.t_ns = t,
		.cpu = bpf_get_smp_processor_id(),
		.type = TMIGR_REC_LOST,
		.a = n,
		.b = v->lost_since_ns,
	};
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	__sync_fetch_and_add(&v->cur.records, 1);
	return true;
}

/* The fields of a record that vary by type, packed to stay within five
 * arguments. */
struct put {
	__u32 cpu;
	__u8 type, flags, level, mask;
	__u64 a, b;
};

static __always_inline void put(struct tmigr_cpu_value *v, __u64 t, struct put p)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct tmigr_rec *rec;
	void *ring;

	if (!cfg_timeline)
		return;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!ring || (v->lost_since_n && !tell_lost(v, ring, t))) {
		count_lost(v, t);
		return;
	}
	rec = bpf_ringbuf_reserve(ring, sizeof(*rec), 0);
	if (!rec) {
		count_lost(v, t);
		return;
	}
	*rec = (struct tmigr_rec){
		.t_ns = t,
		.cpu = p.type == TMIGR_REC_NODE_GROUP ? p.cpu : cpu,
		.type = p.type,
		.flags = p.flags,
		.level = p.level,
		.mask = p.mask,
		.a = p.a,
		.b = p.b,
	};
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	/* Atomic for the slow handlers' sake: see the top. */
	__sync_fetch_and_add(&v->cur.records, 1);
}

#define PUT(v, t, ...) put(v, t, (struct put){__VA_ARGS__})

static __always_inline void put_node_group(struct tmigr_cpu_value *v, __u64 t,
					   struct tmigr_group *group)
{
	PUT(v, t, .type = TMIGR_REC_NODE_GROUP, .cpu = group_node(group), .a = (__u64)group,
	    .b = (__u64)BPF_CORE_READ(group, parent), .level = BPF_CORE_READ(group, level),
	    .mask = group_mask(group));
}

static __always_inline void put_node_cpu(struct tmigr_cpu_value *v, __u64 t, struct tmigr_cpu *tmc)
{
	PUT(v, t, .type = TMIGR_REC_NODE_CPU, .a = (__u64)BPF_CORE_READ(tmc, tmgroup),
	    .b = BPF_CORE_READ(tmc, cpuevt.cpu), .mask = tmc_mask(tmc));
}

/* A duty is only meant while the CPU is idle: an active migrator's field holds
 * leftovers of tmigr_handle_remote(). */
static __always_inline void put_snap_cpu(struct tmigr_cpu_value *v, __u64 t, struct tmigr_cpu *tmc)
{
	__u8 flags = tmc_available(tmc) ? TMIGR_RF_AVAILABLE : 0;
	__u64 wakeup = TMIGR_KTIME_MAX;

	if (BPF_CORE_READ(tmc, idle)) {
		flags |= TMIGR_RF_TMIGR_IDLE;
		wakeup = BPF_CORE_READ(tmc, wakeup);
	}
	PUT(v, t, .type = TMIGR_REC_SNAP_CPU, .a = wakeup, .b = BPF_CORE_READ(tmc, cpuevt.cpu),
	    .flags = flags);
}

/* A CPU's place and its groups' words, from its first event: what the snapshot
 * would have told.  The places are older than what is there: one ns, so that
 * they sort before. */
static __noinline int put_path(struct tmigr_cpu_value *v, __u64 t, struct tmigr_cpu *tmc)
{
	struct tmigr_group *first = BPF_CORE_READ(tmc, tmgroup), *group = first;

	put_node_cpu(v, t - 1, tmc);
	for (int i = 0; i < TMIGR_SNAP_LEVELS && group; i++) {
		put_node_group(v, t - 1, group);
		group = BPF_CORE_READ(group, parent);
	}
	group = first;
	for (int i = 0; i < TMIGR_SNAP_LEVELS && group; i++) {
		PUT(v, t, .type = TMIGR_REC_SNAP_GROUP, .a = (__u64)group, .b = group_word(group));
		group = BPF_CORE_READ(group, parent);
	}
	put_snap_cpu(v, t, tmc);
	return 0;
}

#endif
