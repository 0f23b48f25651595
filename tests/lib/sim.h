/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small model of the kernel that makes records for tests: idle loop, group
 * walk of kernel/time/timer_migration.c (one update a step, walks of several
 * CPUs interleaved), duties, remote expiry, hotplug, and a tracer that starts
 * in the middle, stamps late, and loses records.
 */
#ifndef TESTS_SIM_H
#define TESTS_SIM_H

#include "tmigr/model.h"

struct sim_cfg {
	__u64 seed;
	unsigned int n_cpus;
	unsigned int n_late; /* of them, first online inside the window */
	unsigned int n_roots;
	unsigned int fan; /* children a group, 1..8 */
	unsigned int n_classes;
	/* All of one capacity; of the classes, the first ones are called LITTLE
	 * and the last ones big, as many as there are. */
	bool level;
	unsigned int n_little, n_big;
	unsigned int max_gap; /* between CPU numbers; 1: contiguous */
	unsigned int steps;
	__u64 step_ns;	     /* mean time between steps of the machine */
	__u64 max_delay_ns;  /* of a record's stamp behind the update */
	bool snapshot;	     /* else CPUs are learnt from their first event */
	bool late_snapshot;  /* it is taken after the window's start */
	bool more_snapshots; /* some inside the window */
	bool end_snapshot;
	bool hotplug;
	unsigned int n_lost;  /* losses told of by LOST, if a record follows */
	unsigned int n_holes; /* single records that vanish */
	unsigned int n_clean; /* CLEAN records, only where true */
};

/* True state of a hierarchy from t_ns on (without delay: of the records). */
struct sim_truth {
	__u64 t_ns;
	unsigned int root; /* hierarchy of sim_cfg.n_roots */
	int cpu;	   /* holder, -1 hand-over, -2 nobody */
};

struct sim {
	struct tmigr_topology *topo;
	__u64 start_ns, end_ns;
	struct tmigr_rec *recs; /* by time; of one CPU in order */
	size_t n_recs;
	struct sim_truth *truth;
	size_t n_truth;
	__u64 *time_ns; /* true residency: [cpu index][TMIGR_SLOTS] */
	int *root_of;	/* hierarchy of each CPU, -1 not in one yet */
};

/* A configuration drawn at random from @seed. */
struct sim_cfg sim_random(__u64 seed);
void sim_run(const struct sim_cfg *cfg, struct sim *ret);
void sim_free(struct sim *sim);

/* Feeds and finishes.  @seed 0: in one piece; else reordered as the contract
 * allows, in batches, with watermarks. */
int sim_feed(const struct sim *sim, struct tmigr_model *m, __u64 seed);

__u64 sim_random_u64(__u64 *state);

#endif
