// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz harness for recordings (events.tmr), as far as the report and its text.  The
 * first byte chooses: even, the rest is the file as it is; odd, the rest is frames
 * (type, size as two bytes, what it unpacks to), which are packed here, so that
 * what lies behind the checksums is reached.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../lib/recording_format.h"
#include "../../lib/zstd_frame.h"
#include "tmigr/replay.h"
#include "tmigr/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(int fd, const void *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		abort();
}

static void put_frame(int fd, unsigned int type, const uint8_t *data, size_t size)
{
	static char packed[1 << 17];
	static struct tmigr_zstd_packer *packer;
	ssize_t stored;
	struct tmigr_frame_head head = {TMIGR_FRAME_MAGIC, type, 0, (__u32)size};

	if (!packer)
		packer = tmigr_zstd_packer_new();
	stored = tmigr_zstd_pack(packer, packed, sizeof(packed), data, size, size);
	assert(stored > 0);
	head.stored = (__u32)stored;
	tmigr_frame_head_swap(&head);
	put(fd, &head, sizeof(head));
	put(fd, packed, (size_t)stored);
}

static void put_frames(int fd, const uint8_t *data, size_t size)
{
	static const char head[TMIGR_FILE_HEAD_SIZE] = TMIGR_FILE_MAGIC "\1";

	put(fd, head, sizeof(head));
	while (size >= 3) {
		size_t n = data[1] | (size_t)data[2] << 8;

		n = n < size - 3 ? n : size - 3;
		put_frame(fd, data[0], data + 3, n);
		data += 3 + n;
		size -= 3 + n;
	}
}

/* What a report says must be a report, and have a text. */
static void look_at(const json_t *report)
{
	struct tmigr_err err;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert(out && tmigr_report_check(report, &err) == 0);
	assert(tmigr_report_text(report, out) == 0 && tmigr_report_json(report, out) == 0);
	fclose(out);
	assert(size);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tmigr_err err = {""};
	json_t *report = NULL;
	char path[32];
	int fd;

	if (!size)
		return 0;
	fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	if (data[0] & 1)
		put_frames(fd, data + 1, size - 1);
	else
		put(fd, data + 1, size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (tmigr_replay(path, &report, NULL, &err) == 0)
		look_at(report);
	else
		assert(err.text[0] && !strchr(err.text, '\n'));
	json_decref(report);
	close(fd);
	return 0;
}
