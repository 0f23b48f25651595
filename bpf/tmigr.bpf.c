// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs on the kernel's tracepoints.  Figures that must be exact are
 * counted in per-CPU maps (maps.h); the timeline goes to one ring buffer per
 * CPU, which never wakes the reader.
 *
 * Two kinds of handlers.  Those of the idle path and of timer migration run
 * with interrupts or at least preemption off, so nothing on the same CPU comes
 * between; they own the CPU's value.  The handlers of CPU hotplug ("slow" below)
 * run in threads, which newer kernels may preempt inside a handler: they touch
 * nothing of their own CPU's value but counters, and these atomically.
 */
#include "compat.bpf.h"
#include "tmigr/maps.h"

char LICENSE[] SEC("license") = "GPL";

#define CPU_IDLE_EXIT ((__u32)-1) /* PWR_EVENT_EXIT */

/* Configuration, constant once loaded: the verifier drops the branches not taken. */
const volatile bool cfg_timeline = true;
const volatile bool cfg_tmigr = true; /* the kernel has timer migration */
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

/* Every handler that owns the CPU's value is between begin() and end().  The
 * clock is read after seq has become odd, the edge after the clock. */
static __always_inline __u64 begin(struct tmigr_cpu_value *v)
{
	__u64 t;

	v->seq++;
	barrier();
	t = bpf_ktime_get_ns();
	pass_edge(v, t);
	v->cur.events++;
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
#define HIDE(x) asm volatile("" : "+r"(x))

static __always_inline struct tmigr_slot_totals *slot_at(struct tmigr_cpu_value *v, __u32 slot)
{
	HIDE(slot);
	if (slot >= TMIGR_SLOTS)
		slot = TMIGR_SLOT_UNKNOWN;
	HIDE(slot);
	return &v->cur.slots[slot];
}

static __always_inline void switch_slot(struct tmigr_cpu_value *v, __u64 t, __u32 slot)
{
	struct tmigr_slot_totals *old = slot_at(v, v->cur.slot);

	if (t > v->cur.since_ns) {
		old->time_ns += t - v->cur.since_ns;
		v->cur.since_ns = t;
	}
	v->cur.slot = slot;
}

static __always_inline void note_first(struct tmigr_cpu_value *v, __u64 t, __u32 type)
{
	if (v->first_ns)
		return;
	v->first_type = type;
	v->first_ns = t;
}

/* ---- the timeline ---- */

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

/* ---- idle states ---- */

static __always_inline __u32 log2_bucket(__u64 ns)
{
	__u32 k = 0;

	if (ns >> 32) {
		k += 32;
		ns >>= 32;
	}
	if (ns >> 16) {
		k += 16;
		ns >>= 16;
	}
	if (ns >> 8) {
		k += 8;
		ns >>= 8;
	}
	if (ns >> 4) {
		k += 4;
		ns >>= 4;
	}
	if (ns >> 2) {
		k += 2;
		ns >>= 2;
	}
	if (ns >> 1)
		k += 1;
	HIDE(k);
	if (k >= TMIGR_HIST_BUCKETS)
		k = TMIGR_HIST_BUCKETS - 1;
	HIDE(k);
	return k;
}

static __always_inline void idle_enter(struct tmigr_cpu_value *v, __u64 t, __u32 state)
{
	__u32 slot = state < TMIGR_STATES ? TMIGR_SLOT_STATE0 + state : TMIGR_SLOT_UNKNOWN;
	struct tmigr_slot_totals *totals = slot_at(v, slot);

	note_first(v, t, TMIGR_REC_IDLE_ENTER);
	switch_slot(v, t, slot);
	v->cur.since_known = 1;
	totals->entries++;
	v->woke_slot = slot;
}

static __always_inline void idle_exit(struct tmigr_cpu_value *v, __u64 t)
{
	struct tmigr_slot_totals *totals = slot_at(v, v->cur.slot);
	__u64 since = v->cur.since_ns;

	note_first(v, t, TMIGR_REC_IDLE_EXIT);
	if (v->cur.since_known)
		totals->hist[log2_bucket(t > since ? t - since : 0)]++;
	v->cur.since_known = 0;
	switch_slot(v, t, TMIGR_SLOT_RUNNING);
}

/* An idle CPU that runs tmigr_handle_remote() may get another duty, and there is
 * no event for that: look when it goes back to sleep. */
static __always_inline void put_duty(struct tmigr_cpu_value *v, __u64 t)
{
	struct tmigr_cpu *tmc = (void *)v->tmc;

	if (!cfg_tmigr || !v->check_duty)
		return;
	v->check_duty = 0;
	if (tmc && BPF_CORE_READ(tmc, idle))
		PUT(v, t, .type = TMIGR_REC_DUTY, .a = BPF_CORE_READ(tmc, wakeup),
		    .b = bpf_get_smp_processor_id());
}

SEC("raw_tp/cpu_idle")
int on_cpu_idle(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu_value *v = own_value();
	__u32 state = ctx->args[0];
	__u64 t;

	if (!v)
		return 0;
	t = begin(v);
	if (state == CPU_IDLE_EXIT) {
		idle_exit(v, t);
		PUT(v, t, .type = TMIGR_REC_IDLE_EXIT);
	} else {
		idle_enter(v, t, state);
		put_duty(v, t);
		PUT(v, t, .type = TMIGR_REC_IDLE_ENTER, .a = state);
	}
	end(v);
	return 0;
}

SEC("raw_tp/cpu_idle_miss")
int on_cpu_idle_miss(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu_value *v = own_value();
	struct tmigr_slot_totals *totals;
	__u32 state = ctx->args[1];
	bool below = (__u8)ctx->args[2];

	if (!v || state >= TMIGR_STATES)
		return 0;
	begin(v);
	totals = slot_at(v, TMIGR_SLOT_STATE0 + state);
	if (below)
		totals->below++;
	else
		totals->above++;
	end(v);
	return 0;
}

/* ---- CPU hotplug ---- */

/* The CPU is down, or not up yet, so another one may write its value. */
static __always_inline void set_offline(__u32 cpu, bool offline)
{
	__u32 type = offline ? TMIGR_REC_CPU_OFFLINE : TMIGR_REC_CPU_ONLINE;
	struct tmigr_cpu_value *own = own_value(), *v;
	__u32 zero = 0;
	__u64 t;

	v = bpf_map_lookup_percpu_elem(&cpus, &zero, cpu);
	if (!v || !own)
		return;
	t = begin(v);
	note_first(v, t, type);
	v->cur.since_known = 0;
	v->woke_slot = TMIGR_SLOTS;
	switch_slot(v, t, offline ? TMIGR_SLOT_OFFLINE : TMIGR_SLOT_RUNNING);
	end(v);
	PUT(own, t, .type = type, .b = cpu);
}

/* Offline begins when the teardown step has ended: the CPU is dead then. */
SEC("raw_tp/cpuhp_exit")
int on_cpuhp_exit(struct bpf_raw_tracepoint_args *ctx)
{
	int step = ctx->args[2], ret = ctx->args[3];

	if (step == (int)bpf_core_enum_value(enum cpuhp_state, CPUHP_TEARDOWN_CPU) && ret == 0)
		set_offline(ctx->args[0], true);
	return 0;
}

/* It ends when the bring-up step begins: from there on the CPU works, and up to
 * there it has no event (where the CPU is started earlier, it waits for this).
 * On the way down the same step is passed once more, with a target below it. */
SEC("raw_tp/cpuhp_enter")
int on_cpuhp_enter(struct bpf_raw_tracepoint_args *ctx)
{
	int target = ctx->args[1], step = ctx->args[2];

	if (step == (int)bpf_core_enum_value(enum cpuhp_state, CPUHP_BRINGUP_CPU) && target >= step)
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
		.woke_slot = idle_task ? v->woke_slot : TMIGR_SLOTS,
	};
	__u64 one = 1, *n;

	/* First expiry since the interval, whoever ran: the next one did not
	 * end that interval. */
	v->woke_slot = TMIGR_SLOTS;
	if (!key.edge_ns)
		return;
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
	target = BPF_CORE_READ(tmc, cpuevt.cpu);
	idle_task = (__u32)bpf_get_current_pid_tgid() == 0;
	count_remote(v, target, idle_task);
	PUT(v, t, .type = TMIGR_REC_HANDLE_REMOTE_CPU, .b = target,
	    .flags = idle_task ? TMIGR_RF_IDLE_TASK : 0);
	end(v);
	return 0;
}

