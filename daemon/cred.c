// SPDX-License-Identifier: GPL-2.0-or-later
/* Who may connect, and what the daemon itself may. */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tmigrd.h"

/* Supplementary groups of the peer, as they were when it connected. */
static bool in_groups(int fd, gid_t gid)
{
	socklen_t size = 0;
	gid_t *groups;
	bool found = false;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0 || errno != ERANGE)
		return false;
	groups = malloc(size);
	if (groups && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) == 0)
		for (size_t i = 0; i < size / sizeof(*groups); i++)
			found = found || groups[i] == gid;
	free(groups);
	return found;
}

bool cred_may(int fd, const struct ucred *cred, gid_t gid)
{
	if (cred->uid == 0 || cred->uid == geteuid())
		return true;
	return gid && (cred->gid == gid || in_groups(fd, gid));
}

/*
 * Everything that the daemon does from here on goes through descriptors that it
 * has: maps are read and written, the snapshot programs run (BPF_PROG_TEST_RUN)
 * and the programs' statistics are read (BPF_OBJ_GET_INFO_BY_FD) with no
 * capability on the kernels that have timer migration: since v5.19 the bpf
 * system call asks for one only where objects are made or looked up.
 */
int cred_drop(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2];
	unsigned long cap;

	memset(none, 0, sizeof(none));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return -errno;
	/* Fails with EPERM without CAP_SETPCAP, and then no_new_privs does. */
	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	return syscall(SYS_capset, &head, none) ? -errno : 0;
}
