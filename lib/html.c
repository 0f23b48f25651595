// SPDX-License-Identifier: GPL-2.0-or-later
/* The page: its head, and the sections in their order. */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "version.h"

static const char patterns[] =
	"<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\" "
	"focusable=\"false\"><defs>"
	"<pattern id=\"hatch-big\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
	"patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" style=\"fill:var(--kb)\"/>"
	"<rect width=\"1.2\" height=\"5\" style=\"fill:var(--kbs)\"/></pattern>"
	"<pattern id=\"hatch-unknown\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" "
	"patternTransform=\"rotate(-45)\"><rect width=\"4\" height=\"4\" style=\"fill:var(--bg)\"/>"
	"<rect width=\"1\" height=\"4\" style=\"fill:var(--ru)\"/></pattern>"
	"<pattern id=\"hatch-off\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
	"<rect width=\"5\" height=\"5\" style=\"fill:var(--card)\"/><rect width=\"1\" height=\"5\" "
	"style=\"fill:var(--dim)\"/></pattern></defs></svg>\n";

/* ---- title ---- */

static size_t count_readable(const struct tmigr_runset *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_runs; i++)
		n += set->runs[i].report != NULL;
	return n;
}

/* The window's title names the machine too, to tell one page from another. */
static void put_title(const struct tmigr_html *h, bool in_head)
{
	const struct tmigr_runset *set = h->in->set;
	const json_t *machine = json_object_get(set->runs[0].report, "machine");
	const char *model = tmigr_rep_str(machine, "model");

	fputs("Timer migration and idle states", h->out);
	if (set->n_runs > 1)
		fprintf(h->out, ", %zu runs", set->n_runs);
	if (in_head && set->n_runs == 1 && *model) {
		fputs(": ", h->out);
		tmigr_html_text(h->out, model);
	}
}

/* ---- a run ---- */

static const struct section {
	const char *id, *name;
	int (*put)(struct tmigr_html *h);
} sections[] = {
	{"answer", "Answer", tmigr_html_answer},
	{"metrics", "Metrics", tmigr_html_metrics},
	{"timeline", "Timeline", tmigr_html_timeline},
	{"migrator", "Migrator", tmigr_html_migrator},
	{"hierarchy", "Hierarchy", tmigr_html_hierarchy},
	{"residency", "Idle states", tmigr_html_residency},
	{"remote", "Remote expiry", tmigr_html_remote},
	{"latency", "Cost of idle", tmigr_html_latency},
	{"cost", "Cost of measuring", tmigr_html_cost},
};

#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* Sections that say nothing where there is nothing to say are left out. */
static bool is_there(const struct tmigr_html *h, const char *id)
{
	bool roots = json_array_size(json_object_get(h->report, "roots"));

	if (!strcmp(id, "metrics"))
		return json_array_size(json_object_get(h->report, "metrics"));
	if (!strcmp(id, "migrator"))
		return roots;
	if (!strcmp(id, "hierarchy"))
		return json_array_size(
			json_object_get(json_object_get(h->report, "hierarchy"), "groups"));
	if (!strcmp(id, "remote"))
		return roots || json_array_size(json_object_get(h->report, "remote"));
	if (!strcmp(id, "latency"))
		return json_object_get(h->report, "latency");
	return true;
}

static void take_run(struct tmigr_html *h, size_t i)
{
	const struct tmigr_html_input *in = h->in;

	h->run = &in->set->runs[i];
	h->report = h->run->report;
	h->timeline = in->timelines ? in->timelines[i] : NULL;
	h->timeline_note = in->timeline_notes ? in->timeline_notes[i] : NULL;
}

static int put_sections(struct tmigr_html *h)
{
	int ret = 0;

	for (size_t i = 0; i < N_SECTIONS && ret == 0; i++) {
		if (!is_there(h, sections[i].id))
			continue;
		fputs("<section>\n", h->out);
		ret = sections[i].put(h);
		fputs("</section>\n", h->out);
	}
	return ret;
}

