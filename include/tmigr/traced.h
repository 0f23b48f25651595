/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events as ftrace gives them, and the way from them to the model's records
 * (rec.h).  Whoever reads ftrace (live buffers, trace.dat, text) translates to
 * `struct tmigr_traced`, field by field and by name; the sequencer does what is the
 * same for all of them:
 *
 *  - an update of a group has no seq there, and its stamp is taken some time after
 *    the update: the order of a group's updates is rebuilt from their words, and
 *    seq numbers are given out by it;
 *  - links between CPUs and groups are learnt from connect events and from the
 *    groups' walks;
 *  - what a lost event may have changed is made to count as unknown.
 */
#ifndef TMIGR_TRACED_H
#define TMIGR_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tmigr/err.h"
#include "tmigr/rec.h"

/*
 * Which fields a type uses; `t_ns`, `cpu`, and `pid` 0 for the idle task are
 * everybody's.  A field in brackets may be missing (see `has`).
 *
 *   CPU_IDLE        value = state, TMIGR_TRACED_IDLE_EXIT: exit
 *   CPU_IDLE_MISS   value = state, below
 *   GROUP_ACTIVE    group, level, active, migrator, mask (childmask) [parent, node
 *   GROUP_INACTIVE      (or family)]
 *   CPU_ACTIVE      subject = cpu, value = wakeup [group = parent]
 *   CPU_INACTIVE    the same, of tmigr_cpu_idle
 *   CPU_NEW_TIMER, CPU_NEW_TIMER_IDLE   the same
 *   HANDLE_REMOTE   group, level
 *   HANDLE_REMOTE_CPU   subject = cpu [value = wakeup, group = parent]
 *   CPU_AVAILABLE, CPU_UNAVAILABLE      subject = cpu [group = parent]; also
 *                   tmigr_cpu_online, tmigr_cpu_offline: TMIGR_HAS_HOTPLUG
 *   UPDATE_EVENTS   group, level [child group = parent below]: not needed, only
 *                   tells links
 *   GROUP_SET       group, level [node]
 *   CONNECT_CPU     subject = cpu, group = parent, level, mask [node,
 *                   num_children, capacity]
 *   CONNECT_CHILD   group = the child, parent, level (of the parent), mask [node,
 *                   num_children, capacity]
 *   HOTPLUG_ONLINE, HOTPLUG_OFFLINE     subject = cpu: cpuhp_enter of the step
 *                   that brings it up, cpuhp_exit of the one that took it down
 *   STEP_ENTER      subject = cpu, value = step, node = target: a step of hotplug begins,
 *                   on the way to the state `target`; in place of the two above where
 *                   all steps are asked for
 *   STEP_EXIT       subject = cpu, value = step, node = ret, capacity = state: it has
 *                   ended, and the state that the CPU is in now
 *   LOST            value = how many events of `cpu` are missing here, at least 1
 *                   when nobody counted: between its event before and t_ns.  cpu
 *                   TMIGR_TRACED_NO_CPU: nobody knows of which
 *   OTHER           an event of no use: only tells that `cpu` got that far
 */
enum tmigr_traced_type {
	TMIGR_TRACED_OTHER = 0,
	TMIGR_TRACED_CPU_IDLE,
	TMIGR_TRACED_CPU_IDLE_MISS,
	TMIGR_TRACED_GROUP_ACTIVE,
	TMIGR_TRACED_GROUP_INACTIVE,
	TMIGR_TRACED_CPU_ACTIVE,
	TMIGR_TRACED_CPU_INACTIVE,
	TMIGR_TRACED_CPU_NEW_TIMER,
	TMIGR_TRACED_CPU_NEW_TIMER_IDLE,
	TMIGR_TRACED_HANDLE_REMOTE,
	TMIGR_TRACED_HANDLE_REMOTE_CPU,
	TMIGR_TRACED_CPU_AVAILABLE,
	TMIGR_TRACED_CPU_UNAVAILABLE,
	TMIGR_TRACED_UPDATE_EVENTS,
	TMIGR_TRACED_GROUP_SET,
	TMIGR_TRACED_CONNECT_CPU,
	TMIGR_TRACED_CONNECT_CHILD,
	TMIGR_TRACED_HOTPLUG_ONLINE,
	TMIGR_TRACED_HOTPLUG_OFFLINE,
	TMIGR_TRACED_STEP_ENTER,
	TMIGR_TRACED_STEP_EXIT,
	TMIGR_TRACED_LOST,
	TMIGR_TRACED_TYPES
};

