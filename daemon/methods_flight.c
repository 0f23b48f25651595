// SPDX-License-Identifier: GPL-2.0-or-later
/* DumpFlight. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flight.h"
#include "methods.h"

#define DUMPS_MAX 4
/* So long a dump may wait for its reader: it holds frames that the recorder has
 * dropped, and one of the few places. */
#define STALL_NS (60 * NS_PER_SEC)

struct dump {
	struct dump *next;
	struct tmigrd *d;
	struct client *client;
	struct msgq q;
	__u64 start_ns, end_ns, bytes;
	size_t waiting; /* bytes, when it was last seen to move */
	__u64 moved_ns;
};

static void free_dump(struct dump *dump)
{
	struct dump **p = &dump->d->dumps;

	while (*p != dump)
		p = &(*p)->next;
	*p = dump->next;
	dump->d->n_dumps--;
	msgq_free(&dump->q);
	free(dump);
}

static json_t *figures(const struct dump *dump)
{
	return json_pack("{sI sI sI}", "bytes", (json_int_t)dump->bytes, "start_ns",
			 (json_int_t)dump->start_ns, "end_ns", (json_int_t)dump->end_ns);
}

static size_t take_piece(struct dump *dump, unsigned char *piece)
{
	size_t n = 0, size;
	const char *data;

	while (n < MSG_PIECE && (data = msgq_peek(&dump->q, &size)) && size) {
		if (size > MSG_PIECE - n)
			size = MSG_PIECE - n;
		memcpy(piece + n, data, size);
		msgq_advance(&dump->q, size);
		n += size;
	}
	return n;
}

static struct msg *piece_msg(struct dump *dump)
{
	unsigned char piece[MSG_PIECE];
	size_t n = take_piece(dump, piece);

	dump->bytes += n;
	return msg_more(figures(dump), piece, n);
}

/* As fast as the client reads, a piece or two ahead. */
static void send_pieces(struct client *c)
{
	struct dump *dump = c->activity_arg;
	json_t *last;

	while (c->activity && dump->q.bytes && c->out.bytes <= CLIENT_OUT_IDLE)
		client_stream(c, piece_msg(dump));
	if (!c->activity || dump->q.bytes)
		return;
	c->activity = NULL;
	last = figures(dump);
	free_dump(dump);
	client_reply(c, last);
}

static void on_gone(struct client *c)
{
	free_dump(c->activity_arg);
}

static const struct activity sending = {.gone = on_gone, .room = send_pieces};

static struct dump *new_dump(struct client *c)
{
	struct dump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return NULL;
	dump->d = c->d;
	dump->client = c;
	msgq_init(&dump->q);
	dump->moved_ns = tmigr_now_ns();
	dump->next = dump->d->dumps;
	dump->d->dumps = dump;
	dump->d->n_dumps++;
	return dump;
}

void dumps_expire(struct tmigrd *d, __u64 now)
{
	struct dump *dump, *next;

	for (dump = d->dumps; dump; dump = next) {
		size_t waiting = dump->q.bytes + dump->client->out.bytes;

		next = dump->next;
		if (waiting != dump->waiting) {
			dump->waiting = waiting;
			dump->moved_ns = now;
		} else if (now >= dump->moved_ns + STALL_NS) {
			client_cut_off(dump->client, "TooSlow", "nobody reads the dump");
		}
	}
}

/* NULL, or the error to answer with. */
static const char *fill(struct dump *dump, __u64 last_ns, const char **ret_why)
{
	struct flight *flight = dump->d->flight;
	int ret;

	*ret_why = "the flight recorder is off";
	if (!flight)
		return "NoFlight";
	ret = flight_dump(flight, last_ns, &dump->q, &dump->start_ns, &dump->end_ns);
	*ret_why = ret == -ENODATA ? "nothing is recorded yet" : "out of memory";
	if (ret == 0)
		return NULL;
	return ret == -ENODATA ? "NoFlight" : "EngineFailed";
}

void method_dump_flight(struct client *c, json_t *params)
{
	__u64 last_ns = (__u64)param_int(params, "last_s", INT32_MAX) * NS_PER_SEC;
	const char *error = "EngineFailed", *why = "out of memory";
	struct dump *dump = NULL;

	if (c->d->n_dumps >= DUMPS_MAX) {
		error = "TooMany";
		why = "other dumps are under way";
	} else {
		dump = new_dump(c);
		if (dump)
			error = fill(dump, last_ns, &why);
	}
	if (!error) {
		client_begin(c, &sending, dump);
		send_pieces(c);
		return;
	}
	if (dump)
		free_dump(dump);
	client_errorf(c, error, "%s", why);
}
