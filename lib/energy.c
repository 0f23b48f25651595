// SPDX-License-Identifier: GPL-2.0-or-later
/* Energy: what is there, and what it read. */
#include "tmigr/energy.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"

enum kind { COUNTER, POWER };

struct domain {
	char *name;
	char *path; /* of the value, below root */
	enum kind kind;
	__u64 range_uj; /* a counter wraps behind it; 0: never */
	/* of the window that is open, or was last */
	bool begun, lost;
	__u64 last, last_ns; /* uJ or uW */
	double sum_uj;
};

struct tmigr_energy {
	char *root;
	struct domain *domains;
	size_t n;
};

static void domain_free(struct domain *d)
{
	free(d->name);
	free(d->path);
}

void tmigr_energy_close(struct tmigr_energy *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n; i++)
		domain_free(&e->domains[i]);
	free(e->domains);
	free(e->root);
	free(e);
}

static bool read_value(const struct tmigr_energy *e, const char *path, __u64 *ret)
{
	long long v;

	if (sysfs_number(e->root, path, 0, LLONG_MAX, &v) < 0)
		return false;
	*ret = (__u64)v;
	return true;
}

static bool has_name(const struct tmigr_energy *e, const char *name)
{
	for (size_t i = 0; i < e->n; i++)
		if (!strcmp(e->domains[i].name, name))
			return true;
	return false;
}

/* Two of one name (a zone is there by MSR and by MMIO) are told apart by @where. */
static int add_domain(struct tmigr_energy *e, const char *name, const char *where, const char *path,
		      enum kind kind, __u64 range_uj)
{
	struct domain d = {.kind = kind, .range_uj = range_uj}, *domains;
	int n = has_name(e, name) ? asprintf(&d.name, "%s (%s)", name, where)
				  : asprintf(&d.name, "%s", name);

	if (n < 0)
		d.name = NULL;
	d.path = strdup(path);
	domains = reallocarray(e->domains, e->n + 1, sizeof(*domains));
	if (domains)
		e->domains = domains;
	if (!domains || !d.name || !d.path) {
		domain_free(&d);
		return -ENOMEM;
	}
	domains[e->n++] = d;
	return 0;
}

/* ---- what is there ---- */

/* The entries of <root>/<path>, in an order that does not change; owned by the caller. */
static int list(const struct tmigr_energy *e, const char *path, struct dirent ***ret)
{
	char full[PATH_MAX];
	int n;

	snprintf(full, sizeof(full), "%s%s", e->root, path);
	n = scandir(full, ret, NULL, versionsort);
	return n < 0 ? 0 : n;
}

static void free_list(struct dirent **entries, int n)
{
	if (n <= 0)
		return;
	while (n--)
		free(entries[n]);
	free(entries);
}

#define POWERCAP "/sys/class/powercap/"

/* "package-0", and of a zone inside another "package-0/core". */
static void zone_name(const struct tmigr_energy *e, const char *zone, char *buf, size_t size)
{
	char path[PATH_MAX], name[64], outer[128] = "";
	const char *first = strchr(zone, ':'), *last = strrchr(zone, ':');

	if (last != first) {
		char parent[NAME_MAX + 1];

		snprintf(parent, sizeof(parent), "%.*s", (int)(last - zone), zone);
		zone_name(e, parent, outer, sizeof(outer));
	}
	snprintf(path, sizeof(path), POWERCAP "%s/name", zone);
	if (sysfs_name(e->root, path, name, sizeof(name)) < 0 || !*name)
		snprintf(name, sizeof(name), "%.63s", zone);
	snprintf(buf, size, "%s%s%s", outer, *outer ? "/" : "", name);
}

static int add_zone(struct tmigr_energy *e, const char *zone)
{
	char path[PATH_MAX], name[256];
	__u64 value, range = 0;

	snprintf(path, sizeof(path), POWERCAP "%s/max_energy_range_uj", zone);
	if (!read_value(e, path, &range))
		range = 0;
	snprintf(path, sizeof(path), POWERCAP "%s/energy_uj", zone);
	/* Many are for root only: what cannot be read is not there. */
	if (!read_value(e, path, &value))
		return 0;
	zone_name(e, zone, name, sizeof(name));
	return add_domain(e, name, zone, path, COUNTER, range);
}

static int find_powercap(struct tmigr_energy *e)
{
	struct dirent **zones = NULL;
	int n = list(e, POWERCAP, &zones), ret = 0;

	for (int i = 0; i < n && !ret; i++)
		if (zones[i]->d_name[0] != '.')
			ret = add_zone(e, zones[i]->d_name);
	free_list(zones, n);
	return ret;
}

#define HWMON "/sys/class/hwmon/"

/* "ina226 vdd_cpu", or "ina226 power1" without a label. */
static void sensor_name(const struct tmigr_energy *e, const char *dev, const char *channel,
			char *buf, size_t size)
{
	char path[PATH_MAX], name[64], label[64];

	snprintf(path, sizeof(path), HWMON "%s/name", dev);
	if (sysfs_name(e->root, path, name, sizeof(name)) < 0 || !*name)
		snprintf(name, sizeof(name), "%.63s", dev);
	snprintf(path, sizeof(path), HWMON "%s/%s_label", dev, channel);
	if (sysfs_name(e->root, path, label, sizeof(label)) < 0 || !*label)
		snprintf(label, sizeof(label), "%.63s", channel);
	snprintf(buf, size, "%s %s", name, label);
}

