// SPDX-License-Identifier: GPL-2.0-or-later
/* What the report says about the tool, the machine and the command. */
#include "tmigr/info.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/* First line of a file, without blanks at its end; "" when there is none. */
static void read_line(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	*text = '\0';
	if (!f)
		return;
	if (!fgets(text, (int)size, f))
		*text = '\0';
	fclose(f);
	for (n = strlen(text); n && strchr(" \t\n\r", text[n - 1]); n--)
		text[n - 1] = '\0';
}

/* A board's model from its device tree, a PC's from DMI; "" unknown. */
static void machine_model(char *text, size_t size)
{
	char vendor[128], product[128];

	read_line("/proc/device-tree/model", text, size);
	if (*text)
		return;
	read_line("/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	read_line("/sys/class/dmi/id/product_name", product, sizeof(product));
	snprintf(text, size, "%s%s%s", vendor, *vendor && *product ? " " : "", product);
}

/* Text from outside may be any bytes; JSON takes UTF-8 only. */
json_t *tmigr_json_text(const char *text)
{
	char clean[4096];
	json_t *json = json_string(text);
	size_t i;

	if (json)
		return json;
	for (i = 0; text[i] && i + 1 < sizeof(clean); i++)
		clean[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	clean[i] = '\0';
	return json_string(clean);
}

static json_t *command_json(char *const *command)
{
	json_t *list = json_array();

	for (; list && command && *command; command++)
		if (json_array_append_new(list, tmigr_json_text(*command))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *kernel_json(void)
{
	struct utsname u;

	if (uname(&u))
		return json_null();
	return json_pack("{ss ss ss}", "release", u.release, "version", u.version, "arch",
			 u.machine);
}

void tmigr_info_time(char *text, size_t size)
{
	time_t t = time(NULL);
	struct tm tm;

	*text = '\0';
	if (gmtime_r(&t, &tm))
		strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

void tmigr_info_daemon(char *text, size_t size, const char *version, long pid)
{
	char process[32] = "";

	if (pid > 0)
		snprintf(process, sizeof(process), " (PID %ld)", pid);
	snprintf(text, size, "tmigrd %.80s%s", version, process);
}

json_t *tmigr_info(const char *tool, char *const *command, bool has_tmigr)
{
	char model[260], host[260], start[TMIGR_INFO_TIME_MAX];

	tmigr_info_time(start, sizeof(start));
	machine_model(model, sizeof(model));
	read_line("/proc/sys/kernel/hostname", host, sizeof(host));
	return json_pack("{ss so so so so so}", "tool", tool, "kernel", kernel_json(), "machine",
			 json_pack("{so so}", "model", tmigr_json_text(model), "host",
				   tmigr_json_text(host)),
			 "command", command_json(command), "start_time", json_string(start),
			 "timer_migration_hierarchy", json_boolean(has_tmigr));
}
