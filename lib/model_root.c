// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who has the migrator of each root.
 *
 * The regime at an instant, from what is known at it:
 *   Start at the root and follow `migrator` down.  A CPU: held.  "None" below
 *   the root: hand-over.  A word not known, a child not known, a root that no
 *   NODE_GROUP told of: unknown.  "None" at the root: duty if any CPU of the
 *   root is known to have a duty; else undecided if a CPU's duty is due; else
 *   unknown if the duty of any CPU that is, or may be, below the root is not
 *   known; else free.
 *   A CPU in no known place may be below any root while it is in play: not
 *   offline, not unavailable.  Of such a CPU only "no duty" is of any use.
 *
 * A duty is due from the update that makes the root say "none" until the
 * CPU_IDLE of the CPU that recorded it.  That CPU_IDLE is dated back: undecided
 * time in which one of those due turns out to have a duty was duty; if none
 * has, free, or unknown if it would be unknown without them.  CPU_UNAVAILABLE
 * tells that there is none; anything else that sets the CPU's duty, a LOST,
 * and the end of the window leave it unknown.
 *
 * Avoidable: a CPU of a class with lower capacity, below the same root, is
 * tmigr-active; not known: none is, but of one it is not known.  CPUs whose class
 * is a guess are in a class of their own behind all others, of which nobody
 * knows whether it is lower than any.
 *
 * Loss.  A word is blurred from the first moment at which an update may have
 * been lost until the record that shows it: from the latest of
 *   - its last accepted update, or snapshot that confirmed it;
 *   - the last CLEAN, or, if a LOST told that records of a CPU of the same
 *     hierarchy are missing since, the first of these.
 * While a word is blurred it counts as not known, in the rules above.  A blur
 * that reaches back behind the last change of what is linked below the root
 * makes all of the root's time before that change unknown.
 * A LOST of CPU c, over the time in which its records are missing: c's idle
 * state while it holds is unknown; so is "nobody", in c's root.  After it, c's
 * duty and state are unknown until told; so is every duty of another CPU of the
 * hierarchy, because c may have expired that CPU's timers, which ends a duty
 * (but never gives one: "no duty" stands).  All words of c's hierarchy (all that
 * there are when c's place is not known) are suspect until their next update
 * or snapshot; those that are still at the end are blurred until the end.
 */
#include <errno.h>
#include <stdlib.h>

#include "model_internal.h"

int tmigr_root_new(struct tmigr_model *m, int top)
{
	size_t n_classes = m->cfg.topo->n_classes + 1;
	struct tmigr_root *r;

	m->err = tmigr_grow(&m->roots, &m->cap_roots, m->n_roots + 1, sizeof(*m->roots));
	if (m->err)
		return -1;
	r = &m->roots[m->n_roots];
	*r = (struct tmigr_root){.top = top, .order = -1, .shape_ns = m->now_ns};
	r->n_active = calloc(n_classes, sizeof(*r->n_active));
	r->n_dark = calloc(n_classes, sizeof(*r->n_dark));
	r->holder_of_cpu = malloc((m->n_cpus + 1) * sizeof(*r->holder_of_cpu));
	if (!r->n_active || !r->n_dark || !r->holder_of_cpu) {
		tmigr_root_free(r);
		m->err = -ENOMEM;
		return -1;
	}
	for (size_t i = 0; i < m->n_cpus; i++)
		r->holder_of_cpu[i] = -1;
	tmigr_log_push(m, r, (struct tmigr_piece){.regime = TMIGR_UNKNOWN, .cpu = -1, .group = -1});
	if (m->err) {
		tmigr_root_free(r);
		return -1;
	}
	return m->n_roots++;
}

void tmigr_root_free(struct tmigr_root *r)
{
	free(r->n_active);
	free(r->n_dark);
	free(r->holder_of_cpu);
	free(r->log);
	free(r->holders);
}

/* ---- counters ---- */

static void count_stray(struct tmigr_model *m, const struct tmigr_mcpu *c, int sign)
{
	if (!c->in_play)
		return;
	m->n_stray[c->class_idx] += sign;
	if (c->duty != TMIGR_DUTY_NONE)
		m->n_stray_duty += sign;
}

void tmigr_root_count_cpu(struct tmigr_model *m, int cpu, int sign)
{
	const struct tmigr_mcpu *c = &m->cpus[cpu];
	const struct tmigr_group *g;
	struct tmigr_root *r;

	if (c->root < 0) {
		count_stray(m, c, sign);
		return;
	}
	r = &m->roots[c->root];
	g = &m->groups[c->group];
	if (!g->known || !c->mask)
		r->n_dark[c->class_idx] += sign;
	else if (tmigr_word_active(g->word) & c->mask)
		r->n_active[c->class_idx] += sign;
	if (c->duty == TMIGR_DUTY_SET)
		r->n_duty += sign;
	else if (c->duty == TMIGR_DUTY_PENDING)
		r->n_pending += sign;
	else if (c->duty == TMIGR_DUTY_UNKNOWN)
		r->n_unknown += sign;
}

