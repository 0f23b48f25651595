// SPDX-License-Identifier: GPL-2.0-or-later
/* What a Perfetto trace begins with: clocks, names, tracks, marks, the run. */
#ifdef TMIGR_PERFETTO
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto_priv.h"
#include "report_fmt.h"

/* ---- what the first replay tells ---- */

void pf_take_hierarchy(void *arg, const struct tmigr_hierarchy *h)
{
	struct perfetto *p = arg;

	for (size_t i = 0; i < h->n_groups; i++)
		if (h->groups[i].number >= p->n_groups)
			p->n_groups = h->groups[i].number + 1;
	p->groups = calloc(p->n_groups + 1, sizeof(*p->groups));
	p->no_memory = !p->groups;
	for (size_t i = 0; p->groups && i < h->n_groups; i++) {
		struct pf_group *g = &p->groups[h->groups[i].number];

		g->shown = true;
		memcpy(g->name, h->groups[i].name, sizeof(g->name));
	}
}

int pf_prepare(struct perfetto *p)
{
	const json_t *cpus = json_object_get(p->report, "cpus");

	p->start_ns = tmigr_rep_u64(p->report, "start_ns");
	p->end_ns = p->start_ns + tmigr_rep_u64(p->report, "window_ns");
	p->n_roots = json_array_size(json_object_get(p->report, "roots"));
	p->n_cpus = json_array_size(cpus);
	p->cpus = calloc(p->n_cpus + 1, sizeof(*p->cpus));
	if (p->no_memory || !p->cpus)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_cpus; i++)
		p->cpus[i].cpu = (unsigned int)tmigr_rep_u64(json_array_get(cpus, i), "cpu");
	return 0;
}

void pf_free(struct perfetto *p)
{
	free(p->cpus);
	free(p->groups);
}

/* ---- numbers ---- */

/* "tmig" in front, so that two traces of different tools can be joined. */
__u64 pf_uuid(enum pf_track_kind kind, size_t index)
{
	return 0x746d696700000000ULL | (__u64)kind << 24 | (__u64)index;
}

int pf_cpu(const struct perfetto *p, unsigned int cpu)
{
	size_t lo = 0, hi = p->n_cpus;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->cpus[mid].cpu < cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n_cpus && p->cpus[lo].cpu == cpu ? (int)lo : -1;
}

/* One more than there are CPUs: for one that is not in the report. */
__u64 pf_cpu_name(const struct perfetto *p, unsigned int cpu)
{
	int i = pf_cpu(p, cpu);

	return PF_NAME_FIRST + (i < 0 ? p->n_cpus : (size_t)i);
}

__u64 pf_group_name(const struct perfetto *p, size_t group)
{
	return PF_NAME_FIRST + p->n_cpus + 1 + group;
}

/* ---- names ---- */

static void cpu_name(const struct perfetto *p, size_t i, char *buf, size_t size)
{
	if (i >= p->n_cpus)
		snprintf(buf, size, "a CPU that sysfs did not list");
	else
		snprintf(buf, size, "CPU %u (%s)", p->cpus[i].cpu,
			 tmigr_rep_class(p->report, p->cpus[i].cpu));
}

