/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line of ftrace's text, as `trace`, `trace_pipe`, `trace-cmd report` and `perf
 * script` print it.  Private to the library; nothing is copied, nothing needs a NUL.
 */
#ifndef TMIGR_LIB_TEXT_LINE_H
#define TMIGR_LIB_TEXT_LINE_H

#include "tmigr/traced.h"

struct text_line {
	const char *at, *end; /* without the newline */
};

/* What all lines of events begin with: task, PID, CPU, flags, stamp, name. */
struct text_head {
	__s32 pid;
	__u64 cpu;
	__u64 t_ns;
	bool nsec;	  /* nine digits behind the point, not six */
	bool no_unit;	  /* the stamp is a bare number */
	bool far;	  /* it is out of range */
	const char *name; /* without the system before it */
	size_t n_name;
	struct text_line rest;	 /* behind the name and its colon */
	struct text_line buffer; /* trace-cmd's word before all that; empty: none */
};

/* False: not a line of an event. */
bool text_head(struct text_line line, struct text_head *ret);

/*
 * The words that events of each type had in the line before: the next one mostly has
 * the same keys in the same order.  Zero at first.
 */
#define TEXT_KEYS 12
struct text_key {
	__u64 bytes[2], mask[2]; /* with its "="; of which bytes are its */
	unsigned int n;		 /* how many; 0: not known */
	unsigned int field;
};

struct text_plans {
	struct text_plan {
		struct text_key keys[TEXT_KEYS];
	} of[TMIGR_TRACED_TYPES];
};

/*
 * The fields of an event of @ev->type (tmigr_traced_type()); t_ns, cpu and pid are
 * set by the caller.  NULL, or what is wrong with it.
 */
const char *text_fields(struct text_line rest, struct text_plans *plans, struct tmigr_traced *ev);

/* "guest: ", before what is of another buffer or file (trace-cmd report): its name is
 * taken off @line.  False: there is none. */
bool text_buffer(struct text_line *line, struct text_line *ret);
/* A lost-events line: its CPU, and how many (1 when it doesn't say). */
bool text_lost(struct text_line line, __u64 *ret_cpu, __u64 *ret_n);

/* The number after @key and blanks; 0 when there is none. */
__u64 text_number_after(struct text_line line, const char *key);
/* The same, maybe with a minus; false: there is none, or none that fits. */
bool text_int_after(struct text_line line, const char *key, int *ret);
/* What stands in the first parentheses, @ret_n bytes; NULL: there are none. */
const char *text_in_parens(struct text_line line, size_t *ret_n);
/* Is that the event's name? */
bool text_is(const struct text_head *h, const char *name);

/* ---- text_steps.c ---- */

/* STEP_ENTER, STEP_EXIT, or OTHER. */
enum tmigr_traced_type text_step_type(const struct text_head *h);
/* Of such a type; names of functions go to @names.  NULL, or what is wrong. */
const char *text_step(struct text_line rest, struct tmigr_step_names *names,
		      struct tmigr_traced *ev);

#endif
