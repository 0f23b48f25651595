// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel probing against BTF and kallsyms made here, and the running kernel's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "tmigr/features.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* ---- a small BTF of a kernel that does not exist ---- */

struct maker {
	struct btf *btf;
	int u32_id, void_ptr, group_ptr, cpu_ptr, hier_ptr;
};

static int ok(int id)
{
	assert_true(id >= 0);
	return id;
}

static int struct_ptr(struct btf *btf, const char *name)
{
	int id = ok(btf__add_struct(btf, name, 8));

	return ok(btf__add_ptr(btf, id));
}

static void maker_init(struct maker *m)
{
	m->btf = btf__new_empty();
	assert_non_null(m->btf);
	m->u32_id = ok(btf__add_int(m->btf, "unsigned int", 4, 0));
	m->void_ptr = ok(btf__add_ptr(m->btf, 0));
	m->group_ptr = struct_ptr(m->btf, "tmigr_group");
	m->cpu_ptr = struct_ptr(m->btf, "tmigr_cpu");
	m->hier_ptr = struct_ptr(m->btf, "tmigr_hierarchy");
}

/* typedef void (*btf_trace_NAME)(void *, A, B); 0 = no such argument */
static void tracepoint(struct maker *m, const char *name, int a, int b)
{
	char def[96];
	int proto = ok(btf__add_func_proto(m->btf, 0));

	ok(btf__add_func_param(m->btf, NULL, m->void_ptr));
	if (a)
		ok(btf__add_func_param(m->btf, NULL, a));
	if (b)
		ok(btf__add_func_param(m->btf, NULL, b));
	snprintf(def, sizeof(def), "btf_trace_%s", name);
	ok(btf__add_typedef(m->btf, def, ok(btf__add_ptr(m->btf, proto))));
}

static void common_tracepoints(struct maker *m)
{
	tracepoint(m, "cpu_idle", m->u32_id, m->u32_id);
	tracepoint(m, "cpu_idle_miss", m->u32_id, m->u32_id);
	tracepoint(m, "tmigr_group_set_cpu_active", m->group_ptr, m->u32_id);
	tracepoint(m, "tmigr_group_set_cpu_inactive", m->group_ptr, m->u32_id);
	tracepoint(m, "tmigr_cpu_active", m->cpu_ptr, 0);
	tracepoint(m, "tmigr_cpu_idle", m->cpu_ptr, m->u32_id);
	tracepoint(m, "tmigr_cpu_new_timer", m->cpu_ptr, 0);
	tracepoint(m, "tmigr_cpu_new_timer_idle", m->cpu_ptr, m->u32_id);
	tracepoint(m, "tmigr_handle_remote", m->group_ptr, 0);
	tracepoint(m, "tmigr_handle_remote_cpu", m->cpu_ptr, 0);
	tracepoint(m, "tmigr_group_set", m->group_ptr, 0);
}

/* @section with the two per-CPU variables that are looked for */
static void percpu(struct maker *m, const char *section)
{
	int tmc = ok(btf__add_var(m->btf, "tmigr_cpu", BTF_VAR_STATIC, m->u32_id));
	int rq = ok(btf__add_var(m->btf, "runqueues", BTF_VAR_GLOBAL_ALLOCATED, m->u32_id));

	ok(btf__add_datasec(m->btf, section, 16));
	ok(btf__add_datasec_var_info(m->btf, tmc, 0, 4));
	ok(btf__add_datasec_var_info(m->btf, rq, 4, 4));
}

/* ---- files in a directory of their own ---- */

struct fixture {
	char dir[64];
	char btf[96];
	char kallsyms[96];
};

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	assert_non_null(fx);
	strcpy(fx->dir, "/tmp/tmigr-features-XXXXXX");
	assert_non_null(mkdtemp(fx->dir));
	snprintf(fx->btf, sizeof(fx->btf), "%s/btf", fx->dir);
	snprintf(fx->kallsyms, sizeof(fx->kallsyms), "%s/kallsyms", fx->dir);
	*state = fx;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	unlink(fx->btf);
	unlink(fx->kallsyms);
	rmdir(fx->dir);
	free(fx);
	return 0;
}

