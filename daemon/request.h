/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Varlink request from its bytes, checked.  Pure; nothing here trusts what it
 * is given.
 */
#ifndef TMIGRD_REQUEST_H
#define TMIGRD_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/*
 * Bounds on one request.  The largest that makes sense (a mark of 1024 bytes,
 * all of them escaped) is half of it, and parsed JSON takes up to some 50 times
 * its text: so no request holds more than 1 MB.
 */
#define REQUEST_MAX   (16u << 10)
#define REQUEST_DEPTH 16

struct request {
	json_t *root; /* owns the rest */
	const char *method;
	json_t *params; /* an object */
	bool more, oneway, upgrade;
};

/* 0; -EBADMSG with *@ret_why; -ENOMEM. @text is without the NUL. */
int request_parse(const char *text, size_t size, struct request *ret, const char **ret_why);
void request_free(struct request *r);

/* PARAM_TEXT: a string without control characters, which reports show on terminals. */
enum param_type { PARAM_INT, PARAM_BOOL, PARAM_STRING, PARAM_TEXT };

struct param {
	const char *name; /* NULL ends the list */
	enum param_type type;
	bool required;
	json_int_t min, max; /* of an integer, or of a string's bytes */
};

/* Name of a parameter that is unknown, missing, or of a wrong type or value;
 * NULL: none.  null counts as absent. */
const char *params_check(const struct param *params, json_t *object);

/* Values after that check. */
json_int_t param_int(json_t *object, const char *name, json_int_t absent);
bool param_bool(json_t *object, const char *name);
const char *param_string(json_t *object, const char *name);

#endif
