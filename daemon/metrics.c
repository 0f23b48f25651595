// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>

#include "tmigr/openmetrics.h"

static json_int_t num(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void daemon_itself(FILE *f, const json_t *status)
{
	const json_t *observer = json_object_get(status, "observer");
	const json_t *ns = json_object_get(observer, "bpf_ns");

	tmigr_om_number(f, "tmigr_records", "counter", "Records written.",
			num(observer, "records"));
	if (json_is_integer(ns))
		tmigr_om_seconds(f, "tmigr_bpf_seconds", "Time of the BPF programs.",
				 json_integer_value(ns));
	tmigr_om_seconds(f, "tmigr_daemon_cpu_seconds", "CPU time of the daemon.",
			 num(observer, "cpu_ns"));
	tmigr_om_number(f, "tmigr_daemon_wakeups", "counter", "Voluntary switches of the daemon.",
			num(observer, "wakeups"));
	tmigr_om_number(f, "tmigr_daemon_clients", "gauge", "Connections.", num(status, "clients"));
	tmigr_om_number(f, "tmigr_daemon_resident_bytes", "gauge", "Resident memory.",
			num(status, "resident_bytes"));
}

char *metrics_text(const json_t *report, const json_t *status)
{
	const struct tmigr_om_run run = {.report = report};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int failed;

	if (!f)
		return NULL;
	tmigr_om_reports(f, &run, 1);
	daemon_itself(f, status);
	tmigr_om_end(f);
	failed = ferror(f);
	if (fclose(f) || failed) {
		free(text);
		return NULL;
	}
	return text;
}
