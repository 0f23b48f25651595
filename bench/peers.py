# SPDX-License-Identifier: GPL-2.0-or-later
"""What bench/board and bench/disturbance run in the guest: tmigr in its ways, and its peers,
which are Debian's packages for the guest's architecture, unpacked.
"""

import dataclasses
import pathlib
import re
import subprocess

import packages

# What tmigr attaches to, as far as it comes often: cpu_idle and timer migration without
# tmigr_update_events, which the model does not need.
TMIGR = ("tmigr_cpu_active", "tmigr_cpu_idle", "tmigr_cpu_new_timer", "tmigr_cpu_new_timer_idle",
         "tmigr_group_set_cpu_active", "tmigr_group_set_cpu_inactive", "tmigr_handle_remote",
         "tmigr_handle_remote_cpu")
EVENTS = ("power:cpu_idle", "power:cpu_idle_miss", *(f"timer_migration:{e}" for e in TMIGR))
SELECTED = " ".join(f"-e {e}" for e in EVENTS)

# Residency the way that a user of bpftrace counts it: time, entries, a histogram.
BPFTRACE = """
tracepoint:power:cpu_idle /args->state == 4294967295/ {
	if (@since[cpu]) {
		$ns = nsecs - @since[cpu];
		@ns[cpu, @state[cpu]] = sum($ns);
		@hist[cpu, @state[cpu]] = hist($ns);
	}
}
tracepoint:power:cpu_idle /args->state != 4294967295/ {
	@since[cpu] = nsecs;
	@state[cpu] = args->state;
}
"""

# bpftrace 0.17 ends with an abort on raw tracepoints, so both programs are on perf's; its
# -c takes ELF files only ("does not exist or is not executable"); the load is a script.
BPFTRACE_DURING = ("bin/bpftrace-during", '#!/bin/sh\nexec bpftrace "$2" -c "/bin/sh $1"\n')
# It looks for ftrace below debugfs alone.
IDLESTAT_DURING = ("bin/idlestat-during", """#!/bin/sh
mount -t debugfs none /sys/kernel/debug
exec idlestat --trace -f /tmp/traced.idlestat -t 60 -- "$1"
""")


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    package: str
    program: str  # its path there
    command: str
    scripts: tuple = ()  # (path in the guest, text)


PEERS = (
    Peer("trace-cmd record", "trace-cmd", "usr/bin/trace-cmd",
         f"trace-cmd record -o /tmp/traced.dat {SELECTED} {{load}}"),
    Peer("perf record", "linux-perf", "usr/bin/perf",
         f"perf record -q -a -o /tmp/traced.data {SELECTED} -- {{load}}"),
    Peer("cpupower monitor", "linux-cpupower", "usr/bin/cpupower", "cpupower monitor {load}"),
    Peer("idlestat", "idlestat", "usr/bin/idlestat", "idlestat-during {load}", (IDLESTAT_DURING,)),
    Peer("an empty program (bpftrace)", "bpftrace", "usr/bin/bpftrace", "bpftrace-during {load} /guest/empty.bt",
         (("guest/empty.bt", "tracepoint:power:cpu_idle { $a = 1; }\n"), BPFTRACE_DURING)),
    Peer("bpftrace, residency", "bpftrace", "usr/bin/bpftrace", "bpftrace-during {load} /guest/residency.bt",
         (("guest/residency.bt", BPFTRACE), BPFTRACE_DURING)),
)

TREE = pathlib.Path(__file__).resolve().parents[1]


def own_tracers(program="tmigr", label=""):
    """(name, command with {load}) of tmigr in its ways, as far as it has them."""
    there = (TREE / "tools/run_options.c").read_text() + (TREE / "tools/args.h").read_text()
    run = f"{program} run --json --housekeeping 0"
    for name, options in (("tmigr residency only", "--no-timeline --no-stats"),
                          ("tmigr run --no-stats", "--no-stats"),
                          ("tmigr run --record --no-stats", "--no-stats --record -o /tmp/traced"),
                          ("tmigr run --latency --no-stats", "--no-stats --latency"),
                          ("tmigr run", ""),
                          ("tmigr run --source ftrace", "--source ftrace")):
        if all(o.lstrip("-") in there for o in options.split() if o.startswith("--")):
            yield f"{label}{name}", f"{run} {options} -- {{load}}"


def _needed(path):
    """Names of the shared libraries, and the interpreter, of an ELF file."""
    text = subprocess.run(["readelf", "-d", "-l", path], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"\(NEEDED\).*\[(.+)\]", text)
    return names, re.findall(r"interpreter: (\S+?)\]", text)


def _library(folders, name):
    for folder in folders:
        for path in folder.rglob(name):
            if path.is_file():
                return path
    raise packages.Unavailable(f"no package holds {name}")


def _add(files, folders, path, where):
    """The program or library at `path`, with all that it needs."""
    files[where] = path.read_bytes()
    names, interpreter = _needed(path)
    for name in names:
        if f"lib/{name}" not in files:
            _add(files, folders, _library(folders, name), f"lib/{name}")
    for i in interpreter:
        files[i.lstrip("/")] = _library(folders, pathlib.Path(i).name).read_bytes()


def _folders(root, wanted):
    """Where the packages of the peers and all that they need are unpacked."""
    needed = root.closure(*sorted({p.package for p in wanted}))
    return root.unpack_all(needed, root.release())


def files_of(wanted, arch):
    """{path in the guest: bytes} of the peers, and [(name, why)] of those that are not to be had."""
    files, missing = {}, []
    root = packages.Root(arch)
    try:
        folders = _folders(root, wanted) if wanted else []
    except packages.Unavailable as e:
        return {}, [(p.name, str(e)) for p in wanted]
    for peer in wanted:
        try:
            found = {}
            _add(found, folders, root.unpack(peer.package, root.release()) / peer.program,
                 f"bin/{pathlib.Path(peer.program).name}")
            found.update((p, text.encode()) for p, text in peer.scripts)
            files.update(found)
        except (packages.Unavailable, OSError, subprocess.CalledProcessError) as e:
            missing.append((peer.name, str(e)))
    return files, missing


def add_only(parser):
    """One value each time: of a list argparse would take a part such as --record for an option."""
    parser.add_argument("--only", action="append", metavar="PART",
                        help="only tracers with this in their names; can be given again")


# What every tracer by BPF pays at least.
FLOOR = (("BPF, nothing", "empty-program nothing {load}"),
         ("BPF, the clock", "empty-program clock {load}"))


def everything(only, arch, other=None, floor=()):
    """[(name, command with {load})] of all that is to be had, the untraced load first; the
    files that it needs in the guest; [(name, why)] of what is not to be had.

    `only`: parts of names, None: all.  `other`: "LABEL=PATH" of one more tmigr.  `floor`:
    FLOOR, or none of it; its program is the caller's to bring.
    """
    def chosen(name):
        return not only or any(o in name for o in only)

    tracers = [("untraced again", "{load}"), *floor, *own_tracers()]
    wanted = [p for p in PEERS if chosen(p.name)]
    files, missing = files_of(wanted, arch)
    if other:
        label, _, path = other.partition("=")
        files["bin/other-tmigr"] = pathlib.Path(path).read_bytes()
        tracers += own_tracers("other-tmigr", f"{label}: ")
    tracers += [(p.name, p.command) for p in wanted if p.name not in dict(missing)]
    return [("untraced", "{load}"), *(t for t in tracers if chosen(t[0]))], files, missing
