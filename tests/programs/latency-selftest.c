// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs for latency, run by hand: loaded, attached to nothing, and given the
 * events of made-up idle intervals one by one (BPF_PROG_TEST_RUN), so that what each
 * interval's cause must be is known, on a machine that never idles too.  Figures are
 * read at edges as the engine does.  Speaks TAP; skips with a reason where the engine
 * may not run.
 */
#include "../../lib/live_priv.h"
#include "../lib/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "tmigr.skel.h"

#define IRQ   33
#define STATE 1
#define SLOT  (TMIGR_SLOT_STATE0 + STATE)
#define FRESH 3 /* a state that one check alone enters */

struct bench {
	struct tmigr_topology *topo;
	struct tmigr_live *live;
	size_t idx; /* of the CPU that the events are given to */
	unsigned int cpu;
	int bringup; /* CPUHP_BRINGUP_CPU of this kernel */
	bool failed;
};

/* ---- events ---- */

static int run(struct bench *b, const struct bpf_program *prog, __u64 a0, __u64 a1, __u64 a2)
{
	__u64 args[12] = {a0, a1, a2};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args),
		    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = b->cpu);
	int fd = bpf_program__fd(prog);

	return fd < 0 ? -ENOENT : bpf_prog_test_run_opts(fd, &opts);
}

/* The timer that the interval began with: @ahead_ns from now.  @since_ns: and the interval
 * began so long before the timer is due; 0: when it did. */
static int arm(struct bench *b, __s64 ahead_ns, __u64 since_ns)
{
	struct tmigr_lat_state *st;
	struct tmigr_lat_state *states = calloc(b->live->n_possible, sizeof(*states));
	int fd = bpf_map__fd(b->live->skel->maps.lat_states);
	__u32 zero = 0;
	int ret = states ? bpf_map_lookup_elem(fd, &zero, states) : -ENOMEM;

	if (!ret) {
		st = &states[b->live->possible_idx[b->idx]];
		st->armed_ns = tmigr_now_ns() + (__u64)ahead_ns;
		if (since_ns)
			st->enter_ns = st->armed_ns - since_ns;
		st->no_ipi_ns = 0; /* an earlier case's, that would be in it now */
		ret = bpf_map_update_elem(fd, &zero, states, BPF_ANY);
	}
	free(states);
	return ret;
}

static int event(struct bench *b, char c)
{
	struct tmigr_bpf *s = b->live->skel;

	switch (c) {
	case 'e':
		return run(b, s->progs.lat_cpu_idle, STATE, b->cpu, 0);
	case 'Z':
		return run(b, s->progs.lat_cpu_idle, 0, b->cpu, 0);
	case 'Y':
		return run(b, s->progs.lat_cpu_idle, FRESH, b->cpu, 0);
	case 'x':
		return run(b, s->progs.lat_cpu_idle, (__u32)-1, b->cpu, 0);
	case 'S': /* with no task to look at the next one is the idle task */
		return run(b, s->progs.lat_sched_switch, 0, 0, 0);
	case 't':
		return run(b, s->progs.lat_local_timer_entry, 0, 0, 0);
	case 'T':
		return run(b, s->progs.lat_local_timer_exit, 0, 0, 0);
	case 'r':
		return run(b, s->progs.lat_reschedule_entry, 0, 0, 0);
	case 'c':
		return run(b, s->progs.lat_call_function_single_entry, 0, 0, 0);
	case 'w':
		return run(b, s->progs.lat_irq_work_entry, 0, 0, 0);
	case 'i':
		return run(b, s->progs.lat_irq_entry, IRQ, 0, 0);
	case 'I':
		return run(b, s->progs.lat_irq_exit, IRQ, 0, 0);
	case 's':
		return run(b, s->progs.lat_softirq_exit, 0, 0, 0);
	case 'h':
		return run(b, s->progs.lat_hrtimer, 0, 0, 0);
	case 'm':
		return run(b, s->progs.lat_timer, 0, 0, 0);
	case 'M': /* whose target cannot be read: CPU 0 */
		return run(b, s->progs.lat_handle_remote_cpu, 0, 0, 0);
	case 'R': /* as 'M', into the matrix */
		return run(b, s->progs.on_handle_remote_cpu, 0, 0, 0);
	case 'O': /* comes online */
		return run(b, s->progs.lat_cpuhp_enter, b->cpu, (__u64)b->bringup + 1,
			   (__u64)b->bringup);
	case 'n':
		return run(b, s->progs.lat_no_ipi, b->cpu, 0, 0);
	case 'P': /* overdue by far */
		return arm(b, -(__s64)TMIGR_NS_PER_S, 1000);
	case 'Q': /* just so */
		return arm(b, -5000, 1000);
	case 'p': /* overdue by far when the interval began */
		return arm(b, -(__s64)TMIGR_NS_PER_S, 0);
	case 'F':
		return arm(b, (__s64)TMIGR_NS_PER_S, 0);
	default:
		return -EINVAL;
	}
}

