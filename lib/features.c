// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which tracepoints and symbols this kernel has, from its BTF and kallsyms.
 * Decided by what is there, never by the kernel's version: stable series
 * carry backports, and out-of-tree kernels carry anything.
 */
#include "tmigr/features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#define KERNEL_BTF   "/sys/kernel/btf/vmlinux"
#define KALLSYMS     "/proc/kallsyms"
#define TP_PREFIX    "btf_trace_"
#define MAX_TYPEHOPS 16 /* modifiers and typedefs in a row; a damaged file may loop */

/* A tracepoint, and the struct whose pointer is among its arguments. */
static const struct {
	const char *name;
	const char *arg;
} tps[TMIGR_TPS] = {
	[TMIGR_TP_CPU_IDLE] = {"cpu_idle", NULL},
	[TMIGR_TP_CPU_IDLE_MISS] = {"cpu_idle_miss", NULL},
	[TMIGR_TP_GROUP_SET_CPU_ACTIVE] = {"tmigr_group_set_cpu_active", "tmigr_group"},
	[TMIGR_TP_GROUP_SET_CPU_INACTIVE] = {"tmigr_group_set_cpu_inactive", "tmigr_group"},
	[TMIGR_TP_CPU_ACTIVE] = {"tmigr_cpu_active", "tmigr_cpu"},
	[TMIGR_TP_CPU_IDLE_EVENT] = {"tmigr_cpu_idle", "tmigr_cpu"},
	[TMIGR_TP_CPU_NEW_TIMER] = {"tmigr_cpu_new_timer", "tmigr_cpu"},
	[TMIGR_TP_CPU_NEW_TIMER_IDLE] = {"tmigr_cpu_new_timer_idle", "tmigr_cpu"},
	[TMIGR_TP_HANDLE_REMOTE] = {"tmigr_handle_remote", "tmigr_group"},
	[TMIGR_TP_HANDLE_REMOTE_CPU] = {"tmigr_handle_remote_cpu", "tmigr_cpu"},
	[TMIGR_TP_CONNECT_CPU_PARENT] = {"tmigr_connect_cpu_parent", "tmigr_cpu"},
	[TMIGR_TP_CONNECT_CHILD_PARENT] = {"tmigr_connect_child_parent", "tmigr_group"},
	[TMIGR_TP_GROUP_SET] = {"tmigr_group_set", "tmigr_group"},
	[TMIGR_TP_CPU_ONLINE] = {"tmigr_cpu_online", "tmigr_cpu"},
	[TMIGR_TP_CPU_OFFLINE] = {"tmigr_cpu_offline", "tmigr_cpu"},
	[TMIGR_TP_CPU_AVAILABLE] = {"tmigr_cpu_available", "tmigr_cpu"},
	[TMIGR_TP_CPU_UNAVAILABLE] = {"tmigr_cpu_unavailable", "tmigr_cpu"},
	[TMIGR_TP_CPUHP_ENTER] = {"cpuhp_enter", NULL},
	[TMIGR_TP_CPUHP_EXIT] = {"cpuhp_exit", NULL},
};

/* The per-CPU variables that the snapshot reaches through kallsyms. */
struct ksyms {
	bool tmigr_cpu;
	bool runqueues;
};

const char *tmigr_tp_name(enum tmigr_tp tp)
{
	return (unsigned int)tp < TMIGR_TPS ? tps[tp].name : NULL;
}

static const char *type_name(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);

	return name ? name : "";
}

/* The type behind typedefs and modifiers; NULL if the file is damaged. */
static const struct btf_type *strip(const struct btf *btf, __u32 id)
{
	for (int hops = 0; hops < MAX_TYPEHOPS; hops++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!t || !(btf_is_mod(t) || btf_is_typedef(t)))
			return t;
		id = t->type;
	}
	return NULL;
}

static bool is_struct_pointer(const struct btf *btf, __u32 id, const char *name)
{
	const struct btf_type *t = strip(btf, id);

	if (!t || !btf_is_ptr(t))
		return false;
	t = strip(btf, t->type);
	/* A forward declaration names the same struct: BTF of the file that defines the
	 * tracepoint need not know its members. */
	return t && (btf_is_struct(t) || btf_is_fwd(t)) && strcmp(type_name(btf, t), name) == 0;
}

/*
 * Position of the argument that is a `struct @arg *` in the tracepoint whose
 * typedef is @def: `typedef void (*btf_trace_NAME)(void *, ARGS...)`.  0 when no
 * struct is wanted; -1 when the prototype is not understood, so that nothing
 * is attached to it.
 */
static int arg_position(const struct btf *btf, const struct btf_type *def, const char *arg)
{
	const struct btf_type *t = strip(btf, def->type);
	const struct btf_param *params;

	if (!t || !btf_is_ptr(t))
		return -1;
	t = strip(btf, t->type);
	if (!t || !btf_is_func_proto(t))
		return -1;
	if (!arg)
		return 0;
	params = btf_params(t);
	for (int i = 1; i < btf_vlen(t); i++)
		if (is_struct_pointer(btf, params[i].type, arg))
			return i - 1;
	return -1;
}

