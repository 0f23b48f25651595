// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz harness for the daemon's request path: bytes through a real connection, as
 * far as the method that they ask for.  The first byte says in what pieces they
 * come.  Whatever comes back must be Varlink messages, and the connection must
 * end when the client goes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../daemon/methods.h"
#include "../../daemon/tmigrd.h"

void __wrap_methods_call(struct client *c, struct request *r);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct activity endless = {.room = NULL};

/* In the place of the methods: what they do to a connection. */
void __wrap_methods_call(struct client *c, struct request *r)
{
	const char *error = NULL;
	json_t *params = NULL;
	const struct method *m = methods_find(r, &error, &params);

	if (!m) {
		client_error(c, error, params);
	} else if (m->more == NO_MORE || !r->more) {
		client_reply(c, json_deep_copy(r->params));
	} else {
		client_begin(c, &endless, NULL);
		client_stream(c, msg_json(json_pack("{s{} sb}", "parameters", "continues", 1)));
	}
}

/* Whole messages, each a JSON object with "parameters". */
static size_t check_replies(const char *text, size_t size)
{
	size_t used = 0;
	const char *nul;

	while ((nul = memchr(text + used, '\0', size - used))) {
		json_t *reply = json_loadb(text + used, (size_t)(nul - text) - used, 0, NULL);

		assert(json_is_object(json_object_get(reply, "parameters")));
		json_decref(reply);
		used = (size_t)(nul - text) + 1;
	}
	return used;
}

static void take_replies(int fd, char *buf, size_t room, size_t *n)
{
	ssize_t got;

	while ((got = recv(fd, buf + *n, room - *n, MSG_DONTWAIT)) > 0) {
		size_t used;

		*n += (size_t)got;
		used = check_replies(buf, *n);
		*n -= used;
		memmove(buf, buf + used, *n);
	}
}

static void rounds(struct tmigrd *d)
{
	bool left = true;

	for (int i = 0; i < 1000 && (left || i < 3); i++) {
		loop_round(&d->loop, 0);
		left = clients_run_ready(d);
		clients_reap(d);
	}
	assert(!left);
}

static void talk(struct tmigrd *d, int fd, const uint8_t *data, size_t size, size_t piece)
{
	static char buf[1 << 20];
	size_t n = 0;

	while (size) {
		size_t step = size < piece ? size : piece;
		ssize_t sent = send(fd, data, step, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent <= 0)
			break;
		data += sent;
		size -= (size_t)sent;
		rounds(d);
		take_replies(fd, buf, sizeof(buf), &n);
	}
	shutdown(fd, SHUT_WR);
	rounds(d);
	take_replies(fd, buf, sizeof(buf), &n);
	assert(n == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tmigrd_opts opts = {.drain_ns = NS_PER_SEC, .max_clients = 1};
	struct tmigrd d = {.opts = &opts, .cpu = -1, .listener = {.src = {.fd = -1}}};
	struct ucred cred = {.uid = 0};
	int fds[2];

	if (!size)
		return 0;
	clients_init(&d.clients);
	if (loop_init(&d.loop) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		abort();
	if (client_new(&d, fds[0], &cred) < 0)
		abort();
	talk(&d, fds[1], data + 1, size - 1, data[0] ? data[0] : size);
	close(fds[1]);
	rounds(&d);
	assert(!d.clients.n);
	clients_stop(&d);
	loop_free(&d.loop);
	return 0;
}
