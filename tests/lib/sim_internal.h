/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim.c           building a machine and running it
 * sim_kernel.c    what the CPUs do
 * sim_record.c    what is written down of it: records and truth
 * sim_trace.c     what happens to the records on their way
 */
#ifndef TESTS_SIM_INTERNAL_H
#define TESTS_SIM_INTERNAL_H

#include "sim.h"

#define NOBODY TMIGR_NO_MIGRATOR

struct sgroup {
	__u64 key;
	int parent;
	unsigned int level;
	__u8 mask; /* in the parent */
	__u8 used; /* masks given to children */
	__u32 word;
	bool told; /* its NODE_GROUP, with this parent, is in the trace */
	int child[8];
};

enum walk { WALK_NONE, WALK_ACTIVE, WALK_INACTIVE, WALK_TELL };

struct scpu {
	int group;
	__u8 mask;
	bool online, available, leaving;
	bool tmigr_idle;
	bool told;
	unsigned int slot;
	__u64 since_ns, busy_ns, wakeup_ns;
	enum walk walk;
	int at, from; /* group of the next update, the child it comes from */
	bool none;    /* its walk left a root without migrator */
};

struct machine {
	const struct sim_cfg *cfg;
	struct sim *sim;
	__u64 rng, now, from_ns;
	struct sgroup *groups;
	int n_groups;
	struct scpu *cpus;
	int *tops;	 /* of each hierarchy */
	int *last_truth; /* of each hierarchy */
	bool tracing;
	size_t cap_recs, cap_truth;
};

/* sim.c */
__u64 sim_below(struct machine *s, __u64 n);
bool sim_chance(struct machine *s, unsigned int percent);
unsigned int sim_number(const struct machine *s, int cpu);

/* sim_kernel.c */
void sim_step(struct machine *s);
int sim_new_group(struct machine *s, unsigned int level);
__u8 sim_give_mask(struct machine *s, int group, int child);
bool sim_has_room(const struct machine *s, int group);
void sim_link_group(struct machine *s, int group, int parent);

/* sim_record.c */
void sim_put(struct machine *s, struct tmigr_rec rec);
void sim_tell_group(struct machine *s, int group);
void sim_tell_all(struct machine *s);
/* A kernel event on @cpu, stamped some time after it happened. */
void sim_event(struct machine *s, int cpu, struct tmigr_rec rec);
void sim_event_about(struct machine *s, int cpu, unsigned int type, int subject, __u64 a);
void sim_note_truth(struct machine *s);
void sim_true_slot(struct machine *s, int cpu, unsigned int slot, __u64 t);

#endif
