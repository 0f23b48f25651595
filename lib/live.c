// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Life of the live engine: open, start, stop, close.
 */
#include "live_priv.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define POSSIBLE_FILE  "/sys/devices/system/cpu/possible"
#define SETTLE_MAX_NS  (100 * TMIGR_NS_PER_MS)
#define SETTLE_STEP_NS (5 * TMIGR_NS_PER_MS)

/* ---- open, close ---- */

static int read_possible(struct tmigr_live *live, struct tmigr_err *err)
{
	char text[8192] = "";
	FILE *f = fopen(POSSIBLE_FILE, "re");
	bool ok = f && fgets(text, sizeof(text), f);

	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
	if (!ok || tmigr_cpulist_parse(text, &live->possible, &live->n_possible, NULL) ||
	    !live->n_possible)
		return tmigr_fail(err, -ENODATA, "%s: no list of CPUs", POSSIBLE_FILE);
	/* libbpf sizes the copies of per-CPU maps by its own count of them. */
	if (libbpf_num_possible_cpus() != (int)live->n_possible)
		return tmigr_fail(err, -ENODATA, "%s: cannot be read twice alike", POSSIBLE_FILE);
	return 0;
}

static int index_possible(struct tmigr_live *live, struct tmigr_err *err)
{
	for (size_t i = 0, p = 0; i < live->topo->n_cpus; i++, p++) {
		while (p < live->n_possible && live->possible[p] != live->topo->cpus[i].cpu)
			p++;
		if (p == live->n_possible)
			return tmigr_fail(err, -EINVAL, "CPU %u is not among this machine's",
					  live->topo->cpus[i].cpu);
		live->possible_idx[i] = p;
	}
	return 0;
}

static int allocate(struct tmigr_live *live)
{
	size_t n = live->topo->n_cpus;

	live->possible_idx = calloc(n, sizeof(*live->possible_idx));
	live->rings = calloc(n, sizeof(*live->rings));
	live->values = calloc(live->n_possible, sizeof(*live->values));
	live->values2 = calloc(live->n_possible, sizeof(*live->values2));
	live->base = calloc(n, sizeof(*live->base));
	live->last = calloc(n, sizeof(*live->last));
	live->quiet_start = malloc(n);
	live->quiet_end = malloc(n);
	live->told = calloc(n, sizeof(*live->told));
	live->last_snap = calloc(n, sizeof(*live->last_snap));
	if (!live->possible_idx || !live->rings || !live->values || !live->values2 || !live->base ||
	    !live->last || !live->quiet_start || !live->quiet_end || !live->told ||
	    !live->last_snap)
		return -ENOMEM;
	memset(live->quiet_start, TMIGR_SLOT_UNKNOWN, n);
	memset(live->quiet_end, TMIGR_SLOT_UNKNOWN, n);
	return 0;
}

static int probe(struct tmigr_live *live, struct tmigr_err *err)
{
	int ret = tmigr_features_probe(NULL, NULL, &live->features, err);

	if (ret)
		return ret;
	if (!live->features.btf)
		return tmigr_fail(err, -ENOENT,
				  "this kernel has no BTF (/sys/kernel/btf/vmlinux): it needs "
				  "CONFIG_DEBUG_INFO_BTF");
	if (live->features.tp_arg[TMIGR_TP_CPU_IDLE] < 0)
		return tmigr_fail(err, -EOPNOTSUPP, "this kernel has no power:cpu_idle event");
	return 0;
}

static int open_live(struct tmigr_live *live, struct tmigr_err *err)
{
	int ret = read_possible(live, err);

	if (ret)
		return ret;
	if (allocate(live))
		return tmigr_fail(err, -ENOMEM, "no memory for the live engine");
	ret = index_possible(live, err);
	if (!ret)
		ret = probe(live, err);
	if (ret)
		return ret;
	live->rq_to_tmc = tmigr_percpu_distance("runqueues", "tmigr_cpu");
	return tmigr_live_load(live, err);
}

