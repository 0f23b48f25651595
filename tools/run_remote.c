// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A daemon's window in place of the engine's: its recording comes as it is made, by
 * a connection of its own, and is replayed while it comes, by the same model, with
 * this run's classes.  So everything else (run directory, recording, progress line,
 * report) is as with the own engine, on any file system, and what had come when
 * a daemon died is kept.
 */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr.h"

#define NAME "the daemon's recording"

void remote_init(struct remote *r)
{
	memset(r, 0, sizeof(*r));
	r->fd = -1;
}

int remote_open(struct session *s)
{
	const struct arg_list *classes = &s->opts->classes;
	struct tmigr_err err = {""};
	int ret;

	tmigr_topology_free(s->topo);
	s->topo = NULL;
	ret = daemon_topology(s->daemon, classes->items, classes->n, &s->topo, &err);

	if (ret == -EINVAL && classes->n)
		return tool_usage("run", "%s", err.text);
	return ret < 0 ? tool_error("run", "%s", err.text) : 0;
}

/* ---- start ---- */

static int get_time(const json_t *obj, const char *key, __u64 *ret)
{
	const json_t *v = json_object_get(obj, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return -EPROTO;
	*ret = (__u64)json_integer_value(v);
	return 0;
}

/* Asks for the recording; *@ret_start_ns: where the window begins. */
static int ask(struct session *s, struct tmigr_err *err)
{
	const struct daemon_opts same = {.socket = s->daemon->path};
	json_t *params = json_object();
	int ret = params ? daemon_need(&same, &s->remote.stream, err) : -ENOMEM;

	if (!ret && s->opts->duration_ns &&
	    json_object_set_new(params, "duration_ns",
				json_integer((json_int_t)s->opts->duration_ns)))
		ret = -ENOMEM;
	if (!ret)
		ret = daemon_stream(s->remote.stream, "StartRecording", params, err);
	json_decref(params);
	params = NULL;
	if (!ret)
		ret = daemon_reply(s->remote.stream, &params, err);
	if (ret < 0)
		return ret == -ENOMEM ? tmigr_fail(err, ret, "out of memory") : ret;
	if (get_time(params, "window", &s->remote.window) < 0 ||
	    get_time(params, "start_ns", &s->start_ns) < 0)
		ret = tmigr_fail(err, -EPROTO, "%s: not a tmigrd's answer", s->daemon->path);
	json_decref(params);
	s->remote.fd = tmigr_varlink_fd(s->remote.stream->link);
	return ret;
}

int remote_start(struct session *s)
{
	struct tmigr_model_cfg cfg = {
		.topo = s->topo,
		.segment = session_segment,
		.arg = s,
	};
	struct tmigr_err err = {""};

	if (ask(s, &err) < 0 || tmigr_recording_open_push(NAME, &s->remote.reader, &err) < 0)
		return tool_error("run", "%s", err.text);
	cfg.start_ns = s->remote.mark_ns = s->start_ns;
	if (tmigr_model_new(&cfg, &s->remote.model) < 0)
		return tool_error("run", "out of memory");
	return 0;
}

/* ---- frames ---- */

static int on_events(struct session *s, const struct tmigr_frame *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->recs[i].type == TMIGR_REC_LOST)
			s->remote.lost += f->recs[i].a;
	session_records(s, f->recs, f->n);
	return tmigr_model_feed(s->remote.model, f->recs, f->n);
}

static int on_mark(struct session *s, __u64 watermark_ns)
{
	if (watermark_ns > s->remote.mark_ns)
		s->remote.mark_ns = watermark_ns;
	session_mark(s, watermark_ns);
	return tmigr_model_advance(s->remote.model, watermark_ns);
}

/* What the daemon knows more than when it was asked, at the window's start or at its end;
 * with --class the session looks itself. */
static int later_topology(struct session *s, const json_t *json, struct tmigr_err *err)
{
	struct tmigr_topology *topo = NULL;
	json_t *known;
	bool same;
	int ret;

	if (!json || json_is_null(json) || s->opts->classes.n)
		return 0;
	known = tmigr_topology_to_json(s->topo);
	same = known && json_equal(known, json);
	json_decref(known);
	if (same)
		return 0;
	ret = tmigr_topology_from_json(json, &topo, err);
	if (ret == 0)
		ret = daemon_same_cpus(s->topo, topo, err);
	if (ret < 0) {
		tmigr_topology_free(topo);
		return ret;
	}
	tmigr_topology_free(s->end_topo);
	s->end_topo = topo;
	return 0;
}

static int on_end(struct session *s, const json_t *end, struct tmigr_err *err)
{
	json_t *marks = json_object_get(json_object_get(end, "info"), "marks");
	struct tmigr_window_totals *totals;
	int ret = tmigr_window_totals_from_json(json_object_get(end, "totals"), &totals, err);

	if (ret < 0)
		return ret;
	ret = get_time(end, "end_ns", &s->end_ns);
	if (!ret && totals->n_cpus != s->topo->n_cpus)
		ret = tmigr_fail(err, -EPROTO, "its figures are of other CPUs");
	if (!ret)
		ret = later_topology(s, json_object_get(end, "topology"), err);
	if (!ret && marks)
		ret = json_object_set(s->info, "marks", marks) ? -ENOMEM : 0;
	if (!ret)
		ret = tmigr_model_finish(s->remote.model, s->end_ns);
	if (ret < 0)
		tmigr_window_totals_free(totals);
	else
		s->remote.totals = totals;
	return ret;
}

