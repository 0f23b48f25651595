// SPDX-License-Identifier: GPL-2.0-or-later
/* One run of `tmigr run`: settle, warm up, window, command, report. */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tmigr.h"

static int start_command(struct session *s, struct child *child, const struct signals *sig)
{
	const struct run_opts *o = s->opts;
	struct child_setup setup = {
		.command = o->command,
		.body = o->body,
		.opts = o,
		.signals = sig,
		.housekeeping = &s->housekeeping,
		.files = {-1, -1},
		.out_to_err = o->json,
	};

	if (!o->command)
		return 0;
	if (s->dir) {
		setup.files[0] = session_output_file(s, 0);
		if (setup.files[0] < 0)
			return TMIGR_EXIT_ERROR;
		setup.files[1] = session_output_file(s, 1);
		if (setup.files[1] < 0) {
			close(setup.files[0]);
			return TMIGR_EXIT_ERROR;
		}
	}
	return child_start(child, &setup);
}

/* The window, then the command in it; with --warmup the command first.  When one
 * cannot be, nothing stays in the run directory but the earlier run that --force was to
 * replace. */
static int begin(struct loop *l)
{
	struct session *s = l->session;
	__u64 warmup_ns = s->opts->warmup_ns;
	int ret = 0;

	if (warmup_ns)
		ret = session_attach(s);
	if (!ret && warmup_ns)
		ret = start_command(s, l->child, l->signals);
	if (!ret && warmup_ns)
		loop_wait(l, warmup_ns, "warming up");
	if (!ret)
		ret = session_start(s);
	if (!ret && !warmup_ns)
		ret = start_command(s, l->child, l->signals);
	if (!ret)
		ret = session_replace(s);
	if (ret) {
		child_kill(l->child, SIGKILL);
		session_discard(s);
	}
	return ret;
}

/* A copy that could not be written (disk full) is told once, at the end. */
static void check_copies(struct session *s, const struct child *child)
{
	static const char *const names[] = {"stdout", "stderr"};
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!child->streams[i].file_errno)
			continue;
		tool_error("run", "the command's %s is incomplete in %s: %s", names[i], s->path,
			   strerror(child->streams[i].file_errno));
		s->failed = TMIGR_EXIT_ERROR;
	}
}

static int stopped(const struct session *s)
{
	if (s->dir)
		tool_error("run", "stopped at once; %s is marked interrupted", s->path);
	else
		tool_error("run", "stopped at once, without a report");
	return 128 + SIGINT;
}

/* Why the run counts as failed; "": it does not.  @cut: -d ended the command. */
static void judge(const struct loop *l, struct outcome *end, bool early, bool cut)
{
	const struct child *c = l->child;
	char *why = end->why;
	size_t size = sizeof(end->why);

	if (end->interrupted)
		snprintf(why, size, "interrupted");
	else if (*l->session->remote.gone)
		snprintf(why, size, "the daemon that measured went away");
	else if (early)
		snprintf(why, size, "the command ended within the warm-up");
	else if (!c->pid || cut)
		return;
	else if (WIFSIGNALED(c->status))
		snprintf(why, size, "killed by signal %d, %s", WTERMSIG(c->status),
			 strsignal(WTERMSIG(c->status)));
	else if (WEXITSTATUS(c->status))
		snprintf(why, size, "exit status %d", WEXITSTATUS(c->status));
}

/* The exit code of a run that has a report: the command's own before all, unless it
 * is -d that @cut it short, as was asked for. */
static int code_of(const struct loop *l, const struct outcome *end, bool cut, int ret)
{
	const struct child *c = l->child;

	if (*l->session->remote.gone)
		return TMIGR_EXIT_ERROR;
	if (end->interrupted)
		return 128 + l->signal;
	if (c->pid && !cut && child_exit_code(c))
		return child_exit_code(c);
	/* A window that the command was not in. */
	if (!ret && *end->why)
		return TMIGR_EXIT_ERROR;
	return ret;
}

/* From the window's start to the exit code. */
static void trace(struct loop *l, struct outcome *end)
{
	struct session *s = l->session;
	struct child *child = l->child;
	bool early = child->pid && !child->running, cut;
	__u64 end_ns;
	int ret;

	if (s->opts->duration_ns)
		l->deadline_ns = s->start_ns + s->opts->duration_ns;
	end_ns = loop_window(l);
	cut = end_ns && child->running;
	/* Without a command an interrupt is how a window ends, but not one of a series. */
	end->interrupted = l->interrupts && (child->pid || s->opts->n);
	ret = l->failed ? l->failed : session_stop(s, end_ns);
	end->length_ns = s->end_ns - s->start_ns;
	loop_end(l, l->interrupts || l->failed ? 0 : SIGTERM);
	child_close(child);
	if (loop_stopped(l)) {
		end->code = stopped(s);
		end->interrupted = true;
		return;
	}
	if (ret && !*s->remote.gone) {
		end->code = ret;
		end->broken = true;
		return;
	}
	check_copies(s, child);
	judge(l, end, early, cut);
	s->why = *end->why ? end->why : NULL;
	ret = session_report(s, child->pid ? child_exit_code(child) : -1, end->interrupted);
	end->broken = *s->remote.gone || (ret && !s->report);
	end->report = json_incref(s->report);
	end->code = code_of(l, end, cut, ret);
}

void run_once(const struct once *once, struct outcome *end)
{
	struct session *s = once->session;
	struct child child;
	struct loop l = {
		.session = s,
		.child = &child,
		.signals = once->signals,
		.progress = once->progress,
	};

	memset(end, 0, sizeof(*end));
	child_init(&child);
	if (s->opts->settle_ns)
		loop_wait(&l, s->opts->settle_ns, "settling");
	if (l.interrupts || l.failed) {
		end->code = l.failed ? l.failed : 128 + l.signal;
		end->interrupted = true;
		return;
	}
	end->code = session_prepare(s, once->path, once->force, once->run);
	if (!end->code)
		end->code = begin(&l);
	if (end->code)
		end->broken = true;
	else
		trace(&l, end);
	child_close(&child);
	session_end(s);
}
