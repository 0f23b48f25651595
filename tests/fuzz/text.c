// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz harness for traces as text, through the sequencer and the model as far as the
 * report.  What comes out must obey the laws: a CPU's times, and a root's, add up to
 * the window.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tmigr/import.h"
#include "tmigr/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_int_t number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	assert(json_is_integer(v) && json_integer_value(v) >= 0);
	return json_integer_value(v);
}

static void check_cpu(const json_t *cpu, json_int_t window)
{
	json_int_t sum =
		number(cpu, "running_ns") + number(cpu, "offline_ns") + number(cpu, "unknown_ns");
	const json_t *state;
	size_t i;

	json_array_foreach (json_object_get(cpu, "states"), i, state)
		sum += number(state, "time_ns");
	assert(sum == window);
}

static void check_root(const json_t *root, json_int_t window)
{
	json_int_t held = 0;
	const json_t *h;
	size_t i;

	json_array_foreach (json_object_get(root, "holders"), i, h)
		held += number(h, "held_ns");
	assert(held == number(root, "held_ns"));
	assert(held + number(root, "handover_ns") + number(root, "duty_ns") +
		       number(root, "free_ns") + number(root, "unknown_ns") ==
	       window);
}

static void look_at(const json_t *report)
{
	json_int_t window = number(report, "window_ns");
	struct tmigr_err err;
	const json_t *o;
	char *text = NULL;
	size_t size = 0, i;
	FILE *out = open_memstream(&text, &size);

	json_array_foreach (json_object_get(report, "cpus"), i, o)
		check_cpu(o, window);
	json_array_foreach (json_object_get(report, "roots"), i, o)
		check_root(o, window);
	assert(out && tmigr_report_check(report, &err) == 0);
	assert(tmigr_report_text(report, out) == 0);
	fclose(out);
	free(text);
}

/* A head may claim 65535 CPUs, which takes its time. */
static bool is_big(const uint8_t *data, size_t size)
{
	static const char *const keys[] = {"#P:", "cpus="};

	for (int i = 0; i < 2; i++) {
		const uint8_t *p = memmem(data, size, keys[i], strlen(keys[i]));
		size_t n = 0;

		for (p = p ? p + strlen(keys[i]) : data + size;
		     p < data + size && (*p == ' ' || (*p >= '0' && *p <= '9')); p++)
			n += *p != ' ';
		if (n > 2)
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const classes[] = {"LITTLE=0-1", "big=2"};
	struct tmigr_import_opts opts = {.tool = "fuzz", .classes = classes};
	struct tmigr_err err = {""};
	json_t *report = NULL;
	char path[32];
	int fd;

	/* Other formats have harnesses of their own. */
	if (is_big(data, size) || (size > 2 && (data[0] == 'T' || data[0] == 0x17)))
		return 0;
	fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	opts.n_classes = size & 1 ? 2 : 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (tmigr_import(path, &opts, &report, NULL, &err) == 0)
		look_at(report);
	else
		assert(err.text[0] && !strchr(err.text, '\n'));
	json_decref(report);
	close(fd);
	return 0;
}
