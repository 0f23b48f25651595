// SPDX-License-Identifier: GPL-2.0-or-later
#include "brute.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "brute_internal.h"

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

static void parts_of_cpu(struct bstream *b, int cpu)
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

static void idle_of_cpu(struct bstream *b, int cpu)
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

static void remotes(struct bstream *b)
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

/* ---- roots ---- */

struct verdict {
	enum tmigr_regime regime;
	int cpu; /* index */
	unsigned int slot;
	bool avoidable, unsure;
};

static bool blurred(const struct bstream *b, int root, int group, __u64 x)
{
	for (size_t i = 0; i < b->n_blurs; i++)
		if (b->blurs[i].root == root && b->blurs[i].group == group &&
		    b->blurs[i].from <= x && x < b->blurs[i].to)
			return true;
	return false;
}

static bool all_blurred(const struct bstream *b, int root, __u64 x)
{
	for (size_t i = 0; i < b->n_blurs; i++)
		if (b->blurs[i].root == root && b->blurs[i].from <= x && x < b->blurs[i].to &&
		    x < b->blurs[i].shape)
			return true;
	return false;
}

/* @cpu -1: of any CPU that is, or may be, below @root */
static bool records_missing(const struct bstream *b, int cpu, int root, __u64 x)
{
	for (size_t i = 0; i < b->n_gaps; i++) {
		const struct gap *g = &b->gaps[i];

		if (g->from <= x && x < g->to &&
		    (cpu < 0 ? g->root < 0 || g->root == root : g->cpu == cpu))
			return true;
	}
	return false;
}

static enum tmigr_regime nobody(const struct bstream *b, const struct bstate *s, int root, __u64 x)
{
	bool unknown = false;

	if (records_missing(b, -1, root, x))
		return TMIGR_UNKNOWN;
	for (size_t i = 0; i < b->topo->n_cpus; i++) {
		const struct bcpu *c = &s->cpus[i];
		int r = brute_root_of(s, c->group);

		if (r == root && c->duty == SET)
			return TMIGR_DUTY;
		if (r == root && c->duty == UNSET)
			unknown = true;
		if (r < 0 && c->play && c->duty != NONE)
			unknown = true;
	}
	return unknown ? TMIGR_UNKNOWN : TMIGR_FREE;
}

/* Class @a is below class @b: by capacity; where all classes have the same one, a class
 * called LITTLE is below all that are not, and one called big above. */
static bool below(const struct tmigr_topology *topo, unsigned int a, unsigned int b)
{
	const struct tmigr_class *x = &topo->classes[a], *y = &topo->classes[b];
	bool differ = false;

	for (size_t i = 0; i < topo->n_classes; i++)
		for (size_t k = 0; k < i; k++)
			differ |= topo->classes[i].capacity != topo->classes[k].capacity;
	if (differ)
		return x->capacity < y->capacity;
	if (!strcasecmp(x->name, "LITTLE"))
		return strcasecmp(y->name, "LITTLE") != 0;
	return !strcasecmp(y->name, "big") && strcasecmp(x->name, "big") != 0;
}

static void judge_holder(const struct bstream *b, const struct bstate *s, int root, __u64 x,
			 struct verdict *v)
{
	const struct tmigr_topology *topo = b->topo;
	unsigned int class_idx = topo->cpus[v->cpu].class_idx;

	v->regime = TMIGR_HELD;
	v->slot = records_missing(b, v->cpu, root, x) ? (unsigned int)TMIGR_SLOT_UNKNOWN
						      : s->cpus[v->cpu].slot;
	for (size_t i = 0; i < topo->n_cpus; i++) {
		const struct bcpu *c = &s->cpus[i];
		int r = brute_root_of(s, c->group);

		bool guess = topo->cpus[i].class_guessed || topo->cpus[v->cpu].class_guessed;

		if ((int)i == v->cpu)
			continue;
		if (!guess && !below(topo, topo->cpus[i].class_idx, class_idx))
			continue;
		if (r < 0 && c->play)
			v->unsure = true;
		if (r != root)
			continue;
		if (!s->groups[c->group].known || blurred(b, root, c->group, x))
			v->unsure = true;
		else if (tmigr_word_active(s->groups[c->group].word) & c->mask) {
			v->avoidable |= !guess;
			v->unsure |= guess;
		}
	}
}

static struct verdict judge(const struct bstream *b, const struct bstate *s, int root, __u64 x)
{
	struct verdict v = {.regime = TMIGR_UNKNOWN, .cpu = -1};
	int group;

