// SPDX-License-Identifier: GPL-2.0-or-later
/* The subset of kernel BTF that programs are relocated against, compared with what
 * libbpf reads in the whole; and damaged files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../lib/kernel_btf.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

static __u32 ok(int id)
{
	assert_true(id >= 0);
	return (__u32)id;
}

static const char *name_of(const struct btf *btf, const struct btf_type *t)
{
	return btf__name_by_offset(btf, t->name_off);
}

static void fd_path(char path[64], int fd)
{
	snprintf(path, 64, "/proc/self/fd/%d", fd);
}

/* As a program's object has them: names, some with a variant behind. */
static struct btf *wanted_types(void)
{
	static const char *const structs[] = {"tmigr_cpu___old", "tmigr_group", "rq", "task_struct",
					      "no_such_struct"};
	struct btf *btf = btf__new_empty();

	assert_non_null(btf);
	for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++)
		ok(btf__add_struct(btf, structs[i], 4));
	ok(btf__add_enum(btf, "cpuhp_state", 4));
	return btf;
}

/* Two types alike in all that lies in the memory of one of them.  Pointers: to void in
 * the subset. */
static void assert_alike(const struct btf *whole, __u32 a, const struct btf *subset, __u32 b)
{
	const struct btf_type *x = btf__type_by_id(whole, a);
	const struct btf_type *y = btf__type_by_id(subset, b);

	assert_non_null(x);
	assert_non_null(y);
	assert_int_equal(btf_kind(x), btf_kind(y));
	assert_string_equal(name_of(whole, x), name_of(subset, y));
	if (btf_is_ptr(x)) {
		assert_int_equal(y->type, 0);
		return;
	}
	assert_int_equal(btf_vlen(x), btf_vlen(y));
	assert_int_equal(btf_kflag(x), btf_kflag(y));
	if (btf_is_composite(x)) {
		assert_int_equal(x->size, y->size);
		for (int i = 0; i < btf_vlen(x); i++) {
			const struct btf_member *m = btf_members(x) + i;
			const struct btf_member *n = btf_members(y) + i;

			assert_int_equal(m->offset, n->offset);
			assert_string_equal(btf__name_by_offset(whole, m->name_off),
					    btf__name_by_offset(subset, n->name_off));
			assert_alike(whole, m->type, subset, n->type);
		}
	} else if (btf_is_array(x)) {
		assert_int_equal(btf_array(x)->nelems, btf_array(y)->nelems);
		assert_alike(whole, btf_array(x)->type, subset, btf_array(y)->type);
	} else if (btf_is_enum(x)) {
		for (int i = 0; i < btf_vlen(x); i++) {
			assert_int_equal(btf_enum(x)[i].val, btf_enum(y)[i].val);
			assert_string_equal(btf__name_by_offset(whole, btf_enum(x)[i].name_off),
					    btf__name_by_offset(subset, btf_enum(y)[i].name_off));
		}
	} else if (btf_is_mod(x) || btf_is_typedef(x)) {
		assert_alike(whole, x->type, subset, y->type);
	} else if (btf_is_int(x)) {
		assert_int_equal(x->size, y->size);
		assert_int_equal(*(__u32 *)(x + 1), *(__u32 *)(y + 1));
	}
}

static void running_kernel(void **state)
{
	static const struct {
		const char *name;
		__u32 kind;
	} roots[] = {{"tmigr_cpu", BTF_KIND_STRUCT},
		     {"tmigr_group", BTF_KIND_STRUCT},
		     {"rq", BTF_KIND_STRUCT},
		     {"task_struct", BTF_KIND_STRUCT},
		     {"cpuhp_state", BTF_KIND_ENUM},
		     {"file_operations", BTF_KIND_STRUCT},
		     {"no_such_struct", BTF_KIND_STRUCT}};
	struct btf *prog = wanted_types(), *whole, *subset;
	size_t found = 0;
	char path[64];
	struct kbtf k;
	int fd;

	(void)state;
	if (access(KERNEL_BTF, R_OK) < 0) {
		btf__free(prog);
		print_message("no readable " KERNEL_BTF " here\n");
		skip();
	}
	assert_int_equal(kbtf_open(KERNEL_BTF, &k, NULL), 0);
	whole = btf__parse_raw(KERNEL_BTF);
	assert_non_null(whole);
	assert_int_equal(k.n, btf__type_cnt(whole));
	fd = memfd_create("subset", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(kbtf_write_subset(&k, prog, fd), 0);
	fd_path(path, fd);
	subset = btf__parse_raw(path);
	assert_non_null(subset);
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		int a = btf__find_by_name_kind(whole, roots[i].name, roots[i].kind);
		int b = btf__find_by_name_kind(subset, roots[i].name, roots[i].kind);

		if (strcmp(roots[i].name, "file_operations") == 0) {
			/* nobody wanted it, and all have only pointers to it */
			assert_true(a > 0);
			assert_int_equal(b, -ENOENT);
		} else if (a <= 0) {
			assert_int_equal(b, -ENOENT);
		} else {
			found++;
			assert_alike(whole, ok(a), subset, ok(b));
		}
	}
	assert_true(found >= 3); /* task_struct, rq, cpuhp_state: on each kernel */
	assert_true(btf__type_cnt(subset) < btf__type_cnt(whole) / 10);
	close(fd);
	btf__free(subset);
	btf__free(whole);
	btf__free(prog);
	kbtf_close(&k);
}

