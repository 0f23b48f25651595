// SPDX-License-Identifier: GPL-2.0-or-later
/* The hierarchy as text: one line a group, one line a CPU. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tree_common.h"

struct strokes {
	const char *fork, *last, *down, *gap, *mark;
};

static const struct strokes ascii = {"|- ", "`- ", "|  ", "   ", "<- "};
static const struct strokes boxes = {"├─ ", "└─ ", "│  ", "   ", "◀ "};

#define STROKE_COLUMNS 3

/* Widths in columns, so that the CPUs of the whole machine stand in line. */
struct text {
	const struct tmigr_tree *t;
	const struct strokes *s;
	FILE *out;
	int cpu_width; /* strokes and name */
	int class_width, capacity_width, tmigr_width, state_width;
	int pad; /* blanks due before anything else comes on the line */
};

/* The way from the root to a line: what is drawn in front of it. */
struct indent {
	const struct indent *up;
	bool more; /* the parent has further children below */
};

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

/* "-": not known. */
static const char *capacity(const struct tmigr_topo_cpu *cpu, char buf[16])
{
	snprintf(buf, 16, "%u", cpu->capacity);
	return cpu->capacity ? buf : "-";
}

static void measure(struct text *x)
{
	const struct tmigr_tree *t = x->t;
	unsigned int levels = 0;
	char name[64], buf[16];
	size_t i;

	for (i = 0; i < t->h->n_groups; i++)
		if (t->h->groups[i].level > levels)
			levels = t->h->groups[i].level;
	for (i = 0; i < t->h->n_cpus; i++) {
		const struct tmigr_topo_cpu *c = &t->topo->cpus[i];

		if (t->h->cpus[i].group < 0)
			continue;
		x->cpu_width = max_int(x->cpu_width, snprintf(NULL, 0, "CPU %u", c->cpu));
		x->class_width =
			max_int(x->class_width, (int)strlen(t->topo->classes[c->class_idx].name));
		x->capacity_width = max_int(x->capacity_width, (int)strlen(capacity(c, buf)));
		x->tmigr_width = max_int(x->tmigr_width, (int)strlen(tree_tmigr_name(t, i)));
		tree_state_name(t, i, name, sizeof(name));
		x->state_width = max_int(x->state_width, (int)strlen(name));
	}
	x->cpu_width += STROKE_COLUMNS * (int)(levels + 1);
}

/* What stands in front of a line; returns its columns. */
static int print_indent(struct text *x, const struct indent *in, bool innermost)
{
	int columns;

	if (!in)
		return 0;
	columns = print_indent(x, in->up, false);
	if (innermost)
		fputs(in->more ? x->s->fork : x->s->last, x->out);
	else
		fputs(in->more ? x->s->down : x->s->gap, x->out);
	return columns + STROKE_COLUMNS;
}

/* A further item on the line; blanks come before one, never at a line's end. */
static void __attribute__((format(printf, 2, 3))) print_item(struct text *x, const char *fmt, ...)
{
	va_list ap;

	fprintf(x->out, "%*s  ", x->pad, "");
	x->pad = 0;
	va_start(ap, fmt);
	vfprintf(x->out, fmt, ap);
	va_end(ap);
}

static void end_line(struct text *x)
{
	x->pad = 0;
	fputc('\n', x->out);
}

static void print_timer(struct text *x, const char *what, __u64 at_ns)
{
	char in[32];

	if (!at_ns)
		return;
	tree_in(x->t, at_ns, in, sizeof(in));
	if (at_ns >= TMIGR_KTIME_MAX)
		print_item(x, "no %s", what);
	else
		print_item(x, "%s %s%s", what, at_ns > x->t->now_ns ? "in " : "", in);
}

static bool is_migrator(const struct tmigr_tree *t, size_t cpu)
{
	int group = t->h->cpus[cpu].group;

	return group >= 0 && tree_migrator(t, (size_t)group).cpu == (int)cpu;
}

static void print_cpu(struct text *x, size_t cpu, const struct indent *in)
{
	const struct tmigr_topo_cpu *topo = &x->t->topo->cpus[cpu];
	const struct tmigr_cpu_view *c = &x->t->h->cpus[cpu];
	char state[64], name[32], buf[16];
	int columns;

	columns = print_indent(x, in, true);
	snprintf(name, sizeof(name), "CPU %u", topo->cpu);
	tree_state_name(x->t, cpu, state, sizeof(state));
	fprintf(x->out, "%-*s  %-*s %*s  %-*s  %s", x->cpu_width - columns, name, x->class_width,
		x->t->topo->classes[topo->class_idx].name, x->capacity_width, capacity(topo, buf),
		x->tmigr_width, tree_tmigr_name(x->t, cpu), state);
	x->pad = x->state_width - (int)strlen(state);
	print_timer(x, "timer", tree_cpu_expiry(x->t, cpu));
	if (c->active == 0 && c->wakeup_known && c->wakeup_ns && c->wakeup_ns < TMIGR_KTIME_MAX)
		print_timer(x, "wakeup duty", c->wakeup_ns);
	if (tree_is_global(x->t, cpu))
		print_item(x, "%sglobal migrator", x->s->mark);
	else if (is_migrator(x->t, cpu))
		print_item(x, "%smigrator", x->s->mark);
	end_line(x);
}

