// SPDX-License-Identifier: GPL-2.0-or-later
#include "flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/recording.h"
#include "windows.h"
#include "tmigr/info.h"

/* A key for every so much of the limits: what a dump may have too much, and what
 * goes at once. */
#define KEYS 8

struct entry {
	struct entry *next;
	__u64 mark_ns; /* its watermark */
	struct msg *events;
	/* A key. */
	struct msg *start;
	__u64 start_ns;
	struct tmigr_topology *topo; /* as it began */
};

struct flight {
	struct tmigrd *d;
	struct entry *first, **tail;
	size_t bytes;
	struct tmigr_recording_writer *writer; /* of the entries; NULL: failed */
	struct bytes frames;

	/* The key that is being made. */
	struct tmigr_window *key;
	struct tmigr_topology *key_topo;
	struct tmigr_recording_writer *key_writer;
	struct bytes key_frames;
	__u64 key_start_ns;
	bool announced; /* its edge */

	__u64 last_key_ns;
	size_t since_key; /* bytes */
};

/* ---- writers ---- */

static int new_writer(struct tmigrd *d, const struct tmigr_topology *start, __u64 start_ns,
		      struct bytes *to, struct tmigr_recording_writer **ret)
{
	char time[TMIGR_INFO_TIME_MAX];
	json_t *meta;
	int r;

	tmigr_info_time(time, sizeof(time));
	meta = topology_meta(d, start, start_ns, time);
	r = meta ? tmigr_recording_create_put("flight recorder", bytes_put, to, meta, ret, NULL)
		 : -ENOMEM;
	json_decref(meta);
	return r;
}

/* What is not there any more when memory is short: the recorder begins anew. */
static void fail(struct flight *f, int err)
{
	log_line(LOG_ERR, "the flight recorder begins anew: %s", strerror(-err));
	tmigr_recording_abort(f->writer);
	f->writer = NULL;
	bytes_clear(&f->frames);
}

static int tap(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct flight *f = arg;
	int ret = f->writer ? tmigr_recording_events(f->writer, recs, n, NULL) : 0;

	if (ret < 0)
		fail(f, ret);
	return 0; /* an error would end the tap */
}

static int key_records(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct flight *f = arg;

	return f->key_writer ? tmigr_recording_events(f->key_writer, recs, n, NULL) : 0;
}

static int key_mark(void *arg, __u64 watermark_ns)
{
	struct flight *f = arg;

	return f->key_writer ? tmigr_recording_mark(f->key_writer, watermark_ns, NULL) : 0;
}

/* ---- entries ---- */

static void free_entry(struct entry *e)
{
	msg_unref(e->events);
	msg_unref(e->start);
	tmigr_topology_free(e->topo);
	free(e);
}

static size_t entry_bytes(const struct entry *e)
{
	size_t n = e->events->size;

	if (e->start)
		n += e->start->size + e->topo->n_cpus * sizeof(*e->topo->cpus);
	return n;
}

static void drop_first(struct flight *f)
{
	struct entry *e = f->first;

	f->first = e->next;
	if (!f->first)
		f->tail = &f->first;
	f->bytes -= entry_bytes(e);
	free_entry(e);
}

static const struct entry *next_key(const struct entry *e)
{
	do {
		e = e->next;
	} while (e && !e->start);
	return e;
}

/* Too much, or the next key alone would reach back far enough. */
static bool may_go(const struct flight *f, const struct entry *next, __u64 now)
{
	return f->bytes > f->d->opts->flight_bytes || next->start_ns + f->d->opts->flight_ns < now;
}

static void evict(struct flight *f, __u64 now)
{
	const struct entry *next;

	while (f->first && (next = next_key(f->first)) && may_go(f, next, now))
		while (f->first != next)
			drop_first(f);
}

static void drop_all(struct flight *f)
{
	while (f->first)
		drop_first(f);
}

/* ---- drains ---- */

static bool key_is_due(const struct flight *f, __u64 now)
{
	return !f->first || now - f->last_key_ns > f->d->opts->flight_ns / KEYS ||
	       f->since_key > f->d->opts->flight_bytes / KEYS;
}

static void end_key(struct flight *f)
{
	tmigr_recording_abort(f->key_writer);
	f->key_writer = NULL;
	tmigr_window_free(f->key);
	f->key = NULL;
	tmigr_topology_free(f->key_topo);
	f->key_topo = NULL;
	bytes_clear(&f->key_frames);
}

/* At the held edge, or one of its own. */
static int begin_key(struct flight *f)
{
	struct tmigr_window_opts opts = {.records = key_records, .mark = key_mark, .arg = f};
	struct tmigr_err err = {""};
	int ret = -ENOMEM;

	opts.topo = f->key_topo = topology_now(f->d);
	if (f->key_topo)
		ret = tmigr_engine_window_open(f->d->engine, &opts, &f->key, &err);
	if (ret == 0) {
		f->key_start_ns = tmigr_window_start_ns(f->key);
		ret = new_writer(f->d, f->key_topo, f->key_start_ns, &f->key_frames,
				 &f->key_writer);
	}
	if (ret < 0) {
		log_line(LOG_ERR, "the flight recorder has no start: %s",
			 *err.text ? err.text : strerror(-ret));
		end_key(f);
		return ret;
	}
	f->last_key_ns = f->key_start_ns;
	f->since_key = 0;
	return 0;
}

/* Without a wait, which would wake the daemon once more: the edge is announced after
 * one drain and read before the next.  Where somebody's edge came in between, the
 * daemon is not idle anyway. */