/* ---- the hierarchy grows (a CPU's first online in this boot) ---- */

SEC("raw_tp/tmigr_connect_cpu_parent")
int on_connect_cpu_parent(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu_value *v = own_value();
	struct tmigr_cpu *tmc;
	struct tmigr_group *group;
	__u64 t = bpf_ktime_get_ns();

	if (cfg_connect_cpu_arg == 0)
		tmc = (void *)ctx->args[0];
	else
		tmc = (void *)ctx->args[1];
	if (!v)
		return 0;
	group = BPF_CORE_READ(tmc, tmgroup);
	put_node_cpu(v, t, tmc);
	if (group)
		put_node_group(v, t, group);
	return 0;
}

SEC("raw_tp/tmigr_connect_child_parent")
int on_connect_child_parent(struct bpf_raw_tracepoint_args *ctx)
{
	struct tmigr_cpu_value *v = own_value();
	struct tmigr_group *child, *parent;
	__u64 t = bpf_ktime_get_ns();

	if (cfg_connect_child_arg == 0)
		child = (void *)ctx->args[0];
	else
		child = (void *)ctx->args[1];
	if (!v)
		return 0;
	parent = BPF_CORE_READ(child, parent);
	put_node_group(v, t, child);
	if (parent)
		put_node_group(v, t, parent);
	return 0;
}

