// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose events count in a trace of several buffers. */
#include "traced_buffers.h"

#include <stdio.h>

#include "tmigr/err.h"

static size_t put(char *ret, size_t size, const char *what, const char *name)
{
	int n = name ? snprintf(ret, size, "%s'%.40s'", what, name)
		     : snprintf(ret, size, "%sthe main one", what);

	return (size_t)n < size ? (size_t)n : size - 1;
}

void traced_buffers_tell(const struct traced_buffers *b, const char *const names[], char *ret,
			 size_t size)
{
	static const char *const what[KINDS] = {
		"idle states come from ", "timer migration comes from ",
		"links of groups come from ", "CPU hotplug comes from "};
	bool split = traced_buffers_split(b);
	size_t n = 0;

	*ret = '\0';
	for (int i = 0; i < KINDS; i++) {
		const char *name = b->of[i] ? names[b->of[i] - 1] : NULL;

		if (!b->of[i] || (!split && !name && !b->more))
			continue;
		if (!split) {
			put(ret, size, "all events come from ", name);
			break;
		}
		if (i == KIND_CONNECT && b->of[i] == b->of[KIND_MIGRATION])
			continue;
		if (n)
			n += (size_t)snprintf(ret + n, size - n, ", ");
		n += put(ret + n, size - n, what[i], name);
	}
	tmigr_one_line(ret);
}
