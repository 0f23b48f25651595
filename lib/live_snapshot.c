// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hierarchy, state words and idle states of the running kernel, read by the
 * snapshot programs one CPU at a time, and turned into records.
 */
#include "live_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sysfs.h"

#define CPU_ONLINE_FILE "/sys/devices/system/cpu/online"

int tmigr_rec_vec_add(struct tmigr_rec_vec *vec, struct tmigr_rec rec)
{
	if (vec->n == vec->cap) {
		size_t cap = vec->cap ? vec->cap * 2 : 256;
		struct tmigr_rec *recs = realloc(vec->recs, cap * sizeof(*recs));

		if (!recs)
			return -ENOMEM;
		vec->recs = recs;
		vec->cap = cap;
	}
	vec->recs[vec->n++] = rec;
	return 0;
}

int tmigr_rec_vec_append(struct tmigr_rec_vec *vec, const struct tmigr_rec *recs, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = tmigr_rec_vec_add(vec, recs[i]);
	return ret;
}

void tmigr_rec_vec_free(struct tmigr_rec_vec *vec)
{
	free(vec->recs);
	*vec = (struct tmigr_rec_vec){0};
}

/* ---- reading ---- */

/* Any CPU whose struct tmigr_cpu is known by an event of it; none: stays 0. */
static int find_known(struct tmigr_live *live, struct tmigr_snap_args *args)
{
	int ret = tmigr_live_read_values(live, live->values);

	for (size_t i = 0; !ret && i < live->n_possible; i++) {
		if (!live->values[i].tmc)
			continue;
		args->known_cpu = live->possible[i];
		args->known_tmc = live->values[i].tmc;
		break;
	}
	return ret;
}

/* Which CPUs of the topology are online now; all, when sysfs cannot be read. */
static void read_online(const struct tmigr_topology *topo, bool *online)
{
	struct cpulist list = {0};
	bool ok = sysfs_cpulist(NULL, CPU_ONLINE_FILE, &list, NULL) == 0;

	for (size_t i = 0; i < topo->n_cpus; i++)
		online[i] = !ok || cpulist_has(&list, topo->cpus[i].cpu);
	cpulist_free(&list);
}

/* The kernel gives the state's name, not its index. */
static unsigned char slot_by_name(const struct tmigr_topo_cpu *cpu, const char *name)
{
	unsigned char slot = TMIGR_SLOT_UNKNOWN;

	if (!name[0])
		return slot;
	for (unsigned int k = 0; k < cpu->n_states; k++) {
		if (strncmp(cpu->states[k].name, name,
			    sizeof(((struct tmigr_snap_cpu *)0)->state_name) - 1) != 0)
			continue;
		if (slot != TMIGR_SLOT_UNKNOWN)
			return TMIGR_SLOT_UNKNOWN; /* two of that name */
		slot = (unsigned char)(TMIGR_SLOT_STATE0 + k);
	}
	return slot;
}

static unsigned char quiet_slot(const struct tmigr_topo_cpu *cpu, const struct tmigr_snap_cpu *s,
				bool online)
{
	if (!s->quiet)
		return TMIGR_SLOT_UNKNOWN;
	if (!online)
		return TMIGR_SLOT_OFFLINE;
	if (!s->rq_valid)
		return TMIGR_SLOT_UNKNOWN;
	if (!s->rq_idle)
		return TMIGR_SLOT_RUNNING;
	return slot_by_name(cpu, s->state_name);
}

static int read_cpus(struct tmigr_live *live, struct tmigr_snap_args *args)
{
	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		unsigned int cpu = live->topo->cpus[i].cpu;
		int ret;

		memset(&live->snap[cpu], 0, sizeof(live->snap[cpu]));
		args->cpu = cpu;
		ret = tmigr_live_run_snap(live, args);
		if (ret)
			return ret;
		live->last_snap[i] = live->snap[cpu];
	}
	return 0;
}

/* A quiet CPU has not changed: what was seen once holds, unless another look
 * contradicts it. */
