// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the kernel's per-CPU variables lie in their section, by its BTF.  BTF
 * has the offsets though kallsyms without CONFIG_KALLSYMS_ALL has no data
 * symbols.  Only differences are used: the section's own start is not known.
 */
#include "live_priv.h"

#include <string.h>

#include <bpf/btf.h>

static bool offset_in(const struct btf *btf, const struct btf_type *sec, const char *name,
		      __u32 *ret)
{
	const struct btf_var_secinfo *info = btf_var_secinfos(sec);

	for (int i = 0; i < btf_vlen(sec); i++) {
		const struct btf_type *var = btf__type_by_id(btf, info[i].type);
		const char *var_name = var ? btf__name_by_offset(btf, var->name_off) : NULL;

		if (!var_name || strcmp(var_name, name) != 0)
			continue;
		*ret = info[i].offset;
		return true;
	}
	return false;
}

__s64 tmigr_percpu_distance(const char *from, const char *to)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *sec = NULL;
	__u32 a, b;
	__s64 ret = 0;
	int id;

	if (!btf)
		return 0;
	id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	if (id > 0)
		sec = btf__type_by_id(btf, (__u32)id);
	if (sec && offset_in(btf, sec, from, &a) && offset_in(btf, sec, to, &b))
		ret = (__s64)b - (__s64)a;
	btf__free(btf);
	return ret;
}
