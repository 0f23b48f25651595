// SPDX-License-Identifier: GPL-2.0-or-later
/* The command of `tmigr run`: start, end, signals. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tmigr.h"

/*
 * The tool waits for its signals in the loop.  SIGINT and SIGTERM are taken
 * even when they were ignored before: a script's background job has them
 * ignored, and `kill -INT` is how a script ends a window.  An ignored SIGCHLD
 * would be worse: the command's status would never come.
 */
int signals_take(struct signals *s)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, take = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, &s->mask) || sigaction(SIGINT, &take, &s->intr) ||
	    sigaction(SIGTERM, &take, &s->term) || sigaction(SIGCHLD, &take, &s->chld) ||
	    sigaction(SIGPIPE, &ignore, &s->pipe))
		return tool_error("run", "cannot set up signals: %s", strerror(errno));
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0)
		return tool_error("run", "cannot set up signals: %s", strerror(errno));
	return 0;
}

void child_init(struct child *c)
{
	size_t i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < 2; i++) {
		c->streams[i].in = -1;
		c->streams[i].out = -1;
		c->streams[i].file = -1;
		c->streams[i].left = -1;
		c->streams[i].whole_line = true;
	}
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The new process: gives back what the tool took, and becomes the command. */
static void become(const struct child_setup *setup, const int outputs[2], int report)
{
	const struct signals *s = setup->signals;
	int err;

	if (outputs[0] >= 0 && (dup2(outputs[0], 1) < 0 || dup2(outputs[1], 2) < 0))
		goto fail;
	if (outputs[0] < 0 && setup->out_to_err && dup2(2, 1) < 0)
		goto fail;
	tmigr_housekeeping_undo(setup->housekeeping);
	sigaction(SIGPIPE, &s->pipe, NULL);
	sigaction(SIGINT, &s->intr, NULL);
	sigaction(SIGTERM, &s->term, NULL);
	sigaction(SIGCHLD, &s->chld, NULL);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	if (setup->body) {
		/* As exec(2) would: that is what is waited for. */
		close(report);
		_exit(setup->body(setup->opts));
	}
	execvp(setup->command[0], setup->command);
fail:
	err = errno;
	if (write(report, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

/* 0 when exec(2) closed the pipe, else the errno that the new process sent. */
static int exec_result(int fd)
{
	ssize_t n;
	int err;

	do
		n = read(fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? err : 0;
}

static int explain(const char *name, int err)
{
	if (err == ENOENT && !strchr(name, '/')) {
		tool_error("run", "cannot start '%s': no such command in $PATH", name);
		return 127;
	}
	if (err == ENOENT || err == ENOTDIR) {
		tool_error("run", "cannot start '%s': no such file, or its interpreter is missing",
			   name);
		return 127;
	}
	if (err == EACCES)
		tool_error("run", "cannot start '%s': not executable (chmod +x, or a folder?)",
			   name);
	else
		tool_error("run", "cannot start '%s': %s", name, strerror(err));
	return 126;
}

/* Pipes for the command's two outputs; *@outputs are its ends. */
static int make_pipes(struct child *c, const struct child_setup *setup, int outputs[2])
{
	size_t i;
	int p[2];

	for (i = 0; i < 2; i++) {
		struct stream *s = &c->streams[i];

		if (pipe2(p, O_CLOEXEC))
			return -1;
		s->in = p[0];
		outputs[i] = p[1];
		s->out = i == 1 || setup->out_to_err ? STDERR_FILENO : STDOUT_FILENO;
		if (fcntl(s->in, F_SETFL, O_NONBLOCK))
			return -1;
	}
	return 0;
}

int child_start(struct child *c, const struct child_setup *setup)
{
	int outputs[2] = {-1, -1}, report[2] = {-1, -1}, err;
	const char *name = setup->command[0];
	bool copies = setup->files[0] >= 0;
	pid_t pid = -1;

	c->streams[0].file = setup->files[0];
	c->streams[1].file = setup->files[1];
	if (pipe2(report, O_CLOEXEC) || (copies && make_pipes(c, setup, outputs)) ||
	    (pid = fork()) < 0) {
		err = tool_error("run", "cannot start '%s': %s", name, strerror(errno));
		goto out;
	}
	if (!pid)
		become(setup, outputs, report[1]);
	close_fd(&report[1]);
	c->pid = pid;
	c->running = true;
	err = exec_result(report[0]);
	if (err) {
		waitpid(pid, &c->status, 0);
		c->running = false;
		err = explain(name, err);
	}
out:
	close_fd(&report[0]);
	close_fd(&report[1]);
	close_fd(&outputs[0]);
	close_fd(&outputs[1]);
	return err;
}

void child_kill(const struct child *c, int sig)
{
	if (c->running)
		kill(c->pid, sig);
}

bool child_reap(struct child *c)
{
	if (c->running && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->running = false;
	return !c->running;
}

int child_exit_code(const struct child *c)
{
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

/*
 * A process that the command left behind may hold the pipe open for ever: what
 * the command itself wrote is in there by now, and only that is waited for.
 */
void child_last_output(struct child *c)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		struct stream *s = &c->streams[i];
		int n = 0;

		if (s->in < 0)
			continue;
		if (ioctl(s->in, FIONREAD, &n))
			n = 0;
		s->left = n;
		if (!n)
			close_fd(&s->in);
	}
}

void child_close(struct child *c)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		close_fd(&c->streams[i].in);
		close_fd(&c->streams[i].file);
	}
}
