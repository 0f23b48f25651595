// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of hotplug out of a file with ftrace events, or out of the boot's buffer. */
#include "hotplug_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftrace_priv.h"
#include "report_parts.h"
#include "tmigr/import.h"
#include "tmigr/info.h"

#define BATCH 512

static const char how[] = "boot with trace_event=cpuhp:cpuhp_enter,cpuhp:cpuhp_multi_enter,"
			  "cpuhp:cpuhp_exit";

struct reading {
	const char *path; /* NULL: the buffer's */
	const struct tmigr_hotplug_file_opts *opts;
	struct tmigr_traced_source *src;
	struct tmigr_hotplug *model;
	struct tmigr_step_names names, funs; /* of sysfs; of functions in the text */
	struct tmigr_topology *topo;
	__u64 first_ns, last_ns;
	size_t n_steps;
	size_t n_seen; /* CPUs up to the highest in the trace */
};

/* ---- events ---- */

static void note(struct reading *r, const struct tmigr_traced *e)
{
	size_t n = (e->cpu > e->subject ? e->cpu : e->subject) + 1ULL;

	if (e->type != TMIGR_TRACED_STEP_ENTER && e->type != TMIGR_TRACED_STEP_EXIT)
		return;
	if (!r->n_steps || e->t_ns < r->first_ns)
		r->first_ns = e->t_ns;
	if (e->t_ns > r->last_ns)
		r->last_ns = e->t_ns;
	r->n_steps++;
	r->n_seen = n > r->n_seen ? n : r->n_seen;
}

static int follow(struct reading *r, struct tmigr_err *err)
{
	struct tmigr_traced evs[BATCH];
	__u64 watermark_ns;
	ssize_t n;
	int ret = 0;

	while (!ret && (n = r->src->read(r->src, evs, BATCH, &watermark_ns, err)) != 0) {
		if (n < 0)
			return (int)n;
		ret = tmigr_hotplug_feed(r->model, evs, (size_t)n);
		for (ssize_t i = 0; i < n; i++)
			note(r, &evs[i]);
	}
	if (ret)
		return tmigr_fail(err, ret, "no memory for the steps of hotplug");
	if (r->n_steps)
		return 0;
	return tmigr_fail(err, -EINVAL, "%s: no event in it is of CPU hotplug (cpuhp)",
			  r->path ? r->path : "the ftrace buffer");
}

/* ---- whose ---- */

/* All CPUs up to the highest that was seen: what is not in it was not hotplugged. */
static int machine_of_file(struct reading *r, struct tmigr_err *err)
{
	size_t n = r->src->n_cpus > r->n_seen ? r->src->n_cpus : r->n_seen;
	unsigned int *cpus = calloc(n, sizeof(*cpus));
	int ret;

	if (!cpus)
		return tmigr_fail(err, -ENOMEM, "no memory for %zu CPUs", n);
	for (size_t i = 0; i < n; i++)
		cpus[i] = (unsigned int)i;
	ret = tmigr_topology_of(cpus, n, !r->src->n_cpus, r->opts->cpus, r->opts->classes,
				r->opts->n_classes, &r->topo, &r->names, err);
	free(cpus);
	return ret;
}

static int machine_here(struct reading *r, struct tmigr_err *err)
{
	int ret = tmigr_step_names_read(NULL, &r->names);

	if (ret < 0 && ret != -ENOENT)
		return tmigr_fail(err, ret, "cannot read the names of hotplug's steps: %s",
				  strerror(-ret));
	return tmigr_topology_read(NULL, r->opts->classes, r->opts->n_classes, &r->topo, err);
}

static json_t *classes_json(const struct tmigr_topology *topo)
{
	json_t *list = json_array();
	bool bad = !list;

	for (size_t i = 0; i < topo->n_classes; i++)
		bad |= json_array_append_new(
			       list, json_pack("{ss so}", "name", topo->classes[i].name, "capacity",
					       tmigr_json_capacity(topo->classes[i].capacity))) < 0;
	return tmigr_whole(list, bad);
}

