// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the live engine on this kernel and checks its figures against one another:
 * the maps' totals against a recomputation from the timeline records, the
 * remote hash against its records, the records against the loss counters.
 * Speaks TAP; skips with a reason where the engine may not run.
 */
#include "../../lib/live_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tmigr.skel.h"

#define RUN_MS 1500

/* ---- TAP ---- */

static int n_tests, n_failed;

static void ok(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void ok(bool good, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++n_tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	n_failed += !good;
}

/* For what a machine too busy to be idle in the window cannot show. */
static void skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++n_tests, what, why);
}

#define diag(...) printf("# " __VA_ARGS__)

/* ---- load: sleepers on every CPU, hrtimers and timer-wheel timers ---- */

/* A receive timeout is a global timer of the timer wheel, which the hierarchy
 * moves; clock_nanosleep() is an hrtimer, which it does not. */
static void sleeper(unsigned int cpu, bool wheel)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval timeout = {.tv_usec = 8000};
	struct timespec period = {.tv_nsec = 1300000};
	cpu_set_t set;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	if (cpu < CPU_SETSIZE) {
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		wheel = false;
	for (;;) {
		if (!wheel)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
		else if (recv(fd, &byte, 1, 0) < 0 && errno != EAGAIN && errno != EINTR)
			wheel = false;
	}
}

static pid_t *start_load(const struct tmigr_topology *topo)
{
	pid_t *pids = calloc(2 * topo->n_cpus, sizeof(*pids));

	for (size_t i = 0; pids && i < 2 * topo->n_cpus; i++) {
		if (!topo->cpus[i / 2].online)
			continue;
		fflush(stdout);
		pids[i] = fork();
		if (pids[i] == 0)
			sleeper(topo->cpus[i / 2].cpu, i % 2);
	}
	return pids;
}

