/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `tmigr run`.
 *
 *   run.c           the whole: what is there once for all runs
 *   run_options.c   options
 *   run_once.c      one run: window, command, report
 *   run_series.c    -n: which runs are to do, progress, exit status, table
 *   run_earlier.c   -n --continue: what is there already, and whether it fits
 *   run_machine.c   --offline, --timer-migration
 *   run_printed.c   --metric
 *   run_session.c   engine, recording, run directory: one window after the other
 *   run_remote.c    the window of a daemon, in the engine's place
 *   run_child.c     the command: start, output, signals, end
 *   run_loop.c      waits for signals, output and the next drain
 *   run_info.c      what the report says about machine and command
 *   run_progress.c  the line on a terminal
 *   run_hotplug.c   the member "hotplug" of a report
 *   hotplug.c       the verb that asks for it
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
#include "tmigr/energy.h"
#include "tmigr/engine.h"
#include "tmigr/hotplug_ops.h"
#include "tmigr/housekeeping.h"
#include "tmigr/machine_change.h"
#include "tmigr/metrics.h"
#include "tmigr/model.h"
#include "tmigr/recording.h"
#include "tmigr/rundir.h"
#include "tmigr/topology.h"

struct run_opts {
	__u64 duration_ns;	    /* -d; 0: no limit */
	__u64 warmup_ns, settle_ns; /* 0: none */
	const char *dir;	    /* -o; NULL: none */
	const char *label;	    /* NULL: none */
	unsigned long n;	    /* -n; 0: not given, one run in dir itself */
	bool record, force, kick, latency, json, no_stats, no_timeline, go_on;
	struct tmigr_metrics *metrics; /* of --metric; NULL: none */
	struct arg_list metric_specs;
	struct arg_list fail_if;
	unsigned int *offline; /* CPUs of --offline; owned */
	size_t n_offline;
	const char *offline_text;
	int timer_migration;  /* --timer-migration; -1: as it is */
	const char *sys_root; /* tests: sysfs and procfs of changes and energy; NULL: / */
	int progress;	      /* 1 forced, 0 never, -1 where it disturbs nothing */
	int housekeeping;     /* CPU, -1: chosen */
	enum tmigr_source source;
	size_t ring_bytes; /* tests; 0: chosen */
	struct arg_list classes;
	struct daemon_opts daemon;
	char **command; /* NULL terminated; NULL: none */
	bool hotplug;	/* of `tmigr hotplug`: CPUs that come and go, step by step */
	/* What runs in the place of `command`, which then only says what that is; in the new
	 * process, whose exit status it returns.  NULL: the command. */
	int (*body)(const struct run_opts *o);
	const struct cycle *cycle; /* of `tmigr hotplug --cycle`; the body's */
};

/* ---- run_options.c ---- */

/* -1 to go on, else the exit code with the error told; run_opts_free() in any case. */
int run_opts_parse(struct run_opts *o, int argc, char **argv);
void run_opts_free(struct run_opts *o);
/* The option of that long name, with getopt's optarg, for another verb that has it.
 * 0, or the exit code with the error told. */
int run_opts_named(struct run_opts *o, const char *name);
/* Which options need which others; likewise. */
int run_opts_check(const struct run_opts *o);
void run_opts_init(struct run_opts *o);

/* ---- run.c ---- */

struct machine;
/* The whole, with the options as they are, which are freed; the exit code.  @change: in
 * place of machine_change(). */
int run_with(struct run_opts *o,
	     int (*change)(struct machine *machine, const struct run_opts *opts));

/* ---- run_machine.c ---- */

struct machine {
	struct tmigr_change *change; /* NULL: nothing to be changed */
	/* As it is with the changes; NULL: nothing was, or not on this machine.
	 * The session's from session_open() on. */
	struct tmigr_topology *topo;
};

/* 0, or the exit code with the error told. */
int machine_change(struct machine *m, const struct run_opts *opts);
/* The same with @change, whose topology is set here; @option: what asked for it. */
int machine_make(struct machine *m, const struct run_opts *opts, struct tmigr_change_opts *change,
		 const char *option);
/* What was changed, or NULL. */
const json_t *machine_changed(const struct machine *m);
/* Puts it back; 0, or the exit code with the error told. */
int machine_restore(struct machine *m);

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

/* 0, or the exit code with the error told. */
int signals_take(struct signals *s);

