// SPDX-License-Identifier: GPL-2.0-or-later
/* From events whose order is decided to records. */
#include "sequencer_priv.h"

/* CLEAN is told that often; and at least up to where as many records were told of
 * since, whatever a silent CPU or group might still have to say: it bounds what
 * the model keeps. */
#define CLEAN_RECORDS 65536

void seq_flush(struct tmigr_sequencer *s)
{
	if (s->n_out && !s->err)
		s->err = s->cfg.records(s->cfg.arg, s->out, s->n_out);
	s->n_out = 0;
}

static void put(struct tmigr_sequencer *s, const struct tmigr_traced *ev, unsigned int type,
		__u64 a, __u64 b)
{
	bool idle_task = type == TMIGR_REC_HANDLE_REMOTE_CPU && ev->pid == 0;

	*seq_next(s) = (struct tmigr_rec){.t_ns = ev->t_ns,
					  .cpu = ev->cpu,
					  .type = (__u8)type,
					  .flags = idle_task ? TMIGR_RF_IDLE_TASK : 0,
					  .a = a,
					  .b = b};
}

static void put_update(struct tmigr_sequencer *s, const struct held *h)
{
	const struct tmigr_traced *ev = &h->ev;

	*seq_next(s) = (struct tmigr_rec){
		.t_ns = ev->t_ns,
		.cpu = ev->cpu,
		.type = ev->type == TMIGR_TRACED_GROUP_ACTIVE ? TMIGR_REC_GROUP_ACTIVE
							      : TMIGR_REC_GROUP_INACTIVE,
		.level = ev->level,
		.mask = ev->mask,
		.a = ev->group,
		.b = ev->active | (__u64)ev->migrator << 8 | (__u64)h->seq << 16,
	};
}

static void put_lost(struct tmigr_sequencer *s, const struct held *h)
{
	struct tmigr_rec rec = {
		.t_ns = h->ev.t_ns,
		.cpu = h->ev.cpu,
		.type = TMIGR_REC_LOST,
		.flags = TMIGR_RF_NO_SEQ,
		.a = h->ev.value,
		.b = h->lo_ns,
	};

	seq_put(s, &rec);
}

/*
 * CPU hotplug of which only tmigr_cpu_offline and tmigr_cpu_online tell: the CPU is
 * gone after its last event before a silence, and there again with its next one.
 */
static bool falls_silent(const struct tmigr_sequencer *s, const struct held *h)
{
	const __u64 until = h->ev.t_ns + TMIGR_SEQUENCER_HOLD_NS;

	/* What is given out has so much behind it sorted in. */
	for (const struct held *x = h + 1; x < s->held + s->n_sorted && x->ev.t_ns <= until; x++)
		if (x->ev.cpu == h->ev.cpu)
			return false;
	return true;
}

static void before_event(struct tmigr_sequencer *s, struct seq_cpu *c,
			 const struct tmigr_traced *ev)
{
	if (!c->left)
		return;
	c->left = false;
	put(s, ev, TMIGR_REC_CPU_ONLINE, 0, ev->cpu);
}

static void after_event(struct tmigr_sequencer *s, struct seq_cpu *c, const struct held *h)
{
	if (!c->leaving || !falls_silent(s, h))
		return;
	c->leaving = false;
	c->left = true;
	put(s, &h->ev, TMIGR_REC_CPU_OFFLINE, 0, h->ev.cpu);
}

static void available(struct tmigr_sequencer *s, const struct tmigr_traced *ev, bool is)
{
	struct seq_cpu *c = ev->has & TMIGR_HAS_HOTPLUG ? seq_cpu(s, ev->subject) : NULL;

	put(s, ev, is ? TMIGR_REC_CPU_AVAILABLE : TMIGR_REC_CPU_UNAVAILABLE, 0, ev->subject);
	if (c)
		c->leaving = !is;
}

