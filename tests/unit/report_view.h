/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of the report: its views as strings, its members, or a failed test. */
#ifndef TESTS_REPORT_VIEW_H
#define TESTS_REPORT_VIEW_H

#include "report_machine.h"

typedef int (*view_fn)(const json_t *report, FILE *out);

/* A view as a string; owned by the caller. */
static inline char *render(view_fn fn, const json_t *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(fn(report, out), 0);
	fclose(out);
	return text;
}

static inline json_int_t num(const json_t *obj, const char *key)
{
	json_t *v = json_object_get(obj, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static inline const char *str(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	assert_non_null(s);
	return s;
}

static inline json_t *at(const json_t *obj, const char *key, size_t i)
{
	json_t *v = json_array_get(json_object_get(obj, key), i);

	assert_non_null(v);
	return v;
}

/* Of machine_4_4(); owned by the caller. */
static inline json_t *report_4_4(void)
{
	struct machine *m = machine_4_4();
	json_t *info = machine_info();
	json_t *report = machine_report(m, true, info);

	assert_non_null(report);
	machine_free(m);
	json_decref(info);
	return report;
}

#endif
