// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process that reads a trace.dat.  CPU by CPU in pieces, the one that is
 * furthest behind next: so no more is held than a piece of each, however many CPUs
 * and events there are.
 */
#include "tracedat_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

#ifdef TMIGR_TRACECMD
#include <trace-cmd.h>

#include "decode.h"
#include "tmigr/topology.h"

#define PIECE	   512 /* records of one CPU in a row */
#define MEMORY_MAX (8ULL << 30)

/* Exported by the library, not in its header. */
__attribute__((weak)) const char *tracecmd_get_trace_clock(struct tracecmd_input *handle);
__attribute__((weak)) const char *tracecmd_get_uname(struct tracecmd_input *handle);

struct dat_cpu {
	__u64 last_ns; /* of its last record */
	bool end;
};

struct child {
	const char *name;
	int out;
	struct tmigr_decoder *decoder;
	struct dat_cpu *cpus;
	unsigned int n_cpus;
	struct tmigr_traced evs[DAT_BATCH];
	size_t n;
	__u64 events; /* of use */
	struct dat_done done;
};

/* ---- telling ---- */

static void put(struct child *c, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(c->out, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1); /* nobody listens */
		at += n;
		size -= (size_t)n;
	}
}

static void tell(struct child *c, enum dat_msg msg, const void *data, size_t bytes,
		 __u64 watermark_ns)
{
	const struct dat_head head = {
		.msg = msg, .bytes = (__u32)bytes, .watermark_ns = watermark_ns};

	put(c, &head, sizeof(head));
	put(c, data, bytes);
}

__attribute__((format(printf, 2, 3), noreturn)) static void fail(struct child *c, const char *fmt,
								 ...)
{
	char line[TMIGR_ERR_MAX];
	int n = snprintf(line, sizeof(line), "%.300s: ", c->name);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	tell(c, DAT_ERROR, line, strlen(line) + 1, 0);
	_exit(0);
}

__attribute__((format(printf, 2, 3))) static void partial(struct child *c, const char *fmt, ...)
{
	int n;
	va_list ap;

	if (c->done.partial[0])
		return;
	n = snprintf(c->done.partial, sizeof(c->done.partial), "%.200s: ", c->name);
	va_start(ap, fmt);
	vsnprintf(c->done.partial + n, sizeof(c->done.partial) - (size_t)n, fmt, ap);
	va_end(ap);
}

/* ---- records ---- */

static __u64 watermark(const struct child *c)
{
	__u64 least = TMIGR_KTIME_MAX;

	/* Another buffer may begin earlier, as long as this one tells nothing. */
	if (!c->events)
		return 0;
	for (unsigned int i = 0; i < c->n_cpus; i++)
		if (!c->cpus[i].end && c->cpus[i].last_ns < least)
			least = c->cpus[i].last_ns;
	return least;
}

/* A message's events come before those of later ones, not before each other. */
static void flush(struct child *c)
{
	tell(c, DAT_EVENTS, c->evs, c->n * sizeof(c->evs[0]), watermark(c));
	c->n = 0;
}

static void add(struct child *c, const struct tmigr_traced *e)
{
	c->evs[c->n++] = *e;
	c->events++;
	if (c->n == DAT_BATCH)
		flush(c);
}

static void add_lost(struct child *c, unsigned int cpu, long long n, __u64 t_ns)
{
	const struct tmigr_traced e = {
		.t_ns = t_ns, .cpu = cpu, .type = TMIGR_TRACED_LOST, .value = n > 0 ? (__u64)n : 1};

	add(c, &e);
}

/* False: nothing after it on this CPU makes sense. */
static bool one_record(struct child *c, unsigned int cpu, const struct tep_record *rec)
{
	struct dat_cpu *d = &c->cpus[cpu];
	struct tmigr_traced e;
	int ret;

	if (rec->ts < d->last_ns) {
		partial(c,
			"time goes back on CPU %u, from %llu ns to %llu ns: the CPU's later events "
			"are left out",
			cpu, (unsigned long long)d->last_ns, rec->ts);
		return false;
	}
	d->last_ns = rec->ts;
	if (rec->missed_events)
		add_lost(c, cpu, rec->missed_events, rec->ts);
	ret = rec->size < 0
		      ? -EINVAL
		      : tmigr_decode(c->decoder, rec->data, (size_t)rec->size, rec->ts, cpu, &e);
	/* cpu_idle names its CPU. */
	if (ret > 0 && e.cpu != cpu)
		ret = -EINVAL;
	if (ret < 0) {
		partial(c, "an event of CPU %u at %llu ns is damaged", cpu, rec->ts);
		add_lost(c, cpu, 1, rec->ts);
	} else if (ret) {
		add(c, &e);
	} else {
		c->done.skipped++;
	}
	return true;
}

static void one_piece(struct child *c, struct tracecmd_input *in, unsigned int cpu)
{
	for (int i = 0; i < PIECE; i++) {
		struct tep_record *rec = tracecmd_read_data(in, (int)cpu);
		bool goes_on = rec && one_record(c, cpu, rec);

		tracecmd_free_record(rec);
		if (!goes_on) {
			c->cpus[cpu].end = true;
			return;
		}
	}
}

