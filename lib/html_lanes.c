// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lanes of the timeline as step areas: each colour is one path, drawn from the top of
 * the stack to its bottom, each over the last.  Heights are counted in half pixels; what
 * occurs in a column at all shows, at least half a pixel high (a holder: one pixel).
 */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>

struct lane {
	FILE *out;
	size_t n_columns, n_layers;
	unsigned int units;	 /* full height, in half pixels */
	unsigned int least;	 /* of what is not zero */
	unsigned int bottom;	 /* in half pixels from the top of the picture */
	unsigned short *heights; /* [layer][column], after stacking: cumulative */
};

/* Height of each of @n shares of a column, from the bottom, of @whole. */
static void apportion(const struct lane *l, const __u64 *ns, size_t stride, __u64 whole,
		      unsigned short *ret)
{
	unsigned int sum = 0, full;
	unsigned __int128 all = 0;
	size_t largest = 0;

	for (size_t k = 0; k < l->n_layers; k++) {
		__u64 v = ns[k * stride];
		unsigned int u =
			(unsigned int)(((unsigned __int128)v * l->units + whole / 2) / whole);

		if (v && u < l->least)
			u = l->least;
		ret[k * l->n_columns] = (unsigned short)u;
		sum += u;
		all += v;
		if (v > ns[largest * stride])
			largest = k;
	}
	/* Rounding and small shares go to, or come from, the largest. */
	full = (unsigned int)((all * l->units + whole / 2) / whole);
	if (ret[largest * l->n_columns] + full >= sum)
		ret[largest * l->n_columns] =
			(unsigned short)(ret[largest * l->n_columns] + full - sum);
	for (size_t k = 1; k < l->n_layers; k++)
		ret[k * l->n_columns] =
			(unsigned short)(ret[k * l->n_columns] + ret[(k - 1) * l->n_columns]);
}

static void put_half(FILE *out, char op, int half)
{
	fprintf(out, half % 2 ? "%c%s%d.5" : "%c%s%d", op, half < 0 ? "-" : "", abs(half) / 2);
}

static void put_path(const struct lane *l, const unsigned short *heights, const char *css)
{
	unsigned int at = 0;
	size_t from = 0;

	fprintf(l->out, "<path class=\"%s\" d=\"M0 ", css);
	fprintf(l->out, l->bottom % 2 ? "%u.5" : "%u", l->bottom / 2);
	for (size_t i = 0; i <= l->n_columns; i++) {
		unsigned int height = i < l->n_columns ? heights[i] : at;

		if (i < l->n_columns && height == at)
			continue;
		if (i > from)
			fprintf(l->out, "h%zu", i - from);
		from = i;
		if (height != at)
			put_half(l->out, 'v', (int)at - (int)height);
		at = height;
	}
	put_half(l->out, 'V', (int)l->bottom);
	fputs("z\"/>\n", l->out);
}

/* Does layer @k show anywhere? */
static bool is_there(const struct lane *l, size_t k)
{
	const unsigned short *h = l->heights + k * l->n_columns;

	for (size_t i = 0; i < l->n_columns; i++)
		if (h[i] > (k ? h[i - l->n_columns] : 0))
			return true;
	return false;
}

static void put_layers(const struct lane *l, char css[][TMIGR_CSS_MAX])
{
	for (size_t k = l->n_layers; k-- > 0;)
		if (is_there(l, k))
			put_path(l, l->heights + k * l->n_columns, css[k]);
}

static int lane_new(struct lane *l, const struct tmigr_html *h, const struct tmigr_view *v,
		    size_t n_layers, unsigned int y, unsigned int half_height)
{
	*l = (struct lane){.out = h->out,
			   .n_columns = v->n_columns,
			   .n_layers = n_layers,
			   .units = half_height,
			   .least = 1,
			   .bottom = 2 * y + half_height};
	l->heights = calloc(n_layers * v->n_columns + 1, sizeof(*l->heights));
	return l->heights ? 0 : -ENOMEM;
}

static __u64 column_len(const struct tmigr_view *v, size_t i)
{
	return tmigr_view_column_ns(v, i + 1) - tmigr_view_column_ns(v, i);
}

/* ---- a root ---- */

