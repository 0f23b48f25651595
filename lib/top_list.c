// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of CPUs: columns, order, headings. */
#include "top_priv.h"

#include <stdlib.h>
#include <string.h>

#define MIN_BAR 10
#define MAX_BAR 100
#define GAP	1

/* ---- columns ---- */

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t state_width(const struct top_facts *f)
{
	size_t width = strlen("running"), i;

	/* Of all names, so that columns stand still while states change. */
	for (i = 0; i < f->n_states; i++)
		for (const char *n = f->names[i]; *n; n += strcspn(n, "/"), n += *n == '/')
			width = max_size(width, strcspn(n, "/"));
	for (i = 0; i < f->n_cpus; i++)
		width = max_size(width, top_columns(f->cpus[i].state));
	return width > 16 ? 16 : width;
}

static size_t depth_of(const struct top_facts *f, int group)
{
	size_t depth = 0;

	for (; group >= 0; group = f->groups[group].parent)
		depth++;
	return depth;
}

static struct top_layout widest(const struct top_facts *f, const struct tmigr_top_opts *o)
{
	struct top_layout l = {.run = 5, .share = 5, .rate = 6, .mark = 6};
	size_t i, digits = 0;
	char number[16];

	for (i = 0; i < f->n_cpus; i++) {
		digits = max_size(digits,
				  (size_t)snprintf(number, sizeof(number), "%u", f->cpus[i].cpu));
		l.class = max_size(l.class, top_columns(f->cpus[i].class));
	}
	l.cpu = max_size(3, digits);
	/* One class for all says nothing. */
	l.class = f->n_classes > 1 ? max_size(5, l.class > 12 ? 12 : l.class) : 0;
	l.state = state_width(f);
	for (i = 0; o->group == TMIGR_TOP_PER_GROUP && i < f->n_cpus; i++)
		l.indent = max_size(l.indent, depth_of(f, f->cpus[i].group));
	return l;
}

static size_t with_gap(size_t width)
{
	return width ? width + GAP : 0;
}

/* Columns that all but the bar take, the gap before the bar included. */
static size_t taken(const struct top_layout *l)
{
	return l->indent + l->cpu + with_gap(l->class) + with_gap(l->state) + with_gap(l->run) +
	       with_gap(l->share) + 2 * with_gap(l->rate) + with_gap(l->mark) + GAP;
}

struct top_layout top_layout(const struct top_facts *f, const struct tmigr_top_opts *o)
{
	struct top_layout l = widest(f, o);
	size_t *drop[] = {&l.rate, &l.share, &l.class, &l.run, &l.state, &l.indent};
	size_t i;

	for (i = 0; i < sizeof(drop) / sizeof(drop[0]) && taken(&l) + MIN_BAR > o->width; i++)
		*drop[i] = 0;
	l.bar = o->width > taken(&l) ? o->width - taken(&l) : 1;
	if (l.bar > MAX_BAR)
		l.bar = MAX_BAR;
	return l;
}

static void column(struct top_page *p, enum tmigr_top_attr attr, size_t width, bool right,
		   const char *text)
{
	if (!width)
		return;
	if (top_row_columns(p))
		top_cell(p, attr == TMIGR_TOP_BAR ? attr : TMIGR_TOP_PLAIN, "%*s", GAP, "");
	top_field(p, attr, width, right, text);
}

void top_list_head(struct top_page *p, const struct top_layout *l)
{
	const enum tmigr_top_attr a = TMIGR_TOP_BAR;

	top_row(p);
	column(p, a, l->indent + l->cpu, true, "CPU");
	column(p, a, l->class, false, "CLASS");
	column(p, a, l->state, false, "NOW");
	column(p, a, l->run, true, "RUN%");
	column(p, a, l->bar, false, l->bar >= 22 ? "RESIDENCY, LAST WINDOW" : "RESIDENCY");
	column(p, a, l->share, true, "HELD%");
	column(p, a, l->rate, true, "HOLD/s");
	column(p, a, l->rate, true, "REM/s");
	column(p, a, l->mark, false, "MIGR");
}

