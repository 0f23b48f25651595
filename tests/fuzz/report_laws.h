/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds for any report, whatever it was made of; for the harnesses. */
#ifndef TMIGR_TESTS_FUZZ_REPORT_LAWS_H
#define TMIGR_TESTS_FUZZ_REPORT_LAWS_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "tmigr/report.h"

static json_int_t number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	assert(json_is_integer(v) && json_integer_value(v) >= 0);
	return json_integer_value(v);
}

static void check_cpu(const json_t *cpu, json_int_t window)
{
	json_int_t sum =
		number(cpu, "running_ns") + number(cpu, "offline_ns") + number(cpu, "unknown_ns");
	const json_t *state;
	size_t i;

	json_array_foreach (json_object_get(cpu, "states"), i, state)
		sum += number(state, "time_ns");
	assert(sum == window);
}

static void check_root(const json_t *root, json_int_t window)
{
	json_int_t held = 0;
	const json_t *h;
	size_t i;

	json_array_foreach (json_object_get(root, "holders"), i, h)
		held += number(h, "held_ns");
	assert(held == number(root, "held_ns"));
	assert(held + number(root, "handover_ns") + number(root, "duty_ns") +
		       number(root, "free_ns") + number(root, "unknown_ns") ==
	       window);
}

static void check_laws(const json_t *report)
{
	json_int_t window = number(report, "window_ns");
	struct tmigr_err err;
	const json_t *o;
	char *text = NULL;
	size_t size = 0, i;
	FILE *out = open_memstream(&text, &size);

	json_array_foreach (json_object_get(report, "cpus"), i, o)
		check_cpu(o, window);
	json_array_foreach (json_object_get(report, "roots"), i, o)
		check_root(o, window);
	assert(out && tmigr_report_check(report, &err) == 0);
	assert(tmigr_report_text(report, out) == 0);
	fclose(out);
	free(text);
}

#endif
