/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Insides of the model, for lib/model*.c only.
 *
 * model.c            API, dispatch of one record
 * model_order.c      hold back, sort, put group updates into seq order
 * model_hierarchy.c  groups, links, roots, views
 * model_residency.c  idle states of the CPUs
 * model_part.c       what a CPU that runs is to timer migration
 * model_root.c       regimes of the roots: resolution, duty, loss
 * model_group.c      the groups' own migrators
 * model_log.c        the roots' piece logs, segments, holders
 * model_remote.c     remote expiries
 * model_map.c        containers
 * model_clone.c      copy of a model
 *
 * Data flows one way: a record is released by model_order.c in time order,
 * sets the state of a CPU or of a group, and the root it belongs to is looked
 * at again (tmigr_root_update), which adds a piece to the root's log.
 */
#ifndef TMIGR_MODEL_INTERNAL_H
#define TMIGR_MODEL_INTERNAL_H

#include "tmigr/model.h"

#define TMIGR_NEVER    ((__u64)-1)
#define TMIGR_CHILDREN 8 /* the kernel's TMIGR_CHILDREN_PER_GROUP */

/* u64 -> u32, open addressing; val is stored plus 1, 0 is an empty place. */
struct tmigr_map {
	__u64 *keys;
	__u32 *vals;
	size_t n, cap; /* cap is 0 or a power of two */
};

int tmigr_map_get(const struct tmigr_map *map, __u64 key);	/* value or -1 */
int tmigr_map_put(struct tmigr_map *map, __u64 key, __u32 val); /* key is new */
int tmigr_map_set(struct tmigr_map *map, __u64 key, __u32 val); /* new or not */
void tmigr_map_free(struct tmigr_map *map);

/* Grows *@array, of @size bytes an element, to hold @need; 0 or -ENOMEM. */
int tmigr_grow(void *array, size_t *cap, size_t need, size_t size);

/* A record that waits for its turn. */
struct tmigr_held {
	struct tmigr_rec rec;
	__u32 arrival; /* wraps; those that wait together are fewer */
	bool used;     /* a group update that was taken before its turn */
};

enum tmigr_duty {
	TMIGR_DUTY_UNKNOWN,
	TMIGR_DUTY_NONE,
	TMIGR_DUTY_SET,
	TMIGR_DUTY_PENDING, /* its update made the root say "none"; its
			     * CPU_IDLE, which tells the duty, is still due */
};

struct tmigr_mcpu {
	unsigned int cpu;
	unsigned int class_idx;
	/* residency */
	__u64 since_ns; /* accounted up to here */
	__u64 start_ns; /* of the idle interval, when start_seen */
	unsigned int slot;
	unsigned int idle_slot; /* of the idle interval, open or last closed */
	bool seen;		/* anything is known about its idle state */
	bool start_seen;
	bool woke_done; /* a remote expiry was booked to the interval */
	/* what it is to timer migration: enum tmigr_part; TMIGR_PARTS: nothing told it yet */
	unsigned int part;
	unsigned int snap_part; /* by the last that was told before the window, or by a snapshot */
	__u64 part_at_ns;	/* accounted up to here */
	__u64 part_ns[TMIGR_PARTS + 1]; /* since since_ns */
	__u64 unseen_ns;		/* running while nothing had told it */
	/* timer migration */
	bool available;
	bool in_play; /* may be in the hierarchy (online, not unavailable) */
	enum tmigr_duty duty;
	__u64 wakeup_ns;
	__u64 pending_ns; /* since when, under TMIGR_DUTY_PENDING */
	int group;	  /* level-0 group, -1 not learnt */
	int root;	  /* -1: no root is known above it */
	__u8 mask;	  /* one-hot; 0 when its place in the group is not known */
};

struct tmigr_group {
	__u64 key;
	int parent; /* index, -1 none known */
	int root;   /* index, -1 none known above it */
	int node;
	unsigned int level;
	__u8 mask;
	bool learnt; /* a NODE_GROUP told of it */
	bool known;  /* word is valid */
	bool suspect;
	__u32 word;
	__u64 good_ns;	  /* time of the last accepted update, or of a snapshot
			   * that confirmed it */
	__u64 suspect_ns; /* an update may be lost from here on */
	/* By bit of the mask.  CPUs: index, -1 none, -2 not in the topology. */
	int child_cpu[TMIGR_CHILDREN];
	int child_group[TMIGR_CHILDREN];
	/* Who its migrator is, from when on; told of up to there. */
	struct tmigr_group_span span;
};

