// SPDX-License-Identifier: GPL-2.0-or-later
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "methods.h"
#include "tmigr/recording.h"
#include "transfer.h"

struct recording {
	struct tmigr_recording_writer *writer; /* NULL: not yet, or failed */
	struct transfer *out;
	int failed;
	/* StopRecording waits for the last byte. */
	struct client *client;
	json_t *report;
};

static int put(void *arg, const void *data, size_t size)
{
	struct recording *rec = arg;

	return transfer_add(rec->out, msg_new(data, size), true);
}

static void give_up(struct recording *rec, int err)
{
	if (!rec->failed)
		rec->failed = err;
	tmigr_recording_abort(rec->writer);
	rec->writer = NULL;
}

static int on_records(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct recording *rec = arg;
	int ret = rec->writer ? tmigr_recording_events(rec->writer, recs, n, NULL) : rec->failed;

	if (ret < 0)
		give_up(rec, ret);
	return ret;
}

static int on_mark(void *arg, __u64 watermark_ns)
{
	struct recording *rec = arg;
	int ret = rec->writer ? tmigr_recording_mark(rec->writer, watermark_ns, NULL) : rec->failed;

	if (ret < 0)
		give_up(rec, ret);
	return ret;
}

static void free_recording(struct recording *rec)
{
	if (!rec)
		return;
	tmigr_recording_abort(rec->writer);
	transfer_free(rec->out);
	json_decref(rec->report);
	free(rec);
}

void record_drop(struct tmigrd *d, struct window *w)
{
	struct recording *rec = w->rec;

	(void)d;
	w->rec = NULL;
	/* The window's records must find no one: it goes with it. */
	tmigr_window_free(w->w);
	w->w = NULL;
	free_recording(rec);
}

/* ---- start ---- */

static unsigned int count(const struct tmigrd *d)
{
	unsigned int n = 0;

	for (const struct window *w = d->windows; w; w = w->next)
		n += w->rec != NULL;
	return n;
}

/* Takes the descriptor; NULL: an error was answered. */
static struct recording *new_recording(struct client *c)
{
	int fd = client_take_fd(c);
	struct recording *rec;
	const char *why = "a pipe or a file must come with the request";

	if (count(c->d) >= RECORDINGS_MAX) {
		if (fd >= 0)
			close(fd);
		client_errorf(c, "TooMany", "%d recordings at most", RECORDINGS_MAX);
		return NULL;
	}
	rec = calloc(1, sizeof(*rec));
	if (!rec || fd < 0 || transfer_open(c, fd, &rec->out, &why) < 0) {
		free(rec);
		client_errorf(c, "BadDescriptor", "%s", why);
		return NULL;
	}
	return rec;
}

static int start(struct tmigrd *d, struct window *w, struct recording *rec)
{
	__u64 start_ns = tmigr_window_start_ns(w->w);
	json_t *info = json_copy(d->info), *meta;
	int ret = -ENOMEM;

	if (info)
		json_object_set_new(info, "start_time", json_string(w->start_time));
	meta = json_pack("{so sI so}", "topology", tmigr_topology_to_json(d->topo), "start_ns",
			 (json_int_t)start_ns, "info", info);
	if (meta)
		ret = tmigr_recording_create_put("recording", put, rec, meta, &rec->writer, NULL);
	json_decref(meta);
	return ret;
}

void method_start_recording(struct client *c, json_t *params)
{
	struct recording *rec = new_recording(c);
	struct tmigr_window_opts opts = {.records = on_records, .mark = on_mark, .arg = rec};
	struct window *w;

	(void)params;
	if (!rec)
		return;
	w = window_open(c, &opts);
	if (!w) {
		free_recording(rec);
		return;
	}
	w->rec = rec;
	if (start(c->d, w, rec) < 0) {
		record_drop(c->d, w);
		window_free(c->d, w);
		client_errorf(c, "EngineFailed", "out of memory");
		return;
	}
	client_reply(c, json_pack("{sI sI}", "window", (json_int_t)w->id, "start_ns",
				  (json_int_t)tmigr_window_start_ns(w->w)));
}

/* ---- stop ---- */

static void on_gone(struct client *c)
{
	free_recording(c->activity_arg);
}

static const struct activity stopping = {.gone = on_gone};

static void on_done(struct transfer *t)
{
	struct recording *rec = t->arg;
	struct client *c = rec->client;
	json_t *report = rec->report;
	__u64 bytes = t->bytes;
	int failed = rec->failed ? rec->failed : t->failed;

	rec->report = NULL;
	c->activity = NULL;
	free_recording(rec);
	if (!failed) {
		client_reply(c, json_pack("{so sI}", "report", report, "bytes", (json_int_t)bytes));
		return;
	}
	json_decref(report);
	client_errorf(c, "WriteFailed", "%s", strerror(-failed));
}

static void finish(struct recording *rec, struct tmigr_window *w, const json_t *info)
{
	json_t *end =
		json_pack("{sI so sO}", "end_ns", (json_int_t)tmigr_window_end_ns(w), "totals",
			  tmigr_window_totals_to_json(tmigr_window_totals(w)), "info", info);

	if (!rec->writer)
		goto out;
	if (!end) {
		give_up(rec, -ENOMEM);
		goto out;
	}
	rec->failed = tmigr_recording_end(rec->writer, end, NULL);
	rec->writer = NULL;
out:
	json_decref(end);
}

void method_stop_recording(struct client *c, json_t *params)
{
	struct window *w = window_find(c, params);
	struct recording *rec = w ? w->rec : NULL;
	struct tmigr_err err = {""};
	json_t *report, *info;
	int ret;

	if (!w)
		return;
	if (!rec) {
		client_bad_param(c, "window"); /* CloseWindow ends it */
		return;
	}
	ret = window_close(c->d, w, &report, &info, &err);
	if (ret == 0) {
		finish(rec, w->w, info);
		json_decref(info);
		rec->report = report;
	}
	w->rec = NULL;
	window_free(c->d, w);
	if (ret < 0) {
		free_recording(rec);
		client_errorf(c, "EngineFailed", "%s", err.text);
		return;
	}
	rec->client = c;
	client_begin(c, &stopping, rec);
	transfer_finish(rec->out, on_done, rec);
}
