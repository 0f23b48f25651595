/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of tmigr_compare().
 *
 *   compare.c            the object
 *   compare_table.c      quantities x runs, found by key
 *   compare_residency.c  what a report gives: idle states, metrics, energy
 *   compare_migrator.c   ... holders, avoidable time, remote expiries
 *   compare_hotplug.c    ... bring-ups and take-downs
 *   compare_latency.c    ... entry cost, wake latency, causes of wake-ups
 *   compare_alike.c      what makes runs unlike each other
 *   compare_flags.c      values far from their siblings, and what differed there
 *   compare_text.c       text and markdown; compare_text_notes.c: what goes below
 *   compare_csv.c        CSV
 */
#ifndef TMIGR_COMPARE_PRIV_H
#define TMIGR_COMPARE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "tmigr/compare.h"
#include "tmigr/runset.h"

/* Groups in the order in which they are shown; their names are in compare_table.c. */
enum tmigr_group {
	GROUP_METRIC,
	GROUP_ENERGY,
	GROUP_BRINGUP,
	GROUP_BRINGUP_STEP,
	GROUP_TAKEDOWN,
	GROUP_TAKEDOWN_STEP,
	GROUP_RESIDENCY,
	GROUP_MIGRATOR,
	GROUP_AVOIDABLE,
	GROUP_REMOTE,
	GROUP_WOKE,
	GROUP_ENTRIES,
	GROUP_ABOVE,
	GROUP_BELOW,
	GROUP_ENTRY_COST,
	GROUP_WAKE_LATENCY,
	GROUP_WAKEUPS,
	GROUP_CPU_RESIDENCY,
	GROUP_CPU_HELD,
	GROUP_CPU_BRINGUP,
	GROUP_CPU_TAKEDOWN,
	N_GROUPS,
};

struct tmigr_quantity {
	enum tmigr_group group;
	char *section;	    /* heading under which it is shown, "residency, s" */
	char *key;	    /* "residency/LITTLE/cpu-sleep": unique, stable */
	char *name;	    /* within its group, "LITTLE cpu-sleep" */
	char *unit;	    /* "s", "%", "" (a count) */
	const char *better; /* "higher", "lower", NULL: has no direction */
	long cpu;	    /* of the per-CPU groups, else -1 */
	size_t order;	    /* of appearance */
	double *values;	    /* [n_runs]; NAN: this run has none */
};

struct tmigr_compare_table {
	const struct tmigr_runset *set;
	size_t n_runs, n, size;
	struct tmigr_quantity *q;
	json_t *index; /* key -> place in q, until they are sorted */
	json_t *notes; /* texts */
	bool one_root; /* every run has a single hierarchy: all classes' */
	bool failed;   /* no memory */
};

const char *tmigr_group_name(enum tmigr_group g);
const char *tmigr_group_section(enum tmigr_group g);

/* ---- compare_table.c ---- */

/* What names a quantity; strings are copied. */
struct tmigr_quantity_id {
	enum tmigr_group group;
	const char *a, *b; /* parts of the key after the group's; b may be NULL */
	const char *name;
	const char *unit;
	const char *better;
	long cpu;	     /* used by the per-CPU groups only */
	const char *section; /* NULL: the group's */
};

/*
 * The value of a quantity in run @run, made NAN when it is new.  Never NULL:
 * without memory a place that nobody reads, and failed is set.
 */
double *tmigr_compare_value(struct tmigr_compare_table *t, const struct tmigr_quantity_id *id,
			    size_t run);
/* Adds @v to the value, which is 0 when there was none. */
void tmigr_compare_add(struct tmigr_compare_table *t, const struct tmigr_quantity_id *id,
		       size_t run, double v);
void tmigr_compare_note(struct tmigr_compare_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* By group, then as they appeared; the index is of no use from here on. */
void tmigr_compare_sort(struct tmigr_compare_table *t);
void tmigr_compare_table_free(struct tmigr_compare_table *t);

/* ---- compare_residency.c, compare_migrator.c, compare_latency.c: run @run's report into the table
 * ---- */

void tmigr_compare_residency(struct tmigr_compare_table *t, size_t run, bool cpus);
/* Notes of the time of which no run knows what CPUs did in it. */
void tmigr_compare_unknown(struct tmigr_compare_table *t);
void tmigr_compare_metrics(struct tmigr_compare_table *t, size_t run);
void tmigr_compare_migrator(struct tmigr_compare_table *t, size_t run, bool cpus);
void tmigr_compare_remote(struct tmigr_compare_table *t, size_t run);
/* Nothing where it was not measured. */
void tmigr_compare_latency(struct tmigr_compare_table *t, size_t run);

/* ---- compare_hotplug.c: all runs' ---- */

void tmigr_compare_hotplug(struct tmigr_compare_table *t, bool cpus);

/* ---- compare_alike.c ---- */

/* The "unlike" array: new reference, or NULL (no memory). */
json_t *tmigr_compare_unlike(const struct tmigr_runset *set);

/* ---- compare_flags.c ---- */

/* The "flags" array: new reference, or NULL (no memory). */
json_t *tmigr_compare_flags(const struct tmigr_compare_table *t);

/* ---- helpers ---- */

/* A JSON real, or null for what is no number. */
json_t *tmigr_json_real(double v);

#endif
