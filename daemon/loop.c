// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS 64

int loop_init(struct loop *l)
{
	*l = (struct loop){.rounds = 0};
	l->ep = epoll_create1(EPOLL_CLOEXEC);
	return l->ep < 0 ? -errno : 0;
}

void loop_free(struct loop *l)
{
	if (l->ep >= 0)
		close(l->ep);
	l->ep = -1;
}

static int control(struct loop *l, int op, struct source *s, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = s};

	return epoll_ctl(l->ep, op, s->fd, &e) ? -errno : 0;
}

int loop_add(struct loop *l, struct source *s, uint32_t events)
{
	return control(l, EPOLL_CTL_ADD, s, events);
}

int loop_mod(struct loop *l, struct source *s, uint32_t events)
{
	return control(l, EPOLL_CTL_MOD, s, events);
}

void loop_del(struct loop *l, struct source *s)
{
	control(l, EPOLL_CTL_DEL, s, 0);
	for (int i = 0; i < l->n_left; i++)
		if (l->left[i].data.ptr == s)
			l->left[i].data.ptr = NULL;
}

static int timeout_ms(__u64 until_ns)
{
	__u64 now = tmigr_now_ns(), ms;

	if (until_ns <= now)
		return 0;
	ms = (until_ns - now) / 1000000 + 1;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

void loop_round(struct loop *l, __u64 until_ns)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(l->ep, events, EVENTS, timeout_ms(until_ns));

	if (n > 0)
		l->rounds++;
	l->left = events;
	l->n_left = n > 0 ? n : 0;
	while (l->n_left) {
		struct source *s = l->left->data.ptr;
		uint32_t what = l->left->events;

		l->left++;
		l->n_left--;
		if (s)
			s->fn(s, what);
	}
	l->left = NULL;
}