	if (root < 0 || s->roots[root].dead || !s->groups[s->roots[root].top].learnt ||
	    all_blurred(b, root, x))
		return v;
	for (group = s->roots[root].top; group >= 0;) {
		const struct bgroup *g = &s->groups[group];
		__u8 migrator = tmigr_word_migrator(g->word);

		if (!g->known || blurred(b, root, group, x))
			return v;
		if (migrator == TMIGR_NO_MIGRATOR) {
			v.regime = group == s->roots[root].top ? nobody(b, s, root, x)
							       : TMIGR_HANDOVER;
			return v;
		}
		v.cpu = g->child_cpu[__builtin_ctz(migrator)];
		if (v.cpu >= 0) {
			judge_holder(b, s, root, x, &v);
			return v;
		}
		group = g->child_group[__builtin_ctz(migrator)];
	}
	return v;
}

static struct tmigr_holder *holder_of(struct tmigr_root_figures *f, unsigned int cpu)
{
	size_t at = 0;

	while (at < f->n_holders && f->holders[at].cpu < cpu)
		at++;
	if (at < f->n_holders && f->holders[at].cpu == cpu)
		return &f->holders[at];
	f->holders = realloc(f->holders, (f->n_holders + 1) * sizeof(*f->holders));
	memmove(f->holders + at + 1, f->holders + at, (f->n_holders - at) * sizeof(*f->holders));
	f->n_holders++;
	f->holders[at] = (struct tmigr_holder){.cpu = cpu};
	return &f->holders[at];
}

static void add_verdict(struct bstream *b, unsigned int order, const struct verdict *v, __u64 from,
			__u64 to)
{
	struct tmigr_root_figures *f = &b->out->result.roots[order];
	int cpu = v->regime == TMIGR_HELD ? (int)b->topo->cpus[v->cpu].cpu : -1;
	struct tmigr_segment *s = NULL;
	struct tmigr_holder *h;

	f->regime_ns[v->regime] += to - from;
	if (cpu >= 0) {
		h = holder_of(f, cpu);
		h->held_ns += to - from;
		h->slot_ns[v->slot] += to - from;
		if (v->avoidable)
			h->avoidable_ns += to - from;
		else if (v->unsure)
			h->avoidable_unknown_ns += to - from;
	}
	for (size_t i = b->out->n_segs; i-- > 0 && !s;)
		if (b->out->segs[i].root == order)
			s = &b->out->segs[i];
	if (s && s->regime == v->regime && s->cpu == cpu) {
		s->end_ns = to;
		return;
	}
	b->out->segs = brute_more(b->out->segs, b->out->n_segs, sizeof(*s));
	b->out->segs[b->out->n_segs++] = (struct tmigr_segment){order, v->regime, cpu, from, to};
}

static void count_holdings(struct brute *out)
{
	for (size_t i = 0; i < out->n_segs; i++) {
		const struct tmigr_segment *s = &out->segs[i];
		struct tmigr_holder *h;

		if (s->regime != TMIGR_HELD)
			continue;
		h = holder_of(&out->result.roots[s->root], s->cpu);
		h->holdings++;
		if (s->end_ns - s->start_ns > h->longest_ns)
			h->longest_ns = s->end_ns - s->start_ns;
	}
}

