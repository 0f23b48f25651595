// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * traced-dump FILE: the events of a trace.dat or text as the library gives them, a line each,
 * for comparison with another reading; at the end what it says of the file.
 * Exit status 1 with the message on standard error where it cannot be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tmigr/traced.h"

static void put(const struct tmigr_traced *e)
{
	printf("%" PRIu64 " cpu=%u type=%u pid=%d has=%#x level=%u mask=%#x group=%#" PRIx64
	       " parent=%#" PRIx64 " value=%" PRIu64
	       " subject=%u active=%#x migrator=%#x below=%u node=%d\n",
	       (uint64_t)e->t_ns, e->cpu, e->type, e->pid, e->has, e->level, e->mask,
	       (uint64_t)e->group, (uint64_t)e->parent, (uint64_t)e->value, e->subject, e->active,
	       e->migrator, e->below, e->node);
}

int main(int argc, char **argv)
{
	struct tmigr_traced_source *src;
	struct tmigr_err err = {""};
	struct tmigr_traced evs[1000];
	__u64 watermark = 0, told = 0;
	ssize_t n;
	int fd;

	if (argc != 2)
		return 2;
	if (tmigr_traced_open(argv[1], false, &src, &fd, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	while ((n = src->read(src, evs, 1000, &watermark, &err)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			put(&evs[i]);
			if (evs[i].t_ns < told)
				puts("LATE");
		}
		if (watermark > told)
			told = watermark;
	}
	if (n < 0)
		fprintf(stderr, "%s\n", err.text);
	else
		printf("# %s, %u CPUs, clock '%s', kernel '%s', machine '%s', host '%s', skipped "
		       "%" PRIu64 ", partial '%s'\n",
		       src->format, src->n_cpus, src->clock, src->kernel, src->machine, src->host,
		       (uint64_t)src->skipped, src->partial);
	src->close(src);
	return n < 0;
}
