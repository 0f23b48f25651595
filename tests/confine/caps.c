// SPDX-License-Identifier: GPL-2.0-or-later
/* Who the service is, and what it may. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"

/* ---- identity ---- */

void identity_find(const struct unit *u, struct identity *ret)
{
	const char *user = unit_get(u, "User"), *group = unit_get(u, "Group");
	struct passwd *pw;
	struct group *gr;

	*ret = (struct identity){0, 0};
	if (user) {
		pw = getpwnam(user);
		if (!pw)
			die("no user %s", user);
		ret->uid = pw->pw_uid;
		ret->gid = pw->pw_gid;
	}
	if (group) {
		gr = getgrnam(group);
		if (!gr)
			die("no group %s", group);
		ret->gid = gr->gr_gid;
	}
}

/* ---- capabilities ---- */

static const struct {
	const char *name;
	int cap;
} cap_names[] = {
	{"CAP_BPF", CAP_BPF},
	{"CAP_PERFMON", CAP_PERFMON},
	{"CAP_SYS_ADMIN", CAP_SYS_ADMIN},
	{"CAP_SYSLOG", CAP_SYSLOG},
	{"CAP_SYS_RESOURCE", CAP_SYS_RESOURCE},
	{"CAP_SYS_NICE", CAP_SYS_NICE},
	{"CAP_IPC_LOCK", CAP_IPC_LOCK},
	{"CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE},
};

static void add_cap(void *arg, char *word)
{
	unsigned long long *set = arg;

	for (size_t i = 0; i < sizeof(cap_names) / sizeof(*cap_names); i++) {
		if (strcmp(cap_names[i].name, word) == 0) {
			*set |= 1ULL << cap_names[i].cap;
			return;
		}
	}
	die("capability %s is not known here", word);
}

/* Without CapabilityBoundingSet= all are in it. */
static unsigned long long cap_set(const struct unit *u, const char *key, unsigned long long unset)
{
	const char *value = unit_get(u, key);
	unsigned long long set = 0;
	char *text;

	if (!value)
		return unset;
	text = strdup(value);
	if (!text)
		die("no memory");
	each_word(text, add_cap, &set);
	free(text);
	return set;
}

static void drop_bounding(unsigned long long keep)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(keep >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			die("dropping capability %d: %m", cap);
}

static void set_caps(unsigned long long set)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++) {
		__u32 half = (__u32)(set >> (32 * i));

		data[i] = (struct __user_cap_data_struct){half, half, half};
	}
	if (syscall(SYS_capset, &head, data))
		die("capset: %m");
}

static void raise_ambient(unsigned long long set)
{
	for (int cap = 0; cap < 64; cap++)
		if (set >> cap & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			die("ambient capability %d: %m", cap);
}

void apply_identity(const struct unit *u, const struct identity *id)
{
	unsigned long long bounding = cap_set(u, "CapabilityBoundingSet", ~0ULL);
	unsigned long long ambient = cap_set(u, "AmbientCapabilities", 0) & bounding;
	const char *mask = unit_get(u, "UMask");

	if (mask)
		umask((mode_t)strtoul(mask, NULL, 8));
	drop_bounding(bounding);
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(id->gid, id->gid, id->gid) || setresuid(id->uid, id->uid, id->uid))
		die("changing to user %u, group %u: %m", id->uid, id->gid);
	if (id->uid || unit_get(u, "AmbientCapabilities")) {
		set_caps(ambient);
		raise_ambient(ambient);
	} else if (unit_get(u, "CapabilityBoundingSet")) {
		set_caps(bounding);
	}
	if (unit_on(u, "NoNewPrivileges") && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("no_new_privs: %m");
}

/* ---- limits ---- */

static const struct {
	const char *key;
	__rlimit_resource_t resource;
} limits[] = {
	{"LimitNOFILE", RLIMIT_NOFILE},
	{"LimitMEMLOCK", RLIMIT_MEMLOCK},
	{"LimitCORE", RLIMIT_CORE},
	{"LimitNPROC", RLIMIT_NPROC},
};

void apply_limits(const struct unit *u)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		const char *value = unit_get(u, limits[i].key);
		char *end;
		rlim_t n;

		if (!value)
			continue;
		n = strtoul(value, &end, 10);
		if (end == value || *end)
			die("%s=%s: a number is understood here", limits[i].key, value);
		if (setrlimit(limits[i].resource, &(struct rlimit){n, n}))
			die("%s: %m", limits[i].key);
	}
}
