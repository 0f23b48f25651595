/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Insides of the ftrace source, for lib/ftrace*.c, lib/engine_ftrace.c and tests:
 *   ftrace_instance.c  a tracefs instance of our own, gone on every exit
 *   ftrace_read.c      its per-CPU buffers, as traced events
 *   ftrace_busy.c      which CPUs have not been idle, by their times
 *   keeper.c           what of the records up to now a window must know
 *   engine_ftrace.c    the engine's source made of these
 */
#ifndef TMIGR_FTRACE_PRIV_H
#define TMIGR_FTRACE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "decode.h"
#include "live_priv.h"
#include "tmigr/err.h"
#include "tmigr/topology.h"

struct tracefs_instance;
struct tep_handle;

/* ---- ftrace_instance.c ---- */

struct tmigr_instance {
	struct tracefs_instance *inst;
	int lock;    /* on its folder while it is in use */
	int lease;   /* pipe to the guard: closed by our end, however that comes */
	pid_t guard; /* the process that removes it then; 0: none */
};

#define TMIGR_TRACEFS_BYTES 128
/* Where tracefs is mounted, by the table of mounts; false: nowhere.  libtracefs would
 * mount it, and looking must not change the system. */
bool tmigr_tracefs_mounted(char dir[TMIGR_TRACEFS_BYTES]);
/* The same for who would use it.  -ENOENT, -EPERM with the remedy. */
int tmigr_tracefs_find(char dir[TMIGR_TRACEFS_BYTES], struct tmigr_err *err);
/* Path of the global buffer as text; owned by the caller. */
int tmigr_tracefs_buffer(char **ret_path, struct tmigr_err *err);
/*
 * Removes what earlier ones left behind (killed together with their guards), and makes
 * a new one: clock mono, tracing off, no event on, its buffers of
 * @bytes per CPU.
 */
int tmigr_instance_create(size_t bytes, struct tmigr_instance *ret, struct tmigr_err *err);
/* Zeros are fine, and a second time. */
void tmigr_instance_remove(struct tmigr_instance *i);
/* -ENOENT: there is no such event. */
int tmigr_instance_enable(struct tmigr_instance *i, const char *system, const char *event);
int tmigr_instance_on(struct tmigr_instance *i, bool on);

/* ---- ftrace_read.c ---- */

/* The buffer of one CPU. */
struct tmigr_trace_cpu;

struct tmigr_trace_reader {
	struct tmigr_trace_cpu *cpus; /* by topology index */
	size_t n_cpus;
	struct tmigr_decoder *decoder;
	__u64 watermark_ns; /* told so far: nothing older comes any more */
	struct tmigr_traced *batch;
	size_t n_batch;
};

/* Where traced events go; <0 stops. */
struct tmigr_trace_sink {
	int (*events)(void *arg, const struct tmigr_traced *evs, size_t n);
	int (*advance)(void *arg, __u64 watermark_ns);
	void *arg;
};

/* @decoder is the reader's from here on, also on error. */
int tmigr_trace_reader_init(struct tmigr_trace_reader *r, const struct tmigr_topology *topo,
			    struct tmigr_instance *inst, struct tep_handle *tep,
			    struct tmigr_decoder *decoder, struct tmigr_err *err);
void tmigr_trace_reader_free(struct tmigr_trace_reader *r);
/* Everything in the buffers, in rounds, so that little is held; ends with an
 * advance to @until_ns: all events before it have been committed by now. */
int tmigr_trace_read(struct tmigr_trace_reader *r, __u64 until_ns,
		     const struct tmigr_trace_sink *sink);
/* Events of use that were read, and those lost, of topology index @i so far. */
__u64 tmigr_trace_records(const struct tmigr_trace_reader *r, size_t i);
__u64 tmigr_trace_lost(const struct tmigr_trace_reader *r, size_t i);
/* Whether an event told what it is in, or could have and was lost. */
bool tmigr_trace_idle_seen(const struct tmigr_trace_reader *r, size_t i);

/* ---- ftrace_busy.c ---- */

/*
 * The idle time of each CPU of @topo by /proc/stat under @root (NULL: "/"), in ticks of
 * 10 ms, into @ticks (by topology index); -1: not there.  No CPU is woken for it.
 */
int tmigr_idle_ticks(const char *root, const struct tmigr_topology *topo, long long *ticks);

/* ---- keeper.c ---- */

/*
 * Of a stream of records, the last of every kind that sets something: fed to a model
 * that begins then, they bring it to where the whole stream would.
 */
struct tmigr_keeper;

/* @topo is borrowed.  0 or -ENOMEM, as feed and dump. */
int tmigr_keeper_new(const struct tmigr_topology *topo, struct tmigr_keeper **ret);
void tmigr_keeper_free(struct tmigr_keeper *k); /* NULL is fine */
int tmigr_keeper_feed(struct tmigr_keeper *k, const struct tmigr_rec *recs, size_t n);
/* Appends them, by time. */
int tmigr_keeper_dump(const struct tmigr_keeper *k, struct tmigr_rec_vec *vec);
/* CPUs whose place in the hierarchy was told. */
size_t tmigr_keeper_places(const struct tmigr_keeper *k);

#endif
