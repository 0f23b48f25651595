/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream of records as a machine of N CPUs would make it, for measuring the
 * model's speed: a group walk as the kernel does it (the first active child
 * becomes the migrator and keeps the duty until it goes idle), idle entries with
 * the tick retained and stopped, remote expiries, wake-up duties.  One thing at a
 * time, nothing lost, nothing late: what is to be measured is the ordinary case.
 * The tests have a simulator that does the rest.
 *
 * In a header because each bench/x.c is a program of its own.
 */
#ifndef TMIGR_BENCH_SYNTH_H
#define TMIGR_BENCH_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/rec.h"
#include "tmigr/topology.h"

#define SYNTH_CHILDREN 8	     /* of a group, the kernel's own bound */
#define SYNTH_MARK_NS  1000000000ULL /* a drain a second, as the tool does it, ... */
#define SYNTH_MARK     65536	     /* ... and a step of it every so many records */

struct stream_mark {
	size_t at;	    /* records before this index have been fed */
	__u64 watermark_ns; /* then tmigr_model_advance() gets this */
};

struct stream {
	struct tmigr_rec *recs;
	size_t n, room;
	struct stream_mark *marks;
	size_t n_marks, marks_room;
	struct tmigr_topology *topo;
	bool topo_is_ours; /* made here, not by the library */
	__u64 start_ns, end_ns;
	size_t n_groups;
};

struct synth_group {
	size_t parent; /* index, or SIZE_MAX: the root */
	__u8 level, mask;
	__u32 word;
};

struct synth_cpu {
	__u8 mask;   /* in group cpu / SYNTH_CHILDREN */
	bool idle;   /* in an idle state */
	bool active; /* for timer migration */
	__u64 wakeup;
};

struct synth {
	struct stream *out;
	size_t n_cpus, n_groups;
	struct synth_cpu *cpus;
	struct synth_group *groups;
	__u64 t_ns, step_ns, next_mark_ns;
	size_t since_mark;
	__u64 random;
};

static inline void *synth_grow(void *array, size_t n, size_t *room, size_t size)
{
	size_t want = *room ? *room * 2 : 1024;

	if (n < *room)
		return array;
	array = realloc(array, want * size);
	if (!array) {
		perror("synth: memory");
		exit(1);
	}
	*room = want;
	return array;
}

static inline void *synth_calloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		perror("synth: memory");
		exit(1);
	}
	return p;
}

static inline void stream_add(struct stream *s, const struct tmigr_rec *rec)
{
	s->recs = synth_grow(s->recs, s->n, &s->room, sizeof(*s->recs));
	s->recs[s->n++] = *rec;
}

static inline void stream_mark(struct stream *s, __u64 watermark_ns)
{
	s->marks = synth_grow(s->marks, s->n_marks, &s->marks_room, sizeof(*s->marks));
	s->marks[s->n_marks++] = (struct stream_mark){s->n, watermark_ns};
}

/* xorshift64: the same stream on every machine */
static inline __u64 synth_random(struct synth *y, __u64 below)
{
	y->random ^= y->random << 13;
	y->random ^= y->random >> 7;
	y->random ^= y->random << 17;
	return y->random % below;
}

static inline void synth_emit(struct synth *y, struct tmigr_rec rec)
{
	y->t_ns += 200 + synth_random(y, 1000);
	rec.t_ns = y->t_ns;
	y->since_mark++;
	stream_add(y->out, &rec);
}

/* Kernel addresses, as far as the model is concerned: distinct, not 0. */
static inline __u64 synth_group_id(size_t group)
{
	return 0xffff000000000000ULL + (group + 1) * 256;
}

static inline void synth_emit_group(struct synth *y, __u32 cpu, __u8 type, size_t group, __u8 child)
{
	const struct synth_group *g = &y->groups[group];

	synth_emit(y, (struct tmigr_rec){.cpu = cpu,
					 .type = type,
					 .level = g->level,
					 .mask = child,
					 .a = synth_group_id(group),
					 .b = g->word});
}

static inline __u32 synth_word(__u32 word, __u8 active, __u8 migrator)
{
	return (__u32)(__u16)(tmigr_word_seq(word) + 1) << 16 | (__u32)migrator << 8 | active;
}

static inline void synth_activate(struct synth *y, __u32 cpu)
{
	struct synth_cpu *c = &y->cpus[cpu];
	size_t group = cpu / SYNTH_CHILDREN;
	__u8 child = c->mask;

	synth_emit(y, (struct tmigr_rec){
			      .cpu = cpu, .type = TMIGR_REC_CPU_ACTIVE, .a = c->wakeup, .b = cpu});
	c->active = true;
	c->wakeup = TMIGR_KTIME_MAX;
	for (;;) {
		struct synth_group *g = &y->groups[group];
		__u8 migrator = tmigr_word_migrator(g->word);
		bool done = migrator != TMIGR_NO_MIGRATOR;

		g->word = synth_word(g->word, tmigr_word_active(g->word) | child,
				     done ? migrator : child);
		synth_emit_group(y, cpu, TMIGR_REC_GROUP_ACTIVE, group, child);
		if (done || g->parent == SIZE_MAX)
			return;
		child = g->mask;
		group = g->parent;
	}
}

