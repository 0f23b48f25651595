// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BTF of kernels that are not at hand: the structures that the BPF programs read,
 * as they were in some version.  Offsets are made up, and differ from those of
 * any kernel; only names and types matter.
 *
 *   V68    no timer migration; no cpuidle, no group scheduling
 *   V610   childmask; online
 *   V619   groupmask; available; curr in an anonymous union
 *   RFT    out of tree: family instead of numa_node
 *   LATER  what might go some day: expiries
 */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#ifndef V68
typedef struct {
	int counter;
} atomic_t;

struct tmigr_group;

struct timerqueue_node {
	u64 node[3];
#ifndef LATER
	long long expires;
#endif
};

struct tmigr_event {
	struct timerqueue_node nextevt;
	struct tmigr_group *group;
	u32 cpu;
	_Bool ignore;
};

struct tmigr_group {
	int lock;
	struct tmigr_group *parent;
	struct tmigr_event groupevt;
#ifndef LATER
	u64 next_expiry;
#endif
	atomic_t migr_state;
	u32 level;
#ifdef RFT
	int family;
#else
	int numa_node;
#endif
	u32 num_children;
#ifdef V610
	u8 childmask;
#else
	u8 groupmask;
#endif
};

struct tmigr_cpu {
	int lock;
#ifdef V610
	_Bool online;
#else
	_Bool available;
#endif
	_Bool idle;
	_Bool remote;
	struct tmigr_group *tmgroup;
#ifdef V610
	u8 childmask;
#else
	u8 groupmask;
#endif
	u64 wakeup;
	struct tmigr_event cpuevt;
};

struct tmigr_cpu tmigr_cpu;
struct tmigr_group tmigr_group;
#endif

struct cpuidle_state {
	char name[16];
};

struct task_struct;

struct rq {
	int lock;
#ifdef V610
	struct task_struct *curr;
#else
	union {
		struct task_struct *donor;
		struct task_struct *curr;
	};
#endif
	struct task_struct *idle;
#ifndef V68
	struct cpuidle_state *idle_state;
#endif
	int cpu;
};

struct cfs_rq {
	int load;
#ifndef V68
	struct rq *rq;
#endif
};

struct sched_entity {
	int load;
#ifndef V68
	struct cfs_rq *cfs_rq;
#endif
};

struct task_struct {
	int state;
	struct sched_entity se;
};

enum cpuhp_state {
	CPUHP_OFFLINE,
	CPUHP_BRINGUP_CPU = 77,
	CPUHP_TEARDOWN_CPU = 99,
};

struct cpuidle_state cpuidle_state;
struct rq rq;
struct cfs_rq cfs_rq;
struct task_struct task_struct;
enum cpuhp_state cpuhp_state;
