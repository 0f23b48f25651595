// SPDX-License-Identifier: GPL-2.0-or-later
/* The migrator: regimes of a root, and who held it in which state. */
#include "report_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/topology.h"

/* More level-0 groups than this, and the head gives their number only. */
#define HEAD_GROUPS 6

/* ---- head line: "GRP1:0 over GRP0:0 [LITTLE 0-3], GRP0:1 [big 4-7]" ---- */

/* CPUs of class @name in level-0 group @group, with the class in front. */
static void put_class_cpus(const json_t *report, const char *group, const char *name, bool *first,
			   FILE *out)
{
	const json_t *places = json_object_get(json_object_get(report, "hierarchy"), "cpus"), *p;
	unsigned int *cpus = calloc(json_array_size(places) + 1, sizeof(*cpus));
	char *list = NULL;
	size_t i, n = 0;

	json_array_foreach (places, i, p) {
		__u64 cpu = tmigr_rep_u64(p, "cpu");

		if (cpus && !strcmp(tmigr_rep_str(p, "group"), group) &&
		    !strcmp(tmigr_rep_class(report, cpu), name))
			cpus[n++] = (unsigned int)cpu;
	}
	if (n)
		list = tmigr_cpulist_format(cpus, n);
	if (list) {
		bool many = json_array_size(json_object_get(report, "classes")) > 1;

		fprintf(out, "%s%s%s%s", *first ? "" : ", ", many ? name : "", many ? " " : "",
			list);
		*first = false;
	}
	free(list);
	free(cpus);
}

static void put_leaf(const json_t *report, const char *group, FILE *out)
{
	const json_t *c;
	bool first = true;
	size_t i;

	putc('[', out);
	json_array_foreach (json_object_get(report, "classes"), i, c)
		put_class_cpus(report, group, tmigr_rep_str(c, "name"), &first, out);
	putc(']', out);
}

/* "over GRP0:0 [...], GRP0:1 [...]", or numbers where there are many. */
void tmigr_text_root_members(const json_t *report, const json_t *root, FILE *out)
{
	const json_t *groups = json_object_get(json_object_get(report, "hierarchy"), "groups"), *g;
	const char *name = tmigr_rep_str(root, "group");
	size_t i, leaves = 0, all = 0, shown = 0;
	__u64 level = 0;

	json_array_foreach (groups, i, g) {
		if (strcmp(tmigr_rep_str(g, "root"), name))
			continue;
		all++;
		leaves += tmigr_rep_u64(g, "level") == 0;
		if (tmigr_rep_u64(g, "level") > level)
			level = tmigr_rep_u64(g, "level");
	}
	if (leaves > HEAD_GROUPS) {
		fprintf(out, "(%llu levels, %zu groups, CPUs %s)", (unsigned long long)level + 1,
			all, tmigr_rep_str(root, "cpus"));
		return;
	}
	json_array_foreach (groups, i, g) {
		const char *leaf = tmigr_rep_str(g, "name");

		if (strcmp(tmigr_rep_str(g, "root"), name) || tmigr_rep_u64(g, "level"))
			continue;
		if (strcmp(leaf, name))
			fprintf(out, "%s%s ", shown++ ? ", " : "over ", leaf);
		put_leaf(report, leaf, out);
	}
}

static void put_root_head(const json_t *report, const json_t *root, FILE *out)
{
	char *first = NULL, *members = NULL;
	size_t size = 0;
	FILE *mem = open_memstream(&members, &size);

	if (asprintf(&first, "Global migrator of %s", tmigr_rep_str(root, "group")) < 0)
		first = NULL;
	if (mem) {
		tmigr_text_root_members(report, root, mem);
		if (fclose(mem) == 0 && first) {
			putc('\n', out);
			tmigr_fmt_wrapped(out, first, members, 2);
		}
	}
	free(first);
	free(members);
}

/* ---- regimes ---- */

struct regime_table {
	struct tmigr_table *t;
	bool avoidable, avoidable_unknown; /* columns shown */
	__u64 window_ns;
};

/* Blank where no class is asked about. */
static void sec_or_blank(struct regime_table *r, const json_t *cl, __u64 ns)
{
	if (cl)
		tmigr_table_sec(r->t, ns, r->window_ns);
	else
		tmigr_table_cell(r->t, "");
}

