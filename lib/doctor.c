// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects what `doctor` looks at, from the running kernel and process. */
#include "doctor_facts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "ftrace_priv.h"
#include "sysfs.h"

/* Every address is 0 for those who may not see them; as it is with all, so it
 * is with the first. */
static void look_at_kallsyms(struct doctor_facts *f)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[256];

	if (!file)
		return;
	f->kallsyms_readable = fgets(line, sizeof(line), file) != NULL;
	f->kallsyms_hidden = f->kallsyms_readable && strtoull(line, NULL, 16) == 0;
	fclose(file);
}

static bool has_event(const struct doctor_facts *f, const char *event)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/events/%s/format", f->tracefs, event);
	return access(path, R_OK) == 0;
}

static void look_at_events(struct doctor_facts *f)
{
	static const char *const needed[] = {
		"timer_migration/tmigr_group_set_cpu_active",
		"timer_migration/tmigr_group_set_cpu_inactive",
		"timer_migration/tmigr_cpu_active",
		"timer_migration/tmigr_cpu_idle",
	};
	char path[256];

	if (!f->tracefs_readable)
		return;
	snprintf(path, sizeof(path), "%s/instances", f->tracefs);
	f->ftrace_instances = access(path, W_OK | X_OK) == 0;
	f->ftrace_idle = has_event(f, "power/cpu_idle");
	f->ftrace_tmigr = true;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		f->ftrace_tmigr = f->ftrace_tmigr && has_event(f, needed[i]);
}

static void look_at_tracefs(struct doctor_facts *f)
{
	if (!tmigr_tracefs_mounted(f->tracefs))
		f->tracefs[0] = '\0';
	f->tracefs_readable = f->tracefs[0] && access(f->tracefs, R_OK | X_OK) == 0;
	look_at_events(f);
}

static void look_at_capabilities(struct doctor_facts *f)
{
	static const char key[] = "\nCapEff:";
	const char *line;
	char *text;

	if (sysfs_text(NULL, "/proc/self/status", &text) < 0)
		return;
	line = strstr(text, key);
	if (line)
		f->caps = strtoull(line + strlen(key), NULL, 16);
	free(text);
}

/* `return 0`, loaded and dropped: the kernel's own answer, whatever the reason
 * (capabilities, lockdown, security modules, seccomp). */
static int load_nothing(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "tmigr_doctor", "GPL", insns, 2, NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* "none [integrity] confidentiality": the word in brackets. */
static void look_at_lockdown(struct doctor_facts *f)
{
	char *text, *word;

	if (sysfs_text(NULL, "/sys/kernel/security/lockdown", &text) < 0)
		return;
	word = strchr(text, '[');
	if (word)
		snprintf(f->lockdown, sizeof(f->lockdown), "%.*s", (int)strcspn(word + 1, "]"),
			 word + 1);
	free(text);
}

static void look_at_system(struct doctor_facts *f)
{
	struct utsname u;
	long long n = -1;

	if (uname(&u) == 0) {
		snprintf(f->release, sizeof(f->release), "%.64s", u.release);
		snprintf(f->machine, sizeof(f->machine), "%.64s", u.machine);
	}
	sysfs_number(NULL, "/proc/sys/kernel/unprivileged_bpf_disabled", 0, 2, &n);
	f->unprivileged_bpf_disabled = (int)n;
}

int tmigr_doctor(struct tmigr_check **ret_checks, size_t *ret_n)
{
	struct tmigr_check *checks = calloc(DOCTOR_CHECKS, sizeof(*checks));
	struct doctor_facts facts = {0};
	int fails;

	if (!checks)
		return -ENOMEM;
	look_at_system(&facts);
	facts.features_ret = tmigr_features_probe(NULL, NULL, &facts.features, &facts.features_err);
	look_at_kallsyms(&facts);
	look_at_tracefs(&facts);
	look_at_capabilities(&facts);
	facts.bpf_load = load_nothing();
	look_at_lockdown(&facts);
	tmigr_topology_read(NULL, NULL, 0, &facts.topology, &facts.topology_err);
	fails = doctor_judge(&facts, checks);
	tmigr_topology_free(facts.topology);
	*ret_checks = checks;
	*ret_n = DOCTOR_CHECKS;
	return fails;
}
