// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The loop of `tmigr run`.  It wakes up once a second to drain, and otherwise
 * only for signals, for what a daemon sends (once a second), and for the
 * command's output when that is copied.
 */
#include "run.h"

#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tmigr.h"
#include "tmigr/clock.h"

#define NS_PER_SEC 1000000000ULL
#define DRAIN_NS   NS_PER_SEC
/* Time that a command has between SIGTERM and SIGKILL, and before the user is
 * told what is waited for. */
#define GRACE_NS (2 * NS_PER_SEC)

/*
 * An interrupt that the terminal sent went to the whole foreground group, the
 * command included; one that kill(2) sent is passed on.
 */
static void interrupt(struct loop *l, const struct signalfd_siginfo *info)
{
	if (!l->interrupts++)
		l->signal = (int)info->ssi_signo;
	if (info->ssi_code != SI_KERNEL)
		child_kill(l->child, (int)info->ssi_signo);
}

static void take_signals(struct loop *l)
{
	struct signalfd_siginfo info;

	while (read(l->signals->fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			interrupt(l, &info);
}

bool loop_stopped(struct loop *l)
{
	take_signals(l);
	return l->interrupts > 1;
}

/* The progress line must not stand in the way of what the command prints. */
static void pump(struct loop *l)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		struct stream *s = &l->child->streams[i];
		struct pollfd p;

		p.fd = stream_poll(s, &p.events);
		if (p.fd < 0 || poll(&p, 1, 0) <= 0)
			continue;
		progress_clear(&l->progress);
		stream_pump(s);
	}
}

static int timeout_ms(__u64 until_ns)
{
	__u64 now = tmigr_now_ns();

	return until_ns <= now ? 0 : (int)((until_ns - now) / 1000000 + 1);
}

/*
 * Waits until something is to be done, or until @until_ns; then moves output.
 * True when @source (-1: none) has something.
 */
static bool wait_for(struct loop *l, int timer, int source, __u64 until_ns)
{
	struct pollfd p[5] = {
		{.fd = l->signals->fd, .events = POLLIN},
		{.fd = timer, .events = POLLIN},
		[4] = {.fd = source, .events = POLLIN},
	};

	p[2].fd = stream_poll(&l->child->streams[0], &p[2].events);
	p[3].fd = stream_poll(&l->child->streams[1], &p[3].events);
	if (poll(p, 5, timeout_ms(until_ns)) < 0)
		p[4].revents = 0;
	take_signals(l);
	pump(l);
	return p[4].revents;
}

/* Something other than -d ends it. */
static bool window_over(struct loop *l)
{
	return l->failed || l->interrupts || (l->child->pid && child_reap(l->child));
}

/* When to drain next: not so shortly before the end that it could be in the way. */
static __u64 next_drain(__u64 end_ns)
{
	__u64 next = tmigr_now_ns() + DRAIN_NS;

	return end_ns && next + DRAIN_NS / 10 > end_ns ? next + DRAIN_NS : next;
}

static void tick(struct loop *l)
{
	size_t i;
	int code;

	/* A drain may have an error to tell. */
	progress_clear(&l->progress);
	code = session_drain(l->session);
	if (code && !l->failed)
		l->failed = code;
	for (i = 0; i < 2; i++)
		if (!l->child->streams[i].whole_line)
			return;
	progress_draw(&l->progress, l->session);
}

void loop_wait(struct loop *l, __u64 ns, const char *phase)
{
	__u64 start = tmigr_now_ns(), next = start;

	l->progress.phase = phase;
	l->progress.phase_ns = start;
	l->progress.phase_end_ns = start + ns;
	while (!window_over(l) && tmigr_now_ns() < start + ns) {
		if (tmigr_now_ns() >= next) {
			tick(l);
			next = tmigr_now_ns() + DRAIN_NS;
		}
		wait_for(l, -1, -1, next < start + ns ? next : start + ns);
	}
	progress_clear(&l->progress);
	l->progress.phase = NULL;
}

/* An own timer for the end by -d: the sleep for the next drain is a lax one. */
static int deadline_timer(__u64 at_ns)
{
	struct itimerspec t = {
		.it_value = {.tv_sec = (time_t)(at_ns / NS_PER_SEC),
			     .tv_nsec = (long)(at_ns % NS_PER_SEC)},
	};
	int fd;

	if (!at_ns)
		return -1;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd >= 0)
		timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL);
	return fd;
}

__u64 loop_window(struct loop *l)
{
	__u64 wake_ns = l->deadline_ns ? l->deadline_ns - session_lead_ns(l->session) : 0;
	int timer = deadline_timer(wake_ns);
	__u64 next = next_drain(wake_ns);
	bool over;

	while (!(over = window_over(l)) && !(wake_ns && tmigr_now_ns() >= wake_ns)) {
		if (!wait_for(l, timer, session_fd(l->session), next) && tmigr_now_ns() < next)
			continue;
		tick(l);
		next = next_drain(wake_ns);
	}
	progress_clear(&l->progress);
	if (timer >= 0)
		close(timer);
	return over ? 0 : l->deadline_ns;
}

static bool output_done(const struct child *c)
{
	return stream_done(&c->streams[0]) && stream_done(&c->streams[1]);
}

void loop_end(struct loop *l, int sig)
{
	__u64 kill_ns = 0, tell_ns = l->interrupts ? tmigr_now_ns() + GRACE_NS : 0;
	struct child *c = l->child;
	bool last = false;

	if (!c->pid)
		return;
	if (sig && c->running) {
		child_kill(c, sig);
		kill_ns = tmigr_now_ns() + GRACE_NS;
	}
	while (!loop_stopped(l)) {
		if (child_reap(c) && !last) {
			child_last_output(c);
			last = true;
		}
		if (last && output_done(c))
			return;
		if (kill_ns && tmigr_now_ns() >= kill_ns)
			child_kill(c, SIGKILL);
		if (tell_ns && c->running && tmigr_now_ns() >= tell_ns) {
			tool_error("run", "the window has ended; waiting for the command to end "
					  "(interrupt again to kill it)");
			tell_ns = 0;
		}
		wait_for(l, -1, -1,
			 tmigr_now_ns() + (kill_ns || tell_ns ? NS_PER_SEC / 4 : NS_PER_SEC));
	}
	child_kill(c, SIGKILL);
}