static int on_frame(struct session *s, const struct tmigr_frame *f, struct tmigr_err *err)
{
	switch (f->type) {
	case TMIGR_FRAME_EVENTS:
		return on_events(s, f);
	case TMIGR_FRAME_MARK:
		return on_mark(s, f->watermark_ns);
	case TMIGR_FRAME_END:
		return on_end(s, f->json, err);
	case TMIGR_FRAME_CUT:
		return -EPROTO;
	case TMIGR_FRAME_META: /* a CPU may have come since the answer */
		return later_topology(s, json_object_get(f->json, "topology"), err);
	default:
		return 0;
	}
}

static int take_frames(struct session *s, struct tmigr_err *err)
{
	struct tmigr_err why = {""};
	struct tmigr_frame f;
	int ret = 0;

	while (!ret && !s->remote.totals && tmigr_recording_ready(s->remote.reader)) {
		ret = tmigr_recording_next(s->remote.reader, &f, &why);
		if (!ret)
			ret = on_frame(s, &f, &why);
	}
	return ret < 0 ? tmigr_fail(err, ret, "%s: " NAME " cannot be used: %s", s->daemon->path,
				    *why.text ? why.text : strerror(-ret))
		       : 0;
}

/* ---- the stream ---- */

static int take_reply(struct session *s, struct tmigr_err *err)
{
	json_t *params = NULL;
	bool more = false;
	void *data = NULL;
	size_t n = 0;
	int ret = daemon_next(s->remote.stream, &params, &more, err);

	if (!ret)
		ret = daemon_data(s->daemon, params, &data, &n, err);
	json_decref(params);
	if (!ret && n && tmigr_recording_push(s->remote.reader, data, n) < 0)
		ret = tmigr_fail(err, -ENOMEM, "out of memory");
	free(data);
	if (!ret)
		ret = take_frames(s, err);
	if (!ret && !more)
		s->remote.fd = -1;
	return ret;
}

/* What is there now. */
static int take(struct session *s, struct tmigr_err *err)
{
	int ret = 0;

	while (!ret && s->remote.fd >= 0) {
		ret = daemon_has_reply(s->remote.stream, err);
		if (ret <= 0)
			return ret;
		ret = take_reply(s, err);
	}
	return ret;
}

/* The window ends here, at the last watermark unless its end has come; the reason is
 * told. */
static int give_up(struct session *s, const struct tmigr_err *err)
{
	snprintf(s->remote.gone, sizeof(s->remote.gone), "%s",
		 *err->text ? err->text : "the daemon ended its recording");
	s->remote.fd = -1;
	tool_error("run", "%s; the report is of what had come by then", s->remote.gone);
	if (!s->remote.totals && tmigr_model_finish(s->remote.model, s->remote.mark_ns) < 0) {
		*s->remote.gone = '\0';
		tool_error("run", "out of memory");
	}
	return TMIGR_EXIT_ERROR;
}

int remote_drain(struct session *s)
{
	struct tmigr_err err = {""};
	int ret = take(s, &err);

	return ret < 0 ? give_up(s, &err) : 0;
}

/* Until all has come, as long as something comes. */
static int take_rest(struct session *s, struct tmigr_err *err)
{
	int ret = take(s, err);

	while (!ret && s->remote.fd >= 0) {
		struct pollfd p = {.fd = s->remote.fd, .events = POLLIN};
		int n = poll(&p, 1, DAEMON_SILENCE_MS);

		if (n < 0 && errno != EINTR)
			return tmigr_fail(err, -errno, "poll: %s", strerror(errno));
		if (n == 0)
			return daemon_silent(s->daemon, err);
		ret = take(s, err);
	}
	if (!ret && !s->remote.totals)
		ret = tmigr_fail(err, -EPROTO, "%s: " NAME " has no end", s->daemon->path);
	return ret;
}

static int end_now(struct session *s, struct tmigr_err *err)
{
	json_t *params = json_pack("{sI}", "window", (json_int_t)s->remote.window);
	int ret = params ? daemon_send(s->daemon, "StopRecording", params, err) : -ENOMEM;

	json_decref(params);
	return ret == -ENOMEM ? tmigr_fail(err, ret, "out of memory") : ret;
}

int remote_stop(struct session *s, __u64 at_ns)
{
	struct tmigr_err err = {""};
	/* Its answer tells nothing that the stream does not. */
	int ret = at_ns || s->remote.fd < 0 ? 0 : end_now(s, &err);

	if (!ret)
		ret = take_rest(s, &err);
	return ret < 0 ? give_up(s, &err) : 0;
}

void remote_end(struct session *s)
{
	daemon_close(s->remote.stream);
	tmigr_recording_close(s->remote.reader);
	tmigr_model_free(s->remote.model);
	tmigr_window_totals_free(s->remote.totals);
	remote_init(&s->remote);
}
