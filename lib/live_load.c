// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF skeleton: which programs this kernel can take, sizes of the maps, load,
 * attach.  Nobody else sees the skeleton but live_latency.c.
 */
#include "live_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tmigr.skel.h"

#define LOG_TOTAL_BYTES (32u << 20)
#define LOG_MIN_BYTES	(128u << 10)
#define LOG_MAX_BYTES	(4u << 20)
/* What the slow handlers write is little: CPU hotplug, a hierarchy that grows. */
#define RING_BYTES    (16u << 10)
#define RINGS_AT_ONCE 128
#define REMOTE_MIN    1024u
#define REMOTE_MAX    (1u << 20)

/* Programs on tracepoints.  `always`: needed without a timeline too. */
static const struct {
	size_t prog;
	enum tmigr_tp tp;
	bool always;
} tp_progs[] = {
#define PROG(name, tp, always)                                                                     \
	{                                                                                          \
		offsetof(struct tmigr_bpf, progs.name), TMIGR_TP_##tp, always                      \
	}
	PROG(on_cpu_idle, CPU_IDLE, true),
	PROG(on_cpu_idle_miss, CPU_IDLE_MISS, true),
	PROG(on_cpuhp_enter, CPUHP_ENTER, true),
	PROG(on_cpuhp_exit, CPUHP_EXIT, true),
	PROG(on_group_active, GROUP_SET_CPU_ACTIVE, false),
	PROG(on_group_inactive, GROUP_SET_CPU_INACTIVE, false),
	PROG(on_cpu_active, CPU_ACTIVE, false),
	PROG(on_cpu_idle_event, CPU_IDLE_EVENT, false),
	PROG(on_cpu_new_timer, CPU_NEW_TIMER, false),
	PROG(on_cpu_new_timer_idle, CPU_NEW_TIMER_IDLE, false),
	PROG(on_cpu_online, CPU_ONLINE, false),
	PROG(on_cpu_offline, CPU_OFFLINE, false),
	PROG(on_cpu_available, CPU_AVAILABLE, false),
	PROG(on_cpu_unavailable, CPU_UNAVAILABLE, false),
	PROG(on_handle_remote, HANDLE_REMOTE, false),
	PROG(on_handle_remote_cpu, HANDLE_REMOTE_CPU, true),
	PROG(on_connect_cpu_parent, CONNECT_CPU_PARENT, false),
	PROG(on_connect_child_parent, CONNECT_CHILD_PARENT, false),
#undef PROG
};

/* libbpf's messages are for developers: the one line that a user needs is made
 * from the error. */
__attribute__((format(printf, 2, 0))) static int quiet_print(enum libbpf_print_level level,
							     const char *fmt, va_list ap)
{
	(void)level;
	if (!getenv("TMIGR_DEBUG"))
		return 0;
	return vfprintf(stderr, fmt, ap);
}

static struct bpf_program *prog_at(struct tmigr_bpf *skel, size_t offset)
{
	struct bpf_program *prog;

	memcpy(&prog, (char *)skel + offset, sizeof(prog));
	return prog;
}

static bool needs_ruler(const struct tmigr_live *live)
{
	return live->features.tmigr && !(live->features.ksym_tmigr_cpu && live->use_ksyms);
}

/* The ruler for the snapshot begins at one CPU's struct tmigr_cpu, which only
 * an event of it shows: with a timeline or without. */
static bool shows_place(const struct tmigr_live *live, enum tmigr_tp tp)
{
	return needs_ruler(live) && (tp == TMIGR_TP_CPU_ACTIVE || tp == TMIGR_TP_CPU_IDLE_EVENT);
}

static bool wanted(const struct tmigr_live *live, size_t i)
{
	enum tmigr_tp tp = tp_progs[i].tp;
	int arg = live->features.tp_arg[tp];
	bool connect = tp == TMIGR_TP_CONNECT_CPU_PARENT || tp == TMIGR_TP_CONNECT_CHILD_PARENT;

	if (live->opts.no_timeline && !tp_progs[i].always && !shows_place(live, tp))
		return false;
	/* Only the connect events were ever seen to move. Another event that
	 * has moved is one that this program would misread. */
	return connect ? arg == 0 || arg == 1 : arg == 0;
}

