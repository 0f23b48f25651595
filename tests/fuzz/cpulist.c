// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz harness for CPU lists: what is taken, written again, is the same list. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int *cpus = NULL, *again = NULL;
	struct tmigr_err err = {""};
	size_t n = 0, m = 0;
	char *text = strndup((const char *)data, size), *list;

	if (tmigr_cpulist_parse(text, &cpus, &n, &err) == 0) {
		for (size_t i = 0; i < n; i++)
			assert(cpus[i] <= TMIGR_CPU_MAX && (!i || cpus[i] > cpus[i - 1]));
		list = tmigr_cpulist_format(cpus, n);
		assert(list && tmigr_cpulist_parse(list, &again, &m, &err) == 0);
		assert(m == n && (!n || !memcmp(cpus, again, n * sizeof(*cpus))));
		free(list);
		free(again);
		free(cpus);
	} else {
		assert(err.text[0] && !cpus);
	}
	free(text);
	return 0;
}
