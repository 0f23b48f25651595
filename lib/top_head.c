// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines above the list: what all samples say together, and the cost. */
#include "top_priv.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROOTS 3

/* What is left out, one after the other, where the window is low. */
enum brevity { ALL, ONE_LINE_ANSWER, NO_SHARE, NO_KEY, NO_COST, NO_ROOTS, SHORTEST };

static const json_t *get(const json_t *obj, const char *key)
{
	return json_object_get(obj, key);
}

/* "15.9 %"; nothing is "0 %". */
static const char *percent(char buf[TMIGR_FMT_MAX], __u64 part, __u64 whole)
{
	char pct[TMIGR_FMT_MAX];

	snprintf(buf, TMIGR_FMT_MAX, "%s %%", part ? tmigr_fmt_pct(pct, part, whole) : "0");
	return buf;
}

/* " (4 LITTLE, 4 big)" */
static void put_classes(struct top_page *p, const struct top_facts *f)
{
	size_t class, i, n;

	if (f->n_classes < 2)
		return;
	for (class = 0; class < f->n_classes; class ++) {
		const char *name = "";

		for (n = i = 0; i < f->n_cpus; i++)
			if (f->cpus[i].class_idx == class) {
				name = f->cpus[i].class;
				n++;
			}
		if (n)
			top_cell(p, TMIGR_TOP_PLAIN, "%s%zu %s", class ? ", " : " (", n, name);
	}
	top_cell(p, TMIGR_TOP_PLAIN, ")");
}

static void put_title(struct top_page *p, const struct tmigr_top *top, const struct top_facts *f,
		      const struct tmigr_top_opts *o)
{
	char buf[TMIGR_FMT_MAX];

	top_row(p);
	top_cell(p, TMIGR_TOP_BOLD, "tmigr top");
	if (top->hold)
		top_cell(p, TMIGR_TOP_WARN, "  PAUSED");
	top_cell(p, TMIGR_TOP_PLAIN, "  %zu CPU%s", f->n_cpus, f->n_cpus == 1 ? "" : "s");
	put_classes(p, f);
	if (tmigr_rep_u64(top->sum, "samples") > 1)
		top_cell(p, TMIGR_TOP_PLAIN, "  %s so far,",
			 tmigr_fmt_dur(buf, tmigr_rep_u64(top->sum, "window_ns")));
	else
		top_cell(p, TMIGR_TOP_PLAIN, " ");
	top_cell(p, TMIGR_TOP_PLAIN, " window %s", tmigr_fmt_dur(buf, f->window_ns));
	if (o->source && top_row_columns(p) + 2 + top_columns(o->source) <= o->width)
		top_cell(p, TMIGR_TOP_DIM, "  %s", o->source);
}

static void put_answer(struct top_page *p, const struct tmigr_top *top, size_t width, bool utf8,
		       size_t max)
{
	const json_t *answer = get(top->sum, "answer"), *big = get(answer, "big_holds");
	enum tmigr_top_attr attr = TMIGR_TOP_PLAIN;
	char text[512];

	if (json_is_true(big))
		attr = TMIGR_TOP_YES;
	else if (json_is_false(big))
		attr = TMIGR_TOP_NO;
	else if (!json_is_null(get(answer, "big_share")))
		attr = TMIGR_TOP_UNKNOWN;
	top_clean(text, sizeof(text), tmigr_rep_str(answer, "text"), utf8);
	top_wrapped(p, attr, "So far: ", text, width, strlen("So far: "), max);
}

static const char *share(char buf[TMIGR_FMT_MAX], const json_t *answer)
{
	const json_t *v = get(answer, "big_share");
	/* Real numbers here, to be printed with one digit. */
	double part = json_is_number(v) ? json_number_value(v) * 1e9 : 0;

	if (!json_is_number(v))
		return "-";
	return percent(buf, part > 0 && part < 1 ? 1 : (__u64)part, 1000000000);
}

static void put_share(struct top_page *p, const struct tmigr_top *top)
{
	const json_t *sum = get(top->sum, "answer"), *last = get(top->report, "answer");
	char buf[TMIGR_FMT_MAX];

	if (json_is_null(get(sum, "big_share")) && json_is_null(get(last, "big_share")))
		return;
	top_row(p);
	top_cell(p, TMIGR_TOP_BOLD, "Big share: ");
	top_cell(p, TMIGR_TOP_PLAIN, "%s so far, ", share(buf, sum));
	top_cell(p, TMIGR_TOP_PLAIN, "%s in the last window", share(buf, last));
}

