// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Life of the live source: open, start, close.
 */
#include "live_priv.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "housekeeping_choose.h"
#include "sysfs.h"

#define POSSIBLE_FILE  "/sys/devices/system/cpu/possible"
#define SETTLE_MAX_NS  (50 * TMIGR_NS_PER_MS)
#define SETTLE_STEP_NS (5 * TMIGR_NS_PER_MS)

/* ---- open, close ---- */

static int read_possible(struct tmigr_live *live, struct tmigr_err *err)
{
	struct cpulist list;
	int ret = sysfs_cpulist(NULL, POSSIBLE_FILE, &list, err);

	if (ret == -EINVAL)
		return ret;
	if (ret)
		return tmigr_fail(err, ret, "%s: %s", POSSIBLE_FILE, strerror(-ret));
	live->possible = list.cpus;
	live->n_possible = list.n;
	if (!live->n_possible)
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
	live->logs = calloc(n, sizeof(*live->logs));
	live->values = calloc(live->n_possible, sizeof(*live->values));
	live->values2 = calloc(live->n_possible, sizeof(*live->values2));
	live->quiet = malloc(n);
	live->told = calloc(n, sizeof(*live->told));
	live->early = calloc(n, sizeof(*live->early));
	live->early_ns = calloc(n, sizeof(*live->early_ns));
	live->last_snap = calloc(n, sizeof(*live->last_snap));
	if (!live->possible_idx || !live->rings || !live->logs || !live->values || !live->values2 ||
	    !live->quiet || !live->told || !live->early || !live->early_ns || !live->last_snap)
		return -ENOMEM;
	memset(live->quiet, TMIGR_SLOT_UNKNOWN, n);
	return 0;
}

static int probe(struct tmigr_live *live, struct tmigr_err *err)
{
	int ret = kbtf_open(TMIGR_KERNEL_BTF_FILE, &live->kbtf, err);

	if (!ret || ret == -ENOENT)
		ret = tmigr_features_of(ret ? NULL : &live->kbtf, NULL, &live->features, err);
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
		return tmigr_fail(err, -ENOMEM, "no memory for the engine");
	ret = index_possible(live, err);
	if (!ret)
		ret = probe(live, err);
	if (ret)
		return ret;
	ret = tmigr_live_load(live, err);
	kbtf_close(&live->kbtf);
	return ret;
}

int tmigr_live_open(const struct tmigr_live_opts *opts, const struct tmigr_topology *topo,
		    struct tmigr_live **ret, struct tmigr_err *err)
{
	struct tmigr_live *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return tmigr_fail(err, -ENOMEM, "no memory for the engine");
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
	kbtf_close(&live->kbtf);
	if (live->stats_fd >= 0)
		close(live->stats_fd);
	free(live->possible);
	free(live->possible_idx);
	free(live->rings);
	free(live->logs);
	free(live->values);
	free(live->values2);
	free(live->quiet);
	free(live->told);
	free(live->early);
	free(live->early_ns);
	free(live->last_snap);
	free(live->remote.pairs);
	free(live);
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
		live->values[i].cur.woke_slot = TMIGR_SLOT_UNKNOWN;
	}
	return bpf_map_update_elem(live->cpus_fd, &zero, live->values, BPF_ANY) ? -errno : 0;
}

/* Visits each CPU once, which wakes it.  One that is offline or not allowed cannot be
 * visited. */
static int kick(const struct tmigr_topology *topo)
{
	cpu_set_t *old, *one;
	size_t bytes;
	int ret = housekeeping_mask(topo->n_possible, &old, &bytes);

	if (ret)
		return ret;
	one = malloc(bytes);
	if (!one) {
		CPU_FREE(old);
		return -ENOMEM;
	}
	for (size_t i = 0; i < topo->n_cpus; i++) {
		CPU_ZERO_S(bytes, one);
		CPU_SET_S(topo->cpus[i].cpu, bytes, one);
		sched_setaffinity(0, bytes, one);
	}
	if (sched_setaffinity(0, bytes, old))
		ret = -errno;
	free(one);
	CPU_FREE(old);
	return ret;
}

/*
 * Of every online CPU it is known what it does: it has made an event, or a snapshot
 * tells.  And the hierarchy can be read, which may need an event of any CPU.  Where
 * there is no cpuidle driver a snapshot does not tell which state a CPU sleeps in.
 */
static bool all_known(struct tmigr_live *live, unsigned char *quiet)
{
	memset(quiet, TMIGR_SLOT_UNKNOWN, live->topo->n_cpus);
	if (!live->opts.no_snapshot &&
	    (tmigr_live_read_snapshot(live, quiet, NULL) || !tmigr_live_snapshot_whole(live)))
		return false;
	if (tmigr_live_read_values(live, live->values))
		return false;
	for (size_t i = 0; i < live->topo->n_cpus; i++)
		if (live->topo->cpus[i].online && quiet[i] == TMIGR_SLOT_UNKNOWN &&
		    !live->values[live->possible_idx[i]].first_ns)
			return false;
	return true;
}

/* What loading left to RCU would wake CPUs in the window: it is waited for.  The short
 * sleeps make the events of the CPU that this thread is on. */
static int settle(struct tmigr_live *live)
{
	unsigned char *quiet = malloc(live->topo->n_cpus);
	__u64 begin, now;

	if (!quiet)
		return -ENOMEM;
	tmigr_live_wait_handlers(live);
	begin = now = tmigr_now_ns();
	do {
		tmigr_sleep_until(now + SETTLE_STEP_NS);
		now = tmigr_now_ns();
	} while (!all_known(live, quiet) && now < begin + SETTLE_MAX_NS);
	free(quiet);
	return 0;
}

int tmigr_live_start(struct tmigr_live *live, struct tmigr_err *err)
{
	int ret;

	if (live->started)
		return tmigr_fail(err, -EINVAL, "the engine was started already");
	ret = init_values(live);
	if (ret)
		return tmigr_fail(err, ret, "cannot write the BPF maps: %s", strerror(-ret));
	/* Needs CAP_SYS_ADMIN; without it the programs' time is not known. */
	if (!live->opts.no_stats)
		live->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	tmigr_live_cost(live, &live->cost_start);
	ret = tmigr_live_attach(live, err);
	if (ret)
		return ret;
	live->started = true;
	live->attached_ns = tmigr_now_ns();
	ret = live->opts.kick ? kick(live->topo) : 0;
	if (ret)
		return tmigr_fail(err, ret, "cannot visit every CPU: %s", strerror(-ret));
	if (settle(live))
		return tmigr_fail(err, -ENOMEM, "no memory for the engine");
	return 0;
}
