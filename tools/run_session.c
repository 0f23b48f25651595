// SPDX-License-Identifier: GPL-2.0-or-later
/* One window of `tmigr run`: the engine's or a daemon's, recording, run directory, report. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print.h"
#include "tmigr.h"
#include "tmigr/clock.h"
#include "tmigr/report.h"

#define RECORDING "events.tmr"

static int no_memory(void)
{
	return tool_error("run", "out of memory");
}

/* The option that only the own engine can do; NULL: none was given. */
static const char *own_only(const struct run_opts *o)
{
	if (o->kick)
		return "--kick";
	if (o->latency)
		return "--latency";
	if (o->housekeeping >= 0)
		return "--housekeeping";
	if (o->no_timeline)
		return "--no-timeline";
	if (o->no_stats)
		return "--no-stats";
	if (o->source != TMIGR_SOURCE_AUTO)
		return "--source";
	return o->ring_bytes ? "--ring-bytes" : NULL;
}

static int open_engine(struct session *s)
{
	const struct run_opts *o = s->opts;
	const struct tmigr_live_opts live = {
		/* Counting alone is what only the programs can do. */
		.source = o->no_timeline ? TMIGR_SOURCE_BPF : o->source,
		.ring_bytes = o->ring_bytes,
		.no_timeline = o->no_timeline,
		.no_stats = o->no_stats,
		.latency = o->latency,
		.kick = o->kick,
	};
	struct tmigr_err err = {""};
	int ret = 0;

	if (!s->topo)
		ret = tmigr_topology_read(NULL, o->classes.items, o->classes.n, &s->topo, &err);
	if (ret == -EINVAL && o->classes.n)
		return tool_usage("run", "%s", err.text);
	if (ret < 0)
		return tool_error("run", "%s", err.text);
	if (o->housekeeping >= 0 && tmigr_topology_index(s->topo, (unsigned)o->housekeeping) < 0)
		return tool_usage("run", "--housekeeping: this machine has no CPU %d",
				  o->housekeeping);
	ret = tmigr_engine_open(&live, s->topo, &s->engine, &err);
	if (ret == -EPERM && own_only(o))
		return tool_error("run", "%s (for %s no daemon is asked)", err.text, own_only(o));
	return ret < 0 ? tool_error("run", "%s", err.text) : 0;
}

static const struct tmigr_topology *known_topo(const struct session *s)
{
	return s->end_topo ? s->end_topo : s->topo;
}

static int choose_engine(struct session *s)
{
	const struct daemon_opts *o = &s->opts->daemon;
	const char *own = own_only(s->opts);
	struct tmigr_err err = {""};

	if (own && o->socket)
		return tool_usage("run", "%s is for the tool's own engine: not with --socket", own);
	if (!own && daemon_find(o, &s->daemon, &err) < 0)
		return tool_error("run", "%s%s", err.text,
				  o->socket ? "" : " (--no-daemon does without it)");
	return s->daemon ? remote_open(s) : open_engine(s);
}

bool session_has_tmigr(const struct session *s)
{
	if (s->daemon)
		return json_is_true(
			json_object_get(s->daemon->status, "timer_migration_hierarchy"));
	return tmigr_engine_has_tmigr(s->engine);
}

const struct tmigr_model *session_model(const struct session *s)
{
	return s->daemon ? s->remote.model : tmigr_window_model(s->window);
}

static struct tmigr_window_totals *session_totals(const struct session *s)
{
	return s->daemon ? s->remote.totals : tmigr_window_totals(s->window);
}

__u64 session_lost(const struct session *s)
{
	return s->daemon ? s->remote.lost : tmigr_engine_lost(s->engine);
}

int session_fd(const struct session *s)
{
	return s->daemon ? s->remote.fd : -1;
}

/* run.json: what the report has as info, and the machine. */
static json_t *run_json(const struct session *s)
{
	json_t *run = json_copy(s->info);

	/* Not by the user, but not whole either. */
	if (run && *s->remote.gone && json_object_set_new(run, "interrupted", json_true())) {
		json_decref(run);
		return NULL;
	}
	if (run && !json_object_set_new(run, "options", run_info_options(s->opts)) &&
	    !json_object_set_new(run, "topology", tmigr_topology_to_json(known_topo(s))))
		return run;
	json_decref(run);
	return NULL;
}

