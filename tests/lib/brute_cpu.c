// SPDX-License-Identifier: GPL-2.0-or-later
/* By brute force: what each CPU was, and whose timers it ran. */
#include "brute_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what a CPU is to timer migration ---- */

static void mark(struct bstream *b, size_t p, __u64 t, unsigned int before, unsigned int part)
{
	for (size_t i = 0; i < b->n_marks; i++)
		if (b->marks[i].part == TMIGR_PARTS)
			b->marks[i].part = before;
	b->marks = brute_more(b->marks, b->n_marks, sizeof(*b->marks));
	b->marks[b->n_marks++] = (struct pmark){t < b->end ? t : b->end, p, part};
}

static unsigned int snapped(const struct tmigr_rec *r)
{
	if (!(r->flags & TMIGR_RF_AVAILABLE))
		return TMIGR_PART_OUTSIDE;
	return r->flags & TMIGR_RF_TMIGR_IDLE ? TMIGR_PART_IDLE : TMIGR_PART_ACTIVE;
}

void brute_parts_of_cpu(struct bstream *b, int cpu)
{
	const struct tmigr_topo_cpu *tc = &b->topo->cpus[cpu];

	unsigned int snap = tc->online ? TMIGR_PART_UNKNOWN : TMIGR_PART_OUTSIDE;

	b->n_marks = 0;
	mark(b, 0, 0, 0, TMIGR_PARTS);
	for (size_t p = 0; p < b->n; p++) {
		const struct tmigr_rec *r = &b->recs[p];
		unsigned int now = b->marks[b->n_marks - 1].part;
		bool dark = now == TMIGR_PARTS || now == TMIGR_PART_UNKNOWN;

		if (r->type == TMIGR_REC_LOST) {
			if (r->cpu == tc->cpu && r->t_ns < b->start)
				snap = TMIGR_PART_UNKNOWN;
			else if (r->cpu == tc->cpu && r->b < b->end)
				mark(b, p, r->t_ns, snap, TMIGR_PART_UNKNOWN);
			continue;
		}
		if (r->b != tc->cpu || (r->t_ns >= b->end && now != TMIGR_PARTS))
			continue;
		if (r->t_ns < b->start && r->type != TMIGR_REC_SNAP_CPU) {
			switch (r->type) {
			case TMIGR_REC_CPU_ACTIVE:
				snap = TMIGR_PART_ACTIVE;
				break;
			case TMIGR_REC_CPU_IDLE:
			case TMIGR_REC_CPU_AVAILABLE:
			case TMIGR_REC_CPU_NEW_TIMER_IDLE:
				snap = TMIGR_PART_IDLE;
				break;
			case TMIGR_REC_CPU_UNAVAILABLE:
				snap = TMIGR_PART_OUTSIDE;
				break;
			}
			continue;
		}
		if (r->type == TMIGR_REC_CPU_ACTIVE)
			mark(b, p, r->t_ns, TMIGR_PART_IDLE, TMIGR_PART_ACTIVE);
		if (r->type == TMIGR_REC_CPU_IDLE)
			mark(b, p, r->t_ns, TMIGR_PART_ACTIVE, TMIGR_PART_IDLE);
		if (r->type == TMIGR_REC_CPU_AVAILABLE)
			mark(b, p, r->t_ns, TMIGR_PART_OUTSIDE, TMIGR_PART_IDLE);
		if (r->type == TMIGR_REC_CPU_UNAVAILABLE)
			mark(b, p, r->t_ns, snap, TMIGR_PART_OUTSIDE);
		if (r->type == TMIGR_REC_CPU_NEW_TIMER_IDLE && dark)
			mark(b, p, r->t_ns, TMIGR_PART_IDLE, TMIGR_PART_IDLE);
		if (r->type == TMIGR_REC_SNAP_CPU && now == TMIGR_PARTS)
			snap = snapped(r);
		else if (r->type == TMIGR_REC_SNAP_CPU && dark)
			mark(b, p, r->t_ns, snapped(r), snapped(r));
	}
	mark(b, b->n, b->end, snap, TMIGR_PART_UNKNOWN);
}

/* It ran from @from to @to, both in the window. */
static void book_parts(struct bstream *b, int cpu, __u64 from, __u64 to)
{
	__u64 *ns = b->out->result.cpus[cpu].running_ns;

	for (size_t i = 0; i + 1 < b->n_marks; i++) {
		__u64 a = b->marks[i].t > from ? b->marks[i].t : from;
		__u64 z = b->marks[i + 1].t < to ? b->marks[i + 1].t : to;

		ns[b->marks[i].part] += z > a ? z - a : 0;
	}
}

/* Record @p tells of records lost since @from, and yet the CPU was told of after that:
 * by another one. */
static bool told_after(const struct bstream *b, size_t p, __u64 from)
{
	for (size_t i = 1; i + 1 < b->n_marks; i++)
		if (b->marks[i].p < p && b->marks[i].t > from)
			return true;
	return false;
}

