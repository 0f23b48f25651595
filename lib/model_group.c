// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who each group's migrator is, told span by span.
 *
 * A group's word is known from its first update or snapshot on, but not while an
 * update may have been lost (rules of loss: model_root.c): a blur never reaches
 * back behind the last accepted update, so that a span that ended with an update
 * is final and nothing needs to be kept.
 */
#include "model_internal.h"

static void resolve(const struct tmigr_model *m, const struct tmigr_group *g,
		    struct tmigr_group_span *ret)
{
	__u8 migrator = tmigr_word_migrator(g->word);
	int bit;

	ret->to = TMIGR_TO_UNKNOWN;
	ret->child = 0;
	if (!g->known)
		return;
	if (migrator == TMIGR_NO_MIGRATOR) {
		ret->to = TMIGR_TO_NONE;
		return;
	}
	if (!migrator || migrator & (migrator - 1))
		return;
	bit = __builtin_ctz(migrator);
	if (g->child_cpu[bit] >= 0) {
		ret->to = TMIGR_TO_CPU;
		ret->child = m->cpus[g->child_cpu[bit]].cpu;
	} else if (g->child_group[bit] >= 0) {
		ret->to = TMIGR_TO_GROUP;
		ret->child = g->child_group[bit];
	}
}

/* What it had until @end_ns is final; what comes after it begins there. */
static void end_span(struct tmigr_model *m, int group, __u64 end_ns)
{
	struct tmigr_group_span *span = &m->groups[group].span, told = *span;

	if (told.start_ns < m->cfg.start_ns)
		told.start_ns = m->cfg.start_ns;
	told.group = group;
	told.end_ns = end_ns;
	if (told.end_ns > told.start_ns)
		m->cfg.group_span(m->cfg.arg, &told);
	if (end_ns > span->start_ns)
		span->start_ns = end_ns;
}

void tmigr_group_look(struct tmigr_model *m, int group)
{
	struct tmigr_group_span *span = &m->groups[group].span, now = *span;

	if (!m->cfg.group_span)
		return;
	resolve(m, &m->groups[group], &now);
	if (now.to == span->to && now.child == span->child)
		return;
	end_span(m, group, m->now_ns);
	span->to = now.to;
	span->child = now.child;
}

void tmigr_group_look_all(struct tmigr_model *m)
{
	if (!m->cfg.group_span)
		return;
	for (size_t i = 0; i < m->n_groups; i++)
		tmigr_group_look(m, i);
}

void tmigr_group_blur(struct tmigr_model *m, int group, __u64 from_ns)
{
	struct tmigr_group_span *span = &m->groups[group].span;

	if (!m->cfg.group_span || from_ns >= m->now_ns || span->to == TMIGR_TO_UNKNOWN)
		return;
	if (from_ns > span->start_ns)
		end_span(m, group, from_ns);
	span->to = TMIGR_TO_UNKNOWN;
	span->child = 0;
}

void tmigr_group_finish(struct tmigr_model *m)
{
	if (!m->cfg.group_span)
		return;
	for (size_t i = 0; i < m->n_groups; i++)
		end_span(m, i, m->end_ns);
}