static int open_dir(struct session *s, bool force)
{
	struct tmigr_err err = {""};
	json_t *run;
	int ret;

	if (!s->path)
		return 0;
	run = run_json(s);
	if (!run)
		return no_memory();
	ret = tmigr_rundir_create(s->path, force, run, &s->dir, &err);
	json_decref(run);
	return ret < 0 ? tool_error("run", "%s", err.text) : 0;
}

/* What the daemon measures with; an older one does not tell. */
static int put_daemons_source(const struct session *s)
{
	json_t *source = s->daemon ? json_object_get(s->daemon->status, "source") : NULL;

	return json_is_string(source) ? json_object_set(s->info, "source", source) : 0;
}

int session_open(struct session *s, const struct run_opts *opts, struct machine *machine)
{
	struct tmigr_err err = {""};

	memset(s, 0, sizeof(*s));
	s->opts = opts;
	s->cpu = -1;
	s->changed = machine_changed(machine);
	/* The engine's; a daemon has its own. */
	s->topo = machine->topo;
	machine->topo = NULL;
	remote_init(&s->remote);
	if (tmigr_energy_open(opts->sys_root, &s->energy, &err) < 0)
		return tool_error("run", "%s", err.text);
	return choose_engine(s);
}

int session_attach(struct session *s)
{
	struct tmigr_err err = {""};

	if (s->attached)
		return 0;
	s->cpu = tmigr_housekeeping_pin(s->topo, s->opts->housekeeping, &s->housekeeping, &err);
	if (s->cpu < 0 && s->opts->housekeeping >= 0)
		return tool_error("run", "%s", err.text);
	if (!s->daemon && tmigr_engine_start(s->engine, &err) < 0)
		return tool_error("run", "%s", err.text);
	s->attached = true;
	return run_hotplug_attach(s);
}

int session_prepare(struct session *s, const char *path, bool force, unsigned long run)
{
	s->path = path;
	s->failed = 0;
	s->info = run_info(s->opts, session_has_tmigr(s), s->daemon ? s->daemon->engine : "own",
			   s->engine);
	if (!s->info || put_daemons_source(s) || run_info_begin(s->info, s->opts, run, s->changed))
		return no_memory();
	return open_dir(s, force);
}

/* The recording is given up; what it holds stays readable. */
static void recording_failed(struct session *s, const struct tmigr_err *err)
{
	tool_error("run", "%s; the recording ends here, the run goes on", err->text);
	tmigr_recording_abort(s->rec);
	s->rec = NULL;
	s->failed = TMIGR_EXIT_ERROR;
}

static int open_recording(struct session *s)
{
	struct tmigr_err err = {""};
	json_t *meta;
	char *path;
	int ret;

	if (!s->opts->record)
		return 0;
	meta = json_pack("{so sI sO}", "topology", tmigr_topology_to_json(s->topo), "start_ns",
			 (json_int_t)s->start_ns, "info", s->info);
	path = tmigr_rundir_temp(s->dir, RECORDING);
	if (!meta || !path) {
		json_decref(meta);
		free(path);
		return no_memory();
	}
	ret = tmigr_recording_create(path, true, meta, &s->rec, &err);
	json_decref(meta);
	free(path);
	return ret < 0 ? tool_error("run", "%s", err.text) : 0;
}

void session_segment(void *arg, const struct tmigr_segment *seg)
{
	struct session *s = arg;

	if (s->dir)
		tmigr_rundir_segment(s->dir, seg);
}

int session_records(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct tmigr_err err = {""};
	struct session *s = arg;

	if (s->rec && tmigr_recording_events(s->rec, recs, n, &err) < 0)
		recording_failed(s, &err);
	return 0;
}

int session_mark(void *arg, __u64 watermark_ns)
{
	struct tmigr_err err = {""};
	struct session *s = arg;

	if (s->rec && tmigr_recording_mark(s->rec, watermark_ns, &err) < 0)
		recording_failed(s, &err);
	return 0;
}

