// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text of ftrace, line by line: what a line gives, and which give nothing.  Whole traces
 * in each form are tests/cli/import.t's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tmigr/traced.h"

#define MAX 32

static struct tmigr_traced evs[MAX];
static size_t n_evs;
static struct tmigr_traced_source said; /* at the end */
static struct tmigr_err err;

/* All events of @text, as few at a time as can be had; 0, or what the reader said. */
static int read_text(const char *text, size_t size)
{
	struct tmigr_traced_source *src;
	int fd = memfd_create("text", 0);
	__u64 watermark_ns;
	ssize_t n;

	assert_true(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(tmigr_text_open_fd("text", fd, "", 0, &src, &err), 0);
	n_evs = 0;
	while ((n = src->read(src, evs + n_evs, 2, &watermark_ns, &err)) > 0) {
		n_evs += (size_t)n;
		assert_true(n_evs + 2 <= MAX);
	}
	said = *src;
	src->close(src);
	close(fd);
	return (int)n;
}

/* Of lines, with an end after the last one. */
static void read_lines(const char *text)
{
	char all[4096];
	int n = snprintf(all, sizeof(all), "%s\n", text);

	assert_true(n > 0 && n < (int)sizeof(all));
	if (read_text(all, (size_t)n))
		fail_msg("%s: %s", text, err.text);
}

#define IDLE(cpu) "cpu_idle: state=1 cpu_id=" #cpu
#define GOOD	  "  <idle>-0     [000] d..1.     1.000000: " IDLE(0) "\n"

/* ---- the head ---- */

static void heads(void **state)
{
	static const struct {
		const char *line;
		__u64 t_ns;
		__u32 cpu;
		__s32 pid;
	} cases[] = {
		{"          <idle>-0       [000] d..1.   123.456789: " IDLE(0), 123456789000, 0, 0},
		{"          <idle>-0       [000] d..1.   123.456789012: " IDLE(0), 123456789012, 0,
		 0},
		{"          <idle>-0       [005]    7.000001: " IDLE(5), 7000001000, 5, 0},
		{"          <idle>-0       [005] ....   7.000001: " IDLE(5), 7000001000, 5, 0},
		{"          <idle>-0       [005] Nn#2.   7.000001: " IDLE(5), 7000001000, 5, 0},
		{"          <idle>-0       (-------) [005] d..1. 7.000001: " IDLE(5), 7000001000, 5,
		 0},
		{"            task-31      (     31) [005] d..1. 7.000001: " IDLE(5), 7000001000, 5,
		 31},
		{"  <idle>-0      12d..1.    7.000001: " IDLE(12), 7000001000, 12, 0},
		{"         swapper       0 [003]     1.000001: power:" IDLE(3), 1000001000, 3, 0},
		{"         swapper       0/0    [003] 1.000001: power:" IDLE(3), 1000001000, 3, 0},
		{"           a b c     12/345   [003] 1.000001: power:" IDLE(3), 1000001000, 3,
		 345},
		{"             :-1      -1 [003]     1.000001: power:" IDLE(3), 1000001000, 3, -1},
		{"-1 [0] 1.0: a: b-77      [003] d..1. 1.000001: " IDLE(3), 1000001000, 3, 77},
		{" [001] d..1. 9: -77      [003] d..1. 1.000001: " IDLE(3), 1000001000, 3, 77},
		{"a-77 [003] d..1. 1.000001: " IDLE(3), 1000001000, 3, 77},
		{"-77 [003] d..1. 1.000001: " IDLE(3), 1000001000, 3, 77},
		{"a-1 [7] d 1.0-77 [003] d..1. 1.000001: " IDLE(3), 1000001000, 3, 77},
		{"            task-77    [003] d..1. 1.000001: (+12) " IDLE(3), 1000001000, 3, 77},
		{"            task-2147483647 [003] d..1. 1.000001: " IDLE(3), 1000001000, 3,
		 2147483647},
		{"            task-77    [65535] d..1. 1.000001: " IDLE(65535), 1000001000, 65535,
		 77},
		{"            task-77    [003] d..1. 4294967295.000001: " IDLE(3),
		 4294967295000001000, 3, 77},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		read_lines(cases[i].line);
		if (n_evs != 1 || evs[0].type != TMIGR_TRACED_CPU_IDLE ||
		    evs[0].t_ns != cases[i].t_ns || evs[0].cpu != cases[i].cpu ||
		    evs[0].pid != cases[i].pid)
			fail_msg("'%s': %zu events, time %llu, CPU %u, task %d", cases[i].line,
				 n_evs, (unsigned long long)evs[0].t_ns, evs[0].cpu, evs[0].pid);
		assert_int_equal(said.resolution_ns, cases[i].t_ns % 1000 ? 1 : 1000);
		assert_string_equal(said.partial, "");
	}
}

/* What looks like one and is none is passed over. */
static void no_heads(void **state)
{
	static const char *const lines[] = {
		"          <idle>-0       [000] d..1.   123.4567890: " IDLE(0),
		"          <idle>-0       [000] d..1.   123.45678: " IDLE(0),
		"          <idle>-2147483648 [000] d..1. 1.000000: " IDLE(0),
		"          <idle>-0       [000 d..1.   1.000000: " IDLE(0),
		"          <idle>-0       000 1.000000: " IDLE(0),
		"          <idle>-        [000] d..1.   1.000000: " IDLE(0),
		"          <idle>-0       [000] d..1.   1.000000: cpu_idle_2: state=1 cpu_id=0",
		"          <idle>-0       [000] d..1.   1.000000: x: " IDLE(0),
		"CPU:1 [SOME EVENTS]",
		"CPU: [LOST 1 EVENTS]",
		"##### CPU 3 buffer ended ####",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), GOOD "%s", lines[i]);
		read_lines(text);
		if (n_evs != 1 || said.partial[0])
			fail_msg("'%s': %zu events, '%s'", lines[i], n_evs, said.partial);
	}
}

