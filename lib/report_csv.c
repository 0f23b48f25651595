// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CSV views: tidy (one observation per row, units in the names), RFC 4180
 * quoting, lines end in LF.  A cell that does not apply is empty.
 */
#include "report_fmt.h"

#include <errno.h>
#include <string.h>

#include "tmigr/report.h"

static int flushed(FILE *out)
{
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

static void put_u64(FILE *out, __u64 v)
{
	fprintf(out, "%llu", (unsigned long long)v);
}

/* ---- residency.csv ---- */

static void put_cpu(FILE *out, const json_t *cpu)
{
	put_u64(out, tmigr_rep_u64(cpu, "cpu"));
	putc(',', out);
	tmigr_fmt_csv(out, tmigr_rep_str(cpu, "class"));
	putc(',', out);
	put_u64(out, tmigr_rep_u64(cpu, "capacity"));
	putc(',', out);
}

/* A time that is no idle state: @state is "-1" or "". */
static void put_plain(FILE *out, const json_t *cpu, const char *state, const char *name, __u64 ns)
{
	put_cpu(out, cpu);
	fprintf(out, "%s,%s,%llu,,,\n", state, name, (unsigned long long)ns);
}

static void put_state(FILE *out, const json_t *cpu, const json_t *s)
{
	put_cpu(out, cpu);
	put_u64(out, tmigr_rep_u64(s, "index"));
	putc(',', out);
	tmigr_fmt_csv(out, tmigr_rep_str(s, "name"));
	fprintf(out, ",%llu,%llu,%llu,%llu\n", (unsigned long long)tmigr_rep_u64(s, "time_ns"),
		(unsigned long long)tmigr_rep_u64(s, "entries"),
		(unsigned long long)tmigr_rep_u64(s, "above"),
		(unsigned long long)tmigr_rep_u64(s, "below"));
}

int tmigr_report_csv_residency(const json_t *report, FILE *out)
{
	const json_t *cpu, *s;
	size_t i, k;

	fputs("cpu,class,capacity,state,state_name,time_ns,entries,above,below\n", out);
	json_array_foreach (json_object_get(report, "cpus"), i, cpu) {
		__u64 offline = tmigr_rep_u64(cpu, "offline_ns");
		__u64 unknown = tmigr_rep_u64(cpu, "unknown_ns");

		put_plain(out, cpu, "-1", "running", tmigr_rep_u64(cpu, "running_ns"));
		json_array_foreach (json_object_get(cpu, "states"), k, s)
			put_state(out, cpu, s);
		if (offline)
			put_plain(out, cpu, "", "offline", offline);
		if (unknown)
			put_plain(out, cpu, "", "unknown", unknown);
	}
	return flushed(out);
}

/* ---- migrator.csv ---- */

static const struct {
	const char *key, *name;
} regimes[] = {{"handover_ns", "handover"},
	       {"duty_ns", "duty"},
	       {"free_ns", "free"},
	       {"unknown_ns", "unknown"}};

static void put_holder(FILE *out, const json_t *root, const json_t *h)
{
	tmigr_fmt_csv(out, tmigr_rep_str(root, "group"));
	fprintf(out, ",%llu,", (unsigned long long)tmigr_rep_u64(h, "cpu"));
	tmigr_fmt_csv(out, tmigr_rep_str(h, "class"));
	fprintf(out, ",held,%llu,%llu,%llu,%llu,%llu\n",
		(unsigned long long)tmigr_rep_u64(h, "held_ns"),
		(unsigned long long)tmigr_rep_u64(h, "holdings"),
		(unsigned long long)tmigr_rep_u64(h, "longest_ns"),
		(unsigned long long)tmigr_rep_u64(h, "avoidable_ns"),
		(unsigned long long)tmigr_rep_u64(h, "avoidable_unknown_ns"));
}

int tmigr_report_csv_migrator(const json_t *report, FILE *out)
{
	const json_t *root, *h;
	size_t i, k;

	fputs("root,cpu,class,regime,time_ns,holdings,longest_ns,avoidable_ns,"
	      "avoidable_unknown_ns\n",
	      out);
	json_array_foreach (json_object_get(report, "roots"), i, root) {
		json_array_foreach (json_object_get(root, "holders"), k, h)
			put_holder(out, root, h);
		for (k = 0; k < sizeof(regimes) / sizeof(regimes[0]); k++) {
			tmigr_fmt_csv(out, tmigr_rep_str(root, "group"));
			fprintf(out, ",,,%s,%llu,,,,\n", regimes[k].name,
				(unsigned long long)tmigr_rep_u64(root, regimes[k].key));
		}
	}
	return flushed(out);
}

/* ---- migrator-states.csv ---- */

static void put_holder_state(FILE *out, const json_t *root, const json_t *h, const char *index,
			     const char *name, __u64 ns)
{
	tmigr_fmt_csv(out, tmigr_rep_str(root, "group"));
	fprintf(out, ",%llu,", (unsigned long long)tmigr_rep_u64(h, "cpu"));
	tmigr_fmt_csv(out, tmigr_rep_str(h, "class"));
	fprintf(out, ",%s,", index);
	tmigr_fmt_csv(out, name);
	fprintf(out, ",%llu\n", (unsigned long long)ns);
}

static void put_holder_states(FILE *out, const json_t *root, const json_t *h)
{
	__u64 unknown = tmigr_rep_u64(h, "unknown_state_ns");
	const json_t *s;
	char index[24];
	size_t i;

	put_holder_state(out, root, h, "-1", "running", tmigr_rep_u64(h, "running_ns"));
	json_array_foreach (json_object_get(h, "idle_ns"), i, s) {
		snprintf(index, sizeof(index), "%llu",
			 (unsigned long long)tmigr_rep_u64(s, "index"));
		put_holder_state(out, root, h, index, tmigr_rep_str(s, "name"),
				 tmigr_rep_u64(s, "time_ns"));
	}
	if (unknown)
		put_holder_state(out, root, h, "", "unknown", unknown);
}

int tmigr_report_csv_migrator_states(const json_t *report, FILE *out)
{
	const json_t *root, *h;
	size_t i, k;

	fputs("root,cpu,class,state,state_name,held_ns\n", out);
	json_array_foreach (json_object_get(report, "roots"), i, root)
		json_array_foreach (json_object_get(root, "holders"), k, h)
			put_holder_states(out, root, h);
	return flushed(out);
}

/* ---- remote.csv ---- */

int tmigr_report_csv_remote(const json_t *report, FILE *out)
{
	const json_t *p;
	size_t i;

	fputs("executor,executor_class,target,target_class,count,woke_executor\n", out);
	json_array_foreach (json_object_get(report, "remote"), i, p) {
		__u64 executor = tmigr_rep_u64(p, "executor"), target = tmigr_rep_u64(p, "target");

		fprintf(out, "%llu,", (unsigned long long)executor);
		tmigr_fmt_csv(out, tmigr_rep_class(report, executor));
		fprintf(out, ",%llu,", (unsigned long long)target);
		tmigr_fmt_csv(out, tmigr_rep_class(report, target));
		fprintf(out, ",%llu,%llu\n", (unsigned long long)tmigr_rep_u64(p, "count"),
			(unsigned long long)tmigr_rep_u64(p, "woke_executor"));
	}
	return flushed(out);
}

/* ---- metrics.csv, energy.csv ---- */

int tmigr_report_csv_metrics(const json_t *report, FILE *out)
{
	const json_t *m;
	size_t i;

	fputs("name,value,unit,better\n", out);
	json_array_foreach (json_object_get(report, "metrics"), i, m) {
		tmigr_fmt_csv(out, tmigr_rep_str(m, "name"));
		/* All of a value that was printed in decimal. */
		fprintf(out, ",%.15g,", json_number_value(json_object_get(m, "value")));
		tmigr_fmt_csv(out, tmigr_rep_str(m, "unit"));
		fprintf(out, ",%s\n", tmigr_rep_str(m, "better"));
	}
	return flushed(out);
}

int tmigr_report_csv_energy(const json_t *report, FILE *out)
{
	const json_t *e;
	size_t i;

	fputs("domain,energy_uj\n", out);
	json_array_foreach (json_object_get(report, "energy"), i, e) {
		tmigr_fmt_csv(out, tmigr_rep_str(e, "domain"));
		fprintf(out, ",%llu\n", (unsigned long long)tmigr_rep_u64(e, "energy_uj"));
	}
	return flushed(out);
}

/* ---- migrator-segments.csv ---- */

int tmigr_report_csv_segments_head(FILE *out)
{
	fputs("root,regime,cpu,class,start_ns,end_ns\n", out);
	return ferror(out) ? -EIO : 0;
}

int tmigr_report_csv_segment(const json_t *report, const struct tmigr_segment *seg, FILE *out)
{
	static const char *const names[TMIGR_REGIMES] = {
		[TMIGR_HELD] = "held", [TMIGR_HANDOVER] = "handover", [TMIGR_DUTY] = "duty",
		[TMIGR_FREE] = "free", [TMIGR_UNKNOWN] = "unknown",
	};
	const json_t *root = json_array_get(json_object_get(report, "roots"), seg->root);
	__u64 start = tmigr_rep_u64(report, "start_ns");

	tmigr_fmt_csv(out, tmigr_rep_str(root, "group"));
	fprintf(out, ",%s,", names[seg->regime]);
	if (seg->cpu >= 0) {
		fprintf(out, "%d,", seg->cpu);
		tmigr_fmt_csv(out, tmigr_rep_class(report, (__u64)seg->cpu));
	} else {
		putc(',', out);
	}
	fprintf(out, ",%llu,%llu\n", (unsigned long long)(seg->start_ns - start),
		(unsigned long long)(seg->end_ns - start));
	return ferror(out) ? -EIO : 0;
}
