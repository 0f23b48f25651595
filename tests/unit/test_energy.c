// SPDX-License-Identifier: GPL-2.0-or-later
/* Energy: counters that wrap, several domains, power summed up, what cannot be read. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../lib/sysfs_tree.h"
#include "tmigr/energy.h"

#define SEC 1000000000ULL

static struct tmigr_energy *energy;

static void put(const struct sysfs_tree *m, const char *path, const char *text)
{
	char full[200];

	snprintf(full, sizeof(full), "/sys/class/%s", path);
	sysfs_tree_file(m, full, text);
}

static void zone(const struct sysfs_tree *m, const char *dir, const char *name, const char *uj,
		 const char *range)
{
	char path[160];

	snprintf(path, sizeof(path), "powercap/%s/name", dir);
	put(m, path, name);
	snprintf(path, sizeof(path), "powercap/%s/energy_uj", dir);
	put(m, path, uj);
	snprintf(path, sizeof(path), "powercap/%s/max_energy_range_uj", dir);
	if (range)
		put(m, path, range);
}

static void open_it(const struct sysfs_tree *m)
{
	struct tmigr_err err = {""};

	assert_int_equal(tmigr_energy_open(m->root, &energy, &err), 0);
}

/* "package-0=500 dram=3 ", with what was lost behind a '!'. */
static const char *result(void)
{
	static char text[500];
	json_t *array = NULL, *e;
	const char *lost;
	size_t i;

	*text = '\0';
	assert_int_equal(tmigr_energy_result(energy, &array, &lost), 0);
	json_array_foreach (array, i, e)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s=%lld ",
			 json_string_value(json_object_get(e, "domain")),
			 (long long)json_integer_value(json_object_get(e, "energy_uj")));
	assert_true(!array || json_array_size(array));
	json_decref(array);
	if (lost)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "!%s", lost);
	tmigr_energy_close(energy);
	energy = NULL;
	return text;
}

static void test_none(void **state)
{
	open_it(*state);
	tmigr_energy_begin(energy, 0);
	tmigr_energy_sample(energy, 5 * SEC);
	tmigr_energy_end(energy, 9 * SEC);
	assert_string_equal(result(), "");
}

static void test_zones(void **state)
{
	const struct sysfs_tree *m = *state;

	zone(m, "intel-rapl:0", "package-0\n", "1000\n", "262143328850\n");
	zone(m, "intel-rapl:0:0", "core\n", "500\n", "262143328850\n");
	zone(m, "intel-rapl:1", "package-1\n", "70\n", "262143328850\n");
	zone(m, "intel-rapl-mmio:0", "package-0\n", "1001\n", "262143328850\n");
	put(m, "powercap/intel-rapl/enabled", "1\n");
	open_it(m);
	tmigr_energy_begin(energy, 0);
	put(m, "powercap/intel-rapl:0/energy_uj", "3500\n");
	put(m, "powercap/intel-rapl:0:0/energy_uj", "500\n");
	put(m, "powercap/intel-rapl:1/energy_uj", "71\n");
	put(m, "powercap/intel-rapl-mmio:0/energy_uj", "3502\n");
	tmigr_energy_end(energy, SEC);
	assert_string_equal(result(), "package-0=2501 package-0 (intel-rapl:0)=2500 "
				      "package-0/core=0 package-1=1 ");
}

static void test_wrap(void **state)
{
	const struct sysfs_tree *m = *state;

	zone(m, "intel-rapl:0", "package-0\n", "990\n", "1000\n");
	zone(m, "intel-rapl:1", "package-1\n", "990\n", NULL);
	zone(m, "intel-rapl:2", "package-2\n", "2000\n", "1000\n");
	open_it(m);
	tmigr_energy_begin(energy, 0);
	put(m, "powercap/intel-rapl:0/energy_uj", "5\n");
	put(m, "powercap/intel-rapl:1/energy_uj", "5\n");
	put(m, "powercap/intel-rapl:2/energy_uj", "5\n");
	tmigr_energy_end(energy, SEC);
	/* Without a range, or from above it, less than before is a reset. */
	assert_string_equal(result(), "package-0=15 !package-2");
}

