// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What five kernels say of their events and types (tests/fixtures/kernels, made by
 * tests/board/kernel-facts): every field that the tests' second source reads is
 * found by its name, and the probe finds every tracepoint and its argument.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <event-parse.h>

#include "tmigr/features.h"

/* Which way a kernel has what changed. */
struct kernel {
	const char *version;
	bool available;	 /* tmigr_cpu_available, not tmigr_cpu_online */
	bool capacity;	 /* field of the connect events */
	int connect_arg; /* position of the child among their raw arguments */
};

static const struct kernel kernels[] = {
	{"6.12.117", false, false, 0}, {"6.18.15", false, false, 0}, {"6.19.14", true, false, 0},
	{"7.2.12", true, true, 1},     {"7.3.4", true, true, 1},
};

#define N_KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static void path_of(const struct kernel *k, const char *name, char *buf, size_t size)
{
	const char *tests = getenv("TMIGR_TESTS");

	snprintf(buf, size, "%s/fixtures/kernels/%s/%s", tests ? tests : "tests", k->version, name);
}

/* Owned by the caller; fails the test when it cannot be read. */
static char *read_file(const struct kernel *k, const char *name, size_t *ret_size)
{
	char path[512], *text = malloc(65536);
	FILE *in;

	path_of(k, name, path, sizeof(path));
	in = fopen(path, "r");
	if (!in)
		fail_msg("%s is missing", path);
	assert_non_null(text);
	*ret_size = fread(text, 1, 65535, in);
	text[*ret_size] = '\0';
	fclose(in);
	return text;
}

/* The event as @tep parses it, belonging to @tep. */
static struct tep_event *parse(struct tep_handle *tep, const char *system, const char *text)
{
	struct tep_event *event = NULL;

	assert_int_equal(tep_parse_format(tep, &event, text, strlen(text), system), 0);
	assert_non_null(event);
	return event;
}

static struct tep_event *event_of(struct tep_handle *tep, const struct kernel *k,
				  const char *system, const char *name)
{
	struct tep_event *event;
	char file[128], *text;
	size_t size;

	snprintf(file, sizeof(file), "%s/%s", system, name);
	text = read_file(k, file, &size);
	event = parse(tep, system, text);
	assert_string_equal(event->name, name);
	free(text);
	return event;
}

/* @names: with blanks between; "a|b" is either. */
static void expect_fields(const struct kernel *k, struct tep_event *event, const char *names)
{
	char copy[256], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", names);
	for (char *one = strtok_r(copy, " ", &save); one; one = strtok_r(NULL, " ", &save)) {
		char *other = strchr(one, '|');
		const struct tep_format_field *f;

		if (other)
			*other++ = '\0';
		f = tep_find_field(event, one);
		if (!f && other)
			f = tep_find_field(event, other);
		if (!f)
			fail_msg("%s: %s has no field %s", k->version, event->name, one);
		else
			assert_true(f->size > 0 && f->size <= 8);
	}
}

#define MASK	"childmask|groupmask"
#define CONNECT "parent lvl numa_node num_children " MASK
#define CPU	"parent cpu wakeup"

static const struct {
	const char *system, *name, *fields;
} events[] = {
	{"power", "cpu_idle", "state cpu_id"},
	{"power", "cpu_idle_miss", "cpu_id state below"},
	{"timer_migration", "tmigr_group_set", "group lvl numa_node"},
	{"timer_migration", "tmigr_connect_child_parent", "child " CONNECT},
	{"timer_migration", "tmigr_connect_cpu_parent", "cpu " CONNECT},
	{"timer_migration", "tmigr_group_set_cpu_active", "group parent active migrator lvl " MASK},
	{"timer_migration", "tmigr_group_set_cpu_inactive",
	 "group parent active migrator lvl " MASK},
	{"timer_migration", "tmigr_cpu_active", CPU},
	{"timer_migration", "tmigr_cpu_idle", CPU " nextevt"},
	{"timer_migration", "tmigr_cpu_new_timer", CPU},
	{"timer_migration", "tmigr_cpu_new_timer_idle", CPU " nextevt"},
	{"timer_migration", "tmigr_handle_remote", "group lvl"},
	{"timer_migration", "tmigr_handle_remote_cpu", CPU},
	{"timer_migration", "tmigr_update_events", "child group"},
};

