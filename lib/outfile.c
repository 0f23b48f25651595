// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that appear whole or not at all. */
#include "tmigr/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "signals.h"

/* Names that may be taken before it is given up: another's half-written files. */
#define TRIES 100

/* Temporary files that an interrupt takes away; as many as are open at once. */
#define MAX_TEMPS 16
static char *volatile temps[MAX_TEMPS];

struct tmigr_outfile {
	char *path; /* for messages */
	char *real; /* behind symbolic links: they stay links; NULL: written to as it is */
	char *temp; /* NULL: there is none, or no more */
	FILE *out;  /* NULL: closed */
	int fd;
	int error; /* errno of the first write that failed */
};

/* ---- temporary files ---- */

static void remember(char *old, char *new)
{
	for (int i = 0; i < MAX_TEMPS; i++)
		if (temps[i] == old) {
			temps[i] = new;
			return;
		}
}

static void forget_temp(struct tmigr_outfile *f)
{
	remember(f->temp, NULL);
	free(f->temp);
	f->temp = NULL;
}

void tmigr_outfile_interrupted(void)
{
	for (int i = 0; i < MAX_TEMPS; i++)
		if (temps[i])
			unlink(temps[i]);
}

/* Made anew: never through a link that somebody put there.  No interrupt comes between
 * its making and its being remembered. */
static int make_temp(char *temp)
{
	sigset_t before;
	int fd, error;

	signals_hold(&before);
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	error = errno;
	if (fd >= 0)
		remember(NULL, temp);
	signals_let_go(&before);
	return fd < 0 ? -error : fd;
}

static int open_temp(struct tmigr_outfile *f)
{
	for (int i = 0; i < TRIES; i++) {
		int fd;

		if (asprintf(&f->temp, "%s.%ld.%d.partial", f->real, (long)getpid(), i) < 0) {
			f->temp = NULL;
			return -ENOMEM;
		}
		fd = make_temp(f->temp);
		if (fd >= 0)
			return fd;
		free(f->temp);
		f->temp = NULL;
		if (fd != -EEXIST)
			return fd;
	}
	return -EEXIST;
}

/* ---- opening ---- */

/* Beside a file that is there: with its access rights. */
static int open_beside(struct tmigr_outfile *f, const struct stat *st)
{
	int fd;

	f->real = realpath(f->path, NULL);
	/* Who may not write to the file shall not replace it either. */
	if (!f->real || access(f->real, W_OK) < 0)
		return -errno;
	fd = open_temp(f);
	if (fd >= 0 && fchmod(fd, st->st_mode & 0777) < 0) {
		close(fd);
		return -errno;
	}
	return fd;
}

static int open_fd(struct tmigr_outfile *f)
{
	struct stat st;
	int fd;

	if (stat(f->path, &st) == 0) {
		if (S_ISREG(st.st_mode))
			return open_beside(f, &st);
		fd = open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? -errno : fd;
	}
	/* Also where the kernel does not follow another's link in /tmp. */
	if (errno != ENOENT)
		return -errno;
	f->real = strdup(f->path);
	return f->real ? open_temp(f) : -ENOMEM;
}

/* Why a write failed is told at the end, when errno is long another: kept here. */
static ssize_t write_some(void *cookie, const char *data, size_t size)
{
	struct tmigr_outfile *f = cookie;
	size_t done = 0;

	while (done < size && !f->error) {
		ssize_t n = write(f->fd, data + done, size - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			f->error = n ? errno : EIO;
	}
	return f->error ? 0 : (ssize_t)size;
}

static int open_stream(struct tmigr_outfile *f)
{
	static const cookie_io_functions_t io = {.write = write_some};

	f->out = fopencookie(f, "w", io);
	if (!f->out)
		return -ENOMEM;
	setvbuf(f->out, NULL, _IOFBF, 1 << 16);
	return 0;
}

int tmigr_outfile_open(const char *path, struct tmigr_outfile **ret, struct tmigr_err *err)
{
	bool standard = !path || !strcmp(path, "-");
	struct tmigr_outfile *f = calloc(1, sizeof(*f));
	int r = -ENOMEM;

	if (f) {
		f->path = strdup(standard ? "standard output" : path);
		f->fd = STDOUT_FILENO;
	}
	if (f && f->path && !standard)
		f->fd = open_fd(f);
	if (f && f->path)
		r = f->fd < 0 ? f->fd : open_stream(f);
	if (r < 0) {
		tmigr_outfile_abort(f);
		return tmigr_fail(err, r, "%s: cannot write: %s",
				  standard ? "standard output" : path, strerror(-r));
	}
	*ret = f;
	return 0;
}

FILE *tmigr_outfile_stream(struct tmigr_outfile *f)
{
	return f->out;
}

bool tmigr_outfile_replaces(const struct tmigr_outfile *f)
{
	return f->real;
}

/* ---- the end ---- */

static int close_fd(struct tmigr_outfile *f)
{
	int ret = f->fd > STDOUT_FILENO ? close(f->fd) : 0;

	f->fd = -1;
	return ret;
}

static void outfile_free(struct tmigr_outfile *f)
{
	if (f->out) {
		/* What is still in its buffer is of no use. */
		f->error = f->error ? f->error : ECANCELED;
		fclose(f->out);
	}
	close_fd(f);
	if (f->temp) {
		unlink(f->temp);
		forget_temp(f);
	}
	free(f->path);
	free(f->real);
	free(f);
}

static int fail(const struct tmigr_outfile *f, int error, struct tmigr_err *err)
{
	return tmigr_fail(err, -error, "%s: cannot write: %s", f->path, strerror(error));
}

int tmigr_outfile_close(struct tmigr_outfile *f, struct tmigr_err *err)
{
	int error = 0;

	if (fflush(f->out) != 0 || ferror(f->out))
		error = f->error ? f->error : EIO;
	/* A name must not stand for bytes that the disk has not taken. */
	if (!error && f->temp && fsync(f->fd) < 0 && errno != EINVAL && errno != EROFS)
		error = errno;
	fclose(f->out);
	f->out = NULL;
	if (close_fd(f) < 0 && !error)
		error = errno;
	return error ? fail(f, error, err) : 0;
}

int tmigr_outfile_commit(struct tmigr_outfile *f, struct tmigr_err *err)
{
	int ret = f->out ? tmigr_outfile_close(f, err) : 0;

	if (ret == 0 && f->temp) {
		if (rename(f->temp, f->real) == 0)
			forget_temp(f);
		else
			ret = fail(f, errno, err);
	}
	outfile_free(f);
	return ret;
}

int tmigr_outfile_fail(struct tmigr_outfile *f, int ret, struct tmigr_err *err)
{
	ret = fail(f, f->error ? f->error : -ret, err);
	outfile_free(f);
	return ret;
}

void tmigr_outfile_abort(struct tmigr_outfile *f)
{
	if (f)
		outfile_free(f);
}
