// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs on the kernel's tracepoints.  Figures that must be exact are
 * counted in per-CPU maps (maps.h); the timeline goes to one log per
 * CPU (timeline.bpf.h), which never wakes the reader.
 *
 * Two kinds of handlers.  Those of the idle path and of timer migration run
 * with interrupts or at least preemption off, so nothing on the same CPU comes
 * between; they own the CPU's value.  The handlers of CPU hotplug ("slow" below)
 * run in threads, which newer kernels may preempt inside a handler: they touch
 * nothing of their own CPU's value but counters, and these atomically.
 */
#include "latency.bpf.h"
#include "snapshot.bpf.h"
#include "timeline.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define CPU_IDLE_EXIT ((__u32)-1) /* PWR_EVENT_EXIT */

/* ---- idle states ---- */

static __always_inline void idle_enter(struct tmigr_cpu_value *v, __u64 t, __u32 state)
{
	__u32 slot = state < TMIGR_STATES ? TMIGR_SLOT_STATE0 + state : TMIGR_SLOT_UNKNOWN;
	__u64 ns;

	note_first(v, t, TMIGR_REC_IDLE_ENTER);
	switch_slot(v, t, slot, &ns);
	v->cur.since_known = 1;
	v->cur.woke_slot = slot;
	slot_at(v, slot)->entries++;
}

static __always_inline void idle_exit(struct tmigr_cpu_value *v, __u64 t)
{
	struct tmigr_slot_totals *totals;
	__u64 ns;

	note_first(v, t, TMIGR_REC_IDLE_EXIT);
	totals = switch_slot(v, t, TMIGR_SLOT_RUNNING, &ns);
	if (v->cur.since_known)
		totals->hist[log2_bucket(ns)]++;
	v->cur.since_known = 0;
}

/* An idle CPU that runs tmigr_handle_remote() may get another duty, and there is
 * no event for that: look when it goes back to sleep. */
static __always_inline void put_duty(struct tmigr_cpu_value *v, __u64 t)
{
	struct tmigr_cpu *tmc;

	if (!v->check_duty || !cfg_tmigr)
		return;
	v->check_duty = 0;
	tmc = (void *)v->tmc;
	if (tmc && BPF_CORE_READ(tmc, idle))
		PUT(v, t, .type = TMIGR_REC_DUTY, .a = BPF_CORE_READ(tmc, wakeup),
		    .b = bpf_get_smp_processor_id());
}

static __always_inline int cpu_idle_event(struct bpf_raw_tracepoint_args *ctx, bool latency)
{
	struct tmigr_cpu_value *v = own_value();
	__u32 state = ctx->args[0];
	__u64 t;

	if (!v)
		return 0;
	t = begin(v);
	if (!t)
		return 0;
	if (state == CPU_IDLE_EXIT) {
		idle_exit(v, t);
		PUT(v, t, .type = TMIGR_REC_IDLE_EXIT);
	} else {
		idle_enter(v, t, state);
		put_duty(v, t);
		PUT(v, t, .type = TMIGR_REC_IDLE_ENTER, .a = state);
	}
	end(v);
	if (latency)
		lat_idle(t, state, state == CPU_IDLE_EXIT);
	return 0;
}

SEC("raw_tp/cpu_idle")
int on_cpu_idle(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_idle_event(ctx, false);
}

/* In its place where latency is asked for: one time for both, so that the entries of
 * both agree at every edge. */
SEC("raw_tp/cpu_idle")
int lat_cpu_idle(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_idle_event(ctx, true);
}

/*
 * Fires with interrupts on, directly after the exit event: handlers of softirqs
 * may come between.  So it only adds, and is counted on the side of an edge on
 * which the interval that it judges has ended.
 */
SEC("raw_tp/cpu_idle_miss")
int on_cpu_idle_miss(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu_value *v = own_value();
	struct tmigr_slot_totals *totals;
	__u32 state = ctx->args[1];

	if (!v || state >= TMIGR_STATES)
		return 0;
	totals = slot_at(v, TMIGR_SLOT_STATE0 + state);
	if ((__u8)ctx->args[2])
		__sync_fetch_and_add(&totals->below, 1);
	else
		__sync_fetch_and_add(&totals->above, 1);
	return 0;
}

/* ---- CPU hotplug ---- */

