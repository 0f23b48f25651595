/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live sources: BPF programs on the running kernel, or the kernel's ftrace
 * buffers.  What a user of them says and gets; their life is that of the engine
 * (engine.h).
 */
#ifndef TMIGR_LIVE_H
#define TMIGR_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "tmigr/rec.h"

enum tmigr_source {
	TMIGR_SOURCE_AUTO, /* BPF, or ftrace where the kernel cannot do that */
	TMIGR_SOURCE_BPF,
	TMIGR_SOURCE_FTRACE,
};

/* "auto", "bpf", "ftrace".  0, or -EINVAL with *@ret untouched. */
int tmigr_source_named(const char *name, enum tmigr_source *ret);
const char *tmigr_source_name(enum tmigr_source source);

struct tmigr_live_opts {
	enum tmigr_source source;
	size_t ring_bytes; /* per CPU; 0: chosen from the number of CPUs */
	size_t step;	   /* tests: records, see live_drain.c; 0: as it should be */
	bool no_timeline;  /* residency only: maps, no records */
	bool no_stats;	   /* do not measure the programs' own time */
	bool latency;	   /* what idle costs and who ended it; by BPF only */
	bool kick;	   /* wake each CPU once before the first window */
	bool no_ksyms;	   /* tests: behave as without KALLSYMS_ALL */
	bool no_snapshot;  /* tests: learn from events alone */
	bool no_ipis;	   /* tests: behave as where no event tells of interrupts between CPUs */
};

/* Takes @n records; <0 stops the drain and is returned. */
typedef int (*tmigr_sink)(void *arg, const struct tmigr_rec *recs, size_t n);

#endif
