// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the live engine on this kernel and checks its figures against one another:
 * the maps' totals against a recomputation from the timeline records, the
 * remote hash against its records, the records against the loss counters.
 * Speaks TAP; skips with a reason where the engine may not run.
 */
#include "../lib/engine.h"
#include "../lib/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tmigr.skel.h"

/* ---- checks ---- */

static void check_law_1(const struct engine_run *run, const char *what)
{
	bool good = run->totals->n_cpus == run->topo->n_cpus;

	for (size_t i = 0; i < run->totals->n_cpus; i++) {
		__u64 sum = 0;

		for (int s = 0; s < TMIGR_SLOTS; s++)
			sum += run->totals->cpus[i].time_ns[s];
		if (sum == run->end_ns - run->start_ns)
			continue;
		good = false;
		tap_diag("cpu %u: sum %llu, window %llu\n", run->totals->cpus[i].cpu, sum,
			 run->end_ns - run->start_ns);
	}
	tap_ok(good, "%s: every CPU's times add up to the window", what);
}

static void check_stream(const struct engine_run *run, const char *what)
{
	size_t n[256] = {0};

	for (size_t i = 0; i < run->recs.n; i++)
		n[run->recs.recs[i].type]++;
	tap_diag("%s: %zu records\n", what, run->recs.n);
	tap_ok(run->disorder == 0, "%s: records come in time order", what);
	tap_ok(run->early == 0, "%s: no record is older than a watermark", what);
	tap_ok(n[TMIGR_REC_CLEAN] > 0, "%s: the stream is vouched for", what);
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

/* Every update of every group in the window is there once.  Before it, programs are being
 * attached one after the other; behind it, a record may still be to come. */
static void check_seq(const struct engine_run *run, const char *what)
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

		bad += x->a == y->a && x->t_ns >= run->start_ns && y->t_ns < run->end_ns &&
		       (__u16)(tmigr_word_seq((__u32)y->b) - tmigr_word_seq((__u32)x->b)) != 1;
	}
	tap_diag("%s: %zu updates of groups\n", what, updates.n);
	if (updates.n)
		tap_ok(bad == 0, "%s: no update of a group is missing", what);
	else
		tap_skip(what, "no CPU went idle");
	free(updates.recs);
}

/* Every online CPU's place is told; by the snapshot before the window where
 * there is one. */
static void check_places(const struct engine_run *run, const char *what, bool before_start)
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
			tap_diag("cpu %u: place not told\n", run->topo->cpus[i].cpu);
		good &= found;
	}
	tap_ok(good, "%s: every CPU's place in the hierarchy is told", what);
}

/* LOST records tell of exactly what the programs counted as lost, on the side of
 * each edge on which it was. */
static void check_losses(const struct engine_run *run, const char *what, bool expect_some)
{
	__u64 all = 0;
	bool good = true;

	for (size_t i = 0; i < run->topo->n_cpus; i++) {
		__u64 lost = run->window->end->cpus[i].totals.lost, told = 0, inside = 0;

		for (size_t k = 0; k < run->recs.n; k++) {
			const struct tmigr_rec *rec = &run->recs.recs[k];

			if (rec->type != TMIGR_REC_LOST || rec->cpu != run->topo->cpus[i].cpu ||
			    rec->t_ns >= run->end_ns)
				continue;
			told += rec->a;
			inside += rec->t_ns >= run->start_ns ? rec->a : 0;
		}
		if (told != lost || inside != run->totals->cpus[i].lost)
			tap_diag("cpu %u: lost %llu, told %llu; in the window %llu, told %llu\n",
				 run->topo->cpus[i].cpu, lost, told, run->totals->cpus[i].lost,
				 inside);
		good &= told == lost && inside == run->totals->cpus[i].lost;
		all += told;
	}
	tap_diag("%s: %llu records lost\n", what, all);
	tap_ok(good, "%s: LOST records agree with the counters", what);
	if (expect_some && !all)
		tap_skip(what, "too few records to lose any");
	else
		tap_ok(expect_some || !all, "%s: %s", what,
		       expect_some ? "records were lost" : "no record was lost");
}

/* No CLEAN vouches for a time in which a loss lies that the stream tells of only
 * later. */
