/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of tmigr_html_write(), for lib/html*.c only.
 *
 * html.c            the page: head, runs, sections in their order
 * html_write.c      escaping, tables, bars
 * html_style.c      the style sheet, and colours of the states
 * html_answer.c     head of a run, answer, notes, metrics, cost
 * html_migrator.c   who held it: tables and bar
 * html_residency.c  bars and tables of idle states; remote expiry
 * html_hierarchy.c  the hierarchy drawn
 * html_timeline.c   the timeline: figure, labels, axis
 * html_lanes.c      its lanes as paths
 * html_runs.c       several runs: table of them
 * html_compare.c    labels compared
 *
 * A function prints one part; 0 or -ENOMEM.  Whether writing worked is looked at
 * once, at the end.
 */
#ifndef TMIGR_HTML_PRIV_H
#define TMIGR_HTML_PRIV_H

#include "report_text.h"
#include "tmigr/html.h"

/* Names of classes in the style sheet that are counted. */
#define TMIGR_CSS_MAX 24

/* Idle states of all runs by name, from the shallowest: their order is their colour. */
struct tmigr_html_states {
	size_t n;
	struct tmigr_html_state {
		const char *name;
		__u64 index; /* the lowest that a CPU has it at */
	} * list;
};

struct tmigr_html {
	FILE *out;
	const struct tmigr_html_input *in;
	struct tmigr_html_states states;
	/* The run that is being printed: */
	const struct tmigr_run *run;
	const json_t *report;
	const struct tmigr_timeline *timeline;
	const char *timeline_note;
	char id[24]; /* prefix of its ids: "r3-" */
	int level;   /* of its sections' headings: 2, or 3 below a run's own */
};

/* ---- html_write.c ---- */
/*
 * @text for an element's content or a quoted attribute's value, whatever is in it:
 * control characters as their pictures, what is no UTF-8, or would turn the
 * direction of writing, as U+FFFD.
 */
void tmigr_html_text(FILE *out, const char *text);
/* A heading with an id to link to. */
void tmigr_html_heading(struct tmigr_html *h, const char *id, const char *text);
/* Prints and frees; @bar, where there is one, fills a last column that has no head of
 * its own but @bar_head.  The caption is text. */
typedef void (*tmigr_html_bar)(void *arg, size_t row, FILE *out);
int tmigr_html_table(FILE *out, struct tmigr_table *t, const char *caption, const char *bar_head,
		     tmigr_html_bar bar, void *arg);
/* A bar of parts that add up to @whole; classes are those of the style sheet. */
struct tmigr_html_part {
	const char *name, *css;
	__u64 value;
};
void tmigr_html_stack(FILE *out, const struct tmigr_html_part *parts, size_t n, __u64 whole,
		      const char *css);
/* What its colours mean, with the shares. */
void tmigr_html_legend(FILE *out, const struct tmigr_html_part *parts, size_t n, __u64 whole);

/* ---- html_style.c ---- */
void tmigr_html_style(const struct tmigr_html *h);
int tmigr_html_states_find(struct tmigr_html *h);
void tmigr_html_state_css(const struct tmigr_html *h, const char *name, char buf[TMIGR_CSS_MAX]);
/* Of a class of the report by its index. */
const char *tmigr_html_class_css(const json_t *report, int class_idx);

/* ---- parts of a run ---- */
int tmigr_html_run_head(struct tmigr_html *h);
int tmigr_html_answer(struct tmigr_html *h);
int tmigr_html_metrics(struct tmigr_html *h);
int tmigr_html_migrator(struct tmigr_html *h);
int tmigr_html_hierarchy(struct tmigr_html *h);
int tmigr_html_timeline(struct tmigr_html *h);
int tmigr_html_residency(struct tmigr_html *h);
int tmigr_html_remote(struct tmigr_html *h);
int tmigr_html_latency(struct tmigr_html *h);
int tmigr_html_cost(struct tmigr_html *h);

/* ---- html_lanes.c ---- */
/* Heights of a picture's rows, in pixels. */
struct tmigr_html_rows {
	unsigned int root, lane, held, pitch;
};
struct tmigr_html_rows tmigr_html_rows(const struct tmigr_timeline *t);
/* A root's holders, from @y down; the view's columns are the units across. */
int tmigr_html_root_lane(struct tmigr_html *h, const struct tmigr_view *v, size_t root,
			 unsigned int y, unsigned int height);
int tmigr_html_cpu_lane(struct tmigr_html *h, const struct tmigr_view *v, size_t lane,
			unsigned int y);

/* ---- several runs ---- */
int tmigr_html_runs(struct tmigr_html *h);
int tmigr_html_compare(struct tmigr_html *h);

#endif