static int events(struct bench *b, const char *text)
{
	int ret = 0;

	for (; *text && !ret; text++)
		ret = event(b, *text);
	if (ret)
		tap_diag("event '%c': %s\n", text[-1], strerror(ret < 0 ? -ret : errno));
	return ret;
}

/* ---- figures ---- */

/* At an edge now; @late: what happens behind it, before the figures are read. */
static struct tmigr_lat_figures figures_before(struct bench *b, unsigned int slot, const char *late,
					       __u64 *ret_edge)
{
	struct tmigr_lat_figures(*f)[TMIGR_SLOTS] = calloc(b->topo->n_cpus, sizeof(*f));
	struct tmigr_lat_figures ret = {0};
	struct tmigr_err err = {""};
	__u64 edge = tmigr_live_announce(b->live, 0);

	tmigr_sleep_until(edge + TMIGR_NS_PER_MS);
	events(b, late);
	if (!f || tmigr_live_latency_read(b->live, edge, f, &err)) {
		tap_diag("%s\n", err.text);
		b->failed = true;
	} else {
		ret = f[b->idx][slot];
	}
	free(f);
	if (ret_edge)
		*ret_edge = edge;
	return ret;
}

static struct tmigr_lat_figures figures(struct bench *b, unsigned int slot, __u64 *ret_edge)
{
	return figures_before(b, slot, "", ret_edge);
}

/* Details of @slot at @edge: how many wake-ups by an interrupt they have. */
static __u64 irq_details(struct bench *b, unsigned int slot, __u64 edge)
{
	struct tmigr_latency_detail *d = NULL;
	size_t n = 0;
	__u64 sum = 0;

	if (tmigr_live_latency_details(b->live, edge, &d, &n))
		b->failed = true;
	for (size_t i = 0; i < n; i++)
		if (d[i].slot == slot && d[i].cause == TMIGR_WAKE_IRQ)
			sum += d[i].row.count;
	free(d);
	return sum;
}

static __u64 causes(const struct tmigr_lat_sums *s)
{
	__u64 n = 0;

	for (int c = 0; c < TMIGR_WAKE_CAUSES; c++)
		n += s->causes[c].count;
	return n;
}

