// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engine-kernels BTF...: loads the BPF object with its relocations made against
 * each of these files.  A file without struct tmigr_cpu is a kernel without timer
 * migration: there the programs that such a kernel needs are loaded.
 */
#include "../lib/tap.h"

#include <errno.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "tmigr.skel.h"

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

static bool has_tmigr(const char *path)
{
	struct btf *btf = btf__parse(path, NULL);
	bool has = btf && btf__find_by_name_kind(btf, "tmigr_cpu", BTF_KIND_STRUCT) > 0;

	btf__free(btf);
	return has;
}

static void choose(struct tmigr_bpf *skel, bool tmigr)
{
	struct bpf_program *prog;

	skel->rodata->cfg_tmigr = tmigr;
	/* These parts of BTF have no structures but those of timer migration and idle: what
	 * latency needs is loaded on the boards. */
	bpf_object__for_each_program(prog, skel->obj) bpf_program__set_autoload(
		prog, tmigr && strncmp(bpf_program__name(prog), "lat_", 4) != 0);
	/* The addresses of symbols are this kernel's own affair. */
	bpf_program__set_autoload(skel->progs.snap_tmc_ksym, false);
	bpf_program__set_autoload(skel->progs.snap_rq_ksym, false);
	bpf_program__set_autoload(skel->progs.on_cpu_idle, true);
	bpf_program__set_autoload(skel->progs.on_cpu_idle_miss, true);
	bpf_program__set_autoload(skel->progs.on_cpuhp_enter, true);
	bpf_program__set_autoload(skel->progs.on_cpuhp_exit, true);
	bpf_program__set_autoload(skel->progs.snap_rq_ruler, true);
}

static int load(const char *path)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = path);
	struct tmigr_bpf *skel = tmigr_bpf__open_opts(&opts);
	int ret;

	if (!skel)
		return -errno;
	choose(skel, has_tmigr(path));
	ret = tmigr_bpf__load(skel);
	tmigr_bpf__destroy(skel);
	return ret;
}

int main(int argc, char **argv)
{
	libbpf_set_print(quiet);
	for (int i = 1; i < argc; i++) {
		const char *name = strrchr(argv[i], '/');
		int ret = load(argv[i]);

		if (ret == -EPERM) {
			printf("1..0 # SKIP no privilege to load BPF programs\n");
			return 0;
		}
		tap_ok(ret == 0, "%s: loads (%s)", name ? name + 1 : argv[i],
		       ret ? strerror(-ret) : "with its structures");
	}
	return tap_done();
}
