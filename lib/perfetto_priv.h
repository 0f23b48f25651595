/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the Perfetto export: what both of its replays know. */
#ifndef TMIGR_PERFETTO_PRIV_H
#define TMIGR_PERFETTO_PRIV_H

#include <jansson.h>

#include "perfetto_write.h"
#include "tmigr/model.h"

/* Perfetto's readers refuse a whole trace with ftrace events of a higher CPU. */
#define PF_FTRACE_CPUS 1024

/* Kinds of tracks; an index makes a track of it. */
enum pf_track_kind {
	PF_TRACK_TOP,
	PF_TRACK_NOTES,
	PF_TRACK_HOLDERS,
	PF_TRACK_ROOT, /* by index of the report's roots */
	PF_TRACK_GROUPS,
	PF_TRACK_GROUP, /* by the model's number */
	PF_TRACK_STATES,
	PF_TRACK_CPU, /* by index of the report's cpus */
	PF_TRACK_REMOTES,
	PF_TRACK_REMOTE, /* by index of the report's cpus, of the executor */
};

/* Names that every trace has; CPUs and groups follow from PF_NAME_FIRST on. */
enum pf_event_name {
	PF_NAME_NONE = 1,
	PF_NAME_REMOTE,
	PF_NAME_RUN,
	PF_NAME_REGIME, /* + enum tmigr_regime */
	PF_NAME_FIRST = PF_NAME_REGIME + TMIGR_REGIMES,
};

enum pf_category { PF_CAT_HOLDER = 1, PF_CAT_GROUP, PF_CAT_REMOTE, PF_CAT_NOTE };

enum pf_argument {
	PF_ARG_CPU = 1,
	PF_ARG_EXECUTOR,
	PF_ARG_EXECUTOR_CLASS,
	PF_ARG_TARGET,
	PF_ARG_TARGET_CLASS,
	PF_ARG_WOKE_FROM,
	PF_ARG_ANSWER,
	PF_ARG_LABEL,
	PF_ARG_RUN,
	PF_ARG_TOOL,
	PF_ARG_KERNEL,
	PF_ARG_MACHINE,
	PF_ARG_START_TIME,
	PF_ARG_WINDOW_NS,
	PF_ARG_PARTIAL,
	PF_ARG_LOST_RECORDS,
};

struct pf_cpu {
	unsigned int cpu;
	bool lost;
	size_t n_idles;
	struct pf_idle idles[PF_IDLES];
};

struct pf_group {
	bool shown;
	char name[24];
};

struct perfetto {
	FILE *out;
	json_t *report;
	__u64 start_ns, end_ns;
	bool no_memory;
	bool changed; /* the second replay shows something that the first did not */
	size_t n_cpus;
	struct pf_cpu *cpus; /* as in the report */
	size_t n_groups;     /* by the model's numbers */
	struct pf_group *groups;
	size_t n_roots;
};

/* A callback of the first replay; arg is the struct perfetto. */
void pf_take_hierarchy(void *arg, const struct tmigr_hierarchy *h);
/* After it, with the report; 0 or -ENOMEM. */
int pf_prepare(struct perfetto *p);
void pf_free(struct perfetto *p); /* not the report */
/* Writes clocks, names, tracks, and what is known of the run. */
void pf_describe(const struct perfetto *p);

__u64 pf_uuid(enum pf_track_kind kind, size_t index);
/* Index of a CPU's number in cpus, -1: none. */
int pf_cpu(const struct perfetto *p, unsigned int cpu);
/* Numbers of names (PF_EVENT). */
__u64 pf_cpu_name(const struct perfetto *p, unsigned int cpu);
__u64 pf_group_name(const struct perfetto *p, size_t group);

#endif