static const struct {
	const char *events, *what;
	enum tmigr_wake_cause cause;
	unsigned int state;
} cases[] = {
	{"exS", "no handler, and a task to run", TMIGR_WAKE_POLLED, STATE},
	{"ex", "no handler at all", TMIGR_WAKE_OTHER, STATE},
	{"extTs", "the timer behind the exit", TMIGR_WAKE_TIMER, STATE},
	{"extTsS", "the timer, for a task", TMIGR_WAKE_TIMER, STATE},
	{"extTMs", "a timer that runs others' timers", TMIGR_WAKE_REMOTE, STATE},
	{"extTmMs", "... and own ones first", TMIGR_WAKE_TIMER, STATE},
	{"exthTMs", "... and own hrtimers", TMIGR_WAKE_TIMER, STATE},
	{"extTMms", "the others' expire in it", TMIGR_WAKE_REMOTE, STATE},
	{"exrS", "a reschedule IPI", TMIGR_WAKE_RESCHED, STATE},
	{"excS", "a function-call IPI", TMIGR_WAKE_CALL, STATE},
	{"exw", "irq_work", TMIGR_WAKE_OTHER, STATE},
	{"exiI", "a device", TMIGR_WAKE_IRQ, STATE},
	{"exiIMs", "a device, and others' timers behind it", TMIGR_WAKE_IRQ, STATE},
	{"extTrS", "the first handler counts", TMIGR_WAKE_TIMER, STATE},
	{"etTx", "a handler before the exit", TMIGR_WAKE_TIMER, STATE},
	{"eriIxtT", "several: with hlt the first", TMIGR_WAKE_RESCHED, STATE},
	{"enxS", "need_resched was seen", TMIGR_WAKE_POLLED, STATE},
	{"enxtTS", "... before the timer", TMIGR_WAKE_POLLED, STATE},
	{"ZtTrxS", "several while polling: the last", TMIGR_WAKE_RESCHED, 0},
	{"ZtTnxS", "a tick while polling, then need_resched", TMIGR_WAKE_POLLED, 0},
	{"exh", "a timer whose interrupt is not traced", TMIGR_WAKE_TIMER, STATE},
	{"exihI", "an interrupt in which hrtimers expire", TMIGR_WAKE_TIMER, STATE},
	{"exiI", "... is a timer's from then on", TMIGR_WAKE_TIMER, STATE},
};

/* Each ends with an entry of another state, which settles what is still open. */
static void check_case(struct bench *b, size_t i)
{
	unsigned int slot = TMIGR_SLOT_STATE0 + cases[i].state;
	struct tmigr_lat_figures before = figures(b, slot, NULL), after;
	int ret = events(b, cases[i].events);
	bool good;

	if (!ret)
		ret = events(b, cases[i].state ? "Z" : "e");
	after = figures(b, slot, NULL);
	good = !ret && after.sums.causes[cases[i].cause].count ==
			       before.sums.causes[cases[i].cause].count + 1;
	tap_ok(good && causes(&after.sums) == causes(&before.sums) + 1 &&
		       after.sums.entries == before.sums.entries + 1,
	       "%s: %s", cases[i].what, tmigr_wake_cause_name(cases[i].cause));
	if (!good)
		for (unsigned int c = 0; c < TMIGR_WAKE_CAUSES; c++)
			if (after.sums.causes[c].count != before.sums.causes[c].count)
				tap_diag("it was %s\n", tmigr_wake_cause_name(c));
	/* The interval that ended it is settled too, unseen by the next case. */
	events(b, "xSS");
}

static __u64 sum_of(const struct tmigr_lat_figures *f, enum tmigr_lat_kind kind)
{
	return f->sums.dist[kind].sum_ns;
}

