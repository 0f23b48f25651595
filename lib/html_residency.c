// SPDX-License-Identifier: GPL-2.0-or-later
/* Idle states by class and CPU, as bars and tables; remote expiry. */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Tables with more rows than this are folded. */
#define LONG_TABLE 32

/* Room for running, the states, offline, unknown; @css holds the states' names. */
struct bar {
	struct tmigr_html_part *parts;
	char (*css)[TMIGR_CSS_MAX];
	size_t n;
};

static int bar_new(struct bar *b, size_t n_states)
{
	*b = (struct bar){calloc(n_states + 3, sizeof(*b->parts)),
			  calloc(n_states + 1, sizeof(*b->css)), 0};
	return b->parts && b->css ? 0 : -ENOMEM;
}

static void bar_free(struct bar *b)
{
	free(b->parts);
	free(b->css);
}

static void bar_add(struct bar *b, const char *name, const char *css, __u64 ns)
{
	b->parts[b->n++] = (struct tmigr_html_part){name, css, ns};
}

/* ---- by class ---- */

static void class_bar(struct tmigr_html *h, const struct tmigr_residency *r, size_t c,
		      struct bar *b)
{
	const json_t *cl = json_array_get(json_object_get(h->report, "classes"), c);
	const struct tmigr_class_time *ct = &r->classes[c];
	__u64 whole = tmigr_rep_u64(h->report, "window_ns") * ct->n_cpus;

	b->n = 0;
	bar_add(b, "running", "run", ct->running_ns);
	for (size_t k = 0; k < r->states.n; k++) {
		tmigr_html_state_css(h, r->states.names[k], b->css[k]);
		bar_add(b, r->states.names[k], b->css[k], r->sums[c * r->states.n + k].time_ns);
	}
	bar_add(b, "offline", "off", ct->offline_ns);
	bar_add(b, "unknown", "ru", ct->unknown_ns);
	fputs("<div class=\"cls\"><div><b>", h->out);
	tmigr_html_text(h->out, tmigr_rep_str(cl, "name"));
	fprintf(h->out, "</b> <span class=\"dim\">%llu CPU%s</span></div>\n",
		(unsigned long long)ct->n_cpus, ct->n_cpus == 1 ? "" : "s");
	tmigr_html_stack(h->out, b->parts, b->n, whole, "stack");
	tmigr_html_legend(h->out, b->parts, b->n, whole);
	fputs("</div>\n", h->out);
}

static int put_classes(struct tmigr_html *h, const struct tmigr_residency *r)
{
	struct bar b;
	char *title = NULL;
	size_t size = 0;
	FILE *mem;
	int ret = bar_new(&b, r->states.n);

	for (size_t c = 0; ret == 0 && c < r->n_classes; c++)
		class_bar(h, r, c, &b);
	bar_free(&b);
	mem = ret == 0 ? open_memstream(&title, &size) : NULL;
	if (!mem)
		return -ENOMEM;
	tmigr_text_residency_title(h->report, mem);
	ret = fclose(mem) ? -ENOMEM : 0;
	if (ret == 0)
		ret = tmigr_html_table(h->out, tmigr_table_classes(h->report, r), title, NULL, NULL,
				       NULL);
	free(title);
	return ret;
}

/* ---- by CPU ---- */

struct cpu_bars {
	struct tmigr_html *h;
	struct bar b;
};

static void cpu_bar(void *arg, size_t row, FILE *out)
{
	struct cpu_bars *l = arg;
	const json_t *cpu = json_array_get(json_object_get(l->h->report, "cpus"), row), *s;
	size_t i;

	l->b.n = 0;
	bar_add(&l->b, "running", "run", tmigr_rep_u64(cpu, "running_ns"));
	json_array_foreach (json_object_get(cpu, "states"), i, s) {
		if (i == TMIGR_STATES)
			break;
		tmigr_html_state_css(l->h, tmigr_rep_str(s, "name"), l->b.css[i]);
		bar_add(&l->b, tmigr_rep_str(s, "name"), l->b.css[i], tmigr_rep_u64(s, "time_ns"));
	}
	bar_add(&l->b, "offline", "off", tmigr_rep_u64(cpu, "offline_ns"));
	bar_add(&l->b, "unknown", "ru", tmigr_rep_u64(cpu, "unknown_ns"));
	tmigr_html_stack(out, l->b.parts, l->b.n, tmigr_rep_u64(l->h->report, "window_ns"), "mini");
}

static int put_cpus(struct tmigr_html *h, const struct tmigr_residency *r)
{
	size_t n = json_array_size(json_object_get(h->report, "cpus"));
	struct cpu_bars l = {.h = h};
	int ret = bar_new(&l.b, TMIGR_STATES);

	if (ret == 0) {
		if (n > LONG_TABLE)
			fprintf(h->out,
				"<details><summary>Residency of each of %zu CPUs</summary>\n", n);
		ret = tmigr_html_table(h->out, tmigr_table_cpus(h->report, r),
				       "Residency per CPU, seconds", "Share of the window", cpu_bar,
				       &l);
		if (n > LONG_TABLE)
			fputs("</details>\n", h->out);
	}
	bar_free(&l.b);
	return ret;
}

int tmigr_html_residency(struct tmigr_html *h)
{
	struct tmigr_residency r = {0};
	int ret = tmigr_residency_sum(h->report, &r);

	tmigr_html_heading(h, "residency", "Idle-state residency");
	if (ret == 0)
		ret = put_classes(h, &r);
	fputs("<p class=\"dim\"><b>Above</b> and <b>below</b> are cpuidle&#39;s own: the interval "
	      "was "
	      "too short for the state (too deep), or long enough for a deeper one (too "
	      "shallow).</p>\n",
	      h->out);
	if (ret == 0)
		ret = put_cpus(h, &r);
	tmigr_residency_free(&r);
	return ret;
}

/* ---- remote expiry ---- */

int tmigr_html_remote(struct tmigr_html *h)
{
	size_t more = 0;
	__u64 rest = 0;
	int ret;

	tmigr_html_heading(h, "remote", "Remote expiry");
	if (!json_array_size(json_object_get(h->report, "remote"))) {
		fputs("<p>None: every CPU ran its own timers.</p>\n", h->out);
		return 0;
	}
	fputs("<p>Timers of an idle CPU that another CPU ran, and the idle states that the "
	      "executing "
	      "CPU was woken from for it.</p>\n",
	      h->out);
	ret = tmigr_html_table(h->out, tmigr_table_remote(h->report),
			       "Remote expiries by class of the executing CPU and of the target",
			       NULL, NULL, NULL);
	if (ret == 0)
		ret = tmigr_html_table(h->out, tmigr_table_pairs(h->report, &more, &rest),
				       "The most frequent pairs of CPUs", NULL, NULL, NULL);
	if (ret == 0 && more)
		fprintf(h->out, "<p class=\"dim\">and %zu more pairs with %llu expiries</p>\n",
			more, (unsigned long long)rest);
	return ret;
}
