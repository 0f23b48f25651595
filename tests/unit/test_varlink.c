// SPDX-License-Identifier: GPL-2.0-or-later
/* The Varlink client against a made-up service: a child that says what it is told. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tmigr/varlink.h"

static char dir[] = "/tmp/tmigr-test-varlink-XXXXXX";
static char path[100];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/sock", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);
}

struct service {
	pid_t pid;
	int asked; /* what the child got */
};

/* In the child: takes one request, answers with @reply in pieces of @piece. */
static void answer(int fd, int asked, const char *reply, size_t size, size_t piece)
{
	char buf[4096];
	ssize_t n;

	do {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n > 0 && write(asked, buf, (size_t)n) != n)
			_exit(1);
	} while (n > 0 && buf[n - 1]);
	while (size) {
		size_t step = size < piece ? size : piece;

		if (send(fd, reply, step, MSG_NOSIGNAL) < 0)
			break;
		reply += step;
		size -= step;
	}
	_exit(0);
}

static struct service serve(const char *reply, size_t size, size_t piece)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), fds[2];
	struct service s;

	strcpy(addr.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(pipe(fds), 0);
	s.pid = fork();
	if (!s.pid)
		answer(accept(fd, NULL, NULL), fds[1], reply, size, piece);
	close(fd);
	close(fds[1]);
	s.asked = fds[0];
	return s;
}

/* Ends it; the request that it got is @ret. */
static void end(struct service *s, char *ret, size_t size)
{
	ssize_t n, all = 0;
	int status;

	while ((n = read(s->asked, ret + all, size - (size_t)all - 1)) > 0)
		all += n;
	ret[all] = '\0';
	for (ssize_t i = 0; i < all; i++)
		if (!ret[i])
			ret[i] = '|';
	close(s->asked);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_int_equal(status, 0);
	unlink(path);
}

#define REPLY(text) text, sizeof(text) /* with the NUL */

static struct tmigr_varlink *dial(void)
{
	struct tmigr_varlink *v = NULL;

	assert_int_equal(tmigr_varlink_connect(path, &v, NULL), 0);
	return v;
}

static void one_reply(void **state)
{
	struct service s = serve(REPLY("{\"parameters\":{\"a\":1}}"), 1);
	struct tmigr_varlink *v = dial();
	json_t *params = json_pack("{si}", "x", 5), *got = NULL;
	struct tmigr_err err = {""};
	char asked[4096];

	(void)state;
	assert_int_equal(tmigr_varlink_call(v, "a.b.C", params, &got, &err), 0);
	assert_int_equal(json_integer_value(json_object_get(got, "a")), 1);
	json_decref(got);
	json_decref(params);
	tmigr_varlink_close(v);
	end(&s, asked, sizeof(asked));
	assert_string_equal(asked, "{\"method\":\"a.b.C\",\"parameters\":{\"x\":5}}|");
}

/* Half a reply, which must not be waited for, and then the rest. */
static void without_waiting(void **state)
{
	struct service s = serve(REPLY("{\"parameters\":{\"a\":7}}"), 100);
	struct tmigr_varlink *v = dial();
	struct tmigr_err err = {""};
	json_t *got = NULL;
	bool more = true;
	char asked[4096];

	(void)state;
	assert_int_equal(tmigr_varlink_peek(v, &err), 0);
	assert_false(tmigr_varlink_pending(v));
	assert_int_equal(tmigr_varlink_send(v, "a.b.C", NULL, &err), 0);
	while (!tmigr_varlink_pending(v)) {
		struct pollfd p = {.fd = tmigr_varlink_fd(v), .events = POLLIN};

		assert_int_equal(poll(&p, 1, -1), 1);
		assert_int_equal(tmigr_varlink_peek(v, &err), 0);
	}
	assert_int_equal(tmigr_varlink_next(v, &got, &more, &err), 0);
	assert_false(more);
	assert_int_equal(json_integer_value(json_object_get(got, "a")), 7);
	json_decref(got);
	while (tmigr_varlink_peek(v, &err) == 0) /* it goes some time */
		assert_false(tmigr_varlink_pending(v));
	assert_int_equal(tmigr_varlink_peek(v, &err), -ECONNRESET);
	tmigr_varlink_close(v);
	end(&s, asked, sizeof(asked));
	assert_string_equal(asked, "{\"method\":\"a.b.C\"}|");
}

