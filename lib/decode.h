/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the binary records of an ftrace buffer to traced events (traced.h), by the
 * formats that the kernel or a trace.dat gives.  Fields are found by name, once;
 * what a kernel adds is passed over.  Private to the library.
 */
#ifndef TMIGR_LIB_DECODE_H
#define TMIGR_LIB_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "tmigr/err.h"
#include "tmigr/traced.h"

struct tep_handle;
struct tmigr_decoder;

/* "states" of /sys/devices/system/cpu/hotplug under @root (NULL: "/"). */
struct tmigr_hotplug_steps tmigr_hotplug_steps_read(const char *root);

/*
 * From the formats that @tep has parsed, which may go then.  An event whose format
 * lacks a field, or contradicts itself, is left out: tmigr_decoder_problem().
 * -ENOMEM, -EINVAL: no event of use.
 */
int tmigr_decoder_new(struct tep_handle *tep, struct tmigr_hotplug_steps steps,
		      struct tmigr_decoder **ret, struct tmigr_err *err);
/* Every step of hotplug is wanted (STEP_ENTER, STEP_EXIT), and not the two that bring a CPU up
 * and take it down. */
void tmigr_decoder_all_steps(struct tmigr_decoder *d);
void tmigr_decoder_free(struct tmigr_decoder *d); /* NULL is fine */
/* The first event left out, and why; "": none. */
const char *tmigr_decoder_problem(const struct tmigr_decoder *d);
/* Steps of CPU hotplug that were not given are learnt from the names of the functions that
 * they call; NULL: of that address none is known. */
void tmigr_decoder_functions(struct tmigr_decoder *d, const char *(*name)(void *arg, __u64 address),
			     void *arg);
bool tmigr_decoder_has(const struct tmigr_decoder *d, enum tmigr_traced_type type);

/*
 * @data, @size: a record as it lies in the buffer, from its common fields on.  1: an
 * event; 0: one of no use (then *ret is an OTHER); -EINVAL: shorter than its
 * format says, or a value that no kernel writes (*ret is then nothing).
 */
int tmigr_decode(struct tmigr_decoder *d, const void *data, size_t size, __u64 t_ns, __u32 cpu,
		 struct tmigr_traced *ret);

#endif
