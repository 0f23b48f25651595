// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The digest of a recording for a picture: the time of each column, by who held
 * and by what the CPUs were in.  Two readings: the whole window, in which the
 * longest holding is found; then that holding from near.
 */
#include "timeline_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_fmt.h"
#include "report_parts.h"
#include "report_text.h"
#include "tmigr/replay.h"

#define COLUMNS	    960
#define CELLS	    131072
#define MIN_COLUMNS 200

/* One reading. */
struct pass {
	struct tmigr_timeline *t;
	struct tmigr_view *view;
	const json_t *report;
	struct tmigr_segment best_big, best_any;
};

__u64 tmigr_view_column_ns(const struct tmigr_view *v, size_t column)
{
	unsigned __int128 len = v->to_ns - v->from_ns;

	return v->from_ns + (__u64)(len * column / v->n_columns);
}

/* The column of @t_ns, or, where that starts just there, the one before it. */
static size_t column_at(const struct tmigr_view *v, __u64 t_ns)
{
	unsigned __int128 n = v->n_columns;

	return (size_t)((t_ns - v->from_ns) * n / (v->to_ns - v->from_ns));
}

/* Adds [@from, @to) to *@first, and to what lies @stride further a column. */
static void add(const struct tmigr_view *v, __u64 *first, size_t stride, __u64 from, __u64 to)
{
	if (from < v->from_ns)
		from = v->from_ns;
	if (to > v->to_ns)
		to = v->to_ns;
	if (from >= to)
		return;
	for (size_t i = column_at(v, from); from < to; i++) {
		__u64 next = tmigr_view_column_ns(v, i + 1), end = next < to ? next : to;

		first[i * stride] += end - from;
		from = end;
	}
}

static int lane_of(const struct tmigr_timeline *t, int cpu)
{
	return cpu >= 0 && (size_t)cpu < t->n_numbers ? t->lane_of[cpu] : -1;
}

static int class_of(const json_t *report, int cpu)
{
	return tmigr_rep_class_index(report, tmigr_rep_class(report, (__u64)cpu));
}

static void longer(struct tmigr_segment *best, const struct tmigr_segment *s)
{
	if (s->end_ns - s->start_ns > best->end_ns - best->start_ns)
		*best = *s;
}

static void on_segment(void *arg, const struct tmigr_segment *s)
{
	struct pass *p = arg;
	struct tmigr_timeline *t = p->t;
	struct tmigr_view *v = p->view;
	int part = (int)t->n_classes + (int)s->regime - 1, lane;

	if (s->root >= t->n_roots)
		return;
	if (s->regime == TMIGR_HELD) {
		part = class_of(p->report, s->cpu);
		if (part < 0)
			return;
		longer(&p->best_any, s);
		if (tmigr_rep_is_big(json_object_get(p->report, "classes"),
				     tmigr_rep_class(p->report, (__u64)s->cpu)))
			longer(&p->best_big, s);
		lane = lane_of(t, s->cpu);
		if (lane >= 0 && v->held_ns)
			add(v, v->held_ns + (size_t)lane * v->n_columns, 1, s->start_ns, s->end_ns);
	}
	add(v, v->root_ns + (size_t)s->root * v->n_columns * t->n_parts + part, t->n_parts,
	    s->start_ns, s->end_ns);
}

static void on_span(void *arg, const struct tmigr_cpu_span *s)
{
	struct pass *p = arg;
	struct tmigr_view *v = p->view;
	int lane = lane_of(p->t, (int)s->cpu);

	if (lane >= 0)
		add(v, &v->slot_ns[(size_t)lane * v->n_columns][s->slot], TMIGR_SLOTS, s->start_ns,
		    s->end_ns);
}

static int view_new(const struct tmigr_timeline *t, struct tmigr_view *v, __u64 from, __u64 to,
		    size_t columns)
{
	*v = (struct tmigr_view){.from_ns = from, .to_ns = to, .n_columns = columns};
	if (to - from < columns)
		v->n_columns = to - from;
	v->root_ns = calloc(t->n_roots * t->n_parts * v->n_columns + 1, sizeof(*v->root_ns));
	if (!v->root_ns)
		return -ENOMEM;
	if (!t->n_lanes)
		return 0;
	v->slot_ns = calloc(t->n_lanes * v->n_columns + 1, sizeof(*v->slot_ns));
	v->held_ns = calloc(t->n_lanes * v->n_columns + 1, sizeof(*v->held_ns));
	return v->slot_ns && v->held_ns ? 0 : -ENOMEM;
}