static void check_clean(const struct engine_run *run, const char *what)
{
	__u64 clean_ns = 0;
	size_t bad = 0;

	for (size_t i = 0; i < run->recs.n; i++) {
		const struct tmigr_rec *rec = &run->recs.recs[i];

		if (rec->type == TMIGR_REC_CLEAN) {
			bad += rec->t_ns <= clean_ns;
			clean_ns = rec->t_ns;
		} else if (rec->type == TMIGR_REC_LOST) {
			bad += rec->b < clean_ns;
		}
	}
	tap_ok(bad == 0 && clean_ns == run->end_ns, "%s: what is vouched for is complete", what);
}

/* Records written in the window, as the programs counted and as they came. */
static void check_records(const struct engine_run *run, const char *what)
{
	bool good = true;

	for (size_t i = 0; i < run->topo->n_cpus; i++) {
		__u64 n = 0;

		for (size_t k = 0; k < run->recs.n; k++) {
			const struct tmigr_rec *rec = &run->recs.recs[k];

			n += rec->cpu == run->topo->cpus[i].cpu && engine_inside(run, rec->t_ns) &&
			     rec->type != TMIGR_REC_CLEAN && rec->type < TMIGR_REC_NODE_GROUP;
			n += rec->cpu == run->topo->cpus[i].cpu && engine_inside(run, rec->t_ns) &&
			     rec->type == TMIGR_REC_DUTY;
		}
		if (n != run->totals->cpus[i].records)
			tap_diag("cpu %u: %llu written, %llu came\n", run->topo->cpus[i].cpu,
				 run->totals->cpus[i].records, n);
		good &= n == run->totals->cpus[i].records;
	}
	tap_ok(good, "%s: as many records came as were written", what);
}

/* The kernel skips a program that interrupts itself; it would be a hole in the
 * figures.  Counted over the programs' life. */
static void check_misses(const struct engine_run *run, const char *what)
{
	struct bpf_program *prog;
	__u64 missed = 0;

	bpf_object__for_each_program(prog, run->live->skel->obj)
	{
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);
		int fd = bpf_program__fd(prog);

		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &len) == 0)
			missed += info.recursion_misses;
	}
	tap_ok(missed == 0, "%s: no run of a program was skipped", what);
}

static void check_known(const struct engine_run *run, const char *what)
{
	__u64 unknown = 0;

	for (size_t i = 0; i < run->totals->n_cpus; i++)
		unknown += run->totals->cpus[i].time_ns[TMIGR_SLOT_UNKNOWN];
	tap_ok(unknown == 0, "%s: nothing is unknown", what);
}

/* ---- the runs ---- */

static void test_plain(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.kick = true};
	const char *what = "plain";
	struct engine_run run;

	if (engine_run(&run, topo, &opts, what) == 0) {
		tap_diag("%s: snapshot %s\n", what,
			 run.live->use_ksyms && run.live->features.ksym_tmigr_cpu ? "by kallsyms"
										  : "by distances");
		check_law_1(&run, what);
		check_known(&run, what);
		engine_check_recomputed(&run, what);
		check_stream(&run, what);
		check_losses(&run, what, false);
		check_clean(&run, what);
		check_records(&run, what);
		check_misses(&run, what);
		if (tmigr_engine_has_tmigr(run.engine)) {
			check_seq(&run, what);
			check_places(&run, what, true);
		}
		tap_diag("%s: programs ran %llu times, %llu ns\n", what,
			 run.totals->observer.bpf_runs, run.totals->observer.bpf_ns);
		tap_ok(!run.totals->observer.bpf_known || run.totals->observer.bpf_runs > 0,
		       "%s: the programs' own time is known", what);
	}
	engine_end(&run);
}

/* Without symbols: the snapshot by distances. Here and there it is what the
 * plain run used anyway. */
static void test_no_ksyms(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.no_ksyms = true, .no_stats = true};
	const char *what = "without kallsyms";
	struct engine_run run;

	if (engine_run(&run, topo, &opts, what) == 0) {
		check_law_1(&run, what);
		engine_check_recomputed(&run, what);
		if (tmigr_engine_has_tmigr(run.engine))
			check_places(&run, what, true);
		tap_ok(!run.totals->observer.bpf_known, "%s: the programs' time was not measured",
		       what);
	}
	engine_end(&run);
}

