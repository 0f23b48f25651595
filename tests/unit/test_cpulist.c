// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU lists, both ways. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tmigr/topology.h"

/* @text parses to what @want formats to. */
static void check(const char *text, const char *want)
{
	struct tmigr_err err = {""};
	unsigned int *cpus;
	size_t n;
	char *back;

	if (tmigr_cpulist_parse(text, &cpus, &n, &err) != 0)
		fail_msg("'%s': %s", text, err.text);
	for (size_t i = 1; i < n; i++)
		assert_true(cpus[i - 1] < cpus[i]);
	back = tmigr_cpulist_format(cpus, n);
	assert_non_null(back);
	assert_string_equal(back, want);
	free(back);
	free(cpus);
}

static void accepted(void **state)
{
	(void)state;
	check("", "");
	check("0", "0");
	check("0-3", "0-3");
	check("0-3,8,10-11", "0-3,8,10-11");
	check("8,0-3,11,10", "0-3,8,10-11");
	check("1,1,1-2,0-1", "0-2");
	check("5-5", "5");
	check("007", "7");
	check("65535", "65535");
	check("0-65535", "0-65535");
}

/* Documentation/admin-guide/kernel-parameters: of every group the first used */
static void stride(void **state)
{
	(void)state;
	check("0-10:2/4", "0-1,4-5,8-9");
	check("1-10:1/3", "1,4,7,10");
	check("0-7:4/4", "0-7");
	check("0-3:1/100", "0");
	check("0-3:0/4,9", "9");
	check("0-6:1/2,1", "0-2,4,6");
}

static void refused(void **state)
{
	static const char *const texts[] = {
		",",	      "0,",	",0",
		"0,,1",	      "0-",	"-3",
		"3-0",	      "a",	"0x1",
		"0-3-5",      " 0",	"0 ",
		"0, 1",	      "0\n",	"+1",
		"-1",	      "65536",	"0-65536",
		"4294967296", "0:1/2",	"0-3:",
		"0-3:1",      "0-3:1/", "0-3:3/2",
		"0-3:1/0",    "0-3:/2", "all",
		"(null)",     "0;1",	"1.5",
		"0-3:-1/2",   "\xff",	"99999999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tmigr_err err = {""};
		unsigned int *cpus = (unsigned int *)&err;
		size_t n = 4711;

		if (tmigr_cpulist_parse(texts[i], &cpus, &n, &err) != -EINVAL)
			fail_msg("'%s' was accepted", texts[i]);
		assert_ptr_equal(cpus, &err);
		assert_int_equal(n, 4711);
		assert_string_not_equal(err.text, "");
		assert_int_equal(tmigr_cpulist_parse(texts[i], &cpus, &n, NULL), -EINVAL);
	}
}

/* Every set of 12 CPUs comes back. */
static void round_trip(void **state)
{
	(void)state;
	for (unsigned int set = 0; set < 1u << 12; set++) {
		unsigned int cpus[12], *back;
		size_t n = 0, m;
		char *text;

		for (unsigned int cpu = 0; cpu < 12; cpu++)
			if (set & 1u << cpu)
				cpus[n++] = cpu;
		text = tmigr_cpulist_format(cpus, n);
		assert_non_null(text);
		assert_int_equal(tmigr_cpulist_parse(text, &back, &m, NULL), 0);
		assert_int_equal(m, n);
		assert_memory_equal(back, cpus, n * sizeof(*cpus));
		free(back);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(stride),
		cmocka_unit_test(refused),
		cmocka_unit_test(round_trip),
	};

	return cmocka_run_group_tests_name("cpulist", tests, NULL, NULL);
}