static void note_quiet(struct tmigr_live *live, const unsigned char *seen)
{
	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		if (seen[i] == TMIGR_SLOT_UNKNOWN || seen[i] == live->quiet[i])
			continue;
		live->quiet[i] =
			live->quiet[i] == TMIGR_SLOT_UNKNOWN ? seen[i] : TMIGR_QUIET_UNSURE;
	}
}

int tmigr_live_read_snapshot(struct tmigr_live *live, unsigned char *quiet, struct tmigr_err *err)
{
	size_t n = live->topo->n_cpus;
	bool *online = calloc(n, sizeof(*online));
	struct tmigr_snap_args args = {.rq_to_tmc = live->features.rq_to_tmc};
	int ret = online ? find_known(live, &args) : -ENOMEM;

	if (!ret)
		ret = read_cpus(live, &args);
	if (!ret)
		read_online(live->topo, online);
	for (size_t i = 0; !ret && i < n; i++)
		quiet[i] = quiet_slot(&live->topo->cpus[i], &live->last_snap[i], online[i]);
	free(online);
	if (ret)
		return tmigr_fail(err, ret, "cannot read the timer-migration hierarchy: %s",
				  strerror(-ret));
	/* Before, there may have been events that nobody saw. */
	if (live->attached)
		note_quiet(live, quiet);
	return 0;
}

bool tmigr_live_snapshot_whole(const struct tmigr_live *live)
{
	for (size_t i = 0; i < live->topo->n_cpus; i++)
		if (live->features.tmigr && !live->last_snap[i].valid && live->topo->cpus[i].online)
			return false;
	return true;
}

/* ---- as records ---- */

/* Places are stamped one ns before what is in them, so that they sort before. */
static int add_nodes(const struct tmigr_snap_cpu *s, unsigned int cpu, struct tmigr_rec_vec *vec)
{
	int ret = tmigr_rec_vec_add(vec, (struct tmigr_rec){.t_ns = s->t_ns - 1,
							    .cpu = cpu,
							    .type = TMIGR_REC_NODE_CPU,
							    .a = s->path[0].group,
							    .b = cpu,
							    .mask = s->mask});

	for (int k = 0; !ret && k < TMIGR_SNAP_LEVELS && s->path[k].group; k++)
		ret = tmigr_rec_vec_add(vec, (struct tmigr_rec){.t_ns = s->t_ns - 1,
								.cpu = (__u32)s->path[k].node,
								.type = TMIGR_REC_NODE_GROUP,
								.level = s->path[k].level,
								.mask = s->path[k].mask,
								.a = s->path[k].group,
								.b = s->path[k].parent});
	return ret;
}

static int add_states(const struct tmigr_snap_cpu *s, unsigned int cpu, struct tmigr_rec_vec *vec)
{
	__u8 flags = (s->idle ? TMIGR_RF_TMIGR_IDLE : 0) | (s->available ? TMIGR_RF_AVAILABLE : 0);
	int ret = 0;

	for (int k = 0; !ret && k < TMIGR_SNAP_LEVELS && s->path[k].group; k++)
		ret = tmigr_rec_vec_add(vec, (struct tmigr_rec){.t_ns = s->t_ns,
								.cpu = cpu,
								.type = TMIGR_REC_SNAP_GROUP,
								.a = s->path[k].group,
								.b = s->path[k].word});
	if (ret)
		return ret;
	/* An active CPU's field holds leftovers (of tmigr_handle_remote(), or a
	 * duty that is about to be reset): no duty. */
	return tmigr_rec_vec_add(vec, (struct tmigr_rec){.t_ns = s->t_ns,
							 .cpu = cpu,
							 .type = TMIGR_REC_SNAP_CPU,
							 .flags = flags,
							 .a = s->idle ? s->wakeup : TMIGR_KTIME_MAX,
							 .b = cpu});
}

int tmigr_live_snapshot_records(const struct tmigr_live *live, struct tmigr_rec_vec *vec)
{
	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		const struct tmigr_snap_cpu *s = &live->last_snap[i];
		unsigned int cpu = live->topo->cpus[i].cpu;
		int ret;

		if (!s->valid)
			continue;
		ret = add_nodes(s, cpu, vec);
		if (!ret)
			ret = add_states(s, cpu, vec);
		if (ret)
			return ret;
	}
	return 0;
}

