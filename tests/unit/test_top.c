// SPDX-License-Identifier: GPL-2.0-or-later
/* The view of tmigr top: sums, columns, bars, order, what fits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lib/top_priv.h"
#include "report_machine.h"
#include "tmigr/tree.h"

/* ---- samples ---- */

static struct tmigr_top *top_new(void)
{
	struct tmigr_top *top;

	assert_int_equal(tmigr_top_new(&top), 0);
	return top;
}

static json_t *report_of(struct machine *m)
{
	json_t *info = machine_info(), *report = machine_report(m, true, info);

	json_decref(info);
	assert_non_null(report);
	return report;
}

static json_t *tree_of(struct machine *m)
{
	json_t *tree = tmigr_tree_json(&(struct tmigr_tree){
		.topo = &m->topo,
		.h = &m->model.h,
		.now_ns = 1010 * SEC,
	});

	assert_non_null(tree);
	return tree;
}

/* Adds @m's figures and frees it. */
static void add(struct tmigr_top *top, struct machine *m, bool with_tree)
{
	json_t *report = report_of(m), *tree = with_tree ? tree_of(m) : NULL;
	struct tmigr_err err = {""};

	if (tmigr_top_add(top, report, tree, &err))
		fail_msg("%s", err.text);
	json_decref(report);
	json_decref(tree);
	machine_free(m);
}

/* 256 CPUs: classes of 96, 96 and 64, four idle states, 32 groups below 4 below
 * 1; CPU 200 holds the global migrator for a quarter of the time. */
static struct machine *machine_256(void)
{
	static const char *const names[] = {"POLL", "C1", "C1E", "C6"};
	struct machine *m = machine_new(256);
	struct tmigr_hierarchy *h = &m->model.h;

	set_class(m, 0, "LITTLE", 300, 0, 96);
	set_class(m, 1, "mid", 700, 96, 192);
	set_class(m, 2, "big", 1024, 192, 256);
	h->n_groups = 37;
	for (size_t g = 0; g < h->n_groups; g++) {
		struct tmigr_group_view *v = &h->groups[g];
		unsigned int level = g == 0 ? 2 : g < 5 ? 1 : 0;
		unsigned int number = (unsigned int)(level == 2 ? 0 : level == 1 ? g - 1 : g - 5);

		snprintf(v->name, sizeof(v->name), "GRP%u:%u", level % 8, number % 64);
		v->level = level;
		v->parent = level == 2 ? -1 : level == 1 ? 0 : (int)(1 + number / 8);
		v->mask = (__u8)(1u << (number % 8));
		v->known = true;
		v->word = 0x0101;
		v->n_cpus = level == 2 ? 256 : level == 1 ? 64 : 8;
	}
	for (size_t i = 0; i < 256; i++) {
		for (unsigned int k = 0; k < 4; k++) {
			set_state(&m->topo.cpus[i], k, names[k]);
			set_idle(m, i, k, (__u64)((i * 13 + k * 7) % 10) * 250 * MS, 3);
		}
		h->cpus[i].group = (int)(5 + i / 8);
		h->cpus[i].available = true;
		h->cpus[i].active = 1;
		h->cpus[i].slot = TMIGR_SLOT_RUNNING + (unsigned int)(i % 5);
	}
	h->n_roots = 1;
	h->roots = zalloc(1, sizeof(*h->roots));
	h->roots[0] = (struct tmigr_root_view){.group = 0, .regime = TMIGR_HELD, .cpu = 200};
	add_holder(m, 0, 200, 2500 * MS)->holdings = 25;
	add_holder(m, 0, 201, 1 * SEC);
	return m;
}

static void add_256(struct tmigr_top *top)
{
	struct machine *m = machine_256();
	struct tmigr_root_view *roots = m->model.h.roots;

	add(top, m, true);
	free(roots);
}

/* ---- frames ---- */

static struct tmigr_top_frame *frame_of(struct tmigr_top *top, struct tmigr_top_opts o)
{
	struct tmigr_top_frame *frame;

