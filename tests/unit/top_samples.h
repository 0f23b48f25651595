/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up samples for the tests of tmigr top, and a look at its frames. */
#ifndef TESTS_TOP_SAMPLES_H
#define TESTS_TOP_SAMPLES_H

#include "../../lib/top_priv.h"
#include "report_machine.h"
#include "tmigr/tree.h"

/* ---- samples ---- */

static inline struct tmigr_top *top_new(void)
{
	struct tmigr_top *top;

	assert_int_equal(tmigr_top_new(&top), 0);
	return top;
}

static inline json_t *report_of(struct machine *m)
{
	json_t *info = machine_info(), *report = machine_report(m, true, info);

	json_decref(info);
	assert_non_null(report);
	return report;
}

static inline json_t *tree_of(struct machine *m)
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
static inline void add(struct tmigr_top *top, struct machine *m, bool with_tree)
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
static inline struct machine *machine_256(void)
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

static inline void add_256(struct tmigr_top *top)
{
	struct machine *m = machine_256();
	struct tmigr_root_view *roots = m->model.h.roots;

	add(top, m, true);
	free(roots);
}

/* Two roots of 4 CPUs each; or one above both. */
static inline struct machine *machine_roots(bool joined)
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

/* ---- frames ---- */

static inline struct tmigr_top_frame *frame_of(struct tmigr_top *top, struct tmigr_top_opts o)
{
	struct tmigr_top_frame *frame;

	assert_int_equal(tmigr_top_frame(top, &o, &frame), 0);
	return frame;
}

static inline char *text_of(const struct tmigr_top_frame *frame)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(tmigr_top_text(frame, out), 0);
	fclose(out);
	return text;
}

static inline void assert_text(struct tmigr_top *top, struct tmigr_top_opts o, const char *has,
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

static inline size_t row_columns(const struct tmigr_top_row *row)
{
	size_t n = 0;

	for (size_t i = 0; i < row->n; i++)
		n += top_columns(row->cells[i].text);
	return n;
}

/* The CPU that a row is about, or -1. */
static inline int row_cpu(const struct tmigr_top_row *row)
{
	char *end;
	long cpu;

	if (!row->n || row->cells[0].attr != TMIGR_TOP_BOLD)
		return -1;
	cpu = strtol(row->cells[0].text, &end, 10);
	return *end || end == row->cells[0].text ? -1 : (int)cpu;
}

/* The CPUs of a frame in their order; returns how many. */
static inline size_t frame_cpus(const struct tmigr_top_frame *frame, int *cpus, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < frame->n; i++)
		if (row_cpu(&frame->rows[i]) >= 0 && n < max)
			cpus[n++] = row_cpu(&frame->rows[i]);
	return n;
}

#endif
