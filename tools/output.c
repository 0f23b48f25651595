// SPDX-License-Identifier: GPL-2.0-or-later
#include "output.h"

#include <signal.h>

#include "tmigr.h"
#include "tmigr/import.h"
#include "tmigr/rundir.h"

static void on_signal(int sig)
{
	tmigr_outfile_interrupted();
	tmigr_rundir_interrupted();
	tmigr_import_interrupted();
	/* The handler is gone with its first call (SA_RESETHAND). */
	raise(sig);
}

void output_interrupts(void)
{
	struct sigaction end = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, old;
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP};

	for (int i = 0; i < 3; i++)
		if (sigaction(sigs[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(sigs[i], &end, NULL);
}

void output_signals(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	output_interrupts();
	sigaction(SIGPIPE, &ignore, NULL);
}

int output_open(struct output *o, const char *verb, const char *path)
{
	struct tmigr_err err = {""};

	*o = (struct output){.verb = verb};
	if (tmigr_outfile_open(path, &o->to, &err) < 0)
		return tool_error(verb, "%s", err.text);
	o->file = tmigr_outfile_stream(o->to);
	return 0;
}

int output_close(struct output *o)
{
	struct tmigr_err err = {""};

	if (tmigr_outfile_close(o->to, &err) == 0)
		return 0;
	output_discard(o);
	return tool_error(o->verb, "%s", err.text);
}

void output_discard(struct output *o)
{
	tmigr_outfile_abort(o->to);
	*o = (struct output){.verb = o->verb};
}

int output_finish(struct output *o, int ret)
{
	struct tmigr_err err = {""};

	if (ret == 0)
		ret = tmigr_outfile_commit(o->to, &err);
	else if (ret < 0)
		ret = tmigr_outfile_fail(o->to, ret, &err);
	else
		tmigr_outfile_abort(o->to);
	*o = (struct output){.verb = o->verb};
	return ret < 0 ? tool_error(o->verb, "%s", err.text) : ret;
}
