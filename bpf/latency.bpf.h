/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What idle costs, and who ended it (tmigr/latency.h).  All of it is loaded only when
 * asked for.
 *
 * Order of events around an interval.  Mostly interrupts are off from before the enter
 * event until after the exit event: the interrupt that ends the interval is pending,
 * and its handler is the first one after the exit.  Where a state waits with
 * interrupts on (hlt, polling), handlers run between the two events: with hlt the
 * first one ended it, with polling the last one may have.
 *
 * The state of a CPU's interval is written by handlers of that CPU.  Those that run
 * with interrupts on (timers and hrtimers in softirq, the ends of softirqs) may be
 * interrupted by others, and make single stores.
 */
#ifndef TMIGR_LATENCY_BPF_H
#define TMIGR_LATENCY_BPF_H

#include "latency_figures.bpf.h"
#include "tmigr/hotplug.h"

/* Distances in the per-CPU section from runqueues to hrtimer_bases, and from there; 0: not
 * known. */
const volatile __s64 cfg_lat_rq_to_hrtimers = 0;
const volatile __s64 cfg_lat_tick_device = 0;
const volatile __s64 cfg_lat_tick_sched = 0;
const volatile __s64 cfg_lat_cpuidle = 0;
/* All interrupts that can end an interval are traced. */
const volatile bool cfg_lat_causes = false;
/* State 0 polls. */
const volatile bool cfg_lat_poll = false;

#define IRQF_TIMER 0x200 /* __IRQF_TIMER */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tmigr_lat_state);
} lat_states SEC(".maps");

static __always_inline struct tmigr_lat_state *lat_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&lat_states, &zero);
}

/* ---- the kernel's own per-CPU data ---- */

/* This CPU's own: found by way of its runqueue, or by an hrtimer that expires on it. */
static __always_inline void lat_learn(struct tmigr_lat_state *st)
{
	struct hrtimer_cpu_base *bases = NULL;
	__u32 cpu = bpf_get_smp_processor_id();
	struct tick_device *td;
	struct rq *rq;
	int irq;

	if (st->learnt)
		return;
	st->learnt = 1;
	rq = cfg_lat_rq_to_hrtimers && bpf_core_field_exists(bases->cpu) ? any_rq() : NULL;
	bases = (void *)((__u64)rq + cfg_lat_rq_to_hrtimers);
	if (!rq || BPF_CORE_READ(bases, cpu) != cpu)
		return;
	st->bases = (__u64)bases;
	td = (void *)(st->bases + cfg_lat_tick_device);
	if (!cfg_lat_tick_device || !bpf_core_field_exists(td->evtdev) ||
	    !bpf_core_field_exists(td->evtdev->irq))
		return;
	irq = BPF_CORE_READ(td, evtdev, irq);
	if (irq > 0)
		st->timer_irq1 = irq + 1;
}

/* When this CPU's next timer interrupt is due. */
static __always_inline __u64 lat_armed(const struct tmigr_lat_state *st)
{
	struct tick_device *td = (void *)(st->bases + cfg_lat_tick_device);

	if (!cfg_lat_tick_device || !st->bases || !bpf_core_field_exists(td->evtdev) ||
	    !bpf_core_field_exists(td->evtdev->next_event))
		return 0;
	return BPF_CORE_READ(td, evtdev, next_event);
}

static __always_inline bool lat_is_tick(const struct tmigr_lat_state *st, __u64 timer)
{
	struct tick_sched *ts = (void *)(st->bases + cfg_lat_tick_sched);

	if (!cfg_lat_tick_sched || !bpf_core_field_exists(ts->sched_timer))
		return false;
	return timer == (__u64)ts + bpf_core_field_offset(ts->sched_timer);
}

/* Entries into the state that were refused since it was last looked at. */
static __always_inline __u64 lat_rejected(struct tmigr_lat_state *st, __u32 state)
{
	struct cpuidle_device *dev = NULL;
	__u64 usage, now = 0, before;

	HIDE(state);
	if (!cfg_lat_cpuidle || !st->bases || state >= TMIGR_STATES ||
	    !bpf_core_field_exists(dev->states_usage) ||
	    !bpf_core_field_exists(((struct cpuidle_state_usage *)0)->rejected))
		return 0;
	HIDE(state);
	bpf_probe_read_kernel(&dev, sizeof(dev), (void *)(st->bases + cfg_lat_cpuidle));
	if (!dev)
		return 0;
	usage = (__u64)dev + bpf_core_field_offset(struct cpuidle_device, states_usage) +
		state * bpf_core_type_size(struct cpuidle_state_usage);
	bpf_probe_read_kernel(
		&now, sizeof(now),
		(void *)(usage + bpf_core_field_offset(struct cpuidle_state_usage, rejected)));
	before = st->rejected_seen & (1U << state) ? st->rejected[state] : now;
	st->rejected_seen |= 1U << state;
	st->rejected[state] = now;
	return now > before ? now - before : 0; /* else the device was registered anew */
}

