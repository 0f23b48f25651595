// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Idle states of the CPUs: time, entries and durations by slot.
 *
 * A CPU's time is booked up to since_ns; what it is in from there on is `slot`.
 * Rules:
 *  - The stream is complete from the window's start on, so a CPU's first
 *    information tells what it had been in since the start: ENTER running, EXIT
 *    idle in an unknown state, CPU_ONLINE offline, SNAP_IDLE what it says.
 *  - A CPU that the topology calls offline is offline until it says otherwise.
 *  - SNAP_IDLE never overrides what an event told: the kernel sets the value
 *    it reads a moment before or after the event.
 *  - After LOST the state is unknown from the first lost record until the next
 *    idle information.  Only the CPU's own: that another CPU's going offline,
 *    which this one may have been the one to record, is among what was lost, shows
 *    at that CPU's next event only.
 */
#include "model_internal.h"

/* Books the time up to @t_ns to the present slot; clipped to the window. */
static void account(struct tmigr_model *m, int cpu, __u64 t_ns)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];
	__u64 from = c->since_ns > m->cfg.start_ns ? c->since_ns : m->cfg.start_ns;
	__u64 running_ns = 0;

	if (t_ns > from) {
		m->figures[cpu].time_ns[c->slot] += t_ns - from;
		if (c->slot == TMIGR_SLOT_RUNNING)
			running_ns = t_ns - from;
		if (m->cfg.cpu_span)
			m->cfg.cpu_span(m->cfg.arg,
					&(struct tmigr_cpu_span){c->cpu, c->slot, from, t_ns});
	}
	if (t_ns > c->since_ns) {
		c->since_ns = t_ns;
		tmigr_part_book(m, cpu, t_ns, running_ns);
	}
}

static unsigned int state_slot(__u64 state)
{
	if (state < TMIGR_STATES)
		return TMIGR_SLOT_STATE0 + state;
	return TMIGR_SLOT_UNKNOWN;
}

static bool is_idle(unsigned int slot)
{
	return slot >= TMIGR_SLOT_STATE0 && slot < TMIGR_SLOT_STATE0 + TMIGR_STATES;
}

static unsigned int bucket(__u64 ns)
{
	unsigned int k = ns ? 63 - __builtin_clzll(ns) : 0;

	return k < TMIGR_HIST_BUCKETS ? k : TMIGR_HIST_BUCKETS - 1;
}

/* The first information: @slot is what it had been in until now. */
static void first(struct tmigr_model *m, int cpu, unsigned int slot)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];

	if (c->seen)
		return;
	c->seen = true;
	c->slot = slot;
}

static void set_slot(struct tmigr_model *m, int cpu, unsigned int slot)
{
	account(m, cpu, m->now_ns);
	m->cpus[cpu].slot = slot;
	if (!m->tail)
		tmigr_root_slot(m, cpu);
}

/* An idle interval ends with an event. */
static void close_interval(struct tmigr_model *m, int cpu)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];

	if (c->start_seen && tmigr_model_counts(m))
		m->figures[cpu].hist[c->slot][bucket(m->now_ns - c->start_ns)]++;
	c->start_seen = false;
}

void tmigr_resid_enter(struct tmigr_model *m, int cpu, __u64 state)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];
	unsigned int slot = state_slot(state);

	first(m, cpu, TMIGR_SLOT_RUNNING);
	close_interval(m, cpu);
	set_slot(m, cpu, slot);
	c->idle_slot = slot;
	c->start_ns = m->now_ns;
	c->start_seen = true;
	c->woke_done = false;
	if (tmigr_model_counts(m))
		m->figures[cpu].entries[slot]++;
}

void tmigr_resid_exit(struct tmigr_model *m, int cpu)
{
	first(m, cpu, TMIGR_SLOT_UNKNOWN);
	close_interval(m, cpu);
	set_slot(m, cpu, TMIGR_SLOT_RUNNING);
}

void tmigr_resid_miss(struct tmigr_model *m, int cpu, __u64 state, bool below)
{
	struct tmigr_cpu_figures *f = &m->figures[cpu];

	if (!tmigr_model_counts(m))
		return;
	if (below)
		f->below[state_slot(state)]++;
	else
		f->above[state_slot(state)]++;
}

/* A CPU that comes up may idle before the event that says so. */
void tmigr_resid_online(struct tmigr_model *m, int cpu)
{
	first(m, cpu, TMIGR_SLOT_OFFLINE);
	if (m->cpus[cpu].slot == TMIGR_SLOT_OFFLINE)
		set_slot(m, cpu, TMIGR_SLOT_RUNNING);
}

void tmigr_resid_offline(struct tmigr_model *m, int cpu)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];

	first(m, cpu, TMIGR_SLOT_RUNNING);
	c->start_seen = false;
	c->woke_done = true; /* until it idles again */
	set_slot(m, cpu, TMIGR_SLOT_OFFLINE);
}

void tmigr_resid_snap(struct tmigr_model *m, int cpu, __u64 state)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];
	unsigned int slot = state == TMIGR_STATE_RUNNING ? TMIGR_SLOT_RUNNING : state_slot(state);

	if (slot == TMIGR_SLOT_UNKNOWN || (c->seen && c->slot != TMIGR_SLOT_UNKNOWN))
		return;
	first(m, cpu, slot);
	set_slot(m, cpu, slot);
	c->start_seen = false;
	if (is_idle(slot)) {
		c->idle_slot = slot;
		c->woke_done = false;
	}
}

void tmigr_resid_lost(struct tmigr_model *m, int cpu, __u64 from_ns)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];

	first(m, cpu, TMIGR_SLOT_UNKNOWN);
	account(m, cpu, from_ns < m->now_ns ? from_ns : m->now_ns);
	c->slot = TMIGR_SLOT_UNKNOWN;
	tmigr_part_lost(m, cpu);
	account(m, cpu, m->now_ns);
	c->idle_slot = TMIGR_SLOT_UNKNOWN;
	c->start_seen = false;
	c->woke_done = false;
}

void tmigr_resid_finish(struct tmigr_model *m)
{
	for (size_t i = 0; i < m->n_cpus; i++)
		account(m, i, m->end_ns);
	tmigr_part_finish(m);
}
