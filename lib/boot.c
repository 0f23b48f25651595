// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hierarchy by what was traced of its making.  The connect events go the way of
 * all traced events: the sequencer makes records of places of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine_priv.h"
#include "ftrace_priv.h"
#include "tmigr/import.h"
#include "tmigr/tree.h"

#define BATCH 512

static const char how[] = "boot with trace_event=timer_migration:tmigr_connect_cpu_parent,"
			  "timer_migration:tmigr_connect_child_parent,"
			  "timer_migration:tmigr_group_set";

struct reading {
	const char *path; /* NULL: the buffer's */
	const struct tmigr_boot_opts *opts;
	struct tmigr_traced_source *src;
	struct tmigr_sequencer *seq;
	struct tmigr_keeper *keeper;
	struct tmigr_boot *boot;
};

static const struct tmigr_topology *topo_of(const struct reading *r)
{
	return r->opts->topo ? r->opts->topo : r->boot->topo;
}

static int on_records(void *arg, const struct tmigr_rec *recs, size_t n)
{
	return tmigr_keeper_feed(((struct reading *)arg)->keeper, recs, n);
}

/* Which CPUs there are is known when all of the file is. */
static int on_begin(void *arg, __u64 start_ns, const unsigned int *cpus, size_t n_cpus)
{
	const struct reading *r = arg;
	struct tmigr_err err = {""};
	int ret = 0;

	(void)start_ns;
	if (!r->opts->topo)
		ret = tmigr_topology_of(cpus, n_cpus, true, r->opts->cpus, r->opts->classes,
					r->opts->n_classes, &r->boot->topo, NULL, &err);
	if (ret < 0)
		memcpy(r->boot->partial, err.text, sizeof(r->boot->partial));
	return ret ? ret : tmigr_keeper_new(topo_of(r), &((struct reading *)arg)->keeper);
}

static int feed(struct reading *r, const struct tmigr_traced *evs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		r->boot->connects += evs[i].type == TMIGR_TRACED_CONNECT_CPU ||
				     evs[i].type == TMIGR_TRACED_CONNECT_CHILD;
		r->boot->events +=
			evs[i].type != TMIGR_TRACED_OTHER && evs[i].type != TMIGR_TRACED_LOST;
	}
	return tmigr_sequencer_feed(r->seq, evs, n);
}

static int follow(struct reading *r, struct tmigr_err *err)
{
	struct tmigr_traced evs[BATCH];
	__u64 watermark_ns = 0;
	ssize_t n = 0;
	int ret = 0;

	while (!ret && (n = r->src->read(r->src, evs, BATCH, &watermark_ns, err)) > 0) {
		ret = feed(r, evs, (size_t)n);
		if (!ret)
			ret = tmigr_sequencer_advance(r->seq, watermark_ns);
	}
	if (n < 0)
		return (int)n;
	if (!ret)
		ret = tmigr_sequencer_finish(r->seq);
	if (ret && r->boot->partial[0])
		return tmigr_fail(err, ret, "%s", r->boot->partial);
	if (ret)
		return tmigr_fail(err, ret, "%s: its events cannot be followed: %s",
				  r->path ? r->path : "the ftrace buffer", strerror(-ret));
	memcpy(r->boot->partial, r->src->partial, sizeof(r->boot->partial));
	return 0;
}

/* Nothing of use is in the kernel's buffer. */
static int fail_silent(struct tmigr_err *err)
{
	char dir[TMIGR_TRACEFS_BYTES], path[TMIGR_TRACEFS_BYTES + 32];

	if (tmigr_tracefs_mounted(dir)) {
		snprintf(path, sizeof(path), "%s/events/timer_migration", dir);
		if (access(path, F_OK) < 0 && errno == ENOENT)
			return tmigr_fail_no_hierarchy(err);
	}
	return tmigr_fail(err, -ENODATA,
			  "the global ftrace buffer tells nothing of the hierarchy: %s", how);
}

static int read_source(struct reading *r, struct tmigr_err *err)
{
	/* The prologue is all of it: what the last event tells is known of the first. */
	const struct tmigr_sequencer_cfg cfg = {.records = on_records,
						.begin = on_begin,
						.arg = r,
						.prologue_events = 1u << 20,
						.prologue_ns = TMIGR_KTIME_MAX};
	int ret = tmigr_sequencer_new(&cfg, &r->seq);

	if (ret)
		return tmigr_fail(err, ret, "no memory");
	ret = follow(r, err);
	if (ret)
		return ret;
	if (!r->keeper || !tmigr_keeper_places(r->keeper))
		return r->path ? tmigr_fail(err, -ENODATA,
					    "%s: no event in it tells a CPU's place in a "
					    "timer-migration hierarchy",
					    r->path)
			       : fail_silent(err);
	if (!r->opts->topo && !r->opts->cpus)
		tmigr_topology_states(r->boot->topo, tmigr_sequencer_stats(r->seq)->n_states);
	return tmigr_keeper_moment(r->keeper, topo_of(r), &r->boot->moment, err);
}

int tmigr_boot_read(const char *path, const struct tmigr_boot_opts *opts, struct tmigr_boot **ret,
		    struct tmigr_err *err)
{
	struct reading r = {.path = path, .opts = opts, .boot = calloc(1, sizeof(*r.boot))};
	char *buffer = NULL;
	int fd = -1, n = r.boot ? 0 : tmigr_fail(err, -ENOMEM, "no memory");

	if (!n && !path)
		n = tmigr_tracefs_buffer(&buffer, err);
	if (!n)
		n = tmigr_traced_open(path ? path : buffer, false, &r.src, &fd, err);
	if (!n)
		n = read_source(&r, err);
	/* An empty buffer is no bad file. */
	if (n == -EINVAL && !path)
		n = fail_silent(err);
	if (r.src)
		r.src->close(r.src);
	if (fd >= 0)
		close(fd);
	free(buffer);
	tmigr_sequencer_free(r.seq);
	tmigr_keeper_free(r.keeper);
	if (n) {
		tmigr_boot_free(r.boot);
		return n;
	}
	*ret = r.boot;
	return 0;
}

void tmigr_boot_free(struct tmigr_boot *boot)
{
	if (!boot)
		return;
	tmigr_moment_free(boot->moment);
	tmigr_topology_free(boot->topo);
	free(boot);
}
