/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the fields of an event lie: made by decode_layout.c, used by decode.c. */
#ifndef TMIGR_LIB_DECODE_LAYOUT_H
#define TMIGR_LIB_DECODE_LAYOUT_H

#include "decode.h"

#define DECODE_FIELDS 16 /* of an event, the common ones too */

/* What is taken from an event besides members of struct tmigr_traced. */
enum decode_more {
	DECODE_BELOW,
	DECODE_TARGET,	 /* of a hotplug step: what it is on the way to, or its result */
	DECODE_FUNCTION, /* ... what it calls */
	DECODE_STATE,	 /* ... that has ended: the state that the CPU is in */
	DECODE_MORE
};

struct decode_field {
	__u64 max;  /* no kernel writes a greater value there */
	__u16 from; /* of the 8 bytes that end where it ends: offset in the record */
	__u8 shift; /* ... how many of their bits are not its own */
	__u8 at;    /* where it goes: offset in struct tmigr_traced, or enum decode_more */
};

struct decode_layout {
	__u8 type;	/* enum tmigr_traced_type */
	__u8 has;	/* TMIGR_HAS_* by its name and its fields; GROUP: unless it is 0 */
	__u16 min_size; /* a record has at least that many bytes */
	/* Those for enum decode_more up to n[0]; then those that go into 8 bytes, 4, 1. */
	__u8 n[4];
	struct decode_field fields[DECODE_FIELDS];
};

#define DECODE_IDS 65536 /* common_type is a u16 */

struct tmigr_decoder {
	bool all_steps; /* of hotplug are wanted */
	bool big;	/* the file is big-endian */
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
