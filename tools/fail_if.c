// SPDX-License-Identifier: GPL-2.0-or-later
#include "fail_if.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr.h"
#include "tmigr/figures.h"

enum op { LT, LE, GT, GE, EQ, NE };

/* The longer ones first: "<=" begins with "<". */
static const struct {
	const char *text;
	enum op op;
} ops[] = {{"<=", LE}, {">=", GE}, {"==", EQ}, {"!=", NE}, {"<", LT}, {">", GT}};

#define N_OPS (sizeof(ops) / sizeof(ops[0]))

struct expr {
	char name[256];
	enum op op;
	double number;
};

static bool parse_op(const char **p, enum op *ret)
{
	for (size_t i = 0; i < N_OPS; i++) {
		size_t len = strlen(ops[i].text);

		if (strncmp(*p, ops[i].text, len))
			continue;
		*p += len;
		*ret = ops[i].op;
		return true;
	}
	return false;
}

/* A decimal number and nothing else but blanks; strtod() alone would take "inf", "nan"
 * and hexadecimal ones. */
static bool parse_number(const char *text, double *ret)
{
	char *end;

	text += strspn(text, " \t");
	if (!*text || text[strspn(text, "0123456789.eE+- \t")])
		return false;
	*ret = strtod(text, &end);
	return end != text && !end[strspn(end, " \t")] && isfinite(*ret);
}

static bool parse(const char *text, struct expr *ret)
{
	const char *p = text + strspn(text, " \t");
	size_t len = strcspn(p, "<>=!"), name = len;

	while (name && strchr(" \t", p[name - 1]))
		name--;
	if (!name || name >= sizeof(ret->name))
		return false;
	memcpy(ret->name, p, name);
	ret->name[name] = '\0';
	p += len;
	return parse_op(&p, &ret->op) && parse_number(p, &ret->number);
}

int fail_if_check(const char *verb, const char *expr)
{
	struct expr e;

	if (parse(expr, &e))
		return 0;
	return tool_usage(verb,
			  "--fail-if: '%s' is not of the form FIGURE OP NUMBER, such as "
			  "'big_share>0.05' (OP is <, <=, >, >=, == or !=)",
			  expr);
}

static bool is_true(const struct expr *e, double value)
{
	switch (e->op) {
	case LT:
		return value < e->number;
	case LE:
		return value <= e->number;
	case GT:
		return value > e->number;
	case GE:
		return value >= e->number;
	case EQ:
		return value == e->number;
	default:
		return value != e->number;
	}
}

/* ---- an unknown name: which ones there are ---- */

static int add_name(void *arg, const struct tmigr_figure *figure)
{
	FILE *out = arg;

	fprintf(out, "%s%s", ftell(out) ? ", " : " ", figure->name);
	return 0;
}

static int unknown(const char *verb, const char *where, const char *name, const json_t *report)
{
	char *names = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&names, &size);

	if (!out)
		return tool_error(verb, "out of memory");
	tmigr_figures(report, add_name, out);
	if (fclose(out) == 0)
		tool_error(verb, "%s--fail-if: there is no figure '%s'; there are:%s", where, name,
			   names);
	free(names);
	return TMIGR_EXIT_USAGE;
}

static int test(const char *verb, const char *where, const char *text, const json_t *report)
{
	struct expr e;
	double value = 0;
	int ret;

	if (!parse(text, &e))
		return fail_if_check(verb, text);
	ret = tmigr_figure_value(report, e.name, &value);
	if (ret == -ENOENT)
		return unknown(verb, where, e.name, report);
	if (ret == -ENODATA)
		return tool_error(verb, "%s--fail-if '%s' cannot be told: %s is not known here",
				  where, text, e.name);
	if (ret < 0)
		return tool_error(verb, "out of memory");
	if (!is_true(&e, value))
		return 0;
	tool_error(verb, "%s--fail-if '%s' is true: %s is %.9g", where, text, e.name, value);
	return TMIGR_EXIT_FAIL_IF;
}

/* A true one decides, then wrong usage, then one that cannot be told. */
static int worse(int a, int b)
{
	return a > b ? a : b;
}

int fail_if_test(const char *verb, const char *where, const struct arg_list *exprs,
		 const json_t *report)
{
	int ret = 0;

	for (size_t i = 0; i < exprs->n; i++)
		ret = worse(ret, test(verb, where, exprs->items[i], report));
	return ret;
}