static void check_times(struct bench *b)
{
	struct tmigr_lat_figures before = figures(b, SLOT, NULL), after;
	const struct tmigr_lat_row *row;
	__u64 edge, wake_ns;

	events(b, "ePxtTsSSeFxrSS");
	after = figures(b, SLOT, &edge);
	tap_ok(sum_of(&after, TMIGR_LAT_WAKE) - sum_of(&before, TMIGR_LAT_WAKE) >= TMIGR_NS_PER_S,
	       "wake latency: not less than the timer was overdue");
	tap_ok(after.peaks[TMIGR_LAT_WAKE].ns >= TMIGR_NS_PER_S &&
		       after.peaks[TMIGR_LAT_WAKE].t_ns < edge,
	       "... and its largest");
	row = &after.sums.causes[TMIGR_WAKE_RESCHED];
	tap_ok(row->short_n == before.sums.causes[TMIGR_WAKE_RESCHED].short_n + 1 &&
		       row->short_expected_ns >= TMIGR_NS_PER_S &&
		       row->short_slept_ns < row->short_expected_ns,
	       "an interval cut short, of a second");
	events(b, "eQxtTsSS");
	after = figures(b, SLOT, NULL);
	tap_ok(after.peaks[TMIGR_LAT_WAKE].ns >= 5000 && after.peaks[TMIGR_LAT_WAKE].t_ns >= edge,
	       "the largest is of the time since the edge before");
	tap_ok(after.sums.dist[TMIGR_LAT_ENTRY].sum_ns > 0, "entry cost was counted");
	before = after;
	events(b, "epxtTsSS");
	after = figures(b, SLOT, NULL);
	wake_ns = sum_of(&after, TMIGR_LAT_WAKE) - sum_of(&before, TMIGR_LAT_WAKE);
	row = &after.sums.causes[TMIGR_WAKE_TIMER];
	tap_ok(wake_ns && wake_ns == row->slept_ns - before.sums.causes[TMIGR_WAKE_TIMER].slept_ns,
	       "a timer that was due before the interval: its latency is the interval");
}

/* An interval over an edge is in the entries of one side, in the causes of the other. */
static void check_edge(struct bench *b)
{
	struct tmigr_lat_figures a = figures(b, SLOT, NULL), in, c;

	events(b, "e");
	in = figures(b, SLOT, NULL);
	events(b, "xrS");
	c = figures(b, SLOT, NULL);
	tap_ok(a.sums.entries == causes(&a.sums) && in.sums.entries == causes(&in.sums) + 1 &&
		       c.sums.entries == causes(&c.sums) && c.sums.entries == a.sums.entries + 1,
	       "open at an edge: its entry before it, its cause behind it");
	events(b, "S");
	in = figures_before(b, SLOT, "exrSSexrSS", NULL);
	tap_ok(in.sums.entries == c.sums.entries && causes(&in.sums) == causes(&c.sums),
	       "what happens behind an edge is not in its figures");
	in = figures(b, SLOT, NULL);
	tap_ok(in.sums.entries == c.sums.entries + 2 && causes(&in.sums) == in.sums.entries,
	       "... but in the next");
}

/* A CPU that was silent since the first edge, and is not when the next one has been
 * announced but is not there yet.  Comes first: nothing may have happened before. */
static void check_lead(struct bench *b)
{
	unsigned int slot = TMIGR_SLOT_STATE0 + FRESH;
	struct tmigr_lat_figures(*f)[TMIGR_SLOTS] = calloc(b->topo->n_cpus, sizeof(*f));
	struct tmigr_err err = {""};
	__u64 edge, n = 0;
	bool early;

	edge = tmigr_live_announce(b->live, tmigr_now_ns() + TMIGR_NS_PER_S);
	events(b, "RYxiIZxSS");
	early = tmigr_now_ns() < edge;
	tmigr_sleep_until(edge + TMIGR_NS_PER_MS);
	if (!f || tmigr_live_latency_read(b->live, edge, f, &err) ||
	    tmigr_live_fold_remote(b->live, edge))
		b->failed = true;
	else
		n = f[b->idx][slot].sums.causes[TMIGR_WAKE_IRQ].count;
	tap_ok(early && n == 1 && irq_details(b, slot, edge) == 1,
	       "first events between an announcement and its edge: their interrupt has its detail");
	n = 0;
	for (size_t i = 0; i < b->live->remote.n; i++)
		n += b->live->remote.pairs[i].executor == b->cpu ? b->live->remote.pairs[i].count
								 : 0;
	tap_ok(early && n == 1, "... and remote expiries are in the matrix");
	free(f);
}

