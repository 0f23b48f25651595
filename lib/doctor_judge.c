// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the facts mean for the main job.  FAIL: `tmigr run` cannot give its
 * answer.  NOTE: it can, and the report reads differently.
 */
#include "doctor_facts.h"
#include "tmigr/recording.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <jansson.h>

typedef void (*check_fn)(const struct doctor_facts *f, struct tmigr_check *c);

__attribute__((format(printf, 3, 4))) static void
say(struct tmigr_check *c, enum tmigr_check_state state, const char *fmt, ...)
{
	va_list ap;

	c->state = state;
	va_start(ap, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void advise(struct tmigr_check *c, const char *fmt,
							 ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->remedy, sizeof(c->remedy), fmt, ap);
	va_end(ap);
}

static bool has_cap(const struct doctor_facts *f, int cap)
{
	return f->caps >> cap & 1;
}

static bool knows_tracepoints(const struct doctor_facts *f)
{
	return f->features_ret == 0 && f->features.btf;
}

/* Appends to a list "a, b". */
static void append(char *list, size_t size, const char *item)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s", len ? ", " : "", item);
}

/* The ftrace source measures here, by itself where BPF cannot be had. */
static bool ftrace_works(const struct doctor_facts *f)
{
	return f->tracefs_readable && f->ftrace_instances && f->ftrace_idle &&
	       strcmp(f->lockdown, "confidentiality") != 0;
}

/* The kernel has no BPF for this, whoever asks. */
static bool kernel_lacks_bpf(const struct doctor_facts *f)
{
	return (f->features_ret == 0 && !f->features.btf) || f->bpf_load == -ENOSYS ||
	       f->bpf_load == -EINVAL;
}

/* What then is one thing less to have. */
static enum tmigr_check_state lack(const struct doctor_facts *f)
{
	return ftrace_works(f) ? TMIGR_CHECK_NOTE : TMIGR_CHECK_FAIL;
}

static const char *instead(const struct doctor_facts *f)
{
	return ftrace_works(f) ? ": see ftrace" : "";
}

static void check_kernel(const struct doctor_facts *f, struct tmigr_check *c)
{
	say(c, TMIGR_CHECK_OK, "Linux %s on %s", f->release, f->machine);
}

