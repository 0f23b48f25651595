// SPDX-License-Identifier: GPL-2.0-or-later
/* A boot trace's hierarchy beside the live one: what is the same, what differs, and
 * what one has that the other lacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tmigr/tree.h"

#define CPUS   4
#define GROUPS 3

/* Two groups of two CPUs below one: [0] is the root. */
struct machine {
	struct tmigr_group_view groups[GROUPS];
	struct tmigr_cpu_view cpus[CPUS];
	struct tmigr_hierarchy h;
};

static void make(struct machine *m)
{
	*m = (struct machine){
		.groups = {{.name = "GRP1:0", .parent = -1, .level = 1, .node = 0, .n_cpus = 4},
			   {.name = "GRP0:0", .parent = 0, .mask = 1, .node = 0, .n_cpus = 2},
			   {.name = "GRP0:1", .parent = 0, .mask = 2, .node = 1, .n_cpus = 2}},
	};
	for (unsigned int i = 0; i < CPUS; i++)
		m->cpus[i] = (struct tmigr_cpu_view){.cpu = i,
						     .group = 1 + (int)i / 2,
						     .mask = (__u8)(1 << i % 2),
						     .learnt = true};
	m->h = (struct tmigr_hierarchy){
		.n_groups = GROUPS, .groups = m->groups, .n_cpus = CPUS, .cpus = m->cpus};
}

struct pair {
	struct machine live, boot;
	json_t *notes;
};

static struct pair p;

static int setup(void **state)
{
	(void)state;
	make(&p.live);
	make(&p.boot);
	p.notes = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(p.notes);
	return 0;
}

/* Merges; the notes are as many, and have one with @text. */
static void expect(size_t n, const char *text)
{
	bool found = !text;

	assert_int_equal(tmigr_boot_merge(&p.live.h, &p.boot.h, &p.notes), 0);
	for (size_t i = 0; i < json_array_size(p.notes); i++) {
		const char *note = json_string_value(json_array_get(p.notes, i));

		found = found || strstr(note, text);
		if (json_array_size(p.notes) != n)
			print_error("%s\n", note);
	}
	assert_int_equal(json_array_size(p.notes), n);
	assert_true(found);
}

static void same(void **state)
{
	(void)state;
	/* Order and names of groups are nobody's business. */
	p.boot.groups[1] = (struct tmigr_group_view){.name = "GRP0:7", .mask = 2, .node = 1};
	p.boot.groups[2] = (struct tmigr_group_view){.name = "GRP0:8", .mask = 1, .node = 0};
	for (int i = 0; i < CPUS; i++)
		p.boot.cpus[i].group = i < 2 ? 2 : 1;
	expect(0, NULL);
}

static void place_from_boot(void **state)
{
	(void)state;
	p.live.cpus[3].learnt = false;
	p.live.cpus[3].group = -1;
	p.live.cpus[3].mask = 0;
	p.live.groups[2].n_cpus = 1;
	p.live.groups[0].n_cpus = 3;
	expect(1, "CPU 3: its place is the boot trace's");
	assert_int_equal(p.live.cpus[3].group, 2);
	assert_int_equal(p.live.cpus[3].mask, 2);
	assert_true(p.live.cpus[3].learnt);
	assert_int_equal(p.live.groups[2].n_cpus, 2);
	assert_int_equal(p.live.groups[0].n_cpus, 4);
}

/* Its group is not among those that are known now. */
static void no_group_for_it(void **state)
{
	(void)state;
	for (int i = 2; i < CPUS; i++) {
		p.live.cpus[i].learnt = false;
		p.live.cpus[i].group = -1;
	}
	p.live.h.n_groups = 2;
	expect(3, "CPU 3: its place is only in the boot trace (GRP0:1)");
	assert_int_equal(p.live.cpus[3].group, -1);
	assert_false(p.live.cpus[3].learnt);
}

static void cpu_not_in_boot(void **state)
{
	(void)state;
	p.boot.cpus[1].learnt = false;
	p.boot.cpus[1].group = -1;
	expect(1, "CPU 1: not in the boot trace");
}

static void mask_differs(void **state)
{
	(void)state;
	p.boot.cpus[2].mask = 0x40;
	expect(1, "CPU 2: mask 0x40 in the boot trace, 0x1 now");
}

static void group_differs(void **state)
{
	(void)state;
	p.boot.groups[2].node = -1;
	p.boot.groups[1].mask = 0x10;
	expect(2, "GRP0:1: node -1 in the boot trace, 1 now");
	assert_non_null(strstr(json_string_value(json_array_get(p.notes, 0)),
			       "GRP0:0: mask 0x10 in the boot trace, 0x1 now"));
}

/* CPU 1 was below the other group: it is the first to pair it, so the others differ. */
static void other_members(void **state)
{
	(void)state;
	p.boot.cpus[1].group = 2;
	expect(4, "CPU 2: below GRP0:1 of the boot trace, but not below GRP0:0, as others are");
}

/* A level that was added later is no difference; one that is gone is. */
static void levels(void **state)
{
	(void)state;
	p.live.groups[1].parent = p.live.groups[2].parent = -1;
	assert_int_equal(tmigr_boot_merge(&p.live.h, &p.boot.h, &p.notes), 0);
	assert_int_equal(json_array_size(p.notes), 3);
	json_decref(p.notes);
	setup(state);
	p.boot.groups[1].parent = p.boot.groups[2].parent = -1;
	p.boot.h.n_groups = GROUPS;
	expect(1, "GRP1:0: only in the boot trace");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(same),
		TEST(place_from_boot),
		TEST(no_group_for_it),
		TEST(cpu_not_in_boot),
		TEST(mask_differs),
		TEST(group_differs),
		TEST(other_members),
		TEST(levels),
	};

	return cmocka_run_group_tests_name("boot", tests, NULL, NULL);
}
