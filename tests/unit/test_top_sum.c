// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr top: the sums of all samples, and which sample is shown. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "top_samples.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_exact),      cmocka_unit_test(answer_is_of_all_windows),
		cmocka_unit_test(roots_come_and_go),   cmocka_unit_test(unseen_roots_are_unknown),
		cmocka_unit_test(hold_keeps_the_view), cmocka_unit_test(refuses_what_is_no_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