/* Where they belong is not known; that they are missing is. */
static void stamps_out_of_range(void **state)
{
	(void)state;
	read_lines(GOOD "          <idle>-0       [000] d..1.   4294967296.000000: " IDLE(0));
	assert_int_equal(n_evs, 2);
	assert_int_equal(evs[1].type, TMIGR_TRACED_LOST);
	assert_int_equal(evs[1].t_ns, evs[0].t_ns);
	assert_int_equal(evs[1].cpu, TMIGR_TRACED_NO_CPU);
	assert_non_null(strstr(said.partial, "line 2: a stamp out of range"));
}

static void stamps_without_a_unit(void **state)
{
	static const char text[] = "  <idle>-0     [000] d..1. 123456789: " IDLE(0) "\n";

	(void)state;
	assert_int_equal(read_text(text, sizeof(text) - 1), -EINVAL);
	assert_non_null(strstr(err.text, "no unit"));
}

/* ---- fields ---- */

#define UPDATE                                                                                     \
	"tmigr_group_set_cpu_active: group=00000000deadbeef lvl=0 numa=0 active=1 migrator=1 "     \
	"parent=0000000000000000 childmask=1"

/* NULL: it is an event; else it counts as lost, and why. */
static void one_field(const char *text, const char *why)
{
	char all[1024];

	snprintf(all, sizeof(all), GOOD "  <idle>-0     [000] d..1.     2.000000: %s", text);
	read_lines(all);
	assert_int_equal(n_evs, 2);
	if (!why && (evs[1].type == TMIGR_TRACED_LOST || said.partial[0]))
		fail_msg("'%s': %s", text, said.partial);
	if (why && (evs[1].type != TMIGR_TRACED_LOST || evs[1].value != 1 ||
		    evs[1].t_ns != 2000000000 || evs[1].cpu != 0 || !strstr(said.partial, why) ||
		    !strstr(said.partial, "text: line 2: ")))
		fail_msg("'%s': type %u, '%s'", text, evs[1].type, said.partial);
}

/* Replaces @from in the update's text. */
static void update_field(const char *from, const char *to, const char *why)
{
	const char *at = strstr(UPDATE, from);
	char text[512];

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - UPDATE), UPDATE, to, at + strlen(from));
	one_field(text, why);
}