/* ---- residency ---- */

static void book(struct bstream *b, int cpu, unsigned int slot, __u64 from, __u64 to)
{
	from = from > b->start ? from : b->start;
	to = to < b->end ? to : b->end;
	if (to <= from)
		return;
	b->out->result.cpus[cpu].time_ns[slot] += to - from;
	if (slot == TMIGR_SLOT_RUNNING)
		book_parts(b, cpu, from, to);
}

/* As book(), but that the CPU's records are missing from @to on, says @p. */
static void book_lost(struct bstream *b, int cpu, unsigned int slot, __u64 from, __u64 to, size_t p)
{
	struct tmigr_cpu_figures *f = &b->out->result.cpus[cpu];
	__u64 before[TMIGR_PARTS], ran = f->time_ns[TMIGR_SLOT_RUNNING];

	memcpy(before, f->running_ns, sizeof(before));
	book(b, cpu, slot, from, to);
	if (!told_after(b, p, to))
		return;
	memcpy(f->running_ns, before, sizeof(before));
	f->running_ns[TMIGR_PART_UNKNOWN] += f->time_ns[TMIGR_SLOT_RUNNING] - ran;
}

struct idle {
	bool seen, start_seen;
	unsigned int slot;
	__u64 since, start;
};

/* The CPU is in @slot from @t on; if nothing was known, it had been in @before. */
static void turn(struct bstream *b, int cpu, struct idle *s, __u64 t, unsigned int before,
		 unsigned int slot)
{
	book(b, cpu, s->seen ? s->slot : before, s->since, t);
	s->seen = true;
	s->since = t;
	s->slot = slot;
	if (t >= b->end)
		return;
	b->changes = brute_more(b->changes, b->n_changes, sizeof(*b->changes));
	b->changes[b->n_changes++] = (struct change){t, SLOT_IS, cpu, slot, 0};
}

static unsigned int slot_of(__u64 state)
{
	return state < TMIGR_STATES ? TMIGR_SLOT_STATE0 + state : TMIGR_SLOT_UNKNOWN;
}

static unsigned int log2_bucket(__u64 ns)
{
	unsigned int k = 0;

	while (ns > 1) {
		ns /= 2;
		k++;
	}
	return k < TMIGR_HIST_BUCKETS ? k : TMIGR_HIST_BUCKETS - 1;
}

static void interval_over(struct bstream *b, int cpu, struct idle *s, __u64 t)
{
	if (s->start_seen && t >= b->start && t < b->end)
		b->out->result.cpus[cpu].hist[s->slot][log2_bucket(t - s->start)]++;
	s->start_seen = false;
}

void brute_idle_of_cpu(struct bstream *b, int cpu)
{
	struct tmigr_cpu_figures *f = &b->out->result.cpus[cpu];
	const struct tmigr_topo_cpu *tc = &b->topo->cpus[cpu];
	struct idle s = {.seen = !tc->online, .slot = TMIGR_SLOT_OFFLINE};

	for (size_t p = 0; p < b->n; p++) {
		const struct tmigr_rec *r = &b->recs[p];
		bool in = r->t_ns >= b->start && r->t_ns < b->end;
		unsigned int slot = slot_of(r->a);

		if (r->t_ns >= b->end && s.seen && r->type != TMIGR_REC_LOST)
			continue;
		if (r->type == TMIGR_REC_IDLE_ENTER && r->cpu == tc->cpu) {
			interval_over(b, cpu, &s, r->t_ns);
			turn(b, cpu, &s, r->t_ns, TMIGR_SLOT_RUNNING, slot);
			s.start_seen = true;
			s.start = r->t_ns;
			f->entries[slot] += in;
		} else if (r->type == TMIGR_REC_IDLE_EXIT && r->cpu == tc->cpu) {
			interval_over(b, cpu, &s, r->t_ns);
			turn(b, cpu, &s, r->t_ns, TMIGR_SLOT_UNKNOWN, TMIGR_SLOT_RUNNING);
		} else if (r->type == TMIGR_REC_IDLE_MISS && r->cpu == tc->cpu && in) {
			(r->b ? f->below : f->above)[slot]++;
		} else if (r->type == TMIGR_REC_CPU_ONLINE && r->b == tc->cpu) {
			if (!s.seen || s.slot == TMIGR_SLOT_OFFLINE)
				turn(b, cpu, &s, r->t_ns, TMIGR_SLOT_OFFLINE, TMIGR_SLOT_RUNNING);
		} else if (r->type == TMIGR_REC_CPU_OFFLINE && r->b == tc->cpu) {
			turn(b, cpu, &s, r->t_ns, TMIGR_SLOT_RUNNING, TMIGR_SLOT_OFFLINE);
			s.start_seen = false;
		} else if (r->type == TMIGR_REC_SNAP_IDLE && r->b == tc->cpu) {
			if (r->a == TMIGR_STATE_RUNNING)
				slot = TMIGR_SLOT_RUNNING;
			if (slot == TMIGR_SLOT_UNKNOWN || (s.seen && s.slot != TMIGR_SLOT_UNKNOWN))
				continue;
			turn(b, cpu, &s, r->t_ns, slot, slot);
			s.start_seen = false;
		} else if (r->type == TMIGR_REC_LOST && r->cpu == tc->cpu && r->b < b->end) {
			__u64 t = r->t_ns < b->end ? r->t_ns : b->end;

			book_lost(b, cpu, s.seen ? s.slot : TMIGR_SLOT_UNKNOWN, s.since, r->b, p);
			s.since = r->b > s.since ? r->b : s.since;
			s.seen = true;
			s.slot = TMIGR_SLOT_UNKNOWN;
			turn(b, cpu, &s, t, 0, TMIGR_SLOT_UNKNOWN);
			s.start_seen = false;
		}
	}
	book(b, cpu, s.seen ? s.slot : TMIGR_SLOT_UNKNOWN, s.since, b->end);
}

