// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigrd: options, signals, life of the process. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "version.h"
#include "tmigr/varlink.h"
#include "tmigrd.h"

#define EXIT_USAGE     2
#define MMAP_THRESHOLD (64 << 10)

static const char help[] =
	"usage: tmigrd [options]\n"
	"Keeps timer migration and idle states of this machine under observation, and\n"
	"serves clients on a socket (Varlink): tmigr run, tree, top, status, mark, dump.\n"
	"\n"
	"  --socket PATH        listen here (" TMIGR_SOCKET "), unless the\n"
	"                       service manager passes a socket\n"
	"  --flight TIME        keep the last minutes: 300, 300s, 5m; 0: nothing (300s)\n"
	"  --flight-mem SIZE    in at most so much memory: 64M; 0: nothing (64M)\n"
	"  --drain TIME         empty the kernel's buffers so often, 1s or slower (1s)\n"
	"  --max-clients N      connections at a time (1024)\n"
	"  --window-mem SIZE    for windows that clients have open (128M); one takes some\n"
	"                       10K a CPU\n"
	"  --housekeeping CPU   run there (the CPU where it matters least)\n"
	"  --class NAME=CPULIST CPUs of a capacity class; repeatable\n"
	"  --source SOURCE      measure with bpf, ftrace (as root), or auto: ftrace where the\n"
	"                       kernel has no BTF or BPF (auto)\n"
	"  --foreground         stay in the foreground; messages go to stderr with the\n"
	"                       journal's priorities, to a terminal without\n"
	"  --help, --version\n"
	"\n"
	"Without --foreground it goes to the background when it is ready, and its\n"
	"messages go to syslog. SIGTERM and SIGINT end it; SIGHUP does nothing.\n"
	"Exit status: 0 ended by a signal, 1 an error, 2 wrong usage.\n";

/* ---- options ---- */

static int usage(const char *what, const char *text)
{
	fprintf(stderr, "tmigrd: %s: %s (see tmigrd --help)\n", what, text);
	return EXIT_USAGE;
}

/* A whole number with one of @units behind it, each with its factor. */
static bool parse_number(const char *text, const char *units, const __u64 *factors, __u64 *ret)
{
	char *end;
	const char *unit;
	unsigned long long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (!*end) {
		*ret = n;
		return true;
	}
	unit = strchr(units, *end);
	if (!unit || end[1] || n > UINT64_MAX / factors[unit - units])
		return false;
	*ret = n * factors[unit - units];
	return true;
}

static bool parse_time_ns(const char *text, __u64 *ret_ns)
{
	static const __u64 factors[] = {1, 60, 3600};
	__u64 s;

	if (!parse_number(text, "smh", factors, &s) || s > 366 * 86400ULL)
		return false;
	*ret_ns = s * NS_PER_SEC;
	return true;
}

static bool parse_size(const char *text, size_t *ret)
{
	static const __u64 factors[] = {1ULL << 10, 1ULL << 20, 1ULL << 30};
	__u64 n;

	if (!parse_number(text, "KMG", factors, &n) || n > SIZE_MAX / 2)
		return false;
	*ret = (size_t)n;
	return true;
}

static int parse_count(const char *text, int min, int max)
{
	__u64 n;

	if (!parse_number(text, "", NULL, &n) || n < (__u64)min || n > (__u64)max)
		return -1;
	return (int)n;
}

enum {
	OPT_SOCKET = 256,
	OPT_FLIGHT,
	OPT_MEM,
	OPT_DRAIN,
	OPT_CLIENTS,
	OPT_WINDOWS,
	OPT_CPU,
	OPT_CLASS,
	OPT_FG,
	OPT_SOURCE,
	OPT_ROOT
};

static const struct option long_options[] = {
	{"socket", required_argument, NULL, OPT_SOCKET},
	{"flight", required_argument, NULL, OPT_FLIGHT},
	{"flight-mem", required_argument, NULL, OPT_MEM},
	{"drain", required_argument, NULL, OPT_DRAIN},
	{"max-clients", required_argument, NULL, OPT_CLIENTS},
	{"window-mem", required_argument, NULL, OPT_WINDOWS},
	{"housekeeping", required_argument, NULL, OPT_CPU},
	{"class", required_argument, NULL, OPT_CLASS},
	{"source", required_argument, NULL, OPT_SOURCE},
	{"foreground", no_argument, NULL, OPT_FG},
	{"sysfs", required_argument, NULL, OPT_ROOT}, /* for tests */
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

/* 0, or an exit status. */
static int take_option(struct tmigrd_opts *o, int opt, const char *arg)
{
	int n;

	switch (opt) {
	case OPT_SOCKET:
		o->socket = arg;
		return 0;
	case OPT_FLIGHT:
		return parse_time_ns(arg, &o->flight_ns) ? 0 : usage("--flight", "no time");
	case OPT_MEM:
		return parse_size(arg, &o->flight_bytes) ? 0 : usage("--flight-mem", "no size");
	case OPT_DRAIN:
		if (!parse_time_ns(arg, &o->drain_ns) || o->drain_ns < NS_PER_SEC ||
		    o->drain_ns > 60 * NS_PER_SEC)
			return usage("--drain", "a time from 1s to 60s");
		return 0;
	case OPT_CLIENTS:
		n = parse_count(arg, 1, 65536);
		o->max_clients = n < 0 ? 0 : (unsigned int)n;
		return n < 0 ? usage("--max-clients", "a number from 1 to 65536") : 0;
	case OPT_WINDOWS:
		return parse_size(arg, &o->window_bytes) ? 0 : usage("--window-mem", "no size");
	case OPT_ROOT:
		o->root = arg;
		return 0;
	case OPT_CPU:
		o->housekeeping = parse_count(arg, 0, TMIGR_CPU_MAX);
		return o->housekeeping < 0 ? usage("--housekeeping", "a CPU's number") : 0;
	case OPT_CLASS:
		o->classes[o->n_classes++] = arg;
		return 0;
	case OPT_SOURCE:
		return tmigr_source_named(arg, &o->source) == 0
			       ? 0
			       : usage("--source", "bpf, ftrace or auto");
	case OPT_FG:
		o->foreground = true;
		return 0;
	}
	return EXIT_USAGE;
}

/* -1: go on; else the exit status. */
static int parse_options(struct tmigrd_opts *o, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (opt == 'h' || opt == 'V') {
			fputs(opt == 'h' ? help : "tmigrd " TMIGR_VERSION "\n", stdout);
			return fflush(stdout) ? 1 : 0;
		}
		if (opt == '?') {
			fputs("tmigrd: see tmigrd --help\n", stderr);
			return EXIT_USAGE;
		}
		ret = take_option(o, opt, optarg);
		if (ret)
			return ret;
	}
	return optind < argc ? usage(argv[optind], "no arguments are expected") : -1;
}

