// SPDX-License-Identifier: GPL-2.0-or-later
#include "request.h"

#include <errno.h>
#include <string.h>

/* jansson's own bound on nesting is 2048, each level a frame of its stack. */
static bool too_deep(const char *text, size_t size)
{
	size_t i, depth = 0;
	bool string = false;

	for (i = 0; i < size; i++) {
		if (string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				string = false;
		} else if (text[i] == '"') {
			string = true;
		} else if (text[i] == '{' || text[i] == '[') {
			if (++depth > REQUEST_DEPTH)
				return true;
		} else if ((text[i] == '}' || text[i] == ']') && depth) {
			depth--;
		}
	}
	return false;
}

static const char *take_flag(json_t *root, const char *name, bool *ret)
{
	json_t *v = json_object_get(root, name);

	if (v && !json_is_boolean(v) && !json_is_null(v))
		return "a flag (more, oneway, upgrade) is not a boolean";
	*ret = json_is_true(v);
	return NULL;
}

static const char *take_flags(struct request *r)
{
	const char *why = take_flag(r->root, "more", &r->more);

	if (!why)
		why = take_flag(r->root, "oneway", &r->oneway);
	if (!why)
		why = take_flag(r->root, "upgrade", &r->upgrade);
	if (!why && r->more && r->oneway)
		why = "\"more\" and \"oneway\" exclude each other";
	return why;
}

/* NULL, or what is wrong with it. */
static const char *take_members(struct request *r)
{
	json_t *params;
	const char *key;
	json_t *v;

	if (!json_is_object(r->root))
		return "a request is a JSON object";
	json_object_foreach (r->root, key, v)
		if (strcmp(key, "method") && strcmp(key, "parameters") && strcmp(key, "more") &&
		    strcmp(key, "oneway") && strcmp(key, "upgrade"))
			return "a request has no members but method, parameters, more, oneway, "
			       "upgrade";
	r->method = json_string_value(json_object_get(r->root, "method"));
	if (!r->method)
		return "\"method\" is missing or not a string";
	params = json_object_get(r->root, "parameters");
	if (params && !json_is_object(params) && !json_is_null(params))
		return "\"parameters\" is not an object";
	if (!json_is_object(params)) {
		params = json_object();
		if (!params || json_object_set_new(r->root, "parameters", params))
			return "out of memory";
	}
	r->params = params;
	return take_flags(r);
}

int request_parse(const char *text, size_t size, struct request *ret, const char **ret_why)
{
	struct request r = {.root = NULL};
	json_error_t error;
	const char *why;

	if (size > REQUEST_MAX)
		why = "the request is too large";
	else if (too_deep(text, size))
		why = "the request is nested too deeply";
	else if (!(r.root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error)))
		why = "the request is not JSON in UTF-8";
	else
		why = take_members(&r);
	if (why) {
		request_free(&r);
		*ret_why = why;
		return -EBADMSG;
	}
	*ret = r;
	return 0;
}

void request_free(struct request *r)
{
	json_decref(r->root);
	r->root = NULL;
}

static bool in_bounds(const struct param *p, json_int_t n)
{
	return n >= p->min && n <= p->max;
}

/* C0 and DEL, and C1 (U+0080 to U+009F) as UTF-8. */
static bool has_control(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
			return true;
	return false;
}

static bool value_fits(const struct param *p, json_t *v)
{
	switch (p->type) {
	case PARAM_INT:
		return json_is_integer(v) && in_bounds(p, json_integer_value(v));
	case PARAM_BOOL:
		return json_is_boolean(v);
	case PARAM_TEXT:
		if (!json_is_string(v) || has_control(json_string_value(v)))
			return false;
		/* fallthrough */
	case PARAM_STRING:
		return json_is_string(v) && in_bounds(p, (json_int_t)json_string_length(v));
	}
	return false;
}

const char *params_check(const struct param *params, json_t *object)
{
	const struct param *p;
	const char *key;
	json_t *v;

	json_object_foreach (object, key, v) {
		for (p = params; p->name && strcmp(p->name, key);)
			p++;
		if (!p->name)
			return key;
		if (!json_is_null(v) && !value_fits(p, v))
			return p->name;
	}
	for (p = params; p->name; p++) {
		v = json_object_get(object, p->name);
		if (p->required && (!v || json_is_null(v)))
			return p->name;
	}
	return NULL;
}

json_int_t param_int(json_t *object, const char *name, json_int_t absent)
{
	json_t *v = json_object_get(object, name);

	return json_is_integer(v) ? json_integer_value(v) : absent;
}

bool param_bool(json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

const char *param_string(json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}
