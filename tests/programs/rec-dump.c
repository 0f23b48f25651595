// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rec-dump events.tmr: the records of a recording, in the lines that model-feed
 * reads. The window comes last, since the end is known last; a recording that
 * was cut ends with "cut" instead, and exit status 1.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "tmigr/recording.h"

static __u64 number(const json_t *json, const char *key)
{
	return (__u64)json_integer_value(json_object_get(json, key));
}

static void print_recs(const struct tmigr_frame *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct tmigr_rec *r = &f->recs[i];

		printf("rec %" PRIu64 " %u %u %u %u %u %" PRIu64 " %" PRIu64 "\n",
		       (uint64_t)r->t_ns, r->cpu, r->type, r->flags, r->level, r->mask,
		       (uint64_t)r->a, (uint64_t)r->b);
	}
}

/* True when the file goes on. */
static bool print_frame(const struct tmigr_frame *f, __u64 *start_ns, int *rc)
{
	switch (f->type) {
	case TMIGR_FRAME_META:
		*start_ns = number(f->json, "start_ns");
		return true;
	case TMIGR_FRAME_EVENTS:
		print_recs(f);
		return true;
	case TMIGR_FRAME_MARK:
		printf("advance %" PRIu64 "\n", (uint64_t)f->watermark_ns);
		return true;
	case TMIGR_FRAME_END:
		printf("window %" PRIu64 " %" PRIu64 "\n", (uint64_t)*start_ns,
		       (uint64_t)number(f->json, "end_ns"));
		return true;
	case TMIGR_FRAME_CUT:
		printf("cut\n");
		*rc = EXIT_FAILURE;
		return false;
	case TMIGR_FRAME_EOF:
		break;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct tmigr_recording_reader *reader = NULL;
	struct tmigr_err err = {0};
	struct tmigr_frame frame;
	int rc = EXIT_SUCCESS;
	__u64 start_ns = 0;
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: rec-dump events.tmr\n");
		return EXIT_FAILURE;
	}
	r = tmigr_recording_open(argv[1], &reader, &err);
	do {
		if (!r)
			r = tmigr_recording_next(reader, &frame, &err);
	} while (!r && print_frame(&frame, &start_ns, &rc));
	if (reader)
		tmigr_recording_close(reader);
	if (r) {
		fprintf(stderr, "rec-dump: %s\n", err.text);
		rc = EXIT_FAILURE;
	}
	return rc;
}
