// SPDX-License-Identifier: GPL-2.0-or-later
/* The report object as text: a line per member, a line per array element. */
#include <errno.h>
#include <string.h>

#include "tmigr/report.h"

/* 9 digits say all that a share means; of a metric 15 are all that were printed. */
#define FLAGS_OF(digits) (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits))
#define FLAGS		 FLAGS_OF(9)
#define METRIC_FLAGS	 FLAGS_OF(15)

static int put_array(const json_t *array, size_t flags, FILE *out)
{
	const json_t *e;
	size_t i;

	fputs("[", out);
	json_array_foreach (array, i, e) {
		fputs(i ? ",\n  " : "\n  ", out);
		if (json_dumpf(e, out, flags) < 0)
			return -1;
	}
	fputs(i ? "\n ]" : "]", out);
	return 0;
}

/* "command" and its like stay on their line. */
static bool of_objects(const json_t *v)
{
	return json_is_array(v) && json_is_object(json_array_get(v, 0));
}

int tmigr_report_json(const json_t *report, FILE *out)
{
	const char *sep = "{\n ", *key;
	json_t *v;
	int ret = 0;

	json_object_foreach ((json_t *)report, key, v) {
		json_t *name = json_string(key);

		fputs(sep, out);
		if (!name || json_dumpf(name, out, FLAGS) < 0)
			ret = -1;
		fputs(": ", out);
		if (of_objects(v))
			ret |= put_array(v, strcmp(key, "metrics") ? FLAGS : METRIC_FLAGS, out);
		else
			ret |= json_dumpf(v, out, FLAGS);
		json_decref(name);
		sep = ",\n ";
	}
	fputs("\n}\n", out);
	if (ret < 0 || fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
