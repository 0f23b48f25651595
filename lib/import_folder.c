// SPDX-License-Identifier: GPL-2.0-or-later
/* Temporary folders, which an interrupt takes away too. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import_priv.h"
#include "signals.h"
#include "tmigr/import.h"

/* One at a time is in use: its path ("": none), and the process that made it, not its
 * children. */
static char in_use[64];
static volatile pid_t maker;

/* What is in a folder goes; system calls alone, for a signal handler.  False: nothing did. */
static bool remove_entries(int dirfd)
{
	union {
		struct dirent64 align;
		char bytes[1024];
	} buf;
	bool any = false;
	ssize_t n;

	while ((n = getdents64(dirfd, &buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e = (const void *)(buf.bytes + at);
			int below;

			at += e->d_reclen;
			if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
				continue;
			if (unlinkat(dirfd, e->d_name, 0) == 0) {
				any = true;
				continue;
			}
			below = openat(dirfd, e->d_name,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (below < 0)
				continue;
			while (remove_entries(below))
				lseek(below, 0, SEEK_SET);
			close(below);
			any |= unlinkat(dirfd, e->d_name, AT_REMOVEDIR) == 0;
		}
	}
	return any;
}

static void remove_folder(const char *folder)
{
	int dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dirfd < 0)
		return;
	/* Some file systems pass over entries while others go. */
	while (remove_entries(dirfd))
		lseek(dirfd, 0, SEEK_SET);
	close(dirfd);
	rmdir(folder);
}

int import_make_folder(char folder[64], struct tmigr_err *err)
{
	const char *tmp = getenv("TMPDIR");
	sigset_t before;
	int r = 0;

	if (snprintf(folder, 64, "%s/tmigr-XXXXXX", tmp && *tmp ? tmp : "/tmp") >= 64)
		snprintf(folder, 64, "/tmp/tmigr-XXXXXX");
	/* No interrupt comes between its making and its being remembered. */
	signals_hold(&before);
	if (mkdtemp(folder)) {
		maker = getpid();
		memcpy(in_use, folder, sizeof(in_use));
	} else {
		r = tmigr_fail(err, -errno, "no temporary folder: %s", strerror(errno));
		folder[0] = '\0';
	}
	signals_let_go(&before);
	return r;
}

void import_remove(const char *folder)
{
	if (!*folder)
		return;
	remove_folder(folder);
	if (!strcmp(folder, in_use))
		in_use[0] = '\0';
}

void tmigr_import_interrupted(void)
{
	if (*in_use && maker == getpid())
		remove_folder(in_use);
}
