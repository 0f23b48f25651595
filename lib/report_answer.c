// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The one question: does a big CPU hold the global migrator, and for how long?
 * "big" is the highest class, or those that are level there (--class can make
 * such).  Only roots that span several classes can give a yes: where each class
 * has a hierarchy of its own, a big CPU holding it is how it should be.
 */
#include "report_fmt.h"
#include "report_parts.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* CPUs that the sentence about a symmetric machine names one by one. */
#define NAMED_SHARES 8

enum verdict { NO, YES, NOBODY_KNOWS };

static json_t *answer(enum verdict v, json_t *share, const char *text)
{
	json_t *o = json_object();
	bool bad = !o || !text;

	tmigr_put(o, "big_holds", v == NOBODY_KNOWS ? json_null() : json_boolean(v == YES), &bad);
	tmigr_put(o, "big_share", share, &bad);
	tmigr_put(o, "text", text ? json_string(text) : NULL, &bad);
	return tmigr_whole(o, bad);
}

__attribute__((format(printf, 3, 4))) static json_t *answerf(enum verdict v, json_t *share,
							     const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	json_t *o;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	o = answer(v, share, text);
	free(text);
	return o;
}

static unsigned int rank_of(const json_t *classes, size_t i)
{
	size_t n = json_array_size(classes);
	const json_t *c = json_array_get(classes, i);
	bool same = tmigr_rep_u64(json_array_get(classes, 0), "capacity") ==
		    tmigr_rep_u64(json_array_get(classes, n - 1), "capacity");

	return tmigr_class_rank((unsigned int)tmigr_rep_u64(c, "capacity"),
				tmigr_rep_str(c, "name"), same);
}

bool tmigr_rep_is_big(const json_t *classes, const char *name)
{
	size_t n = json_array_size(classes);

	for (size_t i = n; i-- > 0 && rank_of(classes, i) == rank_of(classes, n - 1);)
		if (!strcmp(tmigr_rep_str(json_array_get(classes, i), "name"), name))
			return true;
	return false;
}

bool tmigr_rep_any_big(const json_t *classes)
{
	size_t n = json_array_size(classes);

	return n > 1 && rank_of(classes, 0) != rank_of(classes, n - 1);
}

/* Of the root; the big ones are one. */
static size_t classes_of(const json_t *classes, const json_t *root)
{
	const json_t *c;
	size_t i, n = 0, n_big = 0;

	json_array_foreach (json_object_get(root, "classes"), i, c) {
		if (!tmigr_rep_u64(c, "n_cpus") && !tmigr_rep_u64(c, "held_ns"))
			continue;
		if (!tmigr_rep_is_big(classes, tmigr_rep_str(c, "name")))
			n++;
		else
			n_big = 1;
	}
	return n + n_big;
}

struct tmigr_spanning tmigr_report_spanning(const json_t *report)
{
	const json_t *classes = json_object_get(report, "classes"), *root, *c;
	struct tmigr_spanning s = {0};
	size_t i, k;

	json_array_foreach (json_object_get(report, "roots"), i, root) {
		if (classes_of(classes, root) < 2)
			continue;
		s.n_roots++;
		s.window_ns += tmigr_rep_u64(report, "window_ns");
		s.unknown_ns += tmigr_rep_u64(root, "unknown_ns");
		json_array_foreach (json_object_get(root, "classes"), k, c) {
			if (!tmigr_rep_is_big(classes, tmigr_rep_str(c, "name")))
				continue;
			s.big_ns += tmigr_rep_u64(c, "held_ns");
			s.avoidable_ns += tmigr_rep_u64(c, "avoidable_ns");
			s.avoidable_unknown_ns += tmigr_rep_u64(c, "avoidable_unknown_ns");
		}
	}
	return s;
}

static json_t *share_of(const struct tmigr_spanning *s)
{
	return json_real(s->window_ns ? (double)s->big_ns / (double)s->window_ns : 0);
}

/* ---- machines without the question ---- */