static void regime_row(struct regime_table *r, const char *name, __u64 ns, const json_t *cl)
{
	char buf[TMIGR_FMT_MAX];
	__u64 av = tmigr_rep_u64(cl, "avoidable_ns");
	__u64 av_unknown = tmigr_rep_u64(cl, "avoidable_unknown_ns");

	tmigr_table_cell(r->t, name);
	tmigr_table_sec(r->t, ns, r->window_ns);
	tmigr_table_cell(r->t, tmigr_fmt_pct(buf, ns, r->window_ns));
	if (r->avoidable) {
		sec_or_blank(r, cl, av);
		tmigr_table_cell(r->t, cl ? tmigr_fmt_pct(buf, av, ns) : "");
	}
	if (r->avoidable_unknown)
		sec_or_blank(r, cl, av_unknown);
}

/* Only a class above the lowest one of this root can hold avoidably. */
static void class_rows(struct regime_table *r, const json_t *classes)
{
	const json_t *c;
	char *name;
	size_t i;

	json_array_foreach (classes, i, c) {
		if (asprintf(&name, "held by %s", tmigr_rep_str(c, "name")) < 0)
			name = NULL;
		regime_row(r, name ? name : "held", tmigr_rep_u64(c, "held_ns"), i ? c : NULL);
		free(name);
	}
}

struct tmigr_table *tmigr_table_root(const json_t *report, const json_t *root)
{
	const json_t *classes = json_object_get(root, "classes"), *c;
	bool one = json_array_size(json_object_get(report, "classes")) < 2;
	struct regime_table r = {.t = tmigr_table_new(1)};
	size_t i;

	r.window_ns = tmigr_rep_u64(report, "window_ns");
	r.avoidable = json_array_size(classes) > 1;
	json_array_foreach (classes, i, c)
		r.avoidable_unknown |= tmigr_rep_u64(c, "avoidable_unknown_ns") > 0;
	tmigr_table_column(r.t, false, "");
	tmigr_table_column(r.t, true, "seconds");
	tmigr_table_column(r.t, true, "%");
	if (r.avoidable) {
		tmigr_table_column(r.t, true, "avoidable s");
		tmigr_table_column(r.t, true, "% of held");
	}
	if (r.avoidable_unknown)
		tmigr_table_column(r.t, true, "not known s");
	if (one)
		regime_row(&r, "held by a CPU", tmigr_rep_u64(root, "held_ns"), NULL);
	else
		class_rows(&r, classes);
	regime_row(&r, "nobody: an idle CPU has the wakeup duty", tmigr_rep_u64(root, "duty_ns"),
		   NULL);
	regime_row(&r, "nobody: no global timer pending", tmigr_rep_u64(root, "free_ns"), NULL);
	regime_row(&r, "hand-over in flight", tmigr_rep_u64(root, "handover_ns"), NULL);
	regime_row(&r, "unknown (lost, or not learnt yet)", tmigr_rep_u64(root, "unknown_ns"),
		   NULL);
	return r.t;
}

int tmigr_text_root(const json_t *report, const json_t *root, FILE *out)
{
	int ret;

	put_root_head(report, root, out);
	ret = tmigr_table_print(tmigr_table_root(report, root), out);
	if (json_array_size(json_object_get(root, "classes")) > 1)
		fputs("  avoidable: held while a CPU of a lower class under this root was awake\n",
		      out);
	return ret;
}

/* ---- who held it, in which state ---- */

static void state_cells(struct tmigr_table *t, const struct tmigr_names *states, const json_t *h)
{
	char buf[TMIGR_FMT_MAX];
	__u64 held = tmigr_rep_u64(h, "held_ns");
	const json_t *s;
	size_t i;

	for (size_t k = 0; k < states->n; k++) {
		bool has = false;
		__u64 ns = 0;

		json_array_foreach (json_object_get(h, "idle_ns"), i, s) {
			if (strcmp(tmigr_rep_str(s, "name"), states->names[k]))
				continue;
			ns += tmigr_rep_u64(s, "time_ns");
			has = true;
		}
		/* Blank: this CPU has no such state. */
		tmigr_table_cell(t, has ? tmigr_fmt_pct(buf, ns, held) : "");
	}
}

