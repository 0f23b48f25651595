/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `doctor` looks at, apart from what it makes of it, so that tests can
 * judge kernels that are not here.  Private to the library.
 */
#ifndef TMIGR_LIB_DOCTOR_FACTS_H
#define TMIGR_LIB_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tmigr/features.h"
#include "tmigr/topology.h"

/* Capabilities, by their number in linux/capability.h */
#define DOCTOR_CAP_SYS_ADMIN 21
#define DOCTOR_CAP_SYSLOG    34
#define DOCTOR_CAP_PERFMON   38
#define DOCTOR_CAP_BPF	     39

struct doctor_facts {
	char release[65];		/* uname -r */
	char machine[65];		/* uname -m */
	int features_ret;		/* of tmigr_features_probe() */
	struct tmigr_features features; /* when features_ret is 0 */
	struct tmigr_err features_err;
	bool kallsyms_readable;
	bool kallsyms_hidden; /* every address reads 0 for this user */
	char tracefs[128];    /* TMIGR_TRACEFS_BYTES: where it is mounted, "" nowhere */
	bool tracefs_readable;
	/* Instances can be made in it; its events are enough for residency, and for
	 * the hierarchy. */
	bool ftrace_instances, ftrace_idle, ftrace_tmigr;
	uint64_t caps;			 /* effective ones, as a bit mask */
	int bpf_load;			 /* 0, or a negative errno */
	int unprivileged_bpf_disabled;	 /* the sysctl, -1 unreadable */
	char lockdown[32];		 /* "none", "integrity", ...; "" not there */
	struct tmigr_topology *topology; /* NULL: topology_err says why */
	struct tmigr_err topology_err;
};

/* Number of checks that doctor_judge() makes. */
#define DOCTOR_CHECKS 15

/* Fills @checks[DOCTOR_CHECKS]; returns the number of FAILs. */
int doctor_judge(const struct doctor_facts *facts, struct tmigr_check *checks);

#endif
