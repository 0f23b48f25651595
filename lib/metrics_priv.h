/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the metrics: a spec is one known benchmark or one regex; both get
 * every line and put values into the list.
 */
#ifndef TMIGR_METRICS_PRIV_H
#define TMIGR_METRICS_PRIV_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "tmigr/metrics.h"

enum better { BETTER_UNSAID, BETTER_HIGHER, BETTER_LOWER };

struct value {
	char *name, *unit;
	enum better better;
	double value;
	unsigned int times; /* how often it was found */
	bool again_is_fine; /* interim results: the last one counts, nothing to tell */
};

/* What one spec found. */
struct finds {
	struct value *values;
	size_t n;
	bool failed;   /* no memory */
	bool full;     /* there were more values than are kept */
	bool has_junk; /* the regex matched something that is no number: */
	char junk[64];
};

/*
 * Sets the value @name, made where it is new.  @name and @unit are copied.
 * Returns it until the next put, or NULL (no memory).
 */
struct value *tmigr_metrics_put(struct finds *f, const char *name, double value, const char *unit,
				enum better better);
/* The same for an interim result or the last one: found again, it is replaced. */
void tmigr_metrics_put_last(struct finds *f, const char *name, double value, const char *unit,
			    enum better better);
/* NULL: not found. */
const struct value *tmigr_metrics_get(const struct finds *f, const char *name);

/*
 * A number as programs print them: decimal, with a sign, an exponent, or commas
 * between thousands.  *@ret_end: behind it.  False: there is none.
 */
bool tmigr_metrics_number(const char *text, const char **ret_end, double *ret);

/* A known benchmark. */
struct known {
	const char *name;
	/* One line, without its end.  @state: of this benchmark, zeroed at the
	 * start of an output. */
	void (*line)(struct finds *f, char state[64], const char *line);
	void (*end)(struct finds *f); /* optional: figures of figures */
	const char *wanted;	      /* what it looks for, for the note */
};

extern const struct known tmigr_metrics_benchmarks[];
extern const size_t tmigr_metrics_n_benchmarks;

#endif
