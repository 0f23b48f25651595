// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine_priv.h"
#include <errno.h>
int tmigr_ftrace_open(struct tmigr_engine *engine, const struct tmigr_live_opts *opts,
		      struct tmigr_err *err)
{
	(void)engine;
	(void)opts;
	return tmigr_fail(err, -EOPNOTSUPP, "ftrace");
}
