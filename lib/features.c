// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which tracepoints and symbols this kernel has, from its BTF and kallsyms.
 * Decided by what is there, never by the kernel's version: stable series
 * carry backports, and out-of-tree kernels carry anything.
 */
#include "features_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

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

/* The same for latency; and where the struct must be among the raw arguments. */
static const struct {
	const char *name;
	const char *arg;
	int pos;
} lat_tps[TMIGR_LAT_TPS] = {
	[TMIGR_LAT_TP_SCHED_SWITCH] = {"sched_switch", "task_struct", 1},
	[TMIGR_LAT_TP_SCHED_WAKE_IDLE_WITHOUT_IPI] = {"sched_wake_idle_without_ipi", NULL, 0},
	[TMIGR_LAT_TP_IRQ_HANDLER_ENTRY] = {"irq_handler_entry", "irqaction", 1},
	[TMIGR_LAT_TP_IRQ_HANDLER_EXIT] = {"irq_handler_exit", NULL, 0},
	[TMIGR_LAT_TP_SOFTIRQ_EXIT] = {"softirq_exit", NULL, 0},
	[TMIGR_LAT_TP_IPI_ENTRY] = {"ipi_entry", NULL, 0},
	[TMIGR_LAT_TP_LOCAL_TIMER_ENTRY] = {"local_timer_entry", NULL, 0},
	[TMIGR_LAT_TP_LOCAL_TIMER_EXIT] = {"local_timer_exit", NULL, 0},
	[TMIGR_LAT_TP_RESCHEDULE_ENTRY] = {"reschedule_entry", NULL, 0},
	[TMIGR_LAT_TP_RESCHEDULE_EXIT] = {"reschedule_exit", NULL, 0},
	[TMIGR_LAT_TP_CALL_FUNCTION_ENTRY] = {"call_function_entry", NULL, 0},
	[TMIGR_LAT_TP_CALL_FUNCTION_EXIT] = {"call_function_exit", NULL, 0},
	[TMIGR_LAT_TP_CALL_FUNCTION_SINGLE_ENTRY] = {"call_function_single_entry", NULL, 0},
	[TMIGR_LAT_TP_CALL_FUNCTION_SINGLE_EXIT] = {"call_function_single_exit", NULL, 0},
	[TMIGR_LAT_TP_IRQ_WORK_ENTRY] = {"irq_work_entry", NULL, 0},
	[TMIGR_LAT_TP_IRQ_WORK_EXIT] = {"irq_work_exit", NULL, 0},
	[TMIGR_LAT_TP_HRTIMER_EXPIRE_ENTRY] = {"hrtimer_expire_entry", "hrtimer", 0},
	[TMIGR_LAT_TP_TIMER_EXPIRE_ENTRY] = {"timer_expire_entry", NULL, 0},
	[TMIGR_LAT_TP_TMIGR_UPDATE_EVENTS] = {"tmigr_update_events", NULL, 0},
};

/* Per-CPU variables: those that the snapshot reaches by their names, then those whose
 * distance from one another is enough. */
enum percpu_var {
	VAR_TMIGR_CPU,
	VAR_RUNQUEUES,
	SYMS, /* up to here */
	VAR_HRTIMER_BASES = SYMS,
	VAR_TICK_DEVICE,
	VAR_TICK_SCHED,
	VAR_CPUIDLE,
	VARS
};

static const char *const var_names[VARS] = {
	[VAR_TMIGR_CPU] = "tmigr_cpu",	       [VAR_RUNQUEUES] = "runqueues",
	[VAR_HRTIMER_BASES] = "hrtimer_bases", [VAR_TICK_DEVICE] = "tick_cpu_device",
	[VAR_TICK_SCHED] = "tick_cpu_sched",   [VAR_CPUIDLE] = "cpuidle_devices",
};

struct percpu {
	__u32 id[VARS]; /* of the variable in BTF; 0: not there */
	__u32 offset[VARS];
};

const char *tmigr_tp_name(enum tmigr_tp tp)
{
	return (unsigned int)tp < TMIGR_TPS ? tps[tp].name : NULL;
}

