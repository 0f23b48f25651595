/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the running kernel and this user can do: the BTF look-ups that decide
 * which BPF programs are loaded, and the list that `tmigr doctor` prints.
 */
#ifndef TMIGR_FEATURES_H
#define TMIGR_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "tmigr/err.h"
#include "tmigr/topology.h"

/* Tracepoints the product can use; names as in the kernel. */
enum tmigr_tp {
	TMIGR_TP_CPU_IDLE,
	TMIGR_TP_CPU_IDLE_MISS,
	TMIGR_TP_GROUP_SET_CPU_ACTIVE,
	TMIGR_TP_GROUP_SET_CPU_INACTIVE,
	TMIGR_TP_CPU_ACTIVE,
	TMIGR_TP_CPU_IDLE_EVENT, /* tmigr_cpu_idle */
	TMIGR_TP_CPU_NEW_TIMER,
	TMIGR_TP_CPU_NEW_TIMER_IDLE,
	TMIGR_TP_HANDLE_REMOTE,
	TMIGR_TP_HANDLE_REMOTE_CPU,
	TMIGR_TP_CONNECT_CPU_PARENT,
	TMIGR_TP_CONNECT_CHILD_PARENT,
	TMIGR_TP_GROUP_SET,
	TMIGR_TP_CPU_ONLINE, /* up to v6.18 */
	TMIGR_TP_CPU_OFFLINE,
	TMIGR_TP_CPU_AVAILABLE, /* since v6.19, and some stable series */
	TMIGR_TP_CPU_UNAVAILABLE,
	TMIGR_TP_CPUHP_ENTER,
	TMIGR_TP_CPUHP_EXIT,
	TMIGR_TPS
};

/* Those that latency is measured with (--latency). */
enum tmigr_lat_tp {
	TMIGR_LAT_TP_SCHED_SWITCH,
	TMIGR_LAT_TP_SCHED_WAKE_IDLE_WITHOUT_IPI,
	TMIGR_LAT_TP_IRQ_HANDLER_ENTRY,
	TMIGR_LAT_TP_IRQ_HANDLER_EXIT,
	TMIGR_LAT_TP_SOFTIRQ_EXIT,
	TMIGR_LAT_TP_IPI_ENTRY,		/* arm, arm64 */
	TMIGR_LAT_TP_LOCAL_TIMER_ENTRY, /* x86, this and what follows */
	TMIGR_LAT_TP_LOCAL_TIMER_EXIT,
	TMIGR_LAT_TP_RESCHEDULE_ENTRY,
	TMIGR_LAT_TP_RESCHEDULE_EXIT,
	TMIGR_LAT_TP_CALL_FUNCTION_ENTRY,
	TMIGR_LAT_TP_CALL_FUNCTION_EXIT,
	TMIGR_LAT_TP_CALL_FUNCTION_SINGLE_ENTRY,
	TMIGR_LAT_TP_CALL_FUNCTION_SINGLE_EXIT,
	TMIGR_LAT_TP_IRQ_WORK_ENTRY,
	TMIGR_LAT_TP_IRQ_WORK_EXIT,
	TMIGR_LAT_TP_HRTIMER_EXPIRE_ENTRY,
	TMIGR_LAT_TP_TIMER_EXPIRE_ENTRY,
	TMIGR_LAT_TP_TMIGR_UPDATE_EVENTS,
	TMIGR_LAT_TPS
};

struct tmigr_features {
	bool btf; /* kernel BTF readable */
	/* Per tracepoint: -1 not in this kernel, or without the struct argument
	 * that is expected of it; else 0.  For those with a struct argument
	 * (tmigr_cpu or tmigr_group): its position among the raw arguments (the
	 * connect events' moved in v7.2). */
	int tp_arg[TMIGR_TPS];
	/* It is there, with the arguments that are expected of it. */
	bool lat_tp[TMIGR_LAT_TPS];
	bool tmigr;	     /* the events that the model needs are there */
	bool ksym_tmigr_cpu; /* the kernel finds its address, and its type is in BTF */
	bool ksym_runqueues;
	/* From a CPU's runqueue to its struct tmigr_cpu, by the offsets in BTF's section of
	 * per-CPU variables; 0: not known.  BTF has them though kallsyms without
	 * CONFIG_KALLSYMS_ALL has no variables; where the section itself lies it does not tell. */
	long long rq_to_tmc;
	/* Likewise from there to its hrtimer_bases, and from these to its tick_cpu_device,
	 * tick_cpu_sched and cpuidle_devices. */
	long long rq_to_hrtimers;
	long long hrtimers_to_tick_device, hrtimers_to_tick_sched, hrtimers_to_cpuidle;
};

/* Name of a tracepoint as the kernel has it ("tmigr_cpu_idle"). */
const char *tmigr_tp_name(enum tmigr_tp tp);

/*
 * Reads kernel BTF (@btf_path NULL: the running kernel's) and kallsyms
 * (@kallsyms_path NULL: the running kernel is asked, or /proc/kallsyms read where this
 * user may not load a BPF program).  Never fails for a missing feature;
 * -ENOMEM or a damaged BTF file (-EINVAL) only.
 */
int tmigr_features_probe(const char *btf_path, const char *kallsyms_path,
			 struct tmigr_features *ret, struct tmigr_err *err);

/* ---- doctor ---- */
enum tmigr_check_state { TMIGR_CHECK_OK, TMIGR_CHECK_NOTE, TMIGR_CHECK_FAIL };

struct tmigr_check {
	const char *name; /* "tmigr-tracepoints": stable, for scripts */
	enum tmigr_check_state state;
	char text[256];	  /* what was found */
	char remedy[256]; /* what to do; "" when nothing */
};

/* Runs all checks against the running kernel and user.  *@ret_checks owned by
 * the caller (free).  Returns the number of FAILs (0: the main job works), or
 * a negative errno. */
int tmigr_doctor(struct tmigr_check **ret_checks, size_t *ret_n);

#endif