/* ---- bar ---- */

const char *top_glyph(const struct top_facts *f, unsigned int slot, bool utf8)
{
	static const char *const shades[] = {"▓", "▒", "░", "·"};
	static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

	if (slot == TMIGR_SLOT_RUNNING)
		return utf8 ? "█" : "#";
	if (slot == TMIGR_SLOT_OFFLINE)
		return "x";
	if (slot == TMIGR_SLOT_UNKNOWN)
		return "?";
	slot -= TMIGR_SLOT_STATE0;
	return utf8 && f->n_states <= 4 ? shades[slot % 4] : digits[slot % 10];
}

enum tmigr_top_attr top_slot_attr(unsigned int slot)
{
	if (slot == TMIGR_SLOT_RUNNING)
		return TMIGR_TOP_RUNNING;
	if (slot == TMIGR_SLOT_OFFLINE)
		return TMIGR_TOP_OFFLINE;
	if (slot == TMIGR_SLOT_UNKNOWN)
		return TMIGR_TOP_UNKNOWN;
	return TMIGR_TOP_STATE0 + (slot - TMIGR_SLOT_STATE0);
}

/* Shares out @width columns by largest remainder: they add up exactly. */
static void share_out(const __u64 *time_ns, size_t width, size_t *ret)
{
	double rest[TMIGR_SLOTS], total = 0;
	size_t i, left = width;

	for (i = 0; i < TMIGR_SLOTS; i++)
		total += (double)time_ns[i];
	for (i = 0; i < TMIGR_SLOTS; i++) {
		double part = total > 0 ? (double)time_ns[i] / total * (double)width : 0;

		ret[i] = (size_t)part > left ? left : (size_t)part;
		rest[i] = part - (double)ret[i];
		left -= ret[i];
	}
	while (left && total > 0) {
		size_t best = 0;

		for (i = 1; i < TMIGR_SLOTS; i++)
			if (rest[i] > rest[best])
				best = i;
		ret[best]++;
		rest[best] = -1;
		left--;
	}
}

static void bar(struct top_page *p, const struct top_facts *f, const __u64 *time_ns, size_t width,
		bool utf8)
{
	size_t n[TMIGR_SLOTS], i, k, used = 0;
	char text[4 * MAX_BAR + 1];

	top_cell(p, TMIGR_TOP_PLAIN, "%*s", GAP, "");
	share_out(time_ns, width, n);
	for (i = 0; i < TMIGR_SLOTS; i++) {
		if (!n[i])
			continue;
		for (*text = '\0', k = 0; k < n[i]; k++)
			strcat(text, top_glyph(f, (unsigned int)i, utf8));
		top_cell(p, top_slot_attr((unsigned int)i), "%s", text);
		used += n[i];
	}
	if (used < width)
		top_cell(p, TMIGR_TOP_PLAIN, "%*s", (int)(width - used), "");
}

/* ---- lines ---- */

/* What a line adds up: one CPU, or those below a heading. */
struct sums {
	size_t n;
	__u64 time_ns[TMIGR_SLOTS];
	__u64 held_ns, holdings, remote;
};

static void add_cpu(struct sums *s, const struct top_cpu *c)
{
	s->n++;
	for (size_t i = 0; i < TMIGR_SLOTS; i++)
		s->time_ns[i] += c->time_ns[i];
	s->held_ns += c->held_ns;
	s->holdings += c->holdings;
	s->remote += c->remote;
}

static const char *rate(char buf[TMIGR_FMT_MAX], __u64 count, __u64 window_ns)
{
	double r = window_ns ? (double)count * 1e9 / (double)window_ns : 0;

	if (!count || !window_ns)
		return "-";
	if (r < 0.05)
		return "<0.1";
	if (r >= 99999.5)
		snprintf(buf, TMIGR_FMT_MAX, "%.0fk", r / 1000);
	else
		snprintf(buf, TMIGR_FMT_MAX, "%.*f", r < 99.95 ? 1 : 0, r);
	return buf;
}

