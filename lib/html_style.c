// SPDX-License-Identifier: GPL-2.0-or-later
/* The style sheet (html.css), and the colours of idle states in it. */
#include "html_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char sheet[] =
#include "html.inc"
	;

/* ---- colours of idle states ---- */

static int by_depth(const void *pa, const void *pb)
{
	const struct tmigr_html_state *a = pa, *b = pb;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int add_state(struct tmigr_html_states *l, const char *name, __u64 index)
{
	struct tmigr_html_state *list;

	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->list[i].name, name))
			continue;
		if (index < l->list[i].index)
			l->list[i].index = index;
		return 0;
	}
	list = reallocarray(l->list, l->n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	l->list = list;
	list[l->n++] = (struct tmigr_html_state){name, index};
	return 0;
}

int tmigr_html_states_find(struct tmigr_html *h)
{
	const struct tmigr_runset *set = h->in->set;
	const json_t *cpu, *s;
	size_t i, k;
	int ret = 0;

	for (size_t r = 0; r < set->n_runs; r++)
		json_array_foreach (json_object_get(set->runs[r].report, "cpus"), i, cpu)
			json_array_foreach (json_object_get(cpu, "states"), k, s)
				if (ret == 0)
					ret = add_state(&h->states, tmigr_rep_str(s, "name"),
							tmigr_rep_u64(s, "index"));
	if (h->states.n)
		qsort(h->states.list, h->states.n, sizeof(*h->states.list), by_depth);
	return ret;
}

void tmigr_html_state_css(const struct tmigr_html *h, const char *name, char buf[TMIGR_CSS_MAX])
{
	for (size_t i = 0; i < h->states.n; i++) {
		if (strcmp(h->states.list[i].name, name))
			continue;
		snprintf(buf, TMIGR_CSS_MAX, "s%zu", i);
		return;
	}
	snprintf(buf, TMIGR_CSS_MAX, "%s", !strcmp(name, "running") ? "run" : "ru");
}

/* Between the shallowest state's colour and the deepest one's. */
static void put_ramp(FILE *out, const struct tmigr_html_states *l, const unsigned char from[3],
		     const unsigned char to[3])
{
	for (size_t i = 0; i < l->n; i++) {
		size_t whole = l->n > 1 ? l->n - 1 : 1, at = l->n > 1 ? i : 1;

		fprintf(out, "--s%zu:#", i);
		for (int c = 0; c < 3; c++)
			fprintf(out, "%02x",
				(unsigned int)((from[c] * (whole - at) + to[c] * at) / whole));
		putc(';', out);
	}
}

static void put_states(FILE *out, const struct tmigr_html_states *l)
{
	for (size_t i = 0; i < l->n; i++)
		fprintf(out, ".s%zu{fill:var(--s%zu);background:var(--s%zu)}", i, i, i);
}

/*
 * One hue from dark to light, the deeper the nearer to the paper: a CPU that sleeps
 * fades out.
 */
static void fill_in(const struct tmigr_html *h, const char *what, size_t len)
{
	static const unsigned char light[2][3] = {{0x0f, 0x76, 0x6e}, {0xcf, 0xe9, 0xe5}};
	static const unsigned char dark[2][3] = {{0x2d, 0xd4, 0xbf}, {0x17, 0x47, 0x4a}};

	if (!strncmp(what, "LIGHT", len))
		put_ramp(h->out, &h->states, light[0], light[1]);
	else if (!strncmp(what, "DARK", len))
		put_ramp(h->out, &h->states, dark[0], dark[1]);
	else if (!strncmp(what, "STATES", len))
		put_states(h->out, &h->states);
}

void tmigr_html_style(const struct tmigr_html *h)
{
	const char *at = sheet, *from, *to;

	fputs("<style>\n", h->out);
	while ((from = strstr(at, "@@")) && (to = strstr(from + 2, "@@"))) {
		fwrite(at, (size_t)(from - at), 1, h->out);
		fill_in(h, from + 2, (size_t)(to - from - 2));
		at = to + 2;
	}
	fputs(at, h->out);
	fputs("</style>\n", h->out);
}

const char *tmigr_html_class_css(const json_t *report, int class_idx)
{
	static const char *const mid[] = {"k1", "k2", "k3", "k4"};
	const json_t *classes = json_object_get(report, "classes");
	const json_t *c = json_array_get(classes, class_idx < 0 ? 0 : (size_t)class_idx);

	if (class_idx <= 0 || json_array_size(classes) < 2)
		return "k0";
	if (tmigr_rep_is_big(classes, tmigr_rep_str(c, "name")))
		return "kb";
	return mid[(size_t)(class_idx - 1) % 4];
}
