/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `tmigr run`.
 *
 *   run.c           options and flow
 *   run_session.c   engine, recording, run directory: one window
 *   run_remote.c    the window of a daemon, in the engine's place
 *   run_child.c     the command: start, output, signals, end
 *   run_loop.c      waits for signals, output and the next drain
 *   run_info.c      what the report says about machine and command
 *   run_progress.c  the line on a terminal
 */
#ifndef TMIGR_TOOL_RUN_H
#define TMIGR_TOOL_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <jansson.h>
#include <linux/types.h>

#include "args.h"
#include "daemon.h"
#include "tmigr/engine.h"
#include "tmigr/housekeeping.h"
#include "tmigr/model.h"
#include "tmigr/recording.h"
#include "tmigr/rundir.h"
#include "tmigr/topology.h"

struct run_opts {
	__u64 duration_ns; /* -d; 0: no limit */
	const char *dir;   /* -o; NULL: none */
	bool record, force, kick, json, no_stats;
	int progress;	  /* 1 forced, 0 never, -1 where it disturbs nothing */
	int housekeeping; /* CPU, -1: chosen */
	enum tmigr_source source;
	size_t ring_bytes; /* tests; 0: chosen */
	struct arg_list classes;
	struct daemon_opts daemon;
	char **command; /* NULL terminated; NULL: none */
};

/* ---- run_child.c ---- */

/* One output of the command that passes through the tool to be copied. */
struct stream {
	int in;		   /* read end of the command's pipe; -1: closed */
	int out;	   /* where it goes on to; -1: nobody listens any more */
	int file;	   /* the copy; -1: none, or given up */
	int file_errno;	   /* why the copy was given up; 0: it was not */
	bool whole_line;   /* what went out last ended a line, or nothing did */
	ssize_t left;	   /* bytes still to take; -1: until its end */
	size_t fill, done; /* bytes in buf, bytes of them passed on */
	char buf[65536];
};

struct child {
	pid_t pid; /* 0: none was started */
	bool running;
	int status;		  /* of waitpid(2), when it is no longer running */
	struct stream streams[2]; /* stdout, stderr; not used without a copy */
};

/* What the process had before the tool changed it; the command gets it back. */
struct signals {
	sigset_t mask;
	struct sigaction pipe, intr, term, chld;
	int fd; /* signalfd of SIGINT, SIGTERM, SIGHUP, SIGCHLD */
};

int signals_take(struct signals *s);

/* What the command starts with. */
struct child_setup {
	char **command;
	const struct signals *signals;
	const struct tmigr_housekeeping *housekeeping;
	int files[2];	 /* copies of its outputs, the child's from then on; -1: none */
	bool out_to_err; /* its standard output goes to standard error */
};

void child_init(struct child *c);
/*
 * 0 when the command runs; else the exit code (126, 127, 1), with the error
 * told.
 */
int child_start(struct child *c, const struct child_setup *setup);
void child_kill(const struct child *c, int sig);
/* True when it has ended (and once more each time it is asked). */
bool child_reap(struct child *c);
/* 0-255 as a shell would have it: 128 + signal when killed. */
int child_exit_code(const struct child *c);
/* The command has ended: takes what is in the pipes now, and no more. */
void child_last_output(struct child *c);
void child_close(struct child *c);

/* Nothing more will come out of it. */
bool stream_done(const struct stream *s);
/* What poll(2) must wait for: returns the descriptor (or -1), sets *@ret_events. */
int stream_poll(const struct stream *s, short *ret_events);
/* Moves what can be moved without waiting. */
void stream_pump(struct stream *s);

/* ---- run_remote.c ---- */

/* A daemon's window: its recording comes through a pipe as it is made. */
struct remote {
	int fd; /* -1: nothing comes any more */
	__u64 window;
	struct tmigr_recording_reader *reader;
	struct tmigr_model *model;
	struct tmigr_window_totals *totals; /* NULL until the end has come */
	__u64 mark_ns;			    /* the last watermark */
	__u64 lost;			    /* records */
	char gone[TMIGR_ERR_MAX];	    /* why it ended early; "" it did not */
};