/* ---- the present regime ---- */

static void resolve_nobody(const struct tmigr_model *m, const struct tmigr_root *r,
			   struct tmigr_piece *p)
{
	bool unknown = r->n_unknown || r->foreign || m->n_stray_duty;

	if (r->n_duty) {
		p->regime = TMIGR_DUTY;
	} else if (r->n_pending) {
		p->regime = TMIGR_UNDECIDED;
		p->n_pending = r->n_pending;
		p->else_unknown = unknown;
	} else {
		p->regime = unknown ? TMIGR_UNKNOWN : TMIGR_FREE;
	}
}

static bool guessed(const struct tmigr_model *m, int cpu)
{
	return m->cpus[cpu].class_idx == m->cfg.topo->n_classes;
}

/* How many CPUs below @r that are, or may be, active may be of a lower class than
 * @cpu: those of a guessed class; all others when its own is guessed. */
static int guessed_lower(const struct tmigr_model *m, const struct tmigr_root *r, int cpu)
{
	unsigned int n_classes = m->cfg.topo->n_classes;
	const struct tmigr_mcpu *c = &m->cpus[cpu];
	int n = 0;

	for (unsigned int i = guessed(m, cpu) ? 0 : n_classes; i <= n_classes; i++)
		n += r->n_active[i] + r->n_dark[i] + m->n_stray[i];
	if (guessed(m, cpu) && tmigr_word_active(m->groups[c->group].word) & c->mask)
		n--; /* itself */
	return n;
}

static void resolve_held(const struct tmigr_model *m, const struct tmigr_root *r,
			 struct tmigr_piece *p, int cpu)
{
	unsigned int n = m->lower_classes[m->cpus[cpu].class_idx];

	p->regime = TMIGR_HELD;
	p->cpu = cpu;
	p->slot = m->cpus[cpu].slot;
	for (unsigned int i = 0; i < n; i++) {
		p->n_active += r->n_active[i];
		p->n_unknown += r->n_dark[i] + m->n_stray[i];
	}
	p->n_unknown += guessed_lower(m, r, cpu);
}

static void resolve(const struct tmigr_model *m, const struct tmigr_root *r, struct tmigr_piece *p)
{
	int group = r->top;

	*p = (struct tmigr_piece){.regime = TMIGR_UNKNOWN, .cpu = -1, .group = -1};
	if (r->dead || !m->groups[group].learnt)
		return;
	while (group >= 0 && m->groups[group].known) {
		const struct tmigr_group *g = &m->groups[group];
		__u8 migrator = tmigr_word_migrator(g->word);
		int bit;

		p->group = group;
		if (migrator == TMIGR_NO_MIGRATOR) {
			if (group == r->top)
				resolve_nobody(m, r, p);
			else
				p->regime = TMIGR_HANDOVER;
			return;
		}
		if (!migrator || migrator & (migrator - 1))
			return;
		bit = __builtin_ctz(migrator);
		if (g->child_cpu[bit] >= 0) {
			resolve_held(m, r, p, g->child_cpu[bit]);
			return;
		}
		group = g->child_group[bit];
	}
}

static bool same(const struct tmigr_piece *a, const struct tmigr_piece *b)
{
	return a->regime == b->regime && a->cpu == b->cpu &&
	       (a->group == b->group || a->regime == TMIGR_UNKNOWN) && a->slot == b->slot &&
	       a->n_active == b->n_active && a->n_unknown == b->n_unknown &&
	       a->n_pending == b->n_pending && a->else_unknown == b->else_unknown;
}

/* Looks at the root again and starts a piece if anything is different. */
void tmigr_root_update(struct tmigr_model *m, int root)
{
	struct tmigr_root *r = &m->roots[root];
	struct tmigr_piece *last = &r->log[r->n_log - 1], p;

	resolve(m, r, &p);
	if (same(&p, last))
		return;
	p.start_ns = m->now_ns;
	if (last->start_ns >= m->now_ns) {
		p.start_ns = last->start_ns;
		*last = p;
	} else {
		tmigr_log_push(m, r, p);
	}
}

void tmigr_root_update_all(struct tmigr_model *m)
{
	for (size_t i = 0; i < m->n_roots; i++)
		tmigr_root_update(m, i);
}

/* A CPU's share in the counters changed. */
static void update_of(struct tmigr_model *m, int cpu)
{
	if (m->cpus[cpu].root >= 0)
		tmigr_root_update(m, m->cpus[cpu].root);
	else
		tmigr_root_update_all(m);
}

