/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens to the records between the simulated kernel and the model.
 */
#ifndef TESTS_SIM_TRACE_H
#define TESTS_SIM_TRACE_H

#include "sim.h"

/* By time; stable. */
void sim_trace_sort(struct tmigr_rec *recs, size_t n);
/* Drops records and adds LOST and CLEAN, as the configuration says. */
void sim_trace_lose(const struct sim_cfg *cfg, struct sim *sim, __u64 *rng);

#endif
