// SPDX-License-Identifier: GPL-2.0-or-later
#include "msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/base64.h"

struct msg *msg_new(const void *data, size_t size)
{
	struct msg *m = malloc(sizeof(*m) + size);

	if (!m)
		return NULL;
	m->refs = 1;
	m->size = size;
	if (data)
		memcpy(m->data, data, size);
	return m;
}

int bytes_put(void *arg, const void *data, size_t size)
{
	struct bytes *b = arg;

	if (b->n + size > b->cap) {
		size_t cap = (b->n + size) * 2;
		char *p = realloc(b->data, cap);

		if (!p)
			return -ENOMEM;
		b->data = p;
		b->cap = cap;
	}
	memcpy(b->data + b->n, data, size);
	b->n += size;
	return 0;
}

void bytes_clear(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){.data = NULL};
}

/* A message in the making. */
struct growing {
	struct msg *msg;
	size_t cap;
};

static int grow(const char *text, size_t size, void *arg)
{
	struct growing *g = arg;
	size_t want = (g->msg ? g->msg->size : 0) + size + 1;
	struct msg *m = g->msg;

	if (want > g->cap) {
		g->cap = want < 4096 ? 4096 : 2 * want;
		m = realloc(m, sizeof(*m) + g->cap);
		if (!m)
			return -1;
		if (!g->msg)
			m->size = 0;
		g->msg = m;
	}
	memcpy(m->data + m->size, text, size);
	m->size += size;
	return 0;
}

/* Written once, where it stays: with many marks it is large. */
struct msg *msg_json(json_t *json)
{
	struct growing g = {.msg = NULL};
	struct msg *m;

	if (!json || json_dump_callback(json, grow, &g, JSON_COMPACT) < 0) {
		free(g.msg);
		json_decref(json);
		return NULL;
	}
	json_decref(json);
	g.msg->data[g.msg->size++] = '\0';
	g.msg->refs = 1;
	m = realloc(g.msg, sizeof(*m) + g.msg->size);
	/* cppcheck-suppress memleak; it is the caller's */
	return m ? m : g.msg;
}

struct msg *msg_more(json_t *params, const void *data, size_t n)
{
	char *text = n ? malloc(TMIGR_BASE64_SIZE(n)) : NULL;

	if (text)
		tmigr_base64_encode(data, n, text);
	if (!params || (n && (!text || json_object_set_new(params, "data", json_string(text))))) {
		free(text);
		json_decref(params);
		return NULL;
	}
	free(text);
	return msg_json(json_pack("{so sb}", "parameters", params, "continues", 1));
}

struct msg *msg_ref(struct msg *m)
{
	m->refs++;
	return m;
}

void msg_unref(struct msg *m)
{
	if (m && !--m->refs)
		free(m);
}

void msgq_init(struct msgq *q)
{
	*q = (struct msgq){.head = NULL};
	q->tail = &q->head;
}

int msgq_add(struct msgq *q, struct msg *m)
{
	struct msgq_item *item = m ? malloc(sizeof(*item)) : NULL;

	if (!item) {
		msg_unref(m);
		return -ENOMEM;
	}
	item->next = NULL;
	item->msg = m;
	*q->tail = item;
	q->tail = &item->next;
	q->bytes += m->size;
	return 0;
}

static void pop(struct msgq *q)
{
	struct msgq_item *item = q->head;

	q->head = item->next;
	if (!q->head)
		q->tail = &q->head;
	q->bytes -= item->msg->size - q->done;
	q->done = 0;
	msg_unref(item->msg);
	free(item);
}

const char *msgq_peek(const struct msgq *q, size_t *ret_size)
{
	*ret_size = q->head ? q->head->msg->size - q->done : 0;
	return q->head ? q->head->msg->data + q->done : NULL;
}

void msgq_advance(struct msgq *q, size_t n)
{
	while (n) {
		size_t left = q->head->msg->size - q->done;
		size_t step = n < left ? n : left;

		q->done += step;
		q->bytes -= step;
		n -= step;
		if (q->done == q->head->msg->size)
			pop(q);
	}
}

size_t msgq_weight(const struct msgq *q)
{
	size_t sum = 0;

	for (const struct msgq_item *i = q->head; i; i = i->next)
		sum += sizeof(*i) + (sizeof(*i->msg) + i->msg->size) / i->msg->refs;
	return sum;
}

void msgq_drop_unsent(struct msgq *q)
{
	struct msgq_item *first = q->done ? q->head : NULL;
	size_t done = q->done;

	if (first) {
		q->head = first->next;
		q->bytes -= first->msg->size - done;
		q->done = 0;
	}
	while (q->head)
		pop(q);
	q->tail = &q->head;
	if (!first)
		return;
	first->next = NULL;
	q->head = first;
	q->tail = &first->next;
	q->done = done;
	q->bytes = first->msg->size - done;
}

void msgq_free(struct msgq *q)
{
	while (q->head)
		pop(q);
}
