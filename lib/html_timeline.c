// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The timeline: the whole window, and the longest holding from near.  The picture
 * stretches to the page's width; its labels and axis are text beside it, so that they
 * stay legible at any width.
 */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_PX  14 /* labels are no closer than this */
#define TOP	  4
#define ROOT_GAP  10
#define MAX_MARKS 20

struct figure {
	struct tmigr_html *h;
	const struct tmigr_view *v;
	struct tmigr_html_rows rows;
	unsigned int lanes_y, height;
};

static __u64 start_of(const struct tmigr_html *h)
{
	return tmigr_rep_u64(h->report, "start_ns");
}

/* Place across, in hundredths of a percent. */
static unsigned int across(const struct tmigr_view *v, __u64 t_ns)
{
	return (unsigned int)((unsigned __int128)(t_ns - v->from_ns) * 10000 /
			      (v->to_ns - v->from_ns));
}

static double column(const struct tmigr_view *v, __u64 t_ns)
{
	return (double)(t_ns - v->from_ns) * (double)v->n_columns / (double)(v->to_ns - v->from_ns);
}

/* ---- labels at the left ---- */

static void put_label(FILE *out, unsigned int y, unsigned int height)
{
	fprintf(out, "<span style=\"top:%upx;height:%upx\">", y, height);
}

static void root_labels(const struct figure *f)
{
	const json_t *root;
	FILE *out = f->h->out;
	size_t i;

	json_array_foreach (json_object_get(f->h->report, "roots"), i, root) {
		put_label(out, TOP + (unsigned int)i * (f->rows.root + ROOT_GAP), f->rows.root);
		fputs("<b><em class=\"wide\">Migrator of<br></em>", out);
		tmigr_html_text(out, tmigr_rep_str(root, "group"));
		fputs("</b></span>", out);
	}
}

/* Of a thin lane, the label is higher than the lane. */
static void put_lane_label(const struct figure *f, unsigned int y)
{
	if (f->rows.lane >= LABEL_PX - 4)
		put_label(f->h->out, y, f->rows.lane);
	else
		put_label(f->h->out, y - (LABEL_PX - f->rows.pitch) / 2, LABEL_PX);
}

static void lane_labels(const struct figure *f)
{
	const struct tmigr_timeline *t = f->h->timeline;
	const json_t *classes = json_object_get(f->h->report, "classes");
	unsigned int next = 0;
	FILE *out = f->h->out;

	for (size_t i = 0; i < t->n_lanes; i++) {
		unsigned int y = f->lanes_y + (unsigned int)i * f->rows.pitch;
		const struct tmigr_lane *lane = &t->lanes[i];

		if (y < next)
			continue;
		next = y + LABEL_PX;
		put_lane_label(f, y);
		if (json_array_size(classes) > 1 && lane->class_idx >= 0) {
			fputs("<em class=\"wide\">", out);
			tmigr_html_text(
				out, tmigr_rep_str(json_array_get(classes, (size_t)lane->class_idx),
						   "name"));
			fputs("</em>", out);
		}
		fprintf(out, "<i class=\"sw %s\"></i>",
			tmigr_html_class_css(f->h->report, lane->class_idx));
		fprintf(out, "%s</span>", lane->cpus);
	}
}

/* ---- time axis ---- */

/* A step of 1, 2 or 5 times a power of ten, some six of them. */
static __u64 tick_step(__u64 len)
{
	__u64 step = 1;

	while (step < len / 16 && step < 1000000000000000000ull)
		step *= 10;
	if (len / step > 40)
		return step * 5;
	return len / step > 14 ? step * 5 : len / step > 7 ? step * 2 : step;
}

/* Digits behind the point that tell ticks of @step ns apart. */
static int decimals(__u64 step)
{
	int n = 0;

	for (__u64 unit = 1000000000; n < 9 && step % unit; unit /= 10)
		n++;
	return n;
}

