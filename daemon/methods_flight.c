// SPDX-License-Identifier: GPL-2.0-or-later
/* DumpFlight: into a descriptor, or over the connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flight.h"
#include "methods.h"
#include "transfer.h"

#define DUMPS_MAX 4
/* So long a dump may wait for its reader: it holds frames that the recorder has
 * dropped, and one of the few places. */
#define STALL_NS    (60 * NS_PER_SEC)
#define PIECE_BYTES (48u << 10) /* a multiple of 3 */

struct dump {
	struct dump *next;
	struct tmigrd *d;
	struct client *client;
	struct msgq q;
	struct transfer *out; /* NULL: over the connection */
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
	transfer_free(dump->out);
	msgq_free(&dump->q);
	free(dump);
}

static json_t *figures(const struct dump *dump)
{
	return json_pack("{sI sI sI}", "bytes", (json_int_t)dump->bytes, "start_ns",
			 (json_int_t)dump->start_ns, "end_ns", (json_int_t)dump->end_ns);
}

/* ---- over the connection ---- */

static void base64(const unsigned char *data, size_t n, char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		unsigned int left = n - i > 2 ? 3 : (unsigned int)(n - i);
		unsigned int v = (unsigned int)data[i] << 16;

		if (left > 1)
			v |= (unsigned int)data[i + 1] << 8;
		if (left > 2)
			v |= data[i + 2];
		*text++ = digits[v >> 18];
		*text++ = digits[v >> 12 & 63];
		*text++ = left > 1 ? digits[v >> 6 & 63] : '=';
		*text++ = left > 2 ? digits[v & 63] : '=';
	}
	*text = '\0';
}

static size_t take_piece(struct dump *dump, unsigned char *piece)
{
	size_t n = 0, size;
	const char *data;

	while (n < PIECE_BYTES && (data = msgq_peek(&dump->q, &size)) && size) {
		if (size > PIECE_BYTES - n)
			size = PIECE_BYTES - n;
		memcpy(piece + n, data, size);
		msgq_advance(&dump->q, size);
		n += size;
	}
	return n;
}

static struct msg *piece_msg(struct dump *dump)
{
	unsigned char piece[PIECE_BYTES];
	size_t n = take_piece(dump, piece);
	char *text = malloc(n / 3 * 4 + 8);
	json_t *params;

	if (!text)
		return NULL;
	base64(piece, n, text);
	dump->bytes += n;
	params = figures(dump);
	if (params)
		json_object_set_new(params, "data", json_string(text));
	free(text);
	return msg_json(json_pack("{so sb}", "parameters", params, "continues", 1));
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

/* ---- into a descriptor ---- */

static void on_done(struct transfer *t)
{
	struct dump *dump = t->arg;
	struct client *c = dump->client;
	int failed = t->failed;
	json_t *params;

	dump->bytes = t->bytes;
	params = failed ? NULL : figures(dump);
	c->activity = NULL;
	free_dump(dump);
	if (failed)
		client_errorf(c, "WriteFailed", "%s", strerror(-failed));
	else
		client_reply(c, params);
}

static void on_gone(struct client *c)
{
	free_dump(c->activity_arg);
}

static const struct activity over_connection = {.gone = on_gone, .room = send_pieces};
static const struct activity into_fd = {.gone = on_gone};

static void begin(struct client *c, struct dump *dump)
{
	size_t size;
	const char *data;

	if (!dump->out) {
		client_begin(c, &over_connection, dump);
		send_pieces(c);
		return;
	}
	client_begin(c, &into_fd, dump);
	while ((data = msgq_peek(&dump->q, &size)) && size) {
		transfer_add(dump->out, msg_ref(dump->q.head->msg), false);
		msgq_advance(&dump->q, size);
	}
	transfer_finish(dump->out, on_done, dump);
}

static struct dump *new_dump(struct client *c)
{
	struct dump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return NULL;
	dump->d = c->d;
	dump->client = c;
	msgq_init(&dump->q);
	dump->moved_ns = now_ns();
	dump->next = dump->d->dumps;
	dump->d->dumps = dump;
	dump->d->n_dumps++;
	return dump;
}

void dumps_expire(struct tmigrd *d, __u64 now)
{
	struct dump *dump, *next;

	for (dump = d->dumps; dump; dump = next) {
		size_t waiting =
			dump->out ? dump->out->q.bytes : dump->q.bytes + dump->client->out.bytes;

		next = dump->next;
		if (waiting != dump->waiting) {
			dump->waiting = waiting;
			dump->moved_ns = now;
		} else if (now >= dump->moved_ns + STALL_NS) {
			client_cut_off(dump->client, "TooSlow", "nobody reads the dump");
		}
	}
}

/* Fills it; takes over @fd.  NULL, or the error to answer with. */
static const char *fill(struct dump *dump, int fd, __u64 last_ns, const char **ret_why)
{
	struct flight *flight = dump->d->flight;
	int ret;

	if (fd >= 0 && transfer_open(dump->client, fd, &dump->out, ret_why) < 0)
		return "BadDescriptor";
	*ret_why = "the flight recorder is off";
	if (!flight)
		return "NoFlight";
	ret = flight_dump(flight, last_ns, &dump->q, &dump->start_ns, &dump->end_ns);
	*ret_why = ret == -ENODATA ? "nothing is recorded yet" : "out of memory";
	return ret < 0 ? "NoFlight" : NULL;
}

void method_dump_flight(struct client *c, json_t *params)
{
	__u64 last_ns = (__u64)param_int(params, "last_s", INT32_MAX) * NS_PER_SEC;
	const char *error = NULL, *why = "out of memory";
	int fd = client_take_fd(c);
	struct dump *dump = NULL;

	if (fd < 0 && !c->more) {
		client_errorf(c, "BadDescriptor",
			      "a pipe or a file must come with the request, or "
			      "\"more\" be set");
		return;
	}
	if (c->d->n_dumps >= DUMPS_MAX) {
		error = "TooMany";
		why = "other dumps are under way";
	} else {
		dump = new_dump(c);
		error = dump ? fill(dump, fd, last_ns, &why) : "NoFlight";
	}
	if (!dump && fd >= 0)
		close(fd);
	if (!error) {
		begin(c, dump);
		return;
	}
	if (dump)
		free_dump(dump);
	client_errorf(c, error, "%s", why);
}