/* An edge that is announced and not read, because another takes its place. */
static void check_unread(struct bench *b)
{
	struct tmigr_lat_figures f;
	__u64 edge;

	events(b, "ePxtTsSS");
	edge = tmigr_live_announce(b->live, 0);
	tmigr_sleep_until(edge + TMIGR_NS_PER_MS);
	events(b, "eQxtTsSS");
	f = figures_before(b, SLOT, "eQxtTsSS", NULL);
	tap_ok(f.peaks[TMIGR_LAT_WAKE].ns >= TMIGR_NS_PER_S,
	       "the largest before an edge that nobody read is the next one's");
	f = figures(b, SLOT, NULL);
	tap_ok(f.peaks[TMIGR_LAT_WAKE].ns >= 5000 && f.peaks[TMIGR_LAT_WAKE].ns < TMIGR_NS_PER_S,
	       "... and of no later one");
	events(b, "ePxtTsSS");
	edge = tmigr_live_announce(b->live, 0);
	tmigr_sleep_until(edge + TMIGR_NS_PER_MS);
	events(b, "eQxtTsSS");
	f = figures(b, SLOT, NULL);
	tap_ok(f.peaks[TMIGR_LAT_WAKE].ns >= TMIGR_NS_PER_S,
	       "... also where the CPU has not passed that yet");
}

/* What it was ready for when it went offline is no entry's cost. */
static void check_online(struct bench *b)
{
	struct tmigr_lat_figures before = figures(b, SLOT, NULL), after;
	__u64 n = 0;

	events(b, "SS");
	tmigr_sleep_until(tmigr_now_ns() + 20 * TMIGR_NS_PER_MS);
	events(b, "Oe");
	after = figures(b, SLOT, NULL);
	for (int k = 0; k < TMIGR_HIST_BUCKETS; k++)
		n += after.sums.dist[TMIGR_LAT_ENTRY].hist[k] -
		     before.sums.dist[TMIGR_LAT_ENTRY].hist[k];
	tap_ok(after.sums.entries == before.sums.entries + 1 && n == 0,
	       "the first entry of a CPU that came online: counted, its cost is not known");
	events(b, "xSS");
}

static void check_details(struct bench *b)
{
	struct tmigr_latency_detail *d = NULL;
	const struct tmigr_latency_detail *irq = NULL, *remote = NULL;
	struct tmigr_lat_figures f;
	size_t n = 0, others = 0; /* check_lead()'s */
	__u64 edge;

	f = figures(b, SLOT, &edge);
	if (tmigr_live_latency_details(b->live, edge, &d, &n))
		b->failed = true;
	for (size_t i = 0; i < n; i++) {
		irq = d[i].slot == SLOT && d[i].cause == TMIGR_WAKE_IRQ ? &d[i] : irq;
		remote = d[i].slot == SLOT && d[i].cause == TMIGR_WAKE_REMOTE ? &d[i] : remote;
		others += d[i].slot != SLOT;
	}
	tap_ok(n == 2 + others && others == 1 && irq && remote,
	       "details: one interrupt, one target, put together");
	tap_ok(irq && irq->arg == IRQ && irq->cpu == b->cpu &&
		       irq->row.count == f.sums.causes[TMIGR_WAKE_IRQ].count,
	       "the interrupt has all of its wake-ups");
	tap_ok(remote && remote->arg == 0 &&
		       remote->row.count == f.sums.causes[TMIGR_WAKE_REMOTE].count,
	       "the target too");
	tap_ok(f.sums.remote_wakes > f.sums.causes[TMIGR_WAKE_REMOTE].count,
	       "remote timers ran in other wake-ups as well");
	free(d);
}

/* CPUHP_BRINGUP_CPU by the kernel's BTF. */
static int bringup_step(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "cpuhp_state", BTF_KIND_ENUM) : -1, ret = -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;

	for (int i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(type)[i].name_off),
			    "CPUHP_BRINGUP_CPU"))
			ret = btf_enum(type)[i].val;
	btf__free(btf);
	return ret;
}