	assert_int_equal(tmigr_top_frame(top, &o, &frame), 0);
	return frame;
}

static char *text_of(const struct tmigr_top_frame *frame)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(tmigr_top_text(frame, out), 0);
	fclose(out);
	return text;
}

static void assert_text(struct tmigr_top *top, struct tmigr_top_opts o, const char *has,
			const char *has_not)
{
	struct tmigr_top_frame *frame = frame_of(top, o);
	char *text = text_of(frame);

	if (has && !strstr(text, has))
		fail_msg("'%s' is not in:\n%s", has, text);
	if (has_not && strstr(text, has_not))
		fail_msg("'%s' is in:\n%s", has_not, text);
	free(text);
	tmigr_top_frame_free(frame);
}

static size_t row_columns(const struct tmigr_top_row *row)
{
	size_t n = 0;

	for (size_t i = 0; i < row->n; i++)
		n += top_columns(row->cells[i].text);
	return n;
}

/* The CPU that a row is about, or -1. */
static int row_cpu(const struct tmigr_top_row *row)
{
	char *end;
	long cpu;

	if (!row->n || row->cells[0].attr != TMIGR_TOP_BOLD)
		return -1;
	cpu = strtol(row->cells[0].text, &end, 10);
	return *end || end == row->cells[0].text ? -1 : (int)cpu;
}

/* The CPUs of a frame in their order; returns how many. */
static size_t frame_cpus(const struct tmigr_top_frame *frame, int *cpus, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < frame->n; i++)
		if (row_cpu(&frame->rows[i]) >= 0 && n < max)
			cpus[n++] = row_cpu(&frame->rows[i]);
	return n;
}

/* ---- sums ---- */

static const char *const regimes[] = {"held_ns", "handover_ns", "duty_ns", "free_ns", "unknown_ns"};

/* Law 2 over all samples; and the classes' and the holders' sums are what was held. */
static void assert_law(const json_t *sum)
{
	const json_t *root, *part;
	size_t i, k;

	json_array_foreach (json_object_get(sum, "roots"), i, root) {
		__u64 total = 0, classes = 0, holders = 0;

		for (k = 0; k < 5; k++)
			total += tmigr_rep_u64(root, regimes[k]);
		json_array_foreach (json_object_get(root, "classes"), k, part)
			classes += tmigr_rep_u64(part, "held_ns");
		json_array_foreach (json_object_get(root, "holders"), k, part)
			holders += tmigr_rep_u64(part, "held_ns");
		assert_int_equal(total, tmigr_rep_u64(sum, "window_ns"));
		assert_int_equal(classes, tmigr_rep_u64(root, "held_ns"));
		assert_int_equal(holders, tmigr_rep_u64(root, "held_ns"));
	}
}

static __u64 root_u64(const struct tmigr_top *top, size_t root, const char *key)
{
	return tmigr_rep_u64(json_array_get(json_object_get(top->sum, "roots"), root), key);
}

static struct machine *machine_idle(void)
{
	struct machine *m = machine_4_4();

	/* The same machine, but nobody holds anything; and nothing is lost. */
	free(m->model.res.roots[0].holders);
	memset(&m->model.res.roots[0], 0, sizeof(m->model.res.roots[0]));
	m->model.res.roots[0].regime_ns[TMIGR_FREE] = 10 * SEC;
	m->model.res.lost_updates = 0;
	m->totals.cpus[2].lost = 0;
	add_holder(m, 0, 2, 2 * SEC);
	return m;
}