enum tmigr_regime tmigr_root_present(const struct tmigr_model *m, int root, int *ret_cpu)
{
	struct tmigr_piece p;

	resolve(m, &m->roots[root], &p);
	*ret_cpu = p.cpu >= 0 ? (int)m->cpus[p.cpu].cpu : -1;
	return p.regime == TMIGR_UNDECIDED ? TMIGR_UNKNOWN : p.regime;
}

/* ---- idle state of the holder ---- */

void tmigr_root_slot(struct tmigr_model *m, int cpu)
{
	int root = m->cpus[cpu].root;

	if (root < 0)
		return;
	if (m->roots[root].log[m->roots[root].n_log - 1].cpu == cpu)
		tmigr_root_update(m, root);
}

/* ---- duty ---- */

/* The duty of @c that was due in these pieces is @was. */
static void decide(struct tmigr_root *r, const struct tmigr_mcpu *c, enum tmigr_duty was)
{
	for (size_t i = r->n_log; i-- > 0 && r->log[i].start_ns >= c->pending_ns;) {
		struct tmigr_piece *p = &r->log[i];

		if (p->regime != TMIGR_UNDECIDED)
			continue;
		p->n_pending--;
		if (was == TMIGR_DUTY_UNKNOWN)
			p->else_unknown = true;
		if (was == TMIGR_DUTY_SET)
			p->regime = TMIGR_DUTY;
		else if (!p->n_pending)
			p->regime = p->else_unknown ? TMIGR_UNKNOWN : TMIGR_FREE;
		else
			continue;
		p->n_pending = 0;
		p->else_unknown = false;
	}
}

/* Sets a CPU's duty; @was is what it had while it was due, if it was. */
void tmigr_root_duty(struct tmigr_model *m, int cpu, enum tmigr_duty duty, __u64 wakeup_ns,
		     enum tmigr_duty was)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];

	c->wakeup_ns = wakeup_ns;
	if (c->duty == duty && duty != TMIGR_DUTY_PENDING)
		return;
	if (c->duty == TMIGR_DUTY_PENDING && c->root >= 0)
		decide(&m->roots[c->root], c, was);
	tmigr_root_count_cpu(m, cpu, -1);
	c->duty = duty;
	tmigr_root_count_cpu(m, cpu, 1);
	if (duty == TMIGR_DUTY_PENDING) {
		/* a new set of CPUs is due: a piece of its own */
		c->pending_ns = m->now_ns;
		tmigr_log_cut(m, &m->roots[c->root], m->now_ns);
	}
	update_of(m, cpu);
}

/* An update that CPU number @cpu recorded left @group without migrator. */
void tmigr_root_none(struct tmigr_model *m, int group, __u64 cpu)
{
	int root = m->groups[group].root, idx = tmigr_model_cpu(m, cpu);

	if (root < 0 || m->roots[root].top != group)
		return;
	if (idx < 0)
		m->roots[root].foreign = true;
	else if (m->cpus[idx].root == root)
		tmigr_root_duty(m, idx, TMIGR_DUTY_PENDING, TMIGR_KTIME_MAX, TMIGR_DUTY_UNKNOWN);
	else if (m->cpus[idx].root < 0)
		tmigr_root_duty(m, idx, TMIGR_DUTY_UNKNOWN, TMIGR_KTIME_MAX, TMIGR_DUTY_UNKNOWN);
}

void tmigr_root_in_play(struct tmigr_model *m, int cpu, bool in_play)
{
	struct tmigr_mcpu *c = &m->cpus[cpu];

	if (c->in_play == in_play)
		return;
	tmigr_root_count_cpu(m, cpu, -1);
	c->in_play = in_play;
	tmigr_root_count_cpu(m, cpu, 1);
	if (c->root < 0)
		tmigr_root_update_all(m);
}

/* ---- loss ---- */

static void make_unknown(struct tmigr_piece *p)
{
	*p = (struct tmigr_piece){
		.start_ns = p->start_ns, .regime = TMIGR_UNKNOWN, .cpu = -1, .group = -1};
}

/* The children of a level-0 group no longer tell whether they are active. */
static void blur_avoidable(const struct tmigr_model *m, const struct tmigr_group *g,
			   struct tmigr_piece *p)
{
	unsigned int n_lower = m->lower_classes[m->cpus[p->cpu].class_idx];

	for (int i = 0; i < TMIGR_CHILDREN; i++) {
		bool active = tmigr_word_active(g->word) >> i & 1;

		if (g->child_cpu[i] < 0)
			continue;
		if (guessed(m, g->child_cpu[i]) || guessed(m, p->cpu)) {
			p->n_unknown += !active; /* else it is counted */
		} else if (m->cpus[g->child_cpu[i]].class_idx < n_lower) {
			p->n_active -= active;
			p->n_unknown++;
		}
	}
}

