// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text of ftrace as a source of events: one pass, line by line, in a buffer of fixed
 * size.
 *
 * A line of ours that makes no sense (a number out of range, a field that is not
 * there) is an event that is missing: it counts as lost, and the result is partial.
 * Lines of anything else are passed over.  Where time goes back, two traces were
 * put together, or what follows is none: it ends there.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model_internal.h" /* tmigr_grow */
#include "text_line.h"
#include "text_scan.h"
#include "tmigr/hotplug.h"
#include "traced_buffers.h"

#define BUFFER	 (256u << 10)
#define LINE_MAX 65536u
/* `trace_pipe` takes from the CPUs' buffers while they are written: stamps of
 * different CPUs can be the wrong way round by this much. */
#define SLACK_NS 10000000ULL
/* Lines to look at before a file counts as something else; bytes, where none ends. */
#define MAX_FOREIGN	  1000000u
#define MAX_FOREIGN_BYTES (256u << 20)

/* Names of trace buffers that are told apart, and as much of each. */
#define TEXT_BUFFERS	 64
#define TEXT_BUFFER_NAME 128

struct cpu_text {
	__u64 last_ns; /* stamp */
	__u32 lost;    /* told of, not given out yet */
};

struct text {
	struct tmigr_traced_source src; /* first: what the caller has */
	const char *path;
	int fd;
	char *buf;
	size_t at, n; /* unread part of buf: [at, n) */
	bool eof, stopped;
	bool cut;      /* the last line has no end */
	bool skipping; /* the rest of a line that is too long */
	__u64 skipped; /* bytes of it */
	__u64 line;    /* number of the present one */
	__u64 heads;   /* lines that are events */
	__u64 events;  /* ... of ours */
	__u64 bad;
	__u64 no_unit;
	__u64 last_ns, watermark_ns;
	struct traced_buffers buffers;
	char names[TEXT_BUFFERS][TEXT_BUFFER_NAME]; /* of buffers from 1 on */
	__u32 n_names;
	__u32 next_buffer;     /* of the next event: a line of its losses has had its name */
	struct cpu_text *cpus; /* by number */
	size_t n_cpus, cap_cpus;
	struct tmigr_hotplug_steps steps;
	struct text_plans plans;
};

static struct text *text_of(struct tmigr_traced_source *src)
{
	return (struct text *)src;
}

__attribute__((format(printf, 2, 3))) static void partial(struct text *t, const char *fmt, ...)
{
	va_list ap;

	if (t->src.partial[0])
		return;
	va_start(ap, fmt);
	vsnprintf(t->src.partial, sizeof(t->src.partial), fmt, ap);
	va_end(ap);
}

/* ---- lines ---- */

static int fill(struct text *t, struct tmigr_err *err)
{
	ssize_t n;

	if (t->at) {
		memmove(t->buf, t->buf + t->at, t->n - t->at);
		t->n -= t->at;
		t->at = 0;
	}
	do
		n = read(t->fd, t->buf + t->n, BUFFER - t->n);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return tmigr_fail(err, -errno, "%s: %s", t->path, strerror(errno));
	t->n += (size_t)n;
	t->eof = n == 0;
	return 0;
}

static int nothing(const struct text *t, struct tmigr_err *err)
{
	if (t->no_unit)
		return tmigr_fail(err, -EINVAL,
				  "%s: its stamps have no unit (a trace_clock that does not count "
				  "nanoseconds): trace with 'mono' or 'local'",
				  t->path);
	if (t->heads && t->src.partial[0])
		return tmigr_fail(err, -EINVAL, "%s", t->src.partial);
	if (t->heads && t->src.steps)
		return tmigr_fail(err, -EINVAL,
				  "%s: a trace of %llu events, none of them of CPU hotplug (cpuhp)",
				  t->path, (unsigned long long)t->heads);
	if (t->heads)
		return tmigr_fail(err, -EINVAL,
				  "%s: a trace of %llu events, none of them cpu_idle or of timer "
				  "migration",
				  t->path, (unsigned long long)t->heads);
	if (t->cut || t->skipped)
		return tmigr_fail(
			err, -EINVAL,
			"%s: no line of it is an event of a trace, and line %llu has no end",
			t->path, (unsigned long long)t->line + 1);
	return tmigr_fail(err, -EINVAL,
			  t->line ? "%s: no line of it is an event of a trace" : "%s: empty",
			  t->path);
}

