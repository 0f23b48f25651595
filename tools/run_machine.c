// SPDX-License-Identifier: GPL-2.0-or-later
/* --offline and --timer-migration of `tmigr run`. */
#include "run.h"

#include <errno.h>

#include "tmigr.h"

/* As the machine is now that it is changed.  What sysfs says of a CPU while it is
 * online, its capacity above all, is known from before. */
static void apply(struct machine *m, const struct run_opts *o)
{
	for (size_t i = 0; i < o->n_offline; i++) {
		int k = tmigr_topology_index(m->topo, o->offline[i]);

		if (k >= 0)
			m->topo->cpus[k].online = false;
	}
	if (o->timer_migration >= 0)
		m->topo->timer_migration = o->timer_migration;
}

int machine_make(struct machine *m, const struct run_opts *o, struct tmigr_change_opts *change,
		 const char *option)
{
	struct tmigr_err err = {""};
	int ret = tmigr_topology_read(o->sys_root, o->classes.items, o->classes.n, &m->topo, &err);

	if (ret == -EINVAL && o->classes.n)
		return tool_usage("run", "%s", err.text);
	if (ret < 0)
		return tool_error("run", "%s", err.text);
	change->topo = m->topo;
	ret = tmigr_change_make(change, &m->change, &err);
	if (ret == -EINVAL)
		return tool_usage("run", "%s: %s", option, err.text);
	if (ret < 0)
		return tool_error("run", "%s", err.text);
	apply(m, o);
	/* That of a test's made-up machine is not the measured one's. */
	if (o->sys_root) {
		tmigr_topology_free(m->topo);
		m->topo = NULL;
	}
	return 0;
}

int machine_change(struct machine *m, const struct run_opts *o)
{
	struct tmigr_change_opts change = {
		.root = o->sys_root,
		.offline = o->offline,
		.n_offline = o->n_offline,
		.timer_migration = o->timer_migration,
		.force = o->force,
	};

	if (!o->n_offline && o->timer_migration < 0)
		return 0;
	return machine_make(m, o, &change, "--offline");
}

const json_t *machine_changed(const struct machine *m)
{
	return m->change ? tmigr_change_json(m->change) : NULL;
}

int machine_restore(struct machine *m)
{
	struct tmigr_err err = {""};
	int ret = tmigr_change_undo(m->change, &err);

	m->change = NULL;
	tmigr_topology_free(m->topo);
	m->topo = NULL;
	return ret < 0 ? tool_error("run", "%s", err.text) : 0;
}