static void choose_programs(struct tmigr_live *live)
{
	const struct tmigr_features *f = &live->features;
	struct tmigr_bpf *skel = live->skel;
	bool ruler = needs_ruler(live);

	for (size_t i = 0; i < sizeof(tp_progs) / sizeof(tp_progs[0]); i++)
		bpf_program__set_autoload(prog_at(skel, tp_progs[i].prog), wanted(live, i));
	bpf_program__set_autoload(skel->progs.snap_tmc_ksym, f->tmigr && !ruler);
	bpf_program__set_autoload(skel->progs.snap_tmc_ruler, ruler);
	ruler = !(f->ksym_runqueues && live->use_ksyms);
	bpf_program__set_autoload(skel->progs.snap_rq_ksym, !ruler);
	bpf_program__set_autoload(skel->progs.snap_rq_ruler, ruler);
	tmigr_live_latency_choose(live);
}

static size_t round_up(size_t bytes)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	while (size < bytes && size < ((size_t)1 << 30))
		size *= 2;
	return size;
}

static size_t log_bytes(const struct tmigr_live *live)
{
	size_t bytes = live->opts.ring_bytes;

	if (!bytes) {
		bytes = LOG_TOTAL_BYTES / live->topo->n_cpus;
		bytes = bytes < LOG_MIN_BYTES ? LOG_MIN_BYTES : bytes;
		bytes = bytes > LOG_MAX_BYTES ? LOG_MAX_BYTES : bytes;
		/* Down to a power of two: the sum is what was meant. */
		while (bytes & (bytes - 1))
			bytes &= bytes - 1;
	}
	return round_up(bytes);
}

/* In the array of logs. */
static size_t element_bytes(size_t log)
{
	return sizeof(struct tmigr_log) + log + TMIGR_LOG_SPARE;
}

/* Without a timeline the one element of the template is all. */
static int size_logs(struct tmigr_live *live, __u32 n)
{
	struct tmigr_bpf *skel = live->skel;
	size_t size = log_bytes(live);

	if (live->opts.no_timeline)
		return 0;
	skel->rodata->cfg_log_mask = size - 1;
	if (bpf_map__set_value_size(skel->maps.logs, (__u32)element_bytes(size)) ||
	    bpf_map__set_max_entries(skel->maps.logs, n))
		return -errno;
	return 0;
}

static int size_maps(struct tmigr_live *live)
{
	struct tmigr_bpf *skel = live->skel;
	__u32 n = live->possible[live->n_possible - 1] + 1;
	__u64 pairs = (__u64)live->topo->n_cpus * live->topo->n_cpus * 8;

	pairs = pairs < REMOTE_MIN ? REMOTE_MIN : pairs > REMOTE_MAX ? REMOTE_MAX : pairs;
	bpf_map__set_max_entries(skel->maps.rings, n);
	bpf_map__set_max_entries(skel->maps.snap, n);
	bpf_map__set_max_entries(skel->maps.remote, (__u32)pairs);
	return size_logs(live, n);
}

static bool no_resource(int ret)
{
	return ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM;
}

/* What the user can do about it, where there is something. */
static int setup_error(int ret, const char *what, struct tmigr_err *err)
{
	const char *remedy = "";

	if (ret == -EMFILE)
		remedy = ": raise the limit (ulimit -n; LimitNOFILE= of a unit)";
	else if (ret == -ENFILE)
		remedy = ": raise the sysctl fs.file-max";
	else if (ret == -ENOMEM)
		remedy = ": free some, or raise the limit (ulimit -v; MemoryMax= of a unit)";
	return tmigr_fail(err, ret, "cannot %s: %s%s", what, strerror(-ret), remedy);
}

static int load_error(int ret, struct tmigr_err *err)
{
	if (ret == -EPERM)
		return tmigr_fail(err, ret,
				  "loading BPF programs is not permitted: run as root, or with "
				  "CAP_BPF and CAP_PERFMON");
	if (no_resource(ret))
		return setup_error(ret, "load the BPF programs and their maps", err);
	/* With CAP_BPF alone libbpf's own probes fail, and it is EINVAL. */
	return tmigr_fail(err, -EOPNOTSUPP, "this kernel refuses the BPF programs (%s); %s",
			  strerror(-ret),
			  geteuid() ? "run as root, or with CAP_BPF and CAP_PERFMON"
				    : "TMIGR_DEBUG=1 shows why");
}

/* libbpf relocates against the kernel's types in @subset_fd, which kbtf_write_subset()
 * chose; -1: against all that the kernel has. */