/* Regime of a piece whose duty is not decided yet. */
#define TMIGR_UNDECIDED TMIGR_REGIMES

/* Part of a root's timeline, up to the next one's start; provisional. */
struct tmigr_piece {
	__u64 start_ns;
	unsigned int regime;	/* enum tmigr_regime or TMIGR_UNDECIDED */
	int cpu;		/* index of the holder, or -1 */
	int group;		/* where the way down ended, or -1 */
	unsigned int slot;	/* of the holder */
	unsigned int n_active;	/* CPUs of lower classes: tmigr-active ... */
	unsigned int n_unknown; /* ... and not known to be or not */
	unsigned int n_pending; /* CPUs whose duty is due, when undecided */
	bool else_unknown;	/* undecided, and none of them has a duty: not
				 * free but unknown */
};

struct tmigr_root {
	int top;	/* group index */
	bool dead;	/* merged into an older one */
	int order;	/* index in the result, -1 nothing flushed yet */
	bool foreign;	/* a CPU below it is not in the topology */
	__u64 shape_ns; /* last change of what is linked below it */
	unsigned int n_duty, n_pending, n_unknown;
	unsigned int *n_active; /* by class: tmigr-active CPUs */
	unsigned int *n_dark;	/* by class: CPUs whose level-0 word is unknown */
	struct tmigr_piece *log;
	size_t n_log, cap_log;
	/* figures, grown when flushed */
	__u64 regime_ns[TMIGR_REGIMES];
	struct tmigr_segment open; /* the last segment, may still grow */
	bool has_open;
	int *holder_of_cpu; /* by CPU index: into holders, -1 */
	struct tmigr_holder *holders;
	size_t n_holders, cap_holders;
};

struct tmigr_model {
	struct tmigr_model_cfg cfg;
	int err; /* -ENOMEM once it happened: nothing is done after it */
	bool finished;
	bool tail; /* the records at or after end_ns */
	__u64 end_ns;
	__u64 now_ns;
	__u64 clean_ns;
	__u64 watermark_ns;

	struct tmigr_held *held; /* from first_held up to n_held */
	size_t first_held, n_held, cap_held;
	__u32 arrivals;
	bool sorted;
	size_t *pulled; /* scratch */
	size_t cap_pulled;
	bool chained; /* next is of the present release */
	int *next;    /* by place in held; -1 none */
	size_t cap_next;

	size_t n_cpus;
	struct tmigr_mcpu *cpus;
	int *index_of_cpu; /* by CPU number */
	unsigned int n_numbers;
	unsigned int *lower_classes; /* by class: how many classes, from the
				      * first, are lower */

	struct tmigr_group *groups;
	size_t n_groups, cap_groups;
	struct tmigr_map group_map;
	struct tmigr_root *roots;
	size_t n_roots, cap_roots;
	/* CPUs in play that are in no root: they may be in any */
	unsigned int n_stray_duty;
	unsigned int *n_stray; /* by class */
	unsigned int n_orders;

	struct tmigr_map remote_map;
	size_t cap_remote;
	struct tmigr_cpu_figures *figures; /* result.cpus */
	struct tmigr_result result;
};

/* Index of a CPU number, or -1. */
int tmigr_model_cpu(const struct tmigr_model *m, __u64 cpu);
/* The present record counts in the figures. */
bool tmigr_model_counts(const struct tmigr_model *m);
void tmigr_model_dispatch(struct tmigr_model *m, size_t held_idx);

/* model_order.c */
int tmigr_order_add(struct tmigr_model *m, const struct tmigr_rec *recs, size_t n);
void tmigr_order_release(struct tmigr_model *m, __u64 limit_ns);
void tmigr_order_group(struct tmigr_model *m, size_t held_idx);

/* model_hierarchy.c */
int tmigr_hier_group(struct tmigr_model *m, __u64 key); /* made when new; -1: no memory */
void tmigr_hier_node_group(struct tmigr_model *m, const struct tmigr_rec *rec);
void tmigr_hier_node_cpu(struct tmigr_model *m, const struct tmigr_rec *rec);
void tmigr_hier_set_word(struct tmigr_model *m, int group, __u32 word);
bool tmigr_hier_is_below(const struct tmigr_model *m, int group, int above);
unsigned int tmigr_hier_lowest_cpu(const struct tmigr_model *m, int group);

