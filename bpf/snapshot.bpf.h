/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that user space runs to read the hierarchy, the state words and the
 * idle states from the kernel's memory, one CPU a run.
 */
#ifndef TMIGR_SNAPSHOT_BPF_H
#define TMIGR_SNAPSHOT_BPF_H

#include "value.bpf.h"

static __always_inline struct tmigr_snap_cpu *snap_entry(__u32 cpu)
{
	return bpf_map_lookup_elem(&snap, &cpu);
}

static __always_inline void snap_group(struct tmigr_snap_group *g, struct tmigr_group *group)
{
	g->group = (__u64)group;
	g->parent = (__u64)BPF_CORE_READ(group, parent);
	g->next_expiry = 0;
	if (bpf_core_field_exists(group->next_expiry))
		g->next_expiry = BPF_CORE_READ(group, next_expiry);
	g->word = group_word(group);
	g->node = group_node(group);
	g->level = BPF_CORE_READ(group, level);
	g->mask = group_mask(group);
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
	s->next_expiry = tmc_expiry(tmc);
	group = BPF_CORE_READ(tmc, tmgroup);
	/* A CPU that was never online: cpuevt.cpu is 0, and it has no group.
	 * The rest is for CPU 0, whose number alone confirms little. */
	if (!group || !s->mask || s->mask & (s->mask - 1) || BPF_CORE_READ(group, level))
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
	if (!v)
		return;
	v->learnt = 1;
	if (!v->tmc)
		v->tmc = (__u64)tmc;
}

static __always_inline void snap_rq(struct tmigr_snap_cpu *s, struct rq *rq, __u32 cpu)
{
	struct cpuidle_state *state = NULL;
	struct tmigr_cpu_value *v;
	__u32 zero = 0;

	s->rq_valid = 0;
	s->state_name[0] = 0;
	if (rq && (__u32)BPF_CORE_READ(rq, cpu) == cpu) {
		s->rq_valid = 1;
		s->rq_idle = BPF_CORE_READ(rq, curr) == BPF_CORE_READ(rq, idle);
		if (bpf_core_field_exists(rq->idle_state))
			state = BPF_CORE_READ(rq, idle_state);
		if (state)
			bpf_probe_read_kernel_str(s->state_name, sizeof(s->state_name),
						  &state->name);
	}
	/* After the rest has been read, so that it vouches for it. */
	barrier();
	v = bpf_map_lookup_percpu_elem(&cpus, &zero, cpu);
	s->quiet = v && !v->first_ns;
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
	__u32 cpu = args->cpu, from = args->known_cpu;
	struct rq *rq = any_rq();

	if (!s)
		return 0;
	if (rq)
		from = BPF_CORE_READ(rq, cpu);
	else if (args->known_tmc && args->rq_to_tmc)
		rq = (void *)(args->known_tmc - args->rq_to_tmc);
	snap_rq(s, ruler(rq, from, cpu), cpu);
	return 0;
}

#endif
