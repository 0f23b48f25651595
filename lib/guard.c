// SPDX-License-Identifier: GPL-2.0-or-later
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

void tmigr_guard_settle(const char *name)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	prctl(PR_SET_NAME, name);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
}

void tmigr_guard_wait(int fd, char *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n > 0 || (n < 0 && errno == EINTR));
}
