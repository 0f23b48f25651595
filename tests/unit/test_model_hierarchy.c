// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Groups, roots, and the view of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lib/fixture.h"

static void view_names(void **state)
{
	struct tmigr_rec recs[] = {
		/* G1 is told of first, but its CPUs have higher numbers */
		rec_node_group(500, TOP, 0, 1, 1),
		rec_node_group(500, G1, TOP, 0, 4),
		rec_node_group(500, G0, TOP, 0, 2),
		rec_node_cpu(500, G1, 20, 1),
		rec_node_cpu(500, G1, 30, 0x80),
		rec_node_cpu(500, G0, 0, 1),
		rec_node_cpu(500, G0, 10, 2),
		rec_snap_group(500, G0, WORD(1, 1, 1)),
		rec_snap_group(500, TOP, WORD(2, 2, 1)),
		rec_idle(600, 10, 1),
		rec_about(600, 10, TMIGR_REC_SNAP_CPU, 10, 77),
	};
	struct fixture *f = RUN(machine_new(5, 10, 1, NULL), recs);
	struct tmigr_hierarchy *h;

	(void)state;
	assert_int_equal(tmigr_model_hierarchy(f->m, &h), 0);
	assert_int_equal(h->n_groups, 3);
	assert_string_equal(h->groups[0].name, "GRP1:0");
	assert_string_equal(h->groups[1].name, "GRP0:0");
	assert_string_equal(h->groups[2].name, "GRP0:1");
	assert_int_equal(h->groups[0].parent, -1);
	assert_int_equal(h->groups[0].n_cpus, 4);
	assert_int_equal(h->groups[1].parent, 0);
	assert_int_equal(h->groups[1].mask, 2);
	assert_int_equal(h->groups[2].mask, 4);
	assert_true(h->groups[1].known);
	assert_false(h->groups[2].known);
	assert_int_equal(h->cpus[0].group, 1);
	assert_int_equal(h->cpus[0].active, 1);
	assert_int_equal(h->cpus[1].active, 0);
	assert_int_equal(h->cpus[1].slot, TMIGR_SLOT_STATE0 + 1);
	assert_int_equal(h->cpus[1].wakeup_ns, 77);
	assert_true(h->cpus[1].wakeup_known);
	assert_int_equal(h->cpus[3].group, 2);
	assert_int_equal(h->cpus[3].mask, 0x80);
	assert_int_equal(h->cpus[3].active, -1);
	assert_false(h->cpus[4].learnt);
	assert_int_equal(h->cpus[4].group, -1);
	assert_int_equal(h->n_roots, 1);
	assert_int_equal(h->roots[0].group, 0);
	assert_int_equal(h->roots[0].regime, TMIGR_HELD);
	assert_int_equal(h->roots[0].cpu, 0);
	assert_int_equal(f->r->roots[0].group, 0);
	tmigr_hierarchy_free(h);
	fixture_free(f);
}

/* The view while the window is open: as of the look-ahead. */
static void view_of_the_present(void **state)
{
	struct tmigr_topology *topo = machine_new(2, 1, 1, NULL);
	struct tmigr_model_cfg cfg = {.topo = topo, .start_ns = S};
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(1, 1, 7)),
		rec_group(1200, 1, false, R0, 1, WORD(2, 2, 8)),
	};
	struct tmigr_hierarchy *h;
	struct tmigr_model *m;

	(void)state;
	assert_int_equal(tmigr_model_new(&cfg, &m), 0);
	assert_int_equal(tmigr_model_feed(m, recs, sizeof(recs) / sizeof(*recs)), 0);
	assert_int_equal(tmigr_model_advance(m, 1200 + TMIGR_LOOKAHEAD_NS), 0);
	assert_int_equal(tmigr_model_hierarchy(m, &h), 0);
	assert_int_equal(h->roots[0].cpu, 0);
	tmigr_hierarchy_free(h);
	assert_int_equal(tmigr_model_advance(m, 1201 + TMIGR_LOOKAHEAD_NS), 0);
	assert_int_equal(tmigr_model_hierarchy(m, &h), 0);
	assert_int_equal(h->roots[0].cpu, 1);
	tmigr_hierarchy_free(h);
	tmigr_model_free(m);
	machine_free(topo);
}

/* A split machine: two roots, by their lowest CPU, that know nothing of one
 * another. */
static void two_roots(void **state)
{
	struct tmigr_rec recs[] = {
		rec_node_group(500, G1, 0, 0, 1),
		rec_node_group(500, G0, 0, 0, 1),
		rec_node_cpu(500, G1, 2, 1),
		rec_node_cpu(500, G1, 3, 2),
		rec_node_cpu(500, G0, 0, 1),
		rec_node_cpu(500, G0, 1, 2),
		rec_snap_group(500, G0, WORD(1, 1, 1)),
		rec_snap_group(500, G1, WORD(0, NOBODY, 1)),
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 0, 1),
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 2, NEVER),
		rec_about(500, 0, TMIGR_REC_SNAP_CPU, 3, NEVER),
	};
	struct fixture *f = RUN(machine_new(4, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->n_roots, 2);
	assert_int_equal(f->n_segs, 2);
	assert_int_equal(f->segs[0].root, 1);
	expect_segment(f, 0, TMIGR_FREE, -1, 1000, 2000);
	assert_int_equal(f->segs[1].root, 0);
	expect_segment(f, 1, TMIGR_HELD, 0, 1000, 2000);
	assert_int_equal(f->r->roots[0].group, 0);
	assert_int_equal(f->r->roots[1].group, 1);
	fixture_free(f);
}