/* model_residency.c */
void tmigr_resid_enter(struct tmigr_model *m, int cpu, __u64 state);
void tmigr_resid_exit(struct tmigr_model *m, int cpu);
void tmigr_resid_miss(struct tmigr_model *m, int cpu, __u64 state, bool below);
void tmigr_resid_online(struct tmigr_model *m, int cpu);
void tmigr_resid_offline(struct tmigr_model *m, int cpu);
void tmigr_resid_snap(struct tmigr_model *m, int cpu, __u64 state);
void tmigr_resid_lost(struct tmigr_model *m, int cpu, __u64 from_ns);
void tmigr_resid_finish(struct tmigr_model *m);

/* model_part.c */
/* since_ns is @t_ns now; up to there the CPU ran for @running_ns, 0: it did not run. */
void tmigr_part_book(struct tmigr_model *m, int cpu, __u64 t_ns, __u64 running_ns);
bool tmigr_part_seen(const struct tmigr_model *m, int cpu);
/* Of any type; of most nothing comes. */
void tmigr_part_record(struct tmigr_model *m, int cpu, const struct tmigr_rec *rec);
void tmigr_part_lost(struct tmigr_model *m, int cpu);
void tmigr_part_finish(struct tmigr_model *m);

/* model_root.c */
int tmigr_root_new(struct tmigr_model *m, int top); /* index or -1 */
void tmigr_root_update(struct tmigr_model *m, int root);
void tmigr_root_update_all(struct tmigr_model *m);
/* Adds (1) or takes away (-1) what a CPU counts for, before and after any of
 * what decides it changes. */
void tmigr_root_count_cpu(struct tmigr_model *m, int cpu, int sign);
void tmigr_root_duty(struct tmigr_model *m, int cpu, enum tmigr_duty duty, __u64 wakeup_ns,
		     enum tmigr_duty was);
void tmigr_root_none(struct tmigr_model *m, int group, __u64 cpu);
void tmigr_root_blur(struct tmigr_model *m, int group, __u64 from_ns);
void tmigr_root_slot(struct tmigr_model *m, int cpu);
void tmigr_root_lost(struct tmigr_model *m, int cpu, __u64 from_ns);
void tmigr_root_in_play(struct tmigr_model *m, int cpu, bool in_play);
void tmigr_root_clean(struct tmigr_model *m);
void tmigr_root_cut_end(struct tmigr_model *m);
void tmigr_root_finish(struct tmigr_model *m);
enum tmigr_regime tmigr_root_present(const struct tmigr_model *m, int root, int *ret_cpu);
void tmigr_root_free(struct tmigr_root *r);

/* model_group.c; nothing is done when nobody wants to be told */
/* Its word, or what is linked below it, may have changed. */
void tmigr_group_look(struct tmigr_model *m, int group);
void tmigr_group_look_all(struct tmigr_model *m);
/* The word that it still has was not certain from @from_ns until now. */
void tmigr_group_blur(struct tmigr_model *m, int group, __u64 from_ns);
void tmigr_group_finish(struct tmigr_model *m);

/* model_log.c */
void tmigr_log_push(struct tmigr_model *m, struct tmigr_root *r, struct tmigr_piece p);
/* Makes a piece start at @t_ns, if the log reaches back to it. */
void tmigr_log_cut(struct tmigr_model *m, struct tmigr_root *r, __u64 t_ns);
/* Index of the first piece that starts at or after @t_ns. */
size_t tmigr_log_find(const struct tmigr_root *r, __u64 t_ns);
void tmigr_log_flush(struct tmigr_model *m, struct tmigr_root *r, __u64 until_ns);
void tmigr_log_number_roots(struct tmigr_model *m);
void tmigr_log_close(struct tmigr_model *m, struct tmigr_root *r);
int tmigr_log_result(struct tmigr_model *m);

/* model_remote.c */
void tmigr_remote_event(struct tmigr_model *m, const struct tmigr_rec *rec);
void tmigr_remote_finish(struct tmigr_model *m);

#endif
