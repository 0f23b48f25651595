// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make-recording [OPTION...] FILE: a recording of a made-up machine, as long as asked
 * for, with names and facts as asked for.
 *
 *	-n N      records (20000)
 *	-c N      CPUs (8)
 *	-l NAME   of the lower class
 *	-s NAME   of every CPU's second idle state
 *	-i FILE   JSON object that goes into the report (END's "info")
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/recording.h"

#include "../../bench/synth.h"

static int write_stream(struct tmigr_recording_writer *w, const struct stream *s,
			struct tmigr_err *err)
{
	size_t at = 0;
	int ret = 0;

	for (size_t i = 0; i < s->n_marks && ret >= 0; i++) {
		ret = tmigr_recording_events(w, s->recs + at, s->marks[i].at - at, err);
		if (ret >= 0)
			ret = tmigr_recording_mark(w, s->marks[i].watermark_ns, err);
		at = s->marks[i].at;
	}
	return ret < 0 ? ret : tmigr_recording_events(w, s->recs + at, s->n - at, err);
}

static int write_recording(const char *path, const struct stream *s, json_t *info)
{
	struct tmigr_err err = {""};
	struct tmigr_recording_writer *w;
	json_t *meta = json_pack("{so sI s{ss}}", "topology", tmigr_topology_to_json(s->topo),
				 "start_ns", (json_int_t)s->start_ns, "info", "tool", "made up");
	json_t *end = json_pack("{sI sn so}", "end_ns", (json_int_t)s->end_ns, "totals", "info",
				info ? info : json_object());
	int ret = tmigr_recording_create(path, true, meta, &w, &err);

	if (ret >= 0) {
		ret = write_stream(w, s, &err);
		if (ret < 0)
			tmigr_recording_abort(w);
		else
			ret = tmigr_recording_end(w, end, &err);
	}
	if (ret < 0)
		fprintf(stderr, "make-recording: %s\n", err.text);
	json_decref(meta);
	json_decref(end);
	return ret < 0;
}

static void set_name(char *name, size_t size, const char *text)
{
	if (text)
		snprintf(name, size, "%s", text);
}

int main(int argc, char **argv)
{
	const char *class = NULL, *state = NULL;
	size_t count = 20000, n_cpus = 8;
	struct stream s = {0};
	json_t *info = NULL;
	int c;

	while ((c = getopt(argc, argv, "n:c:l:s:i:")) != -1) {
		if (c == 'n')
			count = strtoul(optarg, NULL, 10);
		else if (c == 'c')
			n_cpus = strtoul(optarg, NULL, 10);
		else if (c == 'l')
			class = optarg;
		else if (c == 's')
			state = optarg;
		else if (c == 'i')
			info = json_load_file(optarg, 0, NULL);
	}
	if (optind + 1 != argc)
		return 2;
	synth_stream(&s, n_cpus, count, 2000);
	set_name(s.topo->driver, sizeof(s.topo->driver), "made_up");
	set_name(s.topo->classes[0].name, sizeof(s.topo->classes[0].name), class);
	for (size_t i = 0; i < s.topo->n_cpus; i++)
		set_name(s.topo->cpus[i].states[1].name, sizeof(s.topo->cpus[i].states[1].name),
			 state);
	c = write_recording(argv[optind], &s, info);
	free(s.topo->cpus);
	free(s.topo->classes);
	free(s.topo);
	free(s.recs);
	free(s.marks);
	return c;
}