static void test_no_snapshot(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.no_snapshot = true};
	const char *what = "without snapshot";
	struct engine_run run;

	if (engine_run(&run, topo, &opts, what) == 0) {
		check_law_1(&run, what);
		engine_check_recomputed(&run, what);
		check_seq(&run, what);
	}
	engine_end(&run);
}

static void test_tiny_ring(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.ring_bytes = 1, .kick = true};
	const char *what = "tiny ring";
	struct engine_run run;

	if (engine_run(&run, topo, &opts, what) == 0) {
		check_law_1(&run, what);
		check_known(&run, what);
		check_losses(&run, what, true);
		check_clean(&run, what);
	}
	engine_end(&run);
}

static void test_no_timeline(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.no_timeline = true, .kick = true};
	const char *what = "no timeline";
	struct engine_run run;

	if (engine_run(&run, topo, &opts, what) == 0) {
		check_law_1(&run, what);
		check_known(&run, what);
		tap_ok(run.recs.n == 0, "%s: there are no records", what);
	}
	engine_end(&run);
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
		usleep(10000);
	}
	return false;
}

static void test_nothing_left(const struct tmigr_topology *topo)
{
	struct tmigr_engine *engine = NULL;
	struct tmigr_window *window = NULL;
	__u32 ids[64];
	size_t n = 0, left = 0;
	int ret = tmigr_engine_open(NULL, topo, &engine, NULL);

	if (!ret)
		ret = tmigr_engine_start(engine, NULL);
	if (!ret)
		ret = tmigr_engine_window_open(engine, NULL, &window, NULL);
	if (!ret)
		n = prog_ids(engine->live, ids, sizeof(ids) / sizeof(ids[0]));
	tmigr_engine_close(engine);
	for (size_t i = 0; i < n; i++)
		left += !gone(ids[i]);
	tap_ok(!ret && n > 0 && left == 0, "closed while running: no program is left of %zu", n);
}

/* This kernel's verifier takes the programs in every configuration, also those of
 * other kernels.  (A raw_tp program's tracepoint is looked for at attach.) */
static void test_configurations(void)
{
	for (unsigned int bits = 0; bits < 16; bits++) {
		struct tmigr_bpf *skel = tmigr_bpf__open();
		int ret = -1;

		if (skel) {
			skel->rodata->cfg_log_mask = bits & 1 ? 4096 - 1 : 0;
			skel->rodata->cfg_tmigr = bits & 2;
			skel->rodata->cfg_connect_cpu_arg = bits >> 2 & 1;
			skel->rodata->cfg_connect_child_arg = bits >> 3 & 1;
			/* These need CONFIG_KALLSYMS_ALL. */
			bpf_program__set_autoload(skel->progs.snap_tmc_ksym, false);
			bpf_program__set_autoload(skel->progs.snap_rq_ksym, false);
			ret = tmigr_bpf__load(skel);
		}
		tap_ok(ret == 0, "configuration %x: accepted", bits);
		tmigr_bpf__destroy(skel);
	}
}

/* What a look at the hierarchy shows of @want CPUs online. */
static void check_moment(struct tmigr_engine *engine, size_t want, const char *what)
{
	struct tmigr_moment *m = NULL;
	struct tmigr_err err = {""};
	size_t places = 0, expiries = 0;
	int ret = tmigr_engine_moment(engine, &m, &err);

	for (size_t i = 0; m && i < m->h->n_cpus; i++) {
		places += m->h->cpus[i].group >= 0;
		expiries += m->cpu_expiry_ns[i] != 0;
	}
	if (!tmigr_engine_has_tmigr(engine))
		tap_ok(ret == 0 && places == 0, "%s: without timer migration no places", what);
	else if (ret == -EAGAIN)
		tap_ok(err.text[0] && !strchr(err.text, '\n'), "%s: not yet, and says so", what);
	else
		tap_ok(ret == 0 && places >= want && expiries >= want,
		       "%s: %zu places of %zu CPUs online, %zu expiries", what, places, want,
		       expiries);
	if (ret)
		tap_diag("%s\n", err.text);
	tmigr_moment_free(m);
}

