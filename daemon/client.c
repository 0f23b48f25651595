// SPDX-License-Identifier: GPL-2.0-or-later
#include "client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "methods.h"
#include "tmigrd.h"

/* Time to take the last message before the connection is closed. */
#define LINGER_NS (5 * NS_PER_SEC)
/* The same when the daemon ends. */
#define STOP_NS NS_PER_SEC
#define ENDS	"the daemon ends"
/* Time for requests in one round: those left over come first in the next, after
 * what is due by then. */
#define ROUND_NS (NS_PER_SEC / 20)

static void on_events(struct source *s, uint32_t events);

/* ---- lists ---- */

void clients_init(struct clients *cs)
{
	*cs = (struct clients){.first = NULL};
	cs->ready_tail = &cs->ready;
}

static void set_ready(struct client *c)
{
	struct clients *cs = &c->d->clients;

	if (c->is_ready || c->dead)
		return;
	c->is_ready = true;
	c->next_ready = NULL;
	*cs->ready_tail = c;
	cs->ready_tail = &c->next_ready;
}

/* ---- the end ---- */

static void end_activity(struct client *c)
{
	const struct activity *a = c->activity;

	c->activity = NULL;
	if (a && a->gone)
		a->gone(c);
}

static void kill_client(struct client *c)
{
	struct clients *cs = &c->d->clients;

	if (c->dead)
		return;
	end_activity(c);
	windows_drop(c->d, c);
	c->dead = true;
	loop_del(&c->d->loop, &c->src);
	close(c->src.fd);
	c->src.fd = -1;
	msgq_free(&c->out); /* the rest may have to wait for its turn in the ready list */
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	c->next = cs->dead;
	cs->dead = c;
	cs->n--;
	listen_resume(c->d);
}

static void free_client(struct client *c)
{
	free(c->in);
	free(c);
}

void clients_reap(struct tmigrd *d)
{
	struct client **p = &d->clients.dead, *c;

	while ((c = *p)) {
		if (c->is_ready) { /* still in that list: next round */
			p = &c->next;
			continue;
		}
		*p = c->next;
		free_client(c);
	}
}

/* ---- out ---- */

static bool may_read(const struct client *c)
{
	return !c->dead && !c->closing && !c->eof && c->n_in <= REQUEST_MAX;
}

/* What the connection waits for now. */
static void update_events(struct client *c)
{
	uint32_t events = 0;

	if (c->dead)
		return;
	if (may_read(c))
		events |= EPOLLIN;
	if (c->out.bytes)
		events |= EPOLLOUT;
	if (events == c->events)
		return;
	c->events = events;
	if (loop_mod(&c->d->loop, &c->src, events) < 0)
		kill_client(c);
}

