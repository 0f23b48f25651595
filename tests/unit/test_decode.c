// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of ftrace buffers, by the formats of kernels of five series
 * (tests/fixtures/kernels): made here by a reading of these files that is not the
 * decoder's.  And formats that no kernel has.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <event-parse.h>

#include "../../lib/decode.h"

#define KERNELS "tests/fixtures/kernels"

static const struct tmigr_hotplug_steps no_steps = {-1, -1};

static bool big; /* of what byte order the file is */

/* ---- formats, read by hand ---- */

struct field {
	char name[40];
	unsigned int offset, size;
};

struct format {
	char name[64];
	unsigned int id, n;
	struct field fields[24];
	char text[8192];
};

static void read_format(const char *path, struct format *f)
{
	FILE *file = fopen(path, "r");
	char line[512], decl[200];
	size_t len = 0;

	memset(f, 0, sizeof(*f));
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		struct field *field = &f->fields[f->n];

		len += (size_t)snprintf(f->text + len, sizeof(f->text) - len, "%s", line);
		sscanf(line, "name: %63s", f->name);
		sscanf(line, "ID: %u", &f->id);
		if (sscanf(line, " field:%199[^;]; offset:%u; size:%u;", decl, &field->offset,
			   &field->size) != 3)
			continue;
		snprintf(field->name, sizeof(field->name), "%.39s", strrchr(decl, ' ') + 1);
		f->n++;
	}
	fclose(file);
}

static const struct field *field_of(const struct format *f, const char *name)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (strcmp(f->fields[i].name, name) == 0)
			return &f->fields[i];
	return NULL;
}

/* Writes @v where the format has @name; false: it has none. */
static bool put(const struct format *f, unsigned char *rec, const char *name, uint64_t v)
{
	const struct field *field = field_of(f, name);

	for (unsigned int i = 0; field && i < field->size; i++)
		rec[field->offset + (big ? field->size - 1 - i : i)] = (unsigned char)(v >> 8 * i);
	return field;
}

static unsigned int size_of(const struct format *f)
{
	unsigned int size = 0;

	for (unsigned int i = 0; i < f->n; i++)
		if (f->fields[i].offset + f->fields[i].size > size)
			size = f->fields[i].offset + f->fields[i].size;
	return size;
}