/* ---- run_session.c ---- */

struct session {
	const struct run_opts *opts;
	struct tmigr_topology *topo;
	struct tmigr_topology *end_topo; /* NULL: as at the start */
	struct daemon *daemon;		 /* NULL: the own engine */
	struct remote remote;
	struct tmigr_engine *engine;
	struct tmigr_window *window;
	struct tmigr_rundir *dir;
	struct tmigr_recording_writer *rec;
	json_t *info;
	__u64 start_ns, end_ns;
	int cpu; /* where the tool runs, -1: not pinned */
	struct tmigr_housekeeping housekeeping;
	int failed; /* exit code of what went wrong on the way, 0 nothing */
	bool rec_begun;
};

/* All of these return 0, or the exit code with the error told. */
int session_open(struct session *s, const struct run_opts *opts);
int session_start(struct session *s);
int session_drain(struct session *s);
/* Ends the window, at exactly @at_ns where that is still possible, else as soon as it
 * is. */
int session_stop(struct session *s, __u64 at_ns);
/* session_stop() has to be called this long before @at_ns. */
__u64 session_lead_ns(const struct session *s);
/* Figures -> report, printed and written; @exit_status -1: no command. */
int session_report(struct session *s, int exit_status, bool interrupted);
/* Opens a file of the run directory for the command's output; -1: error told. */
int session_output_file(struct session *s, const char *name);
/* The command could not be started: nothing is left in the run directory. */
void session_discard(struct session *s);
void session_close(struct session *s);
/* Readable: a drain is due now; -1: drain by the clock. */
int session_fd(const struct session *s);
bool session_has_tmigr(const struct session *s);
const struct tmigr_model *session_model(const struct session *s);
__u64 session_lost(const struct session *s);

/* What a window tells of, its own or a daemon's; @arg is the session. */
void session_segment(void *arg, const struct tmigr_segment *seg);
int session_records(void *arg, const struct tmigr_rec *recs, size_t n);
int session_mark(void *arg, __u64 watermark_ns);

/* In place of the engine's; 0, or the exit code with the error told. */
int remote_open(struct session *s);
int remote_start(struct session *s);
/* A daemon that is gone is told of; the window has ended then (remote.gone). */
int remote_drain(struct session *s);
int remote_stop(struct session *s);
void remote_close(struct session *s);

/* ---- run_info.c ---- */
/* @engine: which one measures; @own: the own one, NULL: a daemon's.  New reference or
 * NULL. */
json_t *run_info(const struct run_opts *opts, bool has_tmigr, const char *engine,
		 const struct tmigr_engine *own);

/* ---- run_progress.c ---- */
struct progress {
	bool on;
	bool drawn;
};

void progress_init(struct progress *p, const struct run_opts *opts);
void progress_draw(struct progress *p, const struct session *s);
void progress_clear(struct progress *p);

/* ---- run_loop.c ---- */
struct loop {
	struct session *session;
	struct child *child;
	struct signals *signals;
	struct progress progress;
	__u64 deadline_ns; /* end of the window by -d; 0: none */
	__u64 kill_ns;	   /* when the command gets SIGKILL; 0: never */
	int interrupts;	   /* SIGINT, SIGTERM, SIGHUP so far */
	int signal;	   /* the first of them */
	int failed;
};

/* Until the window has to end; with a deadline until it is time to announce its end
 * there.  Returns session_stop()'s @at_ns: the deadline, or 0 where something else
 * ended the window. */
__u64 loop_window(struct loop *l);
/* After the window: until the command has ended, or the second interrupt. */
void loop_end(struct loop *l, int sig);
/* Takes pending signals; true when the user has asked twice to stop. */
bool loop_stopped(struct loop *l);

#endif