static void fields(void **state)
{
	(void)state;
	update_field("lvl=0", "lvl=0", NULL);
	assert_true(evs[1].group == 0xdeadbeef && evs[1].has & TMIGR_HAS_PARENT && !evs[1].parent &&
		    evs[1].active == 1 && evs[1].mask == 1);
	update_field("lvl=0", "lvl=15", NULL);
	assert_int_equal(evs[1].level, 15);
	update_field("lvl=0", "lvl=16", "a level out of range");
	update_field("lvl=0", "novelty=0x7 lvl=0", NULL);
	update_field("numa=0", "family=-1", NULL);
	assert_int_equal(evs[1].node, -1);
	update_field("parent=0000000000000000", "parent=(nil)", NULL);
	update_field("parent=0000000000000000", "parent=(null)", NULL);
	update_field("parent=0000000000000000", "parent=(none)", "no number");
	update_field("parent=0000000000000000", "parent=0xdeadbee5", NULL);
	assert_int_equal(evs[1].parent, 0xdeadbee5);
	update_field("parent=0000000000000000", "parent=00000000000000001", "no number");
	update_field("group=00000000deadbeef", "group=0", "a group that is none");
	update_field("childmask=1", "groupmask=80", NULL);
	assert_int_equal(evs[1].mask, 0x80);
	update_field("childmask=1", "childmask=100", "a mask out of range");
	update_field("childmask=1", "childmask=3", "not one child's");
	update_field("childmask=1", "childmask=0", "not one child's");
	update_field("childmask=1", "", "a field is missing");
	update_field("migrator=1", "migrator=ff", NULL);
	update_field("migrator=1", "migrator=6", "not one child");
	update_field("migrator=1", "migrator=0", "not one child");
	update_field("active=1", "active=1g", "no number");
}

/* In the record's order and by its names: active is decimal there, childmask is not. */
static void raw_fields(void **state)
{
	static const char head[] = "tmigr_group_set_cpu_inactive:  group=0xffff0000013ae480 "
				   "parent=(nil) lvl=0";
	static const char masks[] = "childmask=10 active=45 migrator=1";
	static const char *const raw[] = {"numa_node=0", "family=0"};
	char text[256];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%s %s %s", head, raw[i], masks);
		one_field(text, "does not tell decimal from hexadecimal");
	}
	/* Another order alone is none, nor is the name. */
	snprintf(text, sizeof(text), "%s numa=0 %s", head, masks);
	one_field(text, NULL);
	assert_int_equal(evs[1].active, 0x45);
	update_field("numa=0", "numa_node=-1", NULL);
	assert_int_equal(evs[1].node, -1);
	one_field("tmigr_connect_cpu_parent: cpu=4 numa_node=0 groupmask=10 parent=0x1 lvl=0 "
		  "num_children=5",
		  NULL);
	assert_int_equal(evs[1].mask, 0x10);
}

static void numbers(void **state)
{
	static const char active[] = "tmigr_cpu_active: cpu=3 parent=0x1 wakeup=";
	char text[256];

	(void)state;
	snprintf(text, sizeof(text), "%s9223372036854775807", active);
	one_field(text, NULL);
	assert_true(evs[1].value == 0x7fffffffffffffff && evs[1].subject == 3);
	snprintf(text, sizeof(text), "%s18446744073709551615", active);
	one_field(text, NULL);
	assert_true(evs[1].value == ~0ULL);
	snprintf(text, sizeof(text), "%s-2", active);
	one_field(text, NULL);
	assert_true(evs[1].value == (__u64)-2);
	snprintf(text, sizeof(text), "%s18446744073709551616", active);
	one_field(text, "no number");
	one_field("tmigr_cpu_active: cpu=65536 parent=0x1 wakeup=1", "a CPU number out of range");
	one_field("cpu_idle: state=1 cpu_id=65536", "a CPU number out of range");
	one_field("cpu_idle: state=1 cpu_id=1", "an idle state of another CPU");
	one_field("cpu_idle: state=4294967295 cpu_id=0", NULL);
	assert_true(evs[1].value == TMIGR_TRACED_IDLE_EXIT);
	one_field("cpu_idle_miss: cpu_id=0 state=2 type=below", NULL);
	assert_true(evs[1].below && evs[1].value == 2);
	one_field("cpu_idle_miss: cpu_id=0 state=2 type=beside", "neither above");
}

