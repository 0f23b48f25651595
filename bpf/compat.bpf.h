/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel structures that the programs read, declared by hand with only the
 * fields used, and every difference between kernel versions.
 *
 * preserve_access_index makes each access a CO-RE relocation: libbpf writes the
 * running kernel's offsets at load time, whatever the layout here.  A type
 * with a ___suffix is the same kernel type in another version.  A structure or
 * field that the kernel lacks poisons only the instruction that reads it, so
 * those are behind bpf_core_field_exists() or in programs that are not loaded.
 */
#ifndef TMIGR_COMPAT_BPF_H
#define TMIGR_COMPAT_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#ifndef bool
#define bool _Bool
#define true 1
#define false 0
#endif

#define CORE __attribute__((preserve_access_index))

/* ---- kernel/time/timer_migration.h, since v6.9 ---- */

typedef struct {
	int counter;
} atomic_t;

struct timerqueue_node {
	__s64 expires;
} CORE;

struct tmigr_event {
	struct timerqueue_node nextevt;
	unsigned int cpu;
	bool ignore;
} CORE;

struct tmigr_group {
	struct tmigr_group *parent;
	__u64 next_expiry;
	atomic_t migr_state;
	unsigned int level;
	int numa_node;
	__u8 groupmask;
} CORE;

struct tmigr_cpu {
	bool available;
	bool idle;
	struct tmigr_group *tmgroup;
	__u8 groupmask;
	__u64 wakeup;
	struct tmigr_event cpuevt;
} CORE;

/* v6.9 and v6.10: the mask is called childmask in both structures; v6.11
 * renamed it (the same commit moved the group_set_cpu_* events). */
struct tmigr_group___v610 {
	__u8 childmask;
} CORE;

struct tmigr_cpu___v610 {
	__u8 childmask;
} CORE;

/* Up to v6.18 (and early 6.12.y, 6.18.y): `online`.  v6.19 takes isolated CPUs
 * out of the hierarchy and calls it `available`. */
struct tmigr_cpu___v618 {
	bool online;
} CORE;

/* Out of tree (RFT, June 2026, hierarchies by capacity): numa_node became
 * `family`, a node or a capacity class. */
struct tmigr_group___family {
	int family;
} CORE;

/* ---- kernel/sched ---- */

struct cpuidle_state {
	char name[16];
} CORE;

struct task_struct;

struct rq {
	int cpu;
	struct task_struct *curr; /* v6.12+: in an anonymous union, no difference
				   * for CO-RE */
	struct task_struct *idle;
	struct cpuidle_state *idle_state; /* CONFIG_CPU_IDLE */
} CORE;

struct cfs_rq {
	struct rq *rq; /* CONFIG_FAIR_GROUP_SCHED */
} CORE;

struct sched_entity {
	struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED */
} CORE;

struct task_struct {
	int pid;
	struct sched_entity se;
} CORE;

/* ---- what latency.bpf.h reads ---- */

struct irqaction {
	unsigned int flags;
	const char *name;
} CORE;

struct hrtimer_cpu_base {
	unsigned int cpu;
} CORE;

struct hrtimer_clock_base {
	struct hrtimer_cpu_base *cpu_base;
} CORE;

struct hrtimer {
	struct hrtimer_clock_base *base;
} CORE;

struct clock_event_device {
	__s64 next_event;
	int irq;
} CORE;

struct tick_device {
	struct clock_event_device *evtdev;
} CORE;

struct tick_sched {
	struct hrtimer sched_timer;
} CORE;

struct cpuidle_state_usage {
	unsigned long long rejected;
} CORE;

struct cpuidle_device {
	struct cpuidle_state_usage states_usage[10];
} CORE;

/* include/linux/cpuhotplug.h: the numbers differ by version and
 * configuration; bpf_core_enum_value() reads the running kernel's. */
enum cpuhp_state {
	CPUHP_BRINGUP_CPU = 1,
	CPUHP_TEARDOWN_CPU = 2,
};

/* ---- accessors over the versions ---- */

static __always_inline __u8 tmc_mask(struct tmigr_cpu *tmc)
{
	struct tmigr_cpu___v610 *old = (void *)tmc;

	if (bpf_core_field_exists(tmc->groupmask))
		return BPF_CORE_READ(tmc, groupmask);
	if (bpf_core_field_exists(old->childmask))
		return BPF_CORE_READ(old, childmask);
	return 0;
}

static __always_inline bool tmc_available(struct tmigr_cpu *tmc)
{
	struct tmigr_cpu___v618 *old = (void *)tmc;

	if (bpf_core_field_exists(tmc->available))
		return BPF_CORE_READ(tmc, available);
	if (bpf_core_field_exists(old->online))
		return BPF_CORE_READ(old, online);
	return true;
}

/* Of the CPU's own first global timer; 0: not known. */
static __always_inline __u64 tmc_expiry(struct tmigr_cpu *tmc)
{
	if (!bpf_core_field_exists(tmc->cpuevt.nextevt.expires) ||
	    !bpf_core_field_exists(tmc->cpuevt.ignore))
		return 0;
	if (BPF_CORE_READ(tmc, cpuevt.ignore))
		return 0x7fffffffffffffffULL; /* KTIME_MAX */
	return BPF_CORE_READ(tmc, cpuevt.nextevt.expires);
}

static __always_inline __u8 group_mask(struct tmigr_group *group)
{
	struct tmigr_group___v610 *old = (void *)group;

	if (bpf_core_field_exists(group->groupmask))
		return BPF_CORE_READ(group, groupmask);
	if (bpf_core_field_exists(old->childmask))
		return BPF_CORE_READ(old, childmask);
	return 0;
}

static __always_inline __s32 group_node(struct tmigr_group *group)
{
	struct tmigr_group___family *rft = (void *)group;

	if (bpf_core_field_exists(group->numa_node))
		return BPF_CORE_READ(group, numa_node);
	if (bpf_core_field_exists(rft->family))
		return BPF_CORE_READ(rft, family);
	return -1;
}

static __always_inline __u32 group_word(struct tmigr_group *group)
{
	return BPF_CORE_READ(group, migr_state.counter);
}

#endif
