/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the fields of an event lie: made by decode_layout.c, used by decode.c. */
#ifndef TMIGR_LIB_DECODE_LAYOUT_H
#define TMIGR_LIB_DECODE_LAYOUT_H

#include "decode.h"

/* What is taken from an event; members of struct tmigr_traced but for the last two. */
enum decode_dest {
	DECODE_CPU,
	DECODE_VALUE,
	DECODE_SUBJECT,
	DECODE_GROUP,
	DECODE_PARENT,
	DECODE_LEVEL,
	DECODE_MASK,
	DECODE_ACTIVE,
	DECODE_MIGRATOR,
	DECODE_BELOW,
	DECODE_NODE,
	DECODE_CAPACITY,
	DECODE_NUM_CHILDREN,
	DECODE_TARGET,	 /* of a hotplug step: what it is on the way to, or its result */
	DECODE_FUNCTION, /* ... what it calls */
	DECODE_STATE,	 /* ... that has ended: the state that the CPU is in */
	DECODE_DESTS
};

struct decode_field {
	__u16 offset;
	__u8 size; /* 1, 2, 4, 8; 0: not in the event */
	__u8 dest; /* enum decode_dest */
};

struct decode_layout {
	__u8 type; /* enum tmigr_traced_type */
	__u8 has;  /* TMIGR_HAS_* by its name alone */
	__u8 may;  /* ... that its fields give: of GROUP and PARENT those that may be missing */
	__u8 n;
	__u8 pid_size;
	__u16 pid_offset;
	__u16 min_size; /* a record has at least that many bytes */
	struct decode_field fields[DECODE_DESTS];
};

#define DECODE_IDS 65536 /* common_type is a u16 */

struct tmigr_decoder {
	bool all_steps; /* of hotplug are wanted */
	bool swap;	/* the file is of the other endianness */
	__u16 type_offset;
	struct tmigr_hotplug_steps steps;
	const char *(*function)(void *arg, __u64 address); /* or NULL */
	void *function_arg;
	size_t n;
	struct decode_layout *layouts;
	__u8 *by_id; /* index in layouts plus 1; 0: of no use */
	char problem[TMIGR_ERR_MAX];
};

/* Number of events known by name: more layouts there cannot be. */
size_t decode_n_events(void);
/*
 * The layout of the @k-th known event in @tep.  1 and *ret_id, 0: not there;
 * -EINVAL with the reason in @why.
 */
struct tep_event;
int decode_layout(struct tep_handle *tep, size_t k, struct decode_layout *ret, int *ret_id,
		  int *ret_type_offset, struct tmigr_err *why);

#endif