static int start_engine(struct session *s)
{
	const struct tmigr_window_opts opts = {
		.segment = s->dir ? session_segment : NULL,
		.records = s->opts->record ? session_records : NULL,
		.mark = s->opts->record ? session_mark : NULL,
		.arg = s,
	};
	struct tmigr_err err = {""};

	if (tmigr_engine_window_open(s->engine, &opts, &s->window, &err) < 0)
		return tool_error("run", "%s", err.text);
	s->start_ns = tmigr_window_start_ns(s->window);
	return 0;
}

int session_start(struct session *s)
{
	int ret = session_attach(s);

	if (ret)
		return ret;
	/* Before the window's edge, and behind it at the end: to read may take a
	 * while, and work of other CPUs. */
	tmigr_energy_begin(s->energy, tmigr_now_ns());
	s->sysctls[0] = s->topo->timer_migration = tmigr_topology_sysctl(NULL);
	ret = s->daemon ? remote_start(s) : start_engine(s);
	s->open = !ret;
	return ret ? ret : open_recording(s);
}

int session_drain(struct session *s)
{
	struct tmigr_err err = {""};

	if (s->open)
		tmigr_energy_sample(s->energy, tmigr_now_ns());
	if (s->daemon)
		return s->open ? remote_drain(s) : 0;
	if (tmigr_engine_drain(s->engine, NULL, &err) < 0)
		return tool_error("run", "%s", err.text);
	return run_hotplug_drain(s);
}

__u64 session_lead_ns(const struct session *s)
{
	return s->daemon ? 0 : tmigr_engine_edge_lead_ns(s->engine);
}

static int stop_window(struct session *s, __u64 at_ns)
{
	struct tmigr_err err = {""};

	if (s->daemon)
		return remote_stop(s, at_ns);
	if (tmigr_engine_hold_edge_at(s->engine, at_ns, NULL, &err) < 0 ||
	    tmigr_engine_window_close(s->engine, s->window, &err) < 0)
		return tool_error("run", "%s", err.text);
	s->end_ns = tmigr_window_end_ns(s->window);
	/* What comes now measures nothing, and need not cost anything. */
	if (!s->more)
		tmigr_engine_stop(s->engine);
	return 0;
}

int session_stop(struct session *s, __u64 at_ns)
{
	int ret = stop_window(s, at_ns);

	s->open = false;
	tmigr_energy_end(s->energy, tmigr_now_ns());
	s->sysctls[1] = tmigr_topology_sysctl(NULL);
	return ret;
}

static void end_recording(struct session *s)
{
	struct tmigr_err err = {""};
	json_t *end;

	if (!s->rec)
		return;
	/* Of a daemon that was killed; one that was stopped has ended the window. */
	if (*s->remote.gone && !s->remote.totals) {
		tmigr_recording_abort(s->rec);
		s->rec = NULL;
		tmigr_rundir_give_up(s->dir, RECORDING);
		return;
	}
	end = json_pack("{sI so sO}", "end_ns", (json_int_t)s->end_ns, "totals",
			tmigr_window_totals_to_json(session_totals(s)), "info", s->info);
	if (end && s->end_topo &&
	    json_object_set_new(end, "topology", tmigr_topology_to_json(s->end_topo)) < 0) {
		json_decref(end);
		end = NULL;
	}
	if (!end || tmigr_recording_end(s->rec, end, &err) < 0) {
		if (!end)
			tmigr_recording_abort(s->rec);
		tool_error("run", "the recording has no end: %s", end ? err.text : "out of memory");
		s->failed = TMIGR_EXIT_ERROR;
	}
	json_decref(end);
	s->rec = NULL;
}

static void print_report(struct session *s, const json_t *report)
{
	int ret;

	if (s->quiet)
		return;
	ret = s->opts->hotplug && !s->opts->json ? run_hotplug_print(report)
						 : tool_print_report("run", report, s->opts->json);
	if (ret)
		s->failed = TMIGR_EXIT_ERROR;
}

static void finish_dir(struct session *s, const json_t *report)
{
	struct tmigr_err err = {""};
	json_t *run;

	if (!s->dir)
		return;
	run = run_json(s);
	if (!run || tmigr_rundir_finish(s->dir, run, report, &err) < 0) {
		tool_error("run", "%s", run ? err.text : "out of memory");
		s->failed = TMIGR_EXIT_ERROR;
	}
	json_decref(run);
}