static struct tmigr_decoder *decoder_of(const char *text, const char *system,
					struct tmigr_hotplug_steps steps)
{
	struct tep_handle *tep = tep_alloc();
	struct tmigr_decoder *d = NULL;
	struct tmigr_err err = {""};

	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(tep, big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_parse_event(tep, text, strlen(text), system);
	if (tmigr_decoder_new(tep, steps, &d, &err))
		assert_true(err.text[0]);
	tep_free(tep);
	return d;
}

/* ---- every event of every kernel ---- */

#define GROUP  0xffff888001234500ULL
#define PARENT 0xffff888007654300ULL

static void check_event(const struct format *f, const struct tmigr_traced *e)
{
	bool update = strstr(f->name, "group_set_cpu");
	bool connect = strstr(f->name, "connect");

	assert_int_equal(e->t_ns, 77);
	assert_int_equal(e->pid, 4242);
	if (strcmp(f->name, "cpu_idle") == 0 || strcmp(f->name, "cpu_idle_miss") == 0) {
		assert_int_equal(e->value, 3);
		assert_int_equal(e->cpu, 6);
		assert_int_equal(e->below, strcmp(f->name, "cpu_idle_miss") == 0);
		return;
	}
	assert_int_equal(e->cpu, 1);
	if (update) {
		assert_int_equal(e->active, 0x5a);
		assert_int_equal(e->migrator, 0x12);
	}
	if (update || connect)
		assert_int_equal(e->mask, 0x40);
	if (update || connect || strstr(f->name, "group_set"))
		assert_int_equal(e->node, -1);
	if (field_of(f, "lvl") || field_of(f, "group_lvl"))
		assert_int_equal(e->level, 2);
	if (field_of(f, "cpu"))
		assert_int_equal(e->subject, 5);
	/* Of a CPU that comes and goes it means nothing. */
	if (field_of(f, "wakeup") && !strstr(f->name, "available") && !strstr(f->name, "line"))
		assert_int_equal(e->value, TMIGR_KTIME_MAX - 1);
	if (strstr(f->name, "connect_child")) {
		assert_int_equal(e->group, GROUP + 64);
		assert_int_equal(e->parent, PARENT);
	} else if (field_of(f, "group")) {
		assert_int_equal(e->group, GROUP);
	} else {
		assert_int_equal(e->group, PARENT);
	}
	assert_int_equal(!!(e->has & TMIGR_HAS_CAPACITY), !!field_of(f, "capacity"));
	if (connect) {
		assert_int_equal(e->num_children, 7);
		assert_true(e->has & TMIGR_HAS_NUM_CHILDREN);
	}
}

static void fill(const struct format *f, unsigned char *rec)
{
	memset(rec, 0xee, 256);
	put(f, rec, "common_type", f->id);
	put(f, rec, "common_pid", 4242);
	put(f, rec, "state", 3);
	put(f, rec, "cpu_id", 6);
	put(f, rec, "below", 1);
	put(f, rec, "group", GROUP);
	put(f, rec, "parent", PARENT);
	put(f, rec, "child", GROUP + 64);
	put(f, rec, "lvl", 2);
	put(f, rec, "group_lvl", 2);
	put(f, rec, "numa_node", (uint64_t)-1);
	put(f, rec, "family", (uint64_t)-1);
	put(f, rec, "childmask", 0x40);
	put(f, rec, "groupmask", 0x40);
	put(f, rec, "active", 0x5a);
	put(f, rec, "migrator", 0x12);
	put(f, rec, "cpu", 5);
	put(f, rec, "wakeup", TMIGR_KTIME_MAX - 1);
	put(f, rec, "num_children", 7);
	put(f, rec, "capacity", 442);
}

static unsigned int check_format(const char *path, const char *system)
{
	unsigned char rec[256];
	struct tmigr_traced e;
	struct tmigr_decoder *d;
	struct format f;

	read_format(path, &f);
	d = decoder_of(f.text, system, no_steps);
	assert_non_null(d);
	assert_string_equal(tmigr_decoder_problem(d), "");
	fill(&f, rec);
	assert_int_equal(tmigr_decode(d, rec, size_of(&f), 77, 1, &e), 1);
	assert_int_equal(e.type, tmigr_traced_type(f.name, strlen(f.name)));
	assert_int_not_equal(e.type, TMIGR_TRACED_OTHER);
	assert_int_equal(!!(e.has & TMIGR_HAS_HOTPLUG), strstr(f.name, "line") != NULL);
	check_event(&f, &e);
	/* One byte short, to none at all. */
	for (unsigned int size = 0; size < size_of(&f); size++) {
		unsigned char *tight = malloc(size + 1);
		int ret;

		memcpy(tight, rec, size);
		ret = tmigr_decode(d, tight, size, 77, 1, &e);
		/* The last field may be one that is of no use. */
		assert_true(ret == -EINVAL || (ret == 1 && size > 8));
		free(tight);
	}
	/* Another event's number. */
	put(&f, rec, "common_type", f.id + 1);
	assert_int_equal(tmigr_decode(d, rec, size_of(&f), 77, 1, &e), 0);
	assert_int_equal(e.type, TMIGR_TRACED_OTHER);
	tmigr_decoder_free(d);
	return 1;
}

static unsigned int check_folder(const char *kernel, const char *system)
{
	unsigned int n = 0;
	struct dirent *e;
	char path[512];
	DIR *dir;

	snprintf(path, sizeof(path), KERNELS "/%s/%s", kernel, system);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), KERNELS "/%s/%s/%s", kernel, system, e->d_name);
		n += check_format(path, system);
	}
	closedir(dir);
	return n;
}

static void test_kernels(void **state)
{
	static const char *const kernels[] = {"6.12.117", "6.18.15", "6.19.14", "7.2.12", "7.3.4"};

	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		assert_int_equal(check_folder(kernels[i], "power"), 2);
		assert_int_equal(check_folder(kernels[i], "timer_migration"), 14);
	}
}

static void test_big_endian(void **state)
{
	big = true;
	test_kernels(state);
	big = false;
}

/* ---- formats of kernels that have none here ---- */

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(decl, offset, size)                                                                  \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"
#define FORMAT(name, id, fields)                                                                   \
	"name: " name "\nID: " #id "\nformat:\n" COMMON fields "\nprint fmt: \"\"\n"

/* v6.9 names the mask childmask, out-of-tree kernels the node family; a field that
 * nobody knows stands between. */