static void put(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void put_btf(const struct fixture *fx, struct maker *m)
{
	__u32 size;
	const void *raw = btf__raw_data(m->btf, &size);

	assert_non_null(raw);
	put(fx->btf, raw, size);
	btf__free(m->btf);
}

static void put_kallsyms(const struct fixture *fx, const char *text)
{
	put(fx->kallsyms, text, strlen(text));
}

static void probe(const struct fixture *fx, struct tmigr_features *f)
{
	struct tmigr_err err = {""};

	memset(f, 0xee, sizeof(*f));
	assert_int_equal(tmigr_features_probe(fx->btf, fx->kallsyms, f, &err), 0);
	assert_string_equal(err.text, "");
}

/* ---- tests ---- */

static void names(void **state)
{
	(void)state;
	for (int tp = 0; tp < TMIGR_TPS; tp++)
		assert_non_null(tmigr_tp_name(tp));
	assert_string_equal(tmigr_tp_name(TMIGR_TP_CPU_IDLE), "cpu_idle");
	assert_string_equal(tmigr_tp_name(TMIGR_TP_CPU_IDLE_EVENT), "tmigr_cpu_idle");
	assert_string_equal(tmigr_tp_name(TMIGR_TP_CPUHP_EXIT), "cpuhp_exit");
	assert_null(tmigr_tp_name(TMIGR_TPS));
	assert_null(tmigr_tp_name((enum tmigr_tp) - 1));
}

static void old_layout(void **state)
{
	struct fixture *fx = *state;
	struct tmigr_features f;
	struct maker m;

	maker_init(&m);
	common_tracepoints(&m);
	tracepoint(&m, "tmigr_connect_cpu_parent", m.cpu_ptr, 0);
	tracepoint(&m, "tmigr_connect_child_parent", m.group_ptr, 0);
	tracepoint(&m, "tmigr_cpu_online", m.cpu_ptr, 0);
	tracepoint(&m, "tmigr_cpu_offline", m.cpu_ptr, 0);
	percpu(&m, ".data..percpu");
	put_btf(fx, &m);
	put_kallsyms(fx, "ffffffff81000000 T _text\n"
			 "ffffffff82000040 d tmigr_cpu\n"
			 "ffffffff82000080 D runqueues\n");
	probe(fx, &f);
	assert_true(f.btf);
	assert_true(f.tmigr);
	for (int tp = 0; tp < TMIGR_TPS; tp++) {
		bool absent = tp == TMIGR_TP_CPU_AVAILABLE || tp == TMIGR_TP_CPU_UNAVAILABLE ||
			      tp == TMIGR_TP_CPUHP_ENTER || tp == TMIGR_TP_CPUHP_EXIT;

		assert_int_equal(f.tp_arg[tp], absent ? -1 : 0);
	}
	assert_true(f.ksym_tmigr_cpu);
	assert_true(f.ksym_runqueues);
	assert_int_equal(f.rq_to_tmc, -4);
}

/* v7.2: the hierarchy comes first in the connect events. */
static void hierarchy_layout(void **state)
{
	struct fixture *fx = *state;
	struct tmigr_features f;
	struct maker m;

	maker_init(&m);
	common_tracepoints(&m);
	tracepoint(&m, "tmigr_connect_cpu_parent", m.hier_ptr, m.cpu_ptr);
	tracepoint(&m, "tmigr_connect_child_parent", m.hier_ptr, m.group_ptr);
	tracepoint(&m, "tmigr_cpu_available", m.cpu_ptr, 0);
	tracepoint(&m, "tmigr_cpu_unavailable", m.cpu_ptr, 0);
	put_btf(fx, &m);
	probe(fx, &f);
	assert_true(f.tmigr);
	assert_int_equal(f.tp_arg[TMIGR_TP_CONNECT_CPU_PARENT], 1);
	assert_int_equal(f.tp_arg[TMIGR_TP_CONNECT_CHILD_PARENT], 1);
	assert_int_equal(f.tp_arg[TMIGR_TP_GROUP_SET], 0);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPU_AVAILABLE], 0);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPU_UNAVAILABLE], 0);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPU_ONLINE], -1);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPU_OFFLINE], -1);
}