/* A run of several: folded, with its name to link to. */
static int put_one_of(struct tmigr_html *h, size_t i)
{
	const struct tmigr_runset *set = h->in->set;
	const json_t *answer;
	int ret;

	take_run(h, i);
	if (!h->report)
		return 0;
	answer = json_object_get(h->report, "answer");
	snprintf(h->id, sizeof(h->id), "r%zu-", i + 1);
	h->level = 4;
	fputs("<details class=\"one\"><summary>", h->out);
	tmigr_html_text(h->out, set->labels[h->run->label].name);
	fprintf(h->out, ", run %lu: ", h->run->run);
	tmigr_html_text(h->out, tmigr_rep_str(answer, "text"));
	fprintf(h->out, "</summary>\n<article aria-labelledby=\"%shead\"><h3 id=\"%shead\">", h->id,
		h->id);
	tmigr_html_text(h->out, set->labels[h->run->label].name);
	fprintf(h->out, ", run %lu</h3>\n", h->run->run);
	ret = tmigr_html_run_head(h);
	if (ret == 0)
		ret = put_sections(h);
	fputs("</article></details>\n", h->out);
	return ret;
}

/* ---- the page ---- */

static void put_nav(struct tmigr_html *h, bool one)
{
	fputs("<nav aria-label=\"Parts of this page\"><ul>\n", h->out);
	if (!one) {
		fputs("<li><a href=\"#runs\">Runs</a></li>\n", h->out);
		if (h->in->compare)
			fputs("<li><a href=\"#compare\">Comparison</a></li>\n", h->out);
		fputs("<li><a href=\"#each\">Each run</a></li>\n", h->out);
	}
	for (size_t i = 0; one && i < N_SECTIONS; i++)
		if (is_there(h, sections[i].id))
			fprintf(h->out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id,
				sections[i].name);
	fputs("</ul></nav>\n", h->out);
}

static void put_top(struct tmigr_html *h, bool one)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"generator\" content=\"tmigr " TMIGR_VERSION "\">\n"
	      /* Nothing may be loaded and no script run, whatever got into the page. */
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src "
	      "'unsafe-inline'\">\n<title>",
	      h->out);
	put_title(h, true);
	fputs("</title>\n", h->out);
	tmigr_html_style(h);
	fputs("</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the answer</a>\n", h->out);
	fputs(patterns, h->out);
	fputs("<header class=\"page\">\n<h1>", h->out);
	put_title(h, false);
	fputs("</h1>\n", h->out);
	put_nav(h, one);
	fputs("</header>\n<main id=\"main\">\n", h->out);
}

static void put_bottom(struct tmigr_html *h)
{
	fputs("</main>\n<footer>tmigr " TMIGR_VERSION ". All times are measured in ns and rounded "
	      "for reading; the exact figures are in the "
	      "attributes <code>data-v</code> of this page and in report.json. For every CPU and "
	      "every hierarchy they add up to the window.</footer>\n</body>\n</html>\n",
	      h->out);
}

static int put_one(struct tmigr_html *h)
{
	int ret = tmigr_html_run_head(h);

	return ret < 0 ? ret : put_sections(h);
}

static int put_many(struct tmigr_html *h)
{
	const struct tmigr_runset *set = h->in->set;
	int ret = tmigr_html_runs(h);

	if (ret == 0 && h->in->compare)
		ret = tmigr_html_compare(h);
	h->level = 2;
	h->id[0] = '\0';
	tmigr_html_heading(h, "each", "Each run");
	for (size_t i = 0; i < set->n_runs && ret == 0; i++)
		ret = put_one_of(h, i);
	return ret;
}

int tmigr_html_write(const struct tmigr_html_input *in, FILE *out)
{
	struct tmigr_html h = {.out = out, .in = in, .level = 2};
	bool one = in->set->n_runs == 1 && count_readable(in->set) == 1;
	int ret = tmigr_html_states_find(&h);

	if (ret == 0) {
		take_run(&h, 0);
		put_top(&h, one);
		ret = one ? put_one(&h) : put_many(&h);
		put_bottom(&h);
	}
	free(h.states.list);
	if (ret < 0)
		return ret;
	return ferror(out) ? -EIO : 0;
}
