// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * confine UNIT [-k] [-p KEY=VALUE]... [-b FROM:TO]... -g GROUPS -- PROGRAM [ARG...]
 *
 * Runs a program under a service unit's restrictions where no systemd runs: its
 * user, capabilities, seccomp filters, view of the file system and limits, as
 * systemd.exec(5) describes them.  A setting that is not known here is an error,
 * so that a unit cannot ask for what the tests silently leave out; those that are
 * known but left to others are in the table below, with why.
 *
 *   -k  a system call that is not allowed kills, so that none goes unnoticed
 *   -p  in the place of what the unit says about KEY
 *   -b  a file in the place of another, in the program's view only
 *   -g  the output of `systemd-analyze syscall-filter`
 *
 * $LISTEN_FDS set: the descriptors from 3 on are passed, and $LISTEN_PID is set.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "../confine/confine.h"

#define STATUS_ERROR 125
#define BINDS_MAX    8

void die(const char *fmt, ...)
{
	va_list ap;

	fputs("confine: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(STATUS_ERROR);
}

/* NULL: applied.  Otherwise why not. */
static const struct {
	const char *key, *why_not;
} known[] = {
	{"User", NULL},
	{"Group", NULL},
	{"UMask", NULL},
	{"CapabilityBoundingSet", NULL},
	{"AmbientCapabilities", NULL},
	{"NoNewPrivileges", NULL},
	{"SystemCallFilter", NULL},
	{"RestrictAddressFamilies", NULL},
	{"RestrictNamespaces", NULL},
	{"RestrictRealtime", NULL},
	{"RestrictSUIDSGID", NULL},
	{"LockPersonality", NULL},
	{"MemoryDenyWriteExecute", NULL},
	{"ProtectSystem", NULL},
	{"ProtectHome", NULL},
	{"ProtectProc", NULL},
	{"ProcSubset", NULL},
	{"ReadWritePaths", NULL},
	{"ProtectKernelTunables", NULL},
	{"ProtectKernelModules", NULL},
	{"ProtectKernelLogs", NULL},
	{"ProtectControlGroups", NULL},
	{"ProtectClock", NULL},
	{"ProtectHostname", NULL},
	{"PrivateTmp", NULL},
	{"PrivateDevices", NULL},
	{"PrivateNetwork", NULL},
	{"PrivateMounts", NULL},
	{"LimitNOFILE", NULL},
	{"LimitMEMLOCK", NULL},
	{"LimitCORE", NULL},
	{"LimitNPROC", NULL},
	{"SystemCallErrorNumber", "EPERM is what is used"},
	{"SystemCallArchitectures", "libseccomp kills other architectures' calls anyway"},
	{"MemoryMax", "the caller's cgroup"},
	{"MemorySwapMax", "the caller's cgroup"},
	{"TasksMax", "the caller's cgroup"},
	{"IPAddressDeny", "no network namespace has an address"},
	{"DevicePolicy", "/dev holds no other devices, and mknod is not allowed"},
	{"RemoveIPC", "an end, not a restriction"},
	{"KeyringMode", "no restriction of the program"},
	{"PrivateUsers", "off"},
	{"StandardOutput", "the caller's"},
	{"StandardError", "the caller's"},
	{"Type", "no restriction"},
	{"NotifyAccess", "no restriction"},
	{"ExecStart", "the caller's"},
	{"ExecReload", "no restriction"},
	{"Restart", "no restriction"},
	{"RestartSec", "no restriction"},
	{"RestartPreventExitStatus", "no restriction"},
	{"TimeoutStartSec", "no restriction"},
	{"TimeoutStopSec", "no restriction"},
	{"TimerSlackNSec", "no restriction"},
	{"OOMPolicy", "no restriction"},
};

static void check_known(const struct unit *u)
{
	for (size_t i = 0; i < u->n; i++) {
		size_t k = 0, n = sizeof(known) / sizeof(*known);

		while (k < n && strcmp(known[k].key, u->settings[i].key) != 0)
			k++;
		if (k == n)
			die("%s= is not known here: teach tests/programs/confine.c",
			    u->settings[i].key);
	}
	if (unit_on(u, "PrivateUsers"))
		die("PrivateUsers=yes takes the capabilities' worth: BPF asks the first user "
		    "namespace");
}

static void own_namespaces(const struct unit *u)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("a mount namespace: %m");
	if (unit_on(u, "PrivateNetwork") && unshare(CLONE_NEWNET))
		die("a network namespace: %m");
	if (unit_on(u, "ProtectHostname") && unshare(CLONE_NEWUTS))
		die("a UTS namespace: %m");
}

/* The program may lie where the new view does not show it: by descriptor. */
static void open_program(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_PATH | O_CLOEXEC), high;

	if (fd < 0)
		die("%s: %m", path);
	high = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	if (high < 0)
		die("%s: %m", path);
	close(fd);
	snprintf(ret, size, "/proc/self/fd/%d", high);
}

static void pass_descriptors(void)
{
	char pid[16];

	if (!getenv("LISTEN_FDS"))
		return;
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	if (setenv("LISTEN_PID", pid, 1))
		die("no memory");
}

int main(int argc, char **argv)
{
	const char *groups = NULL, *binds[BINDS_MAX];
	struct unit u = {NULL, 0};
	struct identity id;
	struct filters filters;
	size_t n_binds = 0;
	char program[32];
	bool kill = false;
	int opt;

	if (argc < 2)
		die("no unit");
	unit_read(&u, argv[1]);
	argv++, argc--;
	while ((opt = getopt(argc, argv, "+kp:b:g:")) >= 0) {
		if (opt == 'k')
			kill = true;
		else if (opt == 'p')
			unit_override(&u, optarg);
		else if (opt == 'g')
			groups = optarg;
		else if (opt == 'b' && n_binds < BINDS_MAX)
			binds[n_binds++] = optarg;
		else
			return STATUS_ERROR;
	}
	if (optind >= argc || !groups)
		die("no program, or no groups");
	check_known(&u);
	filters_make(&u, groups, kill, &filters);
	open_program(argv[optind], program, sizeof(program));
	pass_descriptors();
	own_namespaces(&u);
	for (size_t i = 0; i < n_binds; i++)
		bind_file(binds[i]);
	identity_find(&u, &id);
	apply_mounts(&u);
	apply_limits(&u);
	apply_identity(&u, &id);
	filters_load(&filters);
	execv(program, argv + optind);
	die("%s: %m", argv[optind]);
}