static void put_axis(const struct figure *f)
{
	const struct tmigr_view *v = f->v;
	__u64 start = start_of(f->h), from = v->from_ns - start, to = v->to_ns - start;
	__u64 step = tick_step(to - from), t = (from + step - 1) / step * step;
	FILE *out = f->h->out;

	fputs("<div class=\"axis\" aria-hidden=\"true\">", out);
	for (unsigned int i = 0; t <= to; t += step, i++) {
		unsigned int at = across(v, t + start);

		fprintf(out, "<span class=\"%s%s\" style=\"left:%u.%02u%%\">%.*f s</span>",
			i % 2 ? "odd" : "",
			at < 200    ? " first"
			: at > 9700 ? " last"
				    : "",
			at / 100, at % 100, decimals(step), (double)t / 1e9);
	}
	fputs("</div>\n", out);
}

/* ---- marks ---- */

static bool mark_at(const struct figure *f, size_t i, __u64 *ret)
{
	const json_t *m = json_array_get(json_object_get(f->h->report, "marks"), i);

	*ret = tmigr_rep_u64(m, "time_ns");
	return m && i < MAX_MARKS && *ret >= f->v->from_ns && *ret <= f->v->to_ns;
}

static void put_flags(const struct figure *f)
{
	size_t n = json_array_size(json_object_get(f->h->report, "marks"));
	FILE *out = f->h->out;
	__u64 t;

	if (!n)
		return;
	fputs("<div class=\"flags\" aria-hidden=\"true\">", out);
	for (size_t i = 0; i < n; i++)
		if (mark_at(f, i, &t))
			fprintf(out, "<span style=\"left:%u.%02u%%\">%zu</span>",
				across(f->v, t) / 100, across(f->v, t) % 100, i + 1);
	fputs("</div>\n", out);
}

static void put_mark_lines(const struct figure *f)
{
	size_t n = json_array_size(json_object_get(f->h->report, "marks"));
	__u64 t;

	for (size_t i = 0; i < n; i++)
		if (mark_at(f, i, &t))
			fprintf(f->h->out, "<path class=\"mark\" d=\"M%.2f 0V%u\"/>",
				column(f->v, t), f->height);
}

static void put_mark_list(const struct tmigr_html *h)
{
	const json_t *marks = json_object_get(h->report, "marks"), *m;
	size_t i;

	if (!json_array_size(marks))
		return;
	fputs("<p><b>Marks</b></p><ol class=\"marks\">\n", h->out);
	json_array_foreach (marks, i, m) {
		__u64 t = tmigr_rep_u64(m, "time_ns"), start = start_of(h);

		if (i == MAX_MARKS)
			break;
		fprintf(h->out, "<li data-v=\"%llu\">%.6f s: ", (unsigned long long)t,
			t > start ? (double)(t - start) / 1e9 : 0.0);
		tmigr_html_text(h->out, tmigr_rep_str(m, "text"));
		fputs("</li>\n", h->out);
	}
	fputs("</ol>\n", h->out);
	if (json_array_size(marks) > MAX_MARKS)
		fprintf(h->out, "<p class=\"dim\">%zu marks in all</p>\n", json_array_size(marks));
}

/* ---- the picture ---- */

static void put_desc(const struct figure *f, const char *title)
{
	const struct tmigr_timeline *t = f->h->timeline;
	char dur[TMIGR_FMT_MAX];

	fprintf(f->h->out,
		"<title>%s</title><desc>%zu columns of %s. For each hierarchy the share of each "
		"column's time by who held the migrator",
		title, f->v->n_columns,
		tmigr_fmt_dur(dur, (f->v->to_ns - f->v->from_ns) / f->v->n_columns));
	if (t->n_lanes)
		fprintf(f->h->out,
			"; below, %zu lanes of CPUs with the share of each idle state, and whether "
			"the "
			"CPU held the migrator",
			t->n_lanes);
	fputs(". The sums are in the tables of this page.</desc>\n", f->h->out);
}

