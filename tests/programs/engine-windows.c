// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Overlapping windows of one engine on this kernel, with a second engine beside
 * it: shared edges, sums, what a window knows that begins late, and that nothing
 * grows with the number of windows.  Speaks TAP; skips with a reason where the
 * engine may not run.
 */
#include "../lib/engine_compare.h"
#include "../lib/tap.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#define STEP_MS 300

static int keep(void *arg, const struct tmigr_rec *recs, size_t n)
{
	return tmigr_rec_vec_append(arg, recs, n);
}

/* ---- remote expiries that the test makes up ---- */

#define MADE_UP_SLOT (TMIGR_SLOT_STATE0 + TMIGR_STATES - 1) /* of no CPU here */

/* Counts @n as the programs would, after the edge @edge_ns and before the next. */
static int make_up(struct tmigr_engine *engine, __u64 edge_ns, __u64 n, struct tmigr_err *err)
{
	unsigned int cpu = engine->live->topo->cpus[0].cpu;
	struct tmigr_remote_key key = {
		.edge_ns = edge_ns, .executor = cpu, .target = cpu, .woke_slot = MADE_UP_SLOT};

	if (bpf_map_update_elem(engine->live->remote_fd, &key, &n, BPF_ANY))
		return tmigr_fail(err, -errno, "cannot write the hash");
	return 0;
}

static __u64 made_up(struct tmigr_window *w)
{
	const struct tmigr_window_totals *t = tmigr_window_totals(w);

	for (size_t i = 0; i < t->n_remote; i++)
		if (t->remote[i].woke[MADE_UP_SLOT])
			return t->remote[i].woke[MADE_UP_SLOT];
	return 0;
}

/* ---- four edges, five windows, two engines ---- */

/* A = [1,3], B = [2,4], C = [1,2], D = [2,3], E = [3,4] */
enum { A, B, C, D, E, WINDOWS };

struct overlap {
	const struct tmigr_topology *topo;
	struct tmigr_engine *outer, *engine;
	struct tmigr_window *outer_window, *w[WINDOWS];
	struct tmigr_rec_vec outer_recs; /* the other engine's stream */
	struct tmigr_rec_vec all;	 /* of a window from the first edge on */
	struct tmigr_window *whole;
	struct tmigr_err err;
};

static int open_at(struct overlap *o, int which)
{
	return tmigr_engine_window_open(o->engine, NULL, &o->w[which], &o->err);
}

static int close_at(struct overlap *o, int which)
{
	return tmigr_engine_window_close(o->engine, o->w[which], &o->err);
}

static int pass_time(struct overlap *o)
{
	int ret;

	engine_sleep_ms(STEP_MS);
	ret = tmigr_engine_drain(o->engine, NULL, &o->err);
	if (!ret)
		ret = tmigr_engine_drain(o->outer, NULL, &o->err);
	if (!ret)
		engine_sleep_ms(STEP_MS);
	return ret;
}

static int start_both(struct overlap *o)
{
	struct tmigr_live_opts kick = {.kick = true, .step = 50};
	struct tmigr_window_opts outer = {.records = keep, .arg = &o->outer_recs};
	struct tmigr_window_opts whole = {.records = keep, .arg = &o->all};
	int ret = tmigr_engine_open(&kick, o->topo, &o->outer, &o->err);

	if (!ret)
		ret = tmigr_engine_start(o->outer, &o->err);
	if (!ret)
		ret = tmigr_engine_window_open(o->outer, &outer, &o->outer_window, &o->err);
	if (!ret)
		ret = tmigr_engine_open(&kick, o->topo, &o->engine, &o->err);
	if (ret)
		return ret;
	ret = tmigr_engine_start(o->engine, &o->err);
	return ret ? ret : tmigr_engine_window_open(o->engine, &whole, &o->whole, &o->err);
}

