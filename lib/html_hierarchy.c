// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hierarchy drawn: roots at the left, a row for each level-0 group with its CPUs
 * as cells, filled by the share of the window for which each held the migrator.
 * Sizes are pixels: the drawing keeps its size and scrolls where it is too wide.
 */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BOX_W 64
#define GAP   26
#define ROW   30
#define BOX_H 24
#define CELLS 8 /* in one line; a level-0 group has no more */
#define LONG  16

struct tree {
	struct tmigr_html *h;
	const json_t *groups, *cpus;
	unsigned int top_level, cell_w;
	unsigned int y; /* of the next row */
	int *box_y;	/* by group: middle, once drawn */
	__u64 *held;	/* by index in cpus */
};

static unsigned int group_x(const struct tree *t, const json_t *g)
{
	return (t->top_level - (unsigned int)tmigr_rep_u64(g, "level")) * (BOX_W + GAP) + 1;
}

static void put_box(struct tree *t, const json_t *g, unsigned int y)
{
	unsigned int x = group_x(t, g);

	fprintf(t->h->out,
		"<g><title>%s: level %llu, mask 0x%02llx, CPUs %s</title><rect class=\"g\" "
		"x=\"%u.5\" y=\"%u.5\" width=\"%d\" height=\"%d\" rx=\"4\"/><text class=\"m\" "
		"x=\"%u\" y=\"%u\">",
		tmigr_rep_str(g, "name"), (unsigned long long)tmigr_rep_u64(g, "level"),
		(unsigned long long)tmigr_rep_u64(g, "mask"), tmigr_rep_str(g, "cpus"), x, y, BOX_W,
		BOX_H, x + BOX_W / 2, y + 17);
	tmigr_html_text(t->h->out, tmigr_rep_str(g, "name"));
	fputs("</text></g>\n", t->h->out);
}

static void put_edge(struct tree *t, const json_t *parent, int parent_y, const json_t *child,
		     int child_y)
{
	unsigned int from = group_x(t, parent) + BOX_W, to = group_x(t, child);

	fprintf(t->h->out, "<path class=\"e\" d=\"M%u.5 %d.5H%uV%d.5H%u\"/>\n", from, parent_y,
		from + GAP / 2, child_y, to);
}

static void put_cpu(struct tree *t, size_t i, unsigned int x, unsigned int y)
{
	__u64 cpu = tmigr_rep_u64(json_array_get(t->cpus, i), "cpu");
	__u64 window = tmigr_rep_u64(t->h->report, "window_ns");
	const json_t *c = tmigr_rep_cpu(t->h->report, cpu);
	const char *class_name = tmigr_rep_class(t->h->report, cpu);
	const char *css =
		tmigr_html_class_css(t->h->report, tmigr_rep_class_index(t->h->report, class_name));
	bool offline = json_is_false(json_object_get(c, "online"));
	double share = window ? (double)t->held[i] / (double)window : 0;
	char pct[TMIGR_FMT_MAX];
	FILE *out = t->h->out;

	fprintf(out, "<g data-cpu=\"%llu\" data-v=\"%llu\"><title>CPU %llu, ",
		(unsigned long long)cpu, (unsigned long long)t->held[i], (unsigned long long)cpu);
	tmigr_html_text(out, class_name);
	fprintf(out, "%s: held %s %%</title>", offline ? ", offline at the start" : "",
		t->held[i] ? tmigr_fmt_pct(pct, t->held[i], window) : "0");
	fprintf(out,
		"<rect class=\"c%s\" x=\"%u.5\" y=\"%u.5\" width=\"%u\" height=\"%d\"/>"
		"<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"4\"/>",
		offline ? " o" : "", x, y, t->cell_w - 4, BOX_H, css, x + 1, y + 1, t->cell_w - 5);
	if (t->held[i]) {
		unsigned int fill = (unsigned int)(share * (BOX_H - 5) + 0.999);

		fprintf(out,
			"<rect class=\"%s\" opacity=\".4\" x=\"%u\" y=\"%u\" width=\"%u\" "
			"height=\"%u\"/>",
			css, x + 1, y + BOX_H - fill, t->cell_w - 5, fill);
	}
	fprintf(out, "<text class=\"m\" x=\"%u\" y=\"%u\">%llu</text></g>\n", x + t->cell_w / 2 - 2,
		y + 19, (unsigned long long)cpu);
}

/* The CPUs whose group is @name; how many there are. */
static size_t put_cpus(struct tree *t, const char *name, unsigned int x, unsigned int y)
{
	const json_t *place;
	size_t i, n = 0;

	json_array_foreach (t->cpus, i, place) {
		const char *group = tmigr_rep_str(place, "group");

		if (strcmp(group, name))
			continue;
		put_cpu(t, i, x + (unsigned int)(n % CELLS) * t->cell_w,
			y + (unsigned int)(n / CELLS) * ROW);
		n++;
	}
	return n;
}