/* ---- an interval ---- */

static __always_inline __u32 lat_cause(const struct tmigr_lat_state *st, bool to_task)
{
	__u32 cause = st->cause;

	/* No handler ran.  What woke a task all the same is somebody who set
	 * need_resched and knew that this CPU watches it. */
	if (cause == TMIGR_WAKE_UNKNOWN && cfg_lat_causes)
		cause = to_task ? TMIGR_WAKE_POLLED : TMIGR_WAKE_OTHER;
	if (st->remote && !st->own && (cause == TMIGR_WAKE_TIMER || !st->cause))
		cause = TMIGR_WAKE_REMOTE;
	return cause;
}

static __always_inline void lat_settle(struct tmigr_lat_state *st, __u64 t, bool to_task)
{
	struct tmigr_lat_row row = {.count = 1};
	struct tmigr_lat_value *v;
	__u64 wake = st->wake_ns ?: t;
	__u64 due = st->armed_ns;
	__u32 cause;

	if (!st->enter_ns)
		return;
	v = lat_begin(st->slot, t);
	if (!v)
		return;
	cause = lat_cause(st, to_task);
	row.slept_ns = wake - st->enter_ns;
	row.awake_ns = t - wake;
	if (due && due != TMIGR_KTIME_MAX) {
		row.expected_n = 1;
		if (wake < due) {
			row.short_n = 1;
			row.short_slept_ns = row.slept_ns;
			row.short_expected_ns = due - st->enter_ns;
		} else if (cause == TMIGR_WAKE_TIMER || cause == TMIGR_WAKE_REMOTE) {
			/* How late a timer was already when idle began is no cost of waking up. */
			lat_add(v, TMIGR_LAT_WAKE, t,
				wake - (due > st->enter_ns ? due : st->enter_ns));
		}
	}
	v->cur.sums.rejected += lat_rejected(st, st->slot - TMIGR_SLOT_STATE0);
	v->cur.sums.remote_wakes += st->remote;
	HIDE(cause);
	if (cause >= TMIGR_WAKE_CAUSES)
		cause = TMIGR_WAKE_UNKNOWN;
	HIDE(cause);
	lat_add_row(&v->cur.sums.causes[cause], &row);
	if (cause == TMIGR_WAKE_IRQ || cause == TMIGR_WAKE_REMOTE)
		lat_detail(v, st, cause, &row);
	lat_end(v);
	st->enter_ns = 0;
}

static __always_inline void lat_enter(struct tmigr_lat_state *st, __u64 t, __u32 slot)
{
	struct tmigr_lat_value *v;

	lat_settle(st, t, false);
	v = lat_begin(slot, t);
	if (!v)
		return;
	v->cur.sums.entries++;
	if (st->ready_ns) {
		lat_add(v, TMIGR_LAT_ENTRY, t, t - st->ready_ns);
		if (st->tmigr_seen)
			lat_add(v, TMIGR_LAT_TMIGR, t, st->tmigr_ns);
	}
	lat_end(v);
	st->idle = 1;
	st->enter_ns = t;
	lat_learn(st);
	st->armed_ns = lat_armed(st);
	st->slot = slot;
	st->wake_ns = st->tmigr_first_ns = st->tmigr_ns = 0;
	st->cause = TMIGR_WAKE_UNKNOWN;
	st->exited = st->open = st->own = st->remote = st->handling = st->tmigr_seen = 0;
}

static __always_inline void lat_exit(struct tmigr_lat_state *st, __u64 t)
{
	st->ready_ns = t;
	st->idle = 1; /* not known yet of a CPU that has slept since before the programs */
	if (!st->enter_ns)
		return;
	/* Later than the handlers that ran inside: it polled. */
	if (st->no_ipi_ns >= st->enter_ns && st->no_ipi_ns > st->wake_ns) {
		st->cause = TMIGR_WAKE_POLLED;
		st->wake_ns = t;
	}
	if (!st->wake_ns)
		st->wake_ns = t;
	st->exited = 1;
}

/* From the programs of the cpu_idle event, with its one time @t. */
static __always_inline void lat_idle(__u64 t, __u32 state, bool exit)
{
	struct tmigr_lat_state *st = lat_state();

	if (!st)
		return;
	if (exit)
		lat_exit(st, t);
	else
		lat_enter(st, t,
			  state < TMIGR_STATES ? TMIGR_SLOT_STATE0 + state : TMIGR_SLOT_UNKNOWN);
}