static void figures(struct top_page *p, const struct top_facts *f, const struct top_layout *l,
		    const struct sums *s, bool utf8)
{
	char buf[TMIGR_FMT_MAX];

	column(p, TMIGR_TOP_PLAIN, l->run, true,
	       tmigr_fmt_pct(buf, s->time_ns[TMIGR_SLOT_RUNNING], s->n * f->window_ns));
	bar(p, f, s->time_ns, l->bar, utf8);
	column(p, TMIGR_TOP_PLAIN, l->share, true, tmigr_fmt_pct(buf, s->held_ns, f->window_ns));
	column(p, TMIGR_TOP_PLAIN, l->rate, true, rate(buf, s->holdings, f->window_ns));
	column(p, TMIGR_TOP_PLAIN, l->rate, true, rate(buf, s->remote, f->window_ns));
}

static enum tmigr_top_attr state_attr(const struct top_cpu *c)
{
	return c->slot < 0 ? TMIGR_TOP_UNKNOWN : top_slot_attr((unsigned int)c->slot);
}

static void cpu_line(struct top_page *p, const struct top_facts *f, const struct top_layout *l,
		     const struct top_cpu *c, bool utf8)
{
	struct sums s = {0};
	char number[16];

	add_cpu(&s, c);
	snprintf(number, sizeof(number), "%u", c->cpu);
	top_row(p);
	column(p, TMIGR_TOP_BOLD, l->indent + l->cpu, true, number);
	column(p, TMIGR_TOP_PLAIN, l->class, false, c->class);
	column(p, state_attr(c), l->state, false, c->state);
	figures(p, f, l, &s, utf8);
	if (c->global)
		column(p, TMIGR_TOP_GLOBAL, l->mark, false, "GLOBAL");
	else if (c->migrator)
		column(p, TMIGR_TOP_MIGRATOR, l->mark, false, "group");
	else if (c->duty)
		column(p, TMIGR_TOP_DIM, l->mark, false, "duty");
	else
		column(p, TMIGR_TOP_PLAIN, l->mark, false, "");
}

static void heading(struct top_page *p, const struct top_facts *f, const struct top_layout *l,
		    const char *text, const struct sums *s, bool migrator, bool utf8)
{
	size_t width = l->indent + l->cpu + with_gap(l->class) + with_gap(l->state);

	top_row(p);
	column(p, TMIGR_TOP_BOLD, width, false, text);
	figures(p, f, l, s, utf8);
	column(p, TMIGR_TOP_MIGRATOR, l->mark, false, migrator ? "group" : "");
}

/* ---- order ---- */

