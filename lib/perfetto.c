// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording as a Perfetto trace.  Two replays: the first gives the report and the
 * names of everything, the second writes packets from the model's callbacks as
 * they come.  So tracks are described before they are used, and nothing is kept.
 *
 *   perfetto.c         this: the replays, and what a callback writes
 *   perfetto_tracks.c  names and tracks, written first
 *   perfetto_write.c   packets
 */
#include "tmigr/perfetto.h"

#include <errno.h>

#ifndef TMIGR_PERFETTO

int tmigr_perfetto_write(const char *path, FILE *out, json_t **ret_report, struct tmigr_err *err)
{
	(void)out;
	(void)ret_report;
	return tmigr_fail(err, -EOPNOTSUPP,
			  "%s: this tmigr was built without protobuf-c, which writing Perfetto "
			  "traces needs",
			  path);
}

const char *tmigr_perfetto_library(void)
{
	return NULL;
}

#else
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "perfetto_priv.h"
#include "report_fmt.h"
#include "tmigr/replay.h"

/* ---- the second replay ---- */

static void on_segment(void *arg, const struct tmigr_segment *seg)
{
	struct perfetto *p = arg;
	struct pf_arg cpu = {PF_ARG_CPU, NULL, seg->cpu < 0 ? 0 : (__u64)seg->cpu};
	struct pf_event e = {
		.t_ns = seg->start_ns,
		.track = pf_uuid(PF_TRACK_ROOT, seg->root),
		.category = PF_CAT_HOLDER,
		.name = seg->regime == TMIGR_HELD ? pf_cpu_name(p, (unsigned int)seg->cpu)
						  : PF_NAME_REGIME + (__u64)seg->regime,
		.args = &cpu,
		.n_args = seg->cpu >= 0,
	};

	if (seg->root >= p->n_roots)
		p->changed = true;
	else
		pf_slice(p->out, &e, seg->end_ns);
}

static void on_group_span(void *arg, const struct tmigr_group_span *span)
{
	struct perfetto *p = arg;
	struct pf_event e = {
		.t_ns = span->start_ns,
		.track = pf_uuid(PF_TRACK_GROUP, span->group),
		.category = PF_CAT_GROUP,
	};

	if (span->group >= p->n_groups ||
	    (span->to == TMIGR_TO_GROUP && span->child >= p->n_groups)) {
		p->changed = true;
		return;
	}
	if (!p->groups[span->group].shown)
		return;
	switch (span->to) {
	case TMIGR_TO_CPU:
		e.name = pf_cpu_name(p, span->child);
		break;
	case TMIGR_TO_GROUP:
		e.name = pf_group_name(p, span->child);
		break;
	case TMIGR_TO_NONE:
		e.name = PF_NAME_NONE;
		break;
	case TMIGR_TO_UNKNOWN:
		e.name = PF_NAME_REGIME + TMIGR_UNKNOWN;
		break;
	}
	pf_slice(p->out, &e, span->end_ns);
}

static void on_cpu_span(void *arg, const struct tmigr_cpu_span *span)
{
	struct perfetto *p = arg;
	int cpu = pf_cpu(p, span->cpu);
	__s64 value;

	if (cpu < 0) {
		p->changed = true;
		return;
	}
	if (span->slot == TMIGR_SLOT_RUNNING)
		value = -1;
	else if (span->slot == TMIGR_SLOT_OFFLINE)
		value = -2;
	else if (span->slot == TMIGR_SLOT_UNKNOWN)
		value = -3;
	else
		value = span->slot - TMIGR_SLOT_STATE0;
	pf_counter(p->out, pf_uuid(PF_TRACK_CPU, cpu), span->start_ns, value);
}

/* Name of the state that an expiry ended. */
static const char *woken_from(const struct perfetto *p, const struct tmigr_remote_event *event)
{
	const json_t *cpu = tmigr_rep_cpu(p->report, event->executor), *s;
	size_t i;

	json_array_foreach (json_object_get(cpu, "states"), i, s)
		if (tmigr_rep_u64(s, "index") + TMIGR_SLOT_STATE0 == (__u64)event->woke)
			return tmigr_rep_str(s, "name");
	return "unknown";
}

