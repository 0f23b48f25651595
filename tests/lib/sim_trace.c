// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim_trace.h"

#include <stdlib.h>
#include <string.h>

/* Merge sort: stable, and short. */
static void sort(struct tmigr_rec *recs, struct tmigr_rec *tmp, size_t n)
{
	size_t half = n / 2, a = 0, b = half, k = 0;

	if (n < 2)
		return;
	sort(recs, tmp, half);
	sort(recs + half, tmp, n - half);
	while (a < half || b < n) {
		bool left = a < half && (b >= n || recs[a].t_ns <= recs[b].t_ns);

		tmp[k++] = left ? recs[a++] : recs[b++];
	}
	memcpy(recs, tmp, n * sizeof(*recs));
}

void sim_trace_sort(struct tmigr_rec *recs, size_t n)
{
	struct tmigr_rec *tmp = malloc((n + 1) * sizeof(*tmp));

	sort(recs, tmp, n);
	free(tmp);
}

static bool is_event(const struct tmigr_rec *r)
{
	return r->type < TMIGR_REC_NODE_GROUP || r->type == TMIGR_REC_DUTY;
}

static size_t next_of_cpu(const struct sim *sim, size_t i)
{
	unsigned int cpu = sim->recs[i].cpu;

	for (i++; i < sim->n_recs; i++)
		if (is_event(&sim->recs[i]) && sim->recs[i].cpu == cpu)
			break;
	return i;
}

enum fate { KEPT, LOST, HOLE };

static void choose(const struct sim_cfg *cfg, const struct sim *sim, __u64 *rng, __u8 *fate)
{
	for (unsigned int k = 0; k < cfg->n_lost + cfg->n_holes && sim->n_recs; k++) {
		size_t i = sim_random_u64(rng) % sim->n_recs;
		size_t n = k < cfg->n_lost ? 1 + sim_random_u64(rng) % 20 : 1;

		if (!is_event(&sim->recs[i]))
			continue;
		for (; n && i < sim->n_recs; n--, i = next_of_cpu(sim, i))
			if (fate[i] == KEPT)
				fate[i] = k < cfg->n_lost ? LOST : HOLE;
	}
}

/*
 * LOST in front of the CPU's next record, which clean_from[] tells of: the time
 * after which a CLEAN is true again.
 */
static struct tmigr_rec tell_lost(const struct sim *sim, const __u8 *fate, size_t i, size_t *ret_at)
{
	struct tmigr_rec rec = {
		.type = TMIGR_REC_LOST, .cpu = sim->recs[i].cpu, .b = sim->recs[i].t_ns};

	for (; i < sim->n_recs && fate[i] != KEPT; i = next_of_cpu(sim, i))
		rec.a += fate[i] == LOST;
	*ret_at = i;
	if (i < sim->n_recs)
		rec.t_ns = sim->recs[i].t_ns;
	return rec;
}

struct span {
	__u64 from, to; /* no CLEAN in (from, to] is true */
};

static bool is_clean(const struct span *spans, size_t n, __u64 t)
{
	for (size_t i = 0; i < n; i++)
		if (t > spans[i].from && t <= spans[i].to)
			return false;
	return true;
}

static bool starts_loss(const struct sim *sim, const __u8 *fate, size_t i)
{
	if (fate[i] != LOST)
		return false;
	for (size_t k = i; k-- > 0;)
		if (is_event(&sim->recs[k]) && sim->recs[k].cpu == sim->recs[i].cpu)
			return fate[k] == KEPT;
	return true;
}

void sim_trace_lose(const struct sim_cfg *cfg, struct sim *sim, __u64 *rng)
{
	size_t n = sim->n_recs, n_out = 0, n_spans = 0, at;
	__u8 *fate = calloc(n + 1, 1);
	struct tmigr_rec *out = malloc((2 * n + cfg->n_clean + 1) * sizeof(*out));
	struct tmigr_rec *told = calloc(n + 1, sizeof(*told));
	struct span *spans = calloc(n + 1, sizeof(*spans));

	choose(cfg, sim, rng, fate);
	for (size_t i = 0; i < n; i++) {
		if (fate[i] == HOLE)
			spans[n_spans++] = (struct span){sim->recs[i].t_ns, -1ULL};
		if (!starts_loss(sim, fate, i))
			continue;
		struct tmigr_rec rec = tell_lost(sim, fate, i, &at);

		spans[n_spans++] = (struct span){rec.b, at < n ? rec.t_ns : -1ULL};
		if (at < n)
			told[at] = rec;
	}
	for (size_t i = 0; i < n; i++) {
		if (told[i].type)
			out[n_out++] = told[i];
		if (fate[i] == KEPT)
			out[n_out++] = sim->recs[i];
	}
	for (unsigned int k = 0; k < cfg->n_clean && n; k++) {
		__u64 t = sim->recs[sim_random_u64(rng) % n].t_ns + sim_random_u64(rng) % 3;

		if (is_clean(spans, n_spans, t))
			out[n_out++] = (struct tmigr_rec){.t_ns = t, .type = TMIGR_REC_CLEAN};
	}
	free(sim->recs);
	free(fate);
	free(told);
	free(spans);
	sim->recs = out;
	sim->n_recs = n_out;
	sim_trace_sort(out, n_out);
}

/* ---- delivery ---- */

/* Records whose order must be kept: those with the same number. */
static __u32 stream_of(const struct tmigr_rec *r)
{
	if (r->type == TMIGR_REC_NODE_GROUP || r->type == TMIGR_REC_NODE_CPU)
		return -2;
	return r->cpu;
}

/* Takes the records in another order: a random later one jumps ahead when no
 * earlier one of its stream still waits. */
static void shuffle(const struct sim *sim, struct tmigr_rec *out, __u64 *rng)
{
	size_t n = sim->n_recs;

	memcpy(out, sim->recs, n * sizeof(*out));
	for (size_t pass = 0; pass < 4; pass++)
		for (size_t i = 0; i + 1 < n; i++)
			if (sim_random_u64(rng) & 1 &&
			    stream_of(&out[i]) != stream_of(&out[i + 1])) {
				struct tmigr_rec r = out[i];

				out[i] = out[i + 1];
				out[i + 1] = r;
			}
}

int sim_feed(const struct sim *sim, struct tmigr_model *m, __u64 seed)
{
	struct tmigr_rec *recs;
	size_t n = sim->n_recs, k;
	__u64 limit = sim->end_ns + TMIGR_LOOKAHEAD_NS;
	int err = 0;

	if (!seed) {
		err = tmigr_model_feed(m, sim->recs, n);
		return err ? err : tmigr_model_finish(m, sim->end_ns);
	}
	recs = malloc((n + 1) * sizeof(*recs));
	shuffle(sim, recs, &seed);
	for (size_t i = 0; i < n && !err; i += k) {
		__u64 mark = limit;

		k = 1 + sim_random_u64(&seed) % 40;
		k = k < n - i ? k : n - i;
		err = tmigr_model_feed(m, recs + i, k);
		for (size_t j = i + k; j < n; j++)
			mark = recs[j].t_ns < mark ? recs[j].t_ns : mark;
		if (!err && sim_random_u64(&seed) % 2)
			err = tmigr_model_advance(m, mark);
	}
	free(recs);
	return err ? err : tmigr_model_finish(m, sim->end_ns);
}
