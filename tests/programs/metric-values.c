// SPDX-License-Identifier: GPL-2.0-or-later
/* metric-values SPEC... <OUTPUT: what `tmigr run --metric` would make of it, a line a value. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tmigr/metrics.h"

static int print(struct tmigr_metrics *m)
{
	json_t *metrics, *notes, *v;
	const char *better;
	size_t i;

	if (tmigr_metrics_result(m, &metrics, &notes) < 0)
		return 1;
	json_array_foreach (metrics, i, v) {
		better = json_string_value(json_object_get(v, "better"));
		printf("%s %.15g %s %s\n", json_string_value(json_object_get(v, "name")),
		       json_real_value(json_object_get(v, "value")),
		       json_string_value(json_object_get(v, "unit")), better ? better : "-");
	}
	json_array_foreach (notes, i, v)
		printf("note: %s\n", json_string_value(v));
	json_decref(metrics);
	json_decref(notes);
	return 0;
}

int main(int argc, char **argv)
{
	struct tmigr_metrics *m = tmigr_metrics_new();
	struct tmigr_err err = {""};
	int ret = m ? 0 : 1;

	for (int i = 1; i < argc && !ret; i++)
		if (tmigr_metrics_add(m, argv[i], &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			ret = 2;
		}
	if (!ret)
		ret = tmigr_metrics_read(m, STDIN_FILENO) < 0 || print(m);
	tmigr_metrics_free(m);
	return ret;
}
