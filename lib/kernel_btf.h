/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel BTF, mapped and indexed once.  libbpf's own object copies all of it (5 MB,
 * 130,000 types) and looks a name up by walking them, which at each start was
 * more work than all the rest.
 */
#ifndef TMIGR_KERNEL_BTF_H
#define TMIGR_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>

#include <bpf/btf.h>

#include "tmigr/err.h"

struct kbtf {
	void *data; /* the file: mapped, or read where the kernel cannot map it */
	size_t bytes;
	bool mapped;
	const char *types;
	const char *strings;
	__u32 types_len, strings_len;
	__u32 *offsets; /* of type id in `types`; [0] is void and unused */
	__u32 n;	/* ids are below */
};

/* Reads the raw BTF in @path.  -ENOENT: no such file, nothing is said in @err.  -EINVAL:
 * damaged, or another byte order.  Everything in it is within bounds afterwards, but ids
 * need not exist: kbtf_type() says so.  Free with kbtf_close(), also after an error. */
int kbtf_open(const char *path, struct kbtf *ret, struct tmigr_err *err);
void kbtf_close(struct kbtf *k);

/* NULL: no such type (0 is void). */
const struct btf_type *kbtf_type(const struct kbtf *k, __u32 id);

/* Never NULL; "" also for an offset out of range. */
const char *kbtf_name(const struct kbtf *k, __u32 offset);

/* Bytes of a type's own description; 0: a kind that is not known. */
size_t kbtf_description_bytes(const struct btf_type *t);

/*
 * Writes to @fd (a memfd) the few types of the kernel that programs with the types @prog
 * can be relocated against: those with the name of one of @prog's, and what they hold by
 * value.  What a pointer points to is left out (void *): no relocation follows one.
 * Type ids are not the kernel's.
 */
int kbtf_write_subset(const struct kbtf *k, const struct btf *prog, int fd);

#endif
