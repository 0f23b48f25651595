// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process that reads a trace.dat.  The CPUs' records are merged by their stamps, so
 * no more is held than a page of each, and who asked gets them in the order of
 * time.
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
#include "traced_buffers.h"
#include "tracedat_cpu.h"

#define MEMORY_MAX   (8ULL << 30)
#define BUFFERS_MAX  256
#define SIGN_OF_LIFE 65536 /* after so many records, where nothing is of use */

/* Exported by the library, not in its header. */
__attribute__((weak)) const char *tracecmd_get_trace_clock(struct tracecmd_input *handle);
__attribute__((weak)) const char *tracecmd_get_uname(struct tracecmd_input *handle);
__attribute__((weak)) bool tracecmd_compress_is_supported(const char *name, const char *version);

/* A CPU's part of a buffer, and the stamp of its present record. */
struct turn {
	__u64 t_ns;
	unsigned int part;
};

struct child {
	const char *name;
	int out;
	struct tmigr_decoder *decoder;
	unsigned int n_cpus, n_buffers, n_parts;
	struct tracecmd_input *inputs[BUFFERS_MAX]; /* NULL: cannot be read */
	const char *names[BUFFERS_MAX];
	struct dat_cpu *parts; /* part cpu * n_buffers + buffer */
	struct traced_buffers buffers;
	/* parts that have a record, the one with the first stamp on top (a heap) */
	struct turn *heap;
	unsigned int n_heap;
	__u64 now_ns;  /* no later record has a smaller stamp */
	__u64 told_ns; /* of the last event of use */
	char clock[sizeof(((struct dat_hello *)0)->clock)];
	struct dat_shared *shared;
	unsigned int slot, free_slots;
	size_t n;     /* in the slot */
	__u64 events; /* of use */
	__u64 records;
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

static void tell(struct child *c, enum dat_msg msg, const void *data, size_t bytes)
{
	const struct dat_head head = {.msg = msg, .n = (__u32)bytes};

	put(c, &head, sizeof(head));
	put(c, data, bytes);
}

/* Waits for a slot to be given back. */
static void get_slot(struct child *c)
{
	char bytes[DAT_SLOTS];
	ssize_t n;

	while (!c->free_slots) {
		n = read(c->out, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1); /* nobody listens */
		c->free_slots += (unsigned int)n;
	}
}

/* A message's events come in order, and before those of later ones. */
static void flush(struct child *c)
{
	const struct dat_head head = {
		.msg = DAT_EVENTS, .n = (__u32)c->n, .watermark_ns = c->now_ns};

	put(c, &head, sizeof(head));
	c->n = 0;
	c->slot = (c->slot + 1) % DAT_SLOTS;
	c->free_slots--;
	get_slot(c);
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
	tell(c, DAT_ERROR, line, strlen(line) + 1);
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

/* Where the next event goes, and that it is there. */
static struct tmigr_traced *next(const struct child *c)
{
	return &c->shared->evs[c->slot][c->n];
}

static void add(struct child *c)
{
	c->n++;
	c->events++;
	if (c->n == DAT_BATCH)
		flush(c);
}

/* What was lost comes directly before the CPU's next event of use, as in a text. */
static void put_lost(struct child *c, struct dat_cpu *d, __u64 t_ns)
{
	if (!d->lost)
		return;
	*next(c) = (struct tmigr_traced){
		.t_ns = t_ns, .cpu = (__u32)d->cpu, .type = TMIGR_TRACED_LOST, .value = d->lost};
	d->lost = 0;
	add(c);
}

static void put_event(struct child *c, struct dat_cpu *d)
{
	const struct tmigr_traced ev = *next(c);

	if (d->lost) {
		put_lost(c, d, ev.t_ns);
		*next(c) = ev;
	}
	d->told_ns = c->told_ns = ev.t_ns;
	add(c);
}

/* Before all events it is outside of what is told. */
static void count_missed(struct child *c, struct dat_cpu *d)
{
	if (d->missed && traced_buffers_uses(&c->buffers, d->buffer))
		d->lost += d->missed > 0 ? (__u64)d->missed : 1;
	d->missed = 0;
}

/* False: nothing after it in this part makes sense. */
static bool one_record(struct child *c, struct dat_cpu *d)
{
	int ret = -EINVAL;

	if (d->t_ns < d->last_ns || d->t_ns > TMIGR_TRACED_NS_MAX) {
		partial(c,
			"time goes %s on CPU %d, from %llu ns to %llu ns: the CPU's later events "
			"are left out",
			d->t_ns < d->last_ns ? "back" : "out of range", d->cpu,
			(unsigned long long)d->last_ns, (unsigned long long)d->t_ns);
		d->lost++;
		return false;
	}
	c->now_ns = d->t_ns;
	count_missed(c, d);
	if (d->size >= 0)
		ret = tmigr_decode(c->decoder, d->data, (size_t)d->size, d->t_ns, (__u32)d->cpu,
				   next(c));
	/* cpu_idle names its CPU. */
	if (ret > 0 && next(c)->cpu != (__u32)d->cpu)
		ret = -EINVAL;
	if (ret < 0) {
		partial(c, "an event of CPU %d at %llu ns is damaged", d->cpu,
			(unsigned long long)d->t_ns);
		d->lost++;
	} else if (ret && traced_buffers_take(&c->buffers, next(c)->type, d->buffer)) {
		put_event(c, d);
	} else {
		c->done.skipped++;
	}
	return true;
}

static bool next_record(struct child *c, struct dat_cpu *d)
{
	if (dat_cpu_next(d))
		return true;
	if (d->damaged) {
		partial(c,
			"the data of CPU %d is damaged behind %llu ns: its later events are left "
			"out",
			d->cpu, (unsigned long long)d->last_ns);
		d->lost++;
	}
	return false;
}

/* ---- in the order of time ---- */

/* By stamp; of equal ones the CPU with the lower number. */
static bool earlier(const struct turn *a, const struct turn *b)
{
	return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->part < b->part;
}

static void sift_down(struct turn *heap, unsigned int n, unsigned int i)
{
	const struct turn turn = heap[i];

	for (;;) {
		unsigned int k = 2 * i + 1;

		if (k >= n)
			break;
		if (k + 1 < n && earlier(&heap[k + 1], &heap[k]))
			k++;
		if (!earlier(&heap[k], &turn))
			break;
		heap[i] = heap[k];
		i = k;
	}
	heap[i] = turn;
}

static void begin(struct child *c)
{
	for (unsigned int i = 0; i < c->n_parts; i++) {
		unsigned int cpu = i / c->n_buffers, buffer = i % c->n_buffers;

		if (!c->inputs[buffer])
			continue;
		if (dat_cpu_begin(&c->parts[i], c->inputs[buffer], (int)cpu))
			fail(c, "no memory");
		c->parts[i].buffer = buffer;
		if (next_record(c, &c->parts[i]))
			c->heap[c->n_heap++] = (struct turn){c->parts[i].t_ns, i};
	}
	for (unsigned int i = c->n_heap / 2; i-- > 0;)
		sift_down(c->heap, c->n_heap, i);
}

/* The clocks of ftrace that do not count nanoseconds. */
static bool has_unit(const char *clock)
{
	static const char *const none[] = {"counter", "uptime", "x86-tsc", "ppc-tb"};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (!strcmp(clock, none[i]))
			return false;
	return true;
}

/* Stamps that are as they lie in the file, though the library may know their scale. */
static void check_clock(struct child *c)
{
	if (has_unit(c->clock))
		return;
	for (unsigned int i = 0; i < c->n_heap; i++)
		if (c->parts[c->heap[i].part].in_page)
			fail(c,
			     "its stamps have no unit (the trace_clock '%s' does not count "
			     "nanoseconds): trace with 'mono' or 'local'",
			     c->clock);
}

static void read_records(struct child *c)
{
	begin(c);
	check_clock(c);
	while (c->n_heap) {
		struct turn *first = &c->heap[0];
		struct dat_cpu *d = &c->parts[first->part];

		if (one_record(c, d) && next_record(c, d)) {
			first->t_ns = d->t_ns;
			/* Until then other buffers may tell of the CPU, which does not undo it. */
			if (d->missed && c->n_buffers > 1) {
				count_missed(c, d);
				put_lost(c, d, c->now_ns);
			}
		} else {
			*first = c->heap[--c->n_heap];
		}
		if (c->n_heap)
			sift_down(c->heap, c->n_heap, 0);
		if (++c->records % SIGN_OF_LIFE == 0)
			flush(c);
	}
	/* Behind the last event of all nothing is told. */
	for (unsigned int i = 0; c->events && i < c->n_parts; i++)
		if (c->parts[i].told_ns < c->told_ns)
			put_lost(c, &c->parts[i], c->now_ns);
	flush(c);
	for (unsigned int i = 0; i < c->n_parts; i++)
		dat_cpu_end(&c->parts[i]);
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
	memcpy(c->clock, h.clock, sizeof(c->clock));
	tell(c, DAT_HELLO, &h, sizeof(h));
}

/* Of the symbols that the file has. */
static const char *function(void *arg, __u64 address)
{
	return tep_find_function(arg, address);
}

static void prepare(struct child *c, struct tracecmd_input *in)
{
	const struct tmigr_hotplug_steps none = {-1, -1};
	struct tep_handle *tep = tracecmd_get_tep(in);
	struct tmigr_err err = {""};
	int n = tep_get_cpus(tep), n_more = tracecmd_buffer_instances(in);

	if (n <= 0 || n > TMIGR_CPU_MAX + 1)
		fail(c, "names %d CPUs", n);
	if (n_more < 0 || n_more >= BUFFERS_MAX)
		fail(c, "names %d buffers", n_more);
	c->n_cpus = (unsigned int)n;
	c->n_buffers = (unsigned int)n_more + 1;
	c->n_parts = c->n_cpus * c->n_buffers;
	c->parts = calloc(c->n_parts, sizeof(*c->parts));
	c->heap = calloc(c->n_parts, sizeof(*c->heap));
	if (!c->parts || !c->heap)
		fail(c, "no memory");
	if (tmigr_decoder_new(tep, none, &c->decoder, &err))
		fail(c, "has %s", err.text);
	if (c->shared->steps)
		tmigr_decoder_all_steps(c->decoder);
	tmigr_decoder_functions(c->decoder, function, tep);
	if (*tmigr_decoder_problem(c->decoder))
		partial(c, "%.200s", tmigr_decoder_problem(c->decoder));
}

static void open_buffers(struct child *c, struct tracecmd_input *in)
{
	c->inputs[0] = in;
	for (unsigned int i = 1; i < c->n_buffers; i++) {
		c->names[i] = tracecmd_buffer_instance_name(in, (int)i - 1);
		c->inputs[i] = tracecmd_buffer_instance_handle(in, (int)i - 1);
		if (!c->inputs[i])
			partial(c, "the buffer '%.60s' cannot be read", c->names[i]);
	}
}

/* Nothing of use was in it. */
__attribute__((noreturn)) static void nothing(struct child *c)
{
	if (c->done.partial[0]) {
		tell(c, DAT_ERROR, c->done.partial, strlen(c->done.partial) + 1);
		_exit(0);
	}
	if (!c->records)
		fail(c, "holds no events");
	fail(c, "a trace of %llu events, none of them %s", (unsigned long long)c->records,
	     c->shared->steps ? "of CPU hotplug (cpuhp)" : "cpu_idle or of timer migration");
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

/* "tracing7", byte order, size of a long, of a page; then what it is compressed with,
 * which the library, for some, was built without. */
static void check_compression(struct child *c, int fd)
{
	char head[64] = {0};
	const char *name = head + 18;

	if (pread(fd, head, sizeof(head) - 1, 0) < 18 || strcmp(head + 10, "7") != 0 || !*name ||
	    !strcmp(name, "none") || !tracecmd_compress_is_supported ||
	    tracecmd_compress_is_supported(name, NULL))
		return;
	fail(c,
	     "is compressed with '%.20s', which this machine's libtracecmd cannot read: "
	     "'trace-cmd convert --compression none' where it was made helps",
	     name);
}

void tmigr_dat_child(int fd, const char *name, int out, struct dat_shared *shared)
{
	struct child *c = calloc(1, sizeof(*c));
	struct tracecmd_input *in;

	if (!c)
		_exit(1);
	c->name = name;
	c->shared = shared;
	c->free_slots = DAT_SLOTS;
	isolate(&fd, &out);
	c->out = out;
	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	check_compression(c, fd);
	in = tracecmd_open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!in)
		fail(c, "is damaged or cut off: its head cannot be read");
	prepare(c, in);
	say_hello(c, in);
	open_buffers(c, in);
	read_records(c);
	if (!c->events)
		nothing(c);
	traced_buffers_tell(&c->buffers, c->names, c->done.buffers, sizeof(c->done.buffers));
	tell(c, DAT_DONE, &c->done, sizeof(c->done));
	_exit(0);
}

#else

void tmigr_dat_child(int fd, const char *name, int out, struct dat_shared *shared)
{
	char line[TMIGR_ERR_MAX];
	struct dat_head head = {.msg = DAT_ERROR};

	(void)fd;
	(void)shared;
	snprintf(line, sizeof(line),
		 "%.300s: is a trace.dat, and this tmigr was built without libtracecmd; "
		 "'trace-cmd report -t' makes text of it",
		 name);
	head.n = (__u32)strlen(line) + 1;
	if (write(out, &head, sizeof(head)) < 0 || write(out, line, head.n) < 0)
		_exit(1);
	_exit(0);
}

#endif
