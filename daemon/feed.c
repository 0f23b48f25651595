// SPDX-License-Identifier: GPL-2.0-or-later
#include "feed.h"

#include <errno.h>
#include <stdlib.h>

#include "methods.h"
#include "windows.h"
#include "tmigr/info.h"

struct subscriber {
	struct subscriber *next, **link;
	struct client *client;
	struct feed *feed;
};

struct feed {
	struct feed *next;
	__u64 period_ns, next_ns;
	struct tmigr_window *w; /* NULL: not begun yet */
	struct tmigr_topology *topo;
	char start_time[40];
	struct subscriber *subscribers;
	unsigned int n;
};

/* ---- subscribers ---- */

static void unsubscribe(struct subscriber *s)
{
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	s->feed->n--; /* an empty feed ends at its next sample */
	free(s);
}

static void on_gone(struct client *c)
{
	unsubscribe(c->activity_arg);
}

static const struct activity subscription = {.gone = on_gone};

static int subscribe(struct feed *f, struct client *c)
{
	struct subscriber *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->client = c;
	s->feed = f;
	s->next = f->subscribers;
	s->link = &f->subscribers;
	if (s->next)
		s->next->link = &s->next;
	f->subscribers = s;
	f->n++;
	client_begin(c, &subscription, s);
	return 0;
}

unsigned int feeds_subscribers(const struct tmigrd *d)
{
	unsigned int n = 0;

	for (const struct feed *f = d->feeds; f; f = f->next)
		n += f->n;
	return n;
}

/* ---- feeds ---- */

static void send_all(struct feed *f, struct msg *m)
{
	struct subscriber *s, *next;

	for (s = f->subscribers; s; s = next) {
		next = s->next;
		client_stream(s->client, m ? msg_ref(m) : NULL);
	}
	msg_unref(m);
}

static void free_feed(struct tmigrd *d, struct feed *f)
{
	struct feed **p = &d->feeds;

	while (*p != f)
		p = &(*p)->next;
	*p = f->next;
	tmigr_window_free(f->w);
	tmigr_topology_free(f->topo);
	free(f);
}

/* The engine cannot go on with it: all are told. */
static void end_feed(struct tmigrd *d, struct feed *f, const char *why)
{
	while (f->subscribers) {
		struct client *c = f->subscribers->client;

		c->activity = NULL;
		unsubscribe(f->subscribers);
		client_errorf(c, "EngineFailed", "%s", why);
	}
	free_feed(d, f);
}

static struct msg *sample_msg(struct tmigrd *d, const struct feed *f, struct tmigr_window *w)
{
	json_t *info =
		window_info(d, f->start_time, tmigr_window_start_ns(w), tmigr_window_end_ns(w));
	json_t *report = window_report(d, w, f->topo, info);

	json_decref(info);
	if (!report)
		return NULL;
	return msg_json(json_pack("{s{so} sb}", "parameters", "report", report, "continues", 1));
}

static void sample(struct tmigrd *d, struct feed *f)
{
	struct tmigr_window *last = f->w;
	struct tmigr_topology *topo = topology_now(d);
	struct tmigr_window_opts opts = {.after = last, .topo = topo};
	struct tmigr_err err = {"out of memory"};

	f->w = NULL;
	if (!topo || tmigr_engine_window_open(d->engine, &opts, &f->w, &err) < 0) {
		log_line(LOG_ERR, "a sample failed: %s", err.text);
		tmigr_window_free(last);
		tmigr_topology_free(topo);
		end_feed(d, f, err.text);
		return;
	}
	if (last)
		send_all(f, sample_msg(d, f, last));
	tmigr_window_free(last);
	tmigr_topology_free(f->topo);
	f->topo = topo;
	tmigr_info_time(f->start_time, sizeof(f->start_time));
}

/* Half a drain before its time counts as due: the next drain would be later
 * than that. */
static bool is_due(const struct tmigrd *d, const struct feed *f, __u64 now)
{
	return f->next_ns <= now + d->opts->drain_ns / 2;
}

void feeds_run(struct tmigrd *d, __u64 now)
{
	struct tmigr_err err = {""};
	struct feed *f, *next;
	bool held = false;
	__u64 edge;

	for (f = d->feeds; f; f = next) {
		next = f->next;
		if (!is_due(d, f, now))
			continue;
		if (!f->subscribers) {
			free_feed(d, f);
			continue;
		}
		/* One edge for all. */
		if (!held)
			held = tmigr_engine_hold_edge(d->engine, &edge, &err) == 0;
		while (is_due(d, f, now))
			f->next_ns += f->period_ns;
		sample(d, f);
	}
	if (held)
		tmigr_engine_release_edge(d->engine);
}

/* It begins with the next drain: so the first window is as long as all of them. */
static struct feed *new_feed(struct tmigrd *d, __u64 period_ns)
{
	struct feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->period_ns = period_ns;
	f->next_ns = d->next_drain_ns;
	f->next = d->feeds;
	d->feeds = f;
	return f;
}

void feeds_free(struct tmigrd *d)
{
	while (d->feeds) {
		while (d->feeds->subscribers)
			unsubscribe(d->feeds->subscribers);
		free_feed(d, d->feeds);
	}
}

void method_subscribe(struct client *c, json_t *params)
{
	__u64 period_ns = (__u64)param_int(params, "period_ms", 0) * 1000000;
	unsigned int n = 0;
	struct feed *f;

	for (f = c->d->feeds; f && f->period_ns != period_ns; f = f->next)
		n++;
	if (!f && n >= FEEDS_MAX) {
		client_errorf(c, "TooMany", "%d different periods at most", FEEDS_MAX);
		return;
	}
	if (!f)
		f = new_feed(c->d, period_ns);
	if (!f || subscribe(f, c) < 0)
		client_errorf(c, "EngineFailed", "out of memory");
}
