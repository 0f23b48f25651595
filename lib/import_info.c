// SPDX-License-Identifier: GPL-2.0-or-later
/* What a report says about the file it is from, and about what it lacks. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import_priv.h"
#include "tmigr/info.h"

/*
 * CPUs that the file says there are, with those of which there are events.  (A text counts
 * those online: as many as there are events of are these, whatever their numbers.)
 */
int import_cpus(struct import *im, const unsigned int *cpus, size_t n)
{
	unsigned int n_all = im->opts->cpus || n >= im->src->n_cpus ? 0 : im->src->n_cpus, k = 0;
	unsigned int *all = calloc(n + n_all + 1, sizeof(*all));
	size_t m = 0;
	int r;

	if (!all)
		return tmigr_fail(im->err, -ENOMEM, "%s: no memory", im->path);
	for (size_t i = 0; i <= n; i++) {
		unsigned int next = i < n ? cpus[i] : n_all;

		for (; k < n_all && k < next; k++)
			all[m++] = k;
		if (i < n)
			all[m++] = cpus[i];
		if (k == next)
			k++;
	}
	r = m ? tmigr_topology_of(all, m, !im->src->n_cpus, im->opts->cpus, im->opts->classes,
				  im->opts->n_classes, &im->topo, NULL, im->err)
	      : tmigr_fail(im->err, -EINVAL, "%s: no events of any CPU", im->path);
	free(all);
	return r;
}

/* Without a copy of sysfs: as many states as were seen. */
void import_states(struct import *im)
{
	if (!im->opts->cpus)
		tmigr_topology_states(im->topo, tmigr_sequencer_stats(im->seq)->n_states);
}

json_t *import_info(struct import *im)
{
	char now[TMIGR_INFO_TIME_MAX];

	tmigr_info_time(now, sizeof(now));
	return json_pack("{ss s[] s{so ss ss}}", "tool", im->opts->tool, "command", "import",
			 "file", tmigr_json_text(im->path), "format", im->src->format, "time", now);
}

/* ---- notes ---- */

__attribute__((format(printf, 2, 3))) static void note(json_t *notes, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		json_array_append_new(notes, tmigr_json_text(text));
	free(text);
}

static __u64 n_idle(const struct tmigr_sequencer_stats *st)
{
	return st->events[TMIGR_TRACED_CPU_IDLE];
}

static __u64 n_tmigr(const struct tmigr_sequencer_stats *st)
{
	__u64 n = 0;

	for (int i = TMIGR_TRACED_GROUP_ACTIVE; i <= TMIGR_TRACED_CONNECT_CHILD; i++)
		n += st->events[i];
	return n;
}

static json_t *notes_of(const struct import *im)
{
	const struct tmigr_sequencer_stats *st = tmigr_sequencer_stats(im->seq);
	json_t *notes = json_array();

	if (!notes)
		return NULL;
	if (!n_tmigr(st))
		note(notes,
		     "the file has no timer_migration events: residency alone, nothing of the "
		     "migrator.");
	else if (!n_idle(st))
		note(notes, "the file has no cpu_idle events: the migrator alone; what states the "
			    "CPUs were in is not known.");
	if (!im->opts->cpus && !im->opts->n_classes)
		note(notes,
		     "capacities of the CPUs and names of idle states are not in the file, so all "
		     "CPUs are one class (--class or --cpus would tell).");
	else if (!im->opts->cpus)
		note(notes, "names of idle states are not in the file (--cpus would tell).");
	if (*im->src->buffers)
		note(notes, "the file has several buffers: %s.", im->src->buffers);
	if (im->src->resolution_ns >= 1000)
		note(notes, "the file's stamps are in microseconds.");
	if (st->breaks)
		note(notes,
		     "%llu updates of groups cannot follow the ones before them: events are "
		     "missing "
		     "in the file, of which it does not tell; the time between is unknown.",
		     (unsigned long long)st->breaks);
	if (im->stranger)
		note(notes,
		     "CPU %llu first shows after the file's beginning, so what it and any such "
		     "CPU did is not counted (--cpus would tell that it is there).",
		     (unsigned long long)im->stranger - 1);
	return notes;
}

/* What is known at the end only. */
json_t *import_end_info(struct import *im)
{
	const struct tmigr_sequencer_stats *st = tmigr_sequencer_stats(im->seq);
	const struct tmigr_traced_source *src = im->src;
	json_t *info = json_object(), *what = json_deep_copy(json_object_get(im->info, "import"));
	__u64 n = 0;

	for (int i = 1; i < TMIGR_TRACED_LOST; i++)
		n += st->events[i];
	if (!info || !what)
		goto fail;
	json_object_set_new(what, "format", tmigr_json_text(src->format));
	json_object_set_new(what, "clock", *src->clock ? tmigr_json_text(src->clock) : json_null());
	json_object_set_new(what, "events", json_integer((json_int_t)n));
	json_object_set_new(what, "skipped", json_integer((json_int_t)src->skipped));
	json_object_set_new(what, "reordered", json_integer((json_int_t)st->moved));
	json_object_set_new(what, "capacities_known",
			    json_boolean(im->opts->cpus || im->opts->n_classes));
	json_object_set_new(what, "notes", notes_of(im));
	json_object_set_new(info, "timer_migration_hierarchy", json_boolean(n_tmigr(st)));
	if (*src->kernel)
		json_object_set_new(info, "kernel",
				    json_pack("{so ss so}", "release", tmigr_json_text(src->kernel),
					      "version", "", "arch",
					      tmigr_json_text(src->machine)));
	if (*src->host)
		json_object_set_new(
			info, "machine",
			json_pack("{ss so}", "model", "", "host", tmigr_json_text(src->host)));
	if (*src->partial)
		json_object_set_new(info, "partial", tmigr_json_text(src->partial));
	if (json_object_set_new(info, "import", what) == 0)
		return info;
	what = NULL;
fail:
	json_decref(what);
	json_decref(info);
	return NULL;
}