static void find_tracepoint(const struct btf *btf, const struct btf_type *def,
			    struct tmigr_features *f)
{
	const char *name = type_name(btf, def);

	if (strncmp(name, TP_PREFIX, strlen(TP_PREFIX)) != 0)
		return;
	name += strlen(TP_PREFIX);
	for (int tp = 0; tp < TMIGR_TPS; tp++)
		if (strcmp(name, tps[tp].name) == 0)
			f->tp_arg[tp] = arg_position(btf, def, tps[tp].arg);
}

/* A kernel symbol is usable by type only if its variable is in the section. */
static void find_percpu(const struct btf *btf, const struct btf_type *sec, struct ksyms *typed)
{
	const struct btf_var_secinfo *info = btf_var_secinfos(sec);

	if (strcmp(type_name(btf, sec), ".data..percpu") != 0)
		return;
	for (int i = 0; i < btf_vlen(sec); i++) {
		const struct btf_type *var = btf__type_by_id(btf, info[i].type);

		if (!var || !btf_is_var(var))
			continue;
		if (strcmp(type_name(btf, var), "tmigr_cpu") == 0)
			typed->tmigr_cpu = true;
		else if (strcmp(type_name(btf, var), "runqueues") == 0)
			typed->runqueues = true;
	}
}

/* One pass over all types: there are more than 100,000 of them. */
static int probe_btf(const char *path, struct tmigr_features *f, struct ksyms *typed,
		     struct tmigr_err *err)
{
	struct btf *btf;
	__u32 n;

	/* A missing file is a missing feature, not an error. */
	if (access(path, R_OK) < 0)
		return 0;
	btf = btf__parse(path, NULL);
	if (!btf) {
		if (errno == ENOMEM)
			return tmigr_fail(err, -ENOMEM, "no memory for the BTF in %s", path);
		return tmigr_fail(err, -EINVAL, "%s: damaged BTF (%s)", path, strerror(errno));
	}
	f->btf = true;
	n = btf__type_cnt(btf);
	for (__u32 id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_is_typedef(t))
			find_tracepoint(btf, t, f);
		else if (btf_is_datasec(t))
			find_percpu(btf, t, typed);
	}
	btf__free(btf);
	return 0;
}

/*
 * "ffffffff82a01234 d name\t[module]": the name if the line is a symbol of the
 * kernel itself with an address that this user may see (others see 0).
 */
static const char *symbol_name(char *line)
{
	char *end;
	unsigned long long addr = strtoull(line, &end, 16);

	if (end == line || !addr || end[0] != ' ' || !end[1] || end[2] != ' ')
		return NULL;
	end[3 + strcspn(end + 3, "\n")] = '\0';
	return end + 3;
}

static int probe_kallsyms(const char *path, struct ksyms *found)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int ret;

	if (!f)
		return 0;
	errno = 0;
	while (!(found->tmigr_cpu && found->runqueues) && getline(&line, &size, f) >= 0) {
		const char *name = symbol_name(line);

		if (!name)
			continue;
		if (strcmp(name, "tmigr_cpu") == 0)
			found->tmigr_cpu = true;
		else if (strcmp(name, "runqueues") == 0)
			found->runqueues = true;
	}
	ret = errno == ENOMEM ? -ENOMEM : 0;
	free(line);
	fclose(f);
	return ret;
}

int tmigr_features_probe(const char *btf_path, const char *kallsyms_path,
			 struct tmigr_features *ret, struct tmigr_err *err)
{
	struct tmigr_features f = {0};
	struct ksyms typed = {0}, found = {0};
	int r;

	for (int tp = 0; tp < TMIGR_TPS; tp++)
		f.tp_arg[tp] = -1;
	r = probe_btf(btf_path ? btf_path : KERNEL_BTF, &f, &typed, err);
	if (r < 0)
		return r;
	/* Reading all of kallsyms costs some 20 ms: not for nothing. */
	if (typed.tmigr_cpu || typed.runqueues)
		r = probe_kallsyms(kallsyms_path ? kallsyms_path : KALLSYMS, &found);
	if (r < 0)
		return tmigr_fail(err, r, "no memory to read the kernel's symbols");
	f.ksym_tmigr_cpu = typed.tmigr_cpu && found.tmigr_cpu;
	f.ksym_runqueues = typed.runqueues && found.runqueues;
	f.tmigr = f.tp_arg[TMIGR_TP_GROUP_SET_CPU_ACTIVE] >= 0 &&
		  f.tp_arg[TMIGR_TP_GROUP_SET_CPU_INACTIVE] >= 0 &&
		  f.tp_arg[TMIGR_TP_CPU_ACTIVE] >= 0 && f.tp_arg[TMIGR_TP_CPU_IDLE_EVENT] >= 0;
	*ret = f;
	return 0;
}
