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

#include "report_laws.h"
#include "tmigr/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
		check_laws(report);
	else
		assert(err.text[0] && !strchr(err.text, '\n'));
	json_decref(report);
	close(fd);
	return 0;
}