/* Where the other picture looks from near. */
static void put_zoom_frame(const struct figure *f)
{
	const struct tmigr_view *z = &f->h->timeline->zoom;
	double from, to;

	if (f->v == z || !z->n_columns)
		return;
	from = column(f->v, z->from_ns);
	to = column(f->v, z->to_ns);
	fprintf(f->h->out, "<rect class=\"zr\" x=\"%.2f\" y=\"1\" width=\"%.2f\" height=\"%u\"/>",
		from, to - from < 2 ? 2 : to - from, f->height - 2);
}

static int put_lanes(const struct figure *f)
{
	const struct tmigr_timeline *t = f->h->timeline;
	int ret = 0;

	for (size_t i = 0; i < t->n_roots && ret == 0; i++)
		ret = tmigr_html_root_lane(f->h, f->v, i,
					   TOP + (unsigned int)i * (f->rows.root + ROOT_GAP),
					   f->rows.root);
	for (size_t i = 0; i < t->n_lanes && ret == 0; i++)
		ret = tmigr_html_cpu_lane(f->h, f->v, i,
					  f->lanes_y + (unsigned int)i * f->rows.pitch);
	return ret;
}

static int put_figure(struct tmigr_html *h, const struct tmigr_view *v, const char *title,
		      const char *id)
{
	const struct tmigr_timeline *t = h->timeline;
	struct figure f = {.h = h, .v = v, .rows = tmigr_html_rows(t)};
	int ret;

	f.lanes_y = TOP + (unsigned int)t->n_roots * (f.rows.root + ROOT_GAP);
	f.height = f.lanes_y + (unsigned int)t->n_lanes * f.rows.pitch + 2;
	fputs("<div class=\"tl\">", h->out);
	put_flags(&f);
	fputs("<div class=\"lab\" aria-hidden=\"true\">", h->out);
	root_labels(&f);
	lane_labels(&f);
	fprintf(h->out,
		"</div>\n<svg id=\"%s%s\" role=\"img\" viewBox=\"0 0 %zu %u\" height=\"%u\" "
		"preserveAspectRatio=\"none\">",
		h->id, id, v->n_columns, f.height, f.height);
	put_desc(&f, title);
	ret = put_lanes(&f);
	put_mark_lines(&f);
	put_zoom_frame(&f);
	fputs("</svg>\n", h->out);
	put_axis(&f);
	fputs("</div>\n", h->out);
	return ret;
}

/* ---- around it ---- */

/* A kernel without one has nobody who holds the migrator. */
static bool has_hierarchy(const struct tmigr_html *h)
{
	return !json_is_false(json_object_get(h->report, "timer_migration_hierarchy"));
}

static void put_migrator_legend(struct tmigr_html *h)
{
	const json_t *classes = json_object_get(h->report, "classes");
	size_t n = json_array_size(classes);

	fputs("<ul class=\"legend\" aria-label=\"Colours\"><li class=\"dim\">Migrator held by</li>",
	      h->out);
	for (size_t i = n; i-- > 0;) {
		fprintf(h->out, "<li><i class=\"sw %s\"></i>",
			tmigr_html_class_css(h->report, (int)i));
		tmigr_html_text(h->out, n > 1 ? tmigr_rep_str(json_array_get(classes, i), "name")
					      : "a CPU");
		fputs("</li>", h->out);
	}
	fputs("<li><i class=\"sw rd\"></i>nobody: a CPU has the wakeup duty</li>"
	      "<li><i class=\"sw rf\"></i>nobody: no timer pending</li>"
	      "<li><i class=\"sw rh\"></i>hand-over</li><li><i class=\"sw "
	      "ru\"></i>unknown</li></ul>\n",
	      h->out);
}

static void put_legends(struct tmigr_html *h)
{
	if (has_hierarchy(h))
		put_migrator_legend(h);
	if (!h->timeline->n_lanes)
		return;
	fputs("<ul class=\"legend\"><li class=\"dim\">CPUs</li><li><i class=\"sw "
	      "run\"></i>running</li>",
	      h->out);
	for (size_t i = 0; i < h->states.n; i++) {
		fprintf(h->out, "<li><i class=\"sw s%zu\"></i>", i);
		tmigr_html_text(h->out, h->states.list[i].name);
		fputs("</li>", h->out);
	}
	fputs("<li><i class=\"sw off\"></i>offline</li></ul>\n", h->out);
}