static void test_other_names(void **state)
{
	static const char text[] = FORMAT(
		"tmigr_connect_cpu_parent", 50,
		FIELD("void * parent", 8, 8) FIELD("unsigned int cpu", 16, 4)
			FIELD("unsigned int lvl", 20, 4) FIELD("u64 novelty", 24, 8)
				FIELD("unsigned int family", 32, 4) FIELD("u32 childmask", 36, 4));
	struct tmigr_decoder *d = decoder_of(text, "timer_migration", no_steps);
	unsigned char rec[40] = {50};
	struct tmigr_traced e;

	(void)state;
	assert_non_null(d);
	rec[16] = 9;
	rec[20] = 1;
	rec[32] = 4;
	rec[36] = 2;
	rec[8] = 0x80;
	assert_int_equal(tmigr_decode(d, rec, sizeof(rec), 1, 0, &e), 1);
	assert_int_equal(e.type, TMIGR_TRACED_CONNECT_CPU);
	assert_int_equal(e.subject, 9);
	assert_int_equal(e.node, 4);
	assert_int_equal(e.mask, 2);
	assert_int_equal(e.level, 1);
	assert_int_equal(e.group, 0x80);
	assert_int_equal(e.has, TMIGR_HAS_NODE);
	tmigr_decoder_free(d);
}

#define IDLE(fields) FORMAT("cpu_idle", 60, fields)
#define STATE	     FIELD("u32 state", 8, 4)

static void test_hostile_formats(void **state)
{
	static const char *const bad[] = {
		IDLE(STATE),				/* no CPU */
		IDLE(STATE FIELD("u32 cpu_id", 8, 4)),	/* one in another */
		IDLE(STATE FIELD("u32 cpu_id", 10, 4)), /* half */
		IDLE(STATE FIELD("u32 cpu_id", 4, 4)),	/* in the common ones */
		IDLE(STATE FIELD("u32 cpu_id", 1, 1)),
		IDLE(STATE FIELD("u32 cpu_id", -4, 4)),
		IDLE(STATE FIELD("u32 cpu_id", 2147483647, 4)),
		IDLE(STATE FIELD("u32 cpu_id", 4294967290, 4)),
		IDLE(STATE FIELD("u32 cpu_id", 65536, 4)),
		IDLE(STATE FIELD("u32 cpu_id", 4093, 4)),
		IDLE(STATE FIELD("u32 cpu_id", 12, 0)),
		IDLE(STATE FIELD("u32 cpu_id", 12, 3)),
		IDLE(STATE FIELD("u32 cpu_id", 12, 16)),
		IDLE(STATE FIELD("u32 cpu_id", 12, -8)),
		IDLE(STATE FIELD("u32 cpu_id[4]", 12, 4)),
		IDLE(STATE FIELD("__data_loc char[] cpu_id", 12, 4)),
		FORMAT("cpu_idle", 65536, STATE FIELD("u32 cpu_id", 12, 4)),
		FORMAT("cpu_idle", -1, STATE FIELD("u32 cpu_id", 12, 4)),
		"name: cpu_idle\nID: 60\nformat:\n" STATE FIELD("u32 cpu_id", 12, 4),
		"name: cpu_idle\n",
		"",
	};

	struct tmigr_decoder *d;

	(void)state;
	d = decoder_of(IDLE(STATE FIELD("u32 cpu_id", 12, 4)), "power", no_steps);
	assert_non_null(d);
	tmigr_decoder_free(d);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (decoder_of(bad[i], "power", no_steps))
			fail_msg("format %zu was taken: %s", i, bad[i]);
}

/* One of two is bad: the other serves, and the problem is told. */
static void test_one_bad(void **state)
{
	struct tep_handle *tep = tep_alloc();
	static const char good[] = IDLE(STATE FIELD("u32 cpu_id", 12, 4));
	static const char bad[] = FORMAT("tmigr_cpu_idle", 61, FIELD("u32 cpu", 8, 4));
	static const char same[] =
		FORMAT("tmigr_handle_remote", 60,
		       FIELD("void * group", 8, 8) FIELD("unsigned int lvl", 16, 4));
	struct tmigr_decoder *d;
	unsigned char rec[16] = {60};
	struct tmigr_traced e;

	(void)state;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_parse_event(tep, good, strlen(good), "power");
	tep_parse_event(tep, bad, strlen(bad), "timer_migration");
	tep_parse_event(tep, same, strlen(same), "timer_migration");
	assert_int_equal(tmigr_decoder_new(tep, no_steps, &d, NULL), 0);
	assert_non_null(strstr(tmigr_decoder_problem(d), "tmigr_cpu_idle"));
	assert_true(tmigr_decoder_has(d, TMIGR_TRACED_CPU_IDLE));
	assert_false(tmigr_decoder_has(d, TMIGR_TRACED_CPU_INACTIVE));
	assert_false(tmigr_decoder_has(d, TMIGR_TRACED_HANDLE_REMOTE));
	assert_int_equal(tmigr_decode(d, rec, sizeof(rec), 1, 0, &e), 1);
	tmigr_decoder_free(d);
	tep_free(tep);
}