/* Each wrap of a long window is seen, because it is looked at in between. */
static void test_wraps(void **state)
{
	const struct sysfs_tree *m = *state;
	static const char *const values[] = {"900\n", "100\n", "900\n", "100\n"};

	zone(m, "intel-rapl:0", "package-0\n", "100\n", "1000\n");
	open_it(m);
	tmigr_energy_begin(energy, 0);
	for (size_t i = 0; i < 4; i++) {
		put(m, "powercap/intel-rapl:0/energy_uj", values[i]);
		tmigr_energy_sample(energy, (i + 1) * TMIGR_ENERGY_WRAP_NS);
	}
	put(m, "powercap/intel-rapl:0/energy_uj", "150\n");
	tmigr_energy_sample(energy, 4 * TMIGR_ENERGY_WRAP_NS + 1);
	put(m, "powercap/intel-rapl:0/energy_uj", "160\n");
	tmigr_energy_end(energy, 4 * TMIGR_ENERGY_WRAP_NS + 2);
	assert_string_equal(result(), "package-0=2060 ");
}

static void test_unreadable(void **state)
{
	const struct sysfs_tree *m = *state;
	char path[200];

	zone(m, "intel-rapl:0", "package-0\n", "no number\n", "1000\n");
	zone(m, "intel-rapl:1", "package-1\n", "5\n", "1000\n");
	zone(m, "intel-rapl:2", "package-2\n", "5\n", "1000\n");
	open_it(m);
	tmigr_energy_begin(energy, 0);
	snprintf(path, sizeof(path), "%s/sys/class/powercap/intel-rapl:1/energy_uj", m->root);
	assert_int_equal(unlink(path), 0);
	tmigr_energy_end(energy, SEC);
	assert_string_equal(result(), "package-2=0 !package-1");
}

static void test_hwmon(void **state)
{
	const struct sysfs_tree *m = *state;

	put(m, "hwmon/hwmon0/name", "scmi_sensors\n");
	put(m, "hwmon/hwmon0/energy1_input", "100\n");
	put(m, "hwmon/hwmon0/energy1_label", "big\n");
	put(m, "hwmon/hwmon0/energy2_input", "9\n");
	put(m, "hwmon/hwmon0/energy2_label", "comma, \"quote\"\n");
	put(m, "hwmon/hwmon0/energy_total", "1\n");
	put(m, "hwmon/hwmon0/power1_input", "1000000\n");
	open_it(m);
	tmigr_energy_begin(energy, 0);
	put(m, "hwmon/hwmon0/energy1_input", "400\n");
	tmigr_energy_end(energy, SEC);
	/* Where there is a counter, power is left alone. */
	assert_string_equal(result(), "scmi_sensors big=300 scmi_sensors comma, \"quote\"=0 ");
}

static void test_power(void **state)
{
	const struct sysfs_tree *m = *state;

	put(m, "hwmon/hwmon3/name", "ina226\n");
	put(m, "hwmon/hwmon3/power1_input", "1000000\n");
	put(m, "hwmon/hwmon3/power1_average", "7\n");
	put(m, "hwmon/hwmon3/power2_average", "500\n");
	put(m, "hwmon/hwmon3/power1_max", "9\n");
	open_it(m);
	tmigr_energy_begin(energy, 10 * SEC);
	put(m, "hwmon/hwmon3/power1_input", "3000000\n");
	/* Sooner than a second after the last reading: not looked at. */
	tmigr_energy_sample(energy, 10 * SEC + SEC / 2);
	put(m, "hwmon/hwmon3/power1_input", "2000000\n");
	tmigr_energy_sample(energy, 12 * SEC); /* (1 W + 2 W) / 2 for 2 s */
	put(m, "hwmon/hwmon3/power1_input", "0\n");
	tmigr_energy_end(energy, 13 * SEC); /* (2 W + 0) / 2 for 1 s */
	assert_string_equal(result(), "ina226 power1=4000000 ina226 power2=1500 ");
}

/* One window after the other. */
static void test_again(void **state)
{
	const struct sysfs_tree *m = *state;

	zone(m, "intel-rapl:0", "package-0\n", "100\n", "1000\n");
	open_it(m);
	tmigr_energy_begin(energy, 0);
	put(m, "powercap/intel-rapl:0/energy_uj", "400\n");
	tmigr_energy_end(energy, SEC);
	put(m, "powercap/intel-rapl:0/energy_uj", "500\n");
	tmigr_energy_begin(energy, 2 * SEC);
	put(m, "powercap/intel-rapl:0/energy_uj", "501\n");
	tmigr_energy_end(energy, 3 * SEC);
	assert_string_equal(result(), "package-0=1 ");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, sysfs_tree_setup, sysfs_tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_none),       TEST(test_zones), TEST(test_wrap),  TEST(test_wraps),
		TEST(test_unreadable), TEST(test_hwmon), TEST(test_power), TEST(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