/* "energy12" of "energy12_input"; false: the file is something else. */
static bool channel_of(const char *file, const char *kind, const char *suffix, char channel[32])
{
	size_t len = strlen(kind), digits;

	if (strncmp(file, kind, len))
		return false;
	digits = strspn(file + len, "0123456789");
	if (!digits || digits > 8 || strcmp(file + len + digits, suffix))
		return false;
	snprintf(channel, 32, "%.*s", (int)(len + digits), file);
	return true;
}

static int add_sensor(struct tmigr_energy *e, const char *dev, const char *file, enum kind kind)
{
	char path[PATH_MAX], name[256], channel[32], other[64];
	const char *word = kind == POWER ? "power" : "energy";
	__u64 value;

	if (!channel_of(file, word, "_input", channel)) {
		if (kind != POWER || !channel_of(file, word, "_average", channel))
			return 0;
		/* The present value is better, where there is one. */
		snprintf(other, sizeof(other), "%s_input", channel);
		snprintf(path, sizeof(path), HWMON "%s/%s", dev, other);
		if (read_value(e, path, &value))
			return 0;
	}
	snprintf(path, sizeof(path), HWMON "%s/%s", dev, file);
	if (!read_value(e, path, &value))
		return 0;
	sensor_name(e, dev, channel, name, sizeof(name));
	return add_domain(e, name, dev, path, kind, 0);
}

static int find_sensors(struct tmigr_energy *e, const char *dev, enum kind kind)
{
	struct dirent **files = NULL;
	char path[PATH_MAX];
	int n, ret = 0;

	snprintf(path, sizeof(path), HWMON "%s", dev);
	n = list(e, path, &files);
	for (int i = 0; i < n && !ret; i++)
		ret = add_sensor(e, dev, files[i]->d_name, kind);
	free_list(files, n);
	return ret;
}

static int find_hwmon(struct tmigr_energy *e, enum kind kind)
{
	struct dirent **devs = NULL;
	int n = list(e, HWMON, &devs), ret = 0;

	for (int i = 0; i < n && !ret; i++)
		if (devs[i]->d_name[0] != '.')
			ret = find_sensors(e, devs[i]->d_name, kind);
	free_list(devs, n);
	return ret;
}

int tmigr_energy_open(const char *root, struct tmigr_energy **ret, struct tmigr_err *err)
{
	struct tmigr_energy *e = calloc(1, sizeof(*e));
	int r = e ? 0 : -ENOMEM;

	if (e)
		e->root = strdup(root ? root : "");
	if (!r && !e->root)
		r = -ENOMEM;
	if (!r)
		r = find_powercap(e);
	if (!r)
		r = find_hwmon(e, COUNTER);
	/* To follow power costs a reading a second: not where it is not needed. */
	if (!r && !e->n)
		r = find_hwmon(e, POWER);
	if (r < 0) {
		tmigr_energy_close(e);
		return tmigr_fail(err, r, "no memory for the energy counters");
	}
	*ret = e;
	return 0;
}

/* ---- reading ---- */

void tmigr_energy_begin(struct tmigr_energy *e, __u64 now_ns)
{
	for (size_t i = 0; i < e->n; i++) {
		struct domain *d = &e->domains[i];

		d->begun = read_value(e, d->path, &d->last);
		d->lost = false;
		d->last_ns = now_ns;
		d->sum_uj = 0;
	}
}

static void step_counter(struct domain *d, __u64 value)
{
	if (value >= d->last)
		d->sum_uj += (double)(value - d->last);
	else if (d->last <= d->range_uj)
		d->sum_uj += (double)(d->range_uj - d->last) + (double)value;
	else
		d->lost = true; /* was reset */
}

/* What it was on the way is taken as between its ends. */
static void step_power(struct domain *d, __u64 value, __u64 now_ns)
{
	d->sum_uj += ((double)d->last + (double)value) / 2 * (double)(now_ns - d->last_ns) / 1e9;
}

static void step(const struct tmigr_energy *e, struct domain *d, __u64 now_ns)
{
	__u64 value;

	if (!d->begun || d->lost)
		return;
	if (!read_value(e, d->path, &value)) {
		d->lost = true;
		return;
	}
	if (d->kind == COUNTER)
		step_counter(d, value);
	else
		step_power(d, value, now_ns);
	d->last = value;
	d->last_ns = now_ns;
}

void tmigr_energy_sample(struct tmigr_energy *e, __u64 now_ns)
{
	for (size_t i = 0; i < e->n; i++) {
		struct domain *d = &e->domains[i];
		__u64 every = d->kind == POWER ? TMIGR_ENERGY_POWER_NS : TMIGR_ENERGY_WRAP_NS;

		if (d->kind == COUNTER && !d->range_uj)
			continue;
		if (now_ns - d->last_ns >= every)
			step(e, d, now_ns);
	}
}

void tmigr_energy_end(struct tmigr_energy *e, __u64 now_ns)
{
	for (size_t i = 0; i < e->n; i++)
		step(e, &e->domains[i], now_ns);
}

int tmigr_energy_result(const struct tmigr_energy *e, json_t **ret, const char **ret_lost)
{
	json_t *array = json_array();
	int r = array ? 0 : -ENOMEM;

	*ret_lost = NULL;
	for (size_t i = 0; i < e->n && !r; i++) {
		const struct domain *d = &e->domains[i];

		if (d->lost)
			*ret_lost = d->name;
		if (!d->begun || d->lost)
			continue;
		if (json_array_append_new(array,
					  json_pack("{ss sI}", "domain", d->name, "energy_uj",
						    (json_int_t)(d->sum_uj + 0.5))))
			r = -ENOMEM;
	}
	if (r < 0 || !json_array_size(array)) {
		json_decref(array);
		array = NULL;
	}
	if (!r)
		*ret = array;
	return r;
}