static void on_remote(void *arg, const struct tmigr_remote_event *event)
{
	struct perfetto *p = arg;
	int executor = pf_cpu(p, event->executor);
	struct pf_arg args[] = {
		{PF_ARG_EXECUTOR, NULL, event->executor},
		{PF_ARG_EXECUTOR_CLASS, tmigr_rep_class(p->report, event->executor), 0},
		{PF_ARG_TARGET, NULL, event->target},
		{PF_ARG_TARGET_CLASS, tmigr_rep_class(p->report, event->target), 0},
		{PF_ARG_WOKE_FROM, event->woke < 0 ? NULL : woken_from(p, event), 0},
	};
	struct pf_event e = {
		.t_ns = event->t_ns,
		.track = pf_uuid(PF_TRACK_REMOTE, executor < 0 ? p->n_cpus : (size_t)executor),
		.category = PF_CAT_REMOTE,
		.name = PF_NAME_REMOTE,
		.args = args,
		.n_args = event->woke < 0 ? 4 : 5,
	};

	pf_instant(p->out, &e);
}

/* ---- ftrace's own events, from the records ---- */

static void flush_idles(struct perfetto *p, size_t cpu)
{
	struct pf_cpu *c = &p->cpus[cpu];

	if (c->n_idles || c->lost)
		pf_idles(p->out, c->cpu, c->lost, c->idles, c->n_idles);
	c->n_idles = 0;
	c->lost = false;
}

static void on_record(struct perfetto *p, const struct tmigr_rec *rec)
{
	bool enter = rec->type == TMIGR_REC_IDLE_ENTER, lost = rec->type == TMIGR_REC_LOST;
	struct pf_cpu *c;
	int cpu;

	if (!enter && !lost && rec->type != TMIGR_REC_IDLE_EXIT)
		return;
	cpu = pf_cpu(p, rec->cpu);
	if (cpu < 0 || rec->t_ns < p->start_ns || rec->t_ns >= p->end_ns ||
	    rec->cpu >= PF_FTRACE_CPUS)
		return;
	c = &p->cpus[cpu];
	/* What was lost was lost before the bundle that says so. */
	if (c->n_idles == PF_IDLES || (lost && c->n_idles))
		flush_idles(p, (size_t)cpu);
	if (lost)
		c->lost = true;
	else
		c->idles[c->n_idles++] =
			(struct pf_idle){rec->t_ns, enter ? (__u32)rec->a : (__u32)-1};
}

static void on_records(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct perfetto *p = arg;

	for (size_t i = 0; i < n; i++)
		on_record(p, &recs[i]);
	for (size_t i = 0; i < p->n_cpus; i++)
		flush_idles(p, i);
}

/* ---- both ---- */

static int write_all(struct perfetto *p, const char *path, struct tmigr_err *err)
{
	const struct tmigr_replay_opts opts = {.segment = on_segment,
					       .cpu_span = on_cpu_span,
					       .group_span = on_group_span,
					       .remote = on_remote,
					       .records = on_records,
					       .arg = p};
	json_t *again = NULL;
	int ret;

	pf_describe(p);
	ret = tmigr_replay(path, &again, &opts, err);
	if (ret < 0)
		return ret;
	p->changed |= !json_equal(again, p->report);
	json_decref(again);
	if (p->changed)
		return tmigr_fail(err, -EAGAIN, "%s: has changed while it was read", path);
	if (fflush(p->out) || ferror(p->out))
		return errno ? -errno : -EIO;
	return 0;
}

int tmigr_perfetto_write(const char *path, FILE *out, json_t **ret_report, struct tmigr_err *err)
{
	struct perfetto p = {.out = out};
	const struct tmigr_replay_opts opts = {.hierarchy = pf_take_hierarchy, .arg = &p};
	struct stat st;
	int ret;

	if (!strcmp(path, "-") || (stat(path, &st) == 0 && S_ISFIFO(st.st_mode)))
		return tmigr_fail(err, -ESPIPE,
				  "%s: is read twice for a Perfetto trace, which a pipe cannot be: "
				  "give the recording's file",
				  strcmp(path, "-") ? path : "standard input");
	ret = tmigr_replay(path, &p.report, &opts, err);
	if (ret == 0)
		ret = pf_prepare(&p) < 0 ? tmigr_fail(err, -ENOMEM, "%s: no memory", path) : 0;
	if (ret == 0)
		ret = write_all(&p, path, err);
	pf_free(&p);
	if (ret == 0)
		*ret_report = p.report;
	else
		json_decref(p.report);
	return ret;
}

const char *tmigr_perfetto_library(void)
{
	return pf_version();
}
#endif
