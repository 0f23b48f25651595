// SPDX-License-Identifier: GPL-2.0-or-later
#include "tmigr/csv_segments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tmigr/replay.h"

/* ---- from the run directory's file ---- */

/* Is the next line the table's head? */
static bool read_head(FILE *in)
{
	char *want = NULL, *line = NULL;
	size_t size = 0, room = 0;
	FILE *f = open_memstream(&want, &size);
	bool same = false;

	if (!f)
		return false;
	tmigr_csv_head(TMIGR_CSV_SEGMENTS, false, f);
	if (fclose(f) == 0 && getline(&line, &room, in) > 0)
		same = !strcmp(line, want);
	free(want);
	free(line);
	return same;
}

/* What stands before each row: made by the one writer of rows, of a table without
 * columns. */
static char *row_start(const struct tmigr_csv_run *id)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	tmigr_csv_begin(id, f);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* Rows may hold line ends inside quotes. */
static int copy_rows(FILE *in, const char *start, FILE *out)
{
	bool begins = true, quoted = false;
	int c;

	while ((c = getc_unlocked(in)) != EOF) {
		if (begins)
			fputs(start, out);
		if (c == '"')
			quoted = !quoted;
		begins = c == '\n' && !quoted;
		putc_unlocked(c, out);
	}
	if (ferror(in))
		return -EIO;
	return begins && !quoted ? 0 : -EINVAL;
}

static int from_file(const char *path, FILE *in, const struct tmigr_csv_run *id, FILE *out,
		     struct tmigr_err *err)
{
	char *start;
	int ret;

	if (!read_head(in))
		return tmigr_fail(err, -EINVAL, "%s: not a table of tmigr's segments", path);
	start = row_start(id);
	if (!start)
		return tmigr_fail(err, -ENOMEM, "%s: no memory", path);
	ret = copy_rows(in, start, out);
	free(start);
	if (ret == -EINVAL)
		return tmigr_fail(err, ret, "%s: ends in the middle of a row", path);
	return ret < 0 ? tmigr_fail(err, ret, "%s: %s", path, strerror(-ret)) : 0;
}

/* ---- by replay ---- */

struct rows {
	const json_t *report;
	const struct tmigr_csv_run *id;
	FILE *out;
};

static void put_segment(void *arg, const struct tmigr_segment *seg)
{
	struct rows *r = arg;

	if (!ferror(r->out))
		tmigr_csv_segment(r->report, seg, r->id, r->out);
}

static int from_recording(const char *path, const json_t *report, const struct tmigr_csv_run *id,
			  FILE *out, struct tmigr_err *err)
{
	struct rows rows = {report, id, out};
	const struct tmigr_replay_opts opts = {.segment = put_segment, .arg = &rows};
	json_t *again = NULL;
	int ret = tmigr_replay(path, &again, &opts, err);

	json_decref(again);
	return ret;
}

/* A FIFO of that name must not be waited for. */
static FILE *open_table(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	if (!in && fd >= 0)
		close(fd);
	return in;
}

static int from_dir(const struct tmigr_run *run, const struct tmigr_csv_run *id, FILE *out,
		    struct tmigr_err *err)
{
	char *table = NULL, *recording = NULL;
	int ret = -ENOMEM;
	FILE *in;

	if (asprintf(&table, "%s/migrator-segments.csv", run->path) < 0)
		table = NULL;
	if (asprintf(&recording, "%s/events.tmr", run->path) < 0)
		recording = NULL;
	if (!table || !recording)
		goto out;
	in = open_table(table);
	if (in) {
		ret = from_file(table, in, id, out, err);
		fclose(in);
	} else if (errno != ENOENT) {
		ret = tmigr_fail(err, -errno, "%s: %s", table, strerror(errno));
	} else {
		ret = from_recording(recording, run->report, id, out, err);
	}
out:
	free(table);
	free(recording);
	return ret;
}

int tmigr_csv_segments(const struct tmigr_run *run, const struct tmigr_csv_run *id, FILE *out,
		       struct tmigr_err *err)
{
	struct stat st;
	int ret;

	if (stat(run->path, &st) == 0 && S_ISDIR(st.st_mode))
		ret = from_dir(run, id, out, err);
	else
		ret = from_recording(run->path, run->report, id, out, err);
	if (ret == 0 && ferror(out))
		return -EIO;
	return ret;
}
