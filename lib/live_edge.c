// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edges, and every CPU's figures brought to them.  See maps.h for the protocol
 * between the programs and this reader.
 */
#include "live_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <bpf/bpf.h>

#define EDGE_AHEAD_NS (2 * TMIGR_NS_PER_MS)
#define READ_ROUNDS   100

/* The housekeeping thread has a large timer slack, which is not meant here. */
void tmigr_sleep_until(__u64 t_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(t_ns / TMIGR_NS_PER_S),
			      .tv_nsec = (long)(t_ns % TMIGR_NS_PER_S)};
	int slack = prctl(PR_GET_TIMERSLACK);

	prctl(PR_SET_TIMERSLACK, 1UL);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
	if (slack > 0)
		prctl(PR_SET_TIMERSLACK, (unsigned long)slack);
}

int tmigr_live_read_values(struct tmigr_live *live, struct tmigr_cpu_value *values)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(live->cpus_fd, &zero, values) ? -errno : 0;
}

/* Putting a map into a map of maps returns when the programs that may still use
 * the old one have ended: synchronize_rcu(), documented behaviour since v4.20.
 * No idle CPU is woken for it. */
int tmigr_live_wait_handlers(struct tmigr_live *live)
{
	__u32 cpu = live->topo->cpus[0].cpu;

	return bpf_map_update_elem(live->rings_fd, &cpu, &live->ring0_fd, BPF_ANY) ? -errno : 0;
}

__u64 tmigr_live_announce(struct tmigr_live *live, __u64 at_ns)
{
	__u64 edge;

	tmigr_live_latency_announce(live);
	/* Stopped for longer than the lead between the clock and the store (a
	 * virtual machine's pause), a handler could have missed it: again, and
	 * later.  So too where @at_ns is too near. */
	do {
		__u64 now = tmigr_now_ns();

		edge = at_ns > now + EDGE_AHEAD_NS / 2 ? at_ns : now + EDGE_AHEAD_NS;
		__atomic_store_n(live->edge_ns, edge, __ATOMIC_SEQ_CST);
	} while (tmigr_now_ns() + EDGE_AHEAD_NS / 2 > edge);
	return edge;
}

__u64 tmigr_live_edge_lead_ns(void)
{
	return 2 * EDGE_AHEAD_NS;
}

static void close_at(struct tmigr_totals *totals, __u64 edge)
{
	if (edge <= totals->since_ns)
		return;
	if (totals->slot < TMIGR_SLOTS)
		totals->slots[totals->slot].time_ns += edge - totals->since_ns;
	totals->since_ns = edge;
}

/*
 * Two copies of a CPU's value: @before, then a wait for running handlers, then
 * @after.  Returns what of @after are the figures at @edge, or NULL: moved.
 */
static const struct tmigr_totals *figures_of(const struct tmigr_cpu_value *before,
					     const struct tmigr_cpu_value *after, __u64 edge)
{
	if (before->edge_ns == edge)
		return &after->edge;
	if (!(after->seq & 1) && memcmp(before, after, sizeof(*after)) == 0)
		return &after->cur;
	return NULL;
}

/* The same where no handler runs that could have missed the edge: two equal copies with
 * an even seq are whole. */
static const struct tmigr_totals *settled_figures_of(const struct tmigr_cpu_value *before,
						     const struct tmigr_cpu_value *after,
						     __u64 edge)
{
	if ((after->seq & 1) || memcmp(before, after, sizeof(*after)) != 0)
		return NULL;
	return after->edge_ns == edge ? &after->edge : &after->cur;
}

static size_t take_figures(struct tmigr_live *live, __u64 edge, bool settled,
			   struct tmigr_edge_cpu *ret, bool *done)
{
	size_t left = 0;

	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		const struct tmigr_cpu_value *before = &live->values[live->possible_idx[i]];
		const struct tmigr_cpu_value *after = &live->values2[live->possible_idx[i]];
		const struct tmigr_totals *figures;

		if (done[i])
			continue;
		figures = settled ? settled_figures_of(before, after, edge)
				  : figures_of(before, after, edge);
		if (!figures) {
			left++;
			continue;
		}
		done[i] = true;
		ret[i].totals = *figures;
		ret[i].first_ns = after->first_ns;
		ret[i].first_type = after->first_type;
		ret[i].since_ns = figures->since_ns;
		close_at(&ret[i].totals, edge);
	}
	return left;
}

/* Some CPU whose figures are still wanted has not passed @edge: they are in `cur`. */
static bool any_before(const struct tmigr_live *live, __u64 edge, const bool *done)
{
	for (size_t i = 0; i < live->topo->n_cpus; i++)
		if (!done[i] && live->values[live->possible_idx[i]].edge_ns != edge)
			return true;
	return false;
}

int tmigr_live_read_edge(struct tmigr_live *live, __u64 edge, bool settled,
			 struct tmigr_edge_cpu *ret, __u64 *ret_complete_ns, struct tmigr_err *err)
{
	bool *done = calloc(live->topo->n_cpus, sizeof(*done));
	size_t left = live->topo->n_cpus;
	int r = done ? 0 : -ENOMEM;
	__u64 complete_ns = tmigr_now_ns();

	for (int round = 0; !r && left && round < READ_ROUNDS; round++) {
		r = tmigr_live_read_values(live, live->values);
		/* The wait wakes RCU's thread, and with it a CPU that so moves.  That
		 * one is read again and has passed: no second wait for its sake. */
		if (!r && !settled && (!round || any_before(live, edge, done)))
			r = tmigr_live_wait_handlers(live);
		__atomic_thread_fence(__ATOMIC_SEQ_CST); /* `edge` is read after edge_ns */
		if (!r)
			r = tmigr_live_read_values(live, live->values2);
		if (!r)
			left = take_figures(live, edge, settled, ret, done);
	}
	free(done);
	if (r)
		return tmigr_fail(err, r, "cannot read the BPF maps: %s", strerror(-r));
	/* A CPU moves without having passed the edge only by hotplug handlers. */
	if (left)
		return tmigr_fail(err, -EBUSY, "the figures of %zu CPUs never stood still", left);
	*ret_complete_ns = settled ? edge : complete_ns;
	return 0;
}

void tmigr_process_cost(struct tmigr_cost *cost)
{
	struct timespec ts = {0};
	struct rusage ru = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	getrusage(RUSAGE_SELF, &ru);
	*cost = (struct tmigr_cost){
		.cpu_ns = (__u64)ts.tv_sec * TMIGR_NS_PER_S + (__u64)ts.tv_nsec,
		.wakeups = (__u64)ru.ru_nvcsw,
	};
}

void tmigr_live_cost(struct tmigr_live *live, struct tmigr_cost *cost)
{
	tmigr_process_cost(cost);
	cost->bpf_known = live->stats_fd >= 0;
	tmigr_live_bpf_cost(live, cost);
}