/* ---- roots ---- */

static const struct top_cpu *cpu_of(const struct top_facts *f, __u64 cpu)
{
	for (size_t i = 0; i < f->n_cpus; i++)
		if (f->cpus[i].cpu == cpu)
			return &f->cpus[i];
	return NULL;
}

/* " CPU 4 (big) now;", as far as the hierarchy of this moment tells. */
static void write_now(FILE *out, const struct tmigr_top *top, const struct top_facts *f,
		      const char *group)
{
	const json_t *found = tmigr_rep_find(get(top->tree, "roots"), "group", group, NULL);
	const struct top_cpu *cpu;
	const char *regime;

	if (!found)
		return;
	regime = tmigr_rep_str(found, "regime");
	cpu = cpu_of(f, tmigr_rep_u64(found, "cpu"));
	if (!strcmp(regime, "held") && cpu && f->n_classes > 1)
		fprintf(out, "CPU %u (%s)", cpu->cpu, cpu->class);
	else if (!strcmp(regime, "held") && cpu)
		fprintf(out, "CPU %u", cpu->cpu);
	else if (!strcmp(regime, "duty") || !strcmp(regime, "free"))
		fputs("nobody", out);
	else
		fputs(strcmp(regime, "handover") ? "unknown" : "hand-over", out);
	fputs(" now; ", out);
}

/* What has been so far: "LITTLE 68.7 %, big 15.9 %, nobody 15.4 %". */
static void write_shares(FILE *out, const struct top_facts *f, const json_t *root, __u64 whole,
			 bool utf8)
{
	const __u64 handover = tmigr_rep_u64(root, "handover_ns");
	const __u64 unknown = tmigr_rep_u64(root, "unknown_ns");
	char name[TOP_NAME], buf[TMIGR_FMT_MAX];
	const json_t *c;
	size_t i;

	json_array_foreach (get(root, "classes"), i, c) {
		top_clean(name, sizeof(name), tmigr_rep_str(c, "name"), utf8);
		fprintf(out, "%s %s, ", f->n_classes > 1 ? name : "held",
			percent(buf, tmigr_rep_u64(c, "held_ns"), whole));
	}
	fprintf(out, "nobody %s",
		percent(buf, tmigr_rep_u64(root, "duty_ns") + tmigr_rep_u64(root, "free_ns"),
			whole));
	if (handover)
		fprintf(out, ", hand-over %s", percent(buf, handover, whole));
	if (unknown)
		fprintf(out, ", unknown %s", percent(buf, unknown, whole));
}

static void put_root(struct top_page *p, const struct tmigr_top *top, const struct top_facts *f,
		     const json_t *root, const struct tmigr_top_opts *o)
{
	char name[TOP_NAME], first[TOP_NAME + 2], *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		p->failed = true;
		return;
	}
	top_clean(name, sizeof(name), tmigr_rep_str(root, "group"), o->utf8);
	snprintf(first, sizeof(first), "%s: ", name);
	write_now(out, top, f, tmigr_rep_str(root, "group"));
	fputs("so far ", out);
	write_shares(out, f, root, tmigr_rep_u64(top->sum, "window_ns"), o->utf8);
	if (fclose(out))
		p->failed = true;
	else
		top_wrapped(p, TMIGR_TOP_PLAIN, first, text, o->width, top_columns(first), 2);
	free(text);
}

static void put_roots(struct top_page *p, const struct tmigr_top *top, const struct top_facts *f,
		      const struct tmigr_top_opts *o)
{
	const json_t *roots = get(top->sum, "roots"), *root;
	size_t i, n = json_array_size(roots);

	json_array_foreach (roots, i, root) {
		if (i == MAX_ROOTS - 1 && n > MAX_ROOTS) {
			top_row(p);
			top_cell(p, TMIGR_TOP_DIM, "... and %zu more hierarchies", n - i);
			break;
		}
		put_root(p, top, f, root, o);
	}
}

/* ---- losses and cost ---- */