/* ---- snapshot: run by user space, one CPU a run ---- */

static __always_inline struct tmigr_snap_cpu *snap_entry(__u32 cpu)
{
	return bpf_map_lookup_elem(&snap, &cpu);
}

static __always_inline void snap_group(struct tmigr_snap_group *g, struct tmigr_group *group)
{
	g->group = (__u64)group;
	g->parent = (__u64)BPF_CORE_READ(group, parent);
	g->next_expiry = BPF_CORE_READ(group, next_expiry);
	g->word = group_word(group);
	g->node = group_node(group);
	g->level = BPF_CORE_READ(group, level);
	g->mask = group_mask(group);
	g->num_children = BPF_CORE_READ(group, num_children);
}

static __always_inline void snap_tmc(struct tmigr_snap_cpu *s, struct tmigr_cpu *tmc, __u32 cpu)
{
	struct tmigr_group *group;
	struct tmigr_cpu_value *v;
	__u32 zero = 0;
	int i;

	s->valid = 0;
	if (!tmc || BPF_CORE_READ(tmc, cpuevt.cpu) != cpu)
		return;
	s->t_ns = bpf_ktime_get_ns();
	s->wakeup = BPF_CORE_READ(tmc, wakeup);
	s->idle = BPF_CORE_READ(tmc, idle);
	s->available = tmc_available(tmc);
	s->mask = tmc_mask(tmc);
	s->next_expiry = 0;
	if (bpf_core_field_exists(tmc->cpuevt.nextevt.expires))
		s->next_expiry = BPF_CORE_READ(tmc, cpuevt.ignore)
					 ? TMIGR_KTIME_MAX
					 : BPF_CORE_READ(tmc, cpuevt.nextevt.expires);
	group = BPF_CORE_READ(tmc, tmgroup);
	/* A CPU that was never online: cpuevt.cpu is 0, and it has no group. */
	if (!group)
		return;
	for (i = 0; i < TMIGR_SNAP_LEVELS; i++) {
		if (!group) {
			s->path[i].group = 0;
			break;
		}
		snap_group(&s->path[i], group);
		group = BPF_CORE_READ(group, parent);
	}
	s->valid = 1;
	v = bpf_map_lookup_percpu_elem(&cpus, &zero, cpu);
	if (v)
		v->learnt = 1;
}