SEC("raw_tp/sched_switch")
int lat_sched_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *next = (void *)ctx->args[2];
	struct tmigr_lat_state *st = lat_state();
	__u64 t;

	if (!st)
		return 0;
	if (st->idle) {
		st->idle = 0;
		lat_settle(st, bpf_ktime_get_ns(), true);
	} else if (!BPF_CORE_READ(next, pid)) {
		t = bpf_ktime_get_ns();
		st->idle = 1;
		st->ready_ns = t;
		st->tmigr_first_ns = st->tmigr_ns = 0;
		st->tmigr_seen = 0;
	}
	return 0;
}

/* ---- handlers: their begin ---- */

/* Is this handler the interval's cause, as far as is known by now? */
static __always_inline bool lat_handler(struct tmigr_lat_state *st, __u32 cause)
{
	bool polls = cfg_lat_poll && st->slot == TMIGR_SLOT_STATE0;

	if (!st->enter_ns || (st->cause && (st->exited || !polls)))
		return false;
	st->cause = cause;
	st->open = 1;
	if (!st->exited)
		st->wake_ns = bpf_ktime_get_ns();
	return true;
}

static __always_inline int lat_vector(__u32 cause)
{
	struct tmigr_lat_state *st = lat_state();

	if (st)
		lat_handler(st, cause);
	return 0;
}

SEC("raw_tp/irq_handler_entry")
int lat_irq_entry(struct bpf_raw_tracepoint_args *ctx)
{
	struct irqaction *action = (void *)ctx->args[1];
	struct tmigr_lat_state *st = lat_state();
	__u32 irq = ctx->args[0];
	bool timer;

	if (!st || !st->enter_ns)
		return 0;
	timer = irq + 1 == st->timer_irq1 || BPF_CORE_READ(action, flags) & IRQF_TIMER;
	if (!lat_handler(st, timer ? TMIGR_WAKE_TIMER : TMIGR_WAKE_IRQ) || timer)
		return 0;
	st->irq = irq;
	bpf_probe_read_kernel_str(st->name, sizeof(st->name), BPF_CORE_READ(action, name));
	return 0;
}

/* arm and arm64: inside of the interrupt that carries the IPI. */
SEC("raw_tp/ipi_entry")
int lat_ipi_entry(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_lat_state *st = lat_state();
	__u32 cause = TMIGR_WAKE_OTHER;
	char reason[2] = "";

	if (!st || !st->enter_ns)
		return 0;
	bpf_probe_read_kernel_str(reason, sizeof(reason), (void *)ctx->args[0]);
	if (reason[0] == 'R') /* Rescheduling interrupts */
		cause = TMIGR_WAKE_RESCHED;
	else if (reason[0] == 'F') /* Function call interrupts */
		cause = TMIGR_WAKE_CALL;
	else if (reason[0] == 'T') /* Timer broadcast interrupts */
		cause = TMIGR_WAKE_TIMER;
	if (st->open && st->cause == TMIGR_WAKE_IRQ)
		st->cause = cause;
	else
		lat_handler(st, cause);
	return 0;
}

/* A wake-up of a CPU that polls, seen on the CPU that wakes it. */
SEC("raw_tp/sched_wake_idle_without_ipi")
int lat_no_ipi(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 zero = 0;
	struct tmigr_lat_state *st = bpf_map_lookup_percpu_elem(&lat_states, &zero, ctx->args[0]);

	if (st)
		st->no_ipi_ns = bpf_ktime_get_ns();
	return 0;
}

/* ---- handlers: their end ---- */

static __always_inline int lat_work_end(bool softirq)
{
	struct tmigr_lat_state *st = lat_state();

	if (!st || !st->idle)
		return 0;
	st->ready_ns = bpf_ktime_get_ns();
	st->tmigr_first_ns = 0; /* remote expiry has the same events */
	if (softirq)
		st->handling = 0;
	else
		st->open = 0;
	return 0;
}

SEC("raw_tp/irq_handler_exit")
int lat_irq_exit(struct bpf_raw_tracepoint_args *ctx)
{
	(void)ctx;
	return lat_work_end(false);
}

SEC("raw_tp/softirq_exit")
int lat_softirq_exit(struct bpf_raw_tracepoint_args *ctx)
{
	(void)ctx;
	return lat_work_end(true);
}

