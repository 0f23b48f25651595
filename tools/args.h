/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of options that several verbs take. */
#ifndef TMIGR_TOOL_ARGS_H
#define TMIGR_TOOL_ARGS_H

#include <stddef.h>

#include <linux/types.h>

#include "tmigr/live.h"

/*
 * "5", "0.25": seconds as a decimal number above 0, up to a hundred years.
 * Returns 0, or -EINVAL with *@ret_ns untouched.
 */
int arg_seconds(const char *text, __u64 *ret_ns);

/* A whole number from @min to @max.  Returns 0, or -EINVAL. */
int arg_number(const char *text, unsigned long min, unsigned long max, unsigned long *ret);

/* The value of @verb's --source.  0, or the exit status with the error told. */
int arg_source(const char *verb, const char *text, enum tmigr_source *ret);

#define CLASS_HELP                                                                                 \
	"      --class NAME=CPUS    name a class of CPUs, e.g. --class LITTLE=0-3; may be "        \
	"repeated\n"

#define SOURCE_HELP                                                                                \
	"      --source SOURCE      what the own engine measures with: bpf, ftrace (what is lost " \
	"with\n"                                                                                   \
	"                           it: 'tmigr doctor'), or auto (ftrace where the kernel has "    \
	"no\n"                                                                                     \
	"                           BTF or BPF)\n"

/* Values of an option that may be given several times; the strings are argv's. */
struct arg_list {
	const char **items;
	size_t n;
};

/* 0 or -ENOMEM. */
int arg_list_add(struct arg_list *list, const char *item);
void arg_list_free(struct arg_list *list);

#endif