static void try_key(struct flight *f)
{
	bool announced = f->announced;
	struct tmigr_err err = {""};
	__u64 edge_ns;

	f->announced = false;
	if (tmigr_engine_hold_announced(f->d->engine, &edge_ns, &err) == 0) {
		begin_key(f);
		tmigr_engine_release_edge(f->d->engine);
	} else if (announced || !f->first) {
		begin_key(f);
	}
}

void flight_before_drain(struct flight *f)
{
	__u64 now = tmigr_now_ns();

	if (!f)
		return;
	if (!f->writer) {
		/* Entries before a gap lead nowhere. */
		drop_all(f);
		if (new_writer(f->d, f->d->topo, now, &f->frames, &f->writer) < 0)
			return;
		f->frames.n = 0; /* entries have no head of their own */
	}
	if (key_is_due(f, now))
		try_key(f);
}

/* ftrace has no edges to announce: one is made when the key is due. */
static bool announce(struct flight *f)
{
	int ret = tmigr_engine_announce_edge(f->d->engine, NULL);

	return ret == 0 || ret == -EOPNOTSUPP;
}

static struct entry *new_entry(struct flight *f, __u64 watermark_ns)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->mark_ns = watermark_ns;
	e->events = msg_new(f->frames.data, f->frames.n);
	if (f->key_writer) {
		e->start = msg_new(f->key_frames.data, f->key_frames.n);
		e->start_ns = f->key_start_ns;
		e->topo = f->key_topo;
		f->key_topo = NULL;
	}
	if (e->events && (e->start || !f->key_writer))
		return e;
	free_entry(e);
	return NULL;
}

void flight_after_drain(struct flight *f, __u64 watermark_ns)
{
	struct entry *e = NULL;
	int ret;

	if (!f || !f->writer)
		return;
	ret = tmigr_recording_mark(f->writer, watermark_ns, NULL);
	if (ret == 0)
		e = new_entry(f, watermark_ns);
	end_key(f);
	if (!e) {
		fail(f, ret ? ret : -ENOMEM);
		return;
	}
	bytes_clear(&f->frames);
	*f->tail = e;
	f->tail = &e->next;
	f->bytes += entry_bytes(e);
	f->since_key += entry_bytes(e);
	evict(f, tmigr_now_ns());
	if (key_is_due(f, tmigr_now_ns() + f->d->opts->drain_ns))
		f->announced = announce(f);
}

/* ---- dumps ---- */

static const struct entry *last_entry(const struct flight *f)
{
	const struct entry *e = f->first;

	while (e && e->next)
		e = e->next;
	return e;
}

/* The youngest key that reaches back to @from_ns, else the oldest. */
static const struct entry *find_start(const struct flight *f, __u64 from_ns)
{
	const struct entry *e = f->first, *found;

	if (e && !e->start)
		e = next_key(e);
	found = e;
	for (; e; e = next_key(e))
		if (e->start_ns <= from_ns)
			found = e;
	return found;
}

void flight_state(const struct flight *f, struct flight_state *ret)
{
	const struct entry *first = f ? find_start(f, 0) : NULL;

	*ret = (struct flight_state){.bytes = f ? f->bytes : 0};
	if (!first)
		return;
	ret->from_ns = first->start_ns;
	ret->to_ns = last_entry(f)->mark_ns;
}

/* No totals: residency comes from the timeline. */
static int add_end(struct flight *f, const struct entry *start, __u64 end_ns, struct msgq *q)
{
	struct tmigr_recording_writer *w = NULL;
	struct bytes bytes = {.data = NULL};
	json_t *end = json_pack("{sI sn s{so}}", "end_ns", (json_int_t)end_ns, "totals", "info",
				"marks", marks_json(&f->d->marks, start->start_ns, end_ns));
	int ret = end ? topology_add_late(f->d, start->topo, end) : -ENOMEM;

	if (ret == 0)
		ret = new_writer(f->d, start->topo, start->start_ns, &bytes, &w);
	if (ret == 0) {
		bytes.n = 0; /* its head and META are in the key */
		ret = tmigr_recording_end(w, end, NULL);
	}
	if (ret == 0)
		ret = msgq_add(q, msg_new(bytes.data, bytes.n));
	json_decref(end);
	bytes_clear(&bytes);
	return ret;
}

int flight_dump(struct flight *f, __u64 last_ns, struct msgq *q, __u64 *ret_start_ns,
		__u64 *ret_end_ns)
{
	__u64 now = tmigr_now_ns(), end_ns;
	const struct entry *start = find_start(f, last_ns < now ? now - last_ns : 0), *e;
	int ret;

	if (!start)
		return -ENODATA;
	end_ns = last_entry(f)->mark_ns;
	if (end_ns < start->start_ns)
		end_ns = start->start_ns;
	ret = msgq_add(q, msg_ref(start->start));
	for (e = start->next; e && !ret; e = e->next)
		ret = msgq_add(q, msg_ref(e->events));
	if (ret == 0)
		ret = add_end(f, start, end_ns, q);
	if (ret)
		return ret;
	*ret_start_ns = start->start_ns;
	*ret_end_ns = end_ns;
	return 0;
}

/* ---- life ---- */

int flight_new(struct tmigrd *d)
{
	struct flight *f;

	if (!d->opts->flight_ns || !d->opts->flight_bytes)
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->d = d;
	f->tail = &f->first;
	d->flight = f;
	tmigr_engine_tap(d->engine, tap, f);
	return 0;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	end_key(f);
	tmigr_recording_abort(f->writer);
	bytes_clear(&f->frames);
	drop_all(f);
	free(f);
}
