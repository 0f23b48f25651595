// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tmigrd.h"

int marks_add(struct marks *m, __u64 t_ns, const char *text)
{
	char *copy = strdup(text);

	if (copy && !m->ring)
		m->ring = calloc(MARKS_MAX, sizeof(*m->ring));
	if (!copy || !m->ring) {
		free(copy);
		return -ENOMEM;
	}
	if (m->n == MARKS_MAX) {
		free(m->ring[m->first].text);
		m->first = (m->first + 1) % MARKS_MAX;
		m->n--;
	}
	m->ring[(m->first + m->n++) % MARKS_MAX] = (struct mark){t_ns, copy};
	/* cppcheck-suppress memleak; the ring has it */
	return 0;
}

json_t *marks_json(const struct marks *m, __u64 from_ns, __u64 to_ns)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < m->n; i++) {
		const struct mark *mark = &m->ring[(m->first + i) % MARKS_MAX];

		if (mark->t_ns < from_ns || mark->t_ns >= to_ns)
			continue;
		if (json_array_append_new(list,
					  json_pack("{sI ss}", "time_ns", (json_int_t)mark->t_ns,
						    "text", mark->text))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

void marks_free(struct marks *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->ring[(m->first + i) % MARKS_MAX].text);
	free(m->ring);
}
