/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a unit file asks of the service manager, applied without one: see
 * tests/programs/confine.c.
 *
 *   unit.c     the [Service] section as a list of settings
 *   caps.c     user, groups, capabilities, limits
 *   mounts.c   what the service sees of the file system
 *   filter.c   which system calls it may make
 */
#ifndef TMIGR_CONFINE_H
#define TMIGR_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

struct setting {
	char *key, *value;
};

struct unit {
	struct setting *settings;
	size_t n;
};

/* A test's helper: what fails is told on stderr, and ends it with status 125. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- unit.c ---- */
void unit_read(struct unit *u, const char *path);
/* "KEY=VALUE" in the place of all the file says about KEY. */
void unit_override(struct unit *u, const char *assignment);
/* The last value of @key; NULL: not set. */
const char *unit_get(const struct unit *u, const char *key);
/* One that is "yes", "no" or absent (no). */
bool unit_on(const struct unit *u, const char *key);
/* Calls @fn with each word of @text (which it may change). */
void each_word(char *text, void (*fn)(void *arg, char *word), void *arg);

/* ---- caps.c ---- */
/* Looks the names up; before the file system changes. */
struct identity {
	unsigned int uid, gid;
};
void identity_find(const struct unit *u, struct identity *ret);
void apply_limits(const struct unit *u);
void apply_identity(const struct unit *u, const struct identity *id);

/* ---- mounts.c ---- */
void apply_mounts(const struct unit *u);
/* "FROM:TO", both files, in the new view only. */
void bind_file(const char *pair);

/* ---- filter.c ---- */
struct filters {
	void *deny, *allow; /* libseccomp's; no allow list: NULL */
};
/* @groups: what `systemd-analyze syscall-filter` prints, in a file.  @kill: a call
 * that SystemCallFilter= does not allow ends the program, not only the call. */
void filters_make(const struct unit *u, const char *groups, bool kill, struct filters *ret);
/* The last step: only execve and what the unit allows works afterwards. */
void filters_load(struct filters *filters);

#endif
