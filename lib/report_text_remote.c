// SPDX-License-Identifier: GPL-2.0-or-later
/* Remote expiry: which CPU ran the timers of which idle CPU. */
#include "report_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* CPU pairs that are listed one by one. */
#define TOP_PAIRS 10

/* "cpu-sleep 310, WFI 2" out of woke[] entries added to @names and @counts. */
struct woken {
	struct tmigr_names states;
	__u64 *counts;
};

static void woken_add(struct woken *w, const json_t *pair)
{
	const json_t *s;
	size_t i;

	json_array_foreach (json_object_get(pair, "woke"), i, s) {
		size_t n = w->states.n;
		size_t k = tmigr_names_index(&w->states, tmigr_rep_str(s, "name"));

		if (w->states.n > n) {
			__u64 *counts = reallocarray(w->counts, w->states.n, sizeof(*counts));

			if (!counts) {
				w->states.n = n;
				w->states.failed = true;
				return;
			}
			counts[n] = 0;
			w->counts = counts;
		}
		if (k < w->states.n)
			w->counts[k] += tmigr_rep_u64(s, "count");
	}
}

/* Owned by the caller; frees what @w holds. */
static char *woken_text(struct woken *w)
{
	char *text = NULL;
	size_t size = 0;
	FILE *mem = open_memstream(&text, &size);

	for (size_t k = 0; mem && k < w->states.n; k++)
		fprintf(mem, "%s%s %llu", k ? ", " : "", w->states.names[k],
			(unsigned long long)w->counts[k]);
	if (mem && fclose(mem) != 0) {
		free(text);
		text = NULL;
	}
	free(w->states.names);
	free(w->counts);
	*w = (struct woken){0};
	return text;
}

static int pair_class(const json_t *report, const json_t *pair, const char *key)
{
	return tmigr_rep_class_index(report, tmigr_rep_class(report, tmigr_rep_u64(pair, key)));
}

/* ---- the line in the answer block ---- */

struct flow {
	__u64 count, woke;
};

void tmigr_text_remote_line(const json_t *report, FILE *out)
{
	const json_t *classes = json_object_get(report, "classes"), *p;
	struct flow up = {0}, down = {0};
	bool two = json_array_size(classes) == 2;
	const char *low = two ? tmigr_rep_str(json_array_get(classes, 0), "name") : "lower-class";
	const char *high = two ? tmigr_rep_str(json_array_get(classes, 1), "name") : "higher-class";
	struct woken w = {0};
	char *states;
	size_t i;

	json_array_foreach (json_object_get(report, "remote"), i, p) {
		int e = pair_class(report, p, "executor"), t = pair_class(report, p, "target");
		struct flow *f = e > t ? &up : &down;

		if (e == t || e < 0 || t < 0)
			continue;
		f->count += tmigr_rep_u64(p, "count");
		f->woke += tmigr_rep_u64(p, "woke_executor");
		if (f == &up)
			woken_add(&w, p);
	}
	states = woken_text(&w);
	if (up.count || down.count) {
		fprintf(out, "Remote expiry: %llu for ", (unsigned long long)up.count);
		tmigr_fmt_puts(out, low);
		fputs(" CPUs ran on ", out);
		tmigr_fmt_puts(out, high);
		fprintf(out, " CPUs, %llu the other way", (unsigned long long)down.count);
		if (up.woke) {
			fprintf(out, ";\n  %llu of the %llu woke the ", (unsigned long long)up.woke,
				(unsigned long long)up.count);
			tmigr_fmt_puts(out, high);
			fputs(" CPU (from ", out);
			tmigr_fmt_puts(out, states ? states : "?");
			putc(')', out);
		}
		putc('\n', out);
	}
	free(states);
}

/* ---- executing class x target class ---- */

struct matrix {
	size_t n;
	__u64 *counts; /* [executor * n + target], other CPUs */
	__u64 *own;    /* [executor]: a CPU's own timers */
	__u64 *woke;   /* [executor] */
	struct woken *states;
};

static void matrix_free(struct matrix *m)
{
	free(m->counts);
	free(m->own);
	free(m->woke);
	free(m->states);
}

static int matrix_sum(const json_t *report, struct matrix *m)
{
	const json_t *p;
	size_t i;

	m->n = json_array_size(json_object_get(report, "classes"));
	m->counts = calloc(m->n * m->n + 1, sizeof(*m->counts));
	m->own = calloc(m->n + 1, sizeof(*m->own));
	m->woke = calloc(m->n + 1, sizeof(*m->woke));
	m->states = calloc(m->n + 1, sizeof(*m->states));
	if (!m->counts || !m->own || !m->woke || !m->states)
		return -ENOMEM;
	json_array_foreach (json_object_get(report, "remote"), i, p) {
		int e = pair_class(report, p, "executor"), t = pair_class(report, p, "target");
		__u64 count = tmigr_rep_u64(p, "count");

		if (e < 0 || t < 0)
			continue;
		if (tmigr_rep_u64(p, "executor") == tmigr_rep_u64(p, "target"))
			m->own[e] += count;
		else
			m->counts[(size_t)e * m->n + (size_t)t] += count;
		m->woke[e] += tmigr_rep_u64(p, "woke_executor");
		woken_add(&m->states[e], p);
	}
	return 0;
}

