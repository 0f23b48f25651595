// SPDX-License-Identifier: GPL-2.0-or-later
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "methods.h"
#include "tmigr/recording.h"

/* So long before its end a recording is looked at: what the edge takes, and a round
 * of the loop that may be under way. */
#define ROUND_NS (NS_PER_SEC / 20)

struct recording {
	struct tmigr_recording_writer *writer; /* NULL: failed */
	struct bytes frames;		       /* that are not sent yet */
	__u64 bytes;			       /* sent */
	__u64 end_ns;			       /* where the window ends by itself; 0: it does not */
	int failed;			       /* negative errno */
};

/* ---- what the window brings ---- */

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
	bytes_clear(&rec->frames);
	free(rec);
}

void record_drop(struct window *w)
{
	struct recording *rec = w->rec;

	w->rec = NULL;
	/* The window's records must find no one: it goes with it. */
	tmigr_window_free(w->w);
	w->w = NULL;
	free_recording(rec);
}

/* ---- out ---- */

static json_t *figures(const struct window *w)
{
	return json_pack("{sI sI sI}", "window", (json_int_t)w->id, "start_ns",
			 (json_int_t)tmigr_window_start_ns(w->w), "bytes",
			 (json_int_t)w->rec->bytes);
}

/* All frames that wait.  False: the client is cut off, and the window gone. */
static bool send_frames(struct window *w)
{
	struct client *c = w->owner;
	struct bytes b = w->rec->frames;
	size_t size;

	w->rec->frames = (struct bytes){.data = NULL};
	for (size_t done = 0; c->activity && done < b.n; done += size) {
		size = b.n - done < MSG_PIECE ? b.n - done : MSG_PIECE;
		w->rec->bytes += size;
		client_stream(c, msg_more(figures(w), b.data + done, size));
	}
	bytes_clear(&b);
	return c->activity;
}

static struct window *find_waiting(struct tmigrd *d)
{
	struct window *w = d->windows;

	while (w && !(w->rec && w->rec->frames.n))
		w = w->next;
	return w;
}

/* Who does not read is cut off and takes his windows along: looked for anew. */
void records_send(struct tmigrd *d)
{
	struct window *w;

	while ((w = find_waiting(d)))
		send_frames(w);
}

/* ---- the end ---- */

static void add_end(struct recording *rec, struct window *w, const json_t *info)
{
	json_t *end =
		json_pack("{sI so sO}", "end_ns", (json_int_t)tmigr_window_end_ns(w->w), "totals",
			  tmigr_window_totals_to_json(tmigr_window_totals(w->w)), "info", info);

	if (rec->writer && end && topology_add_late(w->owner->d, w->topo, end) == 0) {
		rec->failed = tmigr_recording_end(rec->writer, end, NULL);
		rec->writer = NULL;
	} else if (rec->writer) {
		give_up(rec, -ENOMEM);
	}
	json_decref(end);
}

/* At @at_ns, or now (0).  *@ret_report: the window's. */
static int close_window(struct tmigrd *d, struct window *w, __u64 at_ns, json_t **ret_report,
			struct tmigr_err *err)
{
	json_t *info;
	int ret = at_ns ? tmigr_engine_hold_edge_at(d->engine, at_ns, NULL, err) : 0;

	if (ret == 0)
		ret = window_close(d, w, ret_report, &info, err);
	if (at_ns)
		tmigr_engine_release_edge(d->engine);
	if (ret < 0)
		return ret;
	add_end(w->rec, w, info);
	json_decref(info);
	ret = w->rec->failed;
	if (ret == 0)
		return 0;
	json_decref(*ret_report);
	return tmigr_fail(err, ret, "the recording failed: %s", strerror(-ret));
}

/* Its last frames, and then @last: the window is gone with it. */
static int end_recording(struct tmigrd *d, struct window *w, __u64 at_ns, bool last,
			 __u64 *ret_end_ns)
{
	struct client *c = w->owner;
	struct tmigr_err err = {""};
	json_t *report = NULL, *params = NULL;
	int ret = close_window(d, w, at_ns, &report, &err);

	if (ret == 0 && ret_end_ns)
		*ret_end_ns = tmigr_window_end_ns(w->w);
	if (!send_frames(w)) {
		json_decref(report);
		return ret;
	}
	if (ret == 0 && last) {
		params = figures(w);
		json_object_set(params, "report", report);
	}
	json_decref(report);
	c->activity = NULL;
	record_drop(w);
	window_free(d, w);
	if (ret < 0)
		client_errorf(c, "EngineFailed", "%s", *err.text ? err.text : strerror(-ret));
	else if (last)
		client_reply(c, params);
	return ret;
}

