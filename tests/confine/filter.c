// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The seccomp filters that a unit's settings stand for (systemd.exec(5)), for the
 * native architecture.
 */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <seccomp.h>

#include "confine.h"

/* ---- sets of system calls ---- */

struct names {
	char **name;
	size_t n;
};

struct set_change {
	struct names *set;
	const char *groups;
	bool add;
};

static void set_add(struct names *set, const char *name)
{
	char **grown;

	for (size_t i = 0; i < set->n; i++)
		if (strcmp(set->name[i], name) == 0)
			return;
	grown = realloc(set->name, (set->n + 1) * sizeof(*grown));
	if (!grown)
		die("no memory");
	set->name = grown;
	grown[set->n] = strdup(name);
	if (!grown[set->n++])
		die("no memory");
}

static void set_remove(struct names *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++) {
		if (strcmp(set->name[i], name) == 0) {
			free(set->name[i]);
			set->name[i] = set->name[--set->n];
			return;
		}
	}
}

static void set_free(struct names *set)
{
	for (size_t i = 0; i < set->n; i++)
		free(set->name[i]);
	free(set->name);
	*set = (struct names){NULL, 0};
}

static void change(void *arg, char *word);

/* "@group", then its members, indented; "# ..." are comments. */
static void change_group(struct set_change *c, const char *group)
{
	FILE *file = fopen(c->groups, "re");
	bool in = false, found = false;
	char *line = NULL, *word;
	size_t size = 0;

	if (!file)
		die("%s: %m", c->groups);
	while (getline(&line, &size, file) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		word = line + strspn(line, " ");
		if (word == line) {
			in = strcmp(line, group) == 0;
			found = found || in;
		} else if (in && *word && *word != '#') {
			change(c, word);
		}
	}
	free(line);
	fclose(file);
	if (!found)
		die("%s: no group %s", c->groups, group);
}

static void change(void *arg, char *word)
{
	struct set_change *c = arg;

	if (*word == '@')
		change_group(c, word);
	else if (c->add)
		set_add(c->set, word);
	else
		set_remove(c->set, word);
}

static void change_words(struct set_change *c, const char *words)
{
	char *text = strdup(words);

	if (!text)
		die("no memory");
	each_word(text, change, c);
	free(text);
}

/* ---- the allow list ---- */

/* The first line says allow list or deny list; only the former is understood. */
static bool allowed_calls(const struct unit *u, const char *groups, struct names *set)
{
	struct set_change c = {set, groups, true};
	bool any = false;

	for (size_t i = 0; i < u->n; i++) {
		const char *value = u->settings[i].value;

		if (strcmp(u->settings[i].key, "SystemCallFilter") != 0)
			continue;
		if (!any && *value == '~')
			die("a SystemCallFilter= that begins with ~ is not understood here");
		if (!any)
			change_words(&c, "@default");
		any = true;
		c.add = *value != '~';
		change_words(&c, value + !c.add);
	}
	return any;
}

static scmp_filter_ctx new_filter(uint32_t otherwise)
{
	scmp_filter_ctx ctx = seccomp_init(otherwise);

	if (!ctx)
		die("no seccomp filter");
	return ctx;
}

static scmp_filter_ctx allow_list(const struct names *set, uint32_t otherwise)
{
	scmp_filter_ctx ctx = new_filter(otherwise);

	for (size_t i = 0; i < set->n; i++) {
		int nr = seccomp_syscall_resolve_name(set->name[i]), ret;

		/* Other architectures' calls are in the groups too. */
		if (nr == __NR_SCMP_ERROR)
			continue;
		ret = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
		if (ret && ret != -EDOM)
			die("allowing %s: %s", set->name[i], strerror(-ret));
	}
	return ctx;
}

/* ---- what other settings deny ---- */

static void deny(scmp_filter_ctx ctx, const char *name, int err, unsigned int n,
		 const struct scmp_arg_cmp *cmp)
{
	int nr = seccomp_syscall_resolve_name(name), ret;

	if (nr == __NR_SCMP_ERROR)
		return;
	ret = seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((uint32_t)err), nr, n, cmp);
	if (ret && ret != -EDOM && ret != -EINVAL)
		die("denying %s: %s", name, strerror(-ret));
}

static void deny_flag(scmp_filter_ctx ctx, const char *name, unsigned int arg, scmp_datum_t flag)
{
	deny(ctx, name, EPERM, 1, &SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, flag, flag));
}

