// SPDX-License-Identifier: GPL-2.0-or-later
/* The sequencer: events in, records out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sequencer_priv.h"

int tmigr_sequencer_new(const struct tmigr_sequencer_cfg *cfg, struct tmigr_sequencer **ret)
{
	struct tmigr_sequencer *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->cfg = *cfg;
	s->prologue = true;
	s->sorted = true;
	s->last_group = -1;
	s->out = calloc(SEQ_OUT, sizeof(*s->out));
	if (!s->out) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void tmigr_sequencer_free(struct tmigr_sequencer *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_groups; i++)
		free(s->groups[i].queue);
	tmigr_map_free(&s->group_map);
	free(s->groups);
	free(s->cpus);
	free(s->held);
	free(s->out);
	free(s);
}

const struct tmigr_sequencer_stats *tmigr_sequencer_stats(const struct tmigr_sequencer *s)
{
	return &s->stats;
}

struct group *seq_find_group(struct tmigr_sequencer *s, __u64 key)
{
	int idx = tmigr_map_get(&s->group_map, key);

	if (idx < 0) {
		s->err =
			tmigr_grow(&s->groups, &s->cap_groups, s->n_groups + 1, sizeof(*s->groups));
		if (!s->err)
			s->err = tmigr_map_put(&s->group_map, key, (__u32)s->n_groups);
		if (s->err)
			return NULL;
		s->groups[s->n_groups] = (struct group){.key = key, .seq = SEQ_BASE};
		idx = (int)s->n_groups++;
	}
	s->last_group = idx;
	return &s->groups[idx];
}

struct seq_cpu *seq_new_cpu(struct tmigr_sequencer *s, __u32 cpu)
{
	if (cpu > TMIGR_CPU_MAX) {
		s->err = -EINVAL;
		return NULL;
	}
	s->err = tmigr_grow(&s->cpus, &s->cap_cpus, cpu + 1u, sizeof(*s->cpus));
	if (s->err)
		return NULL;
	memset(s->cpus + s->n_cpus, 0, (cpu + 1u - s->n_cpus) * sizeof(*s->cpus));
	s->n_cpus = cpu + 1u;
	return &s->cpus[cpu];
}

/* ---- in ---- */

static bool has_subject(const struct tmigr_traced *ev)
{
	return (ev->type >= TMIGR_TRACED_CPU_ACTIVE && ev->type != TMIGR_TRACED_HANDLE_REMOTE &&
		ev->type <= TMIGR_TRACED_CPU_UNAVAILABLE) ||
	       (ev->type >= TMIGR_TRACED_CONNECT_CPU && ev->type <= TMIGR_TRACED_HOTPLUG_OFFLINE &&
		ev->type != TMIGR_TRACED_CONNECT_CHILD);
}

static bool is_wrong(const struct tmigr_traced *ev)
{
	if (ev->type >= TMIGR_TRACED_TYPES || ev->t_ns > TMIGR_TRACED_NS_MAX)
		return true;
	if (seq_is_update(ev) && !ev->group)
		return true;
	return has_subject(ev) && ev->subject > TMIGR_CPU_MAX;
}

static void count(struct tmigr_sequencer *s, const struct tmigr_traced *ev)
{
	struct tmigr_sequencer_stats *st = &s->stats;

	st->events[ev->type]++;
	st->updates += seq_is_update(ev);
	/* The window is of what was seen. */
	if (ev->type == TMIGR_TRACED_LOST) {
		st->lost += ev->value;
		return;
	}
	/* (A boot's first stamps may be 0.) */
	if (!s->counted || ev->t_ns < st->first_ns)
		st->first_ns = ev->t_ns;
	s->counted = true;
	if (ev->t_ns > st->last_ns)
		st->last_ns = ev->t_ns;
	if (ev->type == TMIGR_TRACED_CPU_IDLE && ev->value != TMIGR_TRACED_IDLE_EXIT &&
	    ev->value < TMIGR_STATES && ev->value >= st->n_states)
		st->n_states = ev->value + 1;
}

static void take_in(struct tmigr_sequencer *s, const struct tmigr_traced *ev)
{
	struct seq_cpu *c = NULL;
	struct held *h;
	__u64 lo_ns = s->stats.last_ns;

	if (is_wrong(ev)) {
		s->err = -EINVAL;
		return;
	}
	if (ev->cpu != TMIGR_TRACED_NO_CPU) {
		c = seq_cpu(s, ev->cpu);
		if (!c)
			return;
		if (c->seen && ev->t_ns < c->last_ns) {
			s->err = -EINVAL;
			return;
		}
		lo_ns = c->last_ns;
		c->seen = true;
		c->last_ns = ev->t_ns;
	}
	if (ev->type == TMIGR_TRACED_OTHER)
		return;
	count(s, ev);
	h = &s->held[s->n_held];
	if (s->n_held > s->n_sorted && ev->t_ns < h[-1].ev.t_ns)
		s->sorted = false;
	/* Also against what is sorted already: a source that was late. */
	if (s->n_held == s->n_sorted && s->n_held > s->front && ev->t_ns < h[-1].ev.t_ns) {
		s->err = -EINVAL;
		return;
	}
	h->ev = *ev;
	h->lo_ns = lo_ns;
	h->seq = 0;
	h->queued = h->overtaken = h->gap = false;
	s->n_held++;
	if (s->prologue) {
		seq_first_event(s, ev);
		if (has_subject(ev) && !seq_cpu(s, ev->subject))
			return;
	}
}

int tmigr_sequencer_feed(struct tmigr_sequencer *s, const struct tmigr_traced *evs, size_t n)
{
	if (!s->err)
		s->err = tmigr_grow(&s->held, &s->cap_held, s->n_held + n, sizeof(*s->held));
	for (size_t i = 0; i < n && !s->err; i++)
		take_in(s, &evs[i]);
	return s->err;
}

