/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes on their way out, counted by reference: a sample for 500 subscribers
 * is in memory once, a dump of the flight recorder shares the recorder's frames.
 */
#ifndef TMIGRD_MSG_H
#define TMIGRD_MSG_H

#include <stddef.h>

#include <jansson.h>

struct msg {
	unsigned int refs;
	size_t size;
	char data[];
};

/* One reference, for the caller; NULL: no memory. */
struct msg *msg_new(const void *data, size_t size);
/* A Varlink message: compact JSON and its NUL.  Steals @json; NULL: no memory
 * (or @json is NULL). */
struct msg *msg_json(json_t *json);
/* A reply with more to follow: @params, stolen, and in them @n bytes of @data as
 * base64, where there are any.  NULL: no memory. */
struct msg *msg_more(json_t *params, const void *data, size_t n);
struct msg *msg_ref(struct msg *m);
void msg_unref(struct msg *m); /* NULL is fine */

/* Of a recording, in one reply. */
#define MSG_PIECE (48u << 10)

/* Bytes that gather. */
struct bytes {
	char *data;
	size_t n, cap;
};

/* -ENOMEM. A tmigr_recording_put, with a struct bytes. */
int bytes_put(void *arg, const void *data, size_t size);
void bytes_clear(struct bytes *b);

/* A queue of messages. */
struct msgq_item {
	struct msgq_item *next;
	struct msg *msg;
};

struct msgq {
	struct msgq_item *head, **tail;
	size_t bytes; /* not taken yet */
	size_t done;  /* bytes of the head that are out */
};

void msgq_init(struct msgq *q);
/* Takes over the caller's reference, also on -ENOMEM, which it is too when @m is NULL:
 * there was no memory for it. */
int msgq_add(struct msgq *q, struct msg *m);
/* What is to be written next: its start; *@ret_size 0: nothing. */
const char *msgq_peek(const struct msgq *q, size_t *ret_size);
void msgq_advance(struct msgq *q, size_t n);
/* Memory that would be free without it: of a shared message its share. */
size_t msgq_weight(const struct msgq *q);
/* Drops all that no byte of is out yet. */
void msgq_drop_unsent(struct msgq *q);
void msgq_free(struct msgq *q);

#endif