static void sums_are_exact(void **state)
{
	struct tmigr_top *top = top_new();
	struct machine *m = machine_4_4();
	const json_t *answer, *lost;

	(void)state;
	m->totals.remote_lost = 3;
	add(top, machine_4_4(), false);
	assert_law(top->sum);
	add(top, machine_idle(), false);
	add(top, m, false);
	assert_law(top->sum);
	assert_int_equal(tmigr_rep_u64(top->sum, "window_ns"), 30 * SEC);
	assert_int_equal(tmigr_rep_u64(top->sum, "samples"), 3);
	assert_int_equal(root_u64(top, 0, "held_ns"), 2 * (8 * SEC + 1) + 2 * SEC);
	assert_int_equal(root_u64(top, 0, "unknown_ns"), 2 * 98999999);
	answer = json_object_get(top->sum, "answer");
	assert_true(json_is_true(json_object_get(answer, "big_holds")));
	assert_true(json_real_value(json_object_get(answer, "big_share")) ==
		    (double)(6 * SEC + 2) / (double)(30 * SEC));
	lost = json_object_get(top->sum, "lost");
	assert_int_equal(tmigr_rep_u64(lost, "records"), 6);
	assert_int_equal(tmigr_rep_u64(lost, "group_updates"), 4);
	assert_int_equal(tmigr_rep_u64(lost, "remote_expiries"), 3);
	assert_text(top, (struct tmigr_top_opts){.width = 100},
		    "Lost: 6 records, 4 updates, 3 remote expiries", NULL);
	tmigr_top_free(top);
}

/* A YES of an earlier window stays, though the last one says no. */
static void answer_is_of_all_windows(void **state)
{
	const struct tmigr_top_opts o = {.width = 100};
	struct tmigr_top *top = top_new();

	(void)state;
	add(top, machine_idle(), false);
	assert_text(top, o, "So far: NO, no big CPU", "so far, window");
	add(top, machine_4_4(), false);
	assert_text(top, o, "So far: YES, a big CPU held the global migrator for 3.000 s, 15.0 %",
		    NULL);
	add(top, machine_idle(), false);
	assert_text(top, o, "So far: YES, a big CPU held the global migrator for 3.000 s, 10.0 %",
		    NULL);
	assert_text(top, o, "Big share: 10.0 % so far, 0 % in the last window", NULL);
	assert_text(top, o, "30.000 s so far, window 10.000 s", NULL);
	assert_text(top, o, "Lost: 3 records, 2 updates", NULL);
	tmigr_top_free(top);
}

/* Two roots of 4 CPUs each; or one above both. */
static struct machine *machine_roots(bool joined)
{
	struct machine *m = machine_new(8);
	struct tmigr_hierarchy *h = &m->model.h;
	struct tmigr_result *r = &m->model.res;

	set_class(m, 0, "LITTLE", 442, 0, 4);
	set_class(m, 1, "big", 1024, 4, 8);
	h->n_groups = joined ? 3 : 2;
	for (size_t i = 0; i < 2; i++)
		h->groups[h->n_groups - 2 + i] = (struct tmigr_group_view){
			.parent = joined ? 0 : -1, .mask = (__u8)(1 << i), .node = -1};
	strcpy(h->groups[h->n_groups - 2].name, "GRP0:0");
	strcpy(h->groups[h->n_groups - 1].name, "GRP0:1");
	if (joined) {
		h->groups[0] = (struct tmigr_group_view){.parent = -1, .level = 1, .node = -1};
		strcpy(h->groups[0].name, "GRP1:0");
	}
	for (size_t i = 0; i < 8; i++)
		h->cpus[i].group = (int)(h->n_groups - 2 + i / 4);
	r->n_roots = joined ? 1 : 2;
	for (size_t i = 0; i < r->n_roots; i++) {
		r->roots[i].group = (unsigned int)i;
		r->roots[i].regime_ns[TMIGR_FREE] = 10 * SEC;
	}
	add_holder(m, 0, 1, 3 * SEC);
	if (!joined)
		add_holder(m, 1, 5, 1 * SEC);
	return m;
}