/* ---- order ---- */

static int compare(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;

	if (a->ev.t_ns != b->ev.t_ns)
		return a->ev.t_ns < b->ev.t_ns ? -1 : 1;
	return a->ev.cpu < b->ev.cpu ? -1 : a->ev.cpu > b->ev.cpu;
}

/* Merge sort: an event of one CPU stays behind those of it that came before. */
static int sort(struct held *at, size_t n)
{
	struct held *tmp = malloc((n + 1) * sizeof(*tmp));

	if (!tmp)
		return -ENOMEM;
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t i = 0; i < n; i += 2 * width) {
			size_t mid = i + width < n ? i + width : n;
			size_t end = mid + width < n ? mid + width : n;
			size_t a = i, b = mid;

			if (mid == end || compare(&at[mid - 1], &at[mid]) <= 0)
				continue;
			for (size_t k = i; k < end; k++)
				tmp[k] = a < mid && (b == end || compare(&at[a], &at[b]) <= 0)
						 ? at[a++]
						 : at[b++];
			memcpy(at + i, tmp + i, (end - i) * sizeof(*at));
		}
	}
	free(tmp);
	return 0;
}

/* A loss may be of any update of the groups above its CPU. */
static void enqueue_loss(struct tmigr_sequencer *s, __u32 cpu, __u64 number)
{
	__u64 path = cpu < s->n_cpus ? s->cpus[cpu].group : 0;

	for (size_t i = 0; i < s->n_groups && !s->err && !path; i++)
		seq_enqueue(s, &s->groups[i], number);
	for (int i = 0; i < 16 && path && !s->err; i++) {
		struct group *g = seq_group(s, path);

		if (!g)
			return;
		seq_enqueue(s, g, number);
		path = g->parent;
	}
}

/* What has come before the watermark goes into the order of time. */
static void sort_in(struct tmigr_sequencer *s, __u64 watermark_ns)
{
	if (!s->sorted)
		s->err = sort(s->held + s->n_sorted, s->n_held - s->n_sorted);
	s->sorted = true;
	for (; s->n_sorted < s->n_held && !s->err; s->n_sorted++) {
		const struct tmigr_traced *ev = &s->held[s->n_sorted].ev;
		__u64 number = s->first_number + s->n_sorted;

		if (ev->t_ns >= watermark_ns)
			break;
		if (s->prologue)
			seq_learn(s, ev, false);
		if (seq_is_update(ev)) {
			struct group *g = seq_group(s, ev->group);

			if (g)
				seq_enqueue(s, g, number);
		} else if (ev->type == TMIGR_TRACED_LOST) {
			enqueue_loss(s, ev->cpu, number);
		}
	}
}

/* ---- out ---- */

static void release(struct tmigr_sequencer *s, __u64 limit_ns)
{
	while (s->front < s->n_sorted && !s->err) {
		const struct held *h = &s->held[s->front];

		if (h->queued || h->ev.t_ns > limit_ns)
			break;
		seq_out_event(s, h);
		s->front++;
	}
	/* Now and then what is left moves to the front. */
	if (s->front < 4096 || s->front < s->n_held / 2)
		return;
	memmove(s->held, s->held + s->front, (s->n_held - s->front) * sizeof(*s->held));
	s->first_number += s->front;
	s->n_sorted -= s->front;
	s->n_held -= s->front;
	s->front = 0;
}

static void begin(struct tmigr_sequencer *s)
{
	unsigned int *cpus = calloc(s->n_cpus + 1, sizeof(*cpus));
	size_t n = 0;

	if (!cpus) {
		s->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < s->n_held; i++) {
		const struct tmigr_traced *ev = &s->held[i].ev;

		if (has_subject(ev))
			s->cpus[ev->subject].seen = true;
	}
	for (size_t i = 0; i < s->n_cpus; i++)
		if (s->cpus[i].seen)
			cpus[n++] = (unsigned int)i;
	if (s->cfg.begin)
		s->err = s->cfg.begin(s->cfg.arg, s->stats.first_ns, cpus, n);
	free(cpus);
	if (!s->err)
		seq_out_start(s, s->stats.first_ns);
}

static void decide(struct tmigr_sequencer *s, __u64 limit_ns)
{
	for (size_t i = 0; i < s->n_groups; i++)
		seq_decide(s, &s->groups[i], limit_ns);
}

/* Everything at or before @limit_ns can go out. */
static int give_out(struct tmigr_sequencer *s, __u64 limit_ns)
{
	if (!s->err)
		decide(s, limit_ns);
	if (!s->err && s->prologue)
		begin(s);
	s->prologue = false;
	if (!s->err)
		release(s, limit_ns);
	if (!s->err)
		seq_out_clean(s, limit_ns);
	seq_flush(s);
	return s->err;
}

int tmigr_sequencer_advance(struct tmigr_sequencer *s, __u64 watermark_ns)
{
	if (s->err || watermark_ns <= s->watermark_ns)
		return s->err;
	if (s->prologue && s->n_held < s->cfg.prologue_events &&
	    watermark_ns - s->stats.first_ns < s->cfg.prologue_ns)
		return 0;
	s->watermark_ns = watermark_ns;
	sort_in(s, watermark_ns);
	if (watermark_ns <= TMIGR_SEQUENCER_HOLD_NS)
		return s->err;
	return give_out(s, watermark_ns - TMIGR_SEQUENCER_HOLD_NS - 1);
}

int tmigr_sequencer_finish(struct tmigr_sequencer *s)
{
	if (s->err)
		return s->err;
	sort_in(s, (__u64)-1);
	return give_out(s, (__u64)-1);
}
