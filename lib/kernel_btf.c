// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Raw BTF: map or read the file, check its bounds, index its types.
 */
#include "kernel_btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FEW_TYPES 4096

static int read_whole(int fd, char *buf, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, buf + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EINVAL;
		done += (size_t)n;
	}
	return 0;
}

/* The kernel's file can be mapped since v6.16; before, it gives a page a read. */
static int get_bytes(int fd, struct kbtf *k)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size < (off_t)sizeof(struct btf_header))
		return -EINVAL;
	k->bytes = (size_t)st.st_size;
	k->data = mmap(NULL, k->bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	k->mapped = k->data != MAP_FAILED;
	if (k->mapped)
		return 0;
	k->data = malloc(k->bytes);
	return k->data ? read_whole(fd, k->data, k->bytes) : -ENOMEM;
}

static bool within(__u64 off, __u64 len, __u64 size)
{
	return off <= size && len <= size - off;
}

static int find_sections(struct kbtf *k)
{
	const struct btf_header *h = k->data;
	size_t body;

	if (h->magic != BTF_MAGIC || h->version != BTF_VERSION || h->hdr_len < sizeof(*h) ||
	    h->hdr_len > k->bytes)
		return -EINVAL;
	body = k->bytes - h->hdr_len;
	if (!within(h->type_off, h->type_len, body) || !within(h->str_off, h->str_len, body) ||
	    h->type_off % 4 || h->hdr_len % 4 || !h->str_len)
		return -EINVAL;
	k->types = (const char *)k->data + h->hdr_len + h->type_off;
	k->types_len = h->type_len;
	k->strings = (const char *)k->data + h->hdr_len + h->str_off;
	k->strings_len = h->str_len;
	/* so that every name ends within it */
	return k->strings[k->strings_len - 1] == '\0' ? 0 : -EINVAL;
}

size_t kbtf_description_bytes(const struct btf_type *t)
{
	size_t vlen = btf_vlen(t);

	switch (btf_kind(t)) {
	case BTF_KIND_FWD:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_PTR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return sizeof(*t);
	case BTF_KIND_INT:
		return sizeof(*t) + sizeof(__u32);
	case BTF_KIND_ENUM:
		return sizeof(*t) + vlen * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return sizeof(*t) + vlen * sizeof(struct btf_enum64);
	case BTF_KIND_ARRAY:
		return sizeof(*t) + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return sizeof(*t) + vlen * sizeof(struct btf_member);
	case BTF_KIND_FUNC_PROTO:
		return sizeof(*t) + vlen * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(*t) + sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return sizeof(*t) + vlen * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(*t) + sizeof(struct btf_decl_tag);
	default:
		return 0;
	}
}

static int add_offset(struct kbtf *k, __u32 offset, __u32 *cap)
{
	if (k->n == *cap) {
		__u32 bigger = *cap * 2;
		__u32 *offsets = realloc(k->offsets, bigger * sizeof(*offsets));

		if (!offsets)
			return -ENOMEM;
		k->offsets = offsets;
		*cap = bigger;
	}
	k->offsets[k->n++] = offset;
	return 0;
}

static int index_types(struct kbtf *k)
{
	__u32 at = 0, cap = k->types_len / 32 + FEW_TYPES;
	int ret = 0;

	k->offsets = malloc(cap * sizeof(*k->offsets));
	if (!k->offsets)
		return -ENOMEM;
	k->offsets[0] = 0;
	k->n = 1;
	while (at < k->types_len && !ret) {
		const struct btf_type *t = (const struct btf_type *)(k->types + at);
		size_t left = k->types_len - at, bytes;

		bytes = left < sizeof(*t) ? 0 : kbtf_description_bytes(t);
		if (!bytes || bytes > left)
			return -EINVAL;
		ret = add_offset(k, at, &cap);
		at += (__u32)bytes;
	}
	return ret;
}

int kbtf_open(const char *path, struct kbtf *ret, struct tmigr_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	*ret = (struct kbtf){0};
	/* A missing file is a missing feature, not an error. */
	if (fd < 0)
		return -ENOENT;
	r = get_bytes(fd, ret);
	close(fd);
	if (!r)
		r = find_sections(ret);
	if (!r)
		r = index_types(ret);
	if (r == -ENOMEM)
		return tmigr_fail(err, r, "no memory for the BTF in %s", path);
	if (r)
		return tmigr_fail(err, -EINVAL, "%s: damaged BTF (%s)", path, strerror(-r));
	return 0;
}

void kbtf_close(struct kbtf *k)
{
	if (k->mapped)
		munmap(k->data, k->bytes);
	else
		free(k->data);
	free(k->offsets);
	*k = (struct kbtf){0};
}

const struct btf_type *kbtf_type(const struct kbtf *k, __u32 id)
{
	return id && id < k->n ? (const struct btf_type *)(k->types + k->offsets[id]) : NULL;
}

const char *kbtf_name(const struct kbtf *k, __u32 offset)
{
	return offset < k->strings_len ? k->strings + offset : "";
}