/* const, typedef and forward declaration on the way change nothing. */
static void modifiers(void **state)
{
	struct fixture *fx = *state;
	struct tmigr_features f;
	struct maker m;
	int id;

	maker_init(&m);
	common_tracepoints(&m);
	id = ok(btf__add_fwd(m.btf, "tmigr_group", BTF_FWD_STRUCT));
	id = ok(btf__add_const(m.btf, id));
	id = ok(btf__add_typedef(m.btf, "group_t", id));
	id = ok(btf__add_const(m.btf, ok(btf__add_ptr(m.btf, id))));
	tracepoint(&m, "tmigr_connect_child_parent", m.hier_ptr, id);
	put_btf(fx, &m);
	probe(fx, &f);
	assert_int_equal(f.tp_arg[TMIGR_TP_CONNECT_CHILD_PARENT], 1);
}

/* Same name, other meaning: not attached to, and tmigr is not claimed. */
static void foreign_prototypes(void **state)
{
	struct fixture *fx = *state;
	struct tmigr_features f;
	struct maker m;

	maker_init(&m);
	tracepoint(&m, "tmigr_group_set_cpu_active", m.cpu_ptr, m.u32_id);
	tracepoint(&m, "tmigr_group_set_cpu_inactive", m.group_ptr, m.u32_id);
	tracepoint(&m, "tmigr_cpu_active", m.cpu_ptr, 0);
	tracepoint(&m, "tmigr_cpu_idle", 0, 0);
	tracepoint(&m, "tmigr_group_set", m.u32_id, m.void_ptr);
	ok(btf__add_typedef(m.btf, "btf_trace_tmigr_handle_remote", m.u32_id));
	ok(btf__add_typedef(m.btf, "btf_trace_cpu_idle", m.void_ptr));
	put_btf(fx, &m);
	probe(fx, &f);
	assert_true(f.btf);
	assert_false(f.tmigr);
	assert_int_equal(f.tp_arg[TMIGR_TP_GROUP_SET_CPU_ACTIVE], -1);
	assert_int_equal(f.tp_arg[TMIGR_TP_GROUP_SET_CPU_INACTIVE], 0);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPU_IDLE_EVENT], -1);
	assert_int_equal(f.tp_arg[TMIGR_TP_GROUP_SET], -1);
	assert_int_equal(f.tp_arg[TMIGR_TP_HANDLE_REMOTE], -1);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPU_IDLE], -1);
}

/* A kernel before v6.9: residency still works. */
static void without_tmigr(void **state)
{
	struct fixture *fx = *state;
	struct tmigr_features f;
	struct maker m;

	maker_init(&m);
	tracepoint(&m, "cpu_idle", m.u32_id, m.u32_id);
	percpu(&m, ".data");
	put_btf(fx, &m);
	put_kallsyms(fx, "ffffffff82000040 d tmigr_cpu\nffffffff82000080 D runqueues\n");
	probe(fx, &f);
	assert_true(f.btf);
	assert_false(f.tmigr);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPU_IDLE], 0);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPU_IDLE_EVENT], -1);
	/* variables of another section are not per-CPU variables */
	assert_false(f.ksym_tmigr_cpu);
	assert_false(f.ksym_runqueues);
}

static void kallsyms_lines(void **state)
{
	static const struct {
		const char *text;
		bool tmc, rq;
	} cases[] = {
		{"", false, false},
		{"0000000000000000 d tmigr_cpu\n0000000000000000 D runqueues\n", false, false},
		{"ffffffff82000040 d tmigr_cpu\n", true, false},
		{"0000000000033b40 A runqueues", false, true},
		{"ffffffff82000040 d tmigr_cpu_up\nffffffff82000040 d xtmigr_cpu\n"
		 "ffffffff82000040 D runqueues\t[evil]\n",
		 false, false},
		{"\n\nnonsense\nffffffff82000040\nffffffff82000040 d\nffffffff82000040 d \n"
		 "ffffffff82000040  tmigr_cpu\nffffffff82000040 dtmigr_cpu\n",
		 false, false},
	};
	struct fixture *fx = *state;
	struct tmigr_features f;
	struct maker m;

	maker_init(&m);
	percpu(&m, ".data..percpu");
	put_btf(fx, &m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_kallsyms(fx, cases[i].text);
		probe(fx, &f);
		assert_int_equal(f.ksym_tmigr_cpu, cases[i].tmc);
		assert_int_equal(f.ksym_runqueues, cases[i].rq);
	}
	unlink(fx->kallsyms);
	probe(fx, &f);
	assert_false(f.ksym_tmigr_cpu);
	/* a line with no end and no newline */
	FILE *big = fopen(fx->kallsyms, "w");
	assert_non_null(big);
	for (int i = 0; i < 300000; i++)
		fputc('f', big);
	fclose(big);
	probe(fx, &f);
	assert_false(f.ksym_tmigr_cpu);
}

