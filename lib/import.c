// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A source of traced events through the sequencer to the model, and a recording of
 * it beside.
 */
#include "tmigr/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import_priv.h"
#include "tmigr/recording.h"
#include "tmigr/replay.h"
#include "tmigr/report.h"
#include "tmigr/traced.h"

/* How much of the beginning may be held back: what it tells of the hierarchy and of
 * the CPUs there are. */
#define PROLOGUE_EVENTS (1u << 16)
#define PROLOGUE_NS	(~0ULL)
#define BATCH		1024

static int no_memory(const struct import *im)
{
	return tmigr_fail(im->err, -ENOMEM, "%s: no memory", im->path);
}

/* Nothing of it stays, whatever its writer says. */
static int recording_failed(const struct import *im, int r)
{
	return tmigr_fail(im->err, r, "%s: cannot write: %s", im->opts->recording, strerror(-r));
}

/* ---- from the sequencer ---- */

static int on_begin(void *arg, __u64 start_ns, const unsigned int *cpus, size_t n_cpus)
{
	struct import *im = arg;
	struct tmigr_model_cfg cfg = {.start_ns = start_ns};
	json_t *meta;
	int r = import_cpus(im, cpus, n_cpus);

	if (r < 0)
		return r;
	im->start_ns = start_ns;
	cfg.topo = im->topo;
	cfg.segment = im->opts->segment;
	cfg.arg = im->opts->arg;
	r = tmigr_model_new(&cfg, &im->model);
	if (r < 0)
		return no_memory(im);
	if (!im->opts->recording)
		return 0;
	meta = json_pack("{so sI sO}", "topology", tmigr_topology_to_json(im->topo), "start_ns",
			 (json_int_t)start_ns, "info", im->info);
	if (!meta)
		return no_memory(im);
	r = tmigr_recording_create(im->opts->recording, true, meta, &im->recording, NULL);
	json_decref(meta);
	return r < 0 ? recording_failed(im, r) : r;
}

/* CPUs that come later than the prologue have no place in the model. */
static void look_for_strangers(struct import *im, const struct tmigr_rec *recs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (recs[i].cpu == im->last_cpu || recs[i].type > TMIGR_REC_CPU_OFFLINE)
			continue;
		im->last_cpu = recs[i].cpu;
		if (tmigr_topology_index(im->topo, recs[i].cpu) < 0 && !im->stranger)
			im->stranger = recs[i].cpu + 1ULL;
	}
}

static int on_records(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct import *im = arg;
	int r = tmigr_model_feed(im->model, recs, n);

	if (r < 0)
		return r == -ENOMEM ? no_memory(im) : r;
	look_for_strangers(im, recs, n);
	r = im->recording ? tmigr_recording_events(im->recording, recs, n, NULL) : 0;
	return r < 0 ? recording_failed(im, r) : 0;
}

static int advance(struct import *im, __u64 watermark_ns)
{
	int r = tmigr_sequencer_advance(im->seq, watermark_ns);

	if (r < 0)
		return r;
	/* Nothing before the prologue's end. */
	if (!im->model || watermark_ns <= im->start_ns + TMIGR_SEQUENCER_HOLD_NS)
		return 0;
	watermark_ns -= TMIGR_SEQUENCER_HOLD_NS;
	if (im->recording && watermark_ns - im->marked_ns > TMIGR_LOOKAHEAD_NS) {
		im->marked_ns = watermark_ns;
		r = tmigr_recording_mark(im->recording, watermark_ns, NULL);
	}
	return r < 0 ? recording_failed(im, r) : tmigr_model_advance(im->model, watermark_ns);
}

/* ---- all of it ---- */

static int read_all(struct import *im)
{
	struct tmigr_traced *evs = malloc(BATCH * sizeof(*evs));
	__u64 watermark_ns = 0, before_ns = 0;
	ssize_t n = 1;
	int r = evs ? 0 : no_memory(im);

	while (r == 0 && n > 0) {
		n = im->src->read(im->src, evs, BATCH, &watermark_ns, im->err);
		if (n < 0)
			r = (int)n;
		if (n > 0)
			r = tmigr_sequencer_feed(im->seq, evs, (size_t)n);
		if (r == 0 && n > 0 && watermark_ns > before_ns) {
			before_ns = watermark_ns;
			r = advance(im, watermark_ns);
		}
	}
	if (r == 0)
		r = tmigr_sequencer_finish(im->seq);
	free(evs);
	if (r < 0 && !im->err->text[0])
		tmigr_fail(im->err, r, "%s: %s", im->path,
			   r == -EINVAL ? "its events are in no order of time" : strerror(-r));
	return r;
}

static int end_recording(struct import *im, const json_t *end_info)
{
	struct tmigr_recording_writer *w = im->recording;
	json_t *end;
	int r;

	if (!w)
		return 0;
	end = json_pack("{sI sn sO so}", "end_ns", (json_int_t)im->end_ns, "totals", "info",
			end_info, "topology", tmigr_topology_to_json(im->topo));
	if (!end)
		return no_memory(im);
	im->recording = NULL;
	r = tmigr_recording_end(w, end, NULL);
	json_decref(end);
	return r < 0 ? recording_failed(im, r) : 0;
}

static int finish(struct import *im, json_t **ret_report)
{
	struct tmigr_report_input in = {.topo = im->topo, .model = im->model};
	json_t *end_info, *info;
	int r;

	/* What the last event tells belongs to it. */
	im->end_ns = tmigr_sequencer_stats(im->seq)->last_ns + 1;
	r = tmigr_model_finish(im->model, im->end_ns);
	if (r < 0)
		return r == -ENOMEM
			       ? no_memory(im)
			       : tmigr_fail(im->err, r, "%s: its events are in no order of time",
					    im->path);
	import_states(im);
	end_info = import_end_info(im);
	info = tmigr_replay_info(im->info, end_info);
	r = end_info && info ? end_recording(im, end_info) : no_memory(im);
	in.info = info;
	if (r == 0) {
		*ret_report = tmigr_report_build(&in);
		r = *ret_report ? 0 : no_memory(im);
	}
	json_decref(info);
	json_decref(end_info);
	return r;
}

int import_events(struct import *im, json_t **ret_report)
{
	const struct tmigr_sequencer_cfg cfg = {
		.records = on_records,
		.begin = on_begin,
		.arg = im,
		.prologue_events = PROLOGUE_EVENTS,
		.prologue_ns = PROLOGUE_NS,
	};
	int r = tmigr_sequencer_new(&cfg, &im->seq);

	im->last_cpu = TMIGR_TRACED_NO_CPU;
	if (r < 0)
		return no_memory(im);
	im->info = import_info(im);
	r = im->info ? read_all(im) : no_memory(im);
	if (r == 0)
		r = finish(im, ret_report);
	if (im->recording)
		tmigr_recording_abort(im->recording);
	tmigr_sequencer_free(im->seq);
	tmigr_model_free(im->model);
	json_decref(im->info);
	return r;
}