/* ---- remote expiries ---- */

static struct tmigr_remote *remote_of(struct tmigr_result *res, unsigned int executor,
				      unsigned int target)
{
	size_t at = 0;

	while (at < res->n_remote &&
	       (res->remote[at].executor < executor ||
		(res->remote[at].executor == executor && res->remote[at].target < target)))
		at++;
	if (at < res->n_remote && res->remote[at].executor == executor &&
	    res->remote[at].target == target)
		return &res->remote[at];
	res->remote = realloc(res->remote, (res->n_remote + 1) * sizeof(*res->remote));
	memmove(res->remote + at + 1, res->remote + at,
		(res->n_remote - at) * sizeof(*res->remote));
	res->n_remote++;
	res->remote[at] = (struct tmigr_remote){.executor = executor, .target = target};
	return &res->remote[at];
}

static bool tells_idle(const struct tmigr_rec *r, unsigned int cpu)
{
	switch (r->type) {
	case TMIGR_REC_IDLE_ENTER:
	case TMIGR_REC_IDLE_EXIT:
		return r->cpu == cpu;
	case TMIGR_REC_CPU_ONLINE:
	case TMIGR_REC_CPU_OFFLINE:
		return r->b == cpu;
	case TMIGR_REC_SNAP_IDLE:
		return r->b == cpu && (r->a < TMIGR_STATES || r->a == TMIGR_STATE_RUNNING);
	default:
		return false;
	}
}

/* Whether the snapshot @p of an idle state was news: nothing told it before, or
 * that was lost. */
static bool is_news(const struct bstream *b, size_t p, unsigned int cpu)
{
	while (p-- > 0) {
		if (b->recs[p].type == TMIGR_REC_LOST && b->recs[p].cpu == cpu)
			return true;
		if (tells_idle(&b->recs[p], cpu))
			return false;
	}
	return b->topo->cpus[brute_index(b->topo, cpu)].online;
}

/* State of the idle interval that record @p of a CPU ended, or -1: that another
 * expiry did; found by reading backwards. */
static int ended_interval(const struct bstream *b, size_t p)
{
	unsigned int cpu = b->recs[p].cpu;

	while (p-- > 0) {
		const struct tmigr_rec *r = &b->recs[p];

		/* nothing idled since it came up */
		if (r->type == TMIGR_REC_CPU_OFFLINE && r->b == cpu)
			return -1;
		if (r->type == TMIGR_REC_LOST && r->cpu == cpu)
			return TMIGR_SLOT_UNKNOWN;
		if (r->type == TMIGR_REC_HANDLE_REMOTE_CPU && r->cpu == cpu &&
		    r->flags & TMIGR_RF_IDLE_TASK)
			return -1;
		if (r->type == TMIGR_REC_IDLE_ENTER && r->cpu == cpu)
			return slot_of(r->a);
		if (r->type == TMIGR_REC_SNAP_IDLE && r->b == cpu && r->a < TMIGR_STATES &&
		    is_news(b, p, cpu))
			return slot_of(r->a);
	}
	return b->topo->cpus[brute_index(b->topo, cpu)].online ? TMIGR_SLOT_UNKNOWN : -1;
}

void brute_remotes(struct bstream *b)
{
	for (size_t p = 0; p < b->n; p++) {
		const struct tmigr_rec *r = &b->recs[p];
		struct tmigr_remote *e;
		int slot;

		if (r->type != TMIGR_REC_HANDLE_REMOTE_CPU || r->t_ns < b->start ||
		    r->t_ns >= b->end)
			continue;
		e = remote_of(&b->out->result, r->cpu, r->b);
		e->count++;
		slot = r->flags & TMIGR_RF_IDLE_TASK ? ended_interval(b, p) : -1;
		if (slot >= 0)
			e->woke[slot]++;
	}
}