static void missing_btf(void **state)
{
	struct fixture *fx = *state;
	struct tmigr_features f;

	probe(fx, &f);
	assert_false(f.btf);
	assert_false(f.tmigr);
	for (int tp = 0; tp < TMIGR_TPS; tp++)
		assert_int_equal(f.tp_arg[tp], -1);
}

/* Every cut and every damaged byte: a clean error or an answer, never worse,
 * and the output is untouched on failure. */
static void damaged_btf(void **state)
{
	struct fixture *fx = *state;
	struct tmigr_features f, before;
	struct tmigr_err err;
	struct maker m;
	__u32 size, refused = 0;
	const void *raw;
	unsigned char *copy;

	maker_init(&m);
	common_tracepoints(&m);
	percpu(&m, ".data..percpu");
	raw = btf__raw_data(m.btf, &size);
	assert_non_null(raw);
	copy = malloc(size);
	assert_non_null(copy);
	memset(&before, 0x5a, sizeof(before));
	for (__u32 i = 0; i < 2 * size; i++) {
		__u32 len = i < size ? i : size;
		int r;

		memcpy(copy, raw, size);
		if (i >= size)
			copy[i - size] ^= 0x81;
		put(fx->btf, copy, len);
		f = before;
		err.text[0] = '\0';
		r = tmigr_features_probe(fx->btf, fx->kallsyms, &f, &err);
		if (r == 0) {
			assert_int_not_equal(memcmp(&f, &before, sizeof(f)), 0);
			continue;
		}
		refused++;
		assert_int_equal(r, -EINVAL);
		assert_memory_equal(&f, &before, sizeof(f));
		assert_non_null(strstr(err.text, fx->btf));
		assert_null(strchr(err.text, '\n'));
	}
	/* all cuts, and at least a damaged magic */
	assert_in_range(refused, size, 2 * size);
	put(fx->btf, raw, size);
	assert_int_equal(tmigr_features_probe(fx->btf, fx->kallsyms, &f, NULL), 0);
	free(copy);
	btf__free(m.btf);
}

static void running_kernel(void **state)
{
	struct tmigr_features f, read;
	struct tmigr_err err = {""};

	(void)state;
	if (access(KERNEL_BTF, R_OK) < 0) {
		print_message("no readable " KERNEL_BTF " here\n");
		skip();
	}
	assert_int_equal(tmigr_features_probe(NULL, NULL, &f, &err), 0);
	/* The kernel's answer is what is in the list. */
	assert_int_equal(tmigr_features_probe(NULL, "/proc/kallsyms", &read, &err), 0);
	assert_int_equal(f.ksym_tmigr_cpu, read.ksym_tmigr_cpu);
	assert_int_equal(f.ksym_runqueues, read.ksym_runqueues);
	assert_true(f.btf);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPU_IDLE], 0);
	assert_int_equal(f.tp_arg[TMIGR_TP_CPUHP_ENTER], 0);
	/* Where there is timer migration, one pair of these two exists. */
	if (f.tmigr)
		assert_true((f.tp_arg[TMIGR_TP_CPU_ONLINE] >= 0) ^
			    (f.tp_arg[TMIGR_TP_CPU_AVAILABLE] >= 0));
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test_setup_teardown(old_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(hierarchy_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(modifiers, setup, teardown),
		cmocka_unit_test_setup_teardown(foreign_prototypes, setup, teardown),
		cmocka_unit_test_setup_teardown(without_tmigr, setup, teardown),
		cmocka_unit_test_setup_teardown(kallsyms_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_btf, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_btf, setup, teardown),
		cmocka_unit_test(running_kernel),
	};

	libbpf_set_print(quiet);
	return cmocka_run_group_tests_name("features", tests, NULL, NULL);
}
