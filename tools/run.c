// SPDX-License-Identifier: GPL-2.0-or-later
/* tmigr run: traces while a command runs, once or several times, and reports. */
#include "run.h"

#include <string.h>

#include "fail_if.h"
#include "tmigr.h"

/* One run, in the folder of -o itself where there is one. */
static int single(struct session *s, struct signals *signals)
{
	const struct run_opts *o = s->opts;
	struct once once = {
		.session = s,
		.signals = signals,
		.path = o->dir,
		.force = o->force,
		.run = o->label ? 1 : 0,
	};
	struct outcome end;

	progress_init(&once.progress, o);
	run_once(&once, &end);
	if (end.report && !end.code)
		end.code = fail_if_test("run", "", &o->fail_if, end.report);
	json_decref(end.report);
	return end.code;
}

static int measure(const struct run_opts *o, struct session *s, struct signals *signals,
		   struct machine *machine)
{
	int ret = session_open(s, o, machine);

	if (!ret && (o->n || o->settle_ns))
		ret = session_attach(s);
	if (ret)
		return ret;
	return o->n ? run_series(s, signals) : single(s, signals);
}

int run_with(struct run_opts *opts,
	     int (*change)(struct machine *machine, const struct run_opts *opts))
{
	struct machine machine = {0};
	struct session session;
	struct signals signals;
	int ret, restored;

	memset(&session, 0, sizeof(session));
	remote_init(&session.remote);
	/* First: whatever interrupts from here on finds the run directory tidy, and
	 * the machine as it was. */
	ret = signals_take(&signals);
	if (!ret && opts->n)
		ret = run_series_check(opts);
	if (!ret)
		ret = change(&machine, opts);
	if (!ret)
		ret = measure(opts, &session, &signals, &machine);
	session_close(&session);
	restored = machine_restore(&machine);
	run_opts_free(opts);
	return ret ? ret : restored;
}

int verb_run(int argc, char **argv)
{
	struct run_opts opts;
	int ret;

	run_opts_init(&opts);
	ret = run_opts_parse(&opts, argc, argv);
	if (ret >= 0) {
		run_opts_free(&opts);
		return ret;
	}
	return run_with(&opts, machine_change);
}