static int compare_u64(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

/* All moments at which anything changes, and the window's ends. */
static size_t moments(const struct bstream *b, __u64 **ret)
{
	__u64 *t = calloc(b->n_changes + 3 * b->n_blurs + 2 * b->n_gaps + 2, sizeof(*t));
	size_t n = 0;

	t[n++] = b->start;
	t[n++] = b->end;
	for (size_t i = 0; i < b->n_changes; i++)
		t[n++] = b->changes[i].t;
	for (size_t i = 0; i < b->n_blurs; i++) {
		t[n++] = b->blurs[i].from;
		t[n++] = b->blurs[i].to;
		t[n++] = b->blurs[i].shape;
	}
	for (size_t i = 0; i < b->n_gaps; i++) {
		t[n++] = b->gaps[i].from;
		t[n++] = b->gaps[i].to;
	}
	qsort(t, n, sizeof(*t), compare_u64);
	*ret = t;
	return n;
}

static void sort_changes(struct bstream *b)
{
	/* two runs, each by time: insertion keeps what is equal in order */
	for (size_t i = 1; i < b->n_changes; i++) {
		struct change c = b->changes[i];
		size_t at = i;

		while (at > 0 && b->changes[at - 1].t > c.t) {
			b->changes[at] = b->changes[at - 1];
			at--;
		}
		b->changes[at] = c;
	}
}

static void judge_all(struct bstream *b)
{
	struct bstate s;
	__u64 *t;
	size_t n = moments(b, &t), at = 0;

	brute_state_init(&s, b->topo, b->state.n_groups);
	memcpy(s.groups, b->state.groups, b->state.n_groups * sizeof(*s.groups));
	s.n_groups = b->state.n_groups;
	for (size_t i = 0; i < s.n_groups; i++) {
		s.groups[i].parent = -1;
		s.groups[i].learnt = s.groups[i].known = false;
		for (int k = 0; k < 8; k++)
			s.groups[i].child_cpu[k] = s.groups[i].child_group[k] = -1;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		for (; at < b->n_changes && b->changes[at].t <= t[i]; at++)
			brute_apply(&s, b->topo, &b->changes[at]);
		if (t[i] == t[i + 1] || t[i] < b->start || t[i] >= b->end)
			continue;
		for (size_t k = 0; k < b->state.n_roots; k++) {
			int root = k < s.n_roots ? (int)k : -1;
			struct verdict v;

			if (b->state.roots[k].order < 0)
				continue;
			v = judge(b, &s, root, t[i]);
			add_verdict(b, b->state.roots[k].order, &v, t[i], t[i + 1]);
		}
	}
	free(t);
	brute_state_free(&s);
}

/* ---- the whole ---- */

static int rank(const struct tmigr_rec *r)
{
	if (r->type == TMIGR_REC_NODE_GROUP || r->type == TMIGR_REC_NODE_CPU)
		return 0;
	return r->type == TMIGR_REC_SNAP_IDLE ? 2 : 1;
}

static bool before(const struct tmigr_rec *a, const struct tmigr_rec *b)
{
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns;
	if (rank(a) != rank(b))
		return rank(a) < rank(b);
	return a->cpu < b->cpu;
}

static void sort_records(struct bstream *b)
{
	for (size_t i = 1; i < b->n; i++) {
		struct tmigr_rec r = b->recs[i];
		size_t at = i;

		while (at > 0 && before(&r, &b->recs[at - 1])) {
			b->recs[at] = b->recs[at - 1];
			at--;
		}
		b->recs[at] = r;
	}
}

/* At least as many as there are groups in the records. */
static size_t count_groups(const struct bstream *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct tmigr_rec *r = &b->recs[i];
		size_t k = 0;

		if (r->type != TMIGR_REC_GROUP_ACTIVE && r->type != TMIGR_REC_GROUP_INACTIVE &&
		    (r->type < TMIGR_REC_NODE_GROUP || r->type > TMIGR_REC_SNAP_GROUP))
			continue;
		while (k < i && b->recs[k].a != r->a)
			k++;
		n += k == i;
		n += r->type == TMIGR_REC_NODE_GROUP && r->b;
	}
	return n;
}

void brute_run(const struct tmigr_topology *topo, const struct tmigr_rec *recs, size_t n,
	       __u64 start_ns, __u64 end_ns, struct brute *ret)
{
	struct bstream b = {.topo = topo, .n = n, .start = start_ns, .end = end_ns, .out = ret};

	memset(ret, 0, sizeof(*ret));
	ret->result.start_ns = start_ns;
	ret->result.end_ns = end_ns;
	ret->result.n_cpus = topo->n_cpus;
	ret->result.cpus = calloc(topo->n_cpus, sizeof(*ret->result.cpus));
	b.recs = malloc((n + 1) * sizeof(*recs));
	memcpy(b.recs, recs, n * sizeof(*recs));
	b.used = calloc(n + 1, sizeof(*b.used));
	b.due = malloc(topo->n_cpus * sizeof(*b.due));
	for (size_t i = 0; i < topo->n_cpus; i++) {
		b.due[i] = -1;
		ret->result.cpus[i].cpu = topo->cpus[i].cpu;
	}
	sort_records(&b);
	brute_state_init(&b.state, topo, count_groups(&b));
	brute_stream(&b);
	for (size_t i = 0; i < topo->n_cpus; i++) {
		parts_of_cpu(&b, i);
		idle_of_cpu(&b, i);
	}
	sort_changes(&b);
	remotes(&b);
	for (size_t p = 0; p < n; p++)
		ret->result.records += b.recs[p].type < TMIGR_REC_NODE_GROUP &&
				       b.recs[p].t_ns >= start_ns && b.recs[p].t_ns < end_ns;
	ret->result.n_roots = b.state.n_orders;
	ret->result.roots = calloc(b.state.n_orders + 1, sizeof(*ret->result.roots));
	judge_all(&b);
	count_holdings(ret);
	brute_state_free(&b.state);
	free(b.recs);
	free(b.used);
	free(b.due);
	free(b.changes);
	free(b.marks);
	free(b.blurs);
	free(b.gaps);
}

void brute_free(struct brute *b)
{
	for (size_t i = 0; i < b->result.n_roots; i++)
		free(b->result.roots[i].holders);
	free(b->result.roots);
	free(b->result.remote);
	free(b->result.cpus);
	free(b->segs);
}