/* The CPU is down, or not up yet, so another one may write its value. */
static __always_inline void set_offline(__u32 cpu, bool offline)
{
	__u32 type = offline ? TMIGR_REC_CPU_OFFLINE : TMIGR_REC_CPU_ONLINE;
	struct tmigr_cpu_value *own = own_value(), *v;
	__u32 zero = 0;
	__u64 t, ns;

	v = bpf_map_lookup_percpu_elem(&cpus, &zero, cpu);
	if (!v || !own)
		return;
	t = begin(v);
	if (!t)
		return; /* cannot be: nothing runs there */
	note_first(v, t, type);
	v->cur.since_known = 0;
	v->cur.woke_slot = TMIGR_SLOTS;
	switch_slot(v, t, offline ? TMIGR_SLOT_OFFLINE : TMIGR_SLOT_RUNNING, &ns);
	end(v);
	PUT_SLOW(own, t, .type = type, .b = cpu);
}

SEC("raw_tp/cpuhp_exit")
int on_cpuhp_exit(struct bpf_raw_tracepoint_args *ctx)
{
	int step = ctx->args[2], ret = ctx->args[3];

	if (tmigr_hotplug_took_down(step, bpf_core_enum_value(enum cpuhp_state, CPUHP_TEARDOWN_CPU),
				    ret))
		set_offline(ctx->args[0], true);
	return 0;
}

SEC("raw_tp/cpuhp_enter")
int on_cpuhp_enter(struct bpf_raw_tracepoint_args *ctx)
{
	int target = ctx->args[1], step = ctx->args[2];

	if (tmigr_hotplug_brings_up(step, bpf_core_enum_value(enum cpuhp_state, CPUHP_BRINGUP_CPU),
				    target))
		set_offline(ctx->args[0], false);
	return 0;
}

/* ---- timer migration ---- */

static __always_inline int group_update(struct bpf_raw_tracepoint_args *ctx, __u8 type)
{
	struct tmigr_group *group = (void *)ctx->args[0];
	struct tmigr_cpu_value *v = own_value();
	__u64 t;

	if (!v)
		return 0;
	t = begin(v);
	if (!t)
		return 0;
	/* args[1] is a union passed by value: the whole state word with seq,
	 * the upper half of the register is undefined. */
	PUT(v, t, .type = type, .a = (__u64)group, .b = (__u32)ctx->args[1], .mask = ctx->args[2],
	    .level = BPF_CORE_READ(group, level));
	end(v);
	return 0;
}

SEC("raw_tp/tmigr_group_set_cpu_active")
int on_group_active(struct bpf_raw_tracepoint_args *ctx)
{
	return group_update(ctx, TMIGR_REC_GROUP_ACTIVE);
}

SEC("raw_tp/tmigr_group_set_cpu_inactive")
int on_group_inactive(struct bpf_raw_tracepoint_args *ctx)
{
	return group_update(ctx, TMIGR_REC_GROUP_INACTIVE);
}

static __always_inline int cpu_event(struct bpf_raw_tracepoint_args *ctx, __u8 type)
{
	struct tmigr_cpu *tmc = (void *)ctx->args[0];
	struct tmigr_cpu_value *v = own_value();
	__u32 subject;
	__u64 t;

	if (!v)
		return 0;
	t = begin(v);
	if (!t)
		return 0;
	subject = BPF_CORE_READ(tmc, cpuevt.cpu);
	if (subject == bpf_get_smp_processor_id()) {
		v->tmc = (__u64)tmc;
		if (!v->learnt) {
			v->learnt = 1;
			put_path(v, t, tmc);
		}
	}
	PUT(v, t, .type = type, .a = BPF_CORE_READ(tmc, wakeup), .b = subject);
	end(v);
	return 0;
}

SEC("raw_tp/tmigr_cpu_active")
int on_cpu_active(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_event(ctx, TMIGR_REC_CPU_ACTIVE);
}

SEC("raw_tp/tmigr_cpu_idle")
int on_cpu_idle_event(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_event(ctx, TMIGR_REC_CPU_IDLE);
}

SEC("raw_tp/tmigr_cpu_new_timer")
int on_cpu_new_timer(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_event(ctx, TMIGR_REC_CPU_NEW_TIMER);
}

SEC("raw_tp/tmigr_cpu_new_timer_idle")
int on_cpu_new_timer_idle(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_event(ctx, TMIGR_REC_CPU_NEW_TIMER_IDLE);
}