int tmigr_live_open(const struct tmigr_live_opts *opts, const struct tmigr_topology *topo,
		    struct tmigr_live **ret, struct tmigr_err *err)
{
	struct tmigr_live *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return tmigr_fail(err, -ENOMEM, "no memory for the live engine");
	if (!topo->n_cpus) {
		free(live);
		return tmigr_fail(err, -EINVAL, "a machine without CPUs");
	}
	if (opts)
		live->opts = *opts;
	live->topo = topo;
	live->stats_fd = -1;
	live->ring0_fd = -1;
	r = open_live(live, err);
	if (r) {
		tmigr_live_close(live);
		return r;
	}
	*ret = live;
	return 0;
}

void tmigr_live_close(struct tmigr_live *live)
{
	if (!live)
		return;
	tmigr_live_detach(live);
	for (size_t i = 0; live->rings && i < live->topo->n_cpus; i++)
		tmigr_ring_unmap(&live->rings[i]);
	tmigr_live_unload(live);
	if (live->stats_fd >= 0)
		close(live->stats_fd);
	free(live->possible);
	free(live->possible_idx);
	free(live->rings);
	free(live->values);
	free(live->values2);
	free(live->base);
	free(live->last);
	free(live->quiet_start);
	free(live->quiet_end);
	free(live->told);
	free(live->last_snap);
	free(live->pending.recs);
	free(live);
}

bool tmigr_live_has_tmigr(const struct tmigr_live *live)
{
	return live->features.tmigr;
}

/* ---- start ---- */

/* Every CPU begins in the slot "unknown", now. */
static int init_values(struct tmigr_live *live)
{
	__u64 now = tmigr_now_ns();
	__u32 zero = 0;

	memset(live->values, 0, live->n_possible * sizeof(*live->values));
	for (size_t i = 0; i < live->n_possible; i++) {
		live->values[i].cur.since_ns = now;
		live->values[i].cur.slot = TMIGR_SLOT_UNKNOWN;
		live->values[i].woke_slot = TMIGR_SLOT_UNKNOWN;
	}
	return bpf_map_update_elem(live->cpus_fd, &zero, live->values, BPF_ANY) ? -errno : 0;
}

/* Visits each CPU once, which wakes it. */
static void kick(const struct tmigr_topology *topo)
{
	size_t bytes = CPU_ALLOC_SIZE(topo->n_possible > 1024 ? topo->n_possible : 1024);
	cpu_set_t *old = calloc(1, bytes), *one = calloc(1, bytes);

	if (old && one && sched_getaffinity(0, bytes, old) == 0) {
		for (size_t i = 0; i < topo->n_cpus; i++) {
			CPU_ZERO_S(bytes, one);
			CPU_SET_S(topo->cpus[i].cpu, bytes, one);
			sched_setaffinity(0, bytes, one); /* offline: fails, fine */
		}
		sched_setaffinity(0, bytes, old);
	}
	free(old);
	free(one);
}

/* Every online CPU has made an event, and the ruler has its first pointer. */
static bool all_seen(struct tmigr_live *live)
{
	bool tmc = !live->features.tmigr, seen = true;

	if (tmigr_live_read_values(live, live->values))
		return false;
	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		const struct tmigr_cpu_value *v = &live->values[live->possible_idx[i]];

		seen = seen && (v->first_ns || !live->topo->cpus[i].online);
		tmc = tmc || v->tmc;
	}
	return seen && tmc;
}

/* The short sleeps make the events of the CPU that this thread is on. */
static void settle(struct tmigr_live *live)
{
	__u64 begin = tmigr_now_ns(), now = begin;

	if (live->opts.kick)
		kick(live->topo);
	do {
		tmigr_sleep_until(now + SETTLE_STEP_NS);
		now = tmigr_now_ns();
	} while (!all_seen(live) && now < begin + SETTLE_MAX_NS);
}

/* What the kernel's memory says at the start, for the model. A hierarchy whose
 * place in memory is not known yet is learnt from the CPUs' first events. */
static int first_snapshot(struct tmigr_live *live, struct tmigr_err *err)
{
	int ret;

	if (live->opts.no_snapshot)
		return 0;
	ret = tmigr_live_read_snapshot(live, live->quiet_start, err);
	/* A quiet CPU has been in its state ever since the programs are there;
	 * stamped so, a first event that races with the snapshot comes after. */
	if (!ret && !live->opts.no_timeline)
		ret = tmigr_live_quiet_records(live, live->quiet_start, live->attached_ns,
					       &live->pending);
	if (!ret && !live->opts.no_timeline)
		ret = tmigr_live_snapshot_records(live, &live->pending);
	return ret;
}