static void stop_load(const struct tmigr_topology *topo, pid_t *pids)
{
	for (size_t i = 0; pids && i < 2 * topo->n_cpus; i++) {
		if (pids[i] <= 0)
			continue;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	free(pids);
}

static void sleep_ms(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* ---- one run of the engine ---- */

struct run {
	const struct tmigr_topology *topo;
	struct tmigr_live *live;
	struct tmigr_rec_vec recs;
	struct tmigr_window_totals *totals;
	__u64 start_ns, end_ns, watermark_ns;
	size_t disorder; /* records older than the one before, in one drain */
	size_t early;	 /* records older than an earlier drain's watermark */
};

static int collect(void *arg, const struct tmigr_rec *recs, size_t n)
{
	struct run *run = arg;

	for (size_t i = 0; i < n; i++) {
		const struct tmigr_rec *prev = NULL;

		if (run->recs.n)
			prev = &run->recs.recs[run->recs.n - 1];
		/* CLEAN vouches for the past. */
		if (prev && prev->type != TMIGR_REC_CLEAN && recs[i].type != TMIGR_REC_CLEAN &&
		    recs[i].t_ns < prev->t_ns)
			run->disorder++;
		if (recs[i].type != TMIGR_REC_CLEAN && recs[i].t_ns < run->watermark_ns)
			run->early++;
		if (tmigr_rec_vec_add(&run->recs, recs[i]))
			return -ENOMEM;
	}
	return 0;
}

static int run_window(struct run *run, struct tmigr_err *err)
{
	int ret = tmigr_live_start(run->live, &run->start_ns, err);

	for (int i = 0; !ret && i < 3; i++) {
		__u64 watermark = 0;

		sleep_ms(RUN_MS / 3);
		ret = tmigr_live_drain(run->live, collect, run, &watermark, err);
		run->watermark_ns = watermark;
	}
	if (!ret)
		ret = tmigr_live_stop(run->live, &run->end_ns, err);
	if (!ret)
		ret = tmigr_live_drain(run->live, collect, run, NULL, err);
	return ret ? ret : tmigr_live_totals(run->live, &run->totals, err);
}

/* Opens and runs; 0, or the error, reported as a failed test. */
static int make_run(struct run *run, const struct tmigr_topology *topo,
		    const struct tmigr_live_opts *opts, const char *what)
{
	struct tmigr_err err = {""};
	int ret;

	*run = (struct run){.topo = topo};
	ret = tmigr_live_open(opts, topo, &run->live, &err);
	if (!ret)
		ret = run_window(run, &err);
	ok(ret == 0, "%s: runs", what);
	if (ret)
		diag("%s\n", err.text);
	return ret;
}

static void end_run(struct run *run)
{
	tmigr_live_close(run->live);
	tmigr_window_totals_free(run->totals);
	free(run->recs.recs);
	*run = (struct run){0};
}

/* ---- recomputation of a CPU's totals from its records ---- */

struct redo {
	unsigned int slot, woke;
	__u64 since_ns;
	bool known, seen;
	__u64 open_at_start, open_at_end;
	struct tmigr_totals_cpu totals;
	struct tmigr_totals_remote *remote; /* by target, topology index */
};

static unsigned int bucket(__u64 ns)
{
	unsigned int k = 0;

	while (k < TMIGR_HIST_BUCKETS - 1 && ns >> (k + 1))
		k++;
	return k;
}

/* The CPU was in redo->slot from since_ns to @t. */
static void redo_pass(const struct run *run, struct redo *redo, __u64 t, unsigned int slot)
{
	__u64 from = redo->since_ns > run->start_ns ? redo->since_ns : run->start_ns;
	__u64 to = t < run->end_ns ? t : run->end_ns;

	if (to > from)
		redo->totals.time_ns[redo->slot] += to - from;
	if (redo->known && redo->since_ns < run->start_ns && t >= run->start_ns)
		redo->open_at_start++;
	if (redo->known && redo->since_ns < run->end_ns && t >= run->end_ns)
		redo->open_at_end++;
	redo->slot = slot;
	redo->since_ns = t;
}

static bool inside(const struct run *run, __u64 t)
{
	return t >= run->start_ns && t < run->end_ns;
}

static void redo_idle(const struct run *run, struct redo *redo, const struct tmigr_rec *rec)
{
	bool enter = rec->type == TMIGR_REC_IDLE_ENTER;
	unsigned int slot = enter ? TMIGR_SLOT_STATE0 + (unsigned int)rec->a : TMIGR_SLOT_RUNNING;

	if (!redo->seen && enter)
		redo->slot = TMIGR_SLOT_RUNNING;
	redo->seen = true;
	if (!enter && redo->known && inside(run, rec->t_ns))
		redo->totals.hist[redo->slot][bucket(rec->t_ns - redo->since_ns)]++;
	redo_pass(run, redo, rec->t_ns, slot);
	redo->known = enter;
	if (enter)
		redo->woke = slot;
	if (enter && inside(run, rec->t_ns))
		redo->totals.entries[slot]++;
}

static void redo_remote(const struct run *run, struct redo *redo, const struct tmigr_rec *rec)
{
	int target = tmigr_topology_index(run->topo, (unsigned int)rec->b);
	unsigned int woke = rec->flags & TMIGR_RF_IDLE_TASK ? redo->woke : TMIGR_SLOTS;

	redo->woke = TMIGR_SLOTS;
	if (target < 0 || !inside(run, rec->t_ns))
		return;
	redo->remote[target].count++;
	if (woke < TMIGR_SLOTS)
		redo->remote[target].woke[woke]++;
}

static void redo_snap(struct redo *redo, const struct tmigr_rec *rec)
{
	if (redo->seen)
		return;
	if (rec->a == TMIGR_STATE_RUNNING)
		redo->slot = TMIGR_SLOT_RUNNING;
	else if (rec->a < TMIGR_STATES)
		redo->slot = redo->woke = TMIGR_SLOT_STATE0 + (unsigned int)rec->a;
}

static void redo_cpu(const struct run *run, unsigned int cpu, struct redo *redo)
{
	redo->slot = redo->woke = TMIGR_SLOT_UNKNOWN;
	for (size_t i = 0; i < run->recs.n; i++) {
		const struct tmigr_rec *rec = &run->recs.recs[i];

		if (rec->type == TMIGR_REC_SNAP_IDLE && rec->b == cpu)
			redo_snap(redo, rec);
		if (rec->type == TMIGR_REC_NODE_GROUP || rec->cpu != cpu)
			continue;
		if (rec->type == TMIGR_REC_IDLE_ENTER || rec->type == TMIGR_REC_IDLE_EXIT)
			redo_idle(run, redo, rec);
		else if (rec->type == TMIGR_REC_HANDLE_REMOTE_CPU)
			redo_remote(run, redo, rec);
	}
	redo_pass(run, redo, UINT64_MAX, TMIGR_SLOT_UNKNOWN);
}

/* ---- checks ---- */

static void check_law_1(const struct run *run, const char *what)
{
	bool good = run->totals->n_cpus == run->topo->n_cpus;

	for (size_t i = 0; i < run->totals->n_cpus; i++) {
		__u64 sum = 0;

		for (int s = 0; s < TMIGR_SLOTS; s++)
			sum += run->totals->cpus[i].time_ns[s];
		if (sum == run->end_ns - run->start_ns)
			continue;
		good = false;
		diag("cpu %u: sum %llu, window %llu\n", run->totals->cpus[i].cpu, sum,
		     run->end_ns - run->start_ns);
	}
	ok(good, "%s: every CPU's times add up to the window", what);
}

static bool same_slot(const struct tmigr_totals_cpu *a, const struct tmigr_totals_cpu *b, int s)
{
	if (a->time_ns[s] == b->time_ns[s] && a->entries[s] == b->entries[s] &&
	    memcmp(a->hist[s], b->hist[s], sizeof(a->hist[s])) == 0)
		return true;
	diag("cpu %u slot %d: maps %llu ns %llu entries, records %llu ns %llu entries\n", a->cpu, s,
	     a->time_ns[s], a->entries[s], b->time_ns[s], b->entries[s]);
	return false;
}

static bool same_remote(const struct run *run, size_t i, const struct redo *redo, __u64 *ret_count)
{
	bool good = true;

	for (size_t t = 0; t < run->topo->n_cpus; t++) {
		struct tmigr_totals_remote none = {0}, *found = &none;

		for (size_t k = 0; k < run->totals->n_remote; k++)
			if (run->totals->remote[k].executor == run->topo->cpus[i].cpu &&
			    run->totals->remote[k].target == run->topo->cpus[t].cpu)
				found = &run->totals->remote[k];
		*ret_count += found->count;
		if (found->count == redo->remote[t].count &&
		    memcmp(found->woke, redo->remote[t].woke, sizeof(found->woke)) == 0)
			continue;
		good = false;
		diag("remote %u for %u: hash %llu, records %llu\n", run->topo->cpus[i].cpu,
		     run->topo->cpus[t].cpu, found->count, redo->remote[t].count);
	}
	return good;
}

static bool hist_law(const struct tmigr_totals_cpu *c, const struct redo *redo)
{
	__u64 hist = 0, entries = 0;

	for (int s = 0; s < TMIGR_SLOTS; s++) {
		entries += c->entries[s];
		for (int k = 0; k < TMIGR_HIST_BUCKETS; k++)
			hist += c->hist[s][k];
	}
	if (hist + redo->open_at_end == entries + redo->open_at_start)
		return true;
	diag("cpu %u: %llu in histograms, %llu entries, open %llu, %llu\n", c->cpu, hist, entries,
	     redo->open_at_start, redo->open_at_end);
	return false;
}

static void check_recomputed(const struct run *run, const char *what)
{
	bool times = true, remote = true, hist = true;
	__u64 entries = 0, expiries = 0;

	for (size_t i = 0; i < run->topo->n_cpus; i++) {
		struct redo redo = {.remote = calloc(run->topo->n_cpus, sizeof(*redo.remote))};

		redo.totals.cpu = run->topo->cpus[i].cpu;
		redo_cpu(run, run->topo->cpus[i].cpu, &redo);
		for (int s = 0; s < TMIGR_SLOTS; s++) {
			times &= same_slot(&run->totals->cpus[i], &redo.totals, s);
			entries += redo.totals.entries[s];
		}
		remote &= same_remote(run, i, &redo, &expiries);
		hist &= hist_law(&run->totals->cpus[i], &redo);
		free(redo.remote);
	}
	diag("%s: %llu idle entries, %llu remote expiries\n", what, entries, expiries);
	ok(times, "%s: times, entries and histograms are those of the records", what);
	ok(remote, "%s: remote expiries are those of the records", what);
	ok(hist, "%s: histograms hold the entries but those open at the edges", what);
}

static void check_stream(const struct run *run, const char *what)
{
	size_t n[256] = {0};

	for (size_t i = 0; i < run->recs.n; i++)
		n[run->recs.recs[i].type]++;
	diag("%s: %zu records\n", what, run->recs.n);
	ok(run->disorder == 0, "%s: records come in time order", what);
	ok(run->early == 0, "%s: no record is older than a watermark", what);
	ok(n[TMIGR_REC_CLEAN] > 0, "%s: the stream is vouched for", what);
}

static int by_group_and_seq(const void *a, const void *b)
{
	const struct tmigr_rec *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	/* The run makes far fewer than 32768 updates of a group between any two
	 * records that are compared: order by distance on the circle. */
	return (__s16)(tmigr_word_seq((__u32)x->b) - tmigr_word_seq((__u32)y->b));
}

/* Every update of every group is there once. */
static void check_seq(const struct run *run, const char *what)
{
	struct tmigr_rec_vec updates = {0};
	size_t bad = 0;

	for (size_t i = 0; i < run->recs.n; i++)
		if (run->recs.recs[i].type == TMIGR_REC_GROUP_ACTIVE ||
		    run->recs.recs[i].type == TMIGR_REC_GROUP_INACTIVE)
			tmigr_rec_vec_add(&updates, run->recs.recs[i]);
	if (updates.n)
		qsort(updates.recs, updates.n, sizeof(*updates.recs), by_group_and_seq);
	for (size_t i = 1; i < updates.n; i++) {
		const struct tmigr_rec *x = &updates.recs[i - 1], *y = &updates.recs[i];

		bad += x->a == y->a &&
		       (__u16)(tmigr_word_seq((__u32)y->b) - tmigr_word_seq((__u32)x->b)) != 1;
	}
	diag("%s: %zu updates of groups\n", what, updates.n);
	if (updates.n)
		ok(bad == 0, "%s: no update of a group is missing", what);
	else
		skip(what, "no CPU went idle");
	free(updates.recs);
}

/* Every online CPU's place is told; by the snapshot before the window where
 * there is one. */
static void check_places(const struct run *run, const char *what, bool before_start)
{
	bool good = true;

	for (size_t i = 0; i < run->topo->n_cpus; i++) {
		bool found = !run->topo->cpus[i].online;

		for (size_t k = 0; k < run->recs.n; k++) {
			const struct tmigr_rec *rec = &run->recs.recs[k];

			found |= rec->type == TMIGR_REC_NODE_CPU && rec->a && rec->mask &&
				 rec->b == run->topo->cpus[i].cpu &&
				 (!before_start || rec->t_ns < run->start_ns);
		}
		if (!found)
			diag("cpu %u: place not told\n", run->topo->cpus[i].cpu);
		good &= found;
	}
	ok(good, "%s: every CPU's place in the hierarchy is told", what);
}

/* LOST records tell of exactly what the programs counted as lost. */
static void check_losses(const struct run *run, const char *what, bool expect_some)
{
	__u64 all = 0;
	bool good = true;

	for (size_t i = 0; i < run->topo->n_cpus; i++) {
		/* The copy made after the programs were detached. */
		const struct tmigr_cpu_value *v = &run->live->values[run->live->possible_idx[i]];
		__u64 told = 0;

		for (size_t k = 0; k < run->recs.n; k++)
			if (run->recs.recs[k].type == TMIGR_REC_LOST &&
			    run->recs.recs[k].cpu == run->topo->cpus[i].cpu)
				told += run->recs.recs[k].a;
		if (told != v->cur.lost)
			diag("cpu %u: lost %llu, told %llu\n", run->topo->cpus[i].cpu, v->cur.lost,
			     told);
		good &= told == v->cur.lost && run->totals->cpus[i].lost <= told;
		all += told;
	}
	diag("%s: %llu records lost\n", what, all);
	ok(good, "%s: LOST records agree with the counters", what);
	if (expect_some && !all)
		skip(what, "too few records to lose any");
	else
		ok(expect_some || !all, "%s: %s", what,
		   expect_some ? "records were lost" : "no record was lost");
}

/* Records written in the window, as the programs counted and as they came. */
static void check_records(const struct run *run, const char *what)
{
	bool good = true;

	for (size_t i = 0; i < run->topo->n_cpus; i++) {
		__u64 n = 0;

		for (size_t k = 0; k < run->recs.n; k++) {
			const struct tmigr_rec *rec = &run->recs.recs[k];

			n += rec->cpu == run->topo->cpus[i].cpu && inside(run, rec->t_ns) &&
			     rec->type != TMIGR_REC_CLEAN && rec->type < TMIGR_REC_NODE_GROUP;
			n += rec->cpu == run->topo->cpus[i].cpu && inside(run, rec->t_ns) &&
			     rec->type == TMIGR_REC_DUTY;
		}
		if (n != run->totals->cpus[i].records)
			diag("cpu %u: %llu written, %llu came\n", run->topo->cpus[i].cpu,
			     run->totals->cpus[i].records, n);
		good &= n == run->totals->cpus[i].records;
	}
	ok(good, "%s: as many records came as were written", what);
}

static void check_known(const struct run *run, const char *what)
{
	__u64 unknown = 0;

	for (size_t i = 0; i < run->totals->n_cpus; i++)
		unknown += run->totals->cpus[i].time_ns[TMIGR_SLOT_UNKNOWN];
	ok(unknown == 0, "%s: nothing is unknown", what);
}

/* ---- the runs ---- */

static void test_plain(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.kick = true};
	const char *what = "plain";
	struct run run;

	if (make_run(&run, topo, &opts, what) == 0) {
		check_law_1(&run, what);
		check_known(&run, what);
		check_recomputed(&run, what);
		check_stream(&run, what);
		check_losses(&run, what, false);
		check_records(&run, what);
		if (tmigr_live_has_tmigr(run.live)) {
			check_seq(&run, what);
			check_places(&run, what, true);
		}
		ok(!run.totals->observer.bpf_known || run.totals->observer.bpf_runs > 0,
		   "%s: the programs' own time is known", what);
	}
	end_run(&run);
}

/* Without symbols: the snapshot by distances. Here and there it is what the
 * plain run used anyway. */
static void test_no_ksyms(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.no_ksyms = true, .no_stats = true};
	const char *what = "without kallsyms";
	struct run run;

	if (make_run(&run, topo, &opts, what) == 0) {
		check_law_1(&run, what);
		check_recomputed(&run, what);
		if (tmigr_live_has_tmigr(run.live))
			check_places(&run, what, true);
		ok(!run.totals->observer.bpf_known, "%s: the programs' time was not measured",
		   what);
	}
	end_run(&run);
}