static void deny_families(scmp_filter_ctx ctx, const struct unit *u)
{
	const char *value = unit_get(u, "RestrictAddressFamilies");

	if (!value)
		return;
	if (strcmp(value, "AF_UNIX") != 0)
		die("RestrictAddressFamilies=%s is not understood here", value);
	deny(ctx, "socket", EAFNOSUPPORT, 1, &SCMP_CMP(0, SCMP_CMP_NE, AF_UNIX));
}

static void deny_namespaces(scmp_filter_ctx ctx)
{
	static const scmp_datum_t kinds[] = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
					     CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
					     CLONE_NEWNET};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		deny_flag(ctx, "unshare", 0, kinds[i]);
		deny_flag(ctx, "clone", 0, kinds[i]);
	}
	deny(ctx, "setns", EPERM, 0, NULL);
	deny(ctx, "clone3", ENOSYS, 0, NULL);
}

static void deny_suid(scmp_filter_ctx ctx)
{
	static const scmp_datum_t bits[] = {S_ISUID, S_ISGID};
	static const struct {
		const char *name;
		unsigned int mode;
	} calls[] = {{"chmod", 1}, {"fchmod", 1},  {"fchmodat", 2}, {"mkdir", 1}, {"mkdirat", 2},
		     {"mknod", 1}, {"mknodat", 2}, {"creat", 1},    {"open", 2},  {"openat", 3}};

	for (size_t c = 0; c < sizeof(calls) / sizeof(*calls); c++)
		for (size_t i = 0; i < 2; i++)
			deny_flag(ctx, calls[c].name, calls[c].mode, bits[i]);
	deny(ctx, "openat2", ENOSYS, 0, NULL);
}

static void deny_realtime(scmp_filter_ctx ctx)
{
	static const scmp_datum_t policies[] = {SCHED_FIFO, SCHED_RR, SCHED_DEADLINE};

	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		deny(ctx, "sched_setscheduler", EPERM, 1, &SCMP_CMP(1, SCMP_CMP_EQ, policies[i]));
}

static void deny_write_execute(scmp_filter_ctx ctx)
{
	deny_flag(ctx, "mmap", 2, PROT_WRITE | PROT_EXEC);
	deny_flag(ctx, "mprotect", 2, PROT_EXEC);
	deny_flag(ctx, "pkey_mprotect", 2, PROT_EXEC);
	deny_flag(ctx, "shmat", 2, SHM_EXEC);
}

static void deny_calls(scmp_filter_ctx ctx, const char *groups, const char *words)
{
	struct names set = {NULL, 0};

	change_words(&(struct set_change){&set, groups, true}, words);
	for (size_t i = 0; i < set.n; i++)
		deny(ctx, set.name[i], EPERM, 0, NULL);
	set_free(&set);
}

static scmp_filter_ctx denials(const struct unit *u, const char *groups)
{
	static const struct {
		const char *key, *calls;
	} plain[] = {{"ProtectKernelModules", "@module"},
		     {"ProtectKernelLogs", "syslog"},
		     {"ProtectClock", "@clock"},
		     {"PrivateDevices", "@raw-io"},
		     {"LockPersonality", "personality"},
		     {"ProtectHostname", "sethostname setdomainname"}};
	scmp_filter_ctx ctx = new_filter(SCMP_ACT_ALLOW);

	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (unit_on(u, plain[i].key))
			deny_calls(ctx, groups, plain[i].calls);
	deny_families(ctx, u);
	if (unit_on(u, "RestrictNamespaces"))
		deny_namespaces(ctx);
	if (unit_on(u, "RestrictSUIDSGID"))
		deny_suid(ctx);
	if (unit_on(u, "RestrictRealtime"))
		deny_realtime(ctx);
	if (unit_on(u, "MemoryDenyWriteExecute"))
		deny_write_execute(ctx);
	return ctx;
}

void filters_make(const struct unit *u, const char *groups, bool kill, struct filters *ret)
{
	uint32_t otherwise = kill ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(EPERM);
	struct names set = {NULL, 0};

	ret->allow = allowed_calls(u, groups, &set) ? allow_list(&set, otherwise) : NULL;
	ret->deny = denials(u, groups);
	set_free(&set);
}

static void load(void *ctx)
{
	int ret;

	/* no_new_privs is the unit's own affair. */
	if (seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0))
		die("seccomp attribute");
	ret = seccomp_load(ctx);
	if (ret)
		die("seccomp: %s", strerror(-ret));
	seccomp_release(ctx);
}

void filters_load(struct filters *filters)
{
	load(filters->deny);
	if (filters->allow)
		load(filters->allow);
}