static int begin_window(struct tmigr_live *live, struct tmigr_err *err)
{
	int ret = init_values(live);

	if (ret)
		return tmigr_fail(err, ret, "cannot write the BPF maps: %s", strerror(-ret));
	/* Needs CAP_SYS_ADMIN; without it the programs' time is not known. */
	if (!live->opts.no_stats)
		live->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	ret = tmigr_live_attach(live, err);
	if (ret)
		return ret;
	live->attached_ns = tmigr_now_ns();
	settle(live);
	return first_snapshot(live, err);
}

int tmigr_live_start(struct tmigr_live *live, __u64 *ret_start_ns, struct tmigr_err *err)
{
	int ret;

	if (live->started)
		return tmigr_fail(err, -EINVAL, "the engine was started already");
	ret = begin_window(live, err);
	if (ret) {
		tmigr_live_detach(live);
		return ret;
	}
	live->start_ns = tmigr_live_announce(live);
	tmigr_live_cost(live, &live->cost_start);
	tmigr_sleep_until(live->start_ns);
	live->started = true;
	*ret_start_ns = live->start_ns;
	return 0;
}

/* ---- stop ---- */

/* Words with seq: the model sees by them whether the last updates were lost.
 * Taken between the announcement and the edge, so that it belongs inside. */
static int last_snapshot(struct tmigr_live *live, struct tmigr_err *err)
{
	__u64 t_ns = tmigr_now_ns();
	int ret;

	if (live->opts.no_snapshot)
		return 0;
	ret = tmigr_live_read_snapshot(live, live->quiet_end, err);
	if (!ret && !live->opts.no_timeline)
		ret = tmigr_live_quiet_records(live, live->quiet_end, t_ns, &live->pending);
	if (!ret && !live->opts.no_timeline)
		ret = tmigr_live_snapshot_records(live, &live->pending);
	return ret;
}

/* What the maps hold when no program runs any more.  A CPU's first event may
 * have come after the window: it still tells of the time before it. */
static int read_rest(struct tmigr_live *live)
{
	int ret = tmigr_live_wait_handlers(live);

	if (!ret)
		ret = tmigr_live_read_values(live, live->values);
	for (size_t i = 0; !ret && i < live->topo->n_cpus; i++) {
		const struct tmigr_cpu_value *v = &live->values[live->possible_idx[i]];

		live->last[i].first_ns = v->first_ns;
		live->last[i].first_type = v->first_type;
	}
	return ret;
}

/* Losses that no later record could tell of. */
static int tell_lost(struct tmigr_live *live)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < live->topo->n_cpus; i++) {
		const struct tmigr_cpu_value *v = &live->values[live->possible_idx[i]];
		struct tmigr_rec rec = {.t_ns = live->end_ns - 1,
					.cpu = live->topo->cpus[i].cpu,
					.type = TMIGR_REC_LOST,
					.a = v->lost_since_n,
					.b = v->lost_since_ns};

		if (!v->lost_since_n)
			continue;
		if (rec.b > rec.t_ns)
			rec.t_ns = rec.b; /* after the window, for the sums */
		ret = tmigr_rec_vec_add(&live->pending, rec);
	}
	return ret;
}

int tmigr_live_stop(struct tmigr_live *live, __u64 *ret_end_ns, struct tmigr_err *err)
{
	int ret;

	if (!live->started || live->stopped)
		return tmigr_fail(err, -EINVAL, "no window is open");
	ret = tmigr_live_read_base(live, err);
	if (ret)
		return ret;
	live->end_ns = tmigr_live_announce(live);
	ret = last_snapshot(live, err);
	tmigr_live_cost(live, &live->cost_end);
	if (ret)
		return ret;
	tmigr_sleep_until(live->end_ns + TMIGR_NS_PER_MS);
	ret = tmigr_live_read_edge(live, live->end_ns, live->last, err);
	tmigr_live_detach(live);
	if (ret)
		return ret;
	live->stopped = true;
	ret = read_rest(live);
	if (!ret)
		ret = tell_lost(live);
	if (ret)
		return tmigr_fail(err, ret, "cannot read the BPF maps: %s", strerror(-ret));
	*ret_end_ns = live->end_ns;
	return 0;
}