/* What a crash leaves where pages of a file were not written.  A NUL or two are a line of
 * something else. */
static void look_for_hole(struct text *t, const char *at, const char *end)
{
	static const char hole[64];

	if (memmem(at, (size_t)(end - at), hole, sizeof(hole)))
		partial(t, "%s: line %llu: a hole of NUL bytes: what was there is missing", t->path,
			(unsigned long long)t->line);
}

/* The next line: 1, 0 at the end, <0. */
static int next_line(struct text *t, struct text_line *ret, struct tmigr_err *err)
{
	for (;;) {
		char *start = t->buf + t->at;
		char *nl = memchr(start, '\n', t->n - t->at);
		int r;

		if (nl) {
			bool skip = t->skipping;

			t->at = (size_t)(nl - t->buf) + 1;
			t->line++;
			t->skipping = false;
			if (skip)
				continue;
			*ret = (struct text_line){start,
						  nl > start && nl[-1] == '\r' ? nl - 1 : nl};
			return 1;
		}
		if (t->eof) {
			t->cut = t->n > t->at || t->skipping;
			if (t->cut)
				partial(t, "%s: ends in the middle of line %llu", t->path,
					(unsigned long long)t->line + 1);
			t->at = t->n;
			t->skipping = false;
			return 0;
		}
		if (t->n - t->at > LINE_MAX)
			t->skipping = true;
		if (t->skipping) {
			look_for_hole(t, t->buf + t->at, t->buf + t->n);
			t->skipped += t->n - t->at;
			t->at = t->n;
		}
		if (!t->heads && t->skipped > MAX_FOREIGN_BYTES) {
			nothing(t, err);
			return -EINVAL;
		}
		r = fill(t, err);
		if (r < 0)
			return r;
	}
}

/* ---- events ---- */

/* NULL: no memory. */
static struct cpu_text *cpu_of(struct text *t, __u64 cpu)
{
	if (cpu >= t->n_cpus) {
		if (tmigr_grow(&t->cpus, &t->cap_cpus, cpu + 1, sizeof(*t->cpus)) < 0) {
			partial(t, "%s: line %llu: no memory", t->path,
				(unsigned long long)t->line);
			t->stopped = true;
			return NULL;
		}
		memset(t->cpus + t->n_cpus, 0, (cpu + 1 - t->n_cpus) * sizeof(*t->cpus));
		t->n_cpus = cpu + 1;
	}
	return &t->cpus[cpu];
}

static void tell_lost(struct text *t, __u64 cpu, __u64 n)
{
	struct cpu_text *c;

	if (cpu > TMIGR_TRACED_CPU_MAX) {
		partial(t, "%s: line %llu: a CPU number out of range", t->path,
			(unsigned long long)t->line);
		return;
	}
	c = cpu_of(t, cpu);
	if (c)
		c->lost += (__u32)(n < 0xffffffffu - c->lost ? n : 0xffffffffu - c->lost);
}

/* The number of a buffer; that of lines without a name is 0.  Beyond the last all share its
 * place. */
static __u32 buffer_of(struct text *t, struct text_line name)
{
	size_t n = (size_t)(name.end - name.at);
	__u32 i = 0;

	if (!n)
		return 0;
	if (n >= TEXT_BUFFER_NAME)
		n = TEXT_BUFFER_NAME - 1;
	while (i < t->n_names && (strlen(t->names[i]) != n || memcmp(t->names[i], name.at, n) != 0))
		i++;
	if (i == t->n_names && i < TEXT_BUFFERS) {
		memcpy(t->names[i], name.at, n);
		t->n_names++;
	}
	return i + 1;
}