/* To the next edge, with @n expiries on the way; holds it. */
static int pass_edge(struct overlap *o, __u64 *edge_ns, __u64 n)
{
	int ret = make_up(o->engine, *edge_ns, n, &o->err);

	if (!ret)
		ret = pass_time(o);
	return ret ? ret : tmigr_engine_hold_edge(o->engine, edge_ns, &o->err);
}

static int run_edges(struct overlap *o)
{
	struct tmigr_window_opts after = {0};
	__u64 edge_ns;
	int ret = tmigr_engine_hold_edge(o->engine, &edge_ns, &o->err);

	if (ret || (ret = open_at(o, A)) || (ret = open_at(o, C)))
		return ret;
	tmigr_engine_release_edge(o->engine);
	ret = pass_edge(o, &edge_ns, 5);
	if (ret)
		return ret;
	after.after = o->w[C];
	ret = tmigr_engine_window_open(o->engine, &after, &o->w[D], &o->err);
	if (ret || (ret = open_at(o, B)) || (ret = pass_edge(o, &edge_ns, 7)))
		return ret;
	if ((ret = close_at(o, A)) || (ret = close_at(o, D)) || (ret = open_at(o, E)))
		return ret;
	ret = pass_edge(o, &edge_ns, 11);
	return ret || (ret = close_at(o, E)) ? ret : close_at(o, B);
}

static int run_overlap(struct overlap *o)
{
	int ret = start_both(o);

	if (!ret)
		ret = run_edges(o);
	if (!ret)
		ret = tmigr_engine_window_close(o->engine, o->whole, &o->err);
	if (o->engine)
		tmigr_engine_stop(o->engine);
	if (!ret) {
		/* What the inner engine saw last is safely inside the outer. */
		engine_sleep_ms(STEP_MS);
		ret = tmigr_engine_window_close(o->outer, o->outer_window, &o->err);
	}
	return ret;
}

static void check_times(const struct overlap *o, int which, const char *what)
{
	const struct tmigr_window_totals *t = tmigr_window_totals(o->w[which]);
	__u64 length = tmigr_window_end_ns(o->w[which]) - tmigr_window_start_ns(o->w[which]);
	bool sums = true, known = true;

	for (size_t i = 0; i < t->n_cpus; i++) {
		__u64 sum = 0;

		for (int s = 0; s < TMIGR_SLOTS; s++)
			sum += t->cpus[i].time_ns[s];
		sums &= sum == length;
		known &= !t->cpus[i].time_ns[TMIGR_SLOT_UNKNOWN];
	}
	tap_ok(sums, "%s: every CPU's times add up to the window", what);
	tap_ok(known, "%s: nothing is unknown", what);
}

static void check_overlap(struct overlap *o)
{
	static const char *const names[WINDOWS] = {"A", "B", "C", "D", "E"};
	struct engine_two two = {.topo = o->topo,
				 .from_ns = tmigr_window_start_ns(o->w[A]),
				 .inner = &o->all,
				 .outer = &o->outer_recs};

	for (int i = 0; i < WINDOWS; i++) {
		check_times(o, i, names[i]);
		engine_check_seed(o->topo, &o->all, o->w[i], names[i]);
		engine_check_two(&two, o->w[i], names[i]);
	}
	tap_ok(made_up(o->w[A]) == 12 && made_up(o->w[B]) == 18 && made_up(o->w[C]) == 5 &&
		       made_up(o->w[D]) == 7 && made_up(o->w[E]) == 11,
	       "a remote expiry counts between the edges where it was");
	engine_check_sum(o->topo, o->w[A], o->w[C], o->w[D], "A = C + D");
	engine_check_sum(o->topo, o->w[B], o->w[D], o->w[E], "B = D + E");
}