static void stream(void **state)
{
	struct service s = serve(REPLY("{\"parameters\":{\"n\":1},\"continues\":true}\0"
				       "{\"parameters\":{\"n\":2},\"continues\":true}\0"
				       "{\"parameters\":{\"n\":3}}"),
				 7);
	struct tmigr_varlink *v = dial();
	struct tmigr_err err = {""};
	json_t *got = NULL;
	char asked[4096];
	bool more;

	(void)state;
	assert_int_equal(tmigr_varlink_start(v, "a.b.C", NULL, &err), 0);
	for (int n = 1; n <= 3; n++) {
		assert_int_equal(tmigr_varlink_next(v, &got, &more, &err), 0);
		assert_int_equal(json_integer_value(json_object_get(got, "n")), n);
		assert_int_equal(more, n < 3);
		json_decref(got);
	}
	assert_int_equal(tmigr_varlink_next(v, &got, &more, &err), -ECONNRESET);
	tmigr_varlink_close(v);
	end(&s, asked, sizeof(asked));
	assert_string_equal(asked, "{\"method\":\"a.b.C\",\"more\":true}|");
}

static void error_reply(void **state)
{
	struct service s = serve(REPLY("{\"error\":\"org.tmigrd.TooMany\","
				       "\"parameters\":{\"reason\":\"so it is\"}}"),
				 100);
	struct tmigr_varlink *v = dial();
	struct tmigr_err err = {""};
	json_t *got = NULL;
	char asked[4096];

	(void)state;
	assert_int_equal(tmigr_varlink_call(v, "a.b.C", NULL, &got, &err), -EREMOTEIO);
	assert_null(got);
	assert_string_equal(tmigr_varlink_error(v), "org.tmigrd.TooMany");
	assert_string_equal(err.text, "the daemon answers TooMany: so it is");
	assert_non_null(json_object_get(tmigr_varlink_error_params(v), "reason"));
	tmigr_varlink_close(v);
	end(&s, asked, sizeof(asked));
}

static void bad_service(const char *reply, size_t size, int want)
{
	struct service s = serve(reply, size, 100);
	struct tmigr_varlink *v = dial();
	struct tmigr_err err = {""};
	json_t *got = NULL;
	char asked[4096];

	assert_int_equal(tmigr_varlink_call(v, "a.b.C", NULL, &got, &err), want);
	assert_null(got);
	assert_string_not_equal(err.text, "");
	tmigr_varlink_close(v);
	end(&s, asked, sizeof(asked));
}

static void bad_services(void **state)
{
	(void)state;
	bad_service("", 0, -ECONNRESET);
	bad_service("{\"parameters\":", 14, -ECONNRESET);
	bad_service(REPLY("hello"), -EPROTO);
	bad_service(REPLY("[]"), -EPROTO);
	bad_service(REPLY(""), -EPROTO);
	bad_service(REPLY("{\"error\":5}"), -EREMOTEIO);
}

static void nobody(void **state)
{
	struct tmigr_varlink *v = NULL;
	struct tmigr_err err = {""};
	char longest[200];

	(void)state;
	assert_int_equal(tmigr_varlink_connect(path, &v, &err), -ENOENT);
	assert_non_null(strstr(err.text, path));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(tmigr_varlink_connect(longest, &v, &err), -ENAMETOOLONG);
	assert_int_equal(tmigr_varlink_connect("", &v, &err), -ENAMETOOLONG);
	assert_null(v);
	tmigr_varlink_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_reply),	cmocka_unit_test(without_waiting),
		cmocka_unit_test(stream),	cmocka_unit_test(error_reply),
		cmocka_unit_test(bad_services), cmocka_unit_test(nobody),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
