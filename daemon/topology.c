// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine as it is known by now.  The engine keeps to the topology of the start;
 * a CPU that was offline then shows its capacity and its idle states only once it
 * is online.  Each window has a topology of its own, since CPUs come and go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/info.h"
#include "tmigrd.h"

static const struct tmigr_topology *known(const struct tmigrd *d)
{
	return d->late ? d->late : d->topo;
}

struct tmigr_topology *topology_now(const struct tmigrd *d)
{
	return tmigr_topology_now(d->opts->root, known(d));
}

struct tmigr_topology *topology_since(const struct tmigrd *d, const struct tmigr_topology *start)
{
	return tmigr_topology_as_at(start, known(d));
}

static bool has_offline(const struct tmigr_topology *topo)
{
	for (size_t i = 0; i < topo->n_cpus; i++)
		if (!topo->cpus[i].online)
			return true;
	return false;
}

static int refresh(struct tmigrd *d, struct tmigr_err *err)
{
	const struct tmigrd_opts *o = d->opts;
	struct tmigr_topology *late = NULL;
	int ret = tmigr_topology_refresh(o->root, o->classes, o->n_classes, known(d), &late, err);

	if (ret < 0 || !late)
		return ret;
	tmigr_topology_free(d->late);
	d->late = late;
	return 0;
}

/* One file a drain, and only where a CPU was offline at the start.  A CPU is listed
 * before all of its files are there: so they are read at the next drain, too. */
void topology_follow(struct tmigrd *d)
{
	struct tmigr_err err = {""};
	char *online = NULL;
	bool changed;

	if (!has_offline(d->topo) || tmigr_topology_online(d->opts->root, &online) < 0)
		return;
	changed = !d->online || strcmp(d->online, online) != 0;
	free(d->online);
	d->online = online;
	if ((changed || d->look_again) && refresh(d, &err) < 0)
		log_line(LOG_WARNING, "CPUs that came online: %s", err.text);
	d->look_again = changed;
}

json_t *topology_meta(const struct tmigrd *d, const struct tmigr_topology *start, __u64 start_ns,
		      const char *start_time)
{
	json_t *info = json_copy(d->info);

	if (!info || json_object_set_new(info, "start_time", json_string(start_time))) {
		json_decref(info);
		return NULL;
	}
	return json_pack("{so sI so}", "topology", tmigr_topology_to_json(start), "start_ns",
			 (json_int_t)start_ns, "info", info);
}

int topology_add_late(const struct tmigrd *d, const struct tmigr_topology *start, json_t *end)
{
	struct tmigr_topology *topo = topology_since(d, start);
	json_t *now = topo ? tmigr_topology_to_json(topo) : NULL;
	json_t *then = tmigr_topology_to_json(start);
	int ret = now && then ? 0 : -ENOMEM;

	if (ret == 0 && !json_equal(now, then) && json_object_set(end, "topology", now))
		ret = -ENOMEM;
	json_decref(now);
	json_decref(then);
	tmigr_topology_free(topo);
	return ret;
}

void topology_free(struct tmigrd *d)
{
	tmigr_topology_free(d->topo);
	tmigr_topology_free(d->late);
	free(d->online);
}