static void matrix_columns(struct tmigr_table *t, const json_t *classes, bool own)
{
	const json_t *c;
	size_t i;

	tmigr_table_column(t, false, "ran on");
	json_array_foreach (classes, i, c) {
		char *head;

		if (asprintf(&head, "for %s", tmigr_rep_str(c, "name")) < 0)
			head = NULL;
		tmigr_table_column(t, true, head ? head : "");
		free(head);
	}
	if (own)
		tmigr_table_column(t, true, "for itself");
	tmigr_table_column(t, true, "woke it");
	tmigr_table_column(t, false, "from");
}

struct tmigr_table *tmigr_table_remote(const json_t *report)
{
	const json_t *classes = json_object_get(report, "classes"), *c;
	struct matrix m = {0};
	struct tmigr_table *t;
	bool own = false;
	size_t i;

	if (matrix_sum(report, &m) < 0) {
		matrix_free(&m);
		return NULL;
	}
	for (i = 0; i < m.n; i++)
		own |= m.own[i] > 0;
	t = tmigr_table_new(1);
	matrix_columns(t, classes, own);
	json_array_foreach (classes, i, c) {
		char *states = woken_text(&m.states[i]);

		tmigr_table_cell(t, tmigr_rep_str(c, "name"));
		for (size_t k = 0; k < m.n; k++)
			tmigr_table_count(t, m.counts[i * m.n + k]);
		if (own)
			tmigr_table_count(t, m.own[i]);
		tmigr_table_count(t, m.woke[i]);
		tmigr_table_cell(t, states ? states : "");
		free(states);
	}
	matrix_free(&m);
	return t;
}

/* ---- CPU pairs ---- */

struct pair {
	__u64 count, executor, target;
	const json_t *json;
};

static int by_count(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->executor != b->executor)
		return a->executor < b->executor ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

/* All pairs, the most frequent first; owned by the caller. */
static struct pair *sorted_pairs(const json_t *remote)
{
	struct pair *pairs = calloc(json_array_size(remote) + 1, sizeof(*pairs));
	const json_t *p;
	size_t i;

	if (!pairs)
		return NULL;
	json_array_foreach (remote, i, p)
		pairs[i] = (struct pair){tmigr_rep_u64(p, "count"), tmigr_rep_u64(p, "executor"),
					 tmigr_rep_u64(p, "target"), p};
	qsort(pairs, json_array_size(remote), sizeof(*pairs), by_count);
	return pairs;
}

static void pair_row(const json_t *report, const json_t *pair, struct tmigr_table *t, bool classes)
{
	static const char *const keys[] = {"executor", "target"};
	struct woken w = {0};
	char *states;

	woken_add(&w, pair);
	states = woken_text(&w);
	for (int i = 0; i < 2; i++) {
		__u64 cpu = tmigr_rep_u64(pair, keys[i]);

		tmigr_table_number(t, cpu);
		if (classes)
			tmigr_table_cell(t, tmigr_rep_class(report, cpu));
	}
	tmigr_table_count(t, tmigr_rep_u64(pair, "count"));
	tmigr_table_count(t, tmigr_rep_u64(pair, "woke_executor"));
	tmigr_table_cell(t, states ? states : "");
	free(states);
}

struct tmigr_table *tmigr_table_pairs(const json_t *report, size_t *ret_more, __u64 *ret_rest)
{
	const json_t *remote = json_object_get(report, "remote");
	bool classes = json_array_size(json_object_get(report, "classes")) > 1;
	size_t n = json_array_size(remote), i;
	struct pair *pairs = sorted_pairs(remote);
	struct tmigr_table *t;
	__u64 rest = 0;

	if (!pairs)
		return NULL;
	t = tmigr_table_new(1);
	tmigr_table_column(t, true, "ran on");
	if (classes)
		tmigr_table_column(t, false, "class");
	tmigr_table_column(t, true, "for cpu");
	if (classes)
		tmigr_table_column(t, false, "class");
	tmigr_table_column(t, true, "count");
	tmigr_table_column(t, true, "woke it");
	tmigr_table_column(t, false, "from");
	for (i = 0; i < n; i++) {
		if (i < TOP_PAIRS)
			pair_row(report, pairs[i].json, t, classes);
		else
			rest += pairs[i].count;
	}
	free(pairs);
	*ret_more = n > TOP_PAIRS ? n - TOP_PAIRS : 0;
	*ret_rest = rest;
	return t;
}

static int print_pairs(const json_t *report, FILE *out)
{
	size_t more = 0;
	__u64 rest = 0;
	int ret;

	putc('\n', out);
	ret = tmigr_table_print(tmigr_table_pairs(report, &more, &rest), out);
	if (ret == 0 && more)
		fprintf(out, "  and %zu more pairs with %llu expiries\n", more,
			(unsigned long long)rest);
	return ret;
}

int tmigr_text_remote(const json_t *report, FILE *out)
{
	int ret;

	/* A kernel without the hierarchy has none: said in the answer. */
	if (!json_array_size(json_object_get(report, "roots")) &&
	    !json_array_size(json_object_get(report, "remote")))
		return 0;
	if (!json_array_size(json_object_get(report, "remote"))) {
		fputs("\nRemote expiry: none, every CPU ran its own timers\n", out);
		return 0;
	}
	fputs("\nRemote expiry: timers of an idle CPU that another CPU ran, and idle states it was "
	      "woken from\n",
	      out);
	ret = tmigr_table_print(tmigr_table_remote(report), out);
	return ret < 0 ? ret : print_pairs(report, out);
}
