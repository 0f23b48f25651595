// SPDX-License-Identifier: GPL-2.0-or-later
/* Which source the engine measures with. */
#include "engine_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
	[TMIGR_SOURCE_AUTO] = "auto",
	[TMIGR_SOURCE_BPF] = "bpf",
	[TMIGR_SOURCE_FTRACE] = "ftrace",
};

int tmigr_source_named(const char *name, enum tmigr_source *ret)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*ret = (enum tmigr_source)i;
		return 0;
	}
	return -EINVAL;
}

const char *tmigr_source_name(enum tmigr_source source)
{
	return names[source];
}

static void close_failed(struct tmigr_engine *engine)
{
	engine->source->close(engine);
	engine->source = NULL;
	engine->live = NULL;
	engine->quiet = NULL;
	engine->snap_lost = NULL;
	engine->ftrace = NULL;
}

/* The kernel, not the user or the moment, stands in the way of BPF. */
static bool kernel_cannot(int ret)
{
	return ret == -ENOENT || ret == -EOPNOTSUPP || ret == -ENOSYS;
}

int tmigr_source_open(struct tmigr_engine *engine, const struct tmigr_live_opts *opts,
		      struct tmigr_err *err)
{
	enum tmigr_source source = opts ? opts->source : TMIGR_SOURCE_AUTO;
	struct tmigr_err bpf = {""}, ftrace = {""};
	int ret, fret;

	if (source == TMIGR_SOURCE_FTRACE && opts->latency)
		return tmigr_fail(err, -EOPNOTSUPP, "latency is measured by BPF programs only");
	if (source == TMIGR_SOURCE_FTRACE)
		return tmigr_ftrace_open(engine, opts, err);
	ret = tmigr_bpf_open(engine, opts, &bpf);
	if (!ret)
		return 0;
	if (source == TMIGR_SOURCE_BPF || (opts && opts->latency) || !kernel_cannot(ret))
		return tmigr_fail(err, ret, "%s", bpf.text);
	close_failed(engine);
	fret = tmigr_ftrace_open(engine, opts, &ftrace);
	if (fret) {
		close_failed(engine);
		return tmigr_fail(err, ret, "%.150s; nor can ftrace be used: %.90s", bpf.text,
				  ftrace.text);
	}
	memcpy(engine->why_text, bpf.text, sizeof(engine->why_text));
	engine->why = engine->why_text;
	return 0;
}
