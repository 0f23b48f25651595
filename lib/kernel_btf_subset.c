// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The few of the kernel's types that our programs are relocated against, as a BTF of
 * their own.  libbpf looks for each struct that a program names among all of the
 * kernel's types, and then in every module's BTF: with a hundred instead of a hundred
 * thousand that is nothing.
 */
#include "kernel_btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH 64 /* types in one another by value; a damaged file may loop */

struct bytes {
	char *data;
	size_t n, cap;
};

struct subset {
	const struct kbtf *k;
	struct bytes types, strings;
	__u32 *new_ids; /* by the kernel's id; 0: not in it */
	__u32 n;	/* types so far */
};

static int append(struct bytes *b, const void *data, size_t n)
{
	if (b->cap - b->n < n) {
		size_t cap = (b->cap + n) * 2;
		char *bigger = realloc(b->data, cap);

		if (!bigger)
			return -ENOMEM;
		b->data = bigger;
		b->cap = cap;
	}
	memcpy(b->data + b->n, data, n);
	b->n += n;
	return 0;
}

static int add_name(struct subset *s, __u32 *offset)
{
	const char *name = kbtf_name(s->k, *offset);

	if (!name[0]) {
		*offset = 0;
		return 0;
	}
	*offset = (__u32)s->strings.n;
	return append(&s->strings, name, strlen(name) + 1);
}

static bool can_be_root(const struct btf_type *t)
{
	return btf_is_composite(t) || btf_is_any_enum(t);
}

/* Of a variable: not a function, a section, a declaration. */
static bool can_be_part(const struct btf_type *t)
{
	return can_be_root(t) || btf_is_int(t) || btf_is_float(t) || btf_is_array(t) ||
	       btf_is_ptr(t) || btf_is_mod(t) || btf_is_typedef(t);
}

static int add_type(struct subset *s, __u32 id, int depth, __u32 *ret_new);

/* The parts of a composite type, in @t, a copy: their names and types become new ones. */
static int renew_parts(struct subset *s, struct btf_type *t, int depth)
{
	__u16 vlen = btf_vlen(t);
	int ret = 0;

	if (btf_is_composite(t)) {
		for (int i = 0; i < vlen && !ret; i++) {
			struct btf_member *m = btf_members(t) + i;

			ret = add_name(s, &m->name_off);
			if (!ret)
				ret = add_type(s, m->type, depth, &m->type);
		}
	} else if (btf_is_enum(t)) {
		for (int i = 0; i < vlen && !ret; i++)
			ret = add_name(s, &btf_enum(t)[i].name_off);
	} else if (btf_is_enum64(t)) {
		for (int i = 0; i < vlen && !ret; i++)
			ret = add_name(s, &btf_enum64(t)[i].name_off);
	} else if (btf_is_array(t)) {
		ret = add_type(s, btf_array(t)->type, depth, &btf_array(t)->type);
		if (!ret)
			ret = add_type(s, btf_array(t)->index_type, depth,
				       &btf_array(t)->index_type);
	} else if (btf_is_ptr(t)) {
		t->type = 0;
	} else if (btf_is_mod(t) || btf_is_typedef(t)) {
		ret = add_type(s, t->type, depth, &t->type);
	}
	return ret;
}

/* By value no type can hold itself, so the parts are written before the whole. */
static int add_type(struct subset *s, __u32 id, int depth, __u32 *ret_new)
{
	const struct btf_type *t = kbtf_type(s->k, id);
	size_t bytes = t ? kbtf_description_bytes(t) : 0;
	struct btf_type *copy;
	int ret;

	if (!t || !can_be_part(t) || s->new_ids[id]) {
		*ret_new = t ? s->new_ids[id] : 0;
		return 0;
	}
	if (depth == MAX_DEPTH)
		return -EINVAL;
	copy = malloc(bytes);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, t, bytes);
	ret = add_name(s, &copy->name_off);
	if (!ret)
		ret = renew_parts(s, copy, depth + 1);
	if (!ret)
		ret = append(&s->types, copy, bytes);
	free(copy);
	if (!ret)
		*ret_new = s->new_ids[id] = ++s->n;
	return ret;
}

/* libbpf's rule: what follows three underscores is a variant's name, not the type's. */
static size_t essential_len(const char *name)
{
	const char *suffix = strstr(name, "___");

	return suffix && suffix > name ? (size_t)(suffix - name) : strlen(name);
}

struct wanted {
	const char *name;
	size_t len;
};

static int by_name(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;
	int d = strncmp(x->name, y->name, x->len < y->len ? x->len : y->len);

	return d ? d : (x->len > y->len) - (x->len < y->len);
}

static int collect_wanted(const struct btf *prog, struct wanted **ret, size_t *ret_n)
{
	__u32 n = btf__type_cnt(prog);
	struct wanted *list = calloc(n, sizeof(*list));
	size_t found = 0;

	if (!list)
		return -ENOMEM;
	for (__u32 id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(prog, id);
		const char *name = btf__name_by_offset(prog, t->name_off);

		if (can_be_root(t) && name && name[0])
			list[found++] = (struct wanted){name, essential_len(name)};
	}
	qsort(list, found, sizeof(*list), by_name);
	*ret = list;
	*ret_n = found;
	return 0;
}

static int add_wanted(struct subset *s, const struct btf *prog)
{
	struct wanted *list;
	size_t n;
	int ret = collect_wanted(prog, &list, &n);
	__u32 unused;

	if (ret)
		return ret;
	for (__u32 id = 1; id < s->k->n && !ret; id++) {
		const struct btf_type *t = kbtf_type(s->k, id);
		struct wanted key = {.name = ""};

		if (!can_be_root(t) || !t->name_off)
			continue;
		key.name = kbtf_name(s->k, t->name_off);
		key.len = essential_len(key.name);
		if (bsearch(&key, list, n, sizeof(*list), by_name))
			ret = add_type(s, id, 0, &unused);
	}
	free(list);
	return ret;
}

static int write_all(int fd, const void *data, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t w = write(fd, (const char *)data + done, n - done);

		if (w < 0 && errno != EINTR)
			return -errno;
		done += w > 0 ? (size_t)w : 0;
	}
	return 0;
}

static int write_subset(const struct subset *s, int fd)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = (__u32)s->types.n,
			       .str_off = (__u32)s->types.n,
			       .str_len = (__u32)s->strings.n};
	int ret = write_all(fd, &h, sizeof(h));

	if (!ret)
		ret = write_all(fd, s->types.data, s->types.n);
	return ret ? ret : write_all(fd, s->strings.data, s->strings.n);
}

int kbtf_write_subset(const struct kbtf *k, const struct btf *prog, int fd)
{
	struct subset s = {.k = k};
	int ret;

	s.new_ids = calloc(k->n, sizeof(*s.new_ids));
	ret = s.new_ids ? append(&s.strings, "", 1) : -ENOMEM;
	if (!ret)
		ret = add_wanted(&s, prog);
	if (!ret)
		ret = write_subset(&s, fd);
	free(s.new_ids);
	free(s.types.data);
	free(s.strings.data);
	return ret;
}