/* ---- damaged files ---- */

static void put(int fd, const void *data, size_t n)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, data, n, 0), (ssize_t)n);
}

/* A struct with an array of a struct, a typedef, a bit field and a pointer to itself. */
static struct btf *small_kernel(void)
{
	struct btf *btf = btf__new_empty();
	__u32 u32_id, inner, self, array;

	assert_non_null(btf);
	u32_id = ok(btf__add_int(btf, "unsigned int", 4, 0));
	inner = ok(btf__add_struct(btf, "inner", 4));
	ok(btf__add_field(btf, "low", (int)u32_id, 0, 3));
	ok(btf__add_field(btf, "high", (int)u32_id, 3, 29));
	array = ok(btf__add_array(btf, (int)u32_id, (int)inner, 2));
	array = ok(btf__add_typedef(btf, "pair_t", (int)array));
	self = ok(btf__add_ptr(btf, (int)array + 2));
	assert_int_equal(ok(btf__add_struct(btf, "rq", 16)), self + 1);
	ok(btf__add_field(btf, "pair", (int)array, 0, 0));
	ok(btf__add_field(btf, "next", (int)self, 64, 0));
	return btf;
}

static void damaged(void **state)
{
	struct btf *prog = wanted_types(), *btf = small_kernel();
	int in = memfd_create("kernel", MFD_CLOEXEC), out = memfd_create("subset", MFD_CLOEXEC);
	__u32 size, refused = 0;
	const void *raw = btf__raw_data(btf, &size);
	unsigned char *copy = malloc(size);
	char path[64];

	(void)state;
	assert_non_null(copy);
	fd_path(path, in);
	for (__u32 i = 0; i < 2 * size; i++) {
		struct kbtf k;
		int r;

		memcpy(copy, raw, size);
		if (i >= size)
			copy[i - size] ^= 0x85;
		put(in, copy, i < size ? i : size);
		r = kbtf_open(path, &k, NULL);
		if (!r)
			r = kbtf_write_subset(&k, prog, out);
		assert_true(r == 0 || r == -EINVAL);
		refused += r != 0;
		kbtf_close(&k);
	}
	/* all cuts, and at least the bytes of the magic */
	assert_in_range(refused, size + 2, 2 * size);
	free(copy);
	close(in);
	close(out);
	btf__free(btf);
	btf__free(prog);
}

/* A struct cannot hold itself; a file can say so. */
static void endless(void **state)
{
	struct btf *prog = wanted_types(), *btf = btf__new_empty();
	int in = memfd_create("kernel", MFD_CLOEXEC), out = memfd_create("subset", MFD_CLOEXEC);
	const void *raw;
	struct kbtf k;
	char path[64];
	__u32 size;
	int id;

	(void)state;
	id = (int)ok(btf__add_struct(btf, "rq", 8));
	ok(btf__add_field(btf, "self", id, 0, 0));
	raw = btf__raw_data(btf, &size);
	put(in, raw, size);
	fd_path(path, in);
	assert_int_equal(kbtf_open(path, &k, NULL), 0);
	assert_int_equal(kbtf_write_subset(&k, prog, out), -EINVAL);
	kbtf_close(&k);
	close(in);
	close(out);
	btf__free(btf);
	btf__free(prog);
}

static void missing(void **state)
{
	struct tmigr_err err = {"untouched"};
	struct kbtf k;

	(void)state;
	assert_int_equal(kbtf_open("/no/such/file", &k, &err), -ENOENT);
	assert_string_equal(err.text, "untouched");
	kbtf_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(running_kernel),
		cmocka_unit_test(damaged),
		cmocka_unit_test(endless),
		cmocka_unit_test(missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