static void test_moment(const struct tmigr_topology *topo, bool no_ksyms)
{
	struct tmigr_live_opts opts = {.no_ksyms = no_ksyms};
	struct tmigr_engine *engine = NULL;
	size_t online = 0;

	for (size_t i = 0; i < topo->n_cpus; i++)
		online += topo->cpus[i].online;
	if (tmigr_engine_open(&opts, topo, &engine, NULL)) {
		tap_ok(false, "moment: opens");
		return;
	}
	check_moment(engine, online, "moment before the start");
	tap_ok(tmigr_engine_start(engine, NULL) == 0, "moment: starts");
	check_moment(engine, online, "moment after the start");
	tap_ok(tmigr_live_group_expiry(engine->live, 0) == 0 &&
		       tmigr_live_group_expiry(engine->live, 1) == 0,
	       "moment: the expiry of a group that does not exist is not known");
	tmigr_engine_close(engine);
}

static void misuse_window(struct tmigr_engine *engine, struct tmigr_window *w)
{
	struct tmigr_window *other = NULL;
	struct tmigr_err err = {""};

	tap_ok(!tmigr_window_totals(w) && !tmigr_window_end_ns(w),
	       "misuse: no totals before close");
	tap_ok(tmigr_engine_window_close(engine, w, &err) == 0 && tmigr_window_totals(w),
	       "misuse: closes");
	tap_ok(tmigr_engine_window_close(engine, w, &err) == -EINVAL && tmigr_window_totals(w),
	       "misuse: close twice");
	tap_ok(tmigr_engine_window_open(engine, NULL, &other, &err) == 0, "misuse: opens again");
	tmigr_engine_stop(engine);
	tap_ok(tmigr_engine_window_close(engine, other, &err) == -EINVAL && err.text[0],
	       "misuse: close after stop");
	tap_ok(tmigr_engine_drain(engine, NULL, &err) == -EINVAL, "misuse: drain after stop");
	tap_ok(tmigr_engine_start(engine, &err) == -EINVAL, "misuse: start after stop");
	tmigr_window_free(other);
	tap_ok(tmigr_window_totals(w)->n_cpus > 0, "misuse: a closed window keeps its figures");
}

/* Calls out of order are refused, in words. */
static void test_misuse(const struct tmigr_topology *topo)
{
	struct tmigr_engine *engine = NULL;
	struct tmigr_window *w = NULL;
	struct tmigr_err err = {""};

	if (tmigr_engine_open(NULL, topo, &engine, NULL)) {
		tap_ok(false, "misuse: opens");
		return;
	}
	tap_ok(tmigr_engine_drain(engine, NULL, &err) == -EINVAL && err.text[0],
	       "misuse: drain before start");
	tap_ok(tmigr_engine_window_open(engine, NULL, &w, &err) == -EINVAL && !w,
	       "misuse: open before start");
	tap_ok(tmigr_engine_start(engine, &err) == 0, "misuse: starts");
	tap_ok(tmigr_engine_start(engine, &err) == -EINVAL, "misuse: start twice");
	tap_ok(tmigr_engine_window_open(engine, NULL, &w, &err) == 0, "misuse: window opens");
	if (w)
		misuse_window(engine, w);
	tmigr_window_free(w);
	tmigr_engine_close(engine);
}

/* True, with a line to print, where the engine cannot run. */
static bool cannot_run(const struct tmigr_topology *topo, bool *ret_has_tmigr,
		       struct tmigr_err *err)
{
	struct tmigr_engine *engine = NULL;
	int ret = tmigr_engine_open(NULL, topo, &engine, err);

	*ret_has_tmigr = engine && tmigr_engine_has_tmigr(engine);
	tmigr_engine_close(engine);
	return ret == -EPERM || ret == -ENOENT;
}

int main(void)
{
	struct tmigr_topology *topo = NULL;
	struct tmigr_err err = {""};
	bool has_tmigr;
	pid_t *load;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (tmigr_topology_read(NULL, NULL, 0, &topo, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	if (cannot_run(topo, &has_tmigr, &err)) {
		printf("1..0 # SKIP %s\n", err.text);
		tmigr_topology_free(topo);
		return 0;
	}
	load = engine_load_start(topo);
	test_plain(topo);
	test_no_ksyms(topo);
	test_no_snapshot(topo);
	test_tiny_ring(topo);
	test_no_timeline(topo);
	engine_drive(topo);
	test_moment(topo, false);
	test_moment(topo, true);
	test_misuse(topo);
	test_nothing_left(topo);
	/* Without these structures in BTF the programs are not loadable. */
	if (has_tmigr)
		test_configurations();
	engine_load_stop(topo, load);
	tmigr_topology_free(topo);
	return tap_done();
}