static int open_skeleton(struct tmigr_live *live, int subset_fd)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	char path[64];

	/* It is read at the load, by this name. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", subset_fd);
	if (subset_fd >= 0)
		opts.btf_custom_path = path;
	live->skel = tmigr_bpf__open_opts(&opts);
	if (!live->skel)
		return -errno;
	return subset_fd < 0 ? 0
			     : kbtf_write_subset(&live->kbtf, bpf_object__btf(live->skel->obj),
						 subset_fd);
}

static int load_skeleton(struct tmigr_live *live)
{
	const struct tmigr_features *f = &live->features;
	int ret;

	live->skel->rodata->cfg_tmigr = f->tmigr;
	live->skel->rodata->cfg_connect_cpu_arg = f->tp_arg[TMIGR_TP_CONNECT_CPU_PARENT] == 1;
	live->skel->rodata->cfg_connect_child_arg = f->tp_arg[TMIGR_TP_CONNECT_CHILD_PARENT] == 1;
	choose_programs(live);
	ret = size_maps(live);
	return ret ? ret : tmigr_bpf__load(live->skel);
}

static int open_and_load(struct tmigr_live *live, bool plain)
{
	int subset_fd = plain ? -1 : memfd_create("tmigr-btf", MFD_CLOEXEC), ret;

	live->use_ksyms = !live->opts.no_ksyms && !plain;
	ret = open_skeleton(live, subset_fd);
	if (!ret)
		ret = load_skeleton(live);
	if (subset_fd >= 0)
		close(subset_fd);
	if (ret) {
		tmigr_bpf__destroy(live->skel);
		live->skel = NULL;
	}
	return ret;
}

static int map_snap(struct tmigr_live *live)
{
	size_t n = (size_t)live->possible[live->n_possible - 1] + 1;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	live->snap_bytes = (n * sizeof(struct tmigr_snap_cpu) + page - 1) & ~(page - 1);
	p = mmap(NULL, live->snap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		 bpf_map__fd(live->skel->maps.snap), 0);
	if (p == MAP_FAILED)
		return -errno;
	live->snap = p;
	return 0;
}

static int map_logs(struct tmigr_live *live)
{
	size_t n = (size_t)live->possible[live->n_possible - 1] + 1;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = log_bytes(live);

	if (live->opts.no_timeline)
		return 0;
	live->logs_bytes = (n * element_bytes(size) + page - 1) & ~(page - 1);
	live->logs_map = mmap(NULL, live->logs_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(live->skel->maps.logs), 0);
	if (live->logs_map == MAP_FAILED) {
		live->logs_map = NULL;
		return -errno;
	}
	for (size_t i = 0; i < live->topo->n_cpus; i++) {
		unsigned int cpu = live->topo->cpus[i].cpu;
		void *log = (char *)live->logs_map + cpu * element_bytes(size);

		tmigr_log_open(&live->logs[i], log, size, cpu);
	}
	return 0;
}

/* Rings of the CPUs from @first on: the descriptors in @fds, those made counted
 * in *@ret_made also on error. */
static int create_rings(struct tmigr_live *live, size_t first, size_t n, size_t size, int *fds,
			size_t *ret_made)
{
	for (size_t i = 0; i < n; i++) {
		int ret = 0;

		fds[i] =
			bpf_map_create(BPF_MAP_TYPE_RINGBUF, "tmigr_ring", 0, 0, (__u32)size, NULL);
		if (fds[i] < 0)
			return fds[i];
		*ret_made = i + 1;
		if (!live->opts.no_timeline)
			ret = tmigr_ring_map(&live->rings[first + i], fds[i], size);
		if (ret)
			return ret;
	}
	return 0;
}

/* In one call: each one waits for a grace period (see tmigr_live_wait_handlers()),
 * which hundreds of CPUs would turn into seconds. */
static int insert_rings(struct tmigr_live *live, size_t first, size_t n, const int *fds)
{
	__u32 keys[RINGS_AT_ONCE], count = (__u32)n;

	for (size_t i = 0; i < n; i++)
		keys[i] = live->topo->cpus[first + i].cpu;
	return bpf_map_update_batch(live->rings_fd, keys, fds, &count, NULL) ? -errno : 0;
}

/* A ring of its own for each CPU.  The map in the map keeps it alive, so that
 * the descriptors can go: hundreds of CPUs need no higher limit. */
