/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration, maps, and a CPU's own value: what is counted exactly, and how it
 * is brought to an edge of the window (maps.h).
 */
#ifndef TMIGR_VALUE_BPF_H
#define TMIGR_VALUE_BPF_H

#include "compat.bpf.h"
#include "tmigr/maps.h"

/* Configuration, constant once loaded: the verifier drops the branches not taken. */
const volatile bool cfg_tmigr = true; /* the kernel has timer migration */
/* Size of a log, which is a power of two, less 1.  0: no timeline. */
#define LOG_MIN_BYTES 4096
const volatile __u64 cfg_log_mask = 0;
/* Position of the structure in the connect events: 0, since v7.2 1 (the
 * hierarchy comes first).  A raw_tp program that reads beyond a tracepoint's
 * arguments cannot be attached, so the other read must be dead code. */
const volatile __u32 cfg_connect_cpu_arg = 0;
const volatile __u32 cfg_connect_child_arg = 0;

/* The edge announced by user space; see maps.h. */
volatile __u64 tmigr_edge_ns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tmigr_cpu_value);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* CPUs by number; set at load */
	__uint(key_size, sizeof(__u32));
	__uint(value_size,
	       sizeof(struct tmigr_log) + LOG_MIN_BYTES + TMIGR_LOG_SPARE); /* set at load */
} logs SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024); /* the template; each CPU's own is sized
					 * at load */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* possible CPUs; set at load */
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024); /* set at load */
	__type(key, struct tmigr_remote_key);
	__type(value, __u64);
} remote SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* possible CPUs; set at load */
	__type(key, __u32);
	__type(value, struct tmigr_snap_cpu);
} snap SEC(".maps");

/* ---- a CPU's value ---- */

static __always_inline struct tmigr_cpu_value *own_value(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/* Copies the figures as they were at the edge, before anything is counted that
 * is younger. */
static __always_inline void pass_edge(struct tmigr_cpu_value *v, __u64 t)
{
	__u64 edge = tmigr_edge_ns;

	if (v->edge_ns == edge || t < edge)
		return;
	bpf_probe_read_kernel(&v->edge, sizeof(v->edge), &v->cur);
	__sync_lock_test_and_set(&v->edge_ns, edge);
}

static __always_inline void count_lost(struct tmigr_cpu_value *v, __u64 t)
{
	if (__sync_fetch_and_add(&v->lost_since_n, 1) == 0)
		v->lost_since_ns = t;
	__sync_fetch_and_add(&v->cur.lost, 1);
}

/*
 * Every handler that owns the CPU's value is between begin() and end().  The
 * clock is read after seq has become odd, the edge after the clock.
 *
 * 0: this handler has interrupted another, and can do nothing but say that its record
 * is lost.  That happens where a root is added to the hierarchy: its first update is made
 * by a thread, with interrupts on.
 */
static __always_inline __u64 begin(struct tmigr_cpu_value *v)
{
	__u64 seq = v->seq, t;

	if (seq & 1) {
		count_lost(v, bpf_ktime_get_ns());
		return 0;
	}
	v->seq = seq + 1;
	barrier();
	t = bpf_ktime_get_ns();
	pass_edge(v, t);
	return t;
}

static __always_inline void end(struct tmigr_cpu_value *v)
{
	barrier();
	v->seq++;
}

/* The empty asm hides a register from the compiler, before a check so that it is
 * not dropped as known, and after it so that the checked register is the one
 * used: the verifier must see both. */
#define HIDE(x)	   asm volatile("" : "+r"(x))

#define LOG2_4(n)  n, n, n, n
#define LOG2_16(n) LOG2_4(n), LOG2_4(n), LOG2_4(n), LOG2_4(n)
#define LOG2_64(n) LOG2_16(n), LOG2_16(n), LOG2_16(n), LOG2_16(n)
static const __u8 log2_of_byte[256] = {
	0,	    0,		1,	    1,		LOG2_4(2),  LOG2_4(3),	LOG2_4(3),
	LOG2_16(4), LOG2_16(5), LOG2_16(5), LOG2_64(6), LOG2_64(7), LOG2_64(7),
};

/* By a table: a search by halves is twice as many instructions, on each exit. */
static __always_inline __u64 log2_bucket(__u64 ns)
{
	__u64 k = 0;

	if (ns >> 24) {
		k = 24;
		ns >>= 24;
		if (ns >> 16)
			return TMIGR_HIST_BUCKETS - 1;
	}
	if (ns >> 16) {
		k += 16;
		ns >>= 16;
	} else if (ns >> 8) {
		k += 8;
		ns >>= 8;
	}
	ns &= 0xff;
	HIDE(ns);
	k += log2_of_byte[ns];
	HIDE(k);
	if (k >= TMIGR_HIST_BUCKETS)
		k = TMIGR_HIST_BUCKETS - 1;
	HIDE(k);
	return k;
}

static __always_inline struct tmigr_slot_totals *slot_at(struct tmigr_cpu_value *v, __u64 slot)
{
	HIDE(slot);
	if (slot >= TMIGR_SLOTS)
		slot = TMIGR_SLOT_UNKNOWN;
	HIDE(slot);
	return &v->cur.slots[slot];
}

/* Returns what the CPU was in up to now, and for how long. */
static __always_inline struct tmigr_slot_totals *switch_slot(struct tmigr_cpu_value *v, __u64 t,
							     __u32 slot, __u64 *ret_ns)
{
	struct tmigr_slot_totals *old = slot_at(v, v->cur.slot);
	__u64 since = v->cur.since_ns;

	if (t < since)
		t = since;
	*ret_ns = t - since;
	old->time_ns += t - since;
	v->cur.since_ns = t;
	v->cur.slot = slot;
	return old;
}

static __always_inline void note_first(struct tmigr_cpu_value *v, __u64 t, __u32 type)
{
	if (v->first_ns)
		return;
	v->first_type = type;
	v->first_ns = t;
}

/* The runqueue of the CPU that this runs on, by way of the task; it says itself
 * which CPU that is.  Needs CONFIG_FAIR_GROUP_SCHED. */
static __always_inline struct rq *any_rq(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		return NULL;
	return BPF_CORE_READ(task, se.cfs_rq, rq);
}

#endif
