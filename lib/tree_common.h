/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the views of the hierarchy share (tree_text.c, tree_json.c, tree_dot.c). */
#ifndef TMIGR_TREE_COMMON_H
#define TMIGR_TREE_COMMON_H

#include "tmigr/tree.h"

/* Who has the duty inside a group, by its state word. */
struct tree_migrator {
	bool known; /* the word is */
	bool none;  /* it says nobody, or names a child that was not seen */
	int cpu;    /* index in h->cpus, or -1 */
	int group;  /* index in h->groups, or -1 */
};

struct tree_migrator tree_migrator(const struct tmigr_tree *t, size_t group);

/* Where a CPU stands, in the order in which the reasons count. */
enum tree_place {
	TREE_IN,       /* in the hierarchy and taking part */
	TREE_LEFT,     /* has a place there but takes no part: offline, isolated */
	TREE_OFFLINE,  /* no place, offline */
	TREE_ISOLATED, /* no place, isolated */
	TREE_UNSEEN,   /* should have a place; not learnt yet */
	TREE_PLACES
};

enum tree_place tree_place(const struct tmigr_tree *t, size_t cpu);

/* CPUs whose place is known, of those that should have one. */
void tree_seen(const struct tmigr_tree *t, size_t *ret_seen, size_t *ret_of);

/* "running", "WFI", "default idle" (no driver), "offline", "unknown". */
void tree_state_name(const struct tmigr_tree *t, size_t cpu, char *text, size_t size);

/* "active", "idle", "unknown", or "offline" / "isolated" / "left". */
const char *tree_tmigr_name(const struct tmigr_tree *t, size_t cpu);

/* "held", "handover", "duty", "free", "unknown". */
const char *tree_regime_name(enum tmigr_regime regime);

/* The root view of which @group is the root, or NULL. */
const struct tmigr_root_view *tree_root(const struct tmigr_tree *t, size_t group);

/* Is it the CPU that holds the global migrator of its hierarchy? */
bool tree_is_global(const struct tmigr_tree *t, size_t cpu);

/* Next expiry; 0 not known.  Only what the kernel keeps up to date: an active
 * CPU's first timer is not among it. */
__u64 tree_cpu_expiry(const struct tmigr_tree *t, size_t cpu);
__u64 tree_group_expiry(const struct tmigr_tree *t, size_t group);

/* "3.2 ms", "due" when past, "none", "?" not known. */
void tree_in(const struct tmigr_tree *t, __u64 at_ns, char *text, size_t size);

#endif
