// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that appear whole or not at all. */
#include "tmigr/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that may be taken before it is given up: another's half-written files. */
#define TRIES 100

struct tmigr_outfile {
	char *path; /* for messages */
	char *real; /* behind symbolic links: they stay links */
	char *temp; /* NULL: written to as it is */
	FILE *out;
};

static void outfile_free(struct tmigr_outfile *f)
{
	if (f->out && f->out != stdout)
		fclose(f->out);
	free(f->path);
	free(f->real);
	free(f->temp);
	free(f);
}

/* Made anew: never through a link that somebody put there. */
static int open_temp(struct tmigr_outfile *f)
{
	for (int i = 0; i < TRIES; i++) {
		int fd;

		free(f->temp);
		if (asprintf(&f->temp, "%s.%ld.%d.partial", f->real, (long)getpid(), i) < 0) {
			f->temp = NULL;
			return -ENOMEM;
		}
		fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			return fd >= 0 ? fd : -errno;
	}
	return -EEXIST;
}

static int open_fd(struct tmigr_outfile *f)
{
	struct stat st;
	int fd;

	f->real = realpath(f->path, NULL);
	if (!f->real)
		f->real = strdup(f->path);
	if (!f->real)
		return -ENOMEM;
	if (stat(f->real, &st) == 0 && !S_ISREG(st.st_mode)) {
		fd = S_ISDIR(st.st_mode) ? -1 : open(f->real, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return S_ISDIR(st.st_mode) ? -EISDIR : -errno;
		return fd;
	}
	/* Who may not write to the file shall not replace it either. */
	if (access(f->real, W_OK) < 0 && errno != ENOENT)
		return -errno;
	fd = open_temp(f);
	if (fd < 0) {
		free(f->temp);
		f->temp = NULL;
	}
	return fd;
}

int tmigr_outfile_open(const char *path, struct tmigr_outfile **ret, struct tmigr_err *err)
{
	struct tmigr_outfile *f = calloc(1, sizeof(*f));
	int fd = -ENOMEM;

	if (f)
		f->path = strdup(strcmp(path, "-") ? path : "standard output");
	if (f && f->path && !strcmp(path, "-")) {
		f->out = stdout;
		*ret = f;
		return 0;
	}
	if (f && f->path)
		fd = open_fd(f);
	if (fd >= 0) {
		f->out = fdopen(fd, "w");
		if (!f->out) {
			close(fd);
			fd = -ENOMEM;
		}
	}
	if (fd < 0) {
		tmigr_outfile_abort(f);
		return tmigr_fail(err, fd, "%s: cannot write: %s", path, strerror(-fd));
	}
	*ret = f;
	return 0;
}

FILE *tmigr_outfile_stream(struct tmigr_outfile *f)
{
	return f->out;
}

int tmigr_outfile_commit(struct tmigr_outfile *f, struct tmigr_err *err)
{
	int ret = 0;

	errno = 0;
	if (fflush(f->out) != 0 || ferror(f->out))
		ret = errno ? -errno : -EIO;
	/* A name must not stand for bytes that the disk has not taken. */
	if (ret == 0 && f->temp && fsync(fileno(f->out)) < 0 && errno != EINVAL && errno != EROFS)
		ret = -errno;
	if (f->out != stdout) {
		if (fclose(f->out) != 0 && ret == 0)
			ret = -errno;
		f->out = NULL;
	}
	if (ret == 0 && f->temp && rename(f->temp, f->real) < 0)
		ret = -errno;
	if (ret < 0) {
		tmigr_fail(err, ret, "%s: cannot write: %s", f->path, strerror(-ret));
		tmigr_outfile_abort(f);
		return ret;
	}
	outfile_free(f);
	return 0;
}

void tmigr_outfile_abort(struct tmigr_outfile *f)
{
	if (!f)
		return;
	if (f->temp)
		unlink(f->temp);
	outfile_free(f);
}