/* Values that no kernel writes. */
static void test_values(void **state)
{
	static const char text[] =
		FORMAT("tmigr_group_set_cpu_active", 70,
		       FIELD("void * group", 8, 8) FIELD("unsigned int lvl", 16, 4)
			       FIELD("u32 childmask", 20, 4) FIELD("u32 active", 24, 4)
				       FIELD("u32 migrator", 28, 4));
	static const int offsets[] = {16, 20, 24, 28};
	struct tmigr_decoder *d = decoder_of(text, "timer_migration", no_steps);
	unsigned char rec[32] = {70};
	struct tmigr_traced e;

	(void)state;
	assert_non_null(d);
	/* No group. */
	assert_int_equal(tmigr_decode(d, rec, sizeof(rec), 1, 0, &e), -EINVAL);
	rec[8] = 64;
	assert_int_equal(tmigr_decode(d, rec, sizeof(rec), 1, 0, &e), 1);
	for (size_t i = 0; i < 4; i++) {
		rec[offsets[i] + 1] = 1;
		assert_int_equal(tmigr_decode(d, rec, sizeof(rec), 1, 0, &e), -EINVAL);
		rec[offsets[i] + 1] = 0;
	}
	tmigr_decoder_free(d);
	d = decoder_of(IDLE(STATE FIELD("u32 cpu_id", 12, 4)), "power", no_steps);
	memset(rec, 0xff, sizeof(rec));
	rec[0] = 60;
	rec[1] = 0;
	assert_int_equal(tmigr_decode(d, rec, sizeof(rec), 1, 0, &e), -EINVAL);
	rec[12] = rec[13] = rec[14] = rec[15] = 0;
	assert_int_equal(tmigr_decode(d, rec, sizeof(rec), 1, 0, &e), 1);
	assert_int_equal(e.value, TMIGR_TRACED_IDLE_EXIT);
	tmigr_decoder_free(d);
}

/* The bring-up step on the way up, the teardown step when it succeeded. */
static void test_hotplug(void **state)
{
	static const char enter[] = FORMAT(
		"cpuhp_enter", 80,
		FIELD("unsigned int cpu", 8, 4) FIELD("int target", 12, 4) FIELD("int idx", 16, 4));
	static const char leave[] = FORMAT("cpuhp_exit", 81,
					   FIELD("unsigned int cpu", 8, 4) FIELD("int state", 12, 4)
						   FIELD("int idx", 16, 4) FIELD("int ret", 20, 4));
	const struct tmigr_hotplug_steps steps = {.bringup = 83, .teardown = 144};
	struct tmigr_decoder *up = decoder_of(enter, "cpuhp", steps);
	struct tmigr_decoder *down = decoder_of(leave, "cpuhp", steps);
	struct tmigr_decoder *unknown = decoder_of(enter, "cpuhp", no_steps);
	unsigned char rec[24] = {80};
	struct tmigr_traced e;

	(void)state;
	rec[8] = 3;
	rec[12] = 200;
	rec[16] = 83;
	assert_int_equal(tmigr_decode(up, rec, 20, 1, 0, &e), 1);
	assert_int_equal(e.type, TMIGR_TRACED_HOTPLUG_ONLINE);
	assert_int_equal(e.subject, 3);
	assert_int_equal(tmigr_decode(unknown, rec, 20, 1, 0, &e), 0);
	rec[12] = 0; /* on the way down */
	assert_int_equal(tmigr_decode(up, rec, 20, 1, 0, &e), 0);
	rec[12] = 200;
	rec[16] = 84;
	assert_int_equal(tmigr_decode(up, rec, 20, 1, 0, &e), 0);
	rec[0] = 81;
	rec[16] = 144;
	assert_int_equal(tmigr_decode(down, rec, 24, 1, 0, &e), 1);
	assert_int_equal(e.type, TMIGR_TRACED_HOTPLUG_OFFLINE);
	rec[20] = 0xf0; /* failed */
	assert_int_equal(tmigr_decode(down, rec, 24, 1, 0, &e), 0);
	tmigr_decoder_free(up);
	tmigr_decoder_free(down);
	tmigr_decoder_free(unknown);
}

