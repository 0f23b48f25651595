// SPDX-License-Identifier: GPL-2.0-or-later
/* What the text says about the run itself: label, failure, metrics, energy. */
#include "report_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tmigr/report.h"

/* "after 10 s of settling", "the command's first 5 s are not in the window" */
static void put_times(const json_t *report, FILE *mem)
{
	__u64 settle_ns = tmigr_rep_u64(report, "settle_ns");
	__u64 warmup_ns = tmigr_rep_u64(report, "warmup_ns");

	if (settle_ns)
		fprintf(mem, "; after %g s of settling", (double)settle_ns / 1e9);
	if (warmup_ns)
		fprintf(mem, "; the command's first %g s are not in the window",
			(double)warmup_ns / 1e9);
}

static void put_changed(const json_t *report, FILE *mem)
{
	const json_t *changed = json_object_get(report, "changed");
	const json_t *sysctl = json_object_get(changed, "timer_migration");
	const char *offline = tmigr_rep_str(changed, "offline");

	if (*offline)
		fprintf(mem, "; CPUs %s were taken offline for it", offline);
	if (json_is_integer(sysctl))
		fprintf(mem, "; kernel.timer_migration was set to %lld for it",
			(long long)json_integer_value(sysctl));
}

char *tmigr_text_run_line(const json_t *report)
{
	const char *label = tmigr_rep_str(report, "label");
	__u64 run = tmigr_rep_u64(report, "run");
	char *text = NULL;
	size_t size = 0;
	FILE *mem = open_memstream(&text, &size);

	if (!mem)
		return NULL;
	if (*label)
		fprintf(mem, "; %s", label);
	if (run)
		fprintf(mem, "%s%llu", *label ? " " : "; ", (unsigned long long)run);
	put_times(report, mem);
	put_changed(report, mem);
	if (fclose(mem) != 0) {
		free(text);
		return NULL;
	}
	if (*text)
		memmove(text, text + 2, strlen(text + 2) + 1);
	return text;
}

void tmigr_text_run(const json_t *report, FILE *out)
{
	char *text = tmigr_text_run_line(report);

	if (text && *text)
		tmigr_fmt_wrapped(out, "Run:", text, 2);
	free(text);
}

/* Six digits say what a benchmark means; whole numbers are printed in full. */
void tmigr_fmt_metric(char *buf, size_t size, double value)
{
	bool whole = value > -1e15 && value < 1e15 && value == (double)(long long)value;

	snprintf(buf, size, whole ? "%.0f" : "%.6g", value);
}

int tmigr_text_metrics(const json_t *report, FILE *out)
{
	const json_t *metrics = json_object_get(report, "metrics"), *m;
	struct tmigr_table *t;
	char buf[TMIGR_FMT_MAX];
	size_t i;

	if (!json_array_size(metrics))
		return 0;
	fputs("\nMetrics: what the command printed\n", out);
	t = tmigr_table_new(1);
	tmigr_table_column(t, false, "metric");
	tmigr_table_column(t, true, "value");
	tmigr_table_column(t, false, "unit");
	tmigr_table_column(t, false, "better");
	json_array_foreach (metrics, i, m) {
		tmigr_table_cell(t, tmigr_rep_str(m, "name"));
		tmigr_fmt_metric(buf, sizeof(buf), json_number_value(json_object_get(m, "value")));
		tmigr_table_cell(t, buf);
		tmigr_table_cell(t, tmigr_rep_str(m, "unit"));
		tmigr_table_cell(t, tmigr_rep_str(m, "better"));
	}
	return tmigr_table_print(t, out);
}

char *tmigr_text_energy_line(const json_t *report)
{
	const json_t *energy = json_object_get(report, "energy"), *e;
	double seconds = (double)tmigr_rep_u64(report, "window_ns") / 1e9;
	char *text = NULL;
	size_t size = 0, i;
	FILE *mem = open_memstream(&text, &size);

	if (!mem)
		return NULL;
	json_array_foreach (energy, i, e) {
		double joules = (double)tmigr_rep_u64(e, "energy_uj") / 1e6;

		fprintf(mem, "%s%s %.3f J", i ? ", " : "", tmigr_rep_str(e, "domain"), joules);
		if (seconds > 0)
			fprintf(mem, " (%.3f W)", joules / seconds);
	}
	if (fclose(mem) == 0)
		return text;
	free(text);
	return NULL;
}

void tmigr_text_energy(const json_t *report, FILE *out)
{
	char *text = tmigr_text_energy_line(report);

	if (text && *text)
		tmigr_fmt_wrapped(out, "Energy:", text, 2);
	free(text);
}
