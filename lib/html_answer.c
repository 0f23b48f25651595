// SPDX-License-Identifier: GPL-2.0-or-later
/* What was run, the answer, what to know before trusting it, what it cost. */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void fact(FILE *out, const char *name, const char *text, const char *css)
{
	if (!text || !*text)
		return;
	fprintf(out, "<dt>%s</dt><dd%s%s%s>", name, *css ? " class=\"" : "", css, *css ? "\"" : "");
	tmigr_html_text(out, text);
	fputs("</dd>\n", out);
}

int tmigr_html_run_head(struct tmigr_html *h)
{
	const json_t *r = h->report, *machine = json_object_get(r, "machine");
	const json_t *kernel = json_object_get(r, "kernel");
	char *cpus = tmigr_text_machine(r), *command = tmigr_text_command(r);
	char *run = tmigr_text_run_line(r), *energy = tmigr_text_energy_line(r);
	const char *model = tmigr_rep_str(machine, "model"), *engine = tmigr_rep_str(r, "engine");
	char dur[TMIGR_FMT_MAX];
	int ret = cpus && command ? 0 : -ENOMEM;

	fputs("<dl class=\"facts\">\n", h->out);
	fact(h->out, "Machine", *model ? model : tmigr_rep_str(machine, "host"), "");
	fact(h->out, "CPUs", cpus, "");
	fact(h->out, "Kernel", tmigr_rep_str(kernel, "release"), "");
	fprintf(h->out, "<dt>Window</dt><dd data-v=\"%llu\">%s</dd>\n",
		(unsigned long long)tmigr_rep_u64(r, "window_ns"),
		tmigr_fmt_dur(dur, tmigr_rep_u64(r, "window_ns")));
	fact(h->out, "Started", tmigr_rep_str(r, "start_time"), "");
	fact(h->out, "Run", run, "");
	fact(h->out, "Command", command, "mono");
	if (strcmp(engine, "own") != 0)
		fact(h->out, "Measured by", engine, "");
	fact(h->out, "Energy", energy, "");
	fact(h->out, "Read from", h->run->path, "mono");
	fputs("</dl>\n", h->out);
	free(run);
	free(energy);
	free(cpus);
	free(command);
	return ret;
}

/* ---- the answer ---- */

static void tile(FILE *out, const char *key, __u64 v, const char *figure, const char *what)
{
	fprintf(out, "<li><b data-k=\"%s\" data-v=\"%llu\">%s</b><span>%s</span></li>\n", key,
		(unsigned long long)v, figure, what);
}

/* Held, avoidable and unknown time, over all roots and big classes. */
static void put_tiles(struct tmigr_html *h)
{
	const json_t *classes = json_object_get(h->report, "classes"), *root, *c;
	const json_t *share = json_object_get(json_object_get(h->report, "answer"), "big_share");
	__u64 big = 0, avoidable = 0, unknown = 0, window = 0, nobody = 0;
	char buf[TMIGR_FMT_MAX];
	size_t i, k;

	json_array_foreach (json_object_get(h->report, "roots"), i, root) {
		window += tmigr_rep_u64(h->report, "window_ns");
		unknown += tmigr_rep_u64(root, "unknown_ns");
		nobody += tmigr_rep_u64(root, "duty_ns") + tmigr_rep_u64(root, "free_ns");
		json_array_foreach (json_object_get(root, "classes"), k, c)
			if (tmigr_rep_is_big(classes, tmigr_rep_str(c, "name"))) {
				big += tmigr_rep_u64(c, "held_ns");
				avoidable += tmigr_rep_u64(c, "avoidable_ns");
			}
	}
	if (!window)
		return;
	fputs("<ul class=\"tiles\">\n", h->out);
	if (json_is_number(share)) {
		tile(h->out, "big_held_ns", big, tmigr_fmt_dur(buf, big),
		     "held by a CPU of the biggest class");
		tile(h->out, "avoidable_ns", avoidable, tmigr_fmt_dur(buf, avoidable),
		     "of that avoidable: a smaller CPU was awake");
	}
	tile(h->out, "nobody_ns", nobody, tmigr_fmt_dur(buf, nobody),
	     "nobody held it: all CPUs idle");
	tile(h->out, "unknown_ns", unknown, tmigr_fmt_dur(buf, unknown),
	     unknown ? "not known: records were lost, or not learnt yet" : "not known");
	fputs("</ul>\n", h->out);
}

static void put_note(void *arg, const char *text)
{
	FILE *out = arg;

	fputs("<p class=\"note\"><b>Note:</b> ", out);
	tmigr_html_text(out, text);
	fputs("</p>\n", out);
}

/* In percent, as the answer's sentence has it. */
static void put_verdict(FILE *out, const json_t *share)
{
	double pct = 100 * json_number_value(share);

	if (!json_is_number(share))
		fputs("no answer", out);
	else if (pct > 0 && pct < 0.05)
		fputs("&lt;0.1&nbsp;%", out);
	else
		fprintf(out, "%.*f&nbsp;%%", pct > 0 ? 1 : 0, pct);
}

/* The sentence on remote expiries, in which the text breaks the line. */
static void put_remote_line(struct tmigr_html *h)
{
	char *line = NULL, *rest;
	size_t size = 0;
	FILE *mem = open_memstream(&line, &size);

	if (!mem)
		return;
	tmigr_text_remote_line(h->report, mem);
	if (fclose(mem) == 0 && *line) {
		fputs("<br><span class=\"dim\">", h->out);
		for (rest = line; *rest; rest += strspn(rest, "\n ")) {
			size_t len = strcspn(rest, "\n");

			if (rest > line)
				putc(' ', h->out);
			if (rest[len])
				rest[len++] = '\0';
			tmigr_html_text(h->out, rest);
			rest += len;
		}
		fputs(".</span>", h->out);
	}
	free(line);
}

