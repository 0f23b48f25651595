/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report says about the program, the machine and the command. */
#ifndef TMIGR_INFO_H
#define TMIGR_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/*
 * "tool", "kernel", "machine", "command" (NULL: empty), "start_time" (now),
 * "timer_migration_hierarchy".  New reference, NULL: no memory.
 */
json_t *tmigr_info(const char *tool, char *const *command, bool has_tmigr);

/* A JSON string of text that may be any bytes: in what is not UTF-8 all beyond ASCII
 * becomes '?', and at most the first 4095 bytes stay.  New reference, NULL: no memory. */
json_t *tmigr_json_text(const char *text);

/* Name of a daemon as the engine of a report ("engine"); @pid 0: not known. */
#define TMIGR_INFO_ENGINE_MAX 128
void tmigr_info_daemon(char *text, size_t size, const char *version, long pid);

/* The time of day, ISO 8601 in UTC, as in "start_time"; "" where there is none. */
#define TMIGR_INFO_TIME_MAX 40
void tmigr_info_time(char *text, size_t size);

#endif