static bool furthest_behind(const struct child *c, unsigned int *ret)
{
	bool found = false;

	for (unsigned int i = 0; i < c->n_cpus; i++) {
		if (c->cpus[i].end || (found && c->cpus[i].last_ns >= c->cpus[*ret].last_ns))
			continue;
		*ret = i;
		found = true;
	}
	return found;
}

static void read_buffer(struct child *c, struct tracecmd_input *in)
{
	unsigned int cpu = 0, pieces = 0;

	memset(c->cpus, 0, c->n_cpus * sizeof(*c->cpus));
	while (furthest_behind(c, &cpu)) {
		one_piece(c, in, cpu);
		/* Also a sign of life where nothing is of use. */
		if (++pieces % 64 == 0)
			flush(c);
	}
	flush(c);
}

/* ---- the file ---- */

/* "Linux host 7.3.4 aarch64" */
static void read_uname(struct dat_hello *h, const char *text)
{
	char system[65];

	if (!text ||
	    sscanf(text, "%64s %64s %64s %64s", system, h->host, h->kernel, h->machine) != 4)
		h->host[0] = h->kernel[0] = h->machine[0] = '\0';
}

/* "local global [mono] boot": the one in brackets; or that alone. */
static void read_clock(struct dat_hello *h, const char *text)
{
	const char *at = text ? strchr(text, '[') : NULL;

	at = at ? at + 1 : text;
	if (at)
		snprintf(h->clock, sizeof(h->clock), "%.*s", (int)strcspn(at, "] \n"), at);
}

static void say_hello(struct child *c, struct tracecmd_input *in)
{
	struct dat_hello h = {.n_cpus = c->n_cpus};

	if (tracecmd_get_uname)
		read_uname(&h, tracecmd_get_uname(in));
	if (tracecmd_get_trace_clock)
		read_clock(&h, tracecmd_get_trace_clock(in));
	tell(c, DAT_HELLO, &h, sizeof(h), 0);
}

static void prepare(struct child *c, struct tracecmd_input *in)
{
	const struct tmigr_hotplug_steps none = {-1, -1};
	struct tep_handle *tep = tracecmd_get_tep(in);
	struct tmigr_err err = {""};
	int n = tep_get_cpus(tep);

	if (n <= 0 || n > TMIGR_CPU_MAX + 1)
		fail(c, "names %d CPUs", n);
	c->n_cpus = (unsigned int)n;
	c->cpus = calloc(c->n_cpus, sizeof(*c->cpus));
	if (!c->cpus)
		fail(c, "no memory");
	if (tmigr_decoder_new(tep, none, &c->decoder, &err))
		fail(c, "has %s", err.text);
	if (*tmigr_decoder_problem(c->decoder))
		partial(c, "%.200s", tmigr_decoder_problem(c->decoder));
}

/* Several buffers may hold the same events: the first that has any of use. */
static void read_file(struct child *c, struct tracecmd_input *in)
{
	int n = tracecmd_buffer_instances(in);

	read_buffer(c, in);
	for (int i = 0; i < n && !c->events; i++) {
		struct tracecmd_input *buffer = tracecmd_buffer_instance_handle(in, i);

		if (buffer)
			read_buffer(c, buffer);
	}
}

static void limit(void)
{
	const struct rlimit core = {0, 0};

	setrlimit(RLIMIT_CORE, &core);
#ifndef __SANITIZE_ADDRESS__
	{
		const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};

		setrlimit(RLIMIT_AS, &memory);
	}
#endif
}

/* Alone with the file: what the library says goes nowhere, what it breaks is ours. */
static void isolate(int *fd, int *out)
{
	static const int plain[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE,
				    SIGILL,  SIGINT, SIGTERM, SIGHUP};
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		signal(plain[i], SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	*fd = fcntl(*fd, F_DUPFD, 5);
	*out = fcntl(*out, F_DUPFD, 5);
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	limit();
}

void tmigr_dat_child(int fd, const char *name, int out)
{
	struct child *c = calloc(1, sizeof(*c));
	struct tracecmd_input *in;

	if (!c)
		_exit(1);
	c->name = name;
	isolate(&fd, &out);
	c->out = out;
	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	in = tracecmd_open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!in)
		fail(c, "is damaged or cut off: its head cannot be read");
	prepare(c, in);
	say_hello(c, in);
	read_file(c, in);
	tell(c, DAT_DONE, &c->done, sizeof(c->done), 0);
	_exit(0);
}

#else

void tmigr_dat_child(int fd, const char *name, int out)
{
	char line[TMIGR_ERR_MAX];
	struct dat_head head = {.msg = DAT_ERROR};

	(void)fd;
	snprintf(line, sizeof(line),
		 "%.300s: is a trace.dat, and this tmigr was built without libtracecmd; "
		 "'trace-cmd report -t' makes text of it",
		 name);
	head.bytes = (__u32)strlen(line) + 1;
	if (write(out, &head, sizeof(head)) < 0 || write(out, line, head.bytes) < 0)
		_exit(1);
	_exit(0);
}

#endif
