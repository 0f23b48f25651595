// SPDX-License-Identifier: GPL-2.0-or-later
/* The report object as text: a line per member, a line per array element. */
#include <errno.h>
#include <string.h>

#include "report_fmt.h"
#include "tmigr/report.h"

/* 9 digits say all that a share means; of a metric 15 are all that were printed. */
#define REPORT_DIGITS	 9
#define METRIC_DIGITS	 15

#define FLAGS_OF(digits) (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits))

static int put_array(const json_t *array, FILE *out, size_t flags)
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
	return tmigr_json_lines(report, out, REPORT_DIGITS);
}

int tmigr_json_lines(const json_t *obj, FILE *out, size_t digits)
{
	size_t flags = FLAGS_OF(digits);
	const char *sep = "{\n ", *key;
	json_t *v;
	int ret = 0;

	json_object_foreach ((json_t *)obj, key, v) {
		json_t *name = json_string(key);

		fputs(sep, out);
		if (!name || json_dumpf(name, out, flags) < 0)
			ret = -1;
		fputs(": ", out);
		if (of_objects(v))
			ret |= put_array(v, out,
					 !strcmp(key, "metrics") && digits < METRIC_DIGITS
						 ? FLAGS_OF(METRIC_DIGITS)
						 : flags);
		else
			ret |= json_dumpf(v, out, flags);
		json_decref(name);
		sep = ",\n ";
	}
	fputs("\n}\n", out);
	if (ret < 0 || fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