static void put_names(const struct perfetto *p)
{
	static const char *const regimes[TMIGR_REGIMES] = {
		[TMIGR_HELD] = "held",
		[TMIGR_HANDOVER] = "hand-over in flight",
		[TMIGR_DUTY] = "nobody: an idle CPU has the wakeup duty",
		[TMIGR_FREE] = "nobody: no global timer pending",
		[TMIGR_UNKNOWN] = "unknown",
	};
	static const char *const categories[] = {
		[PF_CAT_HOLDER] = "tmigr.holder",
		[PF_CAT_GROUP] = "tmigr.group",
		[PF_CAT_REMOTE] = "tmigr.remote",
		[PF_CAT_NOTE] = "tmigr.note",
	};
	static const char *const arguments[] = {
		[PF_ARG_CPU] = "cpu",
		[PF_ARG_EXECUTOR] = "executor",
		[PF_ARG_EXECUTOR_CLASS] = "executor_class",
		[PF_ARG_TARGET] = "target",
		[PF_ARG_TARGET_CLASS] = "target_class",
		[PF_ARG_WOKE_FROM] = "woke_executor_from",
		[PF_ARG_ANSWER] = "answer",
		[PF_ARG_LABEL] = "label",
		[PF_ARG_RUN] = "run",
		[PF_ARG_TOOL] = "tool",
		[PF_ARG_KERNEL] = "kernel",
		[PF_ARG_MACHINE] = "machine",
		[PF_ARG_START_TIME] = "start_time",
		[PF_ARG_WINDOW_NS] = "window_ns",
		[PF_ARG_PARTIAL] = "partial",
		[PF_ARG_LOST_RECORDS] = "lost_records",
	};
	char name[128];

	for (size_t i = 1; i < sizeof(categories) / sizeof(categories[0]); i++)
		pf_name(p->out, PF_CATEGORY, i, categories[i]);
	for (size_t i = 1; i < sizeof(arguments) / sizeof(arguments[0]); i++)
		pf_name(p->out, PF_ARGUMENT, i, arguments[i]);
	pf_name(p->out, PF_EVENT, PF_NAME_NONE, "none");
	pf_name(p->out, PF_EVENT, PF_NAME_REMOTE, "remote expiry");
	pf_name(p->out, PF_EVENT, PF_NAME_RUN, "tmigr run");
	for (size_t i = 0; i < TMIGR_REGIMES; i++)
		pf_name(p->out, PF_EVENT, PF_NAME_REGIME + i, regimes[i]);
	for (size_t i = 0; i <= p->n_cpus; i++) {
		cpu_name(p, i, name, sizeof(name));
		pf_name(p->out, PF_EVENT, PF_NAME_FIRST + i, name);
	}
	for (size_t i = 0; i < p->n_groups; i++)
		pf_name(p->out, PF_EVENT, pf_group_name(p, i), p->groups[i].name);
}

/* ---- tracks ---- */

static void folder(const struct perfetto *p, enum pf_track_kind kind, const char *name)
{
	struct pf_track t = {pf_uuid(kind, 0), 0, name, NULL, (int)kind};

	if (kind != PF_TRACK_TOP)
		t.parent = pf_uuid(PF_TRACK_TOP, 0);
	pf_track(p->out, &t);
}

static void put_track(const struct perfetto *p, enum pf_track_kind kind, size_t index, int rank,
		      enum pf_track_kind in, const char *unit, const char *name)
{
	struct pf_track t = {pf_uuid(kind, index), pf_uuid(in, 0), name, unit, rank};

	pf_track(p->out, &t);
}

/* Groups in the report's order, each with the CPUs below it. */
static void put_groups(const struct perfetto *p)
{
	const json_t *groups = json_object_get(json_object_get(p->report, "hierarchy"), "groups");
	const json_t *g;
	char name[256];
	size_t i;

	folder(p, PF_TRACK_GROUPS, "Migrator of each group");
	json_array_foreach (groups, i, g) {
		const char *of = tmigr_rep_str(g, "name");

		snprintf(name, sizeof(name), "%s [CPU %s]", of, tmigr_rep_str(g, "cpus"));
		for (size_t k = 0; k < p->n_groups; k++)
			if (p->groups[k].shown && !strcmp(p->groups[k].name, of))
				put_track(p, PF_TRACK_GROUP, k, (int)i, PF_TRACK_GROUPS, NULL,
					  name);
	}
}

static void put_roots(const struct perfetto *p)
{
	const json_t *root;
	char name[256];
	size_t i;

	folder(p, PF_TRACK_HOLDERS, "Global migrator");
	json_array_foreach (json_object_get(p->report, "roots"), i, root) {
		snprintf(name, sizeof(name), "of %s [CPU %s]", tmigr_rep_str(root, "group"),
			 tmigr_rep_str(root, "cpus"));
		put_track(p, PF_TRACK_ROOT, i, (int)i, PF_TRACK_HOLDERS, NULL, name);
	}
}

