// SPDX-License-Identifier: GPL-2.0-or-later
/* What a user reads of CPUs that came and went: per CPU, and where the time went. */
#include "tmigr/hotplug_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_text.h"

#define LONGEST 15 /* steps that a table has in any case */

static const char *const names[2][2] = {{"take-down", "take-downs"}, {"bring-up", "bring-ups"}};

static bool is_up(const json_t *op)
{
	return json_is_true(json_object_get(op, "up"));
}

static void cell_ms(struct tmigr_table *t, double ns)
{
	char buf[TMIGR_FMT_MAX];

	snprintf(buf, sizeof(buf), "%.3f", ns / 1e6);
	tmigr_table_cell(t, ns > 0 ? buf : "-");
}

/* ---- per CPU ---- */

struct sum {
	__u64 cpu, n, total, min, max, asking, own, between, tmigr;
};

static void add(struct sum *s, const json_t *op)
{
	__u64 total = tmigr_rep_u64(op, "total_ns");

	s->min = s->n && s->min < total ? s->min : total;
	s->max = s->max > total ? s->max : total;
	s->n++;
	s->total += total;
	s->asking += tmigr_rep_u64(op, "asking_ns");
	s->own += tmigr_rep_u64(op, "own_ns");
	s->between += tmigr_rep_u64(op, "between_ns");
	s->tmigr += tmigr_rep_u64(op, "timer_migration_ns");
}

