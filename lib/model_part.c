// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a CPU that runs is to timer migration.  Mostly both are the same: a CPU that
 * runs is active.  One that stops its tick while it runs (nohz_full) is idle to timer
 * migration; so is any CPU for the moments of the idle loop outside of its idle states.
 *
 * Rules:
 *  - The CPU's own events tell it.  The stream is complete from the window's start on,
 *    so the first one tells what it had been since then: CPU_ACTIVE idle, CPU_IDLE
 *    active, CPU_NEW_TIMER_IDLE idle, CPU_AVAILABLE outside, CPU_UNAVAILABLE what
 *    was told before.
 *  - A CPU that becomes available is idle: where it is not, CPU_ACTIVE follows at once.
 *  - CPU_NEW_TIMER_IDLE tells it only where nothing does.
 *  - What is told before the window, and by SNAP_CPU, is of use only for a CPU that has no
 *    event in it: the stream is not complete before it.
 *  - After LOST it is not known until the next event that tells it.
 *  - A CPU that the topology calls offline is outside.
 */
#include <string.h>

#include "model_internal.h"

static void account(struct tmigr_model *m, int cpu, __u64 t_ns)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];
	__u64 from = c->part_at_ns > m->cfg.start_ns ? c->part_at_ns : m->cfg.start_ns;

	if (t_ns > from)
		c->part_ns[c->part] += t_ns - from;
	if (t_ns > c->part_at_ns)
		c->part_at_ns = t_ns;
}

/* Adds what the CPU was while it ran for @running_ns. */
static void book(struct tmigr_model *m, int cpu, __u64 running_ns)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];
	__u64 *sums = m->figures[cpu].running_ns, all = 0;

	for (int i = 0; i < TMIGR_PARTS + 1; i++)
		all += c->part_ns[i];
	/* Told of by another CPU, after the first record that was lost. */
	if (all != running_ns) {
		sums[TMIGR_PART_UNKNOWN] += running_ns;
		return;
	}
	for (int i = 0; i < TMIGR_PARTS; i++)
		sums[i] += c->part_ns[i];
	c->unseen_ns += c->part_ns[TMIGR_PARTS];
}

void tmigr_part_book(struct tmigr_model *m, int cpu, __u64 t_ns, __u64 running_ns)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];

	if (running_ns) {
		account(m, cpu, t_ns);
		book(m, cpu, running_ns);
	}
	if (t_ns > c->part_at_ns)
		c->part_at_ns = t_ns;
	memset(c->part_ns, 0, sizeof(c->part_ns));
}

/* The first that is told: @part is what it had been until now. */
static void first(struct tmigr_model *m, int cpu, unsigned int part)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];

	if (c->part != TMIGR_PARTS)
		return;
	m->figures[cpu].running_ns[part] += c->unseen_ns;
	c->part_ns[part] += c->part_ns[TMIGR_PARTS];
	c->unseen_ns = 0;
	c->part_ns[TMIGR_PARTS] = 0;
	c->part = part;
}

static void set(struct tmigr_model *m, int cpu, unsigned int before, unsigned int part)
{
	if (m->now_ns < m->cfg.start_ns) {
		m->cpus[cpu].snap_part = part;
		return;
	}
	account(m, cpu, m->now_ns);
	first(m, cpu, before);
	m->cpus[cpu].part = part;
}

static unsigned int part_of(__u8 flags)
{
	if (!(flags & TMIGR_RF_AVAILABLE))
		return TMIGR_PART_OUTSIDE;
	return flags & TMIGR_RF_TMIGR_IDLE ? TMIGR_PART_IDLE : TMIGR_PART_ACTIVE;
}

bool tmigr_part_seen(const struct tmigr_model *m, int cpu)
{
	return m->cpus[cpu].part != TMIGR_PARTS;
}

void tmigr_part_record(struct tmigr_model *m, int cpu, const struct tmigr_rec *rec)
{
	bool told = tmigr_part_seen(m, cpu) && m->cpus[cpu].part != TMIGR_PART_UNKNOWN;

	switch (rec->type) {
	case TMIGR_REC_CPU_ACTIVE:
		set(m, cpu, TMIGR_PART_IDLE, TMIGR_PART_ACTIVE);
		break;
	case TMIGR_REC_CPU_IDLE:
		set(m, cpu, TMIGR_PART_ACTIVE, TMIGR_PART_IDLE);
		break;
	case TMIGR_REC_CPU_AVAILABLE:
		set(m, cpu, TMIGR_PART_OUTSIDE, TMIGR_PART_IDLE);
		break;
	case TMIGR_REC_CPU_UNAVAILABLE:
		set(m, cpu, m->cpus[cpu].snap_part, TMIGR_PART_OUTSIDE);
		break;
	case TMIGR_REC_CPU_NEW_TIMER_IDLE:
		if (!told)
			set(m, cpu, TMIGR_PART_IDLE, TMIGR_PART_IDLE);
		break;
	case TMIGR_REC_SNAP_CPU:
		if (!tmigr_part_seen(m, cpu))
			m->cpus[cpu].snap_part = part_of(rec->flags);
		else if (!told)
			set(m, cpu, part_of(rec->flags), part_of(rec->flags));
		break;
	default:
		break;
	}
}

void tmigr_part_lost(struct tmigr_model *m, int cpu)
{
	if (m->now_ns < m->cfg.start_ns) {
		m->cpus[cpu].snap_part = TMIGR_PART_UNKNOWN;
		return;
	}
	first(m, cpu, m->cpus[cpu].snap_part);
	m->cpus[cpu].part = TMIGR_PART_UNKNOWN;
}

void tmigr_part_finish(struct tmigr_model *m)
{
	for (size_t i = 0; i < m->n_cpus; i++)
		first(m, i, m->cpus[i].snap_part);
}