static inline void synth_deactivate(struct synth *y, __u32 cpu)
{
	struct synth_cpu *c = &y->cpus[cpu];
	size_t group = cpu / SYNTH_CHILDREN;
	__u8 child = c->mask, migrator;

	for (;;) {
		struct synth_group *g = &y->groups[group];
		__u8 active = tmigr_word_active(g->word) & (__u8)~child;

		migrator = tmigr_word_migrator(g->word);
		if (migrator == child)
			migrator = active ? (__u8)(active & -active) : TMIGR_NO_MIGRATOR;
		g->word = synth_word(g->word, active, migrator);
		synth_emit_group(y, cpu, TMIGR_REC_GROUP_INACTIVE, group, child);
		if (migrator != TMIGR_NO_MIGRATOR || g->parent == SIZE_MAX)
			break;
		child = g->mask;
		group = g->parent;
	}
	c->active = false;
	/* The last one takes the wakeup duty, if there is a timer at all. */
	c->wakeup = migrator == TMIGR_NO_MIGRATOR && synth_random(y, 4) ? y->t_ns + 4000000
									: TMIGR_KTIME_MAX;
	synth_emit(y, (struct tmigr_rec){
			      .cpu = cpu, .type = TMIGR_REC_CPU_IDLE, .a = c->wakeup, .b = cpu});
}

static inline void synth_enter(struct synth *y, __u32 cpu)
{
	struct synth_cpu *c = &y->cpus[cpu];

	if (c->active && !synth_random(y, 3))
		synth_deactivate(y, cpu);
	c->idle = true;
	synth_emit(y, (struct tmigr_rec){
			      .cpu = cpu, .type = TMIGR_REC_IDLE_ENTER, .a = synth_random(y, 2)});
}

/* A tick or an interrupt ended the idle state; or a task came, and that ends
 * the CPU's idleness for timer migration as well. */
static inline void synth_exit(struct synth *y, __u32 cpu)
{
	struct synth_cpu *c = &y->cpus[cpu], *target;
	__u32 other = (__u32)synth_random(y, y->n_cpus);

	c->idle = false;
	synth_emit(y, (struct tmigr_rec){.cpu = cpu, .type = TMIGR_REC_IDLE_EXIT});
	target = &y->cpus[other];
	if (c->active && !target->active && !synth_random(y, 4)) {
		target->wakeup = TMIGR_KTIME_MAX;
		synth_emit(y, (struct tmigr_rec){.cpu = cpu,
						 .type = TMIGR_REC_HANDLE_REMOTE_CPU,
						 .flags = TMIGR_RF_IDLE_TASK,
						 .b = other});
	}
	if (synth_random(y, 2)) {
		synth_enter(y, cpu);
		return;
	}
	if (!c->active)
		synth_activate(y, cpu);
}

static inline void synth_mark(struct synth *y)
{
	const struct tmigr_rec clean = {.t_ns = y->t_ns + 1, .type = TMIGR_REC_CLEAN};

	stream_add(y->out, &clean);
	stream_mark(y->out, y->t_ns + 1);
	y->next_mark_ns = y->t_ns + SYNTH_MARK_NS;
	y->since_mark = 0;
}

/* What a snapshot at the start says: all CPUs run. */
static inline void synth_snapshot(struct synth *y)
{
	for (size_t i = 0; i < y->n_groups; i++) {
		const struct synth_group *g = &y->groups[i];
		bool root = g->parent == SIZE_MAX;

		synth_emit(y, (struct tmigr_rec){.type = TMIGR_REC_NODE_GROUP,
						 .level = g->level,
						 .mask = g->mask,
						 .a = synth_group_id(i),
						 .b = root ? 0 : synth_group_id(g->parent)});
		synth_emit(y, (struct tmigr_rec){
				      .type = TMIGR_REC_SNAP_GROUP,
				      .level = g->level,
				      .a = synth_group_id(i),
				      .b = g->word,
			      });
	}
	for (size_t cpu = 0; cpu < y->n_cpus; cpu++) {
		synth_emit(y, (struct tmigr_rec){.type = TMIGR_REC_NODE_CPU,
						 .mask = y->cpus[cpu].mask,
						 .a = synth_group_id(cpu / SYNTH_CHILDREN),
						 .b = cpu});
		synth_emit(y, (struct tmigr_rec){.type = TMIGR_REC_SNAP_CPU,
						 .flags = TMIGR_RF_AVAILABLE,
						 .a = TMIGR_KTIME_MAX,
						 .b = cpu});
		synth_emit(y, (struct tmigr_rec){.type = TMIGR_REC_SNAP_IDLE,
						 .a = TMIGR_STATE_RUNNING,
						 .b = cpu});
	}
}