/* Also one that is 0 in 64 bits. */
static void cpus_out_of_range(void **state)
{
	static const char *const cpus[] = {"65536", "4294967296", "18446744073709551616"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char text[256];

		snprintf(text, sizeof(text), GOOD "  <idle>-0     [%s] d..1.  2.000000: " IDLE(0),
			 cpus[i]);
		read_lines(text);
		assert_int_equal(n_evs, 2);
		assert_int_equal(evs[1].type, TMIGR_TRACED_LOST);
		assert_int_equal(evs[1].t_ns, 2000000000);
		assert_non_null(strstr(said.partial, "line 2: a CPU number out of range"));
	}
}

/* ---- losses ---- */

static void assert_lost(size_t at, __u32 cpu, __u64 n, __u64 t_ns)
{
	assert_true(at < n_evs);
	assert_int_equal(evs[at].type, TMIGR_TRACED_LOST);
	assert_int_equal(evs[at].cpu, cpu);
	assert_int_equal(evs[at].value, n);
	assert_int_equal(evs[at].t_ns, t_ns);
}

/* They come before the CPU's next event, once, in whatever words. */
static void losses(void **state)
{
	static const struct {
		const char *line;
		__u64 n;
	} cases[] = {
		{"CPU:0 [LOST 123 EVENTS]", 123},
		{"CPU:0 [LOST EVENTS]", 1},
		{"CPU:0 [7 EVENTS DROPPED]", 7},
		{"CPU:0 [EVENTS DROPPED]", 1},
		{"CPU:0 [LOST 3 EVENTS]\nCPU:0 [LOST 4 EVENTS]", 7},
		{"CPU:0 [LOST 4294967290 EVENTS]\nCPU:0 [LOST 10 EVENTS]", 4294967295},
		{"##### CPU 0 buffer started ####", 1},
		{"         swapper       0 [000] 1.500000: PERF_RECORD_LOST lost 12", 12},
		{"         swapper       0 [000] 1.500000: PERF_RECORD_LOST", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];

		snprintf(text, sizeof(text),
			 GOOD "%s\n  <idle>-0     [001] d..1.  2.000000: " IDLE(
				 1) "\n  <idle>-0     [000] d..1.  3.000000: " IDLE(0) "\n"
										       "  <idle>-0 "
										       "    [000] "
										       "d..1.  "
										       "4.000000:"
										       " " IDLE(0),
			 cases[i].line);
		read_lines(text);
		if (n_evs != 5)
			fail_msg("'%s': %zu events", cases[i].line, n_evs);
		assert_lost(2, 0, cases[i].n, 3000000000);
		assert_string_equal(said.partial, "");
	}
}

static void losses_at_the_ends(void **state)
{
	(void)state;
	/* A buffer that begins is no loss, before all events. */
	read_lines("##### CPU 0 buffer started ####\n" GOOD);
	assert_int_equal(n_evs, 1);
	read_lines("CPU:0 [LOST 5 EVENTS]\n" GOOD);
	assert_int_equal(n_evs, 2);
	assert_lost(0, 0, 5, 1000000000);
	/* No event of the CPU follows. */
	read_lines(GOOD "CPU:3 [LOST 5 EVENTS]");
	assert_int_equal(n_evs, 2);
	assert_lost(1, 3, 5, 1000000000);
	read_lines(GOOD "CPU:65536 [LOST 5 EVENTS]");
	assert_int_equal(n_evs, 1);
	assert_non_null(strstr(said.partial, "line 2: a CPU number out of range"));
}

/* ---- time ---- */

#define AT(cpu, t) "  <idle>-0     [00" #cpu "] d..1. " t ": " IDLE(cpu) "\n"

