// SPDX-License-Identifier: GPL-2.0-or-later
/* From a recording back to its report. */
#include "tmigr/replay.h"

#include <errno.h>
#include <string.h>

#include "tmigr/recording.h"
#include "tmigr/report.h"
#include "tmigr/topology.h"
#include "tmigr/totals.h"

struct replay {
	const char *path;
	const struct tmigr_replay_opts *opts;
	struct tmigr_topology *topo;
	struct tmigr_topology *end_topo; /* corrected at the end; NULL: as at the start */
	struct tmigr_model *model;
	struct tmigr_window_totals *totals;
	json_t *meta_info, *end_info;
	__u64 start_ns;
	__u64 mark_ns; /* the last watermark */
	bool finished; /* END was read */
	char partial[TMIGR_ERR_MAX];
};

static void replay_free(struct replay *r)
{
	tmigr_window_totals_free(r->totals);
	tmigr_model_free(r->model);
	tmigr_topology_free(r->topo);
	tmigr_topology_free(r->end_topo);
	json_decref(r->meta_info);
	json_decref(r->end_info);
}

json_t *tmigr_replay_info(const json_t *meta_info, const json_t *end_info)
{
	json_t *info = json_object();

	if (info && json_is_object(meta_info) && json_object_update(info, (json_t *)meta_info) < 0)
		goto fail;
	if (info && json_is_object(end_info) && json_object_update(info, (json_t *)end_info) < 0)
		goto fail;
	return info;
fail:
	json_decref(info);
	return NULL;
}

/* Puts the recording's path before the message of a part of it. */
static int bad_part(const struct replay *r, int ret, const struct tmigr_err *why,
		    struct tmigr_err *err)
{
	return tmigr_fail(err, ret, "%s: %s", r->path, why->text[0] ? why->text : strerror(-ret));
}

