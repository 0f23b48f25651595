/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace of several buffers (tracefs instances, files printed together) may have idle
 * states in one and timer migration in another, or the same events twice.  Of each kind
 * those of one buffer count: the first, in the order of time, that has any.
 */
#ifndef TMIGR_LIB_TRACED_BUFFERS_H
#define TMIGR_LIB_TRACED_BUFFERS_H

#include "tmigr/traced.h"

enum traced_kind { KIND_IDLE, KIND_MIGRATION, KIND_CONNECT, KIND_HOTPLUG, KINDS };

struct traced_buffers {
	__u32 of[KINDS]; /* the buffer's number plus 1; 0: no event yet.  Zero at first. */
	bool more;	 /* others have such events too */
};

static inline enum traced_kind traced_kind(__u8 type)
{
	if (type == TMIGR_TRACED_CPU_IDLE || type == TMIGR_TRACED_CPU_IDLE_MISS)
		return KIND_IDLE;
	if (type < TMIGR_TRACED_GROUP_SET)
		return KIND_MIGRATION;
	return type <= TMIGR_TRACED_CONNECT_CHILD ? KIND_CONNECT : KIND_HOTPLUG;
}

/* Does an event of that type count, that the buffer has? */
static inline bool traced_buffers_take(struct traced_buffers *b, __u8 type, __u32 buffer)
{
	__u32 *of = &b->of[traced_kind(type)];

	if (!*of)
		*of = buffer + 1;
	if (*of == buffer + 1)
		return true;
	b->more = true;
	return false;
}

/* Has one of its events counted?  What it lost is missing then. */
static inline bool traced_buffers_uses(const struct traced_buffers *b, __u32 buffer)
{
	for (int i = 0; i < KINDS; i++)
		if (b->of[i] == buffer + 1)
			return true;
	return false;
}

/* Whose events count, for the reader of a report; "" where there is but one buffer, without a
 * name.  @names are by number; NULL: none. */
void traced_buffers_tell(const struct traced_buffers *b, const char *const names[], char *ret,
			 size_t size);

/* Do events of more than one count? */
static inline bool traced_buffers_split(const struct traced_buffers *b)
{
	__u32 first = 0;

	for (int i = 0; i < KINDS; i++) {
		if (first && b->of[i] && b->of[i] != first)
			return true;
		first = first ? first : b->of[i];
	}
	return false;
}

#endif