/* The type behind typedefs and modifiers; NULL if the file is damaged. */
static const struct btf_type *strip(const struct kbtf *k, __u32 id)
{
	for (int hops = 0; hops < MAX_TYPEHOPS; hops++) {
		const struct btf_type *t = kbtf_type(k, id);

		if (!t || !(btf_is_mod(t) || btf_is_typedef(t)))
			return t;
		id = t->type;
	}
	return NULL;
}

static bool is_struct_pointer(const struct kbtf *k, __u32 id, const char *name)
{
	const struct btf_type *t = strip(k, id);

	if (!t || !btf_is_ptr(t))
		return false;
	t = strip(k, t->type);
	/* A forward declaration names the same struct: BTF of the file that defines the
	 * tracepoint need not know its members. */
	return t && (btf_is_struct(t) || btf_is_fwd(t)) &&
	       strcmp(kbtf_name(k, t->name_off), name) == 0;
}

/*
 * Position of the argument that is a `struct @arg *` in the tracepoint whose
 * typedef is @def: `typedef void (*btf_trace_NAME)(void *, ARGS...)`.  0 when no
 * struct is wanted; -1 when the prototype is not understood, so that nothing
 * is attached to it.
 */
static int arg_position(const struct kbtf *k, const struct btf_type *def, const char *arg)
{
	const struct btf_type *t = strip(k, def->type);
	const struct btf_param *params;

	if (!t || !btf_is_ptr(t))
		return -1;
	t = strip(k, t->type);
	if (!t || !btf_is_func_proto(t))
		return -1;
	if (!arg)
		return 0;
	params = btf_params(t);
	for (int i = 1; i < btf_vlen(t); i++)
		if (is_struct_pointer(k, params[i].type, arg))
			return i - 1;
	return -1;
}

static void find_tracepoint(const struct kbtf *k, const struct btf_type *def,
			    struct tmigr_features *f)
{
	const char *name = kbtf_name(k, def->name_off);

	if (strncmp(name, TP_PREFIX, strlen(TP_PREFIX)) != 0)
		return;
	name += strlen(TP_PREFIX);
	for (int tp = 0; tp < TMIGR_TPS; tp++)
		if (strcmp(name, tps[tp].name) == 0)
			f->tp_arg[tp] = arg_position(k, def, tps[tp].arg);
	for (int tp = 0; tp < TMIGR_LAT_TPS; tp++)
		if (strcmp(name, lat_tps[tp].name) == 0)
			f->lat_tp[tp] = arg_position(k, def, lat_tps[tp].arg) == lat_tps[tp].pos;
}

/* A kernel symbol is usable by type only if its variable is in the section. */
static void find_percpu(const struct kbtf *k, const struct btf_type *sec, struct percpu *ret)
{
	const struct btf_var_secinfo *info = btf_var_secinfos(sec);

	if (strcmp(kbtf_name(k, sec->name_off), ".data..percpu") != 0)
		return;
	for (int i = 0; i < btf_vlen(sec); i++) {
		const struct btf_type *var = kbtf_type(k, info[i].type);

		if (!var || !btf_is_var(var))
			continue;
		for (int v = 0; v < VARS; v++) {
			if (strcmp(kbtf_name(k, var->name_off), var_names[v]) != 0)
				continue;
			ret->id[v] = info[i].type;
			ret->offset[v] = info[i].offset;
		}
	}
}

/* One pass over all types: there are more than 100,000 of them. */
static void probe_btf(const struct kbtf *k, struct tmigr_features *f, struct percpu *percpu)
{
	f->btf = true;
	for (__u32 id = 1; id < k->n; id++) {
		const struct btf_type *t = kbtf_type(k, id);

		if (btf_is_typedef(t))
			find_tracepoint(k, t, f);
		else if (btf_is_datasec(t))
			find_percpu(k, t, percpu);
	}
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

static int probe_kallsyms(const char *path, bool *found)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int ret;

	if (!f)
		return 0;
	errno = 0;
	while (!(found[VAR_TMIGR_CPU] && found[VAR_RUNQUEUES]) && getline(&line, &size, f) >= 0) {
		const char *name = symbol_name(line);

		for (int v = 0; name && v < SYMS; v++)
			found[v] = found[v] || strcmp(name, var_names[v]) == 0;
	}
	ret = errno == ENOMEM ? -ENOMEM : 0;
	free(line);
	fclose(f);
	return ret;
}