static json_t *cpus_json(const struct tmigr_topology *topo)
{
	json_t *list = json_array();
	bool bad = !list;

	for (size_t i = 0; i < topo->n_cpus; i++) {
		const struct tmigr_topo_cpu *cpu = &topo->cpus[i];

		bad |= json_array_append_new(
			       list, json_pack("{sI ss}", "cpu", (json_int_t)cpu->cpu, "class",
					       topo->classes[cpu->class_idx].name)) < 0;
	}
	return tmigr_whole(list, bad);
}

/* What a file says of the machine; of this one all that is known. */
static void put_where(const struct reading *r, json_t *obj, bool *bad)
{
	const struct tmigr_traced_source *src = r->src;

	if (!r->path) {
		json_t *info = tmigr_info(r->opts->tool, NULL, false);

		*bad |= !info || json_object_set(obj, "kernel", json_object_get(info, "kernel")) ||
			json_object_set(obj, "machine", json_object_get(info, "machine"));
		json_decref(info);
		return;
	}
	tmigr_put(obj, "kernel",
		  json_pack("{so so}", "release", tmigr_json_text(src->kernel), "arch",
			    tmigr_json_text(src->machine)),
		  bad);
	tmigr_put(obj, "machine",
		  json_pack("{ss so}", "model", "", "host", tmigr_json_text(src->host)), bad);
}

static json_t *whole(struct reading *r, const struct tmigr_hotplug_result *result)
{
	const struct tmigr_step_names *names = r->names.n ? &r->names : &r->funs;
	json_t *obj = json_object();
	bool bad = !obj;

	tmigr_put(obj, "schema", json_string("tmigr-hotplug"), &bad);
	tmigr_put(obj, "version", json_integer(1), &bad);
	tmigr_put(obj, "tool", json_string(r->opts->tool), &bad);
	put_where(r, obj, &bad);
	tmigr_put(obj, "start_ns", tmigr_json_u64(r->first_ns), &bad);
	tmigr_put(obj, "window_ns", tmigr_json_u64(r->last_ns - r->first_ns), &bad);
	if (*r->src->partial)
		tmigr_put(obj, "partial", tmigr_json_text(r->src->partial), &bad);
	tmigr_put(obj, "classes", classes_json(r->topo), &bad);
	tmigr_put(obj, "cpus", cpus_json(r->topo), &bad);
	tmigr_put(obj, "hotplug", tmigr_hotplug_json(result, names, r->first_ns), &bad);
	return tmigr_whole(obj, bad);
}

static int read_source(struct reading *r, json_t **ret, struct tmigr_err *err)
{
	struct tmigr_hotplug_result result;
	int n;

	r->src->steps = &r->funs;
	if (tmigr_hotplug_new(&r->model))
		return tmigr_fail(err, -ENOMEM, "no memory for the steps of hotplug");
	n = follow(r, err);
	if (!n)
		n = r->path ? machine_of_file(r, err) : machine_here(r, err);
	if (n)
		return n;
	*ret = NULL;
	if (tmigr_hotplug_result(r->model, r->first_ns, r->last_ns, &result) == 0) {
		*ret = whole(r, &result);
		tmigr_hotplug_result_free(&result);
	}
	return *ret ? 0 : tmigr_fail(err, -ENOMEM, "no memory for the steps of hotplug");
}

int tmigr_hotplug_read(const char *path, const struct tmigr_hotplug_file_opts *opts, json_t **ret,
		       struct tmigr_err *err)
{
	struct reading r = {.path = path, .opts = opts};
	char *buffer = NULL;
	int fd = -1, n = path ? 0 : tmigr_tracefs_buffer(&buffer, err);

	if (!n)
		n = tmigr_traced_open(path ? path : buffer, true, &r.src, &fd, err);
	if (!n)
		n = read_source(&r, ret, err);
	/* An empty buffer is no bad file. */
	if (n == -EINVAL && !path)
		n = tmigr_fail(err, -ENODATA,
			       "the global ftrace buffer tells nothing of hotplug: %s", how);
	if (r.src)
		r.src->close(r.src);
	if (fd >= 0)
		close(fd);
	free(buffer);
	tmigr_hotplug_free(r.model);
	tmigr_topology_free(r.topo);
	tmigr_step_names_free(&r.names);
	tmigr_step_names_free(&r.funs);
	return n;
}
