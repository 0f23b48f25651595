// SPDX-License-Identifier: GPL-2.0-or-later
/* What the report says about the tool, the machine and the command. */
#include "run.h"
#include "version.h"
#include "tmigr/info.h"

json_t *run_info(const struct run_opts *opts, bool has_tmigr)
{
	return tmigr_info("tmigr " TMIGR_VERSION, opts->command, has_tmigr);
}