static struct tmigr_rec idle_record(unsigned int cpu, unsigned int slot, __u64 t_ns)
{
	struct tmigr_rec rec = {.t_ns = t_ns, .cpu = cpu, .type = TMIGR_REC_SNAP_IDLE, .b = cpu};

	if (slot == TMIGR_SLOT_OFFLINE)
		rec.type = TMIGR_REC_CPU_OFFLINE;
	else if (slot == TMIGR_SLOT_RUNNING)
		rec.a = TMIGR_STATE_RUNNING;
	else if (slot == TMIGR_SLOT_UNKNOWN)
		rec.a = TMIGR_STATE_UNKNOWN;
	else
		rec.a = slot - TMIGR_SLOT_STATE0;
	return rec;
}

int tmigr_live_idle_records(const struct tmigr_live *live, const unsigned char *slots, __u64 t_ns,
			    struct tmigr_rec_vec *vec)
{
	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		int ret;

		if (slots[i] >= TMIGR_SLOTS || slots[i] == TMIGR_SLOT_UNKNOWN)
			continue;
		ret = tmigr_rec_vec_add(vec, idle_record(live->topo->cpus[i].cpu, slots[i], t_ns));
		if (ret)
			return ret;
	}
	return 0;
}

/* Idle states now: of a CPU that made events the programs know it. */
static void slots_now(struct tmigr_live *live, unsigned char *slots)
{
	if (!live->attached || tmigr_live_read_values(live, live->values))
		return;
	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		const struct tmigr_cpu_value *v = &live->values[live->possible_idx[i]];

		if (v->first_ns && v->cur.slot < TMIGR_SLOTS)
			slots[i] = (unsigned char)v->cur.slot;
	}
}

static bool any_valid(const struct tmigr_live *live)
{
	for (size_t i = 0; i < live->topo->n_cpus; i++)
		if (live->last_snap[i].valid)
			return true;
	return false;
}

/* An idle CPU without idle states is in the kernel's default idle, unless all of
 * them are made to poll: good enough for a look, not for figures. */
static void guess_default_idle(const struct tmigr_live *live, unsigned char *slots)
{
	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		const struct tmigr_snap_cpu *s = &live->last_snap[i];

		if (slots[i] == TMIGR_SLOT_UNKNOWN && s->rq_valid && s->rq_idle &&
		    !live->topo->cpus[i].n_states)
			slots[i] = TMIGR_SLOT_STATE0 + 1;
	}
}

int tmigr_live_snapshot(struct tmigr_live *live, struct tmigr_rec_vec *vec, struct tmigr_err *err)
{
	unsigned char *slots = calloc(live->topo->n_cpus, 1);
	int ret;

	if (!slots)
		return tmigr_fail(err, -ENOMEM, "no memory for a snapshot");
	vec->n = 0;
	ret = tmigr_live_read_snapshot(live, slots, err);
	if (!ret && live->features.tmigr && !any_valid(live))
		ret = tmigr_fail(err, -EAGAIN,
				 "no CPU has shown its place in the timer-migration hierarchy yet");
	if (!ret) {
		slots_now(live, slots);
		guess_default_idle(live, slots);
		ret = tmigr_live_snapshot_records(live, vec);
		if (!ret)
			ret = tmigr_live_idle_records(live, slots, tmigr_now_ns(), vec);
		if (ret)
			tmigr_fail(err, ret, "no memory for a snapshot");
	}
	free(slots);
	return ret;
}

/* ---- expiries ---- */

__u64 tmigr_live_cpu_expiry(const struct tmigr_live *live, unsigned int cpu)
{
	int i = tmigr_topology_index(live->topo, cpu);

	return i >= 0 && live->last_snap[i].valid ? live->last_snap[i].next_expiry : 0;
}

__u64 tmigr_live_group_expiry(const struct tmigr_live *live, __u64 group)
{
	for (size_t i = 0; group && i < live->topo->n_cpus; i++)
		for (int k = 0; live->last_snap[i].valid && k < TMIGR_SNAP_LEVELS; k++)
			if (live->last_snap[i].path[k].group == group)
				return live->last_snap[i].path[k].next_expiry;
	return 0;
}
