/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface: what each method takes, and what it does. */
#ifndef TMIGRD_METHODS_H
#define TMIGRD_METHODS_H

#include "client.h"

enum method_more {
	NO_MORE,   /* one reply */
	MUST_MORE, /* a stream */
};

struct method {
	const char *name;
	enum method_more more;
	const struct param *params;
	/* Replies, or begins an activity. */
	void (*fn)(struct client *c, json_t *params);
};

struct interface {
	const char *name;
	const struct method *methods; /* a NULL name ends them */
	const char *description;
};

/* The last one has no name. */
extern const struct interface interfaces[];

/* Errors of the request itself as a Varlink error: *@ret_error its name,
 * *@ret_params what comes with it (owned by the caller).  NULL then. */
const struct method *methods_find(const struct request *r, const char **ret_error,
				  json_t **ret_params);

void methods_call(struct client *c, struct request *r);

/* methods_service.c */
void method_get_info(struct client *c, json_t *params);
void method_get_interface_description(struct client *c, json_t *params);
/* methods_state.c */
void method_status(struct client *c, json_t *params);
void method_topology(struct client *c, json_t *params);
void method_hierarchy(struct client *c, json_t *params);
void method_totals(struct client *c, json_t *params);
void method_mark(struct client *c, json_t *params);
void method_metrics(struct client *c, json_t *params);
/* windows.c */
void method_open_window(struct client *c, json_t *params);
void method_read_window(struct client *c, json_t *params);
void method_close_window(struct client *c, json_t *params);
/* feed.c */
void method_subscribe(struct client *c, json_t *params);
/* methods_flight.c */
void method_dump_flight(struct client *c, json_t *params);
/* record.c */
void method_start_recording(struct client *c, json_t *params);
void method_stop_recording(struct client *c, json_t *params);

#endif
