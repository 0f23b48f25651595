/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of `tmigr top`'s view:
 *
 *   top_sum.c    samples in: what is shown, and the sums of all
 *   top_facts.c  the shown sample as arrays: CPUs, groups
 *   top_list.c   the list: order, headings with sums, one row a line
 *   top_head.c   the lines above it: answer, migrator, losses, cost, key
 *   top_view.c   the frame: which lines fit, help, keys
 *   top_cells.c  rows of cells, and their text form
 */
#ifndef TMIGR_TOP_PRIV_H
#define TMIGR_TOP_PRIV_H

#include <linux/types.h>

#include "report_fmt.h"
#include "tmigr/rec.h"
#include "tmigr/top.h"

/* ---- top_sum.c ---- */

struct tmigr_top {
	json_t *report, *tree; /* shown; tree NULL: none */
	json_t *sum;	       /* shown; see tmigr_top_sum_add() */
	/* Newer ones, while a hold is on; else NULL. */
	json_t *next_report, *next_tree, *next_sum;
	bool hold;
};

/* The sums have the shape of a report as far as the head needs one: window_ns,
 * samples, classes, roots (regimes, classes, holders), lost, answer, ... */
json_t *tmigr_top_sum_add(const json_t *sum, const json_t *report);

/* ---- top_facts.c ---- */

#define TOP_NAME 32

struct top_group {
	char name[TOP_NAME];
	unsigned int level;
	int parent;    /* index, -1: a root */
	int node;      /* -1: across nodes, or not known */
	bool migrator; /* has the duty of its parent */
};

struct top_cpu {
	unsigned int cpu;
	unsigned int class_idx;
	char class[TOP_NAME];
	char state[TOP_NAME]; /* what it is in now; "?" not known */
	int slot;	      /* the same, -1 not known */
	int group;	      /* level-0 group, -1 none */
	bool global, migrator, duty;
	__u64 time_ns[TMIGR_SLOTS];
	__u64 held_ns, holdings;
	__u64 remote; /* remote expiries that it ran */
};

struct top_facts {
	__u64 window_ns;
	size_t n_cpus, n_groups, n_classes;
	struct top_cpu *cpus;
	struct top_group *groups;     /* top level first, as in the hierarchy */
	size_t n_nodes;		      /* different ones, of groups within one */
	unsigned int n_states;	      /* highest index of an idle state, plus 1 */
	char names[TMIGR_STATES][64]; /* of the idle states; several: "a/b" */
	bool offline, unknown;	      /* some CPU has such time */
};

/* Of the last sample.  0 or -ENOMEM with *@ret untouched; else top_facts_free(). */
int top_facts_read(const struct tmigr_top *top, bool utf8, struct top_facts *ret);
void top_facts_free(struct top_facts *f);

/* @text with what is not one plain column on this terminal made '?'. */
void top_clean(char *buf, size_t size, const char *text, bool utf8);

/* ---- top_cells.c ---- */

/* Rows under construction; a failure is remembered and shows at the end. */
struct top_page {
	struct tmigr_top_row *rows;
	size_t n, room;
	bool failed;
};

/* A new row; cells go to the last one. */
void top_row(struct top_page *p);
void __attribute__((format(printf, 3, 4)))
top_cell(struct top_page *p, enum tmigr_top_attr attr, const char *fmt, ...);
/* @text, cut or filled with blanks to @width columns. */
void top_field(struct top_page *p, enum tmigr_top_attr attr, size_t width, bool right,
	       const char *text);
size_t top_columns(const char *text);
/* Columns of the last row so far. */
size_t top_row_columns(const struct top_page *p);
/* The last row in @attr, up to @width columns. */
void top_fill(struct top_page *p, enum tmigr_top_attr attr, size_t width);
/* Cuts every row at @width columns. */
void top_clip(struct top_page *p, size_t width);
void top_page_free(struct top_page *p);
/* Moves rows @from.. (at most @n) of @src to the end of @p. */
void top_take(struct top_page *p, struct top_page *src, size_t from, size_t n);

/* Text wrapped to @width: @first in @attr of its own, further lines indented by
 * @indent; at most @max rows, the last one cut with "...". */
void top_wrapped(struct top_page *p, enum tmigr_top_attr attr, const char *first, const char *text,
		 size_t width, size_t indent, size_t max);

/* ---- top_list.c ---- */

/* Widths of the columns, chosen for the frame's; 0: not shown. */
struct top_layout {
	size_t indent, cpu, class, state, run, bar, share, rate, mark;
};

struct top_layout top_layout(const struct top_facts *f, const struct tmigr_top_opts *o);
void top_list_head(struct top_page *p, const struct top_layout *l);
/* All lines of the list. */
void top_list(struct top_page *p, const struct top_facts *f, const struct top_layout *l,
	      const struct tmigr_top_opts *o);

/* A bar's piece: what stands for @slot. */
const char *top_glyph(const struct top_facts *f, unsigned int slot, bool utf8);
enum tmigr_top_attr top_slot_attr(unsigned int slot);

/* ---- top_head.c ---- */

/* At most @max rows. */
void top_head(struct top_page *p, const struct tmigr_top *top, const struct top_facts *f,
	      const struct tmigr_top_opts *o, size_t max);

#endif
