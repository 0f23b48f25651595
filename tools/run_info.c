// SPDX-License-Identifier: GPL-2.0-or-later
/* What the report says about the tool, the machine and the command. */
#include "run.h"
#include "version.h"
#include "tmigr/info.h"

#include <errno.h>

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

static int put_ns(json_t *info, const char *key, __u64 ns)
{
	return ns ? json_object_set_new(info, key, json_integer((json_int_t)ns)) : 0;
}

int run_info_begin(json_t *info, const struct run_opts *opts, unsigned long run,
		   const json_t *changed)
{
	bool bad = false;

	if (opts->label)
		bad |= json_object_set_new(info, "label", json_string(opts->label));
	if (run)
		bad |= json_object_set_new(info, "run", json_integer((json_int_t)run));
	bad |= put_ns(info, "settle_ns", opts->settle_ns);
	bad |= put_ns(info, "warmup_ns", opts->warmup_ns);
	if (changed)
		bad |= json_object_set(info, "changed", (json_t *)changed);
	return bad ? -ENOMEM : 0;
}

static json_t *texts(const struct arg_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < list->n; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

json_t *run_info_options(const struct run_opts *o)
{
	json_t *options = json_pack(
		"{sI sI sI sb sb sb sb ss ss? so so so}", "duration_ns", (json_int_t)o->duration_ns,
		"settle_ns", (json_int_t)o->settle_ns, "warmup_ns", (json_int_t)o->warmup_ns,
		"record", o->record, "kick", o->kick, "latency", o->latency, "timeline",
		!o->no_timeline, "source", tmigr_source_name(o->source), "offline", o->offline_text,
		"timer_migration",
		o->timer_migration < 0 ? json_null() : json_integer(o->timer_migration), "class",
		texts(&o->classes), "metric", texts(&o->metric_specs));

	return options;
}
