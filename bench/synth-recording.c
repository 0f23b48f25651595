// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the recording of a machine made up (synth.h) of any number of CPUs, by the
 * same writer as `tmigr run --record`, and says what it cost.  A piece of the stream at
 * a time is in memory, so that what the process takes is the writer's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tmigr/model.h"
#include "tmigr/recording.h"
#include "tmigr/totals.h"

#include "bench.h"
#include "synth.h"

#define PIECE 65536

static const char usage_text[] = "usage: synth-recording CPUS RATE RECORDS FILE\n"
				 "Writes FILE: a machine of CPUS that makes RATE records per "
				 "second and CPU, RECORDS in all.\n"
				 "Prints one JSON line: bytes, CPU time of the writer, memory.\n";

struct work {
	struct tmigr_recording_writer *w;
	struct tmigr_model *model; /* gives the window's residency */
	__u64 writer_ns, bytes, records;
	FILE *file;
};

static int put(void *arg, const void *data, size_t size)
{
	struct work *k = arg;

	k->bytes += size;
	return fwrite(data, 1, size, k->file) == size ? 0 : -EIO;
}

/* The stream so far, and the marks in it. */
static int pass_on(struct work *k, struct stream *s, struct tmigr_err *err)
{
	size_t at = 0, m = 0;
	int ret = 0;

	while (!ret && (at < s->n || m < s->n_marks)) {
		size_t end = m < s->n_marks ? s->marks[m].at : s->n;
		__u64 before = bench_cpu_ns();

		ret = tmigr_recording_events(k->w, s->recs + at, end - at, err);
		if (!ret && m < s->n_marks)
			ret = tmigr_recording_mark(k->w, s->marks[m].watermark_ns, err);
		k->writer_ns += bench_cpu_ns() - before;
		if (!ret)
			ret = tmigr_model_feed(k->model, s->recs + at, end - at);
		if (!ret && m < s->n_marks)
			ret = tmigr_model_advance(k->model, s->marks[m++].watermark_ns);
		at = end;
	}
	k->records += s->n;
	s->n = s->n_marks = 0;
	return ret;
}

/* What the end of a recording says of the CPUs, counted from the records. */
static json_t *totals(const struct tmigr_model *m)
{
	const struct tmigr_result *r = tmigr_model_result(m);
	struct tmigr_window_totals t = {.timeline = true,
					.n_cpus = r->n_cpus,
					.cpus = synth_calloc(r->n_cpus, sizeof(*t.cpus))};
	json_t *json;

	for (size_t i = 0; i < r->n_cpus; i++) {
		t.cpus[i].cpu = (unsigned int)i;
		memcpy(t.cpus[i].time_ns, r->cpus[i].time_ns, sizeof(t.cpus[i].time_ns));
	}
	json = tmigr_window_totals_to_json(&t);
	free(t.cpus);
	return json;
}

static int write_recording(struct work *k, size_t n_cpus, size_t rate, size_t count,
			   struct tmigr_err *err)
{
	struct stream s = {0};
	struct synth y;
	struct tmigr_model_cfg cfg;
	json_t *meta, *end;
	int ret;

	synth_begin(&y, &s, n_cpus, rate);
	cfg = (struct tmigr_model_cfg){.topo = s.topo, .start_ns = s.start_ns};
	ret = tmigr_model_new(&cfg, &k->model);
	meta = json_pack("{s:o, s:I, s:{}}", "topology", tmigr_topology_to_json(s.topo), "start_ns",
			 (json_int_t)s.start_ns, "info");
	if (!ret)
		ret = tmigr_recording_create_put("recording", put, k, meta, &k->w, err);
	json_decref(meta);
	while (!ret && k->records < count) {
		synth_until(&y, count - k->records < PIECE ? count - k->records : PIECE);
		ret = pass_on(k, &s, err);
	}
	synth_end(&y);
	if (!ret)
		ret = pass_on(k, &s, err);
	if (!ret)
		ret = tmigr_model_finish(k->model, s.end_ns);
	if (!ret) {
		end = json_pack("{s:I, s:o, s:{}}", "end_ns", (json_int_t)s.end_ns, "totals",
				totals(k->model), "info");
		ret = tmigr_recording_end(k->w, end, err);
		json_decref(end);
		printf("{\"cpus\":%zu,\"groups\":%zu,\"rate\":%zu,\"records\":%" PRIu64
		       ",\"window_ns\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"writer_ns\":%" PRIu64,
		       n_cpus, s.n_groups, rate, (uint64_t)k->records,
		       (uint64_t)(s.end_ns - s.start_ns), (uint64_t)k->bytes,
		       (uint64_t)k->writer_ns);
	}
	tmigr_model_free(k->model);
	synth_free(&s);
	return ret;
}

int main(int argc, char **argv)
{
	struct tmigr_err err = {""};
	struct work k = {0};
	struct rusage ru;
	int ret;

	if (argc != 5) {
		fputs(usage_text, stderr);
		return 2;
	}
	k.file = fopen(argv[4], "w");
	if (!k.file) {
		fprintf(stderr, "synth-recording: %s: %s\n", argv[4], strerror(errno));
		return 1;
	}
	ret = write_recording(&k, bench_number("synth-recording", argv[1], 2, TMIGR_CPU_MAX),
			      bench_number("synth-recording", argv[2], 1, 1000000),
			      bench_number("synth-recording", argv[3], 1, 1000000000), &err);
	if (fclose(k.file) && !ret)
		ret = -errno;
	if (ret) {
		fprintf(stderr, "synth-recording: %s\n", err.text[0] ? err.text : strerror(-ret));
		return 1;
	}
	getrusage(RUSAGE_SELF, &ru);
	printf(",\"max_rss_kib\":%ld}\n", ru.ru_maxrss);
	return fflush(stdout) ? 1 : 0;
}