/* From the bottom: the highest class to the lowest, hand-over, duty, free, unknown. */
int tmigr_html_root_lane(struct tmigr_html *h, const struct tmigr_view *v, size_t root,
			 unsigned int y, unsigned int height)
{
	static const char *const rest[] = {"rh", "rd", "rf", "ru"};
	const struct tmigr_timeline *t = h->timeline;
	struct lane l;
	char(*css)[TMIGR_CSS_MAX] = calloc(t->n_parts + 1, sizeof(*css));
	__u64 *ordered = calloc(t->n_parts + 1, sizeof(*ordered));
	int ret = lane_new(&l, h, v, t->n_parts, y, 2 * height);

	l.least = 2;
	if (ret < 0 || !ordered || !css) {
		free(css);
		free(ordered);
		free(l.heights);
		return -ENOMEM;
	}
	for (size_t k = 0; k < t->n_parts; k++)
		snprintf(css[k], TMIGR_CSS_MAX, "%s",
			 k < t->n_classes
				 ? tmigr_html_class_css(h->report, (int)(t->n_classes - 1 - k))
				 : rest[k - t->n_classes]);
	for (size_t i = 0; i < v->n_columns; i++) {
		const __u64 *parts = v->root_ns + (root * v->n_columns + i) * t->n_parts;

		for (size_t k = 0; k < t->n_parts; k++)
			ordered[k] = parts[k < t->n_classes ? t->n_classes - 1 - k : k];
		apportion(&l, ordered, 1, column_len(v, i), l.heights + i);
	}
	put_layers(&l, css);
	fprintf(h->out, "<rect class=\"frame\" y=\"%u\" width=\"%zu\" height=\"%u\"/>\n", y,
		v->n_columns, height);
	free(css);
	free(ordered);
	free(l.heights);
	return 0;
}

/* ---- CPUs ---- */

struct tmigr_html_rows tmigr_html_rows(const struct tmigr_timeline *t)
{
	if (t->n_lanes <= 10)
		return (struct tmigr_html_rows){52, 20, 4, 30};
	if (t->n_lanes <= 24)
		return (struct tmigr_html_rows){52, 14, 3, 21};
	if (t->n_lanes <= 72)
		return (struct tmigr_html_rows){52, 10, 2, 14};
	return (struct tmigr_html_rows){52, 3, 1, 4};
}

/* Name of slot @slot on the lane's first CPU. */
static const char *slot_name(const struct tmigr_html *h, const struct tmigr_lane *lane, int slot)
{
	const json_t *states, *s;
	size_t i;

	states = json_object_get(tmigr_rep_cpu(h->report, lane->first), "states");
	json_array_foreach (states, i, s)
		if ((int)tmigr_rep_u64(s, "index") == slot - TMIGR_SLOT_STATE0)
			return tmigr_rep_str(s, "name");
	return "";
}

static int put_slots(struct tmigr_html *h, const struct tmigr_view *v, size_t idx, unsigned int y,
		     unsigned int height)
{
	const struct tmigr_lane *lane = &h->timeline->lanes[idx];
	char css[TMIGR_SLOTS][TMIGR_CSS_MAX];
	struct lane l;
	int ret = lane_new(&l, h, v, TMIGR_SLOTS, y, 2 * height);

	for (int k = 0; k < TMIGR_SLOTS && ret == 0; k++)
		if (k == TMIGR_SLOT_RUNNING || k == TMIGR_SLOT_UNKNOWN || k == TMIGR_SLOT_OFFLINE)
			snprintf(css[k], TMIGR_CSS_MAX, "%s",
				 k == TMIGR_SLOT_RUNNING   ? "run"
				 : k == TMIGR_SLOT_UNKNOWN ? "ru"
							   : "off");
		else
			tmigr_html_state_css(h, slot_name(h, lane, k), css[k]);
	for (size_t i = 0; i < v->n_columns && ret == 0; i++)
		apportion(&l, v->slot_ns[idx * v->n_columns + i], 1,
			  column_len(v, i) * lane->n_cpus, l.heights + i);
	if (ret == 0)
		put_layers(&l, css);
	free(l.heights);
	return ret;
}

/* Below the states: whether the CPU held a migrator. */
static int put_held(struct tmigr_html *h, const struct tmigr_view *v, size_t idx, unsigned int y,
		    unsigned int height)
{
	const struct tmigr_lane *lane = &h->timeline->lanes[idx];
	char css[1][TMIGR_CSS_MAX];
	struct lane l;
	int ret = lane_new(&l, h, v, 1, y, 2 * height);

	snprintf(css[0], TMIGR_CSS_MAX, "%s", tmigr_html_class_css(h->report, lane->class_idx));
	for (size_t i = 0; i < v->n_columns && ret == 0; i++) {
		__u64 ns = v->held_ns[idx * v->n_columns + i], len = column_len(v, i);
		__u64 u = (__u64)(((unsigned __int128)ns * l.units + len / 2) / len);

		l.heights[i] = (unsigned short)(u > l.units ? l.units : ns && !u ? 1 : u);
	}
	if (ret == 0)
		put_layers(&l, css);
	free(l.heights);
	return ret;
}

int tmigr_html_cpu_lane(struct tmigr_html *h, const struct tmigr_view *v, size_t lane,
			unsigned int y)
{
	struct tmigr_html_rows r = tmigr_html_rows(h->timeline);
	int ret;

	if (r.pitch > 4)
		fprintf(h->out, "<rect class=\"back\" y=\"%u\" width=\"%zu\" height=\"%u\"/>",
			y + r.lane + 1, v->n_columns, r.held);
	ret = put_slots(h, v, lane, y, r.lane);
	return ret < 0 ? ret : put_held(h, v, lane, y + r.lane + (r.pitch > 4 ? 1 : 0), r.held);
}
