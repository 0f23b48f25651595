/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BRUTE_INTERNAL_H
#define TESTS_BRUTE_INTERNAL_H

#include "brute.h"

enum duty { UNSET, NONE, SET };

struct bgroup {
	__u64 key;
	int parent, child_group[8], child_cpu[8];
	bool learnt, known, suspect;
	__u32 word;
	__u64 good, suspect_from;
};

struct bcpu {
	int group;
	__u8 mask;
	enum duty duty;
	bool play;
	unsigned int slot;
};

struct broot {
	int top;
	bool dead;
	int order;
	__u64 shape;
};

/* What is known at one moment. */
struct bstate {
	struct bgroup *groups;
	size_t n_groups;
	struct bcpu *cpus;
	struct broot *roots;
	size_t n_roots;
	int n_orders;
};

enum change_type { WORD_IS, LEARNT, LINKED, CPU_AT, DUTY_IS, PLAY_IS, SLOT_IS, NUMBERED };

struct change {
	__u64 t;
	enum change_type type;
	int who; /* group or CPU index */
	__u64 a; /* word, parent, group, duty, play, slot */
	__u8 mask;
};

/* A group's word is not certain. */
struct blur {
	int group, root;
	__u64 from, to, shape;
};

/* A CPU's records are missing. */
struct gap {
	int cpu, root; /* root -1: any */
	__u64 from, to;
};

/* A CPU is something else to timer migration from @t on, says record @p. */
struct pmark {
	__u64 t;
	size_t p;
	unsigned int part; /* enum tmigr_part; TMIGR_PARTS: nothing told it */
};

/* What is found about the whole stream. */
struct bstream {
	const struct tmigr_topology *topo;
	struct tmigr_rec *recs; /* sorted */
	bool *used;
	size_t n;
	__u64 start, end, clean;
	struct change *changes;
	size_t n_changes;
	struct blur *blurs;
	size_t n_blurs;
	struct gap *gaps;
	size_t n_gaps;
	struct pmark *marks; /* of the CPU that is looked at */
	size_t n_marks;
	int *due; /* by CPU: change whose duty is due, or -1 */
	struct bstate state;
	struct brute *out;
};

/* Room for one more behind @n elements: doubles at powers of two. */
void *brute_more(void *array, size_t n, size_t size);
void brute_state_init(struct bstate *s, const struct tmigr_topology *topo, size_t n_groups);
void brute_state_free(struct bstate *s);
void brute_apply(struct bstate *s, const struct tmigr_topology *topo, const struct change *c);
int brute_root_of(const struct bstate *s, int group);
int brute_index(const struct tmigr_topology *topo, __u64 cpu);

/* brute_stream.c: what changes when */
void brute_stream(struct bstream *b);
/* brute_cpu.c: residency, and what a CPU that ran was to timer migration; expiries */
void brute_parts_of_cpu(struct bstream *b, int cpu);
void brute_idle_of_cpu(struct bstream *b, int cpu);
void brute_remotes(struct bstream *b);
/* brute_roots.c: who held, when all that changes is in order */
void brute_sort_changes(struct bstream *b);
void brute_judge_roots(struct bstream *b);
void brute_count_holdings(struct brute *out);

#endif
