// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The per-CPU buffers of a tracefs instance, page by page, as traced events.
 * Nothing is waited for: a read takes what is there, also of a page that is being
 * filled, and its CPU does not notice.
 */
#include "ftrace_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event-parse.h>
#include <kbuffer.h>
#include <tracefs.h>

#define BATCH	      512
#define PAGES_A_ROUND 32
#define SUBBUF_MAX    (1 << 20)
#define MONO_BACK_MAX 1000 /* ns: the fast clock may step back by less, in an NMI */

struct tmigr_trace_cpu {
	unsigned int cpu;
	int fd;
	char *path; /* to open it, where that was not possible yet */
	struct kbuffer *kbuf;
	void *page;
	size_t page_size;
	__u64 last_ns; /* of the last event */
	__u64 records, lost;
	bool more; /* the last round did not empty it */
	bool idle_seen;
};

/* ---- life ---- */

static int open_cpu(struct tmigr_trace_cpu *c)
{
	if (c->fd >= 0)
		return 0;
	c->fd = open(c->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return c->fd < 0 ? -errno : 0;
}

static int init_cpu(struct tmigr_trace_cpu *c, unsigned int cpu, struct tmigr_instance *inst,
		    struct tep_handle *tep, size_t page_size)
{
	enum kbuffer_long_size size =
		tep_get_header_page_size(tep) == 4 ? KBUFFER_LSIZE_4 : KBUFFER_LSIZE_8;
	char file[64], *path;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	path = tracefs_instance_get_file(inst->inst, file);
	if (!path)
		return -ENOMEM;
	c->path = strdup(path);
	tracefs_put_tracing_file(path);
	c->cpu = cpu;
	c->page_size = page_size;
	c->page = malloc(page_size);
	c->kbuf = kbuffer_alloc(size, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!c->path || !c->page || !c->kbuf)
		return -ENOMEM;
	return open_cpu(c);
}

/* Of one page as a read gives it: the head's size, and the data's. */
static size_t subbuf_size(struct tmigr_instance *inst)
{
	long long kb = 0;

	/* Since v6.8; before, it is the machine's page. */
	if (tracefs_instance_file_read_number(inst->inst, "buffer_subbuf_size_kb", &kb) == 0 &&
	    kb > 0 && kb * 1024 <= SUBBUF_MAX)
		return (size_t)kb * 1024;
	return (size_t)sysconf(_SC_PAGESIZE);
}

int tmigr_trace_reader_init(struct tmigr_trace_reader *r, const struct tmigr_topology *topo,
			    struct tmigr_instance *inst, struct tep_handle *tep,
			    struct tmigr_decoder *decoder, struct tmigr_err *err)
{
	size_t size = subbuf_size(inst);
	int ret = 0;

	*r = (struct tmigr_trace_reader){.decoder = decoder};
	r->cpus = calloc(topo->n_cpus, sizeof(*r->cpus));
	r->batch = malloc(BATCH * sizeof(*r->batch));
	if (!r->cpus || !r->batch)
		return tmigr_fail(err, -ENOMEM, "no memory for the trace buffers");
	for (size_t i = 0; i < topo->n_cpus; i++)
		r->cpus[i].fd = -1;
	r->n_cpus = topo->n_cpus;
	for (size_t i = 0; i < topo->n_cpus; i++) {
		ret = init_cpu(&r->cpus[i], topo->cpus[i].cpu, inst, tep, size);
		/* A CPU that was never online may have none yet. */
		if (ret && !topo->cpus[i].online && ret != -ENOMEM && ret != -EMFILE)
			ret = 0;
		if (ret)
			break;
	}
	if (ret == -EMFILE)
		return tmigr_fail(err, ret,
				  "cannot open the trace buffers of %zu CPUs: %s: raise the limit "
				  "(ulimit -n; LimitNOFILE= of a unit)",
				  r->n_cpus, strerror(-ret));
	return ret ? tmigr_fail(err, ret, "cannot open the trace buffers: %s", strerror(-ret)) : 0;
}

void tmigr_trace_reader_free(struct tmigr_trace_reader *r)
{
	for (size_t i = 0; i < r->n_cpus; i++) {
		struct tmigr_trace_cpu *c = &r->cpus[i];

		if (c->fd >= 0)
			close(c->fd);
		kbuffer_free(c->kbuf);
		free(c->page);
		free(c->path);
	}
	free(r->cpus);
	free(r->batch);
	tmigr_decoder_free(r->decoder);
	*r = (struct tmigr_trace_reader){0};
}

__u64 tmigr_trace_records(const struct tmigr_trace_reader *r, size_t i)
{
	return r->cpus[i].records;
}

__u64 tmigr_trace_lost(const struct tmigr_trace_reader *r, size_t i)
{
	return r->cpus[i].lost;
}

bool tmigr_trace_idle_seen(const struct tmigr_trace_reader *r, size_t i)
{
	return r->cpus[i].idle_seen;
}

/* ---- events ---- */

static int flush(struct tmigr_trace_reader *r, const struct tmigr_trace_sink *sink)
{
	int ret = r->n_batch ? sink->events(sink->arg, r->batch, r->n_batch) : 0;

	r->n_batch = 0;
	return ret;
}

static int emit(struct tmigr_trace_reader *r, const struct tmigr_traced *e,
		const struct tmigr_trace_sink *sink)
{
	r->batch[r->n_batch++] = *e;
	return r->n_batch == BATCH ? flush(r, sink) : 0;
}

static int emit_lost(struct tmigr_trace_reader *r, struct tmigr_trace_cpu *c, __u64 n, __u64 t_ns,
		     const struct tmigr_trace_sink *sink)
{
	const struct tmigr_traced e = {
		.t_ns = t_ns, .cpu = c->cpu, .type = TMIGR_TRACED_LOST, .value = n};

	c->lost += n;
	c->idle_seen = true;
	return emit(r, &e, sink);
}

/*
 * One record of the buffer.  A CPU that the hypervisor stopped between the stamp
 * and the commit for longer than we wait gives one that is too late to be used: it
 * counts as lost, so that nobody takes the time for known.
 */
static int one_record(struct tmigr_trace_reader *r, struct tmigr_trace_cpu *c, const void *data,
		      size_t size, __u64 t_ns, const struct tmigr_trace_sink *sink)
{
	struct tmigr_traced e;
	int ret;

	if (t_ns < c->last_ns && t_ns + MONO_BACK_MAX >= c->last_ns)
		t_ns = c->last_ns;
	if (t_ns < c->last_ns || t_ns < r->watermark_ns)
		return emit_lost(r, c, 1,
				 c->last_ns > r->watermark_ns ? c->last_ns : r->watermark_ns, sink);
	c->last_ns = t_ns;
	ret = tmigr_decode(r->decoder, data, size, t_ns, c->cpu, &e);
	if (ret < 0)
		return emit_lost(r, c, 1, t_ns, sink);
	if (!ret)
		return 0;
	/* cpu_idle names its CPU, which is this one: the page says which. */
	e.cpu = c->cpu;
	c->idle_seen = c->idle_seen || e.type == TMIGR_TRACED_CPU_IDLE;
	c->records++;
	return emit(r, &e, sink);
}

/* How many events gave way before this page's first one; where the page had no room to
 * say it, one at least. */
static __u64 missed(struct kbuffer *kbuf)
{
	int n = kbuffer_missed_events(kbuf);

	return n < 0 ? 1 : (__u64)n;
}

static int one_page(struct tmigr_trace_reader *r, struct tmigr_trace_cpu *c,
		    const struct tmigr_trace_sink *sink)
{
	unsigned long long t_ns;
	void *data;
	int ret = 0;

	if (kbuffer_load_subbuffer(c->kbuf, c->page) < 0)
		return -EIO;
	data = kbuffer_read_event(c->kbuf, &t_ns);
	if (data && missed(c->kbuf)) {
		__u64 at = t_ns < r->watermark_ns ? r->watermark_ns : t_ns;

		ret = emit_lost(r, c, missed(c->kbuf), at < c->last_ns ? c->last_ns : at, sink);
	}
	for (; data && !ret; data = kbuffer_next_event(c->kbuf, &t_ns))
		ret = one_record(r, c, data, (size_t)kbuffer_event_size(c->kbuf), t_ns, sink);
	return ret;
}

/* Up to some pages, so that all CPUs keep step. */
static int one_round(struct tmigr_trace_reader *r, struct tmigr_trace_cpu *c,
		     const struct tmigr_trace_sink *sink)
{
	int ret = 0;

	c->more = false;
	if (open_cpu(c))
		return 0;
	for (int i = 0; i < PAGES_A_ROUND && !ret; i++) {
		ssize_t n = read(c->fd, c->page, c->page_size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno != EAGAIN ? -errno : 0;
		ret = one_page(r, c, sink);
	}
	c->more = true;
	return ret;
}

/* Events of CPUs whose buffers were emptied come after @until_ns, those of others
 * after the last one read. */
static __u64 reached(const struct tmigr_trace_reader *r, __u64 until_ns)
{
	for (size_t i = 0; i < r->n_cpus; i++)
		if (r->cpus[i].more && r->cpus[i].last_ns < until_ns)
			until_ns = r->cpus[i].last_ns;
	return until_ns;
}

static bool any_more(const struct tmigr_trace_reader *r, __u64 until_ns)
{
	for (size_t i = 0; i < r->n_cpus; i++)
		if (r->cpus[i].more && r->cpus[i].last_ns < until_ns)
			return true;
	return false;
}

int tmigr_trace_read(struct tmigr_trace_reader *r, __u64 until_ns,
		     const struct tmigr_trace_sink *sink)
{
	bool first = true;
	int ret = 0;

	do {
		for (size_t i = 0; i < r->n_cpus && !ret; i++)
			if (first || r->cpus[i].more)
				ret = one_round(r, &r->cpus[i], sink);
		if (!ret)
			ret = flush(r, sink);
		first = false;
		if (!ret && reached(r, until_ns) > r->watermark_ns) {
			r->watermark_ns = reached(r, until_ns);
			ret = sink->advance(sink->arg, r->watermark_ns);
		}
	} while (!ret && any_more(r, until_ns));
	return ret;
}
