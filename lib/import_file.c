// SPDX-License-Identifier: GPL-2.0-or-later
/* What a file is, by its first bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import_priv.h"
#include "recording_format.h"
#include "tmigr/import.h"
#include "tmigr/replay.h"

static const struct {
	const char *magic;
	size_t n;
	const char *what;
} foreign[] = {
	{"PERFILE2", 8, "a perf.data file: give the text that 'perf script' makes of it"},
	{"\x1f\x8b", 2, "compressed: give what 'zcat' makes of it"},
	{"\x28\xb5\x2f\xfd", 4, "compressed: give what 'zstdcat' makes of it"},
	{"\xfd\x37zXZ", 5, "compressed: give what 'xzcat' makes of it"},
	{"BZh", 3, "compressed: give what 'bzcat' makes of it"},
};

/* Opens, and reads the first bytes. */
static int open_file(const char *path, struct import_head *h, struct tmigr_err *err)
{
	bool in = !strcmp(path, "-");
	struct stat st;

	*h = (struct import_head){.path = in ? "standard input" : path};
	h->fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	h->own = !in;
	if (h->fd < 0)
		return tmigr_fail(err, -errno, "%s: %s", h->path, strerror(errno));
	if (!fstat(h->fd, &st) && S_ISDIR(st.st_mode))
		return tmigr_fail(err, -EISDIR, "%s: %s", h->path, strerror(EISDIR));
	while (h->n < sizeof(h->bytes)) {
		ssize_t n = read(h->fd, h->bytes + h->n, sizeof(h->bytes) - h->n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tmigr_fail(err, -errno, "%s: %s", h->path, strerror(errno));
		if (n == 0)
			break;
		h->n += (size_t)n;
	}
	return 0;
}

static bool begins_with(const struct import_head *h, const char *magic, size_t n)
{
	return h->n >= n && !memcmp(h->bytes, magic, n);
}

static int import_recording(struct import_head *h, const struct tmigr_import_opts *opts,
			    json_t **ret_report, struct tmigr_err *err)
{
	struct tmigr_replay_opts replay = {.segment = opts->segment, .arg = opts->arg};

	if (opts->n_classes || opts->cpus)
		return tmigr_fail(err, -EINVAL,
				  "%s: a recording, which knows its machine: no --class or --cpus",
				  h->path);
	return tmigr_replay_fd(h->path, h->fd, h->bytes, h->n, ret_report, &replay, err);
}

static int open_traced(const struct import_head *h, bool steps, struct tmigr_traced_source **ret,
		       struct tmigr_err *err)
{
	if (begins_with(h, "\x17\x08\x44tracing", 10))
		return tmigr_dat_open_fd(h->path, h->fd, steps, ret, err);
	return tmigr_text_open_fd(h->path, h->fd, h->bytes, h->n, ret, err);
}

static int import_traced(struct import_head *h, const struct tmigr_import_opts *opts,
			 json_t **ret_report, struct tmigr_topology **ret_topo,
			 struct tmigr_err *err)
{
	struct import im = {.path = h->path, .opts = opts, .err = err};
	int r = open_traced(h, false, &im.src, err);

	if (r < 0)
		return r;
	r = import_events(&im, ret_report);
	im.src->close(im.src);
	if (r == 0 && ret_topo) {
		*ret_topo = im.topo;
		im.topo = NULL;
	}
	tmigr_topology_free(im.topo);
	return r;
}

/* Opens a file that can be told to be something. */
static int open_known(const char *path, struct import_head *h, struct tmigr_err *err)
{
	int r = open_file(path, h, err);

	if (r == 0 && !h->n)
		r = tmigr_fail(err, -EINVAL, "%s: empty", h->path);
	for (size_t i = 0; r == 0 && i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (begins_with(h, foreign[i].magic, foreign[i].n))
			r = tmigr_fail(err, -EINVAL, "%s: %s", h->path, foreign[i].what);
	return r;
}

int tmigr_traced_open(const char *path, bool steps, struct tmigr_traced_source **ret, int *ret_fd,
		      struct tmigr_err *err)
{
	struct import_head h;
	int r = open_known(path, &h, err);

	if (r == 0 && begins_with(&h, TMIGR_FILE_MAGIC, 8))
		r = tmigr_fail(err, -EINVAL, "%s: a recording: it has no %s", h.path,
			       steps ? "steps of CPU hotplug, but its run directory may"
				     : "boot trace");
	if (r == 0)
		r = open_traced(&h, steps, ret, err);
	if (r == 0)
		*ret_fd = h.own ? h.fd : -1;
	else if (h.own && h.fd >= 0)
		close(h.fd);
	return r;
}

int tmigr_import(const char *path, const struct tmigr_import_opts *opts, json_t **ret_report,
		 struct tmigr_topology **ret_topo, struct tmigr_err *err)
{
	struct tmigr_err mine = {""};
	struct import_head h;
	int r;

	err = err ? err : &mine;
	err->text[0] = '\0';
	r = open_known(path, &h, err);
	if (r == 0 && begins_with(&h, TMIGR_FILE_MAGIC, 8))
		r = import_recording(&h, opts, ret_report, err);
	else if (r == 0)
		r = import_traced(&h, opts, ret_report, ret_topo, err);
	if (h.own && h.fd >= 0)
		close(h.fd);
	return r;
}
