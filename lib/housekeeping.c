// SPDX-License-Identifier: GPL-2.0-or-later
#include "tmigr/housekeeping.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "housekeeping_choose.h"
#include "sysfs.h"

/* Smaller is better, the first member counting most. */
struct rank {
	bool shielded; /* isolated or nohz_full: asked to be left alone */
	unsigned int class_idx;
	unsigned long long idle_ticks;
};

static bool better(const struct rank *a, const struct rank *b)
{
	if (a->shielded != b->shielded)
		return b->shielded;
	if (a->class_idx != b->class_idx)
		return a->class_idx < b->class_idx;
	return a->idle_ticks < b->idle_ticks;
}

/*
 * Idle and iowait time of @cpu: fields 4 and 5 of its line in /proc/stat.  The
 * search goes on where that for a lower CPU ended (*@pos): a large machine has
 * hundreds of kilobytes there.
 */
static unsigned long long idle_ticks(const char **pos, unsigned int cpu)
{
	unsigned long long idle, iowait;
	char key[32];
	const char *line;

	snprintf(key, sizeof(key), "\ncpu%u ", cpu);
	line = strstr(*pos, key);
	if (!line)
		return ULLONG_MAX;
	*pos = line;
	if (sscanf(line + strlen(key), "%*u %*u %*u %llu %llu", &idle, &iowait) != 2)
		return ULLONG_MAX;
	return idle + iowait;
}

int housekeeping_choose(const struct tmigr_topology *topo, const cpu_set_t *mask, size_t mask_bytes,
			const char *stat_text)
{
	const char *pos = stat_text;
	struct rank best;
	int chosen = -1;

	for (size_t i = 0; i < topo->n_cpus; i++) {
		const struct tmigr_topo_cpu *cpu = &topo->cpus[i];
		struct rank rank = {
			.shielded = cpu->isolated || cpu->nohz_full,
			.class_idx = cpu->class_idx,
		};

		if (!cpu->online || !CPU_ISSET_S(cpu->cpu, mask_bytes, mask))
			continue;
		rank.idle_ticks = idle_ticks(&pos, cpu->cpu);
		if (chosen >= 0 && !better(&rank, &best))
			continue;
		chosen = (int)cpu->cpu;
		best = rank;
	}
	return chosen;
}

int housekeeping_mask(unsigned int n_cpus, cpu_set_t **ret, size_t *ret_bytes)
{
	for (unsigned int n = n_cpus > CPU_SETSIZE ? n_cpus : CPU_SETSIZE; n <= 1u << 24; n *= 2) {
		size_t bytes = CPU_ALLOC_SIZE(n);
		cpu_set_t *mask = CPU_ALLOC(n);
		int e;

		if (!mask)
			return -ENOMEM;
		CPU_ZERO_S(bytes, mask);
		if (sched_getaffinity(0, bytes, mask) == 0) {
			*ret = mask;
			*ret_bytes = bytes;
			return 0;
		}
		e = errno;
		CPU_FREE(mask);
		/* EINVAL: the kernel's own masks are longer. */
		if (e != EINVAL)
			return -e;
	}
	return -EINVAL;
}

static int check_wanted(const struct tmigr_topology *topo, int want, struct tmigr_err *err)
{
	int idx = tmigr_topology_index(topo, (unsigned int)want);

	if (idx < 0)
		return tmigr_fail(err, -EINVAL, "housekeeping: this machine has no CPU %d", want);
	if (!topo->cpus[idx].online)
		return tmigr_fail(err, -EINVAL, "housekeeping: CPU %d is offline", want);
	return want;
}

static int choose(const struct tmigr_topology *topo, const cpu_set_t *mask, size_t bytes,
		  struct tmigr_err *err)
{
	char *text;
	int r = sysfs_text(NULL, "/proc/stat", &text);

	if (r < 0)
		return tmigr_fail(err, r, "housekeeping: /proc/stat: %s", strerror(-r));
	r = housekeeping_choose(topo, mask, bytes, text);
	free(text);
	if (r < 0)
		return tmigr_fail(err, -EINVAL,
				  "housekeeping: no online CPU that this process may run on");
	return r;
}

static int set_mask(unsigned int cpu, size_t bytes)
{
	cpu_set_t *mask = CPU_ALLOC(bytes * CHAR_BIT);
	int r = 0;

	if (!mask)
		return -ENOMEM;
	CPU_ZERO_S(bytes, mask);
	CPU_SET_S(cpu, bytes, mask);
	if (sched_setaffinity(0, bytes, mask) < 0)
		r = -errno;
	CPU_FREE(mask);
	return r;
}

int tmigr_housekeeping_pin(const struct tmigr_topology *topo, int want,
			   struct tmigr_housekeeping *ret, struct tmigr_err *err)
{
	struct tmigr_housekeeping h = {0};
	int cpu, slack, r;

	r = housekeeping_mask(topo->n_possible, &h.mask, &h.mask_bytes);
	if (r < 0)
		return tmigr_fail(err, r, "housekeeping: reading the CPU mask: %s", strerror(-r));
	cpu = want >= 0 ? check_wanted(topo, want, err) : choose(topo, h.mask, h.mask_bytes, err);
	r = cpu < 0 ? cpu : set_mask((unsigned int)cpu, h.mask_bytes);
	if (r < 0) {
		CPU_FREE(h.mask);
		return cpu < 0 ? cpu
			       : tmigr_fail(err, r, "housekeeping: moving to CPU %d: %s", cpu,
					    strerror(-r));
	}
	/* Slack is a wish: a real-time task has none, and that is no error. */
	slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	h.slack_ns = slack > 0 ? (unsigned long)slack : 0;
	prctl(PR_SET_TIMERSLACK, TMIGR_HOUSEKEEPING_SLACK_NS, 0, 0, 0);
	*ret = h;
	return cpu;
}

void tmigr_housekeeping_undo(const struct tmigr_housekeeping *h)
{
	if (!h->mask)
		return;
	sched_setaffinity(0, h->mask_bytes, h->mask);
	/* 0 asks for the default, which is right for a task that had none. */
	prctl(PR_SET_TIMERSLACK, h->slack_ns, 0, 0, 0);
}

void tmigr_housekeeping_release(struct tmigr_housekeeping *h)
{
	if (h->mask)
		CPU_FREE(h->mask);
	*h = (struct tmigr_housekeeping){0};
}