static void flush(struct client *c)
{
	size_t size;
	const char *data;

	while (!c->dead && (data = msgq_peek(&c->out, &size)) && size) {
		ssize_t n = send(c->src.fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
			break;
		if (n < 0) {
			kill_client(c);
			return;
		}
		msgq_advance(&c->out, (size_t)n);
	}
	if (c->closing && !c->out.bytes)
		kill_client(c);
}

static void start_closing(struct client *c)
{
	if (c->closing || c->dead)
		return;
	c->closing = true;
	c->close_ns = tmigr_now_ns() + LINGER_NS;
	c->n_in = 0;
}

static void push(struct client *c, struct msg *m)
{
	if (c->dead || c->closing) {
		msg_unref(m);
		return;
	}
	if (msgq_add(&c->out, m) < 0) {
		log_line(LOG_ERR, "no memory for a reply: client %d is cut off", (int)c->cred.pid);
		kill_client(c);
		return;
	}
	flush(c);
	update_events(c);
	if (c->out.bytes > CLIENT_OUT_IDLE)
		c->d->clients.check = true;
}

static json_t *error_json(const char *name, json_t *params)
{
	char full[128];

	snprintf(full, sizeof(full), "%s%s", strchr(name, '.') ? "" : INTERFACE ".", name);
	return json_pack("{ss so}", "error", full, "parameters", params ? params : json_object());
}

static void call_over(struct client *c)
{
	c->in_call = false;
	c->activity = NULL;
	if (c->n_in || c->eof)
		set_ready(c);
}

void client_reply(struct client *c, json_t *params)
{
	if (!c->oneway)
		push(c, msg_json(json_pack("{so}", "parameters", params ? params : json_object())));
	else
		json_decref(params);
	call_over(c);
}

void client_error(struct client *c, const char *name, json_t *params)
{
	if (!c->oneway)
		push(c, msg_json(error_json(name, params)));
	else
		json_decref(params);
	call_over(c);
}

void client_errorf(struct client *c, const char *name, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* Not the client's fault: whoever keeps the daemon is told too. */
	if (!strcmp(name, "EngineFailed"))
		log_line(LOG_ERR, "client %d was told that the engine failed: %s", (int)c->cred.pid,
			 text);
	client_error(c, name, json_pack("{ss}", "reason", text));
}

void client_bad_param(struct client *c, const char *param)
{
	client_error(c, SERVICE ".InvalidParameter", json_pack("{ss}", "parameter", param));
}

void client_cut_off(struct client *c, const char *error, const char *why)
{
	if (c->dead || c->closing)
		return;
	end_activity(c);
	c->d->clients.cut_off++;
	msgq_drop_unsent(&c->out);
	if (msgq_add(&c->out, msg_json(error_json(error, json_pack("{ss}", "reason", why)))) < 0) {
		kill_client(c);
		return;
	}
	start_closing(c);
	flush(c);
	update_events(c);
}

void client_stream(struct client *c, struct msg *m)
{
	if (c->dead || c->closing) {
		msg_unref(m);
		return;
	}
	if (m && c->out.bytes + m->size > CLIENT_OUT_MAX) {
		msg_unref(m);
		client_cut_off(c, "TooSlow", "the client does not read what it asked for");
		return;
	}
	push(c, m);
}

void client_begin(struct client *c, const struct activity *a, void *arg)
{
	c->activity = a;
	c->activity_arg = arg;
}

/* ---- in ---- */

static int reserve(struct client *c)
{
	size_t want = c->n_in + CLIENT_READ;
	char *in;

	if (c->cap_in >= want)
		return 0;
	in = realloc(c->in, want);
	if (!in)
		return -ENOMEM;
	c->in = in;
	c->cap_in = want;
	return 0;
}

/* By recv(2), which takes no descriptor: see listen.c. */
static void read_some(struct client *c)
{
	ssize_t n;

	if (reserve(c) < 0) {
		log_line(LOG_ERR, "no memory for a request: client %d is cut off",
			 (int)c->cred.pid);
		kill_client(c);
		return;
	}
	n = recv(c->src.fd, c->in + c->n_in, CLIENT_READ, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		kill_client(c);
		return;
	}
	if (!n)
		c->eof = true;
	c->n_in += (size_t)n;
}

/* Buffers of clients that are quiet are given back. */
static void consume(struct client *c, size_t n)
{
	c->n_in -= n;
	memmove(c->in, c->in + n, c->n_in);
	if (c->n_in)
		return;
	free(c->in);
	c->in = NULL;
	c->cap_in = 0;
}

static bool may_begin(const struct client *c)
{
	return !c->dead && !c->closing && !c->in_call && c->out.bytes <= CLIENT_OUT_IDLE;
}

static void run_request(struct client *c, const char *text, size_t size)
{
	struct request r;
	const char *why = NULL;

	c->d->clients.requests++;
	if (request_parse(text, size, &r, &why) < 0) {
		client_cut_off(c, "InvalidRequest", why ? why : "out of memory");
		return;
	}
	c->in_call = true;
	c->more = r.more;
	c->oneway = r.oneway;
	methods_call(c, &r);
	request_free(&r);
}

/* The request at the head of the buffer, if it is whole: its size, else -1. */
static ssize_t whole_request(struct client *c)
{
	char *nul = c->n_in ? memchr(c->in, '\0', c->n_in) : NULL;
	size_t size = nul ? (size_t)(nul - c->in) : c->n_in;

	if (size > REQUEST_MAX) {
		client_cut_off(c, "InvalidRequest", "the request is too large");
		return -1;
	}
	return nul ? (ssize_t)size : -1;
}

/*
 * Nothing more will be asked, and all is answered.  A client that has shut down its
 * sending side only (EPOLLRDHUP) gets its answers, and a stream goes on; one that is
 * gone shows by EPOLLHUP.
 */
static bool is_over(const struct client *c)
{
	return c->eof && !c->in_call && !c->is_ready && !c->out.bytes;
}

/* One request, if one is there and the last one is answered. */
static void step(struct client *c)
{
	ssize_t size = may_begin(c) ? whole_request(c) : -1;

	if (size >= 0) {
		run_request(c, c->in, (size_t)size);
		if (c->dead || c->closing)
			return;
		consume(c, (size_t)size + 1);
		if (c->n_in)
			set_ready(c);
	}
	if (c->n_in)
		c->d->clients.check = true;
	if (is_over(c))
		kill_client(c);
	update_events(c);
}

static void on_events(struct source *s, uint32_t events)
{
	struct client *c = (struct client *)((char *)s - offsetof(struct client, src));

	if (c->dead)
		return;
	if ((events & (EPOLLHUP | EPOLLERR)) && (c->closing || c->in_call)) {
		kill_client(c);
		return;
	}
	if (events & EPOLLOUT) {
		flush(c);
		if (!c->dead && c->activity && c->activity->room && c->out.bytes <= CLIENT_OUT_IDLE)
			c->activity->room(c);
	}
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && may_read(c))
		read_some(c);
	set_ready(c);
}