int tmigr_html_answer(struct tmigr_html *h)
{
	const json_t *answer = json_object_get(h->report, "answer");
	const json_t *holds = json_object_get(answer, "big_holds");
	const json_t *share = json_object_get(answer, "big_share");
	const char *css = json_is_true(holds) ? "yes" : json_is_false(holds) ? "no" : "open";

	tmigr_html_heading(h, "answer", "Does a big CPU hold the global timer migrator?");
	fprintf(h->out, "<div class=\"answer %s\"><div class=\"verdict\">", css);
	if (json_is_number(share))
		fprintf(h->out, "<b data-k=\"big_share\" data-v=\"%.9g\">",
			json_number_value(share));
	put_verdict(h->out, share);
	fputs(json_is_number(share) ? "</b><span>of the window</span></div><p>" : "</div><p>",
	      h->out);
	tmigr_html_text(h->out, tmigr_rep_str(answer, "text"));
	put_remote_line(h);
	fputs("</p></div>\n", h->out);
	put_tiles(h);
	if (h->run->left_out) {
		fputs("<p class=\"note\"><b>This run does not count:</b> ", h->out);
		tmigr_html_text(h->out, h->run->left_out);
		fputs("</p>\n", h->out);
	}
	tmigr_text_notes(h->report, put_note, h->out);
	return 0;
}

/* ---- metrics: what the command printed ---- */

int tmigr_html_metrics(struct tmigr_html *h)
{
	const json_t *metrics = json_object_get(h->report, "metrics"), *m;
	char buf[TMIGR_FMT_MAX];
	size_t i;

	if (!json_array_size(metrics))
		return 0;
	tmigr_html_heading(h, "metrics", "What the command printed");
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Metrics\"><table>"
	      "<caption><span>Metrics</span></caption>\n<thead><tr><th "
	      "scope=\"col\">metric</th><th "
	      "scope=\"col\" class=\"n\">value</th><th scope=\"col\">unit</th><th "
	      "scope=\"col\">better</th></tr></thead>\n<tbody>\n",
	      h->out);
	json_array_foreach (metrics, i, m) {
		double v = json_number_value(json_object_get(m, "value"));

		fputs("<tr><th scope=\"row\">", h->out);
		tmigr_html_text(h->out, tmigr_rep_str(m, "name"));
		tmigr_fmt_metric(buf, sizeof(buf), v);
		fprintf(h->out, "</th><td class=\"n\" data-v=\"%.17g\">%s</td><td>", v, buf);
		tmigr_html_text(h->out, tmigr_rep_str(m, "unit"));
		fputs("</td><td>", h->out);
		tmigr_html_text(h->out, tmigr_rep_str(m, "better"));
		fputs("</td></tr>\n", h->out);
	}
	fputs("</tbody></table></div>\n", h->out);
	return 0;
}

/* ---- the observer's cost, and loss ---- */

static void put_share(FILE *out, __u64 ns, __u64 whole)
{
	fprintf(out, " <span class=\"dim\">(%.4f %% of all CPUs&#39; time)</span>",
		100.0 * (double)ns / (double)whole);
}

static void cost_time(struct tmigr_html *h, const char *name, const char *key)
{
	const json_t *obs = json_object_get(h->report, "observer");
	__u64 whole = tmigr_rep_u64(h->report, "window_ns") *
		      json_array_size(json_object_get(h->report, "cpus"));
	__u64 ns = tmigr_rep_u64(obs, key);
	char buf[TMIGR_FMT_MAX];

	if (!json_is_integer(json_object_get(obs, key))) {
		fprintf(h->out, "<dt>%s</dt><dd data-k=\"%s\">not measured</dd>\n", name, key);
		return;
	}
	fprintf(h->out, "<dt>%s</dt><dd data-k=\"%s\" data-v=\"%llu\">%s", name, key,
		(unsigned long long)ns, tmigr_fmt_dur(buf, ns));
	if (whole)
		put_share(h->out, ns, whole);
	fputs("</dd>\n", h->out);
}

static void cost_count(struct tmigr_html *h, const char *name, const char *key)
{
	const json_t *v = json_object_get(json_object_get(h->report, "observer"), key);

	if (json_is_integer(v))
		fprintf(h->out, "<dt>%s</dt><dd data-k=\"%s\" data-v=\"%lld\">%lld</dd>\n", name,
			key, (long long)json_integer_value(v), (long long)json_integer_value(v));
}

int tmigr_html_cost(struct tmigr_html *h)
{
	char *lost = tmigr_text_lost(h->report), *observer = tmigr_text_observer(h->report);
	int ret = lost && observer ? 0 : -ENOMEM;

	tmigr_html_heading(h, "cost", "What the measuring itself cost");
	if (ret == 0) {
		fputs("<p>", h->out);
		tmigr_html_text(h->out, observer);
		fputs("</p>\n", h->out);
	}
	fputs("<dl class=\"facts\">\n", h->out);
	cost_time(h, "BPF programs", "bpf_ns");
	cost_count(h, "Their runs", "bpf_runs");
	cost_time(h, "Own CPU time", "cpu_ns");
	cost_count(h, "Own wake-ups", "wakeups");
	cost_count(h, "On CPU", "housekeeping_cpu");
	cost_count(h, "Records written", "records");
	fact(h->out, "Lost", lost, "");
	fputs("</dl>\n", h->out);
	free(lost);
	free(observer);
	return ret;
}
