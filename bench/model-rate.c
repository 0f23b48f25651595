// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many events per second the model takes, on one core: on a recording, or
 * on a stream made up for a machine of N CPUs (synth.h).  The stream is in memory
 * before the clock starts, so nothing but the model is measured.
 *
 * Prints one JSON line.  The answer is checked against the laws of the model: a
 * fast wrong model is of no use, and a stream that is not legal would measure the
 * handling of losses instead.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tmigr/model.h"
#include "tmigr/recording.h"

#include "bench.h"
#include "synth.h"

#define MAX_REPEATS 1000

struct config {
	const char *path; /* a recording, or NULL */
	size_t n_cpus, count, rate, repeats;
	bool callgrind;
};

struct outcome {
	__u64 ns[MAX_REPEATS]; /* CPU time of each repetition, ascending */
	__u64 segments;
	__u64 records, lost_updates, late_updates, unknown_ns;
	bool sums_exact;
};

static const char usage_text[] =
	"usage: model-rate [OPTION...] [RECORDING]\n"
	"  -n, --count N            records to make up (1000000)\n"
	"  -c, --cpus N             CPUs of the made-up machine (8)\n"
	"  -r, --rate N             its records per second and CPU (2000)\n"
	"  -R, --repeat N           feed the stream N times, each time into a new model (5)\n"
	"  -C, --callgrind-friendly 200000 records, once, no clock: for instructions per record,\n"
	"                           run under valgrind --tool=callgrind --toggle-collect=replay\n"
	"Prints one JSON line.\n";

static void count_segment(void *arg, const struct tmigr_segment *seg)
{
	(void)seg;
	++*(__u64 *)arg;
}

/* As much at once as a drain gives. */
#define BATCH 512

static int feed(struct tmigr_model *m, const struct tmigr_rec *recs, size_t n)
{
	int ret = 0;

	for (size_t at = 0; at < n && !ret; at += BATCH)
		ret = tmigr_model_feed(m, recs + at, n - at < BATCH ? n - at : BATCH);
	return ret;
}

/* What is measured.  Its name is what callgrind is told to collect in. */
__attribute__((noinline, noclone)) static int replay(const struct stream *s, struct tmigr_model *m)
{
	size_t at = 0;
	int ret;

	for (size_t i = 0; i < s->n_marks; i++) {
		ret = feed(m, s->recs + at, s->marks[i].at - at);
		if (!ret)
			ret = tmigr_model_advance(m, s->marks[i].watermark_ns);
		if (ret)
			return ret;
		at = s->marks[i].at;
	}
	ret = feed(m, s->recs + at, s->n - at);
	return ret ? ret : tmigr_model_finish(m, s->end_ns);
}

/* Laws 1 and 2, and what was lost. */
static void judge(const struct tmigr_model *m, struct outcome *out)
{
	const struct tmigr_result *r = tmigr_model_result(m);
	__u64 window_ns = r->end_ns - r->start_ns;

	out->records = r->records;
	out->lost_updates = r->lost_updates;
	out->late_updates = r->late_updates;
	out->unknown_ns = 0;
	out->sums_exact = true;
	for (size_t i = 0; i < r->n_cpus; i++) {
		__u64 sum = 0;

		for (int slot = 0; slot < TMIGR_SLOTS; slot++)
			sum += r->cpus[i].time_ns[slot];
		out->sums_exact &= sum == window_ns;
		out->unknown_ns += r->cpus[i].time_ns[TMIGR_SLOT_UNKNOWN];
	}
	for (size_t i = 0; i < r->n_roots; i++) {
		__u64 sum = 0;

		for (int regime = 0; regime < TMIGR_REGIMES; regime++)
			sum += r->roots[i].regime_ns[regime];
		out->sums_exact &= sum == window_ns;
		out->unknown_ns += r->roots[i].regime_ns[TMIGR_UNKNOWN];
	}
	out->sums_exact &= r->n_roots > 0;
}