static void put_how(struct tmigr_html *h, const struct tmigr_view *v)
{
	char dur[TMIGR_FMT_MAX];

	fprintf(h->out,
		"Each of the %zu columns is %s long and shows the exact shares of that time, from "
		"the bottom; what occurs in a column at all is drawn at least half a pixel high. ",
		v->n_columns, tmigr_fmt_dur(dur, (v->to_ns - v->from_ns) / v->n_columns));
	if (h->timeline->grouped)
		fputs("A lane is of neighbouring CPUs of one class, added up. ", h->out);
	if (h->timeline->n_lanes && has_hierarchy(h))
		fputs("The line below a CPU's lane is coloured while it holds the migrator. ",
		      h->out);
}

static int put_overview(struct tmigr_html *h)
{
	int ret;

	fputs("<figure class=\"tlf\">\n", h->out);
	ret = put_figure(h, &h->timeline->overview, "Timeline of the whole window", "overview");
	fputs("<figcaption><b>The whole window.</b> ", h->out);
	put_how(h, &h->timeline->overview);
	if (h->timeline->zoom.n_columns)
		fputs("The frame is what the next picture shows.", h->out);
	if (!h->timeline->n_lanes)
		fputs("What the CPUs were in over time is in recordings only "
		      "(<code>tmigr run --record</code>).",
		      h->out);
	fputs("</figcaption></figure>\n", h->out);
	return ret;
}

static int put_zoom(struct tmigr_html *h)
{
	const struct tmigr_timeline *t = h->timeline;
	const struct tmigr_segment *s = &t->longest;
	const char *class_name = tmigr_rep_class(h->report, (__u64)s->cpu);
	char dur[TMIGR_FMT_MAX];
	int ret = 0;

	if (!s->end_ns)
		return 0;
	fputs(t->zoom.n_columns ? "<figure class=\"tlf\">\n" : "", h->out);
	if (t->zoom.n_columns)
		ret = put_figure(h, &t->zoom, "Timeline of the longest holding", "zoom");
	fprintf(h->out, "%s<b>The longest holding%s:</b> CPU %d (<span class=\"cn\">",
		t->zoom.n_columns ? "<figcaption>" : "<p>",
		t->longest_is_big ? " by a big CPU" : "", s->cpu);
	tmigr_html_text(h->out, class_name);
	fprintf(h->out,
		"</span>) held it for <b data-k=\"longest_ns\" data-v=\"%llu\">%s</b>, from %.6f s "
		"to "
		"%.6f s. ",
		(unsigned long long)(s->end_ns - s->start_ns),
		tmigr_fmt_dur(dur, s->end_ns - s->start_ns),
		(double)(s->start_ns - start_of(h)) / 1e9, (double)(s->end_ns - start_of(h)) / 1e9);
	if (t->zoom.n_columns)
		put_how(h, &t->zoom);
	else
		fputs("That is nearly the whole window, as drawn above.", h->out);
	fputs(t->zoom.n_columns ? "</figcaption></figure>\n" : "</p>\n", h->out);
	return ret;
}

int tmigr_html_timeline(struct tmigr_html *h)
{
	int ret = 0;

	tmigr_html_heading(h, "timeline", "Timeline");
	if (h->timeline && h->timeline->overview.n_columns) {
		put_legends(h);
		ret = put_overview(h);
		if (ret == 0)
			ret = put_zoom(h);
	} else {
		fputs("<p>There is none: ", h->out);
		tmigr_html_text(h->out,
				h->timeline_note ? h->timeline_note : "the window has no length");
		fputs(".</p>\n", h->out);
	}
	put_mark_list(h);
	return ret;
}