static void test_overlap(const struct tmigr_topology *topo)
{
	struct overlap o = {.topo = topo};
	int ret = run_overlap(&o);

	tap_ok(ret == 0, "overlapping windows run");
	if (ret)
		tap_diag("%s\n", o.err.text);
	else
		check_overlap(&o);
	for (int i = 0; i < WINDOWS; i++)
		tmigr_window_free(o.w[i]);
	tmigr_window_free(o.whole);
	tmigr_window_free(o.outer_window);
	tmigr_engine_close(o.engine);
	tmigr_engine_close(o.outer);
	tmigr_rec_vec_free(&o.all);
	tmigr_rec_vec_free(&o.outer_recs);
}

/* ---- a thousand windows ---- */

#define BATCHES 50
#define AT_ONCE 20
#define WARM_UP 5
/* Buffers that the engine keeps. */
#define SCRATCH_BYTES (128 << 10)
#ifdef __SANITIZE_ADDRESS__
#define GROWTH_PAGES (400u << 8) /* what is freed waits in its quarantine */
#else
#define GROWTH_PAGES (12u << 8)
#endif

static long resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long size, pages = -1;

	if (f && fscanf(f, "%ld %ld", &size, &pages) != 2)
		pages = -1;
	if (f)
		fclose(f);
	return pages;
}

/* Keys of the hash, and how many of them are older than @edge_ns. */
static size_t count_keys(const struct tmigr_live *live, __u64 edge_ns, size_t *ret_old)
{
	struct tmigr_remote_key key, *prev = NULL;
	size_t n = 0;

	*ret_old = 0;
	while (bpf_map_get_next_key(live->remote_fd, prev, &key) == 0) {
		n++;
		*ret_old += key.edge_ns < edge_ns;
		prev = &key;
	}
	return n;
}

/* Ends those open and begins others, all at one edge. */
static int change(struct tmigr_engine *engine, struct tmigr_window **w, __u64 *ret_edge_ns,
		  struct tmigr_err *err)
{
	int ret = tmigr_engine_hold_edge(engine, ret_edge_ns, err);

	for (int i = 0; i < AT_ONCE && !ret; i++) {
		const struct tmigr_window_opts opts = {.after = w[i]};
		struct tmigr_window *next = NULL;

		ret = tmigr_engine_window_open(engine, &opts, &next, err);
		if (!ret && w[i] && tmigr_window_end_ns(w[i]) != *ret_edge_ns)
			ret = tmigr_fail(err, -EIO, "a window ends elsewhere");
		tmigr_window_free(w[i]);
		w[i] = next;
	}
	tmigr_engine_release_edge(engine);
	return ret;
}

static int run_many(struct tmigr_engine *engine, long *ret_before, struct tmigr_err *err)
{
	struct tmigr_window *w[AT_ONCE] = {0};
	__u64 edge_ns = 0;
	size_t old, keys, used;
	int ret = tmigr_engine_start(engine, err);

	used = mallinfo2().uordblks;
	for (int i = 0; i < BATCHES && !ret; i++) {
		if (i == WARM_UP)
			*ret_before = resident_pages();
		ret = change(engine, w, &edge_ns, err);
		if (!ret)
			ret = make_up(engine, edge_ns, 1, err);
		if (!ret && i % 4 == 3)
			ret = tmigr_engine_drain(engine, NULL, err);
	}
	keys = count_keys(engine->live, edge_ns, &old);
	tap_diag("%zu keys in the hash of remote expiries\n", keys);
	tap_ok(keys > 0 && old == 0, "the hash holds nothing older than the last edge");
	for (int i = 0; i < AT_ONCE; i++)
		tmigr_window_free(w[i]);
	/* With sanitizers both are 0, and these look for leaks themselves. */
	used = mallinfo2().uordblks - used;
	tap_diag("%zu bytes more are allocated\n", used);
	tap_ok((__s64)used < SCRATCH_BYTES, "what the windows had is freed");
	return ret;
}