static void put_cpus(const struct perfetto *p)
{
	char cpu[128], name[160];

	folder(p, PF_TRACK_STATES, "cpu_idle (-1 running, -2 offline, -3 unknown)");
	for (size_t i = 0; i < p->n_cpus; i++) {
		cpu_name(p, i, cpu, sizeof(cpu));
		put_track(p, PF_TRACK_CPU, i, (int)i, PF_TRACK_STATES, "state", cpu);
	}
	folder(p, PF_TRACK_REMOTES, "Remote expiries");
	for (size_t i = 0; i <= p->n_cpus; i++) {
		cpu_name(p, i, cpu, sizeof(cpu));
		snprintf(name, sizeof(name), "run by %s", cpu);
		put_track(p, PF_TRACK_REMOTE, i, (int)i, PF_TRACK_REMOTES, NULL, name);
	}
}

/* ---- the run and its marks ---- */

static void add_text(struct pf_arg *args, size_t *n, __u64 name, const char *text)
{
	if (text && *text)
		args[(*n)++] = (struct pf_arg){name, text, 0};
}

static void put_run(const struct perfetto *p)
{
	const json_t *r = p->report, *run = json_object_get(r, "run");
	struct pf_arg args[PF_ARGS];
	size_t n = 0;
	struct pf_event e = {.t_ns = p->start_ns,
			     .track = pf_uuid(PF_TRACK_NOTES, 0),
			     .category = PF_CAT_NOTE,
			     .name = PF_NAME_RUN,
			     .args = args};

	add_text(args, &n, PF_ARG_ANSWER, tmigr_rep_str(json_object_get(r, "answer"), "text"));
	add_text(args, &n, PF_ARG_LABEL, tmigr_rep_str(r, "label"));
	if (json_is_integer(run))
		args[n++] = (struct pf_arg){PF_ARG_RUN, NULL, (__u64)json_integer_value(run)};
	add_text(args, &n, PF_ARG_TOOL, tmigr_rep_str(r, "tool"));
	add_text(args, &n, PF_ARG_KERNEL, tmigr_rep_str(json_object_get(r, "kernel"), "release"));
	add_text(args, &n, PF_ARG_MACHINE, tmigr_rep_str(json_object_get(r, "machine"), "model"));
	add_text(args, &n, PF_ARG_START_TIME, tmigr_rep_str(r, "start_time"));
	add_text(args, &n, PF_ARG_PARTIAL, tmigr_rep_str(r, "partial"));
	args[n++] = (struct pf_arg){PF_ARG_WINDOW_NS, NULL, p->end_ns - p->start_ns};
	/* cppcheck-suppress unreadVariable; by e.args */
	args[n++] = (struct pf_arg){PF_ARG_LOST_RECORDS, NULL,
				    tmigr_rep_u64(json_object_get(r, "lost"), "records")};
	e.n_args = n;
	pf_instant(p->out, &e);
}

static void put_marks(const struct perfetto *p)
{
	const json_t *mark;
	size_t i;

	json_array_foreach (json_object_get(p->report, "marks"), i, mark) {
		struct pf_arg text = {PF_ARG_LABEL, tmigr_rep_str(mark, "text"), 0};
		struct pf_event e = {.t_ns = tmigr_rep_u64(mark, "time_ns"),
				     .track = pf_uuid(PF_TRACK_NOTES, 0),
				     .category = PF_CAT_NOTE,
				     .text = tmigr_rep_str(mark, "text"),
				     .args = &text,
				     .n_args = 1};

		pf_instant(p->out, &e);
	}
}

void pf_describe(const struct perfetto *p)
{
	pf_begin(p->out, p->start_ns);
	put_names(p);
	folder(p, PF_TRACK_TOP, "Timer migration");
	folder(p, PF_TRACK_NOTES, "Run and marks");
	put_roots(p);
	put_groups(p);
	put_cpus(p);
	put_run(p);
	put_marks(p);
}
#endif