static int by_cpu(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void sum_row(struct tmigr_table *t, const struct sum *s, const char *cpu, const char *class)
{
	double n = (double)s->n;

	tmigr_table_cell(t, cpu);
	tmigr_table_cell(t, class);
	tmigr_table_number(t, s->n);
	cell_ms(t, (double)s->total / n);
	cell_ms(t, (double)s->min);
	cell_ms(t, (double)s->max);
	cell_ms(t, (double)s->asking / n);
	cell_ms(t, (double)s->own / n);
	cell_ms(t, (double)s->between / n);
	cell_ms(t, (double)s->tmigr / n);
}

/* Owned by the caller; sorted by CPU. */
static struct sum *sums_of(const json_t *ops, bool up, size_t *ret_n, struct sum *all)
{
	struct sum *sums = calloc(json_array_size(ops) + 1, sizeof(*sums));
	const json_t *op;
	size_t i, k, n = 0;

	json_array_foreach (ops, i, op) {
		__u64 cpu = tmigr_rep_u64(op, "cpu");

		if (!sums || is_up(op) != up || !tmigr_rep_is_whole(op))
			continue;
		for (k = 0; k < n && sums[k].cpu != cpu; k++)
			;
		if (k == n)
			sums[n++].cpu = cpu;
		add(&sums[k], op);
		add(all, op);
	}
	if (n)
		qsort(sums, n, sizeof(*sums), by_cpu);
	*ret_n = n;
	return sums;
}

static int put_cpus(const json_t *report, const json_t *ops, bool up, FILE *out)
{
	static const char *const heads[] = {"mean",   "min",	 "max",	 "asking CPU",
					    "itself", "between", "tmigr"};
	struct sum all = {0};
	struct tmigr_table *t;
	struct sum *sums;
	size_t n;

	sums = sums_of(ops, up, &n, &all);
	t = sums && n ? tmigr_table_new(2) : NULL;
	if (!t) {
		free(sums);
		return sums && !n ? 0 : -ENOMEM;
	}
	fprintf(out, "\n%s per CPU, ms; where the mean's time went\n",
		up ? "Bring-up" : "Take-down");
	tmigr_table_column(t, true, "cpu");
	tmigr_table_column(t, false, "class");
	tmigr_table_column(t, true, "times");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		tmigr_table_column(t, true, heads[i]);
	for (size_t i = 0; i < n; i++) {
		char cpu[24];

		snprintf(cpu, sizeof(cpu), "%llu", (unsigned long long)sums[i].cpu);
		sum_row(t, &sums[i], cpu, tmigr_rep_class(report, sums[i].cpu));
	}
	if (n > 1)
		sum_row(t, &all, "all", "");
	free(sums);
	return tmigr_table_print(t, out);
}

/* ---- per step ---- */

struct step {
	const json_t *first;
	__u64 step, ns, max;
	bool own, shown;
};

static bool is_tmigr(const struct step *s)
{
	return json_is_true(json_object_get(s->first, "timer_migration"));
}

static int longest_first(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

static int by_number(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return x->step < y->step ? -1 : x->step > y->step;
}

struct steps {
	struct step *steps;
	size_t n;
	__u64 ops, total, between;
};

static int add_step(struct steps *l, const json_t *s)
{
	__u64 ns = tmigr_rep_u64(s, "time_ns"), step = tmigr_rep_u64(s, "step");
	bool own = json_is_true(json_object_get(s, "own"));
	struct step *grown;
	size_t k;

	for (k = 0; k < l->n && (l->steps[k].step != step || l->steps[k].own != own); k++)
		;
	if (k == l->n) {
		grown = reallocarray(l->steps, l->n + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		l->steps = grown;
		l->steps[l->n++] = (struct step){.first = s, .step = step, .own = own};
	}
	l->steps[k].ns += ns;
	l->steps[k].max = l->steps[k].max > ns ? l->steps[k].max : ns;
	return 0;
}

static int collect(const json_t *ops, bool up, struct steps *l)
{
	const json_t *op, *s;
	size_t i, k;
	int ret = 0;

	json_array_foreach (ops, i, op) {
		if (is_up(op) != up || !tmigr_rep_is_whole(op))
			continue;
		l->ops++;
		l->total += tmigr_rep_u64(op, "total_ns");
		l->between += tmigr_rep_u64(op, "between_ns");
		json_array_foreach (json_object_get(op, "steps"), k, s)
			if (!ret)
				ret = add_step(l, s);
	}
	return ret;
}

static void step_row(struct tmigr_table *t, const struct steps *l, const struct step *s)
{
	char name[96], step[24], pct[TMIGR_FMT_MAX];

	snprintf(step, sizeof(step), "%llu", (unsigned long long)s->step);
	snprintf(name, sizeof(name), "%.80s%s", tmigr_rep_str(s->first, "name"),
		 is_tmigr(s) ? " *" : "");
	tmigr_table_cell(t, step);
	tmigr_table_cell(t, name);
	tmigr_table_cell(t, s->own ? "the CPU itself" : "the asking CPU");
	cell_ms(t, (double)s->ns / (double)l->ops);
	tmigr_table_cell(t, tmigr_fmt_pct(pct, s->ns, l->total));
	cell_ms(t, (double)s->max);
}

static void rest_row(struct tmigr_table *t, const struct steps *l, const char *name, __u64 ns)
{
	char pct[TMIGR_FMT_MAX];

	tmigr_table_cell(t, "");
	tmigr_table_cell(t, name);
	tmigr_table_cell(t, "");
	cell_ms(t, (double)ns / (double)l->ops);
	tmigr_table_cell(t, tmigr_fmt_pct(pct, ns, l->total));
	tmigr_table_cell(t, "");
}

/* Marks what is shown, in the order of the steps; how many are not, with what time. */
static size_t choose(struct steps *l, __u64 *ret_ns)
{
	size_t more = 0;

	*ret_ns = 0;
	qsort(l->steps, l->n, sizeof(*l->steps), longest_first);
	for (size_t i = 0; i < l->n; i++) {
		l->steps[i].shown = i < LONGEST || is_tmigr(&l->steps[i]);
		more += !l->steps[i].shown;
		*ret_ns += l->steps[i].shown ? 0 : l->steps[i].ns;
	}
	qsort(l->steps, l->n, sizeof(*l->steps), by_number);
	return more;
}

static int print_steps(struct steps *l, bool up, FILE *out)
{
	struct tmigr_table *t = tmigr_table_new(2);
	size_t more, at;
	__u64 more_ns;
	char text[64];

	if (!t)
		return -ENOMEM;
	more = choose(l, &more_ns);
	fprintf(out, "\nSteps of a %s, ms: mean of %llu (* timer migration)\n", names[up][0],
		(unsigned long long)l->ops);
	tmigr_table_column(t, true, "step");
	tmigr_table_column(t, false, "name");
	tmigr_table_column(t, false, "done by");
	tmigr_table_column(t, true, "mean");
	tmigr_table_column(t, true, "%");
	tmigr_table_column(t, true, "longest");
	for (size_t i = 0; i < l->n; i++) {
		at = up ? i : l->n - 1 - i;
		if (l->steps[at].shown)
			step_row(t, l, &l->steps[at]);
	}
	snprintf(text, sizeof(text), "%zu other steps", more);
	if (more)
		rest_row(t, l, text, more_ns);
	rest_row(t, l, "between the steps", l->between);
	return tmigr_table_print(t, out);
}

static int put_steps(const json_t *ops, bool up, FILE *out)
{
	struct steps l = {0};
	int ret = collect(ops, up, &l);

	if (!ret && l.n)
		ret = print_steps(&l, up, out);
	free(l.steps);
	return ret;
}

/* ---- what is not whole ---- */

static void put_odd(const json_t *op, FILE *out)
{
	static const struct {
		const char *cut, *text;
	} cuts[] = {{"start", "it had begun before the window"},
		    {"end", "it had not ended when the window did"},
		    {"lost", "events of it were lost"}};
	const json_t *failed = json_object_get(op, "failed"), *cut = json_object_get(op, "cut");
	char dur[TMIGR_FMT_MAX];
	const json_t *c;
	size_t i;

	fprintf(out, "  CPU %llu, %s of %s: ", (unsigned long long)tmigr_rep_u64(op, "cpu"),
		names[is_up(op)][0], tmigr_fmt_dur(dur, tmigr_rep_u64(op, "total_ns")));
	if (json_is_object(failed)) {
		fputs("it failed in the step ", out);
		tmigr_fmt_puts(out, tmigr_rep_str(failed, "name"));
		fprintf(out, " (%s)%s", strerror((int)tmigr_rep_u64(failed, "errno")),
			json_array_size(cut) ? "; " : "");
	}
	json_array_foreach (cut, i, c)
		for (size_t k = 0; k < 3; k++)
			if (!strcmp(json_string_value(c) ? json_string_value(c) : "", cuts[k].cut))
				fprintf(out, "%s%s", i ? "; " : "", cuts[k].text);
	putc('\n', out);
}

static void put_others(const json_t *ops, FILE *out)
{
	const json_t *op;
	bool any = false;
	size_t i;

	json_array_foreach (ops, i, op) {
		if (tmigr_rep_is_whole(op))
			continue;
		if (!any)
			fputs("\nNot whole, and in no figure above\n", out);
		any = true;
		put_odd(op, out);
	}
}

/* ---- the whole ---- */

static void put_any(const json_t *hotplug, bool up, FILE *out)
{
	const json_t *sum = json_object_get(hotplug, up ? "bring_ups" : "take_downs");
	__u64 n = tmigr_rep_u64(sum, "count"), ns = tmigr_rep_u64(sum, "any_ns");
	char dur[TMIGR_FMT_MAX];

	fprintf(out, "  %llu %s", (unsigned long long)n, names[up][n != 1]);
	if (n)
		fprintf(out, ": for %s in all, a CPU was %s", tmigr_fmt_dur(dur, ns),
			up ? "coming up" : "going down");
	putc('\n', out);
}

static int put_section(const json_t *report, FILE *out)
{
	const json_t *hotplug = json_object_get(report, "hotplug");
	const json_t *ops = json_object_get(hotplug, "operations");
	__u64 lost = tmigr_rep_u64(hotplug, "lost");
	int ret = 0;

	fputs("CPUs that came and went\n", out);
	put_any(hotplug, true, out);
	put_any(hotplug, false, out);
	if (lost)
		fprintf(out, "  %llu events of hotplug were lost\n", (unsigned long long)lost);
	for (int up = 1; up >= 0 && !ret; up--) {
		ret = put_cpus(report, ops, up, out);
		if (!ret)
			ret = put_steps(ops, up, out);
	}
	if (!ret)
		put_others(ops, out);
	return ret;
}

int tmigr_text_hotplug(const json_t *report, FILE *out)
{
	if (!json_object_get(report, "hotplug"))
		return 0;
	putc('\n', out);
	return put_section(report, out);
}

int tmigr_hotplug_text(const json_t *report, FILE *out)
{
	int ret;

	tmigr_text_head(report, "CPU hotplug", out);
	ret = tmigr_text_hotplug(report, out);
	return ret ? ret : ferror(out) ? -EIO : 0;
}