/*
 * Whether the kernel finds the address of its variable @id, as the program that asks
 * for it needs: 1, 0, or negative where this user may not ask.
 */
static int kernel_finds(__u32 id)
{
	const struct bpf_insn prog[] = {
		/* NOLINTNEXTLINE(misc-redundant-expression): BPF_LD and BPF_IMM are both 0 */
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_BTF_ID,
		 .imm = (__s32)id},
		{0}, /* second half */
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "tmigr_ksym", "GPL", prog,
			       sizeof(prog) / sizeof(prog[0]), NULL);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	close(fd);
	return 1;
}

/* Asking is done in no time; all of kallsyms, which is for users who may not ask, is
 * some 100,000 lines. */
static int ask_kernel(const struct percpu *percpu, bool *found)
{
	int ret = 0;

	for (int v = 0; v < SYMS && ret >= 0; v++) {
		ret = percpu->id[v] ? kernel_finds(percpu->id[v]) : 0;
		found[v] = ret > 0;
	}
	return ret < 0 ? ret : 0;
}

/* 0: not known. */
static __s64 distance(const struct percpu *percpu, enum percpu_var from, enum percpu_var to)
{
	if (!percpu->id[from] || !percpu->id[to])
		return 0;
	return (__s64)percpu->offset[to] - (__s64)percpu->offset[from];
}

int tmigr_features_of(const struct kbtf *k, const char *kallsyms_path, struct tmigr_features *ret,
		      struct tmigr_err *err)
{
	struct tmigr_features f = {0};
	struct percpu percpu = {0};
	bool found[SYMS] = {false};
	int r = 0;

	for (int tp = 0; tp < TMIGR_TPS; tp++)
		f.tp_arg[tp] = -1;
	if (k)
		probe_btf(k, &f, &percpu);
	if ((percpu.id[VAR_TMIGR_CPU] || percpu.id[VAR_RUNQUEUES]) &&
	    (kallsyms_path || ask_kernel(&percpu, found)))
		r = probe_kallsyms(kallsyms_path ? kallsyms_path : KALLSYMS, found);
	if (r < 0)
		return tmigr_fail(err, r, "no memory to read the kernel's symbols");
	f.ksym_tmigr_cpu = percpu.id[VAR_TMIGR_CPU] && found[VAR_TMIGR_CPU];
	f.ksym_runqueues = percpu.id[VAR_RUNQUEUES] && found[VAR_RUNQUEUES];
	f.rq_to_tmc = distance(&percpu, VAR_RUNQUEUES, VAR_TMIGR_CPU);
	f.rq_to_hrtimers = distance(&percpu, VAR_RUNQUEUES, VAR_HRTIMER_BASES);
	f.hrtimers_to_tick_device = distance(&percpu, VAR_HRTIMER_BASES, VAR_TICK_DEVICE);
	f.hrtimers_to_tick_sched = distance(&percpu, VAR_HRTIMER_BASES, VAR_TICK_SCHED);
	f.hrtimers_to_cpuidle = distance(&percpu, VAR_HRTIMER_BASES, VAR_CPUIDLE);
	f.tmigr = f.tp_arg[TMIGR_TP_GROUP_SET_CPU_ACTIVE] >= 0 &&
		  f.tp_arg[TMIGR_TP_GROUP_SET_CPU_INACTIVE] >= 0 &&
		  f.tp_arg[TMIGR_TP_CPU_ACTIVE] >= 0 && f.tp_arg[TMIGR_TP_CPU_IDLE_EVENT] >= 0;
	*ret = f;
	return 0;
}

int tmigr_features_probe(const char *btf_path, const char *kallsyms_path,
			 struct tmigr_features *ret, struct tmigr_err *err)
{
	struct kbtf k;
	int r = kbtf_open(btf_path ? btf_path : TMIGR_KERNEL_BTF_FILE, &k, err);

	if (!r || r == -ENOENT)
		r = tmigr_features_of(r ? NULL : &k, kallsyms_path, ret, err);
	kbtf_close(&k);
	return r;
}