static bool is_child(const json_t *g, const json_t *parent)
{
	const char *of = json_string_value(json_object_get(g, "parent"));

	return parent ? of && !strcmp(of, tmigr_rep_str(parent, "name")) : !of;
}

/*
 * @idx and what is below it.  A level above its child's ends what would go round in a
 * report that was made up.
 */
static void put_group(struct tree *t, size_t idx)
{
	const json_t *g = json_array_get(t->groups, idx), *child;
	__u64 level = tmigr_rep_u64(g, "level");
	int first = -1, last = -1;
	size_t i;

	if (t->box_y[idx] >= 0)
		return;
	t->box_y[idx] = 0;
	if (level == 0) {
		unsigned int y = t->y;
		size_t n = put_cpus(t, tmigr_rep_str(g, "name"), group_x(t, g) + BOX_W + 8, y);

		t->box_y[idx] = (int)y + BOX_H / 2;
		t->y += ROW * (unsigned int)(n ? (n + CELLS - 1) / CELLS : 1);
		put_box(t, g, y);
		return;
	}
	json_array_foreach (t->groups, i, child) {
		if (!is_child(child, g) || tmigr_rep_u64(child, "level") >= level)
			continue;
		put_group(t, i);
		first = first < 0 ? t->box_y[i] : first;
		last = t->box_y[i];
	}
	if (first < 0) {
		first = last = (int)t->y + BOX_H / 2;
		t->y += ROW;
	}
	t->box_y[idx] = (first + last) / 2;
	json_array_foreach (t->groups, i, child)
		if (is_child(child, g) && tmigr_rep_u64(child, "level") < level)
			put_edge(t, g, t->box_y[idx], child, t->box_y[i]);
	put_box(t, g, (unsigned int)(t->box_y[idx] - BOX_H / 2));
}

/* ---- around it ---- */

static void find_held(struct tree *t)
{
	const json_t *root, *holder;
	size_t i, k, at;

	json_array_foreach (json_object_get(t->h->report, "roots"), i, root) {
		at = 0;
		json_array_foreach (json_object_get(root, "holders"), k, holder) {
			__u64 cpu = tmigr_rep_u64(holder, "cpu");

			while (at < json_array_size(t->cpus) &&
			       tmigr_rep_u64(json_array_get(t->cpus, at), "cpu") < cpu)
				at++;
			if (tmigr_rep_u64(json_array_get(t->cpus, at), "cpu") == cpu)
				t->held[at] += tmigr_rep_u64(holder, "held_ns");
		}
	}
}

static unsigned int digits(const json_t *cpus)
{
	__u64 last = tmigr_rep_u64(json_array_get(cpus, json_array_size(cpus) - 1), "cpu");
	unsigned int n = 1;

	while (last >= 10) {
		last /= 10;
		n++;
	}
	return n;
}

/* The rows that the drawing will have, before it is made. */
static unsigned int count_rows(const struct tree *t)
{
	const json_t *g, *place;
	unsigned int rows = 0;
	size_t i, k, n, outside = 0;

	json_array_foreach (t->groups, i, g) {
		if (tmigr_rep_u64(g, "level"))
			continue;
		n = 0;
		json_array_foreach (t->cpus, k, place)
			n += !strcmp(tmigr_rep_str(place, "group"), tmigr_rep_str(g, "name"));
		rows += (unsigned int)(n ? (n + CELLS - 1) / CELLS : 1);
	}
	json_array_foreach (t->cpus, k, place)
		outside += !json_is_string(json_object_get(place, "group"));
	return rows + (unsigned int)((outside + CELLS - 1) / CELLS);
}

static void put_desc(const struct tree *t)
{
	const json_t *g;
	size_t i;

	fprintf(t->h->out, "<title>Timer-migration hierarchy</title><desc>");
	json_array_foreach (t->groups, i, g) {
		if (i == LONG) {
			fputs(" and more, in the table.", t->h->out);
			break;
		}
		tmigr_html_text(t->h->out, tmigr_rep_str(g, "name"));
		fputs(json_is_string(json_object_get(g, "parent")) ? " below " : " is a root",
		      t->h->out);
		tmigr_html_text(t->h->out, tmigr_rep_str(g, "parent"));
		fputs(", CPUs ", t->h->out);
		tmigr_html_text(t->h->out, tmigr_rep_str(g, "cpus"));
		fputs(". ", t->h->out);
	}
	fputs("</desc>\n", t->h->out);
}