#define TMIGR_TRACED_IDLE_EXIT	 0xffffffffULL
#define TMIGR_TRACED_BUFFERS_MAX 320 /* four names of up to 40 bytes, and words */
#define TMIGR_TRACED_NO_CPU	 0xffffffffU
#define TMIGR_TRACED_CPU_MAX	 65535	      /* as TMIGR_CPU_MAX */
#define TMIGR_TRACED_NS_MAX	 (1ULL << 62) /* no stamp is greater; JSON knows integers to 2^63 */

/* has: which of the fields that may be missing are there */
#define TMIGR_HAS_GROUP	       0x01 /* `group` of the CPU_*, HANDLE_REMOTE_CPU types */
#define TMIGR_HAS_PARENT       0x02 /* `parent`, which may be 0: none */
#define TMIGR_HAS_NODE	       0x04
#define TMIGR_HAS_CAPACITY     0x08
#define TMIGR_HAS_NUM_CHILDREN 0x10
#define TMIGR_HAS_HOTPLUG      0x20 /* the event is of CPU hotplug, by its name */

struct tmigr_traced {
	__u64 t_ns;
	__u32 cpu; /* on which it was recorded; of cpu_idle, its cpu_id */
	__u8 type; /* enum tmigr_traced_type */
	__u8 has;  /* TMIGR_HAS_* */
	__u8 level;
	__u8 mask; /* childmask (groupmask) */
	/* Pointers, raw or hashed: equal ones mean the same group, no more. */
	__u64 group;
	__u64 parent; /* UPDATE_EVENTS: the child, 0 none */
	__u64 value;
	__u32 subject;
	__s32 pid; /* 0: the idle task */
	__u8 active, migrator, below;
	__u8 pad;
	__s32 node; /* numa_node, or family */
	__u32 capacity;
	__u32 num_children;
};

/*
 * The type of an event by its name ("cpu_idle", "tmigr_cpu_online"; @size bytes, no
 * system before it), TMIGR_TRACED_OTHER for all that are of no use.  cpuhp_enter
 * and cpuhp_exit are the source's own: which step is meant is a number of the
 * kernel's.
 */
enum tmigr_traced_type tmigr_traced_type(const char *name, size_t size);
/* Is an event of that name CPU hotplug's own (TMIGR_HAS_HOTPLUG)? */
bool tmigr_traced_is_hotplug(const char *name, size_t size);

/* Steps of CPU hotplug by their numbers (hotplug.h), which are the kernel's own; -1:
 * not known, then there is no HOTPLUG_ONLINE, HOTPLUG_OFFLINE. */
struct tmigr_hotplug_steps {
	int bringup, teardown;
};

/* A step was entered that calls the function of that name (@size bytes): which tells
 * of some what they are. */
void tmigr_hotplug_learn(struct tmigr_hotplug_steps *steps, int step, const char *function,
			 size_t size);

/* ---- the sequencer ---- */

struct tmigr_sequencer;

struct tmigr_sequencer_cfg {
	/*
	 * Records for the model, in an order that keeps each CPU's.  <0 stops.
	 * After an advance, no later record has t_ns < its watermark less
	 * TMIGR_SEQUENCER_HOLD_NS: that is what the model may be advanced to.
	 */
	int (*records)(void *arg, const struct tmigr_rec *recs, size_t n);
	/* Optional: the prologue is over.  @start_ns is the time of the first event,
	 * @cpus (ascending) those that events came from or spoke of.  Called
	 * before the first records. */
	int (*begin)(void *arg, __u64 start_ns, const unsigned int *cpus, size_t n_cpus);
	void *arg;
	/*
	 * Events are held back at the start until there are that many, or the
	 * watermark has gone that far beyond the first: what they tell of the
	 * hierarchy, and what the first words tell of those before, is dated back
	 * to the start.  0 events: none.
	 */
	size_t prologue_events;
	__u64 prologue_ns;
};

/*
 * Updates of one group that were made in another order than their stamps say are
 * put in order when the stamps are no further apart than this.
 */