static void view_free(struct tmigr_view *v)
{
	free(v->root_ns);
	free(v->slot_ns);
	free(v->held_ns);
}

static bool is_csv(const char *path)
{
	static const char name[] = "migrator-segments.csv";
	size_t n = strlen(path), len = sizeof(name) - 1;

	return n >= len && !strcmp(path + n - len, name) && (n == len || path[n - len - 1] == '/');
}

static int read_pass(const char *path, struct pass *p, struct tmigr_err *err)
{
	const struct tmigr_replay_opts opts = {
		.segment = on_segment, .cpu_span = on_span, .arg = p};
	json_t *again = NULL;
	int ret;

	if (is_csv(path))
		return tmigr_segments_read(path, p->report, on_segment, p, err);
	ret = tmigr_replay(path, &again, &opts, err);
	json_decref(again);
	return ret;
}

/* The stretch around the longest holding; *@ret_from = *@ret_to where it is not
 * worth a picture of its own. */
static void zoom_range(const struct tmigr_timeline *t, __u64 *ret_from, __u64 *ret_to)
{
	const struct tmigr_view *o = &t->overview;
	__u64 pad = (t->longest.end_ns - t->longest.start_ns) / 4 + 1;
	__u64 from = t->longest.start_ns, to = t->longest.end_ns;

	from = from - o->from_ns > pad ? from - pad : o->from_ns;
	to = o->to_ns - to > pad ? to + pad : o->to_ns;
	if ((to - from) > (o->to_ns - o->from_ns) / 10 * 9)
		from = to;
	*ret_from = from;
	*ret_to = to;
}

static int read_zoom(const char *path, struct pass *p, size_t columns, struct tmigr_err *err)
{
	struct tmigr_timeline *t = p->t;
	__u64 from, to;
	int ret;

	t->longest_is_big =
		p->best_big.end_ns > 0 && tmigr_rep_any_big(json_object_get(p->report, "classes"));
	t->longest = t->longest_is_big ? p->best_big : p->best_any;
	if (!t->longest.end_ns)
		return 0;
	zoom_range(t, &from, &to);
	if (from == to)
		return 0;
	p->view = &t->zoom;
	ret = view_new(t, p->view, from, to, columns);
	return ret < 0 ? tmigr_fail(err, ret, "%s: no memory", path) : read_pass(path, p, err);
}

static int timeline_read(const char *path, struct pass *p, const struct tmigr_timeline_size *size,
			 struct tmigr_err *err)
{
	size_t columns = size && size->columns ? size->columns : COLUMNS;
	size_t cells = size && size->cells ? size->cells : CELLS;
	size_t min = size && size->min_columns ? size->min_columns : MIN_COLUMNS;
	struct tmigr_timeline *t = p->t;
	__u64 start = tmigr_rep_u64(p->report, "start_ns");
	__u64 window = tmigr_rep_u64(p->report, "window_ns");
	int ret = is_csv(path) ? 0 : tmigr_lanes_build(t, p->report, cells > min ? cells / min : 1);

	if (ret == 0 && t->n_lanes && columns > cells / t->n_lanes)
		columns = cells / t->n_lanes;
	if (ret == 0)
		ret = view_new(t, &t->overview, start, start + window, columns);
	if (ret < 0)
		return tmigr_fail(err, ret, "%s: no memory", path);
	if (!window)
		return 0;
	p->view = &t->overview;
	ret = read_pass(path, p, err);
	return ret < 0 ? ret : read_zoom(path, p, columns, err);
}

int tmigr_timeline_read(const char *path, const json_t *report,
			const struct tmigr_timeline_size *size, struct tmigr_timeline **ret,
			struct tmigr_err *err)
{
	struct tmigr_timeline *t = calloc(1, sizeof(*t));
	struct pass p = {.t = t, .report = report};
	int r;

	if (!t)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	t->n_roots = json_array_size(json_object_get(report, "roots"));
	t->n_classes = json_array_size(json_object_get(report, "classes"));
	t->n_parts = t->n_classes + TMIGR_REGIMES - 1;
	r = timeline_read(path, &p, size, err);
	if (r < 0) {
		tmigr_timeline_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

void tmigr_timeline_free(struct tmigr_timeline *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_lanes; i++)
		free(t->lanes[i].cpus);
	free(t->lanes);
	free(t->lane_of);
	view_free(&t->overview);
	view_free(&t->zoom);
	free(t);
}