static void tell_buffers(struct text *t)
{
	const char *names[TEXT_BUFFERS + 2] = {[TEXT_BUFFERS + 1] = "another"};

	for (__u32 i = 0; i < t->n_names; i++)
		names[i + 1] = t->names[i];
	traced_buffers_tell(&t->buffers, names, t->src.buffers, sizeof(t->src.buffers));
}

/* "# hostname : board": the text behind a key of perf's header. */
static void header_text(struct text_line line, const char *key, char *ret, size_t size)
{
	size_t n = strlen(key);

	if ((size_t)(line.end - line.at) <= n || memcmp(line.at, key, n) != 0)
		return;
	snprintf(ret, size, "%.*s", (int)(line.end - line.at - (long)n), line.at + n);
}

/* How many CPUs there were, and whose; as trace, trace-cmd and perf say it. */
static void comment(struct text *t, struct text_line line)
{
	static const char *const keys[] = {"#P:", "cpus=", "# nrcpus avail :"};
	struct tmigr_traced_source *src = &t->src;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !src->n_cpus; i++) {
		__u64 n = text_number_after(line, keys[i]);

		if (n <= TMIGR_TRACED_CPU_MAX)
			src->n_cpus = (unsigned int)n;
	}
	header_text(line, "# hostname : ", src->host, sizeof(src->host));
	header_text(line, "# os release : ", src->kernel, sizeof(src->kernel));
	header_text(line, "# arch : ", src->machine, sizeof(src->machine));
}

/*
 * "cpuhp_enter: cpu: 0004 target: 0 step: 87 (takedown_cpu)", "cpuhp_exit:  cpu: 0004
 * state: 87 step: 87 ret: 0"
 */
static enum tmigr_traced_type hotplug(struct text *t, const struct text_head *h, __u32 *ret_cpu)
{
	bool is_exit = text_is(h, "cpuhp_exit");
	int cpu, step, target;
	const char *function;
	size_t n;

	if (!is_exit && !text_is(h, "cpuhp_enter"))
		return TMIGR_TRACED_OTHER;
	if (!text_int_after(h->rest, "cpu:", &cpu) || !text_int_after(h->rest, "step:", &step) ||
	    !text_int_after(h->rest, is_exit ? "ret:" : "target:", &target) || cpu < 0 ||
	    cpu > (int)TMIGR_TRACED_CPU_MAX)
		return TMIGR_TRACED_OTHER;
	*ret_cpu = (__u32)cpu;
	if (is_exit)
		return tmigr_hotplug_took_down(step, t->steps.teardown, target)
			       ? TMIGR_TRACED_HOTPLUG_OFFLINE
			       : TMIGR_TRACED_OTHER;
	/* "(takedown_cpu)": what a step calls tells which it is. */
	function = text_in_parens(h->rest, &n);
	if (function)
		tmigr_hotplug_learn(&t->steps, step, function, n);
	return tmigr_hotplug_brings_up(step, t->steps.bringup, target) ? TMIGR_TRACED_HOTPLUG_ONLINE
								       : TMIGR_TRACED_OTHER;
}

/* An event of ours that makes no sense: it is missing, on @cpu. */
static int bad_event(struct text *t, const struct text_head *h, __u32 cpu, const char *why,
		     struct tmigr_traced *ret)
{
	partial(t, "%s: line %llu: %s; such lines count as lost events", t->path,
		(unsigned long long)t->line, why);
	t->bad++;
	*ret = (struct tmigr_traced){
		.t_ns = h->t_ns, .type = TMIGR_TRACED_LOST, .cpu = cpu, .value = 1};
	return 1;
}

/* Time may not go back. */
static bool in_time(struct text *t, const struct text_head *h, const struct cpu_text *c)
{
	if (h->t_ns >= t->watermark_ns && h->t_ns >= c->last_ns)
		return true;
	partial(t, "%s: line %llu: time goes back, from %.6f to %.6f; what follows is not used",
		t->path, (unsigned long long)t->line,
		(double)(h->t_ns < c->last_ns ? c->last_ns : t->last_ns) / 1e9,
		(double)h->t_ns / 1e9);
	t->stopped = true;
	return false;
}