/* What the command starts with. */
struct child_setup {
	char **command;
	int (*body)(const struct run_opts *o); /* in its place; NULL: none */
	const struct run_opts *opts;	       /* the body's */
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

/* A daemon's window: its recording comes as it is made. */
struct remote {
	struct daemon *stream; /* the connection that it comes by */
	int fd;		       /* of that; -1: nothing comes any more */
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
	struct daemon *daemon; /* NULL: the own engine */
	struct tmigr_engine *engine;
	struct tmigr_energy *energy;
	struct tmigr_hotplug_live *hotplug; /* NULL: not asked for, or not yet */
	const json_t *changed;		    /* of the machine; borrowed, NULL: nothing */
	int cpu;			    /* where the tool runs, -1: not pinned */
	struct tmigr_housekeeping housekeeping;
	bool attached;
	/* ---- of one run ---- */
	const char *path;		 /* its run directory; NULL: none */
	bool open;			 /* the window is */
	bool more;			 /* another run comes behind it: stay attached */
	bool quiet;			 /* its report is not printed */
	const char *why;		 /* it failed; NULL: it did not */
	char *output[2];		 /* where the command's outputs are copied; NULL: not */
	struct tmigr_topology *end_topo; /* NULL: as at the start */
	struct remote remote;
	struct tmigr_window *window;
	struct tmigr_rundir *dir;
	struct tmigr_recording_writer *rec;
	json_t *info;
	json_t *report; /* NULL: none was made */
	__u64 start_ns, end_ns;
	int sysctls[2]; /* kernel.timer_migration at the window's start and end; -1: unreadable */
	int failed;	/* exit code of what went wrong on the way, 0 nothing */
};

/* All of these return 0, or the exit code with the error told. */
int session_open(struct session *s, const struct run_opts *opts, struct machine *machine);
/* From here on everything is measured; windows are what is reported. */
int session_attach(struct session *s);
/* A run: its directory @path (NULL: none; not copied), @force: in the place of an
 * earlier one.  @run: its number, 0: none. */
int session_prepare(struct session *s, const char *path, bool force, unsigned long run);
/* Ready for the next one. */
void session_end(struct session *s);
int session_start(struct session *s);
int session_drain(struct session *s);
/* Ends the window, at exactly @at_ns where that is still possible, else as soon as it
 * is. */
int session_stop(struct session *s, __u64 at_ns);
/* session_stop() has to be called this long before @at_ns. */
__u64 session_lead_ns(const struct session *s);
/* Figures -> report, printed and written; @exit_status -1: no command. */
int session_report(struct session *s, int exit_status, bool interrupted);
/* Opens the file of the run directory for the command's stdout (0) or stderr (1); -1:
 * error told. */
int session_output_file(struct session *s, size_t which);
/* All has begun: now the run directory's earlier run goes, if there is one. */
int session_replace(struct session *s);
/* The command could not be started: nothing is left in the run directory but the
 * earlier run. */
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
void remote_init(struct remote *r);
int remote_start(struct session *s);
/* A daemon that is gone is told of; the window has ended then (remote.gone). */
int remote_drain(struct session *s);
/* @at_ns: where the daemon was told to end the window; 0: it is to end now. */
int remote_stop(struct session *s, __u64 at_ns);
/* The run is over; the daemon's connection stays. */
void remote_end(struct session *s);

/* ---- run_info.c ---- */
/* @engine: which one measures; @own: the own one, NULL: a daemon's.  New reference or
 * NULL. */
json_t *run_info(const struct run_opts *opts, bool has_tmigr, const char *engine,
		 const struct tmigr_engine *own);
/* Adds what is known of run @run (0: it has no number) before it begins. */
int run_info_begin(json_t *info, const struct run_opts *opts, unsigned long run,
		   const json_t *changed);
/* The options that make a run what it is, for run.json.  New reference or NULL. */
json_t *run_info_options(const struct run_opts *opts);

/* ---- run_printed.c ---- */
/* The metrics of a run, and what the machine's energy counters say, into info.  0 or
 * -ENOMEM. */
int run_printed(struct session *s);
int run_energy(struct session *s);

/* ---- run_hotplug.c ---- */
/* No-ops without opts->hotplug.  0, or the exit code with the error told. */
int run_hotplug_attach(struct session *s);
int run_hotplug_drain(struct session *s);
/* Of the window that has ended, into info. */
int run_hotplug_put(struct session *s);
/* What `tmigr hotplug` prints of a report. */
int run_hotplug_print(const json_t *report);

/* ---- run_progress.c ---- */
struct progress {
	bool on;
	bool drawn;
	unsigned long run, n; /* run 2 of 3; n 0: no series */
	__u64 expected_ns;    /* a window's length; 0: not known */
	__u64 rest_ns;	      /* of the series behind this run; 0: not known */
	const char *phase;    /* "settling", "warming up"; NULL: the window is open */
	__u64 phase_ns, phase_end_ns;
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
	int interrupts;	   /* SIGINT, SIGTERM, SIGHUP so far */
	int signal;	   /* the first of them */
	int failed;
};

/* Until the window has to end; with a deadline until it is time to announce its end
 * there.  Returns session_stop()'s @at_ns: the deadline, or 0 where something else
 * ended the window. */
__u64 loop_window(struct loop *l);
/* Before the window: @ns long, or until the user or the command's end stops it. */
void loop_wait(struct loop *l, __u64 ns, const char *phase);
/* After the window: until the command has ended, or the second interrupt. */
void loop_end(struct loop *l, int sig);
/* Takes pending signals; true when the user has asked twice to stop. */
bool loop_stopped(struct loop *l);

/* ---- run_once.c ---- */
struct once {
	struct session *session;
	struct signals *signals;
	const char *path; /* run directory; NULL: none */
	bool force;	  /* it is in the place of an earlier one */
	unsigned long run;
	struct progress progress;
};

/* How a run ended. */
struct outcome {
	int code;	  /* exit code */
	bool interrupted; /* by the user: no further run */
	bool broken;	  /* the tool could not do it: no further run */
	char why[128];	  /* it failed; "" it did not */
	json_t *report;	  /* the caller's; NULL: there is none */
	__u64 length_ns;  /* of the window */
};

/* One run, to its report; *@end is filled whatever happens. */
void run_once(const struct once *once, struct outcome *end);

/* ---- run_series.c ---- */
/* All runs of -n.  Returns the exit code. */
int run_series(struct session *s, struct signals *signals);
/* Before anything is attached: is there room for them?  0 or the exit code. */
int run_series_check(const struct run_opts *opts);

/* ---- run_earlier.c ---- */
enum earlier { RUN_MISSING, RUN_AGAIN, RUN_KEPT };

/*
 * What there is of run @number, whose directory is @path, for --continue.  @now: what
 * run.json would say.  A line is told about what is kept though it failed, or is
 * done again.  -1: it does not fit, the error is told.
 */
int run_earlier(const char *path, unsigned long number, const json_t *now);

/* Is anything at @path but an empty folder? */
bool run_is_there(const char *path);

#endif