static void time_goes_back(void **state)
{
	(void)state;
	/* CPUs' stamps may be the wrong way round by 10 ms. */
	read_lines(AT(0, "1.000000") AT(0, "1.010000") AT(0, "1.020000") AT(1, "1.010000"));
	assert_int_equal(n_evs, 4);
	assert_string_equal(said.partial, "");
	read_lines(AT(0, "1.000000") AT(0, "1.010000") AT(0, "1.020000") AT(1, "1.009999")
			   AT(0, "2.000000"));
	assert_int_equal(n_evs, 3);
	assert_non_null(strstr(said.partial,
			       "line 4: time goes back, from 1.020000 to 1.009999; what follows"));
	/* One CPU's may not at all. */
	read_lines(AT(0, "1.000000") AT(0, "1.005000") AT(0, "1.004999") AT(0, "2.000000"));
	assert_int_equal(n_evs, 2);
	assert_non_null(strstr(said.partial, "line 3: time goes back, from 1.005000 to 1.004999;"));
	read_lines(AT(0, "1.000000") AT(0, "1.000000"));
	assert_int_equal(n_evs, 2);
	assert_string_equal(said.partial, "");
}

/* ---- lines ---- */

static void line_ends(void **state)
{
	static const char cut[] = GOOD "  <idle>-0     [000] d..1.  2.000000: " IDLE(0);
	static const char nul[] = "\0\0\n" GOOD "\0  <idle>-0\0\n";

	(void)state;
	read_lines("  <idle>-0     [000] d..1.  1.000000: " IDLE(
		0) "\r\n"
		   "  <idle>-0     [000] d..1.  2.000000: " IDLE(0) "\r");
	assert_int_equal(n_evs, 2);
	assert_string_equal(said.partial, "");
	assert_int_equal(read_text(cut, sizeof(cut) - 1), 0);
	assert_int_equal(n_evs, 1);
	assert_string_equal(said.partial, "text: ends in the middle of line 2");
	assert_int_equal(read_text(nul, sizeof(nul) - 1), 0);
	assert_int_equal(n_evs, 1);
	assert_string_equal(said.partial, "");
	assert_int_equal(read_text("", 0), -EINVAL);
	assert_string_equal(err.text, "text: empty");
}

/* What is behind a line's first part is no line, wherever a read began. */
static void long_lines(void **state)
{
	const size_t buffer = 256 << 10;
	char *text = malloc(4 * buffer);
	size_t n = 0;

	(void)state;
	assert_non_null(text);
	for (unsigned int i = 1; i < 3; i++) {
		memset(text + n, 'x', i * buffer - n);
		n = i * buffer;
		n += (size_t)sprintf(text + n, GOOD);
		n += (size_t)sprintf(text + n, AT(0, "2.000000"));
	}
	assert_int_equal(read_text(text, n), 0);
	free(text);
	assert_int_equal(n_evs, 2);
	assert_int_equal(evs[0].t_ns, 2000000000);
	assert_int_equal(evs[1].t_ns, 2000000000);
	assert_string_equal(said.partial, "");
}

static void comments(void **state)
{
	static const struct {
		const char *line;
		unsigned int n_cpus;
	} cases[] = {
		{"# entries-in-buffer/entries-written: 4/4   #P:8", 8},
		{"cpus=8", 8},
		{"# nrcpus avail : 8", 8},
		{"cpus=65535", 65535},
		{"cpus=65536", 0},
		{"cpus=4294967304", 0},
		{"cpus=8\ncpus=4", 8},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), "%s\n" GOOD, cases[i].line);
		read_lines(text);
		if (n_evs != 1 || said.n_cpus != cases[i].n_cpus)
			fail_msg("'%s': %u CPUs", cases[i].line, said.n_cpus);
	}
	read_lines("# hostname : board\n# os release : 7.3.4\n# arch : aarch64\n" GOOD);
	assert_string_equal(said.host, "board");
	assert_string_equal(said.kernel, "7.3.4");
	assert_string_equal(said.machine, "aarch64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads),
		cmocka_unit_test(no_heads),
		cmocka_unit_test(stamps_out_of_range),
		cmocka_unit_test(stamps_without_a_unit),
		cmocka_unit_test(fields),
		cmocka_unit_test(raw_fields),
		cmocka_unit_test(numbers),
		cmocka_unit_test(cpus_out_of_range),
		cmocka_unit_test(losses),
		cmocka_unit_test(losses_at_the_ends),
		cmocka_unit_test(time_goes_back),
		cmocka_unit_test(line_ends),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(comments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
