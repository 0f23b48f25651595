/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of one CPU in a buffer of a trace.dat, one after the other (tracedat_cpu.c). */
#ifndef TMIGR_LIB_TRACEDAT_CPU_H
#define TMIGR_LIB_TRACEDAT_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct kbuffer;
struct tep_record;
struct tracecmd_input;

struct dat_cpu {
	struct tracecmd_input *in;
	int cpu;
	unsigned int buffer; /* its number in the file; the caller's */
	/* the present record */
	const void *data;
	int size; /* as the library has it: of a damaged file maybe < 0 */
	__u64 t_ns;
	long long missed; /* events before it; < 0: how many is not known */
	__u64 last_ns;	  /* of the one before */
	bool damaged;	  /* the next one does not lie behind it */
	__u64 lost;	  /* events, not told of yet */
	__u64 told_ns;	  /* of its last event of use */
	/* where it is from */
	struct tep_record *held; /* keeps it, or the page that it is in, in memory */
	struct kbuffer *kbuf;	 /* over that page */
	unsigned int page_size;
	bool in_page;	      /* it was found by kbuf */
	bool by_page;	      /* pages can be read without the library */
	__u64 next_page, end; /* offsets in the file, of the CPU's part of it */
	__u64 asked;	      /* where the record lay that the library gave last */
};

/* Before the first record; 0 or -ENOMEM. dat_cpu_end() frees what it holds. */
int dat_cpu_begin(struct dat_cpu *c, struct tracecmd_input *in, int cpu);
void dat_cpu_end(struct dat_cpu *c);
/* The next record; false: there is none, or none that makes sense. */
bool dat_cpu_next(struct dat_cpu *c);

#endif
