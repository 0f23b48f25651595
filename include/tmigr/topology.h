/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sysfs says about the machine: CPUs, capacity classes, idle states.
 *
 * Source of every fact: files below <root>/sys/devices/system, and
 * <root>/proc/sys/kernel/timer_migration; <root> is a parameter so that tests
 * can feed made-up machines ("" or NULL = the running one).
 */
#ifndef TMIGR_TOPOLOGY_H
#define TMIGR_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "tmigr/err.h"
#include "tmigr/rec.h"

/* One idle state of one CPU: .../cpuN/cpuidle/stateK/ */
struct tmigr_idle_state {
	char name[32];		   /* "WFI", "cpu-sleep"; kernel: 16 bytes */
	unsigned int latency_us;   /* exit latency */
	unsigned int residency_us; /* target residency */
	bool disabled;
};

struct tmigr_topo_cpu {
	unsigned int cpu; /* kernel's CPU number; numbering may be sparse */
	bool online;
	bool isolated; /* in .../cpu/isolated */
	bool nohz_full;
	unsigned int capacity;	/* cpu_capacity; where the file is absent (offline),
				 * that of CPUs of its kind, else 1024; 0: not known (of a
				 * trace without its machine's sysfs) */
	bool class_guessed;	/* that 1024 where others have a capacity, and no --class */
	int node;		/* NUMA node, -1 unknown */
	int cluster;		/* topology/cluster_id, -1 unknown */
	unsigned int class_idx; /* index into classes[] */
	unsigned int n_states;	/* 0: no cpuidle driver for this CPU */
	struct tmigr_idle_state states[TMIGR_STATES];
};

/* A capacity class (CPUs of equal capacity, or the user's --class). */
struct tmigr_class {
	char name[32];	       /* "LITTLE", "mid", "mid1", "big", or the user's;
				* "all" on a machine with one class, "others" what
				* the user's leave of it */
	unsigned int capacity; /* of its CPUs; the highest, if --class mixes */
	unsigned int n_cpus;
};

struct tmigr_topology {
	size_t n_cpus; /* present CPUs, ascending by number */
	struct tmigr_topo_cpu *cpus;
	size_t n_classes;	     /* at least 1 */
	struct tmigr_class *classes; /* ascending by tmigr_class_rank() */
	unsigned int n_possible;     /* highest possible CPU number + 1 */
	char driver[64];	     /* cpuidle driver, "none" when absent; "unknown" of a trace */
	char governor[64];	     /* "" when absent */
	int timer_migration;	     /* the sysctl: 0, 1, or -1 unreadable */
};

/*
 * Reads a machine.  On success *@ret is owned by the caller
 * (tmigr_topology_free).  @overrides: @n_overrides strings "NAME=CPULIST" from
 * --class; CPUs named in none keep the class that their capacity gives.
 * -EINVAL: an override is malformed, names a CPU that does not exist, or a CPU
 * twice.  -ENODATA: sysfs has no CPU list there.
 */
int tmigr_topology_read(const char *root, const char *const *overrides, size_t n_overrides,
			struct tmigr_topology **ret, struct tmigr_err *err);
void tmigr_topology_free(struct tmigr_topology *topo);

/*
 * Reads again what sysfs has of a CPU only while it is online (capacity, node,
 * idle states), for those that were offline in @start: same CPUs, everything
 * else as in @start, which may be what an earlier call gave: a CPU that has gone
 * offline again keeps what was learnt of it.  *@ret is NULL when nothing has changed, else owned by
 * the caller.
 */
int tmigr_topology_refresh(const char *root, const char *const *overrides, size_t n_overrides,
			   const struct tmigr_topology *start, struct tmigr_topology **ret,
			   struct tmigr_err *err);

/*
 * sysfs's list of online CPUs as text, owned by the caller: where it differs from an
 * earlier one, tmigr_topology_refresh() may find something.
 */
int tmigr_topology_online(const char *root, char **ret);

/* The sysctl kernel.timer_migration as it is now: 0, 1, or -1 unreadable. */
int tmigr_topology_sysctl(const char *root);

/*
 * Copies of @topo, owned by the caller; NULL: no memory.  The one has CPUs online as
 * sysfs says now (where it cannot be read, as in @topo), the other as in @start, which
 * has the same CPUs.
 */
struct tmigr_topology *tmigr_topology_now(const char *root, const struct tmigr_topology *topo);
struct tmigr_topology *tmigr_topology_as_at(const struct tmigr_topology *start,
					    const struct tmigr_topology *topo);

/* Dense index of CPU number @cpu, or -1. O(log n). */
int tmigr_topology_index(const struct tmigr_topology *topo, unsigned int cpu);

/*
 * Place of a class among those of a machine, higher is bigger; classes can be
 * level.  It is the capacity; but where all classes have the same (@same: the
 * user's, on a machine whose firmware gives no capacities), a class that is
 * called LITTLE is below, and one that is called big above, the others (in
 * capital letters or not).
 */
unsigned int tmigr_class_rank(unsigned int capacity, const char *name, bool same);

/*
 * Lossless JSON form, for run.json and the head of a recording.  to_json
 * returns a new reference or NULL (no memory); from_json checks everything it
 * reads and fails with -EINVAL, ranges included.
 */
json_t *tmigr_topology_to_json(const struct tmigr_topology *topo);
int tmigr_topology_from_json(const json_t *json, struct tmigr_topology **ret,
			     struct tmigr_err *err);

/*
 * CPU lists as the kernel writes them: "0-3,8,10-11"; the kernel's stride form
 * "0-10:2/4" too.  Parsing gives a sorted list without duplicates, owned by
 * the caller (free).  An empty string is an empty list.  -EINVAL on anything
 * else, on numbers above TMIGR_CPU_MAX, and on a range that runs backwards.
 */
#define TMIGR_CPU_MAX 65535
int tmigr_cpulist_parse(const char *text, unsigned int **ret_cpus, size_t *ret_n,
			struct tmigr_err *err);
/* The reverse, into a string owned by the caller (free); NULL: no memory.
 * @cpus ascending. */
char *tmigr_cpulist_format(const unsigned int *cpus, size_t n);

#endif