static void test_no_snapshot(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.no_snapshot = true};
	const char *what = "without snapshot";
	struct run run;

	if (make_run(&run, topo, &opts, what) == 0) {
		check_law_1(&run, what);
		check_recomputed(&run, what);
		check_seq(&run, what);
	}
	end_run(&run);
}

static void test_tiny_ring(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.ring_bytes = 1, .kick = true};
	const char *what = "tiny ring";
	struct run run;

	if (make_run(&run, topo, &opts, what) == 0) {
		check_law_1(&run, what);
		check_known(&run, what);
		check_losses(&run, what, true);
	}
	end_run(&run);
}

static void test_no_timeline(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.no_timeline = true, .kick = true};
	const char *what = "no timeline";
	struct run run;

	if (make_run(&run, topo, &opts, what) == 0) {
		check_law_1(&run, what);
		check_known(&run, what);
		ok(run.recs.n == 0, "%s: there are no records", what);
	}
	end_run(&run);
}

/* Identifiers of the loaded programs. */
static size_t prog_ids(const struct tmigr_live *live, __u32 *ids, size_t max)
{
	struct bpf_program *prog;
	size_t n = 0;

	bpf_object__for_each_program(prog, live->skel->obj)
	{
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);
		int fd = bpf_program__fd(prog);

		if (n < max && fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &len) == 0)
			ids[n++] = info.id;
	}
	return n;
}