static int measure_once(const struct stream *s, __u64 *ret_ns, struct outcome *out)
{
	struct tmigr_model_cfg cfg = {.topo = s->topo,
				      .start_ns = s->start_ns,
				      .segment = count_segment,
				      .arg = &out->segments};
	struct tmigr_model *m;
	__u64 before_ns;
	int ret;

	out->segments = 0;
	ret = tmigr_model_new(&cfg, &m);
	if (ret)
		return ret;
	before_ns = bench_cpu_ns();
	ret = replay(s, m);
	*ret_ns = bench_cpu_ns() - before_ns;
	if (!ret)
		judge(m, out);
	tmigr_model_free(m);
	return ret;
}

static int compare_ns(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

static int measure(const struct config *cfg, const struct stream *s, struct outcome *out)
{
	for (size_t i = 0; i < cfg->repeats; i++) {
		int ret = measure_once(s, &out->ns[i], out);

		if (ret) {
			fprintf(stderr, "model-rate: the model: %s\n", strerror(-ret));
			return 1;
		}
	}
	qsort(out->ns, cfg->repeats, sizeof(out->ns[0]), compare_ns);
	return 0;
}

static void print_outcome(const struct config *cfg, const struct stream *s,
			  const struct outcome *out)
{
	__u64 median_ns = out->ns[cfg->repeats / 2];

	printf("{\"source\":\"%s\",\"cpus\":%zu,\"fed\":%zu,\"window_ns\":%" PRIu64
	       ",\"records\":%" PRIu64 ",\"segments\":%" PRIu64 ",\"lost_updates\":%" PRIu64
	       ",\"late_updates\":%" PRIu64 ",\"unknown_ns\":%" PRIu64 ",\"sums_exact\":%s",
	       cfg->path ? "recording" : "synthetic", s->topo->n_cpus, s->n,
	       (uint64_t)(s->end_ns - s->start_ns), (uint64_t)out->records, (uint64_t)out->segments,
	       (uint64_t)out->lost_updates, (uint64_t)out->late_updates, (uint64_t)out->unknown_ns,
	       out->sums_exact ? "true" : "false");
	if (!cfg->path)
		printf(",\"groups\":%zu", s->n_groups);
	if (!cfg->callgrind)
		printf(",\"repeats\":%zu,\"median_ns\":%" PRIu64 ",\"min_ns\":%" PRIu64
		       ",\"max_ns\":%" PRIu64 ",\"records_per_s\":%.0f",
		       cfg->repeats, (uint64_t)median_ns, (uint64_t)out->ns[0],
		       (uint64_t)out->ns[cfg->repeats - 1],
		       median_ns ? (double)s->n * 1e9 / (double)median_ns : 0.0);
	printf("}\n");
}

static int check(const struct config *cfg, const struct outcome *out)
{
	const char *what = NULL;

	if (!out->sums_exact)
		what = "the sums do not add up to the window";
	else if (!cfg->path && (out->lost_updates || out->late_updates || out->unknown_ns))
		what = "something is unknown or lost, though the stream is whole";
	else if (!cfg->path && !out->records)
		what = "not one record was inside the window";
	if (what)
		fprintf(stderr, "model-rate: wrong answer: %s\n", what);
	return what != NULL;
}

/* ---- a recording ---- */

static int take_meta(struct stream *s, const json_t *meta, struct tmigr_err *err)
{
	const json_t *start = json_object_get(meta, "start_ns");

	if (s->topo)
		return tmigr_fail(err, -EINVAL, "more than one head");
	if (!json_is_integer(start))
		return tmigr_fail(err, -EINVAL, "no start_ns in its head");
	s->start_ns = (__u64)json_integer_value(start);
	return tmigr_topology_from_json(json_object_get(meta, "topology"), &s->topo, err);
}

static int take_frame(struct stream *s, const struct tmigr_frame *frame, struct tmigr_err *err)
{
	switch (frame->type) {
	case TMIGR_FRAME_META:
		return take_meta(s, frame->json, err);
	case TMIGR_FRAME_EVENTS:
		for (size_t i = 0; i < frame->n; i++)
			stream_add(s, &frame->recs[i]);
		return 0;
	case TMIGR_FRAME_MARK:
		stream_mark(s, frame->watermark_ns);
		return 0;
	case TMIGR_FRAME_END:
		s->end_ns = (__u64)json_integer_value(json_object_get(frame->json, "end_ns"));
		return 0;
	default:
		return -EINVAL; /* cut: the reader has said where */
	}
}

/* All frames up to the end.  The reader's messages name the file. */
static int read_frames(struct tmigr_recording_reader *r, struct stream *s, struct tmigr_err *err)
{
	struct tmigr_frame frame;
	int ret;

	for (;;) {
		ret = tmigr_recording_next(r, &frame, err);
		if (ret < 0 || frame.type == TMIGR_FRAME_EOF)
			return ret;
		ret = take_frame(s, &frame, err);
		if (ret)
			return ret;
	}
}

static int read_recording(const char *path, struct stream *s)
{
	struct tmigr_err err = {.text = ""};
	struct tmigr_recording_reader *r;
	int ret = tmigr_recording_open(path, &r, &err);

	if (!ret) {
		ret = read_frames(r, s, &err);
		tmigr_recording_close(r);
	}
	if (ret >= 0 && (!s->topo || s->end_ns <= s->start_ns))
		ret = tmigr_fail(&err, -EINVAL, "%s: no topology or no window in it", path);
	if (ret < 0)
		fprintf(stderr, "model-rate: %s\n", err.text);
	return ret < 0 ? 1 : 0;
}

static int run(const struct config *cfg)
{
	struct outcome *out = synth_calloc(1, sizeof(*out));
	struct stream s = {0};
	int ret = 0;

	if (cfg->path)
		ret = read_recording(cfg->path, &s);
	else
		synth_stream(&s, cfg->n_cpus, cfg->count, cfg->rate);
	if (!ret)
		ret = measure(cfg, &s, out);
	if (!ret) {
		print_outcome(cfg, &s, out);
		ret = fflush(stdout) ? 1 : check(cfg, out);
	}
	synth_free(&s);
	free(out);
	return ret;
}

static int bad_usage(const char *what)
{
	fprintf(stderr, "model-rate: %s; see model-rate --help\n", what);
	return 2;
}

static int parse_size(size_t min, size_t max, size_t *ret)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(optarg, &end, 10);
	if (errno || end == optarg || *end || *optarg == '-' || n < min || n > max)
		return bad_usage("a number out of range");
	*ret = (size_t)n;
	return 0;
}

static int parse_option(int opt, struct config *cfg)
{
	switch (opt) {
	case 'n':
		return parse_size(1, 100000000, &cfg->count);
	case 'c':
		return parse_size(2, TMIGR_CPU_MAX, &cfg->n_cpus);
	case 'r':
		return parse_size(1, 1000000, &cfg->rate);
	case 'R':
		return parse_size(1, MAX_REPEATS, &cfg->repeats);
	case 'C':
		cfg->callgrind = true;
		cfg->count = 200000;
		cfg->repeats = 1;
		return 0;
	default:
		return bad_usage("bad option");
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"count", required_argument, NULL, 'n'},
		{"cpus", required_argument, NULL, 'c'},
		{"rate", required_argument, NULL, 'r'},
		{"repeat", required_argument, NULL, 'R'},
		{"callgrind-friendly", no_argument, NULL, 'C'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct config cfg = {.n_cpus = 8, .count = 1000000, .rate = 2000, .repeats = 5};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "n:c:r:R:Ch", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(usage_text, stdout) < 0;
		ret = parse_option(opt, &cfg);
		if (ret)
			return ret;
	}
	if (argc - optind > 1)
		return bad_usage("takes at most one recording");
	cfg.path = argv[optind];
	return run(&cfg);
}
