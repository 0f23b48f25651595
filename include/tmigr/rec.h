/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event vocabulary: one record, 32 bytes, the same in the BPF programs, in
 * a recording (events.tmr), and at the entry of the model.  Every source (BPF,
 * ftrace, trace.dat, text) is translated to it; the model knows nothing else.
 *
 * Included by BPF programs: only fixed-size types, no libc.
 */
#ifndef TMIGR_REC_H
#define TMIGR_REC_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/*
 * Which fields a type uses.  `cpu` is the CPU on which the event was recorded
 * unless the line says otherwise; what is not named is 0.
 *
 * Kernel events:
 *   IDLE_ENTER     a = state index (power:cpu_idle)
 *   IDLE_EXIT
 *   IDLE_MISS      a = state index, b = 1 below (too shallow), 0 above (too
 *                  deep); never in the BPF timeline, which counts in maps
 *   GROUP_ACTIVE   a = group, b = state word (low 32 bits: active u8, migrator
 *   GROUP_INACTIVE     u8, seq u16, low to high), mask = the child's mask,
 *                  level = group's level
 *   CPU_ACTIVE     a = wakeup (the duty held while idle), b = subject CPU
 *   CPU_IDLE       a = wakeup (the duty taken), b = subject CPU
 *   CPU_NEW_TIMER_IDLE   as CPU_IDLE
 *   CPU_NEW_TIMER  as CPU_IDLE; changes nothing in the model
 *   HANDLE_REMOTE_CPU    b = target CPU; flags TMIGR_RF_IDLE_TASK when the
 *                  executor (cpu) was running its idle task
 *   CPU_AVAILABLE  b = subject CPU (tmigr_cpu_online before v6.19)
 *   CPU_UNAVAILABLE      b = subject CPU (tmigr_cpu_offline before v6.19)
 *   CPU_ONLINE     b = subject CPU (CPU hotplug, not timer migration)
 *   CPU_OFFLINE    b = subject CPU
 *
 * Knowledge about the hierarchy and states, from connect events, snapshots of
 * kernel memory, or the first event of a CPU:
 *   NODE_GROUP     a = group, b = parent group or 0 (a root), level, mask = its
 *                  mask in the parent; cpu = NUMA node as s32 (-1: crossnode)
 *   NODE_CPU       a = its level-0 group, b = subject CPU, mask
 *   SNAP_GROUP     a = group, b = state word at that moment
 *   SNAP_CPU       a = wakeup, b = subject CPU, flags TMIGR_RF_TMIGR_IDLE,
 *                  TMIGR_RF_AVAILABLE
 *   SNAP_IDLE      a = state index, or TMIGR_STATE_RUNNING /
 *                  TMIGR_STATE_UNKNOWN, b = subject CPU
 *   DUTY           a = wakeup, b = subject CPU: read after an idle CPU ran
 *                  tmigr_handle_remote, which changes the duty without event
 *
 * About the stream itself:
 *   LOST           a = number of records this CPU could not write, b = time in
 *                  ns of the first of them; t_ns = the moment writing works
 *                  again.  Comes directly before that CPU's next record.
 *                  flags TMIGR_RF_NO_SEQ: the groups' seq is no kernel's, so
 *                  that updates since then don't tell that none is missing
 *   CLEAN          the source vouches that no record with a time before t_ns is
 *                  missing from the stream, other than those told of by LOST; may
 *                  come late, with a t_ns behind the watermark
 */
enum tmigr_rec_type {
	TMIGR_REC_IDLE_ENTER = 1,
	TMIGR_REC_IDLE_EXIT = 2,
	TMIGR_REC_IDLE_MISS = 3,
	TMIGR_REC_GROUP_ACTIVE = 4,
	TMIGR_REC_GROUP_INACTIVE = 5,
	TMIGR_REC_CPU_ACTIVE = 6,
	TMIGR_REC_CPU_IDLE = 7,
	TMIGR_REC_CPU_NEW_TIMER_IDLE = 8,
	TMIGR_REC_CPU_NEW_TIMER = 9,
	TMIGR_REC_HANDLE_REMOTE_CPU = 10,
	TMIGR_REC_CPU_AVAILABLE = 11,
	TMIGR_REC_CPU_UNAVAILABLE = 12,
	TMIGR_REC_CPU_ONLINE = 13,
	TMIGR_REC_CPU_OFFLINE = 14,

	TMIGR_REC_NODE_GROUP = 32,
	TMIGR_REC_NODE_CPU = 33,
	TMIGR_REC_SNAP_GROUP = 34,
	TMIGR_REC_SNAP_CPU = 35,
	TMIGR_REC_SNAP_IDLE = 36,
	TMIGR_REC_DUTY = 37,

	TMIGR_REC_LOST = 64,
	TMIGR_REC_CLEAN = 65,
};

/* flags */
#define TMIGR_RF_IDLE_TASK  0x01
#define TMIGR_RF_TMIGR_IDLE 0x02
#define TMIGR_RF_AVAILABLE  0x04
#define TMIGR_RF_NO_SEQ	    0x08 /* LOST */

/* SNAP_IDLE.a */
#define TMIGR_STATE_RUNNING ((__u64)-1)
#define TMIGR_STATE_UNKNOWN ((__u64)-2)

/* "no event pending", KTIME_MAX of the kernel */
#define TMIGR_KTIME_MAX 0x7fffffffffffffffULL

struct tmigr_rec {
	__u64 t_ns; /* CLOCK_MONOTONIC */
	__u32 cpu;  /* see above */
	__u8 type;  /* enum tmigr_rec_type */
	__u8 flags; /* TMIGR_RF_* */
	__u8 level; /* level of a group */
	__u8 mask;  /* one-hot mask of a child in its parent */
	__u64 a;
	__u64 b;
};

/* state word */
static inline __u8 tmigr_word_active(__u32 word)
{
	return word & 0xff;
}

static inline __u8 tmigr_word_migrator(__u32 word)
{
	return (word >> 8) & 0xff;
}

static inline __u16 tmigr_word_seq(__u32 word)
{
	return word >> 16;
}

#define TMIGR_NO_MIGRATOR 0xff

/*
 * Residency slots: what a CPU can be in, as an index into per-CPU arrays.  The
 * kernel's own maximum is 10 idle states per driver (CPUIDLE_STATE_MAX).
 */
enum {
	TMIGR_SLOT_RUNNING = 0,
	TMIGR_SLOT_STATE0 = 1, /* state k is slot 1 + k */
	TMIGR_STATES = 10,
	TMIGR_SLOT_UNKNOWN = 11,
	TMIGR_SLOT_OFFLINE = 12,
	TMIGR_SLOTS = 13,
};

/* Bucket k of a duration histogram counts durations in [2^k, 2^(k+1)) ns;
 * bucket 0 also those of 0 ns, the last one everything longer. */
#define TMIGR_HIST_BUCKETS 40

#endif