/* The word that @group has still was not certain from @from_ns until now. */
void tmigr_root_blur(struct tmigr_model *m, int group, __u64 from_ns)
{
	struct tmigr_group *g = &m->groups[group];
	struct tmigr_root *r;

	if (g->root < 0 || from_ns >= m->now_ns)
		return;
	r = &m->roots[g->root];
	tmigr_log_cut(m, r, m->now_ns);
	tmigr_log_cut(m, r, from_ns);
	tmigr_log_cut(m, r, r->shape_ns);
	for (size_t i = tmigr_log_find(r, from_ns); i < r->n_log; i++) {
		struct tmigr_piece *p = &r->log[i];
		int end = p->cpu >= 0 ? m->cpus[p->cpu].group : p->group;

		if (p->start_ns >= m->now_ns)
			break;
		if (p->regime == TMIGR_UNKNOWN)
			continue;
		if (p->start_ns < r->shape_ns || tmigr_hier_is_below(m, end, group))
			make_unknown(p);
		else if (p->cpu >= 0)
			blur_avoidable(m, g, p);
	}
}

static void lose_in_root(struct tmigr_model *m, struct tmigr_root *r, int cpu, __u64 from_ns)
{
	tmigr_log_cut(m, r, m->now_ns);
	tmigr_log_cut(m, r, from_ns);
	for (size_t i = tmigr_log_find(r, from_ns); i < r->n_log; i++) {
		struct tmigr_piece *p = &r->log[i];

		if (p->start_ns >= m->now_ns)
			break;
		if (p->regime == TMIGR_HELD && p->cpu == cpu)
			p->slot = TMIGR_SLOT_UNKNOWN;
		else if (p->cpu < 0 && p->regime != TMIGR_HANDOVER)
			make_unknown(p);
	}
}

/* Records of CPU @cpu (-1: not in the topology) are missing since @from_ns. */
void tmigr_root_lost(struct tmigr_model *m, int cpu, __u64 from_ns)
{
	int root = cpu < 0 ? -1 : m->cpus[cpu].root;

	for (size_t i = 0; i < m->n_roots; i++)
		if (root < 0 || root == (int)i)
			lose_in_root(m, &m->roots[i], cpu, from_ns);
	for (size_t i = 0; i < m->n_cpus; i++) {
		const struct tmigr_mcpu *c = &m->cpus[i];

		if ((int)i == cpu ||
		    (c->duty == TMIGR_DUTY_SET && (root < 0 || c->root < 0 || c->root == root)))
			tmigr_root_duty(m, i, TMIGR_DUTY_UNKNOWN, TMIGR_KTIME_MAX,
					TMIGR_DUTY_UNKNOWN);
	}
	tmigr_root_update_all(m);
}

/* ---- what is final ---- */

void tmigr_root_clean(struct tmigr_model *m)
{
	if (m->clean_ns > m->cfg.start_ns)
		tmigr_log_number_roots(m);
	for (size_t i = 0; i < m->n_roots; i++) {
		__u64 until = m->clean_ns < m->now_ns ? m->clean_ns : m->now_ns;

		for (size_t k = 0; k < m->n_groups; k++)
			if (m->groups[k].root == (int)i && m->groups[k].suspect &&
			    m->groups[k].suspect_ns < until)
				until = m->groups[k].suspect_ns;
		tmigr_log_flush(m, &m->roots[i], until);
	}
}

/* The window ends now: what is still due stays unknown. */
void tmigr_root_cut_end(struct tmigr_model *m)
{
	for (size_t i = 0; i < m->n_cpus; i++)
		if (m->cpus[i].duty == TMIGR_DUTY_PENDING)
			tmigr_root_duty(m, i, TMIGR_DUTY_UNKNOWN, TMIGR_KTIME_MAX,
					TMIGR_DUTY_UNKNOWN);
	for (size_t i = 0; i < m->n_roots; i++)
		tmigr_log_cut(m, &m->roots[i], m->now_ns);
}

void tmigr_root_finish(struct tmigr_model *m)
{
	for (size_t i = 0; i < m->n_groups; i++) {
		const struct tmigr_group *g = &m->groups[i];
		__u64 from = g->suspect_ns > g->good_ns ? g->suspect_ns : g->good_ns;

		if (!g->suspect)
			continue;
		tmigr_root_blur(m, i, from);
		tmigr_group_blur(m, i, from);
	}
	tmigr_group_finish(m);
	tmigr_log_number_roots(m);
	for (size_t i = 0; i < m->n_roots; i++) {
		tmigr_log_flush(m, &m->roots[i], m->end_ns);
		tmigr_log_close(m, &m->roots[i]);
	}
}
