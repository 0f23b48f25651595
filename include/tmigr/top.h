/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `tmigr top` shows, as rows of cells.  Pure: samples go in, frames come
 * out; who draws them (curses, or plain text) is somebody else.
 *
 * A sample is a report (report.h) of one window and, where there is one, the
 * hierarchy at about its end (tree.h's JSON).  The figures of the CPUs are the
 * last sample's; the answer is that of all samples together.
 */
#ifndef TMIGR_TOP_H
#define TMIGR_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "tmigr/err.h"

/* Below this a frame says only that the window is too small. */
#define TMIGR_TOP_MIN_WIDTH  40
#define TMIGR_TOP_MIN_HEIGHT 8

struct tmigr_top;

/* 0 or -ENOMEM; owned by the caller (tmigr_top_free). */
int tmigr_top_new(struct tmigr_top **ret);
void tmigr_top_free(struct tmigr_top *top); /* NULL is fine */

/*
 * Adds a sample to the sums and makes it the one that is shown, unless a hold
 * is on.  @tree may be NULL (not known).  Both are borrowed; references are
 * kept.  -EINVAL: not a report, or not a tree, with the place named; -ENOMEM.
 * Nothing is changed on failure.
 */
int tmigr_top_add(struct tmigr_top *top, json_t *report, json_t *tree, struct tmigr_err *err);

/* While a hold is on, samples are summed up, but what is shown stays (pause).
 * Without one the newest is shown again. */
void tmigr_top_hold(struct tmigr_top *top, bool on);

enum tmigr_top_sort {
	TMIGR_TOP_BY_CPU,	/* ascending */
	TMIGR_TOP_BY_CLASS,	/* the highest capacity first */
	TMIGR_TOP_BY_RESIDENCY, /* the least idle first */
	TMIGR_TOP_BY_HOLDING,	/* the longest holder of the interval first */
	TMIGR_TOP_SORTS
};

enum tmigr_top_group {
	TMIGR_TOP_FLAT,
	TMIGR_TOP_PER_CLASS, /* a heading with the class's sums, then its CPUs */
	TMIGR_TOP_PER_GROUP, /* the hierarchy: a heading a group */
	TMIGR_TOP_GROUPS
};

/* "cpu", "class", "residency", "holding"; "none", "class", "hierarchy". */
const char *tmigr_top_sort_name(enum tmigr_top_sort sort);
const char *tmigr_top_group_name(enum tmigr_top_group group);

struct tmigr_top_opts {
	enum tmigr_top_sort sort;
	enum tmigr_top_group group;
	bool utf8;	    /* else ASCII */
	size_t width;	    /* columns */
	size_t height;	    /* rows; 0: as many as there are, and no key line */
	size_t scroll;	    /* first line of the list, if there are that many */
	bool help;	    /* the help screen in place of the list */
	const char *source; /* where the samples come from; may be NULL */
};

/* What a cell means; a terminal may give it a colour. */
enum tmigr_top_attr {
	TMIGR_TOP_PLAIN,
	TMIGR_TOP_DIM,
	TMIGR_TOP_BOLD,
	TMIGR_TOP_BAR, /* the line of column heads, the line of keys */
	TMIGR_TOP_YES, /* a big CPU holds it */
	TMIGR_TOP_NO,
	TMIGR_TOP_UNKNOWN, /* not known, or an interval of unknown */
	TMIGR_TOP_WARN,	   /* records were lost */
	TMIGR_TOP_GLOBAL,  /* holds the global migrator */
	TMIGR_TOP_MIGRATOR,
	TMIGR_TOP_RUNNING, /* piece of a residency bar; the idle states follow */
	TMIGR_TOP_STATE0,
	TMIGR_TOP_STATE9 = TMIGR_TOP_STATE0 + 9,
	TMIGR_TOP_OFFLINE,
	TMIGR_TOP_ATTRS
};

/* UTF-8, one column a code point. */
struct tmigr_top_cell {
	enum tmigr_top_attr attr;
	char *text;
};

struct tmigr_top_row {
	size_t n;
	struct tmigr_top_cell *cells; /* side by side from column 0 on */
};

struct tmigr_top_frame {
	size_t n;
	struct tmigr_top_row *rows;
	/* The list: its length, how much of it is in the frame from where. */
	size_t lines, shown, first;
};

/* The frame of the sample that is shown; none yet: a line that says so.  0 or
 * -ENOMEM; owned by the caller. */
int tmigr_top_frame(const struct tmigr_top *top, const struct tmigr_top_opts *opts,
		    struct tmigr_top_frame **ret);
void tmigr_top_frame_free(struct tmigr_top_frame *frame);

/* As plain text, without blanks at the ends of lines.  0 or a negative errno. */
int tmigr_top_text(const struct tmigr_top_frame *frame, FILE *out);

#endif
