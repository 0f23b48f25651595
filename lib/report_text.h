/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of tmigr_report_text(): the tables that follow the answer, and the
 * sentences around them.  tmigr_text_*() prints one section with a blank line before
 * it; 0 or -ENOMEM.  tmigr_table_*() makes a table for any view, owned by the
 * caller; NULL: no memory.
 */
#ifndef TMIGR_REPORT_TEXT_H
#define TMIGR_REPORT_TEXT_H

#include "report_fmt.h"

/* ---- report_text_migrator.c ---- */
int tmigr_text_root(const json_t *report, const json_t *root, FILE *out);
int tmigr_text_holdings(const json_t *report, FILE *out);
/* "over GRP0:0 [LITTLE 0-3], GRP0:1 [big 4-7]", or numbers where there are many. */
void tmigr_text_root_members(const json_t *report, const json_t *root, FILE *out);
struct tmigr_table *tmigr_table_root(const json_t *report, const json_t *root);
/* *@ret is NULL where nobody held.  0 or -ENOMEM. */
int tmigr_table_holdings(const json_t *report, struct tmigr_table **ret);

/* ---- report_text_residency.c ---- */
int tmigr_text_residency(const json_t *report, FILE *out);
/* With driver and governor, which decide what the states are and who picks them. */
void tmigr_text_residency_title(const json_t *report, FILE *out);

/* ---- report_text_remote.c ---- */
/* One line for the answer block; nothing when there was no remote expiry. */
void tmigr_text_remote_line(const json_t *report, FILE *out);
int tmigr_text_remote(const json_t *report, FILE *out);
struct tmigr_table *tmigr_table_remote(const json_t *report); /* class by class */
/* The most frequent pairs of CPUs; how many more there are, with how many expiries. */
struct tmigr_table *tmigr_table_pairs(const json_t *report, size_t *ret_more, __u64 *ret_rest);

/* ---- hotplug_text.c ---- */
int tmigr_text_hotplug(const json_t *report, FILE *out); /* nothing without the member */
/* ---- report_text_latency.c ---- */
/* Nothing where latency was not measured. */
int tmigr_text_latency(const json_t *report, FILE *out);
/* Who was woken to run whose timers, and what it cost; "" where not measured.  Owned by
 * the caller; NULL: no memory. */
char *tmigr_text_wakeups(const json_t *report);
struct tmigr_table *tmigr_table_latency(const json_t *report);
struct tmigr_table *tmigr_table_wakeups(const json_t *report);
struct tmigr_table *tmigr_table_wakeups_cpus(const json_t *report);

/* ---- report_text.c ---- */
/* Of what, on which machine, and what ran. */
void tmigr_text_head(const json_t *report, const char *title, FILE *out);
/* Texts for any view: each is handed to @put as one line without end. */
typedef void (*tmigr_put_text)(void *arg, const char *text);
void tmigr_text_notes(const json_t *report, tmigr_put_text put, void *arg);
/* Owned by the caller; NULL: no memory. */
char *tmigr_text_machine(const json_t *report);	 /* "8 CPUs (4 LITTLE, 4 big)" */
char *tmigr_text_command(const json_t *report);	 /* "" when there is none */
char *tmigr_text_lost(const json_t *report);	 /* "nothing." */
char *tmigr_text_observer(const json_t *report); /* what the tool itself cost */

/* ---- report_text_run.c ---- */
/* The line about label, run number and what was done for it; nothing without. */
void tmigr_text_run(const json_t *report, FILE *out);
/* Their texts alone, owned by the caller; "" when there is none, NULL: no memory. */
char *tmigr_text_run_line(const json_t *report);
char *tmigr_text_energy_line(const json_t *report);
int tmigr_text_metrics(const json_t *report, FILE *out);
void tmigr_text_energy(const json_t *report, FILE *out);
/* A metric's value as the tables show it. */
void tmigr_fmt_metric(char *buf, size_t size, double value);

/* Distinct names in order of appearance; strings are borrowed. */
struct tmigr_names {
	size_t n;
	const char **names;
	bool failed; /* no memory */
};

/* Index of @name, which is added when it is new; 0 when that failed. */
size_t tmigr_names_index(struct tmigr_names *l, const char *name);

/* ---- sums by class, from the CPUs ---- */
struct tmigr_state_sum {
	__u64 time_ns, entries, above, below;
	__u64 stays; /* entries, and those that were open at the window's start */
	bool seen;   /* some CPU of the class has this state */
};

struct tmigr_class_time {
	__u64 n_cpus, running_ns, offline_ns, unknown_ns;
};

struct tmigr_residency {
	struct tmigr_names states;
	size_t n_classes;
	struct tmigr_state_sum *sums; /* [class * states.n + state] */
	struct tmigr_class_time *classes;
};

/* Fills the zeroed @r, which tmigr_residency_free() empties in any case.  0 or
 * -ENOMEM. */
int tmigr_residency_sum(const json_t *report, struct tmigr_residency *r);
void tmigr_residency_free(struct tmigr_residency *r);
struct tmigr_table *tmigr_table_classes(const json_t *report, const struct tmigr_residency *r);
struct tmigr_table *tmigr_table_cpus(const json_t *report, const struct tmigr_residency *r);

/* Index of a class in the report's classes[] (low to high), or -1. */
int tmigr_rep_class_index(const json_t *report, const char *name);

#endif