#define TMIGR_SEQUENCER_HOLD_NS 50000000ULL

/* What it met; any time. */
struct tmigr_sequencer_stats {
	__u64 first_ns, last_ns; /* stamps of the first and last event */
	__u64 events[TMIGR_TRACED_TYPES];
	__u64 lost;	/* sum of LOST */
	__u64 updates;	/* of groups */
	__u64 moved;	/* of these, not where their stamps put them */
	__u64 odd;	/* a migrator that no rule explains, but the bits fit */
	__u64 breaks;	/* words that cannot follow the one before: something is missing */
	__u64 n_states; /* highest idle state seen, plus 1 */
};

/* 0 or -ENOMEM; owned by the caller (tmigr_sequencer_free). @cfg is copied. */
int tmigr_sequencer_new(const struct tmigr_sequencer_cfg *cfg, struct tmigr_sequencer **ret);
void tmigr_sequencer_free(struct tmigr_sequencer *s); /* NULL is fine */
/*
 * Events, of each CPU in the order in which they were recorded (stamps never go
 * back), across CPUs in any.  -ENOMEM, -EINVAL a CPU's time goes back, or what a
 * callback returned.
 */
int tmigr_sequencer_feed(struct tmigr_sequencer *s, const struct tmigr_traced *evs, size_t n);
/* No event with t_ns < @watermark_ns will follow: what can be decided is given out.
 * Often is better: it is cheap, and what is held grows until then. */
int tmigr_sequencer_advance(struct tmigr_sequencer *s, __u64 watermark_ns);
/* No event will follow: everything is given out. */
int tmigr_sequencer_finish(struct tmigr_sequencer *s);
const struct tmigr_sequencer_stats *tmigr_sequencer_stats(const struct tmigr_sequencer *s);

/* ---- where they come from ---- */

/*
 * A file with ftrace events, opened by one of the functions below; read from its
 * start to its end, once.
 */
struct tmigr_step_names; /* hotplug_ops.h */

struct tmigr_traced_source {
	/* Fills up to @max events; how many, 0 at the end, <0 with *err told.
	 * *@ret_watermark_ns: no later event has a smaller time. */
	ssize_t (*read)(struct tmigr_traced_source *src, struct tmigr_traced *evs, size_t max,
			__u64 *ret_watermark_ns, struct tmigr_err *err);
	void (*close)(struct tmigr_traced_source *src); /* frees @src too */
	const char *format;				/* "ftrace text", "trace.dat version 7" */
	/* Known after the first read (0 or "": not said in the file): */
	__u32 resolution_ns;
	unsigned int n_cpus; /* of the traced machine, numbered from 0 */
	char clock[32];
	char kernel[65], machine[65], host[65]; /* as in uname(2) */
	/* At the end: what was not understood or is missing, "" nothing: the
	 * result is partial.  A line, names file and position. */
	char partial[TMIGR_ERR_MAX];
	__u64 skipped; /* events of no use */
	/* At the end, of a file with several buffers: from which of them what is; "": of one. */
	char buffers[TMIGR_TRACED_BUFFERS_MAX];
	/* Of text, set before the first read: steps of hotplug are wanted (STEP_ENTER,
	 * STEP_EXIT), and nothing else; names of their functions are put there. */
	struct tmigr_step_names *steps;
};

/* -EINVAL with the message: not such a file.  Text: from an open file (the caller's),
 * of which @n bytes, @head, were read; @name is for messages. */
int tmigr_text_open_fd(const char *name, int fd, const void *head, size_t n,
		       struct tmigr_traced_source **ret, struct tmigr_err *err);
/* trace.dat, likewise from a file, which is not read in order: -ESPIPE for a pipe. */
int tmigr_dat_open_fd(const char *name, int fd, bool steps, struct tmigr_traced_source **ret,
		      struct tmigr_err *err);
/*
 * Either of the two, by what is in it; "-": standard input.  *@ret_fd is to be closed
 * after *@ret, where it is not that.  -EINVAL also for our own recordings.  @steps: those
 * of hotplug are wanted; for text set them in *@ret as well.
 */
int tmigr_traced_open(const char *path, bool steps, struct tmigr_traced_source **ret, int *ret_fd,
		      struct tmigr_err *err);

#endif