static void check_kernel_formats(const struct kernel *k)
{
	static const char *const connect[] = {"tmigr_connect_child_parent",
					      "tmigr_connect_cpu_parent"};
	struct tep_handle *tep = tep_alloc();
	char *page, path[512];
	FILE *other;
	size_t size;

	assert_non_null(tep);
	page = read_file(k, "header_page", &size);
	assert_int_equal(tep_parse_header_page(tep, page, size, 8), 0);
	assert_int_equal(tep_get_header_page_size(tep), 8);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		expect_fields(k, event_of(tep, k, events[i].system, events[i].name),
			      events[i].fields);
	expect_fields(k,
		      event_of(tep, k, "timer_migration",
			       k->available ? "tmigr_cpu_available" : "tmigr_cpu_online"),
		      "parent cpu");
	expect_fields(k,
		      event_of(tep, k, "timer_migration",
			       k->available ? "tmigr_cpu_unavailable" : "tmigr_cpu_offline"),
		      "parent cpu");
	/* and not the other way as well */
	path_of(k,
		k->available ? "timer_migration/tmigr_cpu_online"
			     : "timer_migration/tmigr_cpu_available",
		path, sizeof(path));
	other = fopen(path, "r");
	assert_null(other);
	for (int i = 0; i < 2; i++) {
		struct tep_event *event =
			tep_find_event_by_name(tep, "timer_migration", connect[i]);

		assert_int_equal(tep_find_field(event, "capacity") != NULL, k->capacity);
	}
	free(page);
	tep_free(tep);
}

static void formats(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_KERNELS; i++)
		check_kernel_formats(&kernels[i]);
}

/* A field is read where the format says, not where another kernel has it. */
static void layout_differs(void **state)
{
	int mask_at[N_KERNELS];

	(void)state;
	for (size_t i = 0; i < N_KERNELS; i++) {
		struct tep_handle *tep = tep_alloc();
		struct tep_event *event =
			event_of(tep, &kernels[i], "timer_migration", "tmigr_connect_cpu_parent");
		const struct tep_format_field *f = tep_find_field(event, "groupmask");
		unsigned char data[64] = {0};

		mask_at[i] = f->offset;
		data[f->offset] = 0x20;
		assert_int_equal(tep_read_number(tep, data + f->offset, f->size), 0x20);
		tep_free(tep);
	}
	assert_int_not_equal(mask_at[0], mask_at[N_KERNELS - 1]);
}

/* Up to v6.10 the mask was called childmask. */
static void old_name(void **state)
{
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event;
	char *text, *at;
	size_t size;

	(void)state;
	text = read_file(&kernels[0], "timer_migration/tmigr_connect_cpu_parent", &size);
	while ((at = strstr(text, "groupmask")))
		memcpy(at, "childmask", strlen("childmask"));
	event = parse(tep, "timer_migration", text);
	expect_fields(&kernels[0], event, MASK);
	assert_null(tep_find_field(event, "groupmask"));
	free(text);
	tep_free(tep);
}

static void btf_path(const struct kernel *k, char *buf, size_t size)
{
	char name[32];

	snprintf(name, sizeof(name), "%s.btf", k->version);
	path_of(k, name, buf, size);
}

static void check_kernel_probe(const struct kernel *k)
{
	char path[512];
	struct tmigr_features f;
	struct tmigr_err err = {""};

	btf_path(k, path, sizeof(path));
	assert_int_equal(tmigr_features_probe(path, "/dev/null", &f, &err), 0);
	assert_true(f.btf);
	assert_true(f.tmigr);
	assert_false(f.ksym_tmigr_cpu); /* no symbols */
	for (int tp = 0; tp < TMIGR_TPS; tp++) {
		int wanted = 0;

		if (tp == TMIGR_TP_CONNECT_CPU_PARENT || tp == TMIGR_TP_CONNECT_CHILD_PARENT)
			wanted = k->connect_arg;
		else if (tp == TMIGR_TP_CPU_ONLINE || tp == TMIGR_TP_CPU_OFFLINE)
			wanted = k->available ? -1 : 0;
		else if (tp == TMIGR_TP_CPU_AVAILABLE || tp == TMIGR_TP_CPU_UNAVAILABLE)
			wanted = k->available ? 0 : -1;
		else if (tp == TMIGR_TP_GROUP_SET)
			wanted = f.tp_arg[tp] < 0 ? -2 : f.tp_arg[tp];
		if (f.tp_arg[tp] != wanted)
			fail_msg("%s: %s at %d, not %d", k->version, tmigr_tp_name(tp),
				 f.tp_arg[tp], wanted);
	}
}

static void probe(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_KERNELS; i++)
		check_kernel_probe(&kernels[i]);
}

/* The variables' types are in BTF, so that symbols alone decide. */
static void symbols(void **state)
{
	char path[] = "/tmp/tmigr-test-kallsyms-XXXXXX", btf[512];
	int fd = mkstemp(path);
	FILE *out = fdopen(fd, "w");

	(void)state;
	assert_non_null(out);
	fputs("ffffffc0812a3b40 d tmigr_cpu\nffffffc0812a4b40 D runqueues\n", out);
	fclose(out);
	for (size_t i = 0; i < N_KERNELS; i++) {
		struct tmigr_features f;
		struct tmigr_err err = {""};

		btf_path(&kernels[i], btf, sizeof(btf));
		assert_int_equal(tmigr_features_probe(btf, path, &f, &err), 0);
		assert_true(f.ksym_tmigr_cpu);
		assert_true(f.ksym_runqueues);
	}
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),  cmocka_unit_test(layout_differs),
		cmocka_unit_test(old_name), cmocka_unit_test(probe),
		cmocka_unit_test(symbols),
	};

	return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