static __always_inline void snap_rq(struct tmigr_snap_cpu *s, struct rq *rq, __u32 cpu)
{
	struct cpuidle_state *state = NULL;
	struct tmigr_cpu_value *v;
	__u32 zero = 0;

	s->rq_valid = 0;
	s->state_name[0] = 0;
	if (!rq || (__u32)BPF_CORE_READ(rq, cpu) != cpu)
		return;
	s->rq_idle = BPF_CORE_READ(rq, curr) == BPF_CORE_READ(rq, idle);
	if (bpf_core_field_exists(rq->idle_state))
		state = BPF_CORE_READ(rq, idle_state);
	if (state)
		bpf_probe_read_kernel_str(s->state_name, sizeof(s->state_name), &state->name);
	barrier();
	v = bpf_map_lookup_percpu_elem(&cpus, &zero, cpu);
	s->quiet = v && !v->first_ns;
	s->rq_valid = 1;
}

/* By the symbols' addresses; needs CONFIG_KALLSYMS_ALL.  Weak, so that a kernel
 * without timer migration loads the rest. */
extern const struct tmigr_cpu tmigr_cpu __ksym __weak;
extern const struct rq runqueues __ksym __weak;

SEC("syscall")
int snap_tmc_ksym(struct tmigr_snap_args *args)
{
	struct tmigr_snap_cpu *s = snap_entry(args->cpu);
	__u32 cpu = args->cpu;

	if (s)
		snap_tmc(s, (void *)bpf_per_cpu_ptr(&tmigr_cpu, cpu), cpu);
	return 0;
}

SEC("syscall")
int snap_rq_ksym(struct tmigr_snap_args *args)
{
	struct tmigr_snap_cpu *s = snap_entry(args->cpu);
	__u32 cpu = args->cpu;

	if (s)
		snap_rq(s, (void *)bpf_per_cpu_ptr(&runqueues, cpu), cpu);
	return 0;
}

/*
 * Without symbols: the areas of two CPUs lie at the same distance for every
 * per-CPU object, so the distance seen in a map of our own leads from one
 * CPU's object to another's.  0: no such CPU.
 */
static __always_inline void *ruler(void *object, __u32 from, __u32 to)
{
	void *a, *b;
	__u32 zero = 0;
	__u64 distance;

	a = bpf_map_lookup_percpu_elem(&cpus, &zero, from);
	b = bpf_map_lookup_percpu_elem(&cpus, &zero, to);
	if (!object || !a || !b)
		return NULL;
	distance = (__u64)b - (__u64)a;
	/* Keeps the compiler from adding to one pointer first and subtracting
	 * the other from the sum, which the verifier refuses. */
	HIDE(distance);
	return (void *)((__u64)object + distance);
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

/* From an event of any CPU; on a machine too busy to have had one, from the
 * runqueue, which is at a known distance. */
SEC("syscall")
int snap_tmc_ruler(struct tmigr_snap_args *args)
{
	struct tmigr_snap_cpu *s = snap_entry(args->cpu);
	__u64 known = args->known_tmc;
	__u32 cpu = args->cpu, from = args->known_cpu;
	struct rq *rq;

	if (!s)
		return 0;
	if (!known && args->rq_to_tmc) {
		rq = any_rq();
		if (!rq)
			return 0;
		from = BPF_CORE_READ(rq, cpu);
		known = (__u64)rq + args->rq_to_tmc;
	}
	snap_tmc(s, ruler((void *)known, from, cpu), cpu);
	return 0;
}

SEC("syscall")
int snap_rq_ruler(struct tmigr_snap_args *args)
{
	struct tmigr_snap_cpu *s = snap_entry(args->cpu);
	__u32 cpu = args->cpu, from;
	struct rq *rq = any_rq();

	if (!s)
		return 0;
	if (rq) {
		from = BPF_CORE_READ(rq, cpu);
	} else {
		if (!args->known_tmc || !args->rq_to_tmc)
			return 0;
		from = args->known_cpu;
		rq = (void *)(args->known_tmc - args->rq_to_tmc);
	}
	snap_rq(s, ruler(rq, from, cpu), cpu);
	return 0;
}