/* What of the holders is not the same everywhere, so that it needs columns. */
struct holdings_shape {
	size_t n;
	bool classes, roots, unknown;
	struct tmigr_names states;
};

static struct holdings_shape shape_of(const json_t *report)
{
	struct holdings_shape sh = {0};
	const json_t *root, *h, *s;
	size_t i, k, j;

	sh.classes = json_array_size(json_object_get(report, "classes")) > 1;
	sh.roots = json_array_size(json_object_get(report, "roots")) > 1;
	json_array_foreach (json_object_get(report, "roots"), i, root)
		json_array_foreach (json_object_get(root, "holders"), k, h) {
			sh.n++;
			sh.unknown |= tmigr_rep_u64(h, "unknown_state_ns") > 0;
			json_array_foreach (json_object_get(h, "idle_ns"), j, s)
				tmigr_names_index(&sh.states, tmigr_rep_str(s, "name"));
		}
	return sh;
}

static void holder_row(struct tmigr_table *t, const struct holdings_shape *sh, const json_t *root,
		       const json_t *h, __u64 window)
{
	__u64 held = tmigr_rep_u64(h, "held_ns");
	char buf[TMIGR_FMT_MAX];

	tmigr_table_number(t, tmigr_rep_u64(h, "cpu"));
	if (sh->classes)
		tmigr_table_cell(t, tmigr_rep_str(h, "class"));
	if (sh->roots)
		tmigr_table_cell(t, tmigr_rep_str(root, "group"));
	tmigr_table_sec(t, held, window);
	tmigr_table_cell(t, tmigr_fmt_pct(buf, held, window));
	tmigr_table_count(t, tmigr_rep_u64(h, "holdings"));
	snprintf(buf, sizeof(buf), "%.3f", (double)tmigr_rep_u64(h, "longest_ns") / 1e6);
	tmigr_table_cell(t, buf);
	tmigr_table_cell(t, tmigr_fmt_pct(buf, tmigr_rep_u64(h, "running_ns"), held));
	state_cells(t, &sh->states, h);
	if (sh->unknown)
		tmigr_table_cell(t, tmigr_fmt_pct(buf, tmigr_rep_u64(h, "unknown_state_ns"), held));
}

static void holdings_columns(struct tmigr_table *t, const struct holdings_shape *sh)
{
	tmigr_table_column(t, true, "cpu");
	if (sh->classes)
		tmigr_table_column(t, false, "class");
	if (sh->roots)
		tmigr_table_column(t, false, "root");
	tmigr_table_column(t, true, "held s");
	tmigr_table_column(t, true, "%");
	tmigr_table_column(t, true, "holdings");
	tmigr_table_column(t, true, "longest ms");
	tmigr_table_column(t, true, "running %");
	for (size_t k = 0; k < sh->states.n; k++) {
		char *head;

		if (asprintf(&head, "%s %%", sh->states.names[k]) < 0)
			head = NULL;
		tmigr_table_column(t, true, head ? head : "");
		free(head);
	}
	if (sh->unknown)
		tmigr_table_column(t, true, "unknown %");
}

int tmigr_table_holdings(const json_t *report, struct tmigr_table **ret)
{
	const json_t *root, *h;
	struct holdings_shape sh = shape_of(report);
	struct tmigr_table *t = NULL;
	size_t i, k;
	int err = sh.states.failed ? -ENOMEM : 0;

	if (!err && sh.n) {
		t = tmigr_table_new(1);
		holdings_columns(t, &sh);
		json_array_foreach (json_object_get(report, "roots"), i, root)
			json_array_foreach (json_object_get(root, "holders"), k, h)
				holder_row(t, &sh, root, h, tmigr_rep_u64(report, "window_ns"));
	}
	free(sh.states.names);
	*ret = t;
	return err;
}

int tmigr_text_holdings(const json_t *report, FILE *out)
{
	struct tmigr_table *t;
	int ret = tmigr_table_holdings(report, &t);

	if (ret < 0 || !t)
		return ret;
	fputs("\nMigrator holdings per CPU; running and idle states as shares of the holding\n",
	      out);
	return tmigr_table_print(t, out);
}