static void test_many(const struct tmigr_topology *topo)
{
	struct tmigr_engine *engine = NULL;
	struct tmigr_err err = {""};
	long before = -1, after;
	int ret = tmigr_engine_open(NULL, topo, &engine, &err);
	__u64 begin_ns = tmigr_now_ns();

	if (!ret)
		ret = run_many(engine, &before, &err);
	tap_diag("%d edges in %llu ms\n", BATCHES, (tmigr_now_ns() - begin_ns) / TMIGR_NS_PER_MS);
	after = resident_pages();
	tap_ok(ret == 0, "%d windows open and close", BATCHES * AT_ONCE);
	if (ret)
		tap_diag("%s\n", err.text);
	tap_diag("resident: %ld pages, then %ld\n", before, after);
	tap_ok(before > 0 && after <= before + (long)GROWTH_PAGES,
	       "memory does not grow with them");
	tap_ok(engine && !engine->windows && !engine->edge && !engine->since.recs,
	       "nothing of them is left");
	tmigr_engine_close(engine);
}

/* ---- losses on both sides of an edge ---- */

struct lossy {
	struct tmigr_window *w;
	struct tmigr_rec_vec recs;
};

static int open_lossy(struct tmigr_engine *engine, struct lossy *l, struct tmigr_window *after,
		      struct tmigr_err *err)
{
	const struct tmigr_window_opts opts = {.records = keep, .arg = &l->recs, .after = after};

	return tmigr_engine_window_open(engine, &opts, &l->w, err);
}

/* Two halves and the whole, with rings too small and never drained. */
static int run_lossy(struct tmigr_engine *engine, struct lossy *l, struct tmigr_err *err)
{
	int ret = tmigr_engine_start(engine, err);

	if (!ret)
		ret = tmigr_engine_hold_edge(engine, NULL, err);
	if (!ret)
		ret = open_lossy(engine, &l[0], NULL, err);
	if (!ret)
		ret = open_lossy(engine, &l[1], NULL, err);
	tmigr_engine_release_edge(engine);
	engine_sleep_ms(STEP_MS);
	if (!ret)
		ret = open_lossy(engine, &l[2], l[1].w, err);
	engine_sleep_ms(STEP_MS);
	if (!ret)
		ret = tmigr_engine_hold_edge(engine, NULL, err);
	if (!ret)
		ret = tmigr_engine_window_close(engine, l[0].w, err);
	if (!ret)
		ret = tmigr_engine_window_close(engine, l[2].w, err);
	return ret;
}

/* What the window's LOST records tell of a CPU inside it. */
static __u64 told(const struct lossy *l, unsigned int cpu)
{
	__u64 n = 0;

	for (size_t i = 0; i < l->recs.n; i++) {
		const struct tmigr_rec *rec = &l->recs.recs[i];

		if (rec->type == TMIGR_REC_LOST && rec->cpu == cpu &&
		    rec->t_ns >= tmigr_window_start_ns(l->w) &&
		    rec->t_ns < tmigr_window_end_ns(l->w))
			n += rec->a;
	}
	return n;
}

static void check_lossy(const struct tmigr_topology *topo, const struct lossy *l)
{
	bool good = true;
	__u64 all[3] = {0};

	for (size_t i = 0; i < topo->n_cpus; i++) {
		__u64 lost[3];

		for (int k = 0; k < 3; k++) {
			lost[k] = tmigr_window_totals(l[k].w)->cpus[i].lost;
			good &= lost[k] == told(&l[k], topo->cpus[i].cpu);
			all[k] += lost[k];
		}
		good &= lost[0] == lost[1] + lost[2];
	}
	tap_diag("%llu records lost, %llu and %llu in the halves\n", all[0], all[1], all[2]);
	for (int k = 0; k < 3; k++)
		good &= tmigr_model_result(tmigr_window_model(l[k].w))->lost_records == all[k];
	tap_ok(good, "what was lost is told on its side of each edge");
}