/* perf's own "PERF_RECORD_LOST lost 12" */
static void perf_lost(struct text *t, const struct text_head *h)
{
	__u64 n = text_number_after(h->rest, "lost ");

	tell_lost(t, h->cpu, n ? n : 1);
}

/* What was lost comes directly before the CPU's next event. */
static bool lost_before(struct cpu_text *c, __u32 cpu, __u64 t_ns, struct tmigr_traced *ev)
{
	if (!c->lost)
		return false;
	*ev = (struct tmigr_traced){
		.t_ns = t_ns, .type = TMIGR_TRACED_LOST, .cpu = cpu, .value = c->lost};
	c->lost = 0;
	return true;
}

/* An event of ours: how many it gave, up to 2. */
static int our_event(struct text *t, const struct text_head *h, enum tmigr_traced_type type,
		     __u32 subject, struct tmigr_traced *evs)
{
	struct cpu_text *c = cpu_of(t, h->cpu);
	struct tmigr_traced *ev = evs;
	const char *why = NULL;

	if (!c || !in_time(t, h, c))
		return 0;
	c->last_ns = h->t_ns;
	if (h->t_ns > t->last_ns)
		t->last_ns = h->t_ns;
	if (h->nsec)
		t->src.resolution_ns = 1;
	ev += lost_before(c, (__u32)h->cpu, h->t_ns, ev);
	*ev = (struct tmigr_traced){.t_ns = h->t_ns,
				    .cpu = (__u32)h->cpu,
				    .type = (__u8)type,
				    .pid = h->pid,
				    .subject = subject};
	if ((type == TMIGR_TRACED_CPU_AVAILABLE || type == TMIGR_TRACED_CPU_UNAVAILABLE) &&
	    tmigr_traced_is_hotplug(h->name, h->n_name))
		ev->has = TMIGR_HAS_HOTPLUG;
	if (t->src.steps)
		why = text_step(h->rest, t->src.steps, ev);
	else if (type != TMIGR_TRACED_HOTPLUG_ONLINE && type != TMIGR_TRACED_HOTPLUG_OFFLINE)
		why = text_fields(h->rest, &t->plans, ev);
	if (!why && ev->cpu != h->cpu)
		why = "an idle state of another CPU"; /* no kernel does that */
	if (why)
		return (int)(ev - evs) + bad_event(t, h, (__u32)h->cpu, why, ev);
	t->events++;
	return (int)(ev - evs) + 1;
}

/* A line that is no event. */
static void other_line(struct text *t, struct text_line line)
{
	struct text_line name = {NULL, NULL};
	__u64 cpu, n;

	if (t->n_names) {
		text_buffer(&line, &name);
		line.at = scan_blanks(line.at, line.end);
	}
	if (line.at == line.end || (line.at[0] != '#' && line.at[0] != 'c' && line.at[0] != 'C'))
		return;
	if (!text_lost(line, &cpu, &n)) {
		comment(t, line);
		return;
	}
	t->next_buffer = buffer_of(t, name);
	if (t->n_names && !traced_buffers_uses(&t->buffers, t->next_buffer))
		return;
	if (traced_buffers_split(&t->buffers))
		partial(t,
			"%s: line %llu: one of several buffers has lost events, maybe before what "
			"others tell of CPU %llu",
			t->path, (unsigned long long)t->line, (unsigned long long)cpu);
	if (line.at[0] != '#' || t->last_ns) {
		/* (A buffer's start before all events is no loss.) */
		tell_lost(t, cpu, n);
	}
}

