/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the CPU that this runs on, and the accounting of those that find no room.
 *
 * The handlers that own the CPU's value (value.bpf.h) write to its log (maps.h): they are
 * its only producer, so there is nothing to reserve and no lock to take.  The slow ones,
 * between which anything may come, write whole records to a ring buffer.
 */
#ifndef TMIGR_TIMELINE_BPF_H
#define TMIGR_TIMELINE_BPF_H

#include "value.bpf.h"

/* The fields of a record that vary by type, packed to stay within five
 * arguments. */
struct put {
	__u32 cpu;
	__u8 type, flags, level, mask;
	__u64 a, b;
};

/* ---- the log ---- */

static __always_inline __u64 *words_at(struct tmigr_log *log, __u64 head, __u64 mask)
{
	head &= mask;
	HIDE(head);
	return (__u64 *)((char *)log + sizeof(*log) + head);
}

/* @p.type is a constant where this is inlined, and with it the form. */
static __always_inline __u64 write_words(__u64 *w, __u64 t, struct put p)
{
	__u64 small = (__u64)p.flags << 40 | (__u64)p.level << 32;
	__u32 n = tmigr_log_words(p.type);

	if (n == 1) {
		w[0] = t << TMIGR_LOG_TIME_SHIFT | (p.a & 0xff) << 8 | p.type;
		return sizeof(*w);
	}
	w[0] = t << TMIGR_LOG_TIME_SHIFT | (__u64)p.mask << 8 | p.type;
	w[1] = p.a;
	if (n == 3) {
		w[2] = small | (__u32)p.b;
	} else {
		w[2] = p.b;
		w[3] = small | p.cpu;
	}
	return n * sizeof(*w);
}

/* The exchange orders the words before the head, on arm64 too. */
static __always_inline void publish(struct tmigr_log *log, __u64 head)
{
	__sync_lock_test_and_set(&log->head, head);
}

/* Tells of what was lost before the next record is written; the new head. */
static __always_inline __u64 tell_lost(struct tmigr_cpu_value *v, struct tmigr_log *log, __u64 head,
				       __u64 mask, __u64 t)
{
	__u64 n = __sync_lock_test_and_set(&v->lost_since_n, 0);
	struct put p = {.type = TMIGR_REC_LOST, .a = n, .b = v->lost_since_ns};

	if (!n)
		return head;
	p.cpu = bpf_get_smp_processor_id();
	v->cur.records++;
	return head + write_words(words_at(log, head, mask), t, p);
}

static __always_inline void put(struct tmigr_cpu_value *v, __u64 t, struct put p)
{
	__u64 mask = cfg_log_mask, head;
	struct tmigr_log *log;
	__u32 cpu;

	if (!mask)
		return;
	cpu = bpf_get_smp_processor_id();
	log = bpf_map_lookup_elem(&logs, &cpu);
	if (!log)
		return; /* cannot be */
	head = log->head;
	if (head - log->tail > mask - TMIGR_LOG_SPARE) {
		count_lost(v, t);
		return;
	}
	if (v->lost_since_n)
		head = tell_lost(v, log, head, mask, t);
	if (p.type != TMIGR_REC_NODE_GROUP)
		p.cpu = cpu;
	head += write_words(words_at(log, head, mask), t, p);
	publish(log, head);
	v->cur.records++;
}

#define PUT(v, t, ...) put(v, t, (struct put){__VA_ARGS__})

/* ---- the ring buffer ---- */

static __always_inline void put_slow(struct tmigr_cpu_value *v, __u64 t, struct put p)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct tmigr_rec *rec = NULL;
	void *ring;

	if (!cfg_log_mask)
		return;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (ring)
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
	__sync_fetch_and_add(&v->cur.records, 1);
}

#define PUT_SLOW(v, t, ...) put_slow(v, t, (struct put){__VA_ARGS__})

/* ---- knowledge about the hierarchy ---- */

static __always_inline struct put node_group(struct tmigr_group *group)
{
	return (struct put){.type = TMIGR_REC_NODE_GROUP,
			    .cpu = group_node(group),
			    .a = (__u64)group,
			    .b = (__u64)BPF_CORE_READ(group, parent),
			    .level = BPF_CORE_READ(group, level),
			    .mask = group_mask(group)};
}

static __always_inline struct put node_cpu(struct tmigr_cpu *tmc)
{
	return (struct put){.type = TMIGR_REC_NODE_CPU,
			    .a = (__u64)BPF_CORE_READ(tmc, tmgroup),
			    .b = BPF_CORE_READ(tmc, cpuevt.cpu),
			    .mask = tmc_mask(tmc)};
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

/* A walk up a CPU's path, a call for each group: for the verifier, which would go through
 * the body of a loop once for each level, in every program. */
struct walk {
	struct tmigr_cpu_value *v;
	__u64 t;
	struct tmigr_group *group;
};

static long put_node(__u64 level, struct walk *w)
{
	struct tmigr_group *group = w->group;

	(void)level;
	if (!group)
		return 1;
	put(w->v, w->t, node_group(group));
	w->group = BPF_CORE_READ(group, parent);
	return 0;
}

static long put_word(__u64 level, struct walk *w)
{
	struct tmigr_group *group = w->group;

	(void)level;
	if (!group)
		return 1;
	PUT(w->v, w->t, .type = TMIGR_REC_SNAP_GROUP, .a = (__u64)group, .b = group_word(group));
	w->group = BPF_CORE_READ(group, parent);
	return 0;
}

/* A CPU's place and its groups' words, from its first event: what the snapshot
 * would have told.  The places are older than what is there: one ns, so that
 * they sort before. */
static __noinline int put_path(struct tmigr_cpu_value *v, __u64 t, struct tmigr_cpu *tmc)
{
	struct tmigr_group *first = BPF_CORE_READ(tmc, tmgroup);
	struct walk nodes = {v, t - 1, first}, words = {v, t, first};

	put(v, t - 1, node_cpu(tmc));
	bpf_loop(TMIGR_SNAP_LEVELS, put_node, &nodes, 0);
	bpf_loop(TMIGR_SNAP_LEVELS, put_word, &words, 0);
	put_snap_cpu(v, t, tmc);
	return 0;
}

#endif