static void put_event(struct tmigr_sequencer *s, const struct held *h)
{
	const struct tmigr_traced *ev = &h->ev;

	switch (ev->type) {
	case TMIGR_TRACED_CPU_IDLE:
		if (ev->value == TMIGR_TRACED_IDLE_EXIT)
			put(s, ev, TMIGR_REC_IDLE_EXIT, 0, 0);
		else
			put(s, ev, TMIGR_REC_IDLE_ENTER, ev->value, 0);
		break;
	case TMIGR_TRACED_CPU_IDLE_MISS:
		put(s, ev, TMIGR_REC_IDLE_MISS, ev->value, ev->below);
		break;
	case TMIGR_TRACED_GROUP_ACTIVE:
	case TMIGR_TRACED_GROUP_INACTIVE:
		put_update(s, h);
		break;
	case TMIGR_TRACED_CPU_ACTIVE:
		put(s, ev, TMIGR_REC_CPU_ACTIVE, ev->value, ev->subject);
		break;
	case TMIGR_TRACED_CPU_INACTIVE:
		put(s, ev, TMIGR_REC_CPU_IDLE, ev->value, ev->subject);
		break;
	case TMIGR_TRACED_CPU_NEW_TIMER:
		put(s, ev, TMIGR_REC_CPU_NEW_TIMER, ev->value, ev->subject);
		break;
	case TMIGR_TRACED_CPU_NEW_TIMER_IDLE:
		put(s, ev, TMIGR_REC_CPU_NEW_TIMER_IDLE, ev->value, ev->subject);
		break;
	case TMIGR_TRACED_HANDLE_REMOTE_CPU:
		put(s, ev, TMIGR_REC_HANDLE_REMOTE_CPU, 0, ev->subject);
		break;
	case TMIGR_TRACED_CPU_AVAILABLE:
	case TMIGR_TRACED_CPU_UNAVAILABLE:
		available(s, ev, ev->type == TMIGR_TRACED_CPU_AVAILABLE);
		break;
	case TMIGR_TRACED_HOTPLUG_ONLINE:
	case TMIGR_TRACED_HOTPLUG_OFFLINE:
		put(s, ev,
		    ev->type == TMIGR_TRACED_HOTPLUG_ONLINE ? TMIGR_REC_CPU_ONLINE
							    : TMIGR_REC_CPU_OFFLINE,
		    0, ev->subject);
		break;
	case TMIGR_TRACED_LOST:
		put_lost(s, h);
		break;
	}
}

void seq_out_event(struct tmigr_sequencer *s, const struct held *h)
{
	struct seq_cpu *c = h->ev.cpu < s->n_cpus ? &s->cpus[h->ev.cpu] : NULL;

	if (c)
		before_event(s, c, &h->ev);
	seq_learn(s, &h->ev, true);
	put_event(s, h);
	/* (The CPUs may have moved.) */
	if (h->ev.cpu < s->n_cpus)
		after_event(s, &s->cpus[h->ev.cpu], h);
}

/*
 * Nothing with a stamp before @t_ns is missing, as far as is known: each group and
 * CPU was heard of since, or so many records ago that it won't be waited for.
 */
void seq_out_clean(struct tmigr_sequencer *s, __u64 limit_ns)
{
	__u64 t_ns = limit_ns;

	if (s->n_records - s->mark_at >= CLEAN_RECORDS) {
		s->mark_ns[0] = s->mark_ns[1];
		s->mark_ns[1] = limit_ns;
		s->mark_at = s->n_records;
	}
	if (s->n_records - s->clean_at < CLEAN_RECORDS)
		return;
	for (size_t i = 0; i < s->n_groups; i++)
		if (s->groups[i].good_ns && s->groups[i].good_ns < t_ns)
			t_ns = s->groups[i].good_ns;
	for (size_t i = 0; i < s->n_cpus; i++)
		if (s->cpus[i].seen && s->cpus[i].last_ns < t_ns)
			t_ns = s->cpus[i].last_ns;
	if (t_ns < s->mark_ns[0])
		t_ns = s->mark_ns[0];
	if (t_ns <= s->clean_ns)
		return;
	s->clean_ns = t_ns;
	s->clean_at = s->n_records;
	seq_put(s, &(struct tmigr_rec){.t_ns = t_ns, .type = TMIGR_REC_CLEAN});
}
