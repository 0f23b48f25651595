// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers and names of a comparison as a reader wants them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_view.h"

#define MAX_DECIMALS 6

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

/* A quantity with few seconds beside one with many has more: two digits that say
 * something. */
static int decimals_within(int d, double seconds)
{
	while (d < 3 && seconds * pow(10, d) < 9.95)
		d++;
	return d;
}

/* The largest seconds of the quantities in the group that begins at @from. */
static double group_max(const json_t *quantities, size_t from)
{
	const char *group = tmigr_rep_str(json_array_get(quantities, from), "group");
	double max = 0;

	for (size_t i = from; i < json_array_size(quantities); i++) {
		const json_t *q = json_array_get(quantities, i);

		if (strcmp(tmigr_rep_str(q, "group"), group))
			break;
		look_at(q, &max, NULL);
	}
	return max;
}

/* Seconds of a group have the same number of decimals, or more: their columns are
 * read together. */
bool tmigr_compare_put_decimals(json_t *quantities)
{
	const char *group = "";
	bool bad = false;
	int of_group = 0;
	json_t *q;
	size_t i;

	json_array_foreach (quantities, i, q) {
		const char *unit = tmigr_rep_str(q, "unit");
		int value = 0, mean = 1, own = 0;
		double max = 0;

		if (strcmp(tmigr_rep_str(q, "group"), group))
			of_group = decimals_for(group_max(quantities, i));
		group = tmigr_rep_str(q, "group");
		look_at(q, &max, &own);
		if (!strcmp(group, "metric")) {
			/* As the benchmark printed them. */
			value = own;
			mean = value ? value : 1;
		} else if (!strcmp(unit, "%")) {
			value = 1;
		} else if (*unit) {
			value = mean = decimals_within(of_group, max);
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

const char *tmigr_fmt_signed_units(char buf[TMIGR_FMT_MAX], double v)
{
	double size = fabs(v);

	snprintf(buf, TMIGR_FMT_MAX, size >= 100 && size < 1e12 ? "%+.0f" : "%+.3g", v);
	return buf;
}

const char *tmigr_fmt_signed(char buf[TMIGR_FMT_MAX], double percent)
{
	double size = fabs(percent);

	if (size >= 99999.5)
		snprintf(buf, TMIGR_FMT_MAX, "%+.1e", percent);
	else
		snprintf(buf, TMIGR_FMT_MAX, "%+.*f",
			 size < 9.995	? 2
			 : size < 99.95 ? 1
					: 0,
			 percent);
	return buf;
}