static int open_bench(struct bench *b, bool no_ipis)
{
	const struct tmigr_live_opts opts = {.latency = true, .no_stats = true, .no_ipis = no_ipis};
	struct tmigr_err err = {""};
	int ret = tmigr_topology_read(NULL, NULL, 0, &b->topo, &err);

	b->bringup = bringup_step();
	if (!ret)
		ret = tmigr_live_open(&opts, b->topo, &b->live, &err);
	if (ret) {
		printf("1..0 # SKIP %s\n", err.text);
		return ret;
	}
	b->idx = b->topo->n_cpus - 1;
	b->cpu = b->topo->cpus[b->idx].cpu;
	return 0;
}

static void close_bench(struct bench *b)
{
	tap_ok(!b->failed, "figures could be read at every edge");
	tmigr_live_close(b->live);
	tmigr_topology_free(b->topo);
}

/* A CPU that slept when the programs came: what the interrupt did that woke it is no part
 * of its next entry's cost.  Its own first events. */
static void check_asleep(struct bench *b)
{
	struct tmigr_lat_figures f;

	events(b, "x");
	tmigr_sleep_until(tmigr_now_ns() + TMIGR_NS_PER_S);
	events(b, "Ie");
	f = figures(b, SLOT, NULL);
	tap_ok(f.sums.entries == 1 && causes(&f.sums) == 0 &&
		       f.sums.dist[TMIGR_LAT_ENTRY].sum_ns > 0 &&
		       f.sums.dist[TMIGR_LAT_ENTRY].sum_ns < TMIGR_NS_PER_S,
	       "asleep since before the programs: its first entry costs from the interrupt's end");
	events(b, "xSS");
}

/* Without the events of interrupts between CPUs, what no handler tells of is unknown, and
 * nothing else is. */
static void check_unknown(void)
{
	static const struct {
		const char *events;
		enum tmigr_wake_cause cause;
	} known[] = {{"exS", TMIGR_WAKE_UNKNOWN},   {"ex", TMIGR_WAKE_UNKNOWN},
		     {"extTsS", TMIGR_WAKE_TIMER},  {"exiI", TMIGR_WAKE_IRQ},
		     {"extTMs", TMIGR_WAKE_REMOTE}, {"enxS", TMIGR_WAKE_POLLED}};
	struct tmigr_lat_figures before, after;
	struct bench b = {0};

	if (open_bench(&b, true))
		return;
	check_asleep(&b);
	tap_ok(!tmigr_live_latency_causes(b.live), "without the events of IPIs: it says so");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		before = figures(&b, SLOT, NULL);
		events(&b, known[i].events);
		events(&b, "Z");
		after = figures(&b, SLOT, NULL);
		tap_ok(after.sums.causes[known[i].cause].count ==
				       before.sums.causes[known[i].cause].count + 1 &&
			       causes(&after.sums) == causes(&before.sums) + 1,
		       "... %s: %s", known[i].events, tmigr_wake_cause_name(known[i].cause));
		events(&b, "xSS");
	}
	close_bench(&b);
}

int main(void)
{
	struct bench b = {0};

	if (geteuid() != 0) {
		puts("1..0 # SKIP needs root");
		return 0;
	}
	if (open_bench(&b, false))
		return 0;
	if (b.topo->n_cpus < 2 || bpf_program__fd(b.live->skel->progs.lat_local_timer_entry) < 0) {
		puts("1..0 # SKIP needs two CPUs, and x86's events of interrupts");
		return 0;
	}
	events(&b, "S"); /* to the idle task */
	figures(&b, SLOT, NULL);
	check_lead(&b);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_case(&b, i);
	check_times(&b);
	check_edge(&b);
	check_unread(&b);
	check_online(&b);
	check_details(&b);
	close_bench(&b);
	check_unknown();
	return tap_done();
}