/* A first online adds a top level above the old root, told of in either order:
 * one account. */
static void new_top_level(void **state)
{
	struct tmigr_rec before[] = {
		ONE_ROOT(WORD(3, 1, 7)),
		rec_node_group(1100, R0, TOP, 0, 1),
		rec_node_group(1110, TOP, 0, 1, 1),
		rec_node_group(1110, G1, TOP, 0, 2),
		rec_node_cpu(1110, G1, 2, 1),
		rec_group(1120, 2, true, TOP, 1, WORD(1, 1, 1)),
		rec_group(1300, 0, false, R0, 1, WORD(2, 2, 8)),
	};
	struct tmigr_rec after[] = {
		ONE_ROOT(WORD(3, 1, 7)),
		rec_node_group(1100, TOP, 0, 1, 1),
		rec_node_group(1100, G1, TOP, 0, 2),
		rec_node_cpu(1100, G1, 2, 1),
		rec_node_group(1110, R0, TOP, 0, 1),
		rec_group(1120, 2, true, TOP, 1, WORD(1, 1, 1)),
		rec_group(1300, 0, false, R0, 1, WORD(2, 2, 8)),
	};
	size_t n = sizeof(before) / sizeof(*before);
	struct fixture *f;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct tmigr_topology *topo = machine_new(3, 1, 1, NULL);

		topo->cpus[2].online = false;
		f = fixture_run(topo, i ? after : before, n);
		assert_int_equal(f->r->n_roots, 1);
		assert_int_equal(f->n_segs, 4);
		expect_segment(f, 0, TMIGR_HELD, 0, 1000, i ? 1110 : 1100);
		expect_segment(f, 1, TMIGR_UNKNOWN, -1, i ? 1110 : 1100, 1120);
		expect_segment(f, 2, TMIGR_HELD, 0, 1120, 1300);
		expect_segment(f, 3, TMIGR_HELD, 1, 1300, 2000);
		fixture_free(f);
	}
}

/* Two roots that both have a place in the result come together: the account of
 * the older one goes on, the other's is unknown from then on. */
static void merged_roots(void **state)
{
	struct tmigr_rec recs[] = {
		ONE_ROOT(WORD(3, 1, 7)),
		rec_node_group(500, G1, 0, 0, 1),
		rec_node_cpu(500, G1, 2, 1),
		rec_snap_group(500, G1, WORD(1, 1, 3)),
		{.t_ns = 1200, .type = TMIGR_REC_CLEAN},
		rec_node_group(1500, R0, TOP, 0, 1),
		rec_node_group(1500, G1, TOP, 0, 2),
		rec_node_group(1500, TOP, 0, 1, 1),
		rec_snap_group(1500, TOP, WORD(3, 2, 1)),
	};
	struct fixture *f = RUN(machine_new(3, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->n_roots, 2);
	assert_int_equal(f->n_segs, 4);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 1500);
	expect_segment(f, 1, TMIGR_HELD, 2, 1500, 2000);
	assert_int_equal(f->segs[2].root, 1);
	expect_segment(f, 2, TMIGR_HELD, 2, 1000, 1500);
	expect_segment(f, 3, TMIGR_UNKNOWN, -1, 1500, 2000);
	assert_int_equal(f->r->roots[0].group, 0);
	assert_int_equal(f->r->roots[1].group, 0);
	fixture_free(f);
}

/* Unknown before it appeared. */
static void new_hierarchy(void **state)
{
	struct tmigr_rec recs[] = {
		rec_node_group(1400, R0, 0, 0, 1),
		rec_node_cpu(1400, R0, 0, 1),
		rec_group(1400, 0, true, R0, 1, WORD(1, 1, 1)),
	};
	struct fixture *f = RUN(machine_new(1, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->n_segs, 2);
	expect_segment(f, 0, TMIGR_UNKNOWN, -1, 1000, 1400);
	expect_segment(f, 1, TMIGR_HELD, 0, 1400, 2000);
	fixture_free(f);
}

/* Links that make no sense are left alone. */
static void impossible_links(void **state)
{
	struct tmigr_rec recs[] = {
		rec_node_group(500, G0, G0, 0, 1),
		rec_node_group(500, G0, TOP, 0, 1),
		rec_node_group(500, TOP, G0, 1, 1),
		rec_node_group(500, TOP, 0, 1, 1),
		rec_node_group(500, G1, TOP, 0, 1),
		rec_node_group(500, 0, 0, 0, 0),
		rec_node_cpu(500, G0, 0, 1),
		rec_node_cpu(500, G0, 1, 1),
		rec_node_cpu(500, G1, 0, 2),
		rec_node_cpu(500, G0, 2, 6),
		rec_snap_group(500, G0, WORD(1, 1, 1)),
		rec_snap_group(500, TOP, WORD(1, 1, 1)),
	};
	struct fixture *f = RUN(machine_new(3, 1, 1, NULL), recs);

	(void)state;
	assert_int_equal(f->r->n_roots, 1);
	assert_int_equal(f->n_segs, 1);
	expect_segment(f, 0, TMIGR_HELD, 0, 1000, 2000);
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(view_names),	    cmocka_unit_test(view_of_the_present),
		cmocka_unit_test(two_roots),	    cmocka_unit_test(new_top_level),
		cmocka_unit_test(merged_roots),	    cmocka_unit_test(new_hierarchy),
		cmocka_unit_test(impossible_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