/* Groups of 8 CPUs, groups of 8 groups, and so on up to one root. */
static inline void synth_build(struct synth *y)
{
	size_t width = (y->n_cpus + SYNTH_CHILDREN - 1) / SYNTH_CHILDREN, first = 0;
	__u8 level = 0;

	y->cpus = synth_calloc(y->n_cpus, sizeof(*y->cpus));
	y->groups = synth_calloc(2 * width + 1, sizeof(*y->groups));
	for (size_t cpu = 0; cpu < y->n_cpus; cpu++) {
		struct synth_group *g = &y->groups[cpu / SYNTH_CHILDREN];

		y->cpus[cpu] = (struct synth_cpu){.mask = (__u8)(1u << cpu % SYNTH_CHILDREN),
						  .active = true,
						  .wakeup = TMIGR_KTIME_MAX};
		g->word |= y->cpus[cpu].mask | 0x100;
	}
	for (; width > 1; level++) {
		size_t next = first + width;

		for (size_t i = 0; i < width; i++) {
			struct synth_group *g = &y->groups[first + i];

			g->level = level;
			g->mask = (__u8)(1u << i % SYNTH_CHILDREN);
			g->parent = next + i / SYNTH_CHILDREN;
			y->groups[g->parent].word |= g->mask | 0x100u;
		}
		first = next;
		width = (width + SYNTH_CHILDREN - 1) / SYNTH_CHILDREN;
	}
	y->groups[first].level = level;
	y->groups[first].parent = SIZE_MAX;
	y->n_groups = first + 1;
}

/* Lower half LITTLE, upper half big; each with two idle states. */
static inline struct tmigr_topology *synth_topology(size_t n_cpus)
{
	static const struct tmigr_idle_state states[2] = {{"WFI", 1, 1, false},
							  {"cpu-sleep", 370, 900, false}};
	struct tmigr_topology *topo = synth_calloc(1, sizeof(*topo));
	size_t n_little = n_cpus / 2;

	topo->n_cpus = n_cpus;
	topo->cpus = synth_calloc(n_cpus, sizeof(*topo->cpus));
	topo->n_classes = 2;
	topo->classes = synth_calloc(2, sizeof(*topo->classes));
	topo->n_possible = (unsigned int)n_cpus;
	topo->timer_migration = 1;
	snprintf(topo->driver, sizeof(topo->driver), "synthetic");
	topo->classes[0] = (struct tmigr_class){"LITTLE", 442, (unsigned int)n_little};
	topo->classes[1] = (struct tmigr_class){"big", 1024, (unsigned int)(n_cpus - n_little)};
	for (size_t i = 0; i < n_cpus; i++) {
		struct tmigr_topo_cpu *c = &topo->cpus[i];

		c->cpu = (unsigned int)i;
		c->online = true;
		c->class_idx = i >= n_little;
		c->capacity = topo->classes[c->class_idx].capacity;
		c->cluster = -1;
		c->n_states = 2;
		memcpy(c->states, states, sizeof(states));
	}
	return topo;
}

/* A machine of @n_cpus, at least 2; @rate: records per second and CPU.  @s gets its
 * topology, and the records of a snapshot. */
static inline void synth_begin(struct synth *y, struct stream *s, size_t n_cpus, size_t rate)
{
	*y = (struct synth){.out = s,
			    .n_cpus = n_cpus,
			    .t_ns = 1000000000000ULL,
			    .random = 88172645463325252ULL};
	synth_build(y);
	s->n_groups = y->n_groups;
	s->topo = synth_topology(n_cpus);
	s->topo_is_ours = true;
	synth_snapshot(y);
	s->start_ns = y->t_ns + 1;
	y->next_mark_ns = s->start_ns + SYNTH_MARK_NS;
	/* A step makes about three records, each of which takes 700 ns. */
	y->step_ns = 3000000000ULL / (rate * n_cpus);
	y->step_ns = y->step_ns > 2100 ? y->step_ns - 2100 : 1;
}

/* Until the stream has @n records; a caller who took them may begin at 0 again. */
static inline void synth_until(struct synth *y, size_t n)
{
	while (y->out->n < n) {
		__u32 cpu = (__u32)synth_random(y, y->n_cpus);

		y->t_ns += synth_random(y, 2 * y->step_ns);
		if (y->t_ns >= y->next_mark_ns || y->since_mark >= SYNTH_MARK)
			synth_mark(y);
		if (y->cpus[cpu].idle)
			synth_exit(y, cpu);
		else
			synth_enter(y, cpu);
	}
}

static inline void synth_end(struct synth *y)
{
	synth_mark(y);
	y->out->end_ns = y->t_ns + 1;
	free(y->cpus);
	free(y->groups);
}

static inline void synth_stream(struct stream *s, size_t n_cpus, size_t count, size_t rate)
{
	struct synth y;

	synth_begin(&y, s, n_cpus, rate);
	synth_until(&y, s->n + count);
	synth_end(&y);
}

static inline void synth_free(struct stream *s)
{
	free(s->recs);
	free(s->marks);
	if (s->topo_is_ours) {
		free(s->topo->cpus);
		free(s->topo->classes);
		free(s->topo);
	} else {
		tmigr_topology_free(s->topo);
	}
}

#endif
