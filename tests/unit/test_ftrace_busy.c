// SPDX-License-Identifier: GPL-2.0-or-later
/* Idle time by a /proc/stat that is not this machine's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../lib/ftrace_priv.h"
#include "../lib/machine.h"

static void write_stat(const char *root, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/stat", root);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_ticks(void **state)
{
	struct tmigr_topology *topo = machine_new(4, 2, 1, NULL); /* CPUs 0, 2, 4, 6 */
	char root[] = "/tmp/tmigr-test.XXXXXX", path[256];
	long long ticks[4];

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_true(tmigr_idle_ticks(root, topo, ticks) < 0);
	assert_int_equal(ticks[3], -1);
	/* A CPU of no topology, one offline, one that is cut, other lines. */
	write_stat(root, "cpu  1 2 3 4 5 6 7\n"
			 "cpu0 10 0 5 1000 7 0 0 0\n"
			 "cpu1 10 0 5 9999 7 0 0 0\n"
			 "cpu4 10 0 5 18446744073709551 0 0 0 0\n"
			 "cpu6 10 0 5\n"
			 "intr 5 6 7\ncpufreq 1 2 3 4 5");
	assert_int_equal(tmigr_idle_ticks(root, topo, ticks), 0);
	assert_int_equal(ticks[0], 1007);
	assert_int_equal(ticks[1], -1);
	assert_int_equal(ticks[2], 18446744073709551);
	assert_int_equal(ticks[3], -1);
	snprintf(path, sizeof(path), "%s/proc/stat", root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc", root);
	rmdir(path);
	rmdir(root);
	machine_free(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks),
	};

	return cmocka_run_group_tests_name("ftrace busy", tests, NULL, NULL);
}
