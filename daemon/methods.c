// SPDX-License-Identifier: GPL-2.0-or-later
#include "methods.h"

#include <string.h>

#include "feed.h"
#include "tmigrd.h"

static const char description[] =
#include "interface.inc"
	;

static const char service_description[] =
#include "service.inc"
	;

static const struct param none[] = {{.name = NULL}};

static const struct param window_params[] = {
	{"window", PARAM_INT, true, 0, INT64_MAX},
	{.name = NULL},
};

static const struct param subscribe_params[] = {
	{"period_ms", PARAM_INT, true, FEED_MIN_MS, FEED_MAX_MS},
	{.name = NULL},
};

static const struct param mark_params[] = {
	{"text", PARAM_TEXT, true, 1, MARK_TEXT_MAX},
	{.name = NULL},
};

static const struct param dump_params[] = {
	{"last_s", PARAM_INT, false, 1, INT32_MAX},
	{.name = NULL},
};

static const struct param record_params[] = {
	{"duration_ns", PARAM_INT, false, 1, INT64_MAX / 2},
	{.name = NULL},
};

static const struct param description_params[] = {
	{"interface", PARAM_STRING, true, 0, REQUEST_MAX},
	{.name = NULL},
};

static const struct method methods[] = {
	{"Status", NO_MORE, none, method_status},
	{"Topology", NO_MORE, none, method_topology},
	{"Hierarchy", NO_MORE, none, method_hierarchy},
	{"Totals", NO_MORE, none, method_totals},
	{"OpenWindow", NO_MORE, none, method_open_window},
	{"ReadWindow", NO_MORE, window_params, method_read_window},
	{"CloseWindow", NO_MORE, window_params, method_close_window},
	{"Subscribe", MUST_MORE, subscribe_params, method_subscribe},
	{"Mark", NO_MORE, mark_params, method_mark},
	{"DumpFlight", MUST_MORE, dump_params, method_dump_flight},
	{"StartRecording", MUST_MORE, record_params, method_start_recording},
	{"StopRecording", NO_MORE, window_params, method_stop_recording},
	{"Metrics", NO_MORE, none, method_metrics},
	{.name = NULL},
};

static const struct method service_methods[] = {
	{"GetInfo", NO_MORE, none, method_get_info},
	{"GetInterfaceDescription", NO_MORE, description_params, method_get_interface_description},
	{.name = NULL},
};

const struct interface interfaces[] = {
	{SERVICE, service_methods, service_description},
	{INTERFACE, methods, description},
	{.name = NULL},
};

static const struct interface *find_interface(const char *name, size_t size)
{
	const struct interface *i;

	for (i = interfaces; i->name; i++)
		if (strlen(i->name) == size && !memcmp(i->name, name, size))
			return i;
	return NULL;
}

static const struct method *find_method(const struct request *r, const char **ret_error,
					json_t **ret_params)
{
	const char *dot = strrchr(r->method, '.');
	size_t size = dot ? (size_t)(dot - r->method) : strlen(r->method);
	const struct interface *i = find_interface(r->method, size);
	const struct method *m = i && dot ? i->methods : NULL;

	if (!i) {
		*ret_error = SERVICE ".InterfaceNotFound";
		*ret_params = json_pack("{so}", "interface", json_stringn(r->method, size));
		return NULL;
	}
	while (m && m->name && strcmp(m->name, dot + 1))
		m++;
	if (m && m->name)
		return m;
	*ret_error = SERVICE ".MethodNotFound";
	*ret_params = json_pack("{ss}", "method", r->method);
	return NULL;
}

const struct method *methods_find(const struct request *r, const char **ret_error,
				  json_t **ret_params)
{
	const struct method *m = find_method(r, ret_error, ret_params);
	const char *bad;

	if (!m)
		return NULL;
	if (m->more == MUST_MORE && !r->more) {
		*ret_error = SERVICE ".ExpectedMore";
		*ret_params = NULL;
		return NULL;
	}
	bad = params_check(m->params, r->params);
	if (r->upgrade)
		bad = "upgrade";
	if (r->more && m->more == NO_MORE)
		bad = "more";
	if (!bad)
		return m;
	*ret_error = SERVICE ".InvalidParameter";
	*ret_params = json_pack("{ss}", "parameter", bad);
	return NULL;
}

void methods_call(struct client *c, struct request *r)
{
	const char *error = NULL;
	json_t *params = NULL;
	const struct method *m = methods_find(r, &error, &params);

	if (m)
		m->fn(c, r->params);
	else
		client_error(c, error, params);
}