static int figures(struct session *s, int exit_status, bool interrupted)
{
	struct tmigr_err err = {""};

	if (!s->daemon)
		session_totals(s)->observer.housekeeping_cpu = s->cpu;
	if (*s->remote.gone && json_object_set_new(s->info, "partial", json_string(s->remote.gone)))
		return no_memory();
	/* CPUs that came online in the window have capacities and states only now.
	 * Classes that a daemon was told are known to it alone. */
	if ((!s->daemon || s->opts->classes.n) &&
	    tmigr_topology_refresh(NULL, s->opts->classes.items, s->opts->classes.n, s->topo,
				   &s->end_topo, &err) < 0)
		return tool_error("run", "%s", err.text);
	if (s->end_topo) /* A daemon's is as old as the daemon. */
		s->end_topo->timer_migration = s->sysctls[0];
	if (json_object_set_new(s->info, "timer_migration_end",
				s->sysctls[1] < 0 ? json_null() : json_integer(s->sysctls[1])))
		return no_memory();
	if (json_object_set_new(s->info, "interrupted", json_boolean(interrupted)) ||
	    json_object_set_new(s->info, "exit_status",
				exit_status < 0 ? json_null() : json_integer(exit_status)))
		return no_memory();
	if (s->why && json_object_set_new(s->info, "failed", json_string(s->why)))
		return no_memory();
	if (run_printed(s) || run_energy(s))
		return no_memory();
	return run_hotplug_put(s);
}

int session_report(struct session *s, int exit_status, bool interrupted)
{
	struct tmigr_report_input in;
	json_t *report;
	int ret;

	ret = figures(s, exit_status, interrupted);
	if (ret)
		return ret;
	in = (struct tmigr_report_input){
		.topo = known_topo(s),
		.model = session_model(s),
		.totals = session_totals(s),
		.info = s->info,
	};
	report = tmigr_report_build(&in);
	if (!report)
		return no_memory();
	end_recording(s);
	finish_dir(s, report);
	print_report(s, report);
	s->report = report;
	return s->failed;
}

static const char *const output_names[] = {"stdout", "stderr"};

int session_output_file(struct session *s, size_t which)
{
	char *path = tmigr_rundir_temp(s->dir, output_names[which]);
	int fd;

	if (!path) {
		no_memory();
		return -1;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		tool_error("run", "cannot create %s: %s", path, strerror(errno));
	free(s->output[which]);
	s->output[which] = path;
	return fd;
}

int session_replace(struct session *s)
{
	struct tmigr_err err = {""};

	if (!s->dir)
		return 0;
	if (tmigr_rundir_replace(s->dir, &err) < 0)
		return tool_error("run", "%s", err.text);
	for (size_t i = 0; i < 2; i++) {
		if (!s->output[i])
			continue;
		free(s->output[i]);
		s->output[i] = tmigr_rundir_where(s->dir, output_names[i]);
		if (!s->output[i])
			return no_memory();
	}
	return 0;
}

void session_discard(struct session *s)
{
	tmigr_recording_abort(s->rec);
	s->rec = NULL;
	tmigr_rundir_discard(s->dir);
	s->dir = NULL;
}

void session_end(struct session *s)
{
	tmigr_recording_abort(s->rec);
	s->rec = NULL;
	tmigr_rundir_close(s->dir);
	s->dir = NULL;
	remote_end(s);
	tmigr_window_free(s->window);
	s->window = NULL;
	tmigr_topology_free(s->end_topo);
	s->end_topo = NULL;
	json_decref(s->info);
	json_decref(s->report);
	s->info = s->report = NULL;
	for (size_t i = 0; i < 2; i++) {
		free(s->output[i]);
		s->output[i] = NULL;
	}
	s->open = false;
	s->why = NULL;
}

void session_close(struct session *s)
{
	session_end(s);
	tmigr_housekeeping_release(&s->housekeeping);
	tmigr_engine_close(s->engine);
	tmigr_hotplug_live_close(s->hotplug);
	daemon_close(s->daemon);
	tmigr_energy_close(s->energy);
	tmigr_topology_free(s->topo);
}