static int read_time(const struct replay *r, const json_t *obj, const char *key, __u64 *ret,
		     struct tmigr_err *err)
{
	const json_t *v = json_object_get(obj, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return tmigr_fail(err, -EINVAL, "%s: \"%s\" is missing or no time", r->path, key);
	*ret = (__u64)json_integer_value(v);
	return 0;
}

static int on_meta(struct replay *r, const json_t *meta, struct tmigr_err *err)
{
	struct tmigr_err why = {""};
	struct tmigr_model_cfg cfg = {0};
	int ret = read_time(r, meta, "start_ns", &r->start_ns, err);

	if (ret < 0)
		return ret;
	ret = tmigr_topology_from_json(json_object_get(meta, "topology"), &r->topo, &why);
	if (ret < 0)
		return bad_part(r, ret, &why, err);
	r->meta_info = json_deep_copy(json_object_get(meta, "info"));
	r->mark_ns = r->start_ns;
	cfg.topo = r->topo;
	cfg.start_ns = r->start_ns;
	if (r->opts) {
		cfg.segment = r->opts->segment;
		cfg.cpu_span = r->opts->cpu_span;
		cfg.group_span = r->opts->group_span;
		cfg.remote = r->opts->remote;
		cfg.arg = r->opts->arg;
	}
	ret = tmigr_model_new(&cfg, &r->model);
	return ret < 0 ? tmigr_fail(err, ret, "%s: %s", r->path, strerror(-ret)) : 0;
}

/* The topology that the report is about, where the run knew more at its end. */
static int read_end_topology(struct replay *r, const json_t *json, struct tmigr_err *err)
{
	struct tmigr_err why = {""};
	int ret = tmigr_topology_from_json(json, &r->end_topo, &why);
	bool same;

	if (ret < 0)
		return bad_part(r, ret, &why, err);
	same = r->end_topo->n_cpus == r->topo->n_cpus;
	for (size_t i = 0; same && i < r->topo->n_cpus; i++)
		same = r->end_topo->cpus[i].cpu == r->topo->cpus[i].cpu;
	if (!same)
		return tmigr_fail(err, -EINVAL, "%s: other CPUs at the end than at the start",
				  r->path);
	return 0;
}

/* Every CPU once, its times the window: else the report would not add up. */
static bool totals_fit(const struct replay *r, __u64 window_ns)
{
	if (r->totals->n_cpus != r->topo->n_cpus)
		return false;
	if (r->totals->latency && r->totals->latency->n_cpus != r->topo->n_cpus)
		return false;
	for (size_t i = 0; i < r->totals->n_cpus; i++) {
		const struct tmigr_totals_cpu *c = &r->totals->cpus[i];
		__u64 left = window_ns;

		if (c->cpu != r->topo->cpus[i].cpu)
			return false;
		for (int s = 0; s < TMIGR_SLOTS; s++) {
			if (c->time_ns[s] > left)
				return false;
			left -= c->time_ns[s];
		}
		if (left)
			return false;
	}
	return true;
}

static int on_end(struct replay *r, const json_t *end, struct tmigr_err *err)
{
	struct tmigr_err why = {""};
	const json_t *totals = json_object_get(end, "totals");
	const json_t *topo = json_object_get(end, "topology");
	__u64 end_ns = 0;
	int ret = read_time(r, end, "end_ns", &end_ns, err);

	if (ret < 0)
		return ret;
	if (end_ns < r->start_ns)
		return tmigr_fail(err, -EINVAL, "%s: the window ends before it starts", r->path);
	if (totals && !json_is_null(totals)) {
		ret = tmigr_window_totals_from_json(totals, &r->totals, &why);
		if (ret < 0)
			return bad_part(r, ret, &why, err);
		if (!totals_fit(r, end_ns - r->start_ns))
			return tmigr_fail(err, -EINVAL,
					  "%s: the totals at its end do not fit the machine and "
					  "the window",
					  r->path);
	}
	if (topo && !json_is_null(topo)) {
		ret = read_end_topology(r, topo, err);
		if (ret < 0)
			return ret;
	}
	r->end_info = json_deep_copy(json_object_get(end, "info"));
	r->finished = true;
	ret = tmigr_model_finish(r->model, end_ns);
	if (ret == -EINVAL)
		return tmigr_fail(err, ret, "%s: the window ends before its last records", r->path);
	return ret < 0 ? tmigr_fail(err, ret, "%s: %s", r->path, strerror(-ret)) : 0;
}

static int on_frame(struct replay *r, const struct tmigr_frame *f, struct tmigr_err *err)
{
	int ret = 0;

	switch (f->type) {
	case TMIGR_FRAME_META:
		return on_meta(r, f->json, err);
	case TMIGR_FRAME_END:
		return on_end(r, f->json, err);
	case TMIGR_FRAME_EVENTS:
		if (r->opts && r->opts->records)
			r->opts->records(r->opts->arg, f->recs, f->n);
		ret = tmigr_model_feed(r->model, f->recs, f->n);
		break;
	case TMIGR_FRAME_MARK:
		ret = tmigr_model_advance(r->model, f->watermark_ns);
		if (f->watermark_ns > r->mark_ns)
			r->mark_ns = f->watermark_ns;
		break;
	default:
		break;
	}
	if (ret == -EINVAL)
		return tmigr_fail(err, ret, "%s: holds a record of an unknown type", r->path);
	return ret < 0 ? tmigr_fail(err, ret, "%s: %s", r->path, strerror(-ret)) : 0;
}

/* What comes after the last whole frame of a recording that stops early. */
static int on_cut(struct replay *r, const struct tmigr_err *why, struct tmigr_err *err)
{
	int ret;

	if (!r->model)
		return tmigr_fail(err, -EINVAL, "%s", why->text);
	memcpy(r->partial, why->text, sizeof(r->partial));
	if (r->finished)
		return 0;
	ret = tmigr_model_finish(r->model, r->mark_ns);
	return ret < 0 ? tmigr_fail(err, ret, "%s: %s", r->path, strerror(-ret)) : 0;
}

static int read_all(struct replay *r, struct tmigr_recording_reader *reader, struct tmigr_err *err)
{
	struct tmigr_frame f;
	struct tmigr_err why = {""};
	int ret;

	do {
		ret = tmigr_recording_next(reader, &f, &why);
		if (ret < 0)
			return tmigr_fail(err, ret, "%s", why.text);
		ret = f.type == TMIGR_FRAME_CUT ? on_cut(r, &why, err) : on_frame(r, &f, err);
		if (ret < 0)
			return ret;
	} while (f.type != TMIGR_FRAME_EOF && f.type != TMIGR_FRAME_CUT);
	return 0;
}

static int build(const struct replay *r, json_t **ret_report, struct tmigr_err *err)
{
	const struct tmigr_topology *topo = r->end_topo ? r->end_topo : r->topo;
	struct tmigr_report_input in = {topo, r->model, r->totals, NULL};
	json_t *info = tmigr_replay_info(r->meta_info, r->end_info);
	json_t *report = NULL;

	if (info && (!r->partial[0] ||
		     json_object_set_new(info, "partial", json_string(r->partial)) == 0)) {
		in.info = info;
		report = tmigr_report_build(&in);
	}
	json_decref(info);
	if (!report)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", r->path);
	*ret_report = report;
	return 0;
}

static int tell_hierarchy(const struct replay *r, struct tmigr_err *err)
{
	struct tmigr_hierarchy *h;

	if (!r->opts || !r->opts->hierarchy)
		return 0;
	if (tmigr_model_hierarchy(r->model, &h) < 0)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", r->path);
	r->opts->hierarchy(r->opts->arg, h);
	tmigr_hierarchy_free(h);
	return 0;
}

static int replay(const char *name, struct tmigr_recording_reader *reader, json_t **ret_report,
		  const struct tmigr_replay_opts *opts, struct tmigr_err *err)
{
	struct replay r = {.path = name, .opts = opts};
	int ret = read_all(&r, reader, err);

	tmigr_recording_close(reader);
	if (ret == 0)
		ret = tell_hierarchy(&r, err);
	if (ret == 0)
		ret = build(&r, ret_report, err);
	replay_free(&r);
	return ret;
}

int tmigr_replay(const char *path, json_t **ret_report, const struct tmigr_replay_opts *opts,
		 struct tmigr_err *err)
{
	struct tmigr_recording_reader *reader = NULL;
	int ret = tmigr_recording_open(path, &reader, err);

	if (ret < 0)
		return ret;
	return replay(strcmp(path, "-") ? path : "standard input", reader, ret_report, opts, err);
}

int tmigr_replay_fd(const char *name, int fd, const void *head, size_t n, json_t **ret_report,
		    const struct tmigr_replay_opts *opts, struct tmigr_err *err)
{
	struct tmigr_recording_reader *reader = NULL;
	int ret = tmigr_recording_open_fd(name, fd, head, n, &reader, err);

	if (ret < 0)
		return ret;
	return replay(name, reader, ret_report, opts, err);
}
