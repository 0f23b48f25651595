// SPDX-License-Identifier: GPL-2.0-or-later
/* What there is to see without a window of one's own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "feed.h"
#include "flight.h"
#include "methods.h"
#include "metrics.h"
#include "tmigr/tree.h"
#include "version.h"
#include "windows.h"

static json_int_t resident_bytes(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	fclose(f);
	return (json_int_t)pages * sysconf(_SC_PAGESIZE);
}

static json_t *known(bool is_known, __u64 value)
{
	return is_known ? json_integer((json_int_t)value) : json_null();
}

static json_t *observer_json(struct tmigrd *d)
{
	struct tmigr_observer o = {.bpf_known = false};

	tmigr_engine_observer(d->engine, &o);
	return json_pack("{so so sI sI sI sI so}", "bpf_ns", known(o.bpf_known, o.bpf_ns),
			 "bpf_runs", known(o.bpf_known, o.bpf_runs), "cpu_ns", (json_int_t)o.cpu_ns,
			 "wakeups", (json_int_t)o.wakeups, "drains", (json_int_t)o.drains,
			 "records", (json_int_t)o.records, "housekeeping_cpu",
			 known(d->cpu >= 0, (__u64)d->cpu));
}

static json_t *flight_json(struct tmigrd *d)
{
	struct flight_state s;

	flight_state(d->flight, &s);
	return json_pack("{sI sI sI so so}", "limit_ns", (json_int_t)d->opts->flight_ns,
			 "limit_bytes", (json_int_t)d->opts->flight_bytes, "bytes",
			 (json_int_t)s.bytes, "from_ns", known(s.from_ns, s.from_ns), "to_ns",
			 known(s.from_ns, s.to_ns));
}

static json_t *status_json(struct tmigrd *d)
{
	struct utsname u = {.release = ""};
	const struct clients *cs = &d->clients;

	uname(&u);
	return json_pack(
		"{ss ss ss sb sI sI sI sI si sI sI sI si si sI so so}", "version", TMIGR_VERSION,
		"kernel", u.release, "source", tmigr_engine_source(d->engine, NULL),
		"timer_migration_hierarchy", tmigr_engine_has_tmigr(d->engine), "start_ns",
		(json_int_t)d->start_ns, "now_ns", (json_int_t)tmigr_now_ns(), "drain_ns",
		(json_int_t)d->opts->drain_ns, "lost_records",
		(json_int_t)tmigr_engine_lost(d->engine), "clients", (int)cs->n, "clients_served",
		(json_int_t)cs->served, "clients_cut_off", (json_int_t)cs->cut_off, "requests",
		(json_int_t)cs->requests, "windows", (int)d->n_windows, "subscribers",
		(int)feeds_subscribers(d), "resident_bytes", resident_bytes(), "flight",
		flight_json(d), "observer", observer_json(d));
}

void method_status(struct client *c, json_t *params)
{
	(void)params;
	client_reply(c, status_json(c->d));
}

void method_topology(struct client *c, json_t *params)
{
	struct tmigr_topology *topo = topology_now(c->d);

	(void)params;
	if (topo)
		client_reply(c, json_pack("{so}", "topology", tmigr_topology_to_json(topo)));
	else
		client_errorf(c, "EngineFailed", "out of memory");
	tmigr_topology_free(topo);
}

void method_hierarchy(struct client *c, json_t *params)
{
	struct tmigr_err err = {""};
	struct tmigr_topology *topo;
	struct tmigr_moment *moment;
	struct tmigr_tree view;
	json_t *tree;

	(void)params;
	if (tmigr_engine_moment(c->d->engine, &moment, &err) < 0) {
		client_errorf(c, "NoHierarchy", "%s", err.text);
		return;
	}
	topo = topology_now(c->d);
	view = (struct tmigr_tree){
		.topo = topo,
		.h = moment->h,
		.now_ns = moment->now_ns,
		.cpu_expiry_ns = moment->cpu_expiry_ns,
		.group_expiry_ns = moment->group_expiry_ns,
	};
	tree = topo ? tmigr_tree_json(&view) : NULL;
	tmigr_topology_free(topo);
	tmigr_moment_free(moment);
	if (tree)
		client_reply(c, json_pack("{so}", "tree", tree));
	else
		client_errorf(c, "EngineFailed", "out of memory");
}

/* The report since the start; NULL: an error was answered. */
static json_t *totals(struct client *c)
{
	struct tmigr_err err = {""};
	json_t *report;

	if (window_so_far(c->d, c->d->base, c->d->topo, c->d->start_time, &report, &err) == 0)
		return report;
	client_errorf(c, "EngineFailed", "%s", err.text);
	return NULL;
}

void method_totals(struct client *c, json_t *params)
{
	json_t *report = totals(c);

	(void)params;
	if (report)
		client_reply(c, json_pack("{so}", "report", report));
}

void method_metrics(struct client *c, json_t *params)
{
	json_t *report = totals(c), *status;
	char *text;

	(void)params;
	if (!report)
		return;
	status = status_json(c->d);
	text = metrics_text(report, status);
	json_decref(report);
	json_decref(status);
	if (text)
		client_reply(c, json_pack("{ss}", "text", text));
	else
		client_errorf(c, "EngineFailed", "out of memory");
	free(text);
}

void method_mark(struct client *c, json_t *params)
{
	__u64 t_ns = tmigr_now_ns();

	if (marks_add(&c->d->marks, t_ns, param_string(params, "text")) < 0)
		client_errorf(c, "EngineFailed", "out of memory");
	else
		client_reply(c, json_pack("{sI}", "time_ns", (json_int_t)t_ns));
}