static void test_lossy(const struct tmigr_topology *topo)
{
	struct tmigr_live_opts opts = {.ring_bytes = 1};
	struct lossy l[3] = {0};
	struct tmigr_engine *engine = NULL;
	struct tmigr_err err = {""};
	int ret = tmigr_engine_open(&opts, topo, &engine, &err);

	if (!ret)
		ret = run_lossy(engine, l, &err);
	tap_ok(ret == 0, "tiny rings: windows run");
	if (ret)
		tap_diag("%s\n", err.text);
	else
		check_lossy(topo, l);
	for (int k = 0; k < 3; k++) {
		tmigr_window_free(l[k].w);
		tmigr_rec_vec_free(&l[k].recs);
	}
	tmigr_engine_close(engine);
}

/* ---- no window, no growth ---- */

static void test_idle_engine(const struct tmigr_topology *topo)
{
	struct tmigr_engine *engine = NULL;
	struct tmigr_err err = {""};
	size_t left = 0;
	int ret = tmigr_engine_open(NULL, topo, &engine, &err);

	if (!ret)
		ret = tmigr_engine_start(engine, &err);
	for (int i = 0; i < 3 && !ret; i++) {
		engine_sleep_ms(100);
		ret = tmigr_engine_drain(engine, NULL, &err);
	}
	for (size_t i = 0; !ret && i < topo->n_cpus; i++) {
		const struct tmigr_rec *rec = tmigr_ring_peek(&engine->live->rings[i]);

		left += rec && rec->t_ns < engine->live->watermark_ns;
	}
	tap_ok(!ret && !left, "without a window a drain empties the rings");
	tmigr_engine_close(engine);
}

/* ---- sinks that fail ---- */

static int refuse(void *arg, const struct tmigr_rec *recs, size_t n)
{
	(void)recs, (void)n;
	++*(int *)arg;
	return -EIO;
}

static int run_refused(struct tmigr_engine *engine, int *calls, int *tapped, struct tmigr_err *err)
{
	const struct tmigr_window_opts opts = {.records = refuse, .arg = calls};
	struct tmigr_window *w = NULL;
	int ret = tmigr_engine_start(engine, err);

	tmigr_engine_tap(engine, refuse, tapped);
	if (!ret)
		ret = tmigr_engine_window_open(engine, &opts, &w, err);
	for (int i = 0; i < 2 && !ret; i++) {
		engine_sleep_ms(100);
		ret = tmigr_engine_drain(engine, NULL, err);
	}
	if (!ret)
		ret = tmigr_engine_window_close(engine, w, err);
	tmigr_window_free(w);
	return ret;
}

static void test_refused(const struct tmigr_topology *topo)
{
	struct tmigr_engine *engine = NULL;
	struct tmigr_err err = {""};
	int calls = 0, tapped = 0, ret = tmigr_engine_open(NULL, topo, &engine, &err);

	if (!ret)
		ret = run_refused(engine, &calls, &tapped, &err);
	tap_ok(!ret, "a sink that fails does not end the window");
	if (ret)
		tap_diag("%s\n", err.text);
	tap_ok(calls == 1 && tapped == 1, "... and is not called again");
	tmigr_engine_close(engine);
}

int main(void)
{
	struct tmigr_topology *topo = NULL;
	struct tmigr_engine *engine = NULL;
	struct tmigr_err err = {""};
	pid_t *load;
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (tmigr_topology_read(NULL, NULL, 0, &topo, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	ret = tmigr_engine_open(NULL, topo, &engine, &err);
	tmigr_engine_close(engine);
	if (ret == -EPERM || ret == -ENOENT) {
		printf("1..0 # SKIP %s\n", err.text);
		tmigr_topology_free(topo);
		return 0;
	}
	load = engine_load_start(topo);
	test_overlap(topo);
	test_many(topo);
	test_lossy(topo);
	test_idle_engine(topo);
	test_refused(topo);
	engine_load_stop(topo, load);
	tmigr_topology_free(topo);
	return tap_done();
}
