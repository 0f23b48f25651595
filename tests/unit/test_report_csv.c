// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of a run directory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "report_view.h"

static void test_csv(void **state)
{
	json_t *r = report_4_4();
	char *text = render(tmigr_report_csv_residency, r);
	static const char head[] =
		"cpu,class,capacity,state,state_name,time_ns,entries,above,below,"
		"tmigr_idle_ns,tmigr_unknown_ns\n"
		"0,LITTLE,442,-1,running,1000000000,,,,0,1000000000\n"
		"0,LITTLE,442,0,WFI,2000000000,1000,0,0,,\n"
		"0,LITTLE,442,1,cpu-sleep,7000000000,700,12,0,,\n"
		"1,LITTLE,442,-1,running,1000000000,,,,0,1000000000\n"
		"1,LITTLE,442,0,WFI,2000000000,1000,0,5,,\n";

	(void)state;
	assert_memory_equal(text, head, sizeof(head) - 1);
	free(text);
	text = render(tmigr_report_csv_migrator, r);
	assert_string_equal(text, "root,cpu,class,regime,time_ns,holdings,longest_ns,avoidable_ns,"
				  "avoidable_unknown_ns\n"
				  "GRP0:0,0,LITTLE,held,4000000000,3,2500000000,0,0\n"
				  "GRP0:0,1,LITTLE,held,1000000000,1,1000000000,0,0\n"
				  "GRP0:0,4,big,held,3000000001,1,3000000001,1500000000,0\n"
				  "GRP0:0,,,handover,1000000,,,,\n"
				  "GRP0:0,,,duty,1500000000,,,,\n"
				  "GRP0:0,,,free,400000000,,,,\n"
				  "GRP0:0,,,unknown,98999999,,,,\n");
	free(text);
	text = render(tmigr_report_csv_migrator_states, r);
	assert_string_equal(text, "root,cpu,class,state,state_name,held_ns\n"
				  "GRP0:0,0,LITTLE,-1,running,100000000\n"
				  "GRP0:0,0,LITTLE,0,WFI,3000000000\n"
				  "GRP0:0,0,LITTLE,1,cpu-sleep,900000000\n"
				  "GRP0:0,1,LITTLE,-1,running,1000000000\n"
				  "GRP0:0,1,LITTLE,0,WFI,0\n"
				  "GRP0:0,1,LITTLE,1,cpu-sleep,0\n"
				  "GRP0:0,4,big,-1,running,1\n"
				  "GRP0:0,4,big,0,WFI,0\n"
				  "GRP0:0,4,big,1,cpu-sleep,3000000000\n");
	free(text);
	text = render(tmigr_report_csv_remote, r);
	assert_string_equal(text,
			    "executor,executor_class,target,target_class,count,woke_executor\n"
			    "0,LITTLE,0,LITTLE,4,0\n"
			    "0,LITTLE,5,big,2,2\n"
			    "4,big,0,LITTLE,12,6\n"
			    "4,big,1,LITTLE,3,0\n");
	free(text);
	json_decref(r);
}

static void test_csv_segments(void **state)
{
	const struct tmigr_segment held = {0, TMIGR_HELD, 4, 1000 * SEC, 1003 * SEC + 1};
	const struct tmigr_segment duty = {0, TMIGR_DUTY, -1, 1003 * SEC + 1, 1010 * SEC};
	json_t *r = report_4_4();
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(tmigr_report_csv_segments_head(out), 0);
	assert_int_equal(tmigr_report_csv_segment(r, &held, out), 0);
	assert_int_equal(tmigr_report_csv_segment(r, &duty, out), 0);
	fclose(out);
	assert_string_equal(text, "root,regime,cpu,class,start_ns,end_ns\n"
				  "GRP0:0,held,4,big,0,3000000001\n"
				  "GRP0:0,duty,,,3000000001,10000000000\n");
	free(text);
	json_decref(r);
}

/* Offline and unknown time, and names that CSV must quote. */
static void test_csv_odd(void **state)
{
	struct machine *m = machine_new(1);
	json_t *r;
	char *text;

	(void)state;
	set_class(m, 0, "a,\"b\"", 1024, 0, 1);
	m->totals.cpus[0].time_ns[TMIGR_SLOT_RUNNING] = 1;
	m->totals.cpus[0].time_ns[TMIGR_SLOT_OFFLINE] = 2;
	m->totals.cpus[0].time_ns[TMIGR_SLOT_UNKNOWN] = 10 * SEC - 3;
	r = machine_report(m, true, NULL);
	text = render(tmigr_report_csv_residency, r);
	assert_string_equal(text, "cpu,class,capacity,state,state_name,time_ns,entries,above,below,"
				  "tmigr_idle_ns,tmigr_unknown_ns\n"
				  "0,\"a,\"\"b\"\"\",1024,-1,running,1,,,,0,1\n"
				  "0,\"a,\"\"b\"\"\",1024,,offline,2,,,,,\n"
				  "0,\"a,\"\"b\"\"\",1024,,unknown,9999999997,,,,,\n");
	free(text);
	json_decref(r);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_csv_segments),
		cmocka_unit_test(test_csv_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