static void put_drawing(struct tree *t)
{
	unsigned int x = (t->top_level + 1) * (BOX_W + GAP) - GAP + 9, height;
	const json_t *g;
	size_t i;

	height = count_rows(t) * ROW;
	fprintf(t->h->out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Hierarchy, "
		"drawn\"><svg class=\"tree\" role=\"img\" width=\"%u\" height=\"%u\">",
		x + CELLS * t->cell_w, height);
	put_desc(t);
	json_array_foreach (t->groups, i, g)
		if (is_child(g, NULL))
			put_group(t, i);
	fprintf(t->h->out, "<g>");
	if (put_cpus(t, "", x, t->y))
		fprintf(t->h->out, "<text x=\"1\" y=\"%u\">in no group</text>", t->y + 17);
	fputs("</g></svg></div>\n", t->h->out);
}

static int put_table(struct tree *t)
{
	struct tmigr_table *table = tmigr_table_new(1);
	size_t n = json_array_size(t->groups), i;
	char mask[8];
	const json_t *g;
	int ret;

	tmigr_table_column(table, false, "group");
	tmigr_table_column(table, true, "level");
	tmigr_table_column(table, false, "parent");
	tmigr_table_column(table, false, "mask");
	tmigr_table_column(table, true, "node");
	tmigr_table_column(table, false, "CPUs");
	json_array_foreach (t->groups, i, g) {
		const char *parent = tmigr_rep_str(g, "parent");

		tmigr_table_cell(table, tmigr_rep_str(g, "name"));
		tmigr_table_number(table, tmigr_rep_u64(g, "level"));
		tmigr_table_cell(table, *parent ? parent : "(root)");
		snprintf(mask, sizeof(mask), "0x%02x",
			 (unsigned int)tmigr_rep_u64(g, "mask") & 0xff);
		tmigr_table_cell(table, *parent ? mask : "");
		if (json_is_integer(json_object_get(g, "node")))
			tmigr_table_number(table, tmigr_rep_u64(g, "node"));
		else
			tmigr_table_cell(table, "");
		tmigr_table_cell(table, tmigr_rep_str(g, "cpus"));
	}
	fprintf(t->h->out, "<details><summary>Groups as a table (%zu)</summary>\n", n);
	ret = tmigr_html_table(t->h->out, table, "Groups of the hierarchy", NULL, NULL, NULL);
	fputs("</details>\n", t->h->out);
	return ret;
}

static void put_legend(struct tmigr_html *h)
{
	const json_t *c;
	size_t i;

	fputs("<ul class=\"legend\">", h->out);
	json_array_foreach (json_object_get(h->report, "classes"), i, c) {
		fprintf(h->out, "<li><i class=\"sw %s\"></i>",
			tmigr_html_class_css(h->report, (int)i));
		tmigr_html_text(h->out, tmigr_rep_str(c, "name"));
		fputs(" <span class=\"dim\">CPUs ", h->out);
		tmigr_html_text(h->out, tmigr_rep_str(c, "cpus"));
		if (!json_is_null(json_object_get(c, "capacity")))
			fprintf(h->out, ", capacity %llu",
				(unsigned long long)tmigr_rep_u64(c, "capacity"));
		fputs("</span></li>", h->out);
	}
	fputs("</ul>\n", h->out);
}

int tmigr_html_hierarchy(struct tmigr_html *h)
{
	const json_t *tree = json_object_get(h->report, "hierarchy"), *g;
	struct tree t = {.h = h,
			 .groups = json_object_get(tree, "groups"),
			 .cpus = json_object_get(tree, "cpus")};
	size_t n = json_array_size(t.groups), i;
	int ret = 0;

	json_array_foreach (t.groups, i, g)
		if (tmigr_rep_u64(g, "level") > t.top_level)
			t.top_level = (unsigned int)tmigr_rep_u64(g, "level");
	t.cell_w = 18 + 8 * digits(t.cpus);
	t.box_y = malloc((n + 1) * sizeof(*t.box_y));
	t.held = calloc(json_array_size(t.cpus) + 1, sizeof(*t.held));
	tmigr_html_heading(h, "hierarchy", "The hierarchy");
	if (t.box_y && t.held) {
		memset(t.box_y, 0xff, (n + 1) * sizeof(*t.box_y));
		find_held(&t);
		put_legend(h);
		put_drawing(&t);
		fputs("<p class=\"dim\">Each cell is a CPU, filled by the share of the window for "
		      "which "
		      "it held the migrator.</p>\n",
		      h->out);
		ret = put_table(&t);
	} else {
		ret = -ENOMEM;
	}
	free(t.box_y);
	free(t.held);
	return ret;
}
