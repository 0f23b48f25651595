// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers and names of a comparison as a reader wants them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_view.h"

#define MAX_DECIMALS 6

static const struct {
	const char *group, *heading;
} headings[] = {
	{"metric", "metrics"},
	{"energy", "energy, J"},
	{"residency", "residency, s"},
	{"migrator", "migrator, % of time"},
	{"avoidable", "avoidable, s"},
	{"remote", "remote expiries"},
	{"woke", "... that woke it"},
	{"entries", "idle entries"},
	{"above", "above (too deep)"},
	{"below", "below (too shallow)"},
	{"cpu-residency", "residency per CPU, s"},
	{"cpu-held", "held per CPU, s"},
};

#define N_HEADINGS (sizeof(headings) / sizeof(headings[0]))

const char *tmigr_compare_heading(const char *group)
{
	for (size_t i = 0; i < N_HEADINGS; i++)
		if (!strcmp(headings[i].group, group))
			return headings[i].heading;
	return group;
}

bool tmigr_compare_is_per_cpu(const json_t *quantity)
{
	return json_object_get(quantity, "cpu") != NULL;
}

/* Decimals that the number was given with. */
static int decimals_of(double v)
{
	char buf[64];

	for (int d = 0; d < MAX_DECIMALS; d++) {
		snprintf(buf, sizeof(buf), "%.*f", d, v);
		if (fabs(strtod(buf, NULL) - v) <= 1e-12 * fabs(v))
			return d;
	}
	return MAX_DECIMALS;
}

/* The largest value of the quantity, and the most decimals of its values. */
static void look_at(const json_t *quantity, double *max, int *decimals)
{
	const json_t *cell, *v;
	size_t i, k;

	json_array_foreach (json_object_get(quantity, "labels"), i, cell) {
		json_array_foreach (json_object_get(cell, "values"), k, v) {
			if (!json_is_number(v))
				continue;
			*max = fmax(*max, fabs(json_number_value(v)));
			if (decimals && *decimals < MAX_DECIMALS)
				*decimals = (int)fmax(*decimals, decimals_of(json_number_value(v)));
		}
	}
}

static int decimals_for(double seconds)
{
	if (seconds >= 99.95)
		return 1;
	return seconds >= 9.995 ? 2 : 3;
}

static size_t heading_of(const json_t *quantity)
{
	size_t i = 0;

	while (i < N_HEADINGS && strcmp(headings[i].group, tmigr_rep_str(quantity, "group")))
		i++;
	return i;
}

/* Seconds of a group have the same number of decimals: their columns are read
 * together. */
bool tmigr_compare_put_decimals(json_t *quantities)
{
	double max[N_HEADINGS + 1] = {0};
	bool bad = false;
	json_t *q;
	size_t i;

	json_array_foreach (quantities, i, q)
		look_at(q, &max[heading_of(q)], NULL);
	json_array_foreach (quantities, i, q) {
		const char *unit = tmigr_rep_str(q, "unit");
		int value = 0, mean = 1;
		double unused = 0;

		if (!strcmp(tmigr_rep_str(q, "group"), "metric")) {
			/* As the benchmark printed them. */
			look_at(q, &unused, &value);
			mean = value ? value : 1;
		} else if (!strcmp(unit, "%")) {
			value = 1;
		} else if (*unit) {
			value = mean = decimals_for(max[heading_of(q)]);
		}
		bad |= json_object_set_new(q, "decimals",
					   json_pack("{s:i, s:i}", "value", value, "mean", mean)) <
		       0;
	}
	return !bad;
}

struct tmigr_decimals tmigr_compare_decimals(const json_t *quantity)
{
	const json_t *d = json_object_get(quantity, "decimals");
	__u64 value = tmigr_rep_u64(d, "value"), mean = tmigr_rep_u64(d, "mean");

	return (struct tmigr_decimals){value < 18 ? (int)value : 17, mean < 18 ? (int)mean : 17};
}

const char *tmigr_fmt_real(char buf[TMIGR_FMT_MAX], const json_t *v, int decimals)
{
	double x = json_number_value(v);

	if (!json_is_number(v))
		snprintf(buf, TMIGR_FMT_MAX, "-");
	else if (fabs(x) >= 1e12)
		snprintf(buf, TMIGR_FMT_MAX, "%.5g", x);
	else
		snprintf(buf, TMIGR_FMT_MAX, "%.*f", decimals, x);
	return buf;
}

const char *tmigr_fmt_sd(char buf[TMIGR_FMT_MAX], const json_t *v, int decimals)
{
	double x = json_number_value(v);

	if (x > 0 && x < 0.5 * pow(10, -decimals))
		snprintf(buf, TMIGR_FMT_MAX, "%.1g", x);
	else
		tmigr_fmt_real(buf, v, decimals);
	return buf;
}

const char *tmigr_fmt_signed(char buf[TMIGR_FMT_MAX], double percent)
{
	double size = fabs(percent);

	if (size >= 99999.5)
		snprintf(buf, TMIGR_FMT_MAX, "%+.1e", percent);
	else
		snprintf(buf, TMIGR_FMT_MAX, "%+.*f",
			 size < 9.995	 ? 2
			 : size < 999.95 ? 1
					 : 0,
			 percent);
	return buf;
}