/* Each step, where all are wanted: what it is on the way to, its result and state. */
static void test_all_steps(void **state)
{
	static const char enter[] = FORMAT(
		"cpuhp_multi_enter", 80,
		FIELD("unsigned int cpu", 8, 4) FIELD("int target", 12, 4) FIELD("int idx", 16, 4));
	static const char leave[] = FORMAT("cpuhp_exit", 81,
					   FIELD("unsigned int cpu", 8, 4) FIELD("int state", 12, 4)
						   FIELD("int idx", 16, 4) FIELD("int ret", 20, 4));
	struct tmigr_decoder *in = decoder_of(enter, "cpuhp", no_steps);
	struct tmigr_decoder *out = decoder_of(leave, "cpuhp", no_steps);
	unsigned char rec[24] = {80};
	struct tmigr_traced e;

	(void)state;
	rec[8] = 3;
	rec[12] = 200;
	rec[16] = 84;
	assert_int_equal(tmigr_decode(in, rec, 20, 1, 5, &e), 0);
	tmigr_decoder_all_steps(in);
	tmigr_decoder_all_steps(out);
	assert_int_equal(tmigr_decode(in, rec, 20, 1, 5, &e), 1);
	assert_int_equal(e.type, TMIGR_TRACED_STEP_ENTER);
	assert_int_equal(e.cpu, 5);
	assert_int_equal(e.subject, 3);
	assert_int_equal(e.value, 84);
	assert_int_equal(e.node, 200);
	rec[0] = 81;
	memset(rec + 20, 0xff, 4); /* -1 */
	assert_int_equal(tmigr_decode(out, rec, 24, 1, 5, &e), 1);
	assert_int_equal(e.type, TMIGR_TRACED_STEP_EXIT);
	assert_int_equal(e.capacity, 200);
	assert_int_equal(e.value, 84);
	assert_int_equal(e.node, -1);
	tmigr_decoder_free(in);
	tmigr_decoder_free(out);
}

static const char *function_name(void *arg, __u64 address)
{
	(void)arg;
	return address == 0x1111   ? "bringup_cpu"
	       : address == 0x2222 ? "takedown_cpu"
	       : address == 0x3333 ? "cpuhp_bringup_ap"
	       : address == 0x4444 ? "finish_cpu"
				   : NULL;
}

/* Steps by the functions that they call. */
static void test_hotplug_functions(void **state)
{
	static const char enter[] =
		FORMAT("cpuhp_enter", 80,
		       FIELD("unsigned int cpu", 8, 4) FIELD("int target", 12, 4)
			       FIELD("int idx", 16, 4) FIELD("void * fun", 24, 8));
	struct tmigr_decoder *d = decoder_of(enter, "cpuhp", no_steps);
	unsigned char rec[32] = {80};
	struct tmigr_traced e;

	(void)state;
	tmigr_decoder_functions(d, function_name, NULL);
	rec[8] = 3;
	rec[12] = 200;
	rec[16] = 83;
	rec[24] = rec[25] = 0x44;
	assert_int_equal(tmigr_decode(d, rec, 32, 1, 0, &e), 0);
	rec[24] = rec[25] = 0x11;
	assert_int_equal(tmigr_decode(d, rec, 32, 1, 0, &e), 1);
	assert_int_equal(e.type, TMIGR_TRACED_HOTPLUG_ONLINE);
	assert_int_equal(e.subject, 3);
	rec[24] = rec[25] = 0x55; /* no name: what is known stays */
	assert_int_equal(tmigr_decode(d, rec, 32, 1, 0, &e), 1);
	rec[16] = 91;
	rec[24] = rec[25] = 0x33; /* where CPUs are started in parallel */
	assert_int_equal(tmigr_decode(d, rec, 32, 1, 0, &e), 1);
	rec[12] = 0;
	rec[24] = rec[25] = 0x44; /* the same step, on the way down */
	assert_int_equal(tmigr_decode(d, rec, 32, 1, 0, &e), 0);
	tmigr_decoder_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),		  cmocka_unit_test(test_big_endian),
		cmocka_unit_test(test_other_names),	  cmocka_unit_test(test_hostile_formats),
		cmocka_unit_test(test_one_bad),		  cmocka_unit_test(test_values),
		cmocka_unit_test(test_hotplug),		  cmocka_unit_test(test_all_steps),
		cmocka_unit_test(test_hotplug_functions),
	};

	return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