static void put_lost(struct top_page *p, const struct tmigr_top *top)
{
	const json_t *lost = get(top->sum, "lost");
	__u64 records = tmigr_rep_u64(lost, "records");
	__u64 updates = tmigr_rep_u64(lost, "group_updates");
	__u64 expiries = tmigr_rep_u64(lost, "remote_expiries");

	top_row(p);
	top_cell(p, TMIGR_TOP_BOLD, "Lost: ");
	if (records || updates)
		top_cell(p, TMIGR_TOP_WARN, "%llu records, %llu updates",
			 (unsigned long long)records, (unsigned long long)updates);
	if (expiries)
		top_cell(p, TMIGR_TOP_WARN, "%s%llu remote expiries",
			 records || updates ? ", " : "", (unsigned long long)expiries);
	if (!records && !updates && !expiries)
		top_cell(p, TMIGR_TOP_PLAIN, "0");
}

static void cost_text(char *text, size_t size, const json_t *report)
{
	const json_t *obs = get(report, "observer"), *v;
	const __u64 window = tmigr_rep_u64(report, "window_ns");
	const double s = window ? (double)window / 1e9 : 1;
	size_t n;

	if (json_is_integer(get(obs, "bpf_ns")))
		snprintf(text, size, "BPF %.2f %%", (double)tmigr_rep_u64(obs, "bpf_ns") / s / 1e7);
	else
		snprintf(text, size, "BPF not measured");
	if (json_is_integer(get(obs, "cpu_ns"))) {
		n = strlen(text);
		snprintf(text + n, size - n, " + tool %.2f %% of a CPU",
			 (double)tmigr_rep_u64(obs, "cpu_ns") / s / 1e7);
	}
	if (json_is_integer(get(obs, "wakeups"))) {
		n = strlen(text);
		snprintf(text + n, size - n, ", %.1f wake-ups/s",
			 (double)tmigr_rep_u64(obs, "wakeups") / s);
	}
	v = get(obs, "housekeeping_cpu");
	if (json_is_integer(v)) {
		n = strlen(text);
		snprintf(text + n, size - n, " on CPU %llu",
			 (unsigned long long)json_integer_value(v));
	}
}

static void put_cost(struct top_page *p, const struct tmigr_top *top, size_t width)
{
	char text[160];

	put_lost(p, top);
	cost_text(text, sizeof(text), top->report);
	if (top_row_columns(p) + strlen("  Observer: ") + strlen(text) > width)
		top_row(p);
	else
		top_cell(p, TMIGR_TOP_PLAIN, "  ");
	top_cell(p, TMIGR_TOP_BOLD, "Observer: ");
	top_cell(p, TMIGR_TOP_PLAIN, "%s", text);
}

/* ---- key of the bars ---- */

static void put_piece(struct top_page *p, const struct top_facts *f, unsigned int slot,
		      const char *name, const struct tmigr_top_opts *o)
{
	if (top_row_columns(p) + 4 + top_columns(name) > o->width)
		top_row(p);
	if (top_row_columns(p))
		top_cell(p, TMIGR_TOP_PLAIN, "  ");
	top_cell(p, top_slot_attr(slot), "%s", top_glyph(f, slot, o->utf8));
	top_cell(p, TMIGR_TOP_PLAIN, " %s", name);
}

static void put_key(struct top_page *p, const struct top_facts *f, const struct tmigr_top_opts *o)
{
	unsigned int k;

	top_row(p);
	put_piece(p, f, TMIGR_SLOT_RUNNING, "running", o);
	for (k = 0; k < f->n_states; k++)
		if (*f->names[k])
			put_piece(p, f, TMIGR_SLOT_STATE0 + k, f->names[k], o);
	if (f->offline)
		put_piece(p, f, TMIGR_SLOT_OFFLINE, "offline", o);
	if (f->unknown)
		put_piece(p, f, TMIGR_SLOT_UNKNOWN, "unknown", o);
}

void top_head(struct top_page *p, const struct tmigr_top *top, const struct top_facts *f,
	      const struct tmigr_top_opts *o, size_t max)
{
	enum brevity b;

	for (b = ALL; b <= SHORTEST; b++) {
		struct top_page h = {0};

		put_title(&h, top, f, o);
		put_answer(&h, top, o->width, o->utf8, b < ONE_LINE_ANSWER ? 3 : 1);
		if (b < NO_SHARE)
			put_share(&h, top);
		if (b < NO_ROOTS)
			put_roots(&h, top, f, o);
		if (b < NO_COST)
			put_cost(&h, top, o->width);
		if (b < NO_KEY)
			put_key(&h, f, o);
		if (h.n <= max || b == SHORTEST) {
			top_take(p, &h, 0, max);
			b = SHORTEST;
		}
		top_page_free(&h);
	}
}
