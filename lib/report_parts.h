/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of tmigr_report_build(): who makes which part of the object.  Each
 * returns a new reference, or NULL (no memory).
 */
#ifndef TMIGR_REPORT_PARTS_H
#define TMIGR_REPORT_PARTS_H

#include "tmigr/info.h"
#include "tmigr/report.h"

/* Where every figure of a report comes from; all borrowed. */
struct tmigr_report_source {
	const struct tmigr_topology *topo;
	const struct tmigr_result *res;
	const struct tmigr_hierarchy *h;
	const struct tmigr_window_totals *totals; /* or NULL */
	const json_t *info;			  /* or NULL */
};

/* ---- report_build.c ---- */

/* The report of figures that need not be a model's (tests write their own). */
json_t *tmigr_report_from(const struct tmigr_report_source *in);

/*
 * Sets @key to @value (stolen) in @obj.  A NULL @value or no memory sets *@bad,
 * so that a whole object is built first and checked once.
 */
void tmigr_put(json_t *obj, const char *key, json_t *value, bool *bad);

/* @obj, or NULL after dropping it when something in it is missing. */
json_t *tmigr_whole(json_t *obj, bool bad);

/* @v as a JSON integer; a figure that does not fit (it cannot be a time of
 * one window) is pinned to the largest that does. */
json_t *tmigr_json_u64(__u64 v);
/* null where it is not known (0). */
json_t *tmigr_json_capacity(unsigned int capacity);

/*
 * Name of idle state @k of a CPU: the sysfs name; without a table the two
 * states that the kernel reports all the same ("poll", "default idle"); else
 * "state<k>".
 */
const char *tmigr_state_name(const struct tmigr_topo_cpu *cpu, unsigned int k, char buf[32]);

/* "0-3,8" of the @n numbers in @cpus (ascending). */
json_t *tmigr_json_cpulist(const unsigned int *cpus, size_t n);

/* A histogram without the zeros at its end. */
json_t *tmigr_json_hist(const __u64 hist[TMIGR_HIST_BUCKETS]);

/* ---- report_latency.c ---- */
/* Where @in->totals has it. */
json_t *tmigr_report_latency(const struct tmigr_report_source *in);

/* ---- report_roots.c ---- */
json_t *tmigr_report_roots(const struct tmigr_report_source *in);
json_t *tmigr_report_hierarchy(const struct tmigr_report_source *in);

/* ---- report_answer.c ---- */
/* From the parts "classes", "cpus", "roots", "hierarchy" already in @report. */
json_t *tmigr_report_answer(const json_t *report);

/* What the roots that span several classes say together of the highest class. */
struct tmigr_spanning {
	size_t n_roots;
	__u64 big_ns, avoidable_ns, avoidable_unknown_ns, unknown_ns;
	__u64 window_ns; /* summed over those roots */
};

struct tmigr_spanning tmigr_report_spanning(const json_t *report);

#endif