static void roots_come_and_go(void **state)
{
	struct tmigr_top *top = top_new();

	(void)state;
	add(top, machine_roots(false), false);
	assert_int_equal(json_array_size(json_object_get(top->sum, "roots")), 2);
	assert_law(top->sum);
	/* A level is added above both: the first one's figures go on. */
	add(top, machine_roots(true), false);
	assert_int_equal(json_array_size(json_object_get(top->sum, "roots")), 1);
	assert_law(top->sum);
	assert_int_equal(root_u64(top, 0, "held_ns"), 6 * SEC);
	/* Of the one that comes back, the time before is not known. */
	add(top, machine_roots(false), false);
	assert_int_equal(json_array_size(json_object_get(top->sum, "roots")), 2);
	assert_law(top->sum);
	assert_int_equal(root_u64(top, 0, "held_ns"), 9 * SEC);
	assert_int_equal(root_u64(top, 1, "unknown_ns"), 20 * SEC);
	tmigr_top_free(top);
}

static void unseen_roots_are_unknown(void **state)
{
	struct tmigr_top *top = top_new();
	struct machine *none = machine_new(8);

	(void)state;
	none->model.res.n_roots = 0;
	none->model.h.n_groups = 0;
	set_class(none, 0, "LITTLE", 442, 0, 4);
	set_class(none, 1, "big", 1024, 4, 8);
	for (size_t i = 0; i < 8; i++)
		none->model.h.cpus[i].group = -1;
	add(top, machine_roots(false), false);
	add(top, none, false);
	assert_law(top->sum);
	assert_int_equal(root_u64(top, 0, "unknown_ns"), 10 * SEC);
	assert_int_equal(root_u64(top, 1, "unknown_ns"), 10 * SEC);
	tmigr_top_free(top);
}

static void hold_keeps_the_view(void **state)
{
	const struct tmigr_top_opts o = {.width = 100};
	struct tmigr_top *top = top_new();

	(void)state;
	tmigr_top_hold(top, true);
	add(top, machine_idle(), true); /* the first one is better than nothing */
	assert_text(top, o, "PAUSED", "so far, window");
	add(top, machine_4_4(), true);
	add(top, machine_4_4(), true);
	assert_text(top, o, "So far: NO", "YES");
	tmigr_top_hold(top, false);
	assert_text(top, o, "held the global migrator for 6.000 s, 20.0 %", "PAUSED");
	add(top, machine_4_4(), true);
	assert_text(top, o, "held the global migrator for 9.000 s, 22.5 %", NULL);
	tmigr_top_free(top);
}

