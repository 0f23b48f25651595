// SPDX-License-Identifier: GPL-2.0-or-later
#include "windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "methods.h"
#include "tmigr/report.h"
#include "tmigr/info.h"

json_t *window_info(struct tmigrd *d, const char *start_time, __u64 from_ns, __u64 to_ns)
{
	json_t *info = json_copy(d->info);

	if (info && !json_object_set_new(info, "start_time", json_string(start_time)) &&
	    !json_object_set_new(info, "interrupted", json_false()) &&
	    !json_object_set_new(info, "exit_status", json_null()) &&
	    !json_object_set_new(info, "marks", marks_json(&d->marks, from_ns, to_ns)))
		return info;
	json_decref(info);
	return NULL;
}

json_t *window_report(struct tmigrd *d, struct tmigr_window *w, const struct tmigr_topology *start,
		      const json_t *info)
{
	struct tmigr_topology *topo = topology_since(d, start);
	struct tmigr_report_input in = {
		.topo = topo,
		.model = tmigr_window_model(w),
		.totals = tmigr_window_totals(w),
		.info = info,
	};
	json_t *report;

	if (tmigr_window_totals(w))
		tmigr_window_totals(w)->observer.housekeeping_cpu = d->cpu;
	report = info && topo ? tmigr_report_build(&in) : NULL;
	tmigr_topology_free(topo);
	return report;
}

int window_so_far(struct tmigrd *d, struct tmigr_window *w, const struct tmigr_topology *start,
		  const char *start_time, json_t **ret_report, struct tmigr_err *err)
{
	struct tmigr_window *copy = NULL;
	json_t *info, *report;
	int ret = tmigr_engine_window_peek(d->engine, w, &copy, err);

	if (ret < 0)
		return ret;
	info = window_info(d, start_time, tmigr_window_start_ns(w), tmigr_window_end_ns(copy));
	report = window_report(d, copy, start, info);
	json_decref(info);
	tmigr_window_free(copy);
	if (!report)
		return tmigr_fail(err, -ENOMEM, "out of memory");
	*ret_report = report;
	return 0;
}

/* ---- the clients' ---- */

static size_t windows_max(const struct tmigrd *d)
{
	size_t topology = sizeof(*d->topo) + d->topo->n_cpus * sizeof(*d->topo->cpus);

	return d->opts->window_bytes / (tmigr_engine_window_bytes(d->engine) + topology);
}

struct window *window_open(struct client *c, const struct tmigr_window_opts *opts)
{
	struct tmigr_window_opts all = opts ? *opts : (struct tmigr_window_opts){.arg = NULL};
	struct tmigrd *d = c->d;
	struct tmigr_topology *topo;
	struct tmigr_err err = {""};
	struct window *w;

	if (c->n_windows >= WINDOWS_PER_CLIENT) {
		client_errorf(c, "TooMany", "a connection has at most %d windows",
			      WINDOWS_PER_CLIENT);
		return NULL;
	}
	if (d->n_windows >= windows_max(d)) {
		client_errorf(c, "TooMany",
			      "%u windows are open, for which memory is set aside "
			      "(--window-mem)",
			      d->n_windows);
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	all.topo = topo = w ? topology_now(d) : NULL;
	if (!topo || tmigr_engine_window_open(d->engine, &all, &w->w, &err) < 0) {
		tmigr_topology_free(topo);
		free(w);
		client_errorf(c, "EngineFailed", "%s", *err.text ? err.text : "out of memory");
		return NULL;
	}
	tmigr_info_time(w->start_time, sizeof(w->start_time));
	w->topo = topo;
	w->id = ++d->last_window;
	w->owner = c;
	w->next = d->windows;
	d->windows = w;
	d->n_windows++;
	c->n_windows++;
	return w;
}

struct window *window_find(struct client *c, json_t *params)
{
	json_int_t id = param_int(params, "window", 0);
	struct window *w = c->d->windows;

	while (w && (w->owner != c || w->id != (__u64)id))
		w = w->next;
	if (!w)
		client_error(c, "NoSuchWindow", json_pack("{sI}", "window", id));
	return w;
}

bool window_may(const struct client *c, const struct window *w)
{
	return c->cred.uid == w->owner->cred.uid || c->cred.uid == 0;
}

void window_free(struct tmigrd *d, struct window *w)
{
	struct window **p = &d->windows;

	while (*p != w)
		p = &(*p)->next;
	*p = w->next;
	d->n_windows--;
	w->owner->n_windows--;
	tmigr_window_free(w->w);
	tmigr_topology_free(w->topo);
	free(w);
}

int window_close(struct tmigrd *d, struct window *w, json_t **ret_report, json_t **ret_info,
		 struct tmigr_err *err)
{
	json_t *info, *report;
	int ret = tmigr_engine_window_close(d->engine, w->w, err);

	if (ret < 0)
		return ret;
	info = window_info(d, w->start_time, tmigr_window_start_ns(w->w),
			   tmigr_window_end_ns(w->w));
	report = window_report(d, w->w, w->topo, info);
	if (!report) {
		json_decref(info);
		return tmigr_fail(err, -ENOMEM, "out of memory");
	}
	*ret_report = report;
	*ret_info = info;
	return 0;
}

void windows_drop(struct tmigrd *d, struct client *c)
{
	struct window *w, *next;

	for (w = d->windows; w; w = next) {
		next = w->next;
		if (w->owner == c)
			window_free(d, w);
	}
}

/* ---- methods ---- */

void method_open_window(struct client *c, json_t *params)
{
	struct window *w = window_open(c, NULL);

	(void)params;
	if (w)
		client_reply(c, json_pack("{sI sI}", "window", (json_int_t)w->id, "start_ns",
					  (json_int_t)tmigr_window_start_ns(w->w)));
}

void method_read_window(struct client *c, json_t *params)
{
	struct window *w = window_find(c, params);
	struct tmigr_err err = {""};
	json_t *report;

	if (!w)
		return;
	if (window_so_far(c->d, w->w, w->topo, w->start_time, &report, &err) < 0)
		client_errorf(c, "EngineFailed", "%s", err.text);
	else
		client_reply(c, json_pack("{so}", "report", report));
}

void method_close_window(struct client *c, json_t *params)
{
	struct window *w = window_find(c, params);
	struct tmigr_err err = {""};
	json_t *report, *info;
	int ret;

	if (!w)
		return;
	ret = window_close(c->d, w, &report, &info, &err);
	/* Before the reply: where that fails, the client goes with its windows. */
	window_free(c->d, w);
	if (ret < 0) {
		client_errorf(c, "EngineFailed", "%s", err.text);
		return;
	}
	json_decref(info);
	client_reply(c, json_pack("{so}", "report", report));
}
