// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command with a BPF program on power:cpu_idle that does nothing, or reads the
 * clock and does nothing: what every tracer by BPF pays at least.  By the system call
 * alone, so that it needs no library in a guest.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage_text[] =
	"usage: empty-program nothing|clock COMMAND [ARG...]\n"
	"Runs COMMAND while a program on power:cpu_idle does nothing, or reads the clock.\n";

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int load(const struct bpf_insn *insns, size_t n)
{
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			       .insns = (uintptr_t)insns,
			       .insn_cnt = (unsigned int)n,
			       .license = (uintptr_t) "GPL"};

	return bpf(BPF_PROG_LOAD, &attr);
}

static int attach(int prog)
{
	union bpf_attr attr = {
		.raw_tracepoint = {.name = (uintptr_t) "cpu_idle", .prog_fd = (unsigned int)prog}};

	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		fprintf(stderr, "empty-program: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		perror("empty-program: fork");
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int skip, prog;

	if (argc < 3 || (strcmp(argv[1], "nothing") && strcmp(argv[1], "clock"))) {
		fputs(usage_text, stderr);
		return 2;
	}
	skip = !strcmp(argv[1], "nothing");
	prog = load(insns + skip, sizeof(insns) / sizeof(insns[0]) - (size_t)skip);
	if (prog < 0 || attach(prog) < 0) {
		perror("empty-program: bpf");
		return 1;
	}
	return run(argv + 2);
}