bool clients_run_ready(struct tmigrd *d)
{
	struct clients *cs = &d->clients;
	struct client *last = cs->ready ? (struct client *)((char *)cs->ready_tail -
							    offsetof(struct client, next_ready))
					: NULL;
	__u64 until = tmigr_now_ns() + ROUND_NS;
	struct client *c;

	while ((c = cs->ready)) {
		cs->ready = c->next_ready;
		if (!cs->ready)
			cs->ready_tail = &cs->ready;
		c->is_ready = false;
		if (!c->dead)
			step(c);
		if (c == last || tmigr_now_ns() >= until)
			break;
	}
	return cs->ready;
}

/* ---- life ---- */

int client_new(struct tmigrd *d, int fd, const struct ucred *cred)
{
	struct clients *cs = &d->clients;
	struct client *c = calloc(1, sizeof(*c));
	int ret = c ? 0 : -ENOMEM, size = CLIENT_SNDBUF;

	if (c) {
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		c->src = (struct source){.fd = fd, .fn = on_events};
		c->d = d;
		c->cred = *cred;
		c->events = EPOLLIN;
		msgq_init(&c->out);
		ret = loop_add(&d->loop, &c->src, c->events);
	}
	if (ret < 0) {
		free(c);
		close(fd);
		return ret;
	}
	c->next = cs->first;
	c->link = &cs->first;
	if (c->next)
		c->next->link = &c->next;
	cs->first = c;
	cs->n++;
	cs->served++;
	return 0;
}

static size_t held(const struct client *c)
{
	return c->cap_in + (c->out.bytes > CLIENT_OUT_IDLE ? msgq_weight(&c->out) : 0);
}

void clients_bound(struct tmigrd *d)
{
	struct clients *cs = &d->clients;

	while (cs->check) {
		size_t sum = 0, most = 0;
		struct client *c, *found = NULL;

		for (c = cs->first; c; c = c->next) {
			size_t n = held(c);

			sum += n;
			if (n >= most) { /* of equals the oldest */
				most = n;
				found = c;
			}
		}
		if (sum <= CLIENTS_HELD_MAX) {
			cs->check = false;
			return;
		}
		log_line(LOG_WARNING, "clients hold too much: %d is cut off", (int)found->cred.pid);
		client_cut_off(found, "TooSlow", "all clients together hold too much");
		/* A message that has begun cannot be taken back. */
		kill_client(found);
	}
}

void clients_expire(struct tmigrd *d, __u64 now)
{
	struct client *c, *next;

	for (c = d->clients.first; c; c = next) {
		next = c->next;
		if (c->closing && now >= c->close_ns)
			kill_client(c);
	}
}

static void tell_end(struct client *c)
{
	bool whole = c->activity && c->activity->stop;

	if (whole)
		c->activity->stop(c);
	if (whole && c->in_call)
		client_errorf(c, "ShuttingDown", ENDS);
	else if (c->in_call)
		client_cut_off(c, "ShuttingDown", ENDS);
	start_closing(c);
	flush(c);
	update_events(c);
}

void clients_stop(struct tmigrd *d)
{
	struct client *c, *next;
	__u64 until = tmigr_now_ns() + STOP_NS;

	for (c = d->clients.first; c; c = next) {
		next = c->next;
		tell_end(c);
	}
	/* The time for the largest of these to be read, by who reads. */
	while (d->clients.first && tmigr_now_ns() < until)
		loop_round(&d->loop, until);
	for (c = d->clients.first; c; c = next) {
		next = c->next;
		kill_client(c);
	}
	d->clients.ready = NULL;
	for (c = d->clients.dead; c; c = c->next)
		c->is_ready = false;
	clients_reap(d);
}