static int by_size(__u64 a, __u64 b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct top_cpu *a = *(const struct top_cpu *const *)pa;
	const struct top_cpu *b = *(const struct top_cpu *const *)pb;
	const struct tmigr_top_opts *o = arg;
	int r = 0;

	if (o->sort == TMIGR_TOP_BY_CLASS)
		r = by_size(a->class_idx, b->class_idx);
	else if (o->sort == TMIGR_TOP_BY_RESIDENCY)
		r = by_size(a->time_ns[TMIGR_SLOT_RUNNING], b->time_ns[TMIGR_SLOT_RUNNING]);
	else if (o->sort == TMIGR_TOP_BY_HOLDING)
		r = by_size(a->held_ns, b->held_ns);
	if (r)
		return r;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* The CPUs in the order of the list; the caller's (free); NULL: no memory. */
static const struct top_cpu **sorted(const struct top_facts *f, const struct tmigr_top_opts *o)
{
	const struct top_cpu **list = calloc(f->n_cpus + 1, sizeof(*list));

	for (size_t i = 0; list && i < f->n_cpus; i++)
		list[i] = &f->cpus[i];
	if (list)
		qsort_r(list, f->n_cpus, sizeof(*list), compare, (void *)o);
	return list;
}

/* ---- sections ---- */

struct list {
	struct top_page *p;
	const struct top_facts *f;
	const struct top_layout *l;
	bool utf8;
	const struct top_cpu **cpus;
};

static void per_class(const struct list *x)
{
	for (size_t class = 0; class < x->f->n_classes; class ++) {
		const char *name = "";
		struct sums s = {0};
		char text[64];
		size_t i;

		for (i = 0; i < x->f->n_cpus; i++)
			if (x->f->cpus[i].class_idx == class) {
				add_cpu(&s, &x->f->cpus[i]);
				name = x->f->cpus[i].class;
			}
		if (!s.n)
			continue;
		snprintf(text, sizeof(text), "%s, %zu CPU%s", name, s.n, s.n == 1 ? "" : "s");
		heading(x->p, x->f, x->l, text, &s, false, x->utf8);
		for (i = 0; i < x->f->n_cpus; i++)
			if (x->cpus[i]->class_idx == class)
				cpu_line(x->p, x->f, x->l, x->cpus[i], x->utf8);
	}
}

static bool is_below(const struct top_facts *f, int group, int above)
{
	while (group >= 0 && group != above)
		group = f->groups[group].parent;
	return group == above;
}

/* The CPUs whose own group it is; -1: those outside the hierarchy. */
static void cpus_of(const struct list *x, int group)
{
	for (size_t i = 0; i < x->f->n_cpus; i++)
		if (x->cpus[i]->group == group)
			cpu_line(x->p, x->f, x->l, x->cpus[i], x->utf8);
}

static void below(const struct list *x, int group, size_t depth)
{
	const struct top_group *g = &x->f->groups[group];
	struct sums s = {0};
	char text[128], node[32] = "";

	for (size_t i = 0; i < x->f->n_cpus; i++)
		if (is_below(x->f, x->f->cpus[i].group, group))
			add_cpu(&s, &x->f->cpus[i]);
	if (g->node >= 0 && x->f->n_nodes > 1)
		snprintf(node, sizeof(node), ", node %d", g->node);
	snprintf(text, sizeof(text), "%*s%s, %zu CPU%s%s", (int)depth, "", g->name, s.n,
		 s.n == 1 ? "" : "s", node);
	heading(x->p, x->f, x->l, text, &s, g->migrator, x->utf8);
	for (size_t i = 0; i < x->f->n_groups; i++)
		if (x->f->groups[i].parent == group)
			below(x, (int)i, depth + 1);
	cpus_of(x, group);
}

static void per_group(const struct list *x)
{
	struct sums s = {0};
	char text[64];
	size_t i;

	for (i = 0; i < x->f->n_groups; i++)
		if (x->f->groups[i].parent < 0)
			below(x, (int)i, 0);
	for (i = 0; i < x->f->n_cpus; i++)
		if (x->f->cpus[i].group < 0)
			add_cpu(&s, &x->f->cpus[i]);
	if (!s.n)
		return;
	snprintf(text, sizeof(text), "unplaced, %zu CPU%s", s.n, s.n == 1 ? "" : "s");
	heading(x->p, x->f, x->l, text, &s, false, x->utf8);
	cpus_of(x, -1);
}

void top_list(struct top_page *p, const struct top_facts *f, const struct top_layout *l,
	      const struct tmigr_top_opts *o)
{
	const struct list x = {p, f, l, o->utf8, sorted(f, o)};
	size_t i;

	if (!x.cpus)
		p->failed = true;
	else if (o->group == TMIGR_TOP_PER_CLASS)
		per_class(&x);
	else if (o->group == TMIGR_TOP_PER_GROUP)
		per_group(&x);
	else
		for (i = 0; i < f->n_cpus; i++)
			cpu_line(p, f, l, x.cpus[i], o->utf8);
	free(x.cpus);
}
