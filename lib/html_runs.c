// SPDX-License-Identifier: GPL-2.0-or-later
/* Several runs: a table of them all, also of those that cannot be read. */
#include "html_priv.h"

#include <stdlib.h>
#include <string.h>

static void put_unread(FILE *out, const struct tmigr_run *run)
{
	fputs("<td colspan=\"5\" class=\"w\"><b class=\"bad\">not read:</b> ", out);
	tmigr_html_text(out, run->problem ? run->problem : run->path);
	fputs("</td></tr>\n", out);
}

static void put_share(FILE *out, const json_t *report)
{
	const json_t *share = json_object_get(json_object_get(report, "answer"), "big_share");

	if (json_is_number(share))
		fprintf(out, "<td class=\"n\" data-v=\"%.9g\">%.1f</td>", json_number_value(share),
			100 * json_number_value(share));
	else
		fputs("<td class=\"n\">-</td>", out);
}

static void put_run(struct tmigr_html *h, size_t i)
{
	const struct tmigr_runset *set = h->in->set;
	const struct tmigr_run *run = &set->runs[i];
	char dur[TMIGR_FMT_MAX];

	fputs("<tr><th scope=\"row\">", h->out);
	tmigr_html_text(h->out, set->labels[run->label].name);
	fputs("</th>", h->out);
	if (!run->report) {
		fprintf(h->out, "<td class=\"n\">%lu</td>", run->run);
		put_unread(h->out, run);
		return;
	}
	fprintf(h->out,
		"<td class=\"n\"><a href=\"#r%zu-head\">%lu</a></td><td class=\"n\" "
		"data-v=\"%llu\">%s</td>",
		i + 1, run->run, (unsigned long long)tmigr_rep_u64(run->report, "window_ns"),
		tmigr_fmt_dur(dur, tmigr_rep_u64(run->report, "window_ns")));
	put_share(h->out, run->report);
	fputs("<td class=\"w\">", h->out);
	tmigr_html_text(h->out, tmigr_rep_str(json_object_get(run->report, "answer"), "text"));
	fputs("</td><td class=\"w\">", h->out);
	if (run->left_out) {
		fputs("<b class=\"bad\">left out:</b> ", h->out);
		tmigr_html_text(h->out, run->left_out);
	} else {
		fputs("counts", h->out);
	}
	fputs("</td></tr>\n", h->out);
}

/* Of all runs: in how many one held it, and how many tell. */
static void put_verdict(struct tmigr_html *h)
{
	const struct tmigr_runset *set = h->in->set;
	size_t n = 0, n_yes = 0, n_no = 0;

	for (size_t i = 0; i < set->n_runs; i++) {
		const json_t *answer = json_object_get(set->runs[i].report, "answer");
		const json_t *holds = json_object_get(answer, "big_holds");

		n += set->runs[i].report != NULL;
		n_yes += json_is_true(holds);
		n_no += json_is_false(holds);
	}
	fprintf(h->out, "<div class=\"answer %s\"><div class=\"verdict\">",
		n_yes		    ? "yes"
		: n_no && n_no == n ? "no"
				    : "open");
	if (n_yes + n_no)
		fprintf(h->out,
			"%zu of %zu</div><p>runs have a big CPU that held the global migrator.",
			n_yes, n_yes + n_no);
	else
		fputs("no answer</div><p>No run tells whether a big CPU held the global migrator: "
		      "the reasons are below.",
		      h->out);
	if (n_yes + n_no && n_yes + n_no < n)
		fprintf(h->out, " Of %zu more there is no answer.", n - n_yes - n_no);
	fputs("</p></div>\n", h->out);
}

int tmigr_html_runs(struct tmigr_html *h)
{
	const struct tmigr_runset *set = h->in->set;

	h->level = 2;
	h->id[0] = '\0';
	tmigr_html_heading(h, "runs", "Does a big CPU hold the global timer migrator?");
	put_verdict(h);
	for (size_t i = 0; i < set->n_notes; i++) {
		fputs("<p class=\"note\"><b>Note:</b> ", h->out);
		tmigr_html_text(h->out, set->notes[i]);
		fputs("</p>\n", h->out);
	}
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Runs\"><table "
	      "class=\"runs\">"
	      "<caption><span>All runs, nothing left out silently</span></caption>\n<thead><tr><th "
	      "scope=\"col\">label</th><th scope=\"col\" class=\"n\">run</th><th scope=\"col\" "
	      "class=\"n\">window</th><th scope=\"col\" class=\"n\">big held %</th><th "
	      "scope=\"col\">answer</th><th scope=\"col\">in means</th></tr></thead><tbody>\n",
	      h->out);
	for (size_t i = 0; i < set->n_runs; i++)
		put_run(h, i);
	fputs("</tbody></table></div>\n", h->out);
	return 0;
}