/* ---- the process ---- */

static void on_signal(struct source *s, uint32_t events)
{
	struct tmigrd *d = (struct tmigrd *)((char *)s - offsetof(struct tmigrd, signals));
	struct signalfd_siginfo info;

	(void)events;
	while (read(s->fd, &info, sizeof(info)) == sizeof(info))
		d->stop = d->stop || info.ssi_signo != SIGHUP;
}

static int take_signals(struct tmigrd *d)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	d->signals = (struct source){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
				     .fn = on_signal};
	return d->signals.fd < 0 ? -errno : loop_add(&d->loop, &d->signals, EPOLLIN);
}

/* Descriptors for all clients, and the engine's. */
static void raise_limit(unsigned int max_clients)
{
	struct rlimit l;
	rlim_t want = (rlim_t)max_clients + 256;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= want)
		return;
	if (l.rlim_max < want)
		l.rlim_max = want;
	l.rlim_cur = want;
	if (setrlimit(RLIMIT_NOFILE, &l) == 0 || getrlimit(RLIMIT_NOFILE, &l))
		return;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

/* The parent waits until the child is ready or has ended. */
static int parent(int fd, pid_t pid)
{
	char ready;
	int status;

	if (read(fd, &ready, 1) == 1)
		return 0;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status);
}

/* In the child: the descriptor to tell the parent by.  Never returns there. */
static int detach(void)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		log_line(LOG_ERR, "cannot go to the background: %m");
		exit(1);
	}
	if (pid) {
		close(fds[1]);
		_exit(parent(fds[0], pid));
	}
	close(fds[0]);
	setsid();
	return fds[1];
}

static void tell_ready(int fd)
{
	int null;

	notify("READY=1");
	if (fd < 0)
		return;
	log_to_syslog();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (null > 2)
		close(null);
	if (write(fd, "", 1) != 1)
		log_line(LOG_WARNING, "who started it is gone: %m");
	close(fd);
}

static int serve(struct tmigrd *d, int ready_fd)
{
	raise_limit(d->opts->max_clients);
	if (loop_init(&d->loop) < 0 || take_signals(d) < 0) {
		log_line(LOG_ERR, "cannot wait for events: %m");
		return 1;
	}
	if (listen_open(d) < 0)
		return 1;
	if (serve_start(d) < 0)
		return 1;
	log_line(LOG_INFO, "ready: %s", d->listener.bound ? d->listener.path : "passed socket");
	tell_ready(ready_fd);
	serve_run(d);
	notify("STOPPING=1");
	log_line(LOG_INFO, "ends");
	return d->failed;
}

int main(int argc, char **argv)
{
	const char *classes[argc];
	struct tmigrd_opts opts = {
		.socket = TMIGR_SOCKET,
		.drain_ns = NS_PER_SEC,
		.flight_ns = 300 * NS_PER_SEC,
		.flight_bytes = 64u << 20,
		.max_clients = 1024,
		.window_bytes = 128u << 20,
		.housekeeping = -1,
		.classes = classes,
	};
	struct tmigrd d = {.opts = &opts, .cpu = -1, .loop.ep = -1};
	int ret = parse_options(&opts, argc, argv);

	if (ret >= 0)
		return ret;
	/* Large buffers come and go with requests: each goes back whole, instead
	 * of the threshold's rising and the heap's being cut into pieces. */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	d.listener.src.fd = d.listener.lock_fd = d.signals.fd = d.ends.fd = -1;
	clients_init(&d.clients);
	ret = serve(&d, opts.foreground ? -1 : detach());
	listen_close(&d);
	serve_end(&d);
	if (d.signals.fd >= 0)
		close(d.signals.fd);
	loop_free(&d.loop);
	return ret;
}
