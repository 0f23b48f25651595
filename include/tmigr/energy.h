/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy over a window, where the machine offers it: counters of powercap
 * (/sys/class/powercap/.../energy_uj) and hwmon (energyN_input), read at the
 * window's ends; or, where there is no counter at all, power of hwmon
 * (powerN_input, else powerN_average), summed up over time.
 *
 *   tmigr_energy_open -> [begin ... [sample]* ... end -> result]* -> close
 */
#ifndef TMIGR_ENERGY_H
#define TMIGR_ENERGY_H

#include <stdbool.h>

#include <jansson.h>
#include <linux/types.h>

#include "tmigr/err.h"

/* Power is not read more often than this. */
#define TMIGR_ENERGY_POWER_NS 1000000000ULL
/* Counters that wrap are read once in this time besides, so that no wrap of one
 * is missed: the fastest known one wraps in some ten minutes. */
#define TMIGR_ENERGY_WRAP_NS 300000000000ULL

struct tmigr_energy;

/* Looks for what can be read below @root (NULL or "": the running machine).  A
 * machine without any is no error.  -ENOMEM. */
int tmigr_energy_open(const char *root, struct tmigr_energy **ret, struct tmigr_err *err);
void tmigr_energy_close(struct tmigr_energy *e); /* NULL is fine */

/* Reads everything; @now_ns: CLOCK_MONOTONIC, as for the next two. */
void tmigr_energy_begin(struct tmigr_energy *e, __u64 now_ns);
/* May be called at any time between: reads what is due, which mostly is nothing. */
void tmigr_energy_sample(struct tmigr_energy *e, __u64 now_ns);
/* Reads everything again. */
void tmigr_energy_end(struct tmigr_energy *e, __u64 now_ns);

/*
 * Array of {domain, energy_uj}, one for each domain that could be read all
 * along; NULL with 0 when there is none.  New reference in *@ret.  -ENOMEM.
 * *@ret_lost: a domain that could be read at the start and not at the end, or
 * whose counter was reset; NULL: none.  Valid until close.
 */
int tmigr_energy_result(const struct tmigr_energy *e, json_t **ret, const char **ret_lost);

#endif