/* x86's interrupts that are no device's. */
#define LAT_VECTOR(name, cause)                                                                    \
	SEC("raw_tp/" #name "_entry")                                                              \
	int lat_##name##_entry(struct bpf_raw_tracepoint_args *ctx)                                \
	{                                                                                          \
		(void)ctx;                                                                         \
		return lat_vector(cause);                                                          \
	}                                                                                          \
	SEC("raw_tp/" #name "_exit")                                                               \
	int lat_##name##_exit(struct bpf_raw_tracepoint_args *ctx)                                 \
	{                                                                                          \
		(void)ctx;                                                                         \
		return lat_work_end(false);                                                        \
	}

LAT_VECTOR(local_timer, TMIGR_WAKE_TIMER)
LAT_VECTOR(reschedule, TMIGR_WAKE_RESCHED)
LAT_VECTOR(call_function, TMIGR_WAKE_CALL)
LAT_VECTOR(call_function_single, TMIGR_WAKE_CALL)
LAT_VECTOR(irq_work, TMIGR_WAKE_OTHER)

/* ---- timers ---- */

/* Also where this CPU's own data is learnt from, where that takes a timer. */
SEC("raw_tp/hrtimer_expire_entry")
int lat_hrtimer(struct bpf_raw_tracepoint_args *ctx)
{
	struct hrtimer *timer = (void *)ctx->args[0];
	struct tmigr_lat_state *st = lat_state();

	if (!st)
		return 0;
	if (!st->bases && bpf_core_field_exists(timer->base->cpu_base))
		st->bases = (__u64)BPF_CORE_READ(timer, base, cpu_base);
	if (!st->enter_ns)
		return 0;
	if (!st->cause) {
		lat_handler(st, TMIGR_WAKE_TIMER); /* an interrupt that no event tells of */
	} else if (st->open && st->cause == TMIGR_WAKE_IRQ) {
		st->cause = TMIGR_WAKE_TIMER;
		st->timer_irq1 = st->irq + 1;
	}
	if (!lat_is_tick(st, (__u64)timer))
		st->own = 1;
	return 0;
}

/* The wheel's.  Own ones come first, then those of other CPUs. */
SEC("raw_tp/timer_expire_entry")
int lat_timer(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_lat_state *st = lat_state();

	(void)ctx;
	if (st && st->enter_ns && !st->handling)
		st->own = 1;
	return 0;
}

SEC("raw_tp/tmigr_handle_remote_cpu")
int lat_handle_remote_cpu(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu *tmc = (void *)ctx->args[0];
	struct tmigr_lat_state *st = lat_state();
	__u32 target;

	if (!st || !st->enter_ns)
		return 0;
	target = BPF_CORE_READ(tmc, cpuevt.cpu);
	if (target == bpf_get_smp_processor_id())
		return 0;
	if (!st->remote)
		st->target = target;
	st->remote = 1;
	st->handling = 1;
	return 0;
}

/* ---- CPU hotplug ---- */

/* A CPU that was offline comes up in its idle task, without a switch to it: how long it
 * has been ready for idle is not known.  It left that task for the last time with no
 * interval open. */
SEC("raw_tp/cpuhp_enter")
int lat_cpuhp_enter(struct bpf_raw_tracepoint_args *ctx)
{
	int target = ctx->args[1], step = ctx->args[2];
	struct tmigr_lat_state *st;
	__u32 zero = 0;

	if (!tmigr_hotplug_brings_up(step, bpf_core_enum_value(enum cpuhp_state, CPUHP_BRINGUP_CPU),
				     target))
		return 0;
	st = bpf_map_lookup_percpu_elem(&lat_states, &zero, ctx->args[0]);
	if (!st)
		return 0;
	st->idle = 1;
	st->ready_ns = st->tmigr_first_ns = st->tmigr_ns = 0;
	st->tmigr_seen = 0;
	return 0;
}

/* ---- timer migration on the way into idle ---- */

static __always_inline int lat_tmigr(bool last)
{
	struct tmigr_lat_state *st = lat_state();
	__u64 t;

	if (!st || !st->idle)
		return 0;
	t = bpf_ktime_get_ns();
	if (!st->tmigr_first_ns)
		st->tmigr_first_ns = t;
	if (!last)
		return 0;
	st->tmigr_ns += t - st->tmigr_first_ns;
	st->tmigr_first_ns = 0;
	st->tmigr_seen = 1;
	return 0;
}

#define LAT_TMIGR(name, last)                                                                      \
	SEC("raw_tp/tmigr_" #name)                                                                 \
	int lat_tmigr_##name(struct bpf_raw_tracepoint_args *ctx)                                  \
	{                                                                                          \
		(void)ctx;                                                                         \
		return lat_tmigr(last);                                                            \
	}

LAT_TMIGR(group_set_cpu_inactive, false)
LAT_TMIGR(update_events, false)
LAT_TMIGR(cpu_idle, true)
LAT_TMIGR(cpu_new_timer_idle, true)

#endif
