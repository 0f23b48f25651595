// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "machine.h"
#include "sim_internal.h"

/* ---- the trace ---- */

void sim_put(struct machine *s, struct tmigr_rec rec)
{
	struct sim *sim = s->sim;

	if (sim->n_recs == s->cap_recs) {
		s->cap_recs = s->cap_recs ? s->cap_recs * 2 : 1024;
		sim->recs = realloc(sim->recs, s->cap_recs * sizeof(*sim->recs));
	}
	sim->recs[sim->n_recs++] = rec;
}

void sim_tell_group(struct machine *s, int group)
{
	struct sgroup *g = &s->groups[group];
	struct tmigr_rec rec = rec_node_group(
		s->now, g->key, g->parent >= 0 ? s->groups[g->parent].key : 0, g->level, g->mask);

	rec.cpu = g->level && sim_chance(s, 50) ? (__u32)-1 : 0;
	sim_put(s, rec);
	g->told = true;
}

static void tell_word(struct machine *s, int group)
{
	sim_put(s, rec_snap_group(s->now, s->groups[group].key, s->groups[group].word));
}

/* What a tracer without snapshot learns from a CPU's first event. */
static void tell_path(struct machine *s, int cpu)
{
	struct scpu *c = &s->cpus[cpu];

	if (c->told || c->group < 0)
		return;
	c->told = true;
	sim_put(s, rec_node_cpu(s->now, s->groups[c->group].key, sim_number(s, cpu), c->mask));
	for (int g = c->group; g >= 0; g = s->groups[g].parent) {
		if (s->groups[g].told)
			continue;
		sim_tell_group(s, g);
		tell_word(s, g);
	}
}

void sim_tell_all(struct machine *s)
{
	for (int g = 0; g < s->n_groups; g++) {
		sim_tell_group(s, g);
		tell_word(s, g);
	}
	for (unsigned int i = 0; i < s->cfg->n_cpus; i++) {
		struct scpu *c = &s->cpus[i];
		struct tmigr_rec rec;

		if (c->group >= 0)
			sim_put(s, rec_node_cpu(s->now, s->groups[c->group].key, sim_number(s, i),
						c->mask));
		c->told = c->group >= 0;
		rec = rec_about(s->now, 0, TMIGR_REC_SNAP_CPU, sim_number(s, i), c->wakeup_ns);
		rec.flags = (c->available ? TMIGR_RF_AVAILABLE : 0) |
			    (c->tmigr_idle ? TMIGR_RF_TMIGR_IDLE : 0);
		sim_put(s, rec);
		if (!c->online)
			continue;
		sim_put(s, rec_about(s->now, 0, TMIGR_REC_SNAP_IDLE, sim_number(s, i),
				     c->slot == TMIGR_SLOT_RUNNING ? TMIGR_STATE_RUNNING
								   : c->slot - TMIGR_SLOT_STATE0));
	}
}

/* A kernel event on @cpu, stamped some time after it happened. */
void sim_event(struct machine *s, int cpu, struct tmigr_rec rec)
{
	struct scpu *c = &s->cpus[cpu];

	rec.cpu = sim_number(s, cpu);
	rec.t_ns = s->now + sim_below(s, s->cfg->max_delay_ns + 1);
	if (rec.t_ns < c->busy_ns)
		rec.t_ns = c->busy_ns;
	c->busy_ns = rec.t_ns;
	if (!s->tracing)
		return;
	if (rec.type != TMIGR_REC_CPU_ONLINE && rec.type != TMIGR_REC_CPU_OFFLINE)
		tell_path(s, cpu);
	sim_put(s, rec);
}

void sim_event_about(struct machine *s, int cpu, unsigned int type, int subject, __u64 a)
{
	sim_event(s, cpu, rec_about(0, 0, type, sim_number(s, subject), a));
}

/* ---- truth ---- */

static int true_holder(const struct machine *s, int top)
{
	int g = top;

	for (;;) {
		__u8 migrator = tmigr_word_migrator(s->groups[g].word);
		int child;

		if (migrator == NOBODY)
			return g == top ? -2 : -1;
		child = s->groups[g].child[__builtin_ctz(migrator)];
		if (!s->groups[g].level)
			return child;
		g = child;
	}
}

void sim_note_truth(struct machine *s)
{
	struct sim *sim = s->sim;

	for (unsigned int i = 0; i < s->cfg->n_roots; i++) {
		int holder = true_holder(s, s->tops[i]);

		if (holder == s->last_truth[i])
			continue;
		s->last_truth[i] = holder;
		if (sim->n_truth == s->cap_truth) {
			s->cap_truth = s->cap_truth ? s->cap_truth * 2 : 256;
			sim->truth = realloc(sim->truth, s->cap_truth * sizeof(*sim->truth));
		}
		sim->truth[sim->n_truth++] = (struct sim_truth){
			s->now, i, holder >= 0 ? (int)sim_number(s, holder) : holder};
	}
}

void sim_true_slot(struct machine *s, int cpu, unsigned int slot, __u64 t)
{
	struct scpu *c = &s->cpus[cpu];
	__u64 from = c->since_ns > s->sim->start_ns ? c->since_ns : s->sim->start_ns;
	__u64 to = t < s->sim->end_ns ? t : s->sim->end_ns;

	if (to > from)
		s->sim->time_ns[cpu * TMIGR_SLOTS + c->slot] += to - from;
	c->since_ns = t;
	c->slot = slot;
}