/* v6.19 renamed online/offline to available/unavailable; the kernel has one of
 * the pairs. */
SEC("raw_tp/tmigr_cpu_online")
int on_cpu_online(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_event(ctx, TMIGR_REC_CPU_AVAILABLE);
}

SEC("raw_tp/tmigr_cpu_offline")
int on_cpu_offline(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_event(ctx, TMIGR_REC_CPU_UNAVAILABLE);
}

SEC("raw_tp/tmigr_cpu_available")
int on_cpu_available(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_event(ctx, TMIGR_REC_CPU_AVAILABLE);
}

SEC("raw_tp/tmigr_cpu_unavailable")
int on_cpu_unavailable(struct bpf_raw_tracepoint_args *ctx)
{
	return cpu_event(ctx, TMIGR_REC_CPU_UNAVAILABLE);
}

/* Fires on nearly every tick of a migrator, and says nothing by itself. */
SEC("raw_tp/tmigr_handle_remote")
int on_handle_remote(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu_value *v = own_value();

	(void)ctx;
	if (v)
		v->check_duty = 1;
	return 0;
}

static __always_inline void count_remote(struct tmigr_cpu_value *v, __u32 target, bool idle_task)
{
	struct tmigr_remote_key key = {
		.edge_ns = v->edge_ns,
		.executor = bpf_get_smp_processor_id(),
		.target = target,
		.woke_slot = idle_task ? v->cur.woke_slot : TMIGR_SLOTS,
	};
	__u64 one = 1, *n;

	if (idle_task)
		v->cur.woke_slot = TMIGR_SLOTS;
	n = bpf_map_lookup_elem(&remote, &key);
	if (n)
		*n += 1; /* only this CPU writes keys with it as executor */
	else if (bpf_map_update_elem(&remote, &key, &one, BPF_NOEXIST))
		v->cur.remote_lost++;
}

SEC("raw_tp/tmigr_handle_remote_cpu")
int on_handle_remote_cpu(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu *tmc = (void *)ctx->args[0];
	struct tmigr_cpu_value *v = own_value();
	bool idle_task;
	__u32 target;
	__u64 t;

	if (!v)
		return 0;
	t = begin(v);
	if (!t) {
		__sync_fetch_and_add(&v->cur.remote_lost, 1);
		return 0;
	}
	target = BPF_CORE_READ(tmc, cpuevt.cpu);
	idle_task = (__u32)bpf_get_current_pid_tgid() == 0;
	count_remote(v, target, idle_task);
	PUT(v, t, .type = TMIGR_REC_HANDLE_REMOTE_CPU, .b = target,
	    .flags = idle_task ? TMIGR_RF_IDLE_TASK : 0);
	end(v);
	return 0;
}

/* ---- the hierarchy grows (a CPU's first online in this boot) ---- */

/* Argument @pos, 0 or 1.  Loads in assembly, for the compiler would make one load
 * at a variable offset of the two, which the verifier refuses. */
static __always_inline void *arg_at(struct bpf_raw_tracepoint_args *ctx, __u32 pos)
{
	void *arg;

	if (pos == 0)
		asm volatile("%0 = *(u64 *)(%1 + 0)" : "=r"(arg) : "r"(ctx));
	else
		asm volatile("%0 = *(u64 *)(%1 + 8)" : "=r"(arg) : "r"(ctx));
	return arg;
}

SEC("raw_tp/tmigr_connect_cpu_parent")
int on_connect_cpu_parent(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu_value *v = own_value();
	struct tmigr_cpu *tmc;
	struct tmigr_group *group;
	__u64 t = bpf_ktime_get_ns();

	if (!v)
		return 0;
	tmc = arg_at(ctx, cfg_connect_cpu_arg);
	group = BPF_CORE_READ(tmc, tmgroup);
	put_slow(v, t, node_cpu(tmc));
	if (group)
		put_slow(v, t, node_group(group));
	return 0;
}

SEC("raw_tp/tmigr_connect_child_parent")
int on_connect_child_parent(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu_value *v = own_value();
	struct tmigr_group *child, *parent;
	__u64 t = bpf_ktime_get_ns();

	if (!v)
		return 0;
	child = arg_at(ctx, cfg_connect_child_arg);
	parent = BPF_CORE_READ(child, parent);
	put_slow(v, t, node_group(child));
	if (parent)
		put_slow(v, t, node_group(parent));
	return 0;
}
