// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Latency (bpf/latency.bpf.h): which of its programs are loaded, and its maps' figures
 * at edges.  Knows the skeleton, as live_load.c does.
 */
#include "live_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tmigr.skel.h"

#define READ_ROUNDS 100
#define DETAILS_MIN 4096u
#define DETAILS_MAX (1u << 18)
#define NO_TP	    (-1)

/* The programs for latency alone, by their tracepoint: one of features.lat_tp[] or
 * of features.tp_arg[]. */
static const struct {
	size_t prog;
	int lat_tp, tp;
} lat_progs[] = {
#define PROG(name, tp)                                                                             \
	{                                                                                          \
		offsetof(struct tmigr_bpf, progs.lat_##name), TMIGR_LAT_TP_##tp, NO_TP             \
	}
#define TMIGR_PROG(name, tp)                                                                       \
	{                                                                                          \
		offsetof(struct tmigr_bpf, progs.lat_##name), NO_TP, TMIGR_TP_##tp                 \
	}
	PROG(sched_switch, SCHED_SWITCH),
	PROG(no_ipi, SCHED_WAKE_IDLE_WITHOUT_IPI),
	PROG(irq_entry, IRQ_HANDLER_ENTRY),
	PROG(irq_exit, IRQ_HANDLER_EXIT),
	PROG(softirq_exit, SOFTIRQ_EXIT),
	PROG(ipi_entry, IPI_ENTRY),
	PROG(local_timer_entry, LOCAL_TIMER_ENTRY),
	PROG(local_timer_exit, LOCAL_TIMER_EXIT),
	PROG(reschedule_entry, RESCHEDULE_ENTRY),
	PROG(reschedule_exit, RESCHEDULE_EXIT),
	PROG(call_function_entry, CALL_FUNCTION_ENTRY),
	PROG(call_function_exit, CALL_FUNCTION_EXIT),
	PROG(call_function_single_entry, CALL_FUNCTION_SINGLE_ENTRY),
	PROG(call_function_single_exit, CALL_FUNCTION_SINGLE_EXIT),
	PROG(irq_work_entry, IRQ_WORK_ENTRY),
	PROG(irq_work_exit, IRQ_WORK_EXIT),
	PROG(hrtimer, HRTIMER_EXPIRE_ENTRY),
	PROG(timer, TIMER_EXPIRE_ENTRY),
	PROG(tmigr_update_events, TMIGR_UPDATE_EVENTS),
	TMIGR_PROG(cpuhp_enter, CPUHP_ENTER),
	TMIGR_PROG(handle_remote_cpu, HANDLE_REMOTE_CPU),
	TMIGR_PROG(tmigr_group_set_cpu_inactive, GROUP_SET_CPU_INACTIVE),
	TMIGR_PROG(tmigr_cpu_idle, CPU_IDLE_EVENT),
	TMIGR_PROG(tmigr_cpu_new_timer_idle, CPU_NEW_TIMER_IDLE),
#undef TMIGR_PROG
#undef PROG
};

#define LAT_PROGS (sizeof(lat_progs) / sizeof(lat_progs[0]))

struct tmigr_live_latency {
	int figures_fd, details_fd;
	__u64 read_ns; /* the last edge that was read */
	volatile __u64 *told_read_ns;
	/* Copies of the figures' map: by slot, then by possible CPU. */
	struct tmigr_lat_value *values, *values2;
	/* Since the first edge, ascending. */
	struct tmigr_latency_detail *details;
	size_t n_details, cap_details;
};

static struct bpf_program *lat_prog(const struct tmigr_live *live, size_t i)
{
	struct bpf_program *prog;

	memcpy(&prog, (char *)live->skel + lat_progs[i].prog, sizeof(prog));
	return prog;
}

/* ---- load ---- */

static bool tells_of_ipis(int lat_tp)
{
	return lat_tp == TMIGR_LAT_TP_RESCHEDULE_ENTRY ||
	       lat_tp == TMIGR_LAT_TP_CALL_FUNCTION_ENTRY ||
	       lat_tp == TMIGR_LAT_TP_CALL_FUNCTION_SINGLE_ENTRY ||
	       lat_tp == TMIGR_LAT_TP_IPI_ENTRY;
}

/* All interrupts that can end an interval are seen, on x86 or on arm. */
static bool causes_known(const bool *tp)
{
	bool x86 = tp[TMIGR_LAT_TP_LOCAL_TIMER_ENTRY] && tp[TMIGR_LAT_TP_RESCHEDULE_ENTRY] &&
		   tp[TMIGR_LAT_TP_CALL_FUNCTION_ENTRY] &&
		   tp[TMIGR_LAT_TP_CALL_FUNCTION_SINGLE_ENTRY];

	return tp[TMIGR_LAT_TP_SCHED_SWITCH] && tp[TMIGR_LAT_TP_IRQ_HANDLER_ENTRY] &&
	       (x86 || tp[TMIGR_LAT_TP_IPI_ENTRY]);
}

/* State 0 waits in a loop with interrupts on: the kernel's own polling reports 0 too. */
static bool state0_polls(const struct tmigr_topology *topo)
{
	bool polls = false;

	for (size_t i = 0; i < topo->n_cpus; i++)
		if (!topo->cpus[i].n_states || !strcmp(topo->cpus[i].states[0].name, "POLL"))
			polls = true;
	return polls;
}

static void configure(struct tmigr_live *live)
{
	struct tmigr_bpf *skel = live->skel;
	__u64 details = (__u64)live->topo->n_cpus * 64;

	skel->rodata->cfg_lat_causes = causes_known(live->features.lat_tp) && !live->opts.no_ipis;
	skel->rodata->cfg_lat_poll = state0_polls(live->topo);
	skel->rodata->cfg_lat_rq_to_hrtimers = live->features.rq_to_hrtimers;
	skel->rodata->cfg_lat_tick_device = live->features.hrtimers_to_tick_device;
	skel->rodata->cfg_lat_tick_sched = live->features.hrtimers_to_tick_sched;
	skel->rodata->cfg_lat_cpuidle = live->features.hrtimers_to_cpuidle;
	details = details < DETAILS_MIN ? DETAILS_MIN : details;
	bpf_map__set_max_entries(skel->maps.lat_details,
				 details > DETAILS_MAX ? DETAILS_MAX : (__u32)details);
}

void tmigr_live_latency_choose(struct tmigr_live *live)
{
	const struct tmigr_features *f = &live->features;
	struct tmigr_bpf *skel = live->skel;
	bool on = live->opts.latency;

	for (size_t i = 0; i < LAT_PROGS; i++) {
		int lat_tp = lat_progs[i].lat_tp, tp = lat_progs[i].tp;
		bool there = lat_tp != NO_TP ? f->lat_tp[lat_tp] : f->tp_arg[tp] == 0;

		if (live->opts.no_ipis && tells_of_ipis(lat_tp))
			there = false;
		bpf_program__set_autoload(lat_prog(live, i), on && there);
	}
	bpf_program__set_autoload(skel->progs.lat_cpu_idle, on);
	if (on)
		bpf_program__set_autoload(skel->progs.on_cpu_idle, false);
	bpf_map__set_autocreate(skel->maps.lat_states, on);
	bpf_map__set_autocreate(skel->maps.lat_figures, on);
	bpf_map__set_autocreate(skel->maps.lat_details, on);
	if (on)
		configure(live);
}

int tmigr_live_latency_loaded(struct tmigr_live *live)
{
	struct tmigr_live_latency *lat;

	if (!live->opts.latency)
		return 0;
	lat = calloc(1, sizeof(*lat));
	if (!lat)
		return -ENOMEM;
	live->latency = lat;
	lat->figures_fd = bpf_map__fd(live->skel->maps.lat_figures);
	lat->details_fd = bpf_map__fd(live->skel->maps.lat_details);
	lat->told_read_ns = &live->skel->bss->tmigr_edge_read_ns;
	lat->values = calloc(live->n_possible * TMIGR_SLOTS, sizeof(*lat->values));
	lat->values2 = calloc(live->n_possible * TMIGR_SLOTS, sizeof(*lat->values2));
	return lat->values && lat->values2 ? 0 : -ENOMEM;
}

void tmigr_live_latency_free(struct tmigr_live *live)
{
	struct tmigr_live_latency *lat = live->latency;

	if (!lat)
		return;
	free(lat->values);
	free(lat->values2);
	free(lat->details);
	free(lat);
	live->latency = NULL;
}

bool tmigr_live_latency_causes(const struct tmigr_live *live)
{
	return live->skel->rodata->cfg_lat_causes;
}

void tmigr_live_latency_cost(struct tmigr_live *live, struct tmigr_cost *cost)
{
	if (!live->latency)
		return;
	for (size_t i = 0; i < LAT_PROGS; i++)
		tmigr_live_add_cost(lat_prog(live, i), &cost->latency_ns, &cost->latency_runs);
	cost->bpf_ns += cost->latency_ns;
	cost->bpf_runs += cost->latency_runs;
	tmigr_live_add_cost(live->skel->progs.lat_cpu_idle, &cost->bpf_ns, &cost->bpf_runs);
}

void tmigr_live_latency_announce(struct tmigr_live *live)
{
	struct tmigr_live_latency *lat = live->latency;

	if (lat)
		__atomic_store_n(lat->told_read_ns, lat->read_ns, __ATOMIC_SEQ_CST);
}

/* ---- figures at an edge ---- */

static int read_values(const struct tmigr_live *live, struct tmigr_lat_value *values)
{
	for (__u32 s = 0; s < TMIGR_SLOTS; s++)
		if (bpf_map_lookup_elem(live->latency->figures_fd, &s,
					values + s * live->n_possible))
			return -errno;
	return 0;
}

/* Of a copy that is whole.  Where the CPU has not passed @edge, but one that was never
 * read, that one's peaks are among those since the last that was. */
static void figures_of(const struct tmigr_live_latency *lat, const struct tmigr_lat_value *v,
		       __u64 edge, struct tmigr_lat_figures *ret)
{
	*ret = v->edge_ns == edge ? v->edge : v->cur;
	if (v->edge_ns == edge || v->edge_ns <= lat->read_ns)
		return;
	for (int k = 0; k < TMIGR_LAT_KINDS; k++)
		if (v->edge.peaks[k].ns > ret->peaks[k].ns)
			ret->peaks[k] = v->edge.peaks[k];
}

/* Returns how many are still to be read; those that are have their place in @done. */
static size_t take(const struct tmigr_live *live, __u64 edge,
		   struct tmigr_lat_figures (*ret)[TMIGR_SLOTS], bool *done)
{
	size_t left = 0;

	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		for (size_t s = 0; s < TMIGR_SLOTS; s++) {
			size_t at = s * live->n_possible + live->possible_idx[i];
			const struct tmigr_lat_value *a = &live->latency->values[at];
			const struct tmigr_lat_value *b = &live->latency->values2[at];
			bool *is_done = &done[i * TMIGR_SLOTS + s];
			bool still = !(b->seq & 1) && memcmp(a, b, sizeof(*b)) == 0;

			if (*is_done)
				continue;
			if (still || a->edge_ns == edge) {
				figures_of(live->latency, b, edge, &ret[i][s]);
				*is_done = true;
			} else {
				left++;
			}
		}
	}
	return left;
}

int tmigr_live_latency_read(struct tmigr_live *live, __u64 edge,
			    struct tmigr_lat_figures (*ret)[TMIGR_SLOTS], struct tmigr_err *err)
{
	size_t left = live->topo->n_cpus * TMIGR_SLOTS;
	bool *done = calloc(left, sizeof(*done));
	int r = done ? 0 : -ENOMEM;

	for (int round = 0; !r && left && round < READ_ROUNDS; round++) {
		r = read_values(live, live->latency->values);
		if (!r)
			r = tmigr_live_wait_handlers(live);
		if (!r)
			r = read_values(live, live->latency->values2);
		if (!r)
			left = take(live, edge, ret, done);
	}
	free(done);
	if (r)
		return tmigr_fail(err, r, "cannot read the BPF maps of latency: %s", strerror(-r));
	if (left)
		return tmigr_fail(err, -EBUSY, "%zu figures of latency never stood still", left);
	live->latency->read_ns = edge;
	return 0;
}

/* ---- details ---- */

static int order(const void *pa, const void *pb)
{
	const struct tmigr_latency_detail *a = pa, *b = pb;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	return a->arg < b->arg ? -1 : a->arg > b->arg;
}

static int add_detail(struct tmigr_live_latency *lat, const struct tmigr_lat_key *key,
		      const struct tmigr_lat_detail *value)
{
	struct tmigr_latency_detail *d;

	if (lat->n_details == lat->cap_details) {
		size_t cap = lat->cap_details ? lat->cap_details * 2 : 64;

		d = realloc(lat->details, cap * sizeof(*d));
		if (!d)
			return -ENOMEM;
		lat->details = d;
		lat->cap_details = cap;
	}
	d = &lat->details[lat->n_details++];
	*d = (struct tmigr_latency_detail){.cpu = key->cpu,
					   .slot = key->slot,
					   .cause = key->cause,
					   .arg = key->arg,
					   .row = value->row};
	memcpy(d->name, value->name, sizeof(d->name) - 1);
	return 0;
}

/* One entry per key, in order. */
static void merge(struct tmigr_live_latency *lat)
{
	size_t n = 0;

	if (!lat->n_details)
		return;
	qsort(lat->details, lat->n_details, sizeof(*lat->details), order);
	for (size_t i = 1; i < lat->n_details; i++) {
		if (order(&lat->details[n], &lat->details[i]) == 0)
			tmigr_lat_row_add(&lat->details[n].row, &lat->details[i].row);
		else
			lat->details[++n] = lat->details[i];
	}
	lat->n_details = n + 1;
}

/* The next key after *@prev (NULL: the first) of an interval that ended before @edge. */
static bool next_old(int fd, const struct tmigr_lat_key *prev, __u64 edge,
		     struct tmigr_lat_key *ret)
{
	struct tmigr_lat_key at;

	while (bpf_map_get_next_key(fd, prev, &at) == 0) {
		*ret = at;
		if (at.edge_ns < edge)
			return true;
		prev = ret;
	}
	return false;
}

/* As remote expiries are: see live_remote.c.  A key is deleted once the next is known,
 * for from a deleted one the walk would begin anew. */
static int fold(struct tmigr_live_latency *lat, __u64 edge)
{
	struct tmigr_lat_key key, next;
	bool more = next_old(lat->details_fd, NULL, edge, &key);

	while (more) {
		struct tmigr_lat_detail value;

		if (bpf_map_lookup_elem(lat->details_fd, &key, &value))
			return -errno;
		if (add_detail(lat, &key, &value))
			return -ENOMEM;
		more = next_old(lat->details_fd, &key, edge, &next);
		if (bpf_map_delete_elem(lat->details_fd, &key))
			return -errno;
		key = next;
	}
	merge(lat);
	return 0;
}

int tmigr_live_latency_details(struct tmigr_live *live, __u64 edge,
			       struct tmigr_latency_detail **ret, size_t *ret_n)
{
	struct tmigr_live_latency *lat = live->latency;
	int r = fold(lat, edge);

	if (r)
		return r;
	*ret = calloc(lat->n_details + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	if (lat->n_details)
		memcpy(*ret, lat->details, lat->n_details * sizeof(**ret));
	*ret_n = lat->n_details;
	return 0;
}