/* One line: how many events it gave, up to 2. */
static int one_line(struct text *t, struct text_line line, struct tmigr_traced *evs)
{
	enum tmigr_traced_type type;
	struct text_head h;
	__u32 subject = 0, buffer;

	if (!text_head(line, &h)) {
		look_for_hole(t, line.at, line.end);
		other_line(t, line);
		return 0;
	}
	buffer = h.buffer.at ? buffer_of(t, h.buffer) : t->next_buffer;
	t->next_buffer = 0;
	t->heads++;
	type = t->src.steps ? text_step_type(&h) : tmigr_traced_type(h.name, h.n_name);
	if (!t->src.steps && type == TMIGR_TRACED_OTHER && h.n_name > 6 &&
	    !memcmp(h.name, "cpuhp_", 6))
		type = hotplug(t, &h, &subject);
	if (type == TMIGR_TRACED_OTHER) {
		t->src.skipped++;
		if (h.n_name == 16 && !memcmp(h.name, "PERF_RECORD_LOST", 16))
			perf_lost(t, &h);
		return 0;
	}
	if (!traced_buffers_take(&t->buffers, (__u8)type, buffer)) {
		t->src.skipped++;
		return 0;
	}
	if (h.no_unit) {
		t->no_unit++;
		return 0;
	}
	if (h.far) {
		h.t_ns = t->last_ns;
		return bad_event(t, &h, TMIGR_TRACED_NO_CPU, "a stamp out of range", evs);
	}
	if (h.cpu > TMIGR_TRACED_CPU_MAX) {
		h.t_ns = h.t_ns > t->last_ns ? h.t_ns : t->last_ns;
		return bad_event(t, &h, TMIGR_TRACED_NO_CPU, "a CPU number out of range", evs);
	}
	return our_event(t, &h, type, subject, evs);
}

/* At the end: what was lost and no event of its CPU followed, but others' did. */
static int rest_lost(struct text *t, struct tmigr_traced *evs, size_t max)
{
	int n = 0;

	for (size_t cpu = 0; t->last_ns && cpu < t->n_cpus && (size_t)n < max; cpu++)
		if (t->cpus[cpu].last_ns < t->last_ns)
			n += lost_before(&t->cpus[cpu], (__u32)cpu, t->last_ns, &evs[n]);
	return n;
}

static ssize_t text_read(struct tmigr_traced_source *src, struct tmigr_traced *evs, size_t max,
			 __u64 *ret_watermark_ns, struct tmigr_err *err)
{
	struct text *t = text_of(src);
	struct text_line line;
	size_t n = 0;
	int r = 1;

	while (n + 2 <= max && !t->stopped && (r = next_line(t, &line, err)) > 0) {
		n += (size_t)one_line(t, line, evs + n);
		if (!t->heads && t->line > MAX_FOREIGN)
			return nothing(t, err);
	}
	if (r < 0)
		return r;
	if (r == 0 || t->stopped) {
		t->stopped = true;
		if (!t->events)
			return nothing(t, err);
		tell_buffers(t);
		if (n + 2 <= max)
			n += (size_t)rest_lost(t, evs + n, max - n);
	}
	if (t->last_ns > SLACK_NS)
		t->watermark_ns = t->last_ns - SLACK_NS;
	*ret_watermark_ns = t->watermark_ns;
	return (ssize_t)n;
}

static void text_close(struct tmigr_traced_source *src)
{
	struct text *t = text_of(src);

	free(t->buf);
	free(t->cpus);
	free(t);
}

int tmigr_text_open_fd(const char *name, int fd, const void *head, size_t n,
		       struct tmigr_traced_source **ret, struct tmigr_err *err)
{
	struct text *t = calloc(1, sizeof(*t));

	if (!t)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", name);
	t->path = name;
	t->fd = fd;
	t->steps = (struct tmigr_hotplug_steps){-1, -1};
	t->src = (struct tmigr_traced_source){.read = text_read,
					      .close = text_close,
					      .format = "text of ftrace",
					      .resolution_ns = 1000};
	t->buf = malloc(BUFFER);
	if (!t->buf || n > BUFFER / 2) {
		text_close(&t->src);
		return tmigr_fail(err, -ENOMEM, "%s: no memory", name);
	}
	memcpy(t->buf, head, n);
	t->n = n;
	*ret = &t->src;
	return 0;
}