static void on_gone(struct client *c)
{
	struct window *w = c->activity_arg;

	record_drop(w);
	window_free(c->d, w);
}

static void on_stop(struct client *c)
{
	end_recording(c->d, c->activity_arg, 0, false, NULL);
}

static const struct activity streaming = {.gone = on_gone, .stop = on_stop};

/* ---- ends at a given time ---- */

static struct window *next_end(const struct tmigrd *d)
{
	struct window *found = NULL;

	for (struct window *w = d->windows; w; w = w->next)
		if (w->rec && w->rec->end_ns && (!found || w->rec->end_ns < found->rec->end_ns))
			found = w;
	return found;
}

static __u64 lead_ns(const struct tmigrd *d)
{
	return tmigr_engine_edge_lead_ns(d->engine) + ROUND_NS;
}

/* A timer of its own: the wait for the next drain is a lax one. */
static void arm(struct tmigrd *d)
{
	const struct window *w = next_end(d);
	struct itimerspec t = {.it_value = {.tv_sec = 0}};

	if (w) {
		__u64 at = w->rec->end_ns > lead_ns(d) ? w->rec->end_ns - lead_ns(d) : 1;

		t.it_value.tv_sec = (time_t)(at / NS_PER_SEC);
		t.it_value.tv_nsec = (long)(at % NS_PER_SEC);
	}
	timerfd_settime(d->ends.fd, TFD_TIMER_ABSTIME, &t, NULL);
}

static void on_time(struct source *s, uint32_t events)
{
	struct tmigrd *d = (struct tmigrd *)((char *)s - offsetof(struct tmigrd, ends));
	struct window *w;
	__u64 n;

	(void)events;
	if (read(s->fd, &n, sizeof(n)) != sizeof(n))
		return;
	while ((w = next_end(d)) && w->rec->end_ns <= tmigr_now_ns() + lead_ns(d))
		end_recording(d, w, w->rec->end_ns, true, NULL);
	arm(d);
}

int records_init(struct tmigrd *d)
{
	d->ends.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	d->ends.fn = on_time;
	return d->ends.fd < 0 ? -errno : loop_add(&d->loop, &d->ends, EPOLLIN);
}

/* ---- methods ---- */

static unsigned int count(const struct tmigrd *d)
{
	unsigned int n = 0;

	for (const struct window *w = d->windows; w; w = w->next)
		n += w->rec != NULL;
	return n;
}

static int start(struct tmigrd *d, struct window *w, struct recording *rec)
{
	json_t *meta = topology_meta(d, w->topo, tmigr_window_start_ns(w->w), w->start_time);
	int ret = meta ? tmigr_recording_create_put("recording", bytes_put, &rec->frames, meta,
						    &rec->writer, NULL)
		       : -ENOMEM;

	json_decref(meta);
	return ret;
}

void method_start_recording(struct client *c, json_t *params)
{
	__u64 duration_ns = (__u64)param_int(params, "duration_ns", 0);
	struct tmigrd *d = c->d;
	struct recording *rec;
	struct tmigr_window_opts opts = {.records = on_records, .mark = on_mark};
	struct window *w;

	if (count(d) >= RECORDINGS_MAX) {
		client_errorf(c, "TooMany", "%d recordings at most", RECORDINGS_MAX);
		return;
	}
	opts.arg = rec = calloc(1, sizeof(*rec));
	w = rec ? window_open(c, &opts) : NULL;
	if (!w) {
		if (!rec)
			client_errorf(c, "EngineFailed", "out of memory");
		free(rec);
		return;
	}
	w->rec = rec;
	if (start(d, w, rec) < 0) {
		record_drop(w);
		window_free(d, w);
		client_errorf(c, "EngineFailed", "out of memory");
		return;
	}
	if (duration_ns)
		rec->end_ns = tmigr_window_start_ns(w->w) + duration_ns;
	client_begin(c, &streaming, w);
	client_stream(c, msg_more(figures(w), NULL, 0));
	records_send(d);
	arm(d);
}

/* From another connection: one that streams answers nothing else. */
void method_stop_recording(struct client *c, json_t *params)
{
	__u64 id = (__u64)param_int(params, "window", 0), end_ns = 0;
	struct window *w = c->d->windows;

	while (w && !(w->rec && w->id == id && window_may(c, w)))
		w = w->next;
	if (!w)
		client_error(c, "NoSuchWindow", json_pack("{sI}", "window", (json_int_t)id));
	else if (end_recording(c->d, w, 0, true, &end_ns) < 0)
		client_errorf(c, "EngineFailed", "the recording ends without figures");
	else
		client_reply(c, json_pack("{sI}", "end_ns", (json_int_t)end_ns));
}
