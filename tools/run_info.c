// SPDX-License-Identifier: GPL-2.0-or-later
/* What the report says about the tool, the machine and the command. */
#include "run.h"
#include "version.h"
#include "tmigr/info.h"

json_t *run_info(const struct run_opts *opts, bool has_tmigr, const char *engine,
		 const struct tmigr_engine *own)
{
	json_t *info = tmigr_info("tmigr " TMIGR_VERSION, opts->command, has_tmigr);

	if (info && !json_object_set_new(info, "engine", json_string(engine)) &&
	    !json_object_set_new(info, "marks", json_array()) &&
	    (!own || !tmigr_engine_put_source(own, info)))
		return info;
	json_decref(info);
	return NULL;
}