static void print_group(struct text *x, size_t group, const struct indent *in)
{
	const struct tmigr_group_view *g = &x->t->h->groups[group];
	struct tree_migrator m = tree_migrator(x->t, group);

	print_indent(x, in, true);
	fputs(g->name, x->out);
	if (g->node >= 0)
		print_item(x, "node %d", g->node);
	if (m.cpu >= 0)
		print_item(x, "migrator CPU %u", x->t->h->cpus[m.cpu].cpu);
	else if (m.group >= 0)
		print_item(x, "migrator %s", x->t->h->groups[m.group].name);
	else
		print_item(x, "migrator %s", m.known ? "none" : "unknown");
	print_timer(x, "timer", tree_group_expiry(x->t, group));
	if (g->parent >= 0 && tree_migrator(x->t, (size_t)g->parent).group == (int)group)
		print_item(x, "%smigrator", x->s->mark);
	end_line(x);
}

/* Children of a group are groups or CPUs; *@at goes on behind the one returned. */
static int next_child(const struct tmigr_tree *t, int group, bool cpus, size_t *at)
{
	size_t n = cpus ? t->h->n_cpus : t->h->n_groups;

	for (; *at < n; (*at)++)
		if ((cpus ? t->h->cpus[*at].group : t->h->groups[*at].parent) == group)
			return (int)(*at)++;
	return -1;
}

static void print_below(struct text *x, size_t group, const struct indent *up);

static void print_children(struct text *x, size_t group, const struct indent *up, bool cpus)
{
	struct indent in = {.up = up};
	size_t at = 0;
	int child = next_child(x->t, (int)group, cpus, &at), next;

	for (; child >= 0; child = next) {
		next = next_child(x->t, (int)group, cpus, &at);
		in.more = next >= 0;
		if (cpus) {
			print_cpu(x, (size_t)child, &in);
		} else {
			print_group(x, (size_t)child, &in);
			print_below(x, (size_t)child, &in);
		}
	}
}

static void print_below(struct text *x, size_t group, const struct indent *up)
{
	print_children(x, group, up, !x->t->h->groups[group].level);
}

static void print_root_line(struct text *x, size_t group)
{
	const struct tmigr_root_view *r = tree_root(x->t, group);
	int cpu = r && r->cpu >= 0 ? tmigr_topology_index(x->t->topo, (unsigned int)r->cpu) : -1;
	const char *name = x->t->h->groups[group].name;

	fprintf(x->out, "Global migrator of %s: ", name);
	if (!r || r->regime == TMIGR_UNKNOWN)
		fputs("unknown\n", x->out);
	else if (r->regime == TMIGR_HELD && x->t->topo->n_classes < 2)
		fprintf(x->out, "CPU %d\n", r->cpu);
	else if (r->regime == TMIGR_HELD && cpu >= 0)
		fprintf(x->out, "CPU %d (%s)\n", r->cpu,
			x->t->topo->classes[x->t->topo->cpus[cpu].class_idx].name);
	else if (r->regime == TMIGR_HANDOVER)
		fputs("being handed over\n", x->out);
	else if (r->regime == TMIGR_DUTY)
		fputs("nobody; an idle CPU has the wakeup duty\n", x->out);
	else
		fputs("nobody; no global timer is pending\n", x->out);
}

/* "0-3,7" of the CPUs at @place; NULL none (or no memory). */
static char *list_place(const struct tmigr_tree *t, enum tree_place place)
{
	unsigned int *cpus = calloc(t->h->n_cpus ? t->h->n_cpus : 1, sizeof(*cpus));
	char *text = NULL;
	size_t i, n = 0;

	for (i = 0; cpus && i < t->h->n_cpus; i++)
		if (tree_place(t, i) == place)
			cpus[n++] = t->h->cpus[i].cpu;
	if (n)
		text = tmigr_cpulist_format(cpus, n);
	free(cpus);
	return text;
}

static void print_outside(struct text *x)
{
	static const struct {
		enum tree_place place;
		const char *words;
	} list[] = {
		{TREE_UNSEEN, "Not seen yet"},
		{TREE_OFFLINE, "Offline, without a place yet"},
		{TREE_ISOLATED, "Isolated, outside the hierarchy"},
	};
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		char *cpus = list_place(x->t, list[i].place);

		if (cpus)
			fprintf(x->out, "%s: CPU %s\n", list[i].words, cpus);
		free(cpus);
	}
}

int tmigr_tree_text(const struct tmigr_tree *t, bool utf8, FILE *out)
{
	struct text x = {.t = t, .s = utf8 ? &boxes : &ascii, .out = out};
	size_t i, seen, of, roots = 0;

	measure(&x);
	tree_seen(t, &seen, &of);
	for (i = 0; i < t->h->n_groups; i++)
		roots += t->h->groups[i].parent < 0;
	fprintf(out, "%zu of %zu CPUs seen, %zu hierarch%s, %zu group%s\n", seen, of, roots,
		roots == 1 ? "y" : "ies", t->h->n_groups, t->h->n_groups == 1 ? "" : "s");
	for (i = 0; i < t->h->n_groups; i++)
		if (t->h->groups[i].parent < 0)
			print_root_line(&x, i);
	print_outside(&x);
	for (i = 0; i < t->h->n_groups; i++) {
		if (t->h->groups[i].parent >= 0)
			continue;
		fputc('\n', out);
		print_group(&x, i, NULL);
		print_below(&x, i, NULL);
	}
	return ferror(out) ? -EIO : 0;
}