static void refuses_what_is_no_sample(void **state)
{
	struct tmigr_top *top = top_new();
	struct machine *m = machine_4_4();
	json_t *report = report_of(m), *tree = tree_of(m), *bad = json_deep_copy(report);
	struct tmigr_err err = {""};

	(void)state;
	assert_int_equal(tmigr_top_add(top, tree, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not a report"));
	assert_int_equal(tmigr_top_add(top, report, report, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not a tree"));
	json_object_set_new(tree, "version", json_integer(2));
	assert_int_equal(tmigr_top_add(top, report, tree, &err), -EINVAL);
	json_object_set_new(tree, "version", json_integer(1));
	json_object_del(tree, "groups");
	assert_int_equal(tmigr_top_add(top, report, tree, &err), -EINVAL);
	json_object_set_new(json_array_get(json_object_get(bad, "roots"), 0), "held_ns",
			    json_string("much"));
	assert_int_equal(tmigr_top_add(top, bad, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "roots[0].held_ns"));
	assert_null(top->report);
	assert_null(top->sum);
	assert_text(top, (struct tmigr_top_opts){.width = 80}, "waiting for the first window",
		    NULL);
	json_decref(bad);
	json_decref(report);
	json_decref(tree);
	machine_free(m);
	tmigr_top_free(top);
}

/* ---- frames ---- */

static void check_fits(const struct tmigr_top_frame *frame, const struct tmigr_top_opts *o)
{
	if (o->height && frame->n > o->height)
		fail_msg("%zu rows in %zux%zu", frame->n, o->width, o->height);
	for (size_t i = 0; i < frame->n; i++) {
		const struct tmigr_top_row *row = &frame->rows[i];

		if (row_columns(row) > o->width)
			fail_msg("row %zu has %zu columns in %zux%zu", i, row_columns(row),
				 o->width, o->height);
		for (size_t k = 0; k < row->n; k++)
			for (const char *c = row->cells[k].text; *c; c++)
				if ((!o->utf8 && (unsigned char)*c >= 0x80) ||
				    (unsigned char)*c < 0x20)
					fail_msg("row %zu: '%s'", i, row->cells[k].text);
	}
}

static void every_size_fits(void **state)
{
	static const size_t heights[] = {1, 2, 7, 8, 9, 10, 11, 12, 15, 24, 50, 400};
	struct tmigr_top *tops[] = {top_new(), top_new(), top_new(), top_new()};

	(void)state;
	add_256(tops[0]);
	add(tops[1], machine_4_4(), true);
	add(tops[2], machine_roots(false), false);
	for (size_t t = 0; t < 4; t++)
		for (size_t h = 0; h < sizeof(heights) / sizeof(heights[0]); h++)
			for (size_t width = 1; width < 140; width += width < 45 ? 1 : 13) {
				struct tmigr_top_opts o = {.width = width, .height = heights[h]};
				struct tmigr_top_frame *frame;

				o.group = (enum tmigr_top_group)(width % TMIGR_TOP_GROUPS);
				o.sort = (enum tmigr_top_sort)((width + h) % TMIGR_TOP_SORTS);
				o.utf8 = (width + h) % 2;
				o.help = width % 5 == 4;
				o.scroll = width;
				frame = frame_of(tops[t], o);
				check_fits(frame, &o);
				tmigr_top_frame_free(frame);
			}
	for (size_t t = 0; t < 4; t++)
		tmigr_top_free(tops[t]);
}

/* Rows that are left for the list at the size that every terminal has. */
static void list_has_room_at_80x24(void **state)
{
	struct tmigr_top_opts o = {.width = 80, .height = 24};
	struct tmigr_top *top = top_new();
	struct tmigr_top_frame *frame;

	(void)state;
	add_256(top);
	frame = frame_of(top, o);
	assert_int_equal(frame->n, 24);
	assert_int_equal(frame->lines, 256);
	assert_true(frame->shown >= 12);
	tmigr_top_frame_free(frame);
	assert_text(top, o, "RUN% RESIDENCY, LAST WINDOW", NULL);
	assert_text(top, o, "HELD% HOLD/s  REM/s MIGR", NULL);
	assert_text(top, o, "Observer: ", NULL);
	assert_text(top, o, "Big share: 35.0 % so far", NULL);
	tmigr_top_free(top);
}

/* Page by page through the list shows every CPU once. */
static void pages_show_each_cpu_once(void **state)
{
	struct tmigr_top *top = top_new();

	(void)state;
	add_256(top);
	for (int group = 0; group < TMIGR_TOP_GROUPS; group++) {
		struct tmigr_top_opts o = {.width = 80, .height = 24};
		size_t seen[256] = {0}, done = 0, lines;

		o.group = (enum tmigr_top_group)group;
		do {
			struct tmigr_top_frame *frame;
			int cpus[64];
			size_t n, i, again;

			o.scroll = done;
			frame = frame_of(top, o);
			lines = frame->lines;
			/* The last page starts where it is full. */
			again = done - frame->first;
			assert_true(frame->first <= done);
			n = 0;
			for (i = 0; i < frame->n; i++)
				if (row_cpu(&frame->rows[i]) >= 0)
					cpus[n++] = row_cpu(&frame->rows[i]);
			for (i = 0; i < n; i++)
				seen[cpus[i]] += again == 0;
			if (again)
				for (i = 0; i < n; i++)
					seen[cpus[i]] = 1;
			done = frame->first + frame->shown;
			tmigr_top_frame_free(frame);
		} while (done < lines);
		assert_int_equal(done, lines);
		assert_int_equal(lines, 256 + (group == 0 ? 0 : group == 1 ? 3 : 37));
		for (size_t i = 0; i < 256; i++)
			if (seen[i] != 1)
				fail_msg("CPU %zu: %zu times", i, seen[i]);
	}
	tmigr_top_free(top);
}

static void scroll_stops_at_the_end(void **state)
{
	struct tmigr_top_opts o = {.width = 80, .height = 24, .scroll = 100000};
	struct tmigr_top *top = top_new();
	struct tmigr_top_frame *frame;
	int cpus[64];
	size_t n;

	(void)state;
	add_256(top);
	frame = frame_of(top, o);
	n = frame_cpus(frame, cpus, 64);
	assert_int_equal(n, frame->shown);
	assert_int_equal(cpus[n - 1], 255);
	assert_int_equal(frame->first, 256 - frame->shown);
	tmigr_top_frame_free(frame);
	tmigr_top_free(top);
}

/* ---- order ---- */

static void assert_order(struct tmigr_top *top, enum tmigr_top_sort sort,
			 enum tmigr_top_group group, const int *want)
{
	struct tmigr_top_frame *frame =
		frame_of(top, (struct tmigr_top_opts){.width = 80, .sort = sort, .group = group});
	int cpus[16];

	assert_int_equal(frame_cpus(frame, cpus, 16), 8);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(cpus[i], want[i]);
	tmigr_top_frame_free(frame);
}

static void sorts(void **state)
{
	/* Running: 1 s on the LITTLE ones, 250 ms less a few ns on the big ones.
	 * Held: CPU 0 4 s, CPU 1 1 s, CPU 4 3 s. */
	static const int cpu[] = {0, 1, 2, 3, 4, 5, 6, 7}, class[] = {4, 5, 6, 7, 0, 1, 2, 3};
	static const int hold[] = {0, 4, 1, 2, 3, 5, 6, 7}, in_class[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct tmigr_top *top = top_new();
	struct machine *m = machine_4_4();
	static const int busy[] = {6, 0, 1, 2, 3, 4, 5, 7};

	(void)state;
	/* CPU 6 gets the busiest. */
	m->totals.cpus[6].time_ns[TMIGR_SLOT_RUNNING] += m->totals.cpus[6].time_ns[2];
	m->totals.cpus[6].time_ns[2] = 0;
	add(top, m, true);
	assert_order(top, TMIGR_TOP_BY_CPU, TMIGR_TOP_FLAT, cpu);
	assert_order(top, TMIGR_TOP_BY_CLASS, TMIGR_TOP_FLAT, class);
	assert_order(top, TMIGR_TOP_BY_RESIDENCY, TMIGR_TOP_FLAT, busy);
	assert_order(top, TMIGR_TOP_BY_HOLDING, TMIGR_TOP_FLAT, hold);
	assert_order(top, TMIGR_TOP_BY_CLASS, TMIGR_TOP_PER_CLASS, in_class);
	tmigr_top_free(top);
}

static void headings_have_the_sums(void **state)
{
	const struct tmigr_top_opts class = {.width = 100, .group = TMIGR_TOP_PER_CLASS};
	const struct tmigr_top_opts tree = {.width = 100, .group = TMIGR_TOP_PER_GROUP};
	struct tmigr_top *top = top_new();

	(void)state;
	add(top, machine_4_4(), true);
	assert_text(top, class, "LITTLE, 4 CPUs", NULL);
	assert_text(top, class, "big, 4 CPUs", NULL);
	/* LITTLE: 50 %, 4 holdings and 6 remote expiries in 10 s; big: 30 %, 1, 15. */
	assert_text(top, class, " 50.0    0.4    0.6\n", NULL);
	assert_text(top, class, " 30.0    0.1    1.5\n", NULL);
	assert_text(top, tree, "GRP0:0, 8 CPUs", NULL);
	assert_text(top, tree, " 80.0    0.5    2.1\n", "unplaced");
	tmigr_top_free(top);
}

static void what_is_not_known_is_not_guessed(void **state)
{
	const struct tmigr_top_opts o = {.width = 100, .group = TMIGR_TOP_PER_GROUP};
	struct tmigr_top *top = top_new();
	struct machine *m = machine_4_4();

	(void)state;
	for (size_t i = 5; i < 8; i++)
		m->model.h.cpus[i].group = -1;
	add(top, m, false);
	assert_text(top, o, "unplaced, 3 CPUs", "GLOBAL");
	assert_text(top, o, " ? ", " now;");
	tmigr_top_free(top);
}

static void marks(void **state)
{
	struct tmigr_top_opts o = {.width = 80, .height = 24, .scroll = 195};
	struct tmigr_top *top = top_new();
	struct tmigr_top_frame *frame;

	(void)state;
	add_256(top);
	frame = frame_of(top, o);
	for (size_t i = 0; i < frame->n; i++) {
		const struct tmigr_top_row *row = &frame->rows[i];
		int cpu = row_cpu(row);
		const char *last = row->n ? row->cells[row->n - 1].text : "";

		/* Each group's word names its first CPU. */
		if (cpu >= 0)
			assert_string_equal(last, cpu == 200	 ? "GLOBAL"
						  : cpu % 8 == 0 ? "group "
								 : "      ");
	}
	tmigr_top_frame_free(frame);
	assert_text(top, o, "CPU 200 (big) now; so far", NULL);
	tmigr_top_free(top);
}

/* ---- bars ---- */

/* Columns of each slot in the bar of @cpu's row. */
static size_t bar_of(const struct tmigr_top_frame *frame, int cpu, size_t *slots)
{
	size_t width = 0;

	memset(slots, 0, TMIGR_SLOTS * sizeof(*slots));
	for (size_t i = 0; i < frame->n; i++) {
		const struct tmigr_top_row *row = &frame->rows[i];

		if (row_cpu(row) != cpu)
			continue;
		/* Behind CPU, class, state and RUN%, with the gaps between them. */
		for (size_t k = 8; k < row->n; k++) {
			enum tmigr_top_attr a = row->cells[k].attr;
			size_t slot = a == TMIGR_TOP_RUNNING   ? TMIGR_SLOT_RUNNING
				      : a == TMIGR_TOP_OFFLINE ? TMIGR_SLOT_OFFLINE
				      : a == TMIGR_TOP_UNKNOWN
					      ? TMIGR_SLOT_UNKNOWN
					      : (size_t)(TMIGR_SLOT_STATE0 + a - TMIGR_TOP_STATE0);

			if (slot < TMIGR_SLOTS && a >= TMIGR_TOP_UNKNOWN && a != TMIGR_TOP_WARN &&
			    a != TMIGR_TOP_GLOBAL && a != TMIGR_TOP_MIGRATOR) {
				slots[slot] += top_columns(row->cells[k].text);
				width += top_columns(row->cells[k].text);
			}
		}
	}
	return width;
}

/* Every column within one of the exact share, and all of them together the bar. */
static void bars_add_up(void **state)
{
	struct machine *m = machine_4_4();
	struct tmigr_top *top = top_new();
	struct tmigr_totals_cpu times[8];

	(void)state;
	m->totals.cpus[3].time_ns[TMIGR_SLOT_RUNNING] -= 500 * MS;
	m->totals.cpus[3].time_ns[TMIGR_SLOT_OFFLINE] += 300 * MS;
	m->totals.cpus[3].time_ns[TMIGR_SLOT_UNKNOWN] += 200 * MS;
	memcpy(times, m->totals.cpus, sizeof(times));
	add(top, m, true);
	for (size_t width = 60; width < 150; width += 7) {
		struct tmigr_top_frame *frame =
			frame_of(top, (struct tmigr_top_opts){.width = width, .utf8 = width % 2});
		size_t slots[TMIGR_SLOTS], bar = 0;

		for (int cpu = 0; cpu < 8; cpu++) {
			size_t n = bar_of(frame, cpu, slots);

			if (!cpu)
				bar = n;
			assert_true(n >= 10);
			assert_int_equal(n, bar);
			for (size_t i = 0; i < TMIGR_SLOTS; i++) {
				double exact = (double)times[cpu].time_ns[i] / 1e10 * (double)bar;

				if ((double)slots[i] - exact >= 1 || exact - (double)slots[i] >= 1)
					fail_msg("CPU %d slot %zu: %zu of %zu columns, not %f", cpu,
						 i, slots[i], bar, exact);
			}
		}
		tmigr_top_frame_free(frame);
	}
	tmigr_top_free(top);
}

static void ascii_and_utf8_bars(void **state)
{
	struct tmigr_top *top = top_new();

	(void)state;
	add(top, machine_4_4(), true);
	assert_text(top, (struct tmigr_top_opts){.width = 80}, "# running  0 WFI  1 cpu-sleep\n",
		    NULL);
	assert_text(top, (struct tmigr_top_opts){.width = 80}, "##0000", NULL);
	assert_text(top, (struct tmigr_top_opts){.width = 80, .utf8 = true},
		    "█ running  ▓ WFI  ▒ cpu-sleep\n", "#");
	assert_text(top, (struct tmigr_top_opts){.width = 80, .utf8 = true}, "██▓▓▓▓", NULL);
	tmigr_top_free(top);
}

/* ---- names ---- */

static void odd_names_keep_the_columns(void **state)
{
	struct machine *m = machine_4_4();
	struct tmigr_top *top = top_new();
	struct tmigr_top_frame *frame;
	size_t first = 0;

	(void)state;
	strcpy(m->topo.classes[0].name, "größe");
	strcpy(m->topo.classes[1].name, "大\x1b[31m\xcc\x81z");
	strcpy(m->topo.cpus[0].states[0].name, "a/b");
	add(top, m, true);
	for (int utf8 = 0; utf8 < 2; utf8++) {
		struct tmigr_top_opts o = {.width = 80, .utf8 = utf8};

		frame = frame_of(top, o);
		check_fits(frame, &o);
		for (size_t i = 0; i < frame->n; i++) {
			if (row_cpu(&frame->rows[i]) < 0)
				continue;
			first = first ? first : row_columns(&frame->rows[i]);
			assert_int_equal(row_columns(&frame->rows[i]), first);
		}
		tmigr_top_frame_free(frame);
	}
	assert_text(top, (struct tmigr_top_opts){.width = 80, .utf8 = true}, "größe", "大");
	assert_text(top, (struct tmigr_top_opts){.width = 80}, "gr??e", NULL);
	assert_text(top, (struct tmigr_top_opts){.width = 80}, "??[31m?z", NULL);
	tmigr_top_free(top);
}

static void text_has_no_blanks_at_line_ends(void **state)
{
	struct tmigr_top *top = top_new();

	(void)state;
	add_256(top);
	assert_text(top, (struct tmigr_top_opts){.width = 100}, "MIGR\n", " \n");
	assert_text(top, (struct tmigr_top_opts){.width = 100, .height = 30, .help = true},
		    "HOLD/s", NULL);
	tmigr_top_free(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_exact),
		cmocka_unit_test(answer_is_of_all_windows),
		cmocka_unit_test(roots_come_and_go),
		cmocka_unit_test(unseen_roots_are_unknown),
		cmocka_unit_test(hold_keeps_the_view),
		cmocka_unit_test(refuses_what_is_no_sample),
		cmocka_unit_test(every_size_fits),
		cmocka_unit_test(list_has_room_at_80x24),
		cmocka_unit_test(pages_show_each_cpu_once),
		cmocka_unit_test(scroll_stops_at_the_end),
		cmocka_unit_test(sorts),
		cmocka_unit_test(headings_have_the_sums),
		cmocka_unit_test(what_is_not_known_is_not_guessed),
		cmocka_unit_test(marks),
		cmocka_unit_test(bars_add_up),
		cmocka_unit_test(ascii_and_utf8_bars),
		cmocka_unit_test(odd_names_keep_the_columns),
		cmocka_unit_test(text_has_no_blanks_at_line_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