static void check_btf(const struct doctor_facts *f, struct tmigr_check *c)
{
	if (f->features_ret < 0)
		say(c, TMIGR_CHECK_FAIL, "%.250s", f->features_err.text);
	else if (!f->features.btf)
		say(c, lack(f), "no readable /sys/kernel/btf/vmlinux%s", instead(f));
	else
		say(c, TMIGR_CHECK_OK, "/sys/kernel/btf/vmlinux is readable");
	if (c->state != TMIGR_CHECK_OK)
		advise(c, "a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

static bool has_tp(const struct doctor_facts *f, enum tmigr_tp tp)
{
	return f->features.tp_arg[tp] >= 0;
}

/* Of those that the answer can do without, the ones that are absent. */
static void list_missing(const struct doctor_facts *f, char *list, size_t size)
{
	static const enum tmigr_tp wanted[] = {
		TMIGR_TP_CPU_NEW_TIMER_IDLE, TMIGR_TP_HANDLE_REMOTE, TMIGR_TP_HANDLE_REMOTE_CPU,
		TMIGR_TP_CONNECT_CPU_PARENT, TMIGR_TP_GROUP_SET,     TMIGR_TP_CONNECT_CHILD_PARENT,
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!has_tp(f, wanted[i]))
			append(list, size, tmigr_tp_name(wanted[i]));
	if (!has_tp(f, TMIGR_TP_CPU_ONLINE) && !has_tp(f, TMIGR_TP_CPU_AVAILABLE))
		append(list, size, "tmigr_cpu_available");
}

static void check_tmigr(const struct doctor_facts *f, struct tmigr_check *c)
{
	char missing[200] = "";

	if (!knows_tracepoints(f) && ftrace_works(f) && f->ftrace_tmigr) {
		say(c, TMIGR_CHECK_OK, "tracefs has those that the answer needs");
		return;
	}
	if (!knows_tracepoints(f) && !ftrace_works(f)) {
		say(c, TMIGR_CHECK_NOTE, "cannot be told without BTF");
		return;
	}
	if (!knows_tracepoints(f) || !f->features.tmigr) {
		say(c, TMIGR_CHECK_FAIL,
		    "this kernel has no timer-migration hierarchy to trace; "
		    "idle residency alone works");
		advise(c, "Linux 6.9 or later with CONFIG_SMP, CONFIG_NO_HZ_COMMON and "
			  "CONFIG_TRACEPOINTS");
		return;
	}
	list_missing(f, missing, sizeof(missing));
	if (missing[0])
		say(c, TMIGR_CHECK_NOTE, "not in this kernel, or not as expected: %s", missing);
	else
		say(c, TMIGR_CHECK_OK, "all timer-migration events that are used are there");
}

static void check_cpu_idle(const struct doctor_facts *f, struct tmigr_check *c)
{
	if (!knows_tracepoints(f) && ftrace_works(f)) {
		say(c, TMIGR_CHECK_OK, "tracefs has power:cpu_idle");
	} else if (!knows_tracepoints(f)) {
		say(c, TMIGR_CHECK_NOTE, "cannot be told without BTF");
	} else if (!has_tp(f, TMIGR_TP_CPU_IDLE)) {
		say(c, TMIGR_CHECK_FAIL, "this kernel has no power:cpu_idle event");
		advise(c, "a kernel with CONFIG_TRACEPOINTS=y (CONFIG_FTRACE)");
	} else if (!has_tp(f, TMIGR_TP_CPU_IDLE_MISS)) {
		say(c, TMIGR_CHECK_NOTE,
		    "power:cpu_idle is there, cpu_idle_miss (since 6.0) is not: no above/below");
	} else {
		say(c, TMIGR_CHECK_OK, "power:cpu_idle and cpu_idle_miss are there");
	}
}

static void check_kallsyms(const struct doctor_facts *f, struct tmigr_check *c)
{
	static const char meaning[] =
		"the start state is found after one event of any CPU, and tmigr makes one";

	/* What CPUs are in is found from the task's own run queue. */
	if (knows_tracepoints(f) && !f->features.tmigr) {
		say(c, TMIGR_CHECK_OK, "not needed where there is no hierarchy");
		return;
	}
	if (knows_tracepoints(f) && f->features.ksym_tmigr_cpu && f->features.ksym_runqueues) {
		say(c, TMIGR_CHECK_OK, "tmigr_cpu and runqueues are found: exact start state");
		return;
	}
	if (!f->kallsyms_readable) {
		say(c, TMIGR_CHECK_NOTE, "/proc/kallsyms is not readable: %s", meaning);
		advise(c, "a kernel with CONFIG_KALLSYMS_ALL=y");
	} else if (f->kallsyms_hidden) {
		say(c, TMIGR_CHECK_NOTE, "addresses are hidden from this user: %s", meaning);
		advise(c, "run as root or with CAP_SYSLOG; see sysctl kernel.kptr_restrict");
	} else {
		say(c, TMIGR_CHECK_NOTE, "no symbols tmigr_cpu and runqueues in kallsyms: %s",
		    meaning);
		advise(c, "a kernel with CONFIG_KALLSYMS_ALL=y, if the first moments matter");
	}
}

static void check_tracefs(const struct doctor_facts *f, struct tmigr_check *c)
{
	if (!f->tracefs[0]) {
		say(c, TMIGR_CHECK_NOTE, "not mounted; live tracing by BPF does not need it");
		advise(c, "mount -t tracefs nodev /sys/kernel/tracing");
	} else if (!f->tracefs_readable) {
		say(c, TMIGR_CHECK_NOTE,
		    "%s is not readable for this user; live tracing by BPF does not need it",
		    f->tracefs);
	} else {
		say(c, TMIGR_CHECK_OK, "mounted at %s", f->tracefs);
	}
}

static void check_ftrace(const struct doctor_facts *f, struct tmigr_check *c)
{
	/* Who has the choice wants to know it too. */
	static const char lost[] =
		"Lost with it: states before a CPU's first event; residency exact in spite of "
		"losses; the order of updates by seq (it is rebuilt from their words); timers' "
		"expiries in tree and top; the cost of tracing";

	if (!ftrace_works(f)) {
		say(c, TMIGR_CHECK_NOTE, "cannot measure here: %s",
		    !f->tracefs[0]	   ? "tracefs is not mounted"
		    : !f->ftrace_instances ? "this user may make no instance in tracefs"
		    : !f->ftrace_idle	   ? "this kernel has no event power:cpu_idle"
					   : "the kernel is locked down");
		if (!f->tracefs[0])
			advise(c, "mount -t tracefs nodev /sys/kernel/tracing");
		else if (!f->ftrace_instances)
			advise(c, "run as root, if BPF cannot be had");
	} else if (kernel_lacks_bpf(f)) {
		say(c, TMIGR_CHECK_NOTE, "measures here, as BPF cannot. %s", lost);
	} else {
		say(c, TMIGR_CHECK_OK, "could measure too: --source ftrace. %s", lost);
	}
}

static void check_privileges(const struct doctor_facts *f, struct tmigr_check *c)
{
	char missing[64] = "";

	if (has_cap(f, DOCTOR_CAP_SYS_ADMIN)) {
		say(c, TMIGR_CHECK_OK, "CAP_SYS_ADMIN is effective");
		return;
	}
	if (!has_cap(f, DOCTOR_CAP_BPF))
		append(missing, sizeof(missing), "CAP_BPF");
	if (!has_cap(f, DOCTOR_CAP_PERFMON))
		append(missing, sizeof(missing), "CAP_PERFMON");
	if (!missing[0]) {
		say(c, TMIGR_CHECK_OK, "CAP_BPF and CAP_PERFMON are effective");
		return;
	}
	say(c, TMIGR_CHECK_FAIL, "this process lacks %s", missing);
	advise(c, "run as root, or: setcap cap_bpf,cap_perfmon,cap_syslog+ep on the program, or "
		  "AmbientCapabilities= in a systemd unit");
}

static void check_bpf_load(const struct doctor_facts *f, struct tmigr_check *c)
{
	bool privileged = has_cap(f, DOCTOR_CAP_SYS_ADMIN) ||
			  (has_cap(f, DOCTOR_CAP_BPF) && has_cap(f, DOCTOR_CAP_PERFMON));

	if (f->bpf_load == 0) {
		say(c, TMIGR_CHECK_OK, "the kernel accepts a raw tracepoint program");
		return;
	}
	say(c, kernel_lacks_bpf(f) ? lack(f) : TMIGR_CHECK_FAIL,
	    "the kernel refuses a raw tracepoint program: %s%s", strerror(-f->bpf_load),
	    kernel_lacks_bpf(f) ? instead(f) : "");
	if (f->bpf_load == -ENOSYS)
		advise(c, "a kernel with CONFIG_BPF_SYSCALL=y; in a container, a seccomp profile "
			  "that lets bpf(2) through");
	else if (f->bpf_load == -EINVAL)
		advise(c, "a kernel with CONFIG_BPF_EVENTS=y");
	else if (!privileged)
		advise(c, "see privileges%s",
		       f->unprivileged_bpf_disabled > 0
			       ? " (kernel.unprivileged_bpf_disabled is set)"
			       : "");
	else
		advise(c, "a container, security module or user namespace forbids bpf(2): run on "
			  "the host, or allow it there");
}

static void check_lockdown(const struct doctor_facts *f, struct tmigr_check *c)
{
	if (!f->lockdown[0]) {
		say(c, TMIGR_CHECK_OK, "not built in, or not visible");
		return;
	}
	if (strcmp(f->lockdown, "confidentiality") != 0) {
		say(c, TMIGR_CHECK_OK, "%s", f->lockdown);
		return;
	}
	say(c, TMIGR_CHECK_FAIL, "confidentiality: BPF programs may not read kernel memory");
	advise(c, "boot with lockdown=integrity or none");
}

/* An unreadable sysfs is told once, by capacity. */
static bool no_topology(const struct doctor_facts *f, struct tmigr_check *c)
{
	if (!f->topology)
		say(c, TMIGR_CHECK_NOTE, "cannot be told: see capacity");
	return !f->topology;
}

static void check_cpuidle(const struct doctor_facts *f, struct tmigr_check *c)
{
	unsigned int most = 0;

	if (no_topology(f, c))
		return;
	for (size_t i = 0; i < f->topology->n_cpus; i++)
		if (most < f->topology->cpus[i].n_states)
			most = f->topology->cpus[i].n_states;
	if (!most)
		say(c, TMIGR_CHECK_NOTE,
		    "driver %s has no idle states: the kernel's default idle shows as state 1, "
		    "polling as 0",
		    f->topology->driver);
	else
		say(c, TMIGR_CHECK_OK, "driver %s, governor %s, up to %u states",
		    f->topology->driver, f->topology->governor[0] ? f->topology->governor : "none",
		    most);
}

static void check_capacity(const struct doctor_facts *f, struct tmigr_check *c)
{
	const struct tmigr_topology *topo = f->topology;
	char list[200] = "";

	if (!topo) {
		say(c, TMIGR_CHECK_FAIL, "%.250s", f->topology_err.text);
		advise(c, "mount sysfs at /sys");
		return;
	}
	if (topo->n_classes == 1) {
		say(c, TMIGR_CHECK_NOTE,
		    "%zu CPUs of equal capacity: no big and LITTLE, the answer is by CPU",
		    topo->n_cpus);
		advise(c, "--class NAME=CPULIST, if classes are wanted");
		return;
	}
	for (size_t i = 0; i < topo->n_classes; i++) {
		char item[80];

		snprintf(item, sizeof(item), "%u %s of %u", topo->classes[i].n_cpus,
			 topo->classes[i].name, topo->classes[i].capacity);
		append(list, sizeof(list), item);
	}
	say(c, TMIGR_CHECK_OK, "%zu classes: %s", topo->n_classes, list);
}

static void check_timer_migration(const struct doctor_facts *f, struct tmigr_check *c)
{
	if (no_topology(f, c))
		return;
	switch (f->topology->timer_migration) {
	case 1:
		say(c, TMIGR_CHECK_OK, "sysctl kernel.timer_migration is 1");
		break;
	case 0:
		say(c, TMIGR_CHECK_NOTE,
		    "sysctl kernel.timer_migration is 0: timers stay where they were armed");
		advise(c, "sysctl kernel.timer_migration=1");
		break;
	default:
		say(c, TMIGR_CHECK_NOTE, "no sysctl kernel.timer_migration here");
	}
}

static void check_isolated(const struct doctor_facts *f, struct tmigr_check *c)
{
	unsigned int *cpus;
	char *list = NULL;
	size_t n = 0;

	if (no_topology(f, c))
		return;
	cpus = calloc(f->topology->n_cpus, sizeof(*cpus));
	if (!cpus) {
		say(c, TMIGR_CHECK_NOTE, "cannot be told: no memory");
		return;
	}
	for (size_t i = 0; i < f->topology->n_cpus; i++)
		if (f->topology->cpus[i].isolated || f->topology->cpus[i].nohz_full)
			cpus[n++] = f->topology->cpus[i].cpu;
	if (n)
		list = tmigr_cpulist_format(cpus, n);
	if (list)
		say(c, TMIGR_CHECK_NOTE,
		    "isolated or nohz_full: CPU %.100s; such CPUs may be outside the hierarchy, or "
		    "idle in it while busy",
		    list);
	else
		say(c, TMIGR_CHECK_OK, "no CPU is isolated or nohz_full");
	free(list);
	free(cpus);
}

static void check_libraries(const struct doctor_facts *f, struct tmigr_check *c)
{
	const char *zstd = tmigr_recording_library();

	(void)f;
	say(c, TMIGR_CHECK_OK, "libbpf %u.%u, jansson %s, %s%s", libbpf_major_version(),
	    libbpf_minor_version(), jansson_version_str(), zstd ? "zstd " : "no zstd",
	    zstd ? zstd : "");
}

int doctor_judge(const struct doctor_facts *facts, struct tmigr_check *checks)
{
	static const struct {
		const char *name;
		check_fn check;
	} table[DOCTOR_CHECKS] = {
		{"kernel", check_kernel},
		{"tmigr-tracepoints", check_tmigr},
		{"cpu-idle", check_cpu_idle},
		{"btf", check_btf},
		{"kallsyms", check_kallsyms},
		{"tracefs", check_tracefs},
		{"ftrace", check_ftrace},
		{"privileges", check_privileges},
		{"bpf-load", check_bpf_load},
		{"lockdown", check_lockdown},
		{"cpuidle-driver", check_cpuidle},
		{"capacity", check_capacity},
		{"timer-migration", check_timer_migration},
		{"isolated", check_isolated},
		{"libraries", check_libraries},
	};
	int fails = 0;

	for (size_t i = 0; i < DOCTOR_CHECKS; i++) {
		checks[i] = (struct tmigr_check){.name = table[i].name};
		table[i].check(facts, &checks[i]);
		fails += checks[i].state == TMIGR_CHECK_FAIL;
	}
	return fails;
}