static json_t *no_hierarchy(const json_t *report)
{
	const json_t *has = json_object_get(report, "timer_migration_hierarchy");

	if (json_is_false(json_object_get(report, "timeline")))
		return answer(NOBODY_KNOWS, json_null(),
			      "no answer: without a timeline (--no-timeline) nothing tells who "
			      "held the migrator.");
	if (json_is_false(has) && json_object_get(report, "import"))
		return answer(NOBODY_KNOWS, json_null(),
			      "no answer: the trace has no timer_migration events.");
	if (json_is_false(has))
		return answer(NOBODY_KNOWS, json_null(),
			      "no answer: this kernel has no timer-migration hierarchy "
			      "(Linux 6.9 and later have it).");
	return answer(
		NOBODY_KNOWS, json_null(),
		"no answer: nothing of the timer-migration hierarchy was seen (a CPU shows its "
		"place when it goes idle).");
}

struct share {
	__u64 cpu, held_ns;
};

static int by_held(const void *pa, const void *pb)
{
	const struct share *a = pa, *b = pb;

	if (a->held_ns != b->held_ns)
		return a->held_ns < b->held_ns ? 1 : -1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* Every holder of every root, the longest first; *@ret_n of them. */
static struct share *collect_shares(const json_t *report, size_t *ret_n, __u64 *ret_window)
{
	const json_t *roots = json_object_get(report, "roots"), *root, *h;
	struct share *shares;
	size_t i, k, n = 0;

	json_array_foreach (roots, i, root)
		n += json_array_size(json_object_get(root, "holders"));
	shares = calloc(n + 1, sizeof(*shares));
	if (!shares)
		return NULL;
	n = 0;
	json_array_foreach (roots, i, root)
		json_array_foreach (json_object_get(root, "holders"), k, h)
			shares[n++] = (struct share){tmigr_rep_u64(h, "cpu"),
						     tmigr_rep_u64(h, "held_ns")};
	qsort(shares, n, sizeof(*shares), by_held);
	*ret_n = n;
	*ret_window = tmigr_rep_u64(report, "window_ns");
	return shares;
}

/* How long it is not known who held: the most of all roots. */
static __u64 longest_unknown(const json_t *report)
{
	const json_t *roots = json_object_get(report, "roots"), *root;
	__u64 longest = 0;
	size_t i;

	json_array_foreach (roots, i, root)
		if (tmigr_rep_u64(root, "unknown_ns") > longest)
			longest = tmigr_rep_u64(root, "unknown_ns");
	return longest;
}

static json_t *symmetric(const json_t *report)
{
	__u64 unknown = longest_unknown(report);
	const json_t *import = json_object_get(report, "import");
	char *text = NULL, pct[TMIGR_FMT_MAX];
	size_t size = 0, n = 0, i;
	__u64 window = 0, rest = 0;
	struct share *shares = collect_shares(report, &n, &window);
	FILE *out = open_memstream(&text, &size);
	json_t *o = NULL;

	if (!shares || !out)
		goto out;
	if (json_is_false(json_object_get(import, "capacities_known")))
		fputs("which CPUs are big is not in the trace (--class or --cpus would tell); ",
		      out);
	else
		fputs("this machine is symmetric (one capacity class), so no CPU is big; ", out);
	fputs(n		? "held"
	      : unknown ? "no CPU is known to have held the migrator"
			: "no CPU held the migrator",
	      out);
	for (i = 0; i < n && i < NAMED_SHARES; i++)
		fprintf(out, "%s %s %%%s by CPU %llu", i ? "," : "",
			tmigr_fmt_pct(pct, shares[i].held_ns, window), i ? "" : " of the window",
			(unsigned long long)shares[i].cpu);
	for (; i < n; i++)
		rest += shares[i].held_ns;
	if (n > NAMED_SHARES)
		fprintf(out, ", %s %% by %zu others", tmigr_fmt_pct(pct, rest, window),
			n - NAMED_SHARES);
	if (unknown)
		fprintf(out, "; %s %% of the window is unknown",
			tmigr_fmt_pct(pct, unknown, window));
	putc('.', out);
	if (fclose(out) == 0)
		o = answer(NOBODY_KNOWS, json_null(), text);
	out = NULL;
out:
	if (out)
		fclose(out);
	free(text);
	free(shares);
	return o;
}

/* ---- machines with it ---- */

static json_t *each_its_own(const json_t *report, const char *big)
{
	const char *unlearnt = tmigr_rep_str(json_object_get(report, "hierarchy"), "unlearnt");
	size_t n = json_array_size(json_object_get(report, "roots"));

	/* A CPU whose place is not known may belong to any of them. */
	if (*unlearnt)
		return answerf(NOBODY_KNOWS, json_null(),
			       "UNKNOWN: the place of CPUs %s in the hierarchy never showed, so "
			       "whether capacity classes share one is open.",
			       unlearnt);
	if (n == 1)
		return answerf(NO, json_real(0),
			       "NO: all CPUs in the hierarchy are of one capacity class.");
	return answerf(NO, json_real(0),
		       "NO: each capacity class keeps to a hierarchy of its own (%zu roots), so no "
		       "%s CPU holds the migrator of another class.",
		       n, big);
}

/* What a lower class is called in the sentence. */
static const char *lower_class(const json_t *report, char buf[64])
{
	const json_t *classes = json_object_get(report, "classes");

	if (json_array_size(classes) != 2)
		return "a CPU of a lower class";
	snprintf(buf, 64, "a %s CPU", tmigr_rep_str(json_array_get(classes, 0), "name"));
	return buf;
}

static json_t *yes(const json_t *report, const char *big, const struct tmigr_spanning *s)
{
	char held[TMIGR_FMT_MAX], pct[TMIGR_FMT_MAX], av[TMIGR_FMT_MAX], av_pct[TMIGR_FMT_MAX];
	char lower[64], cost[192] = "";

	if (s->avoidable_ns)
		snprintf(cost, sizeof(cost), "; for %s of that (%s %%) %s was awake",
			 tmigr_fmt_dur(av, s->avoidable_ns),
			 tmigr_fmt_pct(av_pct, s->avoidable_ns, s->big_ns),
			 lower_class(report, lower));
	else if (!s->avoidable_unknown_ns)
		snprintf(cost, sizeof(cost), "; never while %s was awake",
			 lower_class(report, lower));
	return answerf(YES, share_of(s),
		       "YES, a %s CPU held the global migrator for %s, %s %% of "
		       "the window%s.",
		       big, tmigr_fmt_dur(held, s->big_ns),
		       tmigr_fmt_pct(pct, s->big_ns, s->window_ns), cost);
}

json_t *tmigr_report_answer(const json_t *report)
{
	const json_t *classes = json_object_get(report, "classes");
	size_t n = json_array_size(classes);
	const char *big = n ? tmigr_rep_str(json_array_get(classes, n - 1), "name") : "";
	struct tmigr_spanning s = tmigr_report_spanning(report);
	char pct[TMIGR_FMT_MAX];

	if (!json_array_size(json_object_get(report, "roots")))
		return no_hierarchy(report);
	if (n < 2)
		return symmetric(report);
	if (!tmigr_rep_any_big(classes))
		return answerf(NOBODY_KNOWS, json_null(),
			       "no answer: %s, so none is big (a --class that is named LITTLE or "
			       "big would tell).",
			       json_is_null(json_object_get(json_array_get(classes, 0), "capacity"))
				       ? "the classes' capacities are not known"
				       : "all classes have the same capacity");
	if (!s.n_roots)
		return each_its_own(report, big);
	if (s.big_ns)
		return yes(report, big, &s);
	if (s.unknown_ns || !s.window_ns)
		return answerf(NOBODY_KNOWS, share_of(&s),
			       "UNKNOWN: no %s CPU was seen holding the global migrator, but %s %% "
			       "of the window is not known.",
			       big, tmigr_fmt_pct(pct, s.unknown_ns, s.window_ns));
	return answerf(NO, share_of(&s),
		       "NO, no %s CPU held the global migrator at any moment of the window.", big);
}