/* The kernel frees a program some time after its last descriptor is closed. */
static bool gone(__u32 id)
{
	for (int i = 0; i < 500; i++) {
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			return true;
		close(fd);
		sleep_ms(10);
	}
	return false;
}

static void test_nothing_left(const struct tmigr_topology *topo)
{
	struct tmigr_live *live = NULL;
	__u32 ids[64];
	__u64 start_ns;
	size_t n = 0, left = 0;
	int ret = tmigr_live_open(NULL, topo, &live, NULL);

	if (!ret)
		ret = tmigr_live_start(live, &start_ns, NULL);
	if (!ret)
		n = prog_ids(live, ids, sizeof(ids) / sizeof(ids[0]));
	tmigr_live_close(live);
	for (size_t i = 0; i < n; i++)
		left += !gone(ids[i]);
	ok(!ret && n > 0 && left == 0, "closed while running: no program is left of %zu", n);
}

static int count_sink(void *arg, const struct tmigr_rec *recs, size_t n)
{
	size_t *nodes = arg;

	for (size_t i = 0; i < n; i++)
		*nodes += recs[i].type == TMIGR_REC_NODE_CPU;
	return 0;
}

static void test_snapshot(const struct tmigr_topology *topo)
{
	struct tmigr_live *live = NULL;
	struct tmigr_err err = {""};
	size_t nodes = 0, online = 0;
	__u64 start_ns;
	int ret = tmigr_live_open(NULL, topo, &live, &err);

	if (!ret)
		ret = tmigr_live_start(live, &start_ns, &err);
	if (!ret)
		ret = tmigr_live_snapshot(live, count_sink, &nodes, &err);
	for (size_t i = 0; i < topo->n_cpus; i++)
		online += topo->cpus[i].online;
	if (!ret && tmigr_live_has_tmigr(live))
		ok(nodes >= online, "snapshot: %zu places of %zu CPUs online", nodes, online);
	else
		ok(ret == 0, "snapshot: %s", err.text);
	tmigr_live_close(live);
}

/* True, with a line to print, where the engine cannot run. */
static bool cannot_run(const struct tmigr_topology *topo, struct tmigr_err *err)
{
	struct tmigr_live *live = NULL;
	int ret = tmigr_live_open(NULL, topo, &live, err);

	tmigr_live_close(live);
	return ret == -EPERM || ret == -ENOENT;
}

int main(void)
{
	struct tmigr_topology *topo = NULL;
	struct tmigr_err err = {""};
	pid_t *load;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (tmigr_topology_read(NULL, NULL, 0, &topo, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	if (cannot_run(topo, &err)) {
		printf("1..0 # SKIP %s\n", err.text);
		tmigr_topology_free(topo);
		return 0;
	}
	load = start_load(topo);
	test_plain(topo);
	test_no_ksyms(topo);
	test_no_snapshot(topo);
	test_tiny_ring(topo);
	test_no_timeline(topo);
	test_snapshot(topo);
	test_nothing_left(topo);
	stop_load(topo, load);
	tmigr_topology_free(topo);
	printf("1..%d\n", n_tests);
	return n_failed != 0;
}