static int add_rings(struct tmigr_live *live)
{
	/* Without a timeline one is enough, for tmigr_live_wait_handlers(), which will put
	 * it in: here it would only be one more wait. */
	size_t n = live->opts.no_timeline ? 1 : live->topo->n_cpus;
	size_t size = round_up(live->opts.no_timeline ? 1 : RING_BYTES);
	int ret = 0;

	for (size_t first = 0; first < n && !ret; first += RINGS_AT_ONCE) {
		size_t count = n - first < RINGS_AT_ONCE ? n - first : RINGS_AT_ONCE, made = 0;
		int fds[RINGS_AT_ONCE];

		ret = create_rings(live, first, count, size, fds, &made);
		if (!ret && !live->opts.no_timeline)
			ret = insert_rings(live, first, count, fds);
		for (size_t i = 0; i < made; i++) {
			if (first + i == 0)
				live->ring0_fd = fds[i];
			else
				close(fds[i]);
		}
	}
	return ret;
}

int tmigr_live_load(struct tmigr_live *live, struct tmigr_err *err)
{
	int ret;

	libbpf_set_print(quiet_print);
	ret = open_and_load(live, false);
	/* kallsyms may list a symbol that the verifier cannot find (a module's,
	 * or addresses hidden from it): the ruler needs none.  Nor need it be our
	 * choice of types that fails. */
	if (ret && ret != -EPERM)
		ret = open_and_load(live, true);
	if (ret)
		return load_error(ret, err);
	live->cpus_fd = bpf_map__fd(live->skel->maps.cpus);
	live->rings_fd = bpf_map__fd(live->skel->maps.rings);
	live->remote_fd = bpf_map__fd(live->skel->maps.remote);
	live->edge_ns = &live->skel->bss->tmigr_edge_ns;
	ret = map_snap(live);
	if (!ret)
		ret = map_logs(live);
	if (!ret)
		ret = add_rings(live);
	if (!ret)
		ret = tmigr_live_latency_loaded(live);
	if (ret)
		return setup_error(ret, "set up the buffers", err);
	return 0;
}

int tmigr_live_attach(struct tmigr_live *live, struct tmigr_err *err)
{
	int ret = tmigr_bpf__attach(live->skel);

	if (ret) {
		tmigr_bpf__detach(live->skel);
		ret = setup_error(ret, "attach the BPF programs to the kernel's tracepoints", err);
		return ret == -EPERM || no_resource(ret) ? ret : -EOPNOTSUPP;
	}
	live->attached = true;
	return 0;
}

void tmigr_live_detach(struct tmigr_live *live)
{
	if (live->attached)
		tmigr_bpf__detach(live->skel);
	live->attached = false;
}

void tmigr_live_unload(struct tmigr_live *live)
{
	if (live->ring0_fd >= 0)
		close(live->ring0_fd);
	live->ring0_fd = -1;
	if (live->logs_map)
		munmap(live->logs_map, live->logs_bytes);
	live->logs_map = NULL;
	if (live->snap)
		munmap(live->snap, live->snap_bytes);
	live->snap = NULL;
	tmigr_live_latency_free(live);
	tmigr_bpf__destroy(live->skel);
	live->skel = NULL;
}

static int run_prog(struct bpf_program *prog, struct tmigr_snap_args *args)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(*args));
	int fd = bpf_program__fd(prog);

	if (fd < 0)
		return 0; /* not loaded: the other variant is */
	return bpf_prog_test_run_opts(fd, &opts) ? -errno : 0;
}

int tmigr_live_run_snap(struct tmigr_live *live, struct tmigr_snap_args *args)
{
	struct tmigr_bpf *skel = live->skel;
	struct bpf_program *progs[] = {skel->progs.snap_tmc_ksym, skel->progs.snap_tmc_ruler,
				       skel->progs.snap_rq_ksym, skel->progs.snap_rq_ruler};

	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]); i++) {
		int ret = run_prog(progs[i], args);

		if (ret)
			return ret;
	}
	return 0;
}

void tmigr_live_add_cost(struct bpf_program *prog, __u64 *ns, __u64 *runs)
{
	int fd = bpf_program__fd(prog);
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return;
	*ns += info.run_time_ns;
	*runs += info.run_cnt;
}

void tmigr_live_bpf_cost(struct tmigr_live *live, struct tmigr_cost *cost)
{
	cost->bpf_ns = cost->bpf_runs = cost->latency_ns = cost->latency_runs = 0;
	for (size_t i = 0; i < sizeof(tp_progs) / sizeof(tp_progs[0]); i++)
		tmigr_live_add_cost(prog_at(live->skel, tp_progs[i].prog), &cost->bpf_ns,
				    &cost->bpf_runs);
	tmigr_live_latency_cost(live, cost);
}
